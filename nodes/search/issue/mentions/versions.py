"""Finds the environment: versions with the names they belong to, systems, browsers and runtimes."""

import re
from collections.abc import Iterator
from itertools import filterfalse
from pathlib import Path

from nodes.search.issue.mentions.markdown import lines
from nodes.search.issue.mentions.places import URL
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections, load_words

_WORDS = load_words(Path(__file__).with_name("words.txt"))
_FORMS = load_sections(Path(__file__).with_name("versions.txt"))
_VERSION, _VERSION_NAME, _CUE, _UNIT, _VALUE, _PLATFORMS = (
    lazy("".join(_FORMS[name]), re.IGNORECASE) for name in "version version_name cue unit value platforms".split()
)
_NOT_ON, _EDGE = (lazy("".join(_FORMS[name]), re.IGNORECASE) for name in ("not_on", "edge"))
_NO_NAME, _MARKS, _MONEY, _ASSIGNED, _LISTED, _MORE, _SERIES, _LOCAL, _TIME, _SPELLED = (
    lazy("".join(_FORMS[name])) for name in "no_name marks money assigned listed more series local time spelled".split()
)
_FIRST, _SEGMENT, _UNTICKED = (lazy("".join(_FORMS[name])) for name in ("first", "segment", "unticked"))
LAST_YEAR = 2100
"""Calendar versions begin with a year at most this late."""


def find_platforms(prose: str) -> Iterator[str]:
    """Return each system, browser or runtime, in lower case."""
    for line in filterfalse(_UNTICKED.match, lines(prose)):
        found = [at[0].lower() for at in _PLATFORMS.finditer(line) if not _NOT_ON.search(line[: at.start()][-60:])]
        yield from (name for name in found if name != "edge" or _EDGE.search(line))


def find_versions(prose: str) -> Iterator[str]:
    """Yield each version, with its name if the text states one."""
    for raw in filterfalse(_UNTICKED.match, lines(prose)):
        line = URL.sub(" ", raw)
        measured = [series.span() for series in _SERIES.finditer(line) if _rises_as_numbers(series[0])]
        for found in _VERSION.finditer(line):
            if any(start <= found.start() < end for start, end in measured):
                continue
            # A window, because the search for a name that ends here would take quadratic time over a whole line.
            before = line[max(0, found.start() - 80) : found.start()]
            name, after = _version_name(before), line[found.end() : found.end() + 20]
            if _is_version(found, name, before, after):
                shown = name if _is_sure(name, before, after) else ""
                yield f"{shown} {found[1].rstrip('.-')}".strip()


def _rises_as_numbers(series: str) -> bool:
    """Return whether numbers rise in "0, 0.15, 0.3" only if they are read as decimals, not as versions."""
    written = re.findall(r"[\d.]+", series)
    versions = [tuple(map(int, version.split("."))) for version in written]
    return sorted(written, key=float) == written and sorted(versions) != versions


def _is_version(found: re.Match[str], name: str, before: str, after: str) -> bool:
    """Return whether a number with points is a version, not an address, an amount, a duration or another value."""
    parts = found[1].split(".")
    if not all(part.isdigit() for part in parts) or found[0][0] in "vV" or _CUE.search(before):
        return True
    if len(parts) == 4 and _LOCAL.match(found[1]) and all(int(part) < 256 for part in parts):
        return False
    # A build prints before each line of its log how many seconds it took.
    if _TIME.match(found[1] + after) or (not before and after.startswith("  ")):
        return False
    is_amount = bool(_MONEY.search(before) or _UNIT.match(after))
    return not is_amount and (len(parts) > 2 or not _is_decimal(parts, name, before, after))


def _is_decimal(parts: list[str], name: str, before: str, after: str) -> bool:
    """Return whether a number with one point is rather a value than a version."""
    whole, fraction = parts
    if len(fraction) > 2 or (fraction.startswith("0") and len(fraction) > 1 and (not name or int(whole) < 6)):
        return True  # a calendar version, such as Ubuntu 18.04
    if int(whole) == int(fraction) == 0 or fraction == "00" or int(whole) > LAST_YEAR:
        return True
    if _VALUE.search(before[-40:]) or _ASSIGNED.search(before):
        return True
    return bool(_LISTED.search(before) and _MORE.match(after) and ("," in before[-20:] or after.lstrip()[:1] == ","))


def _is_sure(name: str, before: str, after: str) -> bool:
    """Return whether the words before a version are a product's name, not just the preceding words of a sentence."""
    words = name.split()
    if name.lower() in _WORDS["tools"] or _PLATFORMS.fullmatch(name) or _SPELLED.search(name.strip(".-")):
        return True
    segment = _SEGMENT.split(before.replace("`", "").replace("*", ""))[-1]
    spoken = re.findall(r"\w[^\s:=<>~@()]*", segment)
    written = [word for word in spoken if word.lower() not in _WORDS["nameless"]]
    if written == words:
        alone = len(words) < 3 and not name.endswith(".") and not re.match(r"\s*\w", after)
        # "Django 3.2 breaks", but not "Suddenly 3.2 breaks" nor "Seit 3.2"
        return alone or (segment.endswith(f"{name} ") and bool(_FIRST.fullmatch(name)))
    # A capital letter inside a sentence begins a name.
    return written[-len(words) :] == words and not written[-len(words) - 1].endswith((".", "!", "?")) and name.istitle()


def _version_name(before: str) -> str:
    name = _VERSION_NAME.search(_MARKS.sub("", before))
    written = name[1].strip(":-=@ ").split() if name else []
    if not written or written[-1].endswith("."):
        return ""
    is_capital = written[0][:1].isupper() and written[-1][:1].isupper()
    if len(written) > 1 and written[-1].lower() not in _WORDS["nameless"] and not is_capital:
        written = written[1:]
    # A full stop ends a sentence, and the words before it name something else.
    while len(written) > 1 and written[0].endswith("."):
        written = written[1:]
    nameless = _WORDS["nameless"] | _WORDS["prepositions"]
    words = " ".join(word for word in written if word.lower() not in nameless and not _NO_NAME.fullmatch(word))
    # There, only systems, browsers, languages and tools have one: "fails on Python since 3.12".
    is_versioned = words.lower() in _WORDS["tools"] or _PLATFORMS.fullmatch(words)
    return words if is_versioned or written[-1].lower() not in _WORDS["prepositions"] else ""
