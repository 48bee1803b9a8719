"""Matches paths against patterns as ``.gitignore`` does, and names against ``*``, in time linear in the path.

The rules for paths follow ``man gitignore``, without negation:

- ``*`` matches any run of characters but slashes, ``?`` one such character, ``[a-z]`` and ``[!a-z]`` one of a range;
- a leading ``**/``, an inner ``/**/`` and a trailing ``/**`` match any number of folders; elsewhere ``**`` is ``*``;
- a pattern with a leading or inner slash starts at the root, any other matches at every depth;
- a pattern that matches a folder matches everything below it; with a trailing slash it matches folders only;
- matching is case-sensitive, and a backslash makes the next character literal.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

_TOKEN = re.compile(r"\*+|\\(.)|(\[[!^]?\]?(?:\\.|[^\]\\])*\])|(.)", re.DOTALL)
_MEMBER = re.compile(r"(\\?.)-(\\?.)|\\(.)|(.)", re.DOTALL)
_MANY_STARS = re.compile(r"\A\*{2,}\Z")
_NEVER = "(?!)"
_END = r"(?=/|\Z)"


def path_matches(path: str, patterns: Sequence[str]) -> bool:
    """Return whether any pattern matches a path of the repository."""
    return bool(patterns) and _paths(tuple(patterns)).match(path) is not None


def name_matches(name: str, pattern: str) -> bool:
    """Return whether a pattern matches a whole name, ignoring case; ``*`` matches anything."""
    return _name(pattern).fullmatch(name) is not None


@lru_cache(64)
def _paths(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_path, patterns)), re.DOTALL)


@lru_cache(512)
def _name(pattern: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in re.split(r"\*+", pattern)]
    return re.compile(_in_turn(parts, "."), re.DOTALL | re.IGNORECASE)


def _path(pattern: str) -> str:
    """Translate a pattern to a regular expression for ``re.match`` on a path."""
    folder = pattern.endswith("/") and not pattern.endswith("\\/")
    segments = [_MANY_STARS.sub("**", segment) for segment in pattern.removesuffix("/").split("/")]
    if segments[0] == "" and len(segments) > 1:
        segments = segments[1:]
    elif len(segments) == 1:
        segments = ["**", *segments]
    # Alone, ``**`` matches every file; the code below needs a segment for the file's name.
    if set(segments) == {"**"}:
        segments = ["**", "*"]
    # An empty segment (``a//b``) matches no path of git.
    if not all(segments):
        return _NEVER
    inside = len(segments) > 1 and segments[-1] == "**"
    blocks = _blocks(segments[:-1] if inside else segments)
    return "".join(blocks) + ("/[^/]+/." if inside and folder else "/." if inside or folder else _END)


def _blocks(segments: Sequence[str]) -> Iterator[str]:
    """Yield an expression for each run of segments between double stars.

    A run spans a fixed number of folders, so its first match is as good as any later one. The atomic group fixes that
    match, so that nothing is tried twice.
    """
    anywhere, first = False, True
    run: list[str] = []
    for segment in (*segments, "**"):
        if segment != "**":
            run.append(_segment(segment))
            continue
        if run:
            # Lazy, so that the first possible folder is tried first.
            skip = "(?:[^/]+/)*?" if anywhere else ""
            yield f"(?>{'' if first else '/'}{skip}{'/'.join(run)}{_END})"
            first, run = False, []
        anywhere = True


def _segment(segment: str) -> str:
    """Translate one segment: an expression for the name of one folder or file."""
    parts = [""]
    for found in _TOKEN.finditer(segment):
        if found[0].startswith("*"):
            parts.append("")
        elif found[2]:
            parts[-1] += _members(found[2])
        elif found[0] == "?":
            parts[-1] += "[^/]"
        elif found[0] in ("[", "\\"):
            return _NEVER  # git does not treat an open bracket or a lone backslash as a literal
        else:
            parts[-1] += re.escape(found[1] or found[3])
    return "[^/]+" if parts == ["", ""] else _in_turn(parts, "[^/]") + _END


def _in_turn(parts: Sequence[str], anything: str) -> str:
    """Join parts with any run between them; each part but the last matches at its first place, without backtracking."""
    if len(parts) == 1:
        return parts[0]
    between = "".join(f"(?>{anything}*?{part})" for part in parts[1:-1] if part)
    # Only the last part may move: it has to match at the end of the name.
    return f"{parts[0]}{between}{anything}*{parts[-1]}"


def _members(bracket: str) -> str:
    """Translate a bracket expression; it never matches a slash."""
    inner = bracket[1:-1]
    negated = inner[:1] in ("!", "^")
    regex = ""
    for first, last, escaped, single in _MEMBER.findall(inner[negated:]):
        if first:
            low, high = first[-1], last[-1]
            regex += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        else:
            regex += re.escape(escaped or single)
    return f"(?!/)[{'^' if negated else ''}{regex}]" if regex else _NEVER
