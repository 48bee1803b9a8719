"""Matches paths against patterns as ``.gitignore`` does, and names against ``*``; in time linear in the path.

The rules for paths, as in ``man gitignore``, less negation:

- ``*`` is any run of characters but slashes, ``?`` one such character, ``[a-z]`` and ``[!a-z]`` one of a range;
- ``**/`` in front, ``/**/`` between and ``/**`` behind stand for any number of folders; elsewhere ``**`` is ``*``;
- a pattern with a slash in front or in the middle starts at the root, any other matches at every depth;
- a pattern that fits a folder fits everything below it; with a slash at its end it fits folders only;
- upper and lower case differ, and a backslash takes the next character as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

_TOKEN = re.compile(r"\*+|\\(.)|(\[[!^]?\]?(?:\\.|[^\]\\])*\])|(.)", re.DOTALL)
_MEMBER = re.compile(r"(\\?.)-(\\?.)|\\(.)|(.)", re.DOTALL)
_MANY_STARS = re.compile(r"\A\*{2,}\Z")
_NEVER = "(?!)"
_END = r"(?=/|\Z)"


def path_matches(path: str, patterns: Sequence[str]) -> bool:
    """Does any pattern fit a path of the repository?"""
    return bool(patterns) and _paths(tuple(patterns)).match(path) is not None


def name_matches(name: str, pattern: str) -> bool:
    """Does a pattern fit a whole name, whatever its case? ``*`` stands for anything."""
    return _name(pattern).fullmatch(name) is not None


@lru_cache(64)
def _paths(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_path, patterns)), re.DOTALL)


@lru_cache(512)
def _name(pattern: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in re.split(r"\*+", pattern)]
    return re.compile(_in_turn(parts, "."), re.DOTALL | re.IGNORECASE)


def _path(pattern: str) -> str:
    """A pattern as a regular expression that is to match at the beginning of a path."""
    folder = pattern.endswith("/") and not pattern.endswith("\\/")
    segments = [_MANY_STARS.sub("**", segment) for segment in pattern.removesuffix("/").split("/")]
    if segments[0] == "" and len(segments) > 1:
        segments = segments[1:]
    elif len(segments) == 1:
        segments = ["**", *segments]
    if set(segments) == {"**"}:
        segments = ["**", "*"]
    if not all(segments):
        return _NEVER
    inside = len(segments) > 1 and segments[-1] == "**"
    blocks = _blocks(segments[:-1] if inside else segments)
    return "".join(blocks) + ("/[^/]+/." if inside and folder else "/." if inside or folder else _END)


def _blocks(segments: Sequence[str]) -> Iterator[str]:
    """Runs of segments between double stars.

    A run fits a fixed number of folders, so that its first place is as good as any later one. That place is taken for
    good (an atomic group): nothing is tried twice.
    """
    anywhere, first = False, True
    run: list[str] = []
    for segment in (*segments, "**"):
        if segment != "**":
            run.append(_segment(segment))
            continue
        if run:
            skip = "(?:[^/]+/)*?" if anywhere else ""
            yield f"(?>{'' if first else '/'}{skip}{'/'.join(run)}{_END})"
            first, run = False, []
        anywhere = True


def _segment(segment: str) -> str:
    """What fits one folder's or file's name."""
    parts = [""]
    for found in _TOKEN.finditer(segment):
        if found[0].startswith("*"):
            parts.append("")
        elif found[2]:
            parts[-1] += _members(found[2])
        elif found[0] == "?":
            parts[-1] += "[^/]"
        elif found[0] in ("[", "\\"):
            return _NEVER  # git takes neither an open bracket nor a lone backslash for itself
        else:
            parts[-1] += re.escape(found[1] or found[3])
    return "[^/]+" if parts == ["", ""] else _in_turn(parts, "[^/]") + _END


def _in_turn(parts: Sequence[str], anything: str) -> str:
    """Parts with any run between them: each but the last at its first place, for good."""
    if len(parts) == 1:
        return parts[0]
    between = "".join(f"(?>{anything}*?{part})" for part in parts[1:-1] if part)
    return f"{parts[0]}{between}{anything}*{parts[-1]}"


def _members(bracket: str) -> str:
    """A range of characters; never a slash."""
    inner = bracket[1:-1]
    negated = inner[:1] in ("!", "^")
    said = ""
    for first, last, escaped, one in _MEMBER.findall(inner[negated:]):
        if first:
            low, high = first[-1], last[-1]
            said += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        else:
            said += re.escape(escaped or one)
    return f"(?!/)[{'^' if negated else ''}{said}]" if said else _NEVER
