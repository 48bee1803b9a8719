"""``named_here`` for versions: the line of a manifest that does not allow the version that the report names."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness
from nodes.search.issue.mentions.markdown import without_comments
from nodes.search.lazy import lazy
from nodes.search.paths.roles import role_of
from nodes.search.sentences import say

MAX_MANIFESTS, MAX_LINES, MAX_TEXT, MAX_PACKAGES, MAX_STATED = 8, 2_000, 40_000, 40, 20
"""Maximum numbers of manifests, of their lines, of a report's characters, of packages, and of versions of one name."""
SHORTEST, LONGEST = 5, 400
"""Minimum length of a package's name without its vendor, and maximum length of the versions that a line allows."""
FIRST_YEAR = 1990
"""The least first number of a version that is a date."""
_HOSTS = tomllib.loads(Path(__file__).with_name("bounds.toml").read_text("utf-8"))["bound"]
_ENDS = tuple({end for host in _HOSTS for end in host["files"]})
_NUMBER = r"\d{1,5}(?:\.\d{1,5}){0,3}"
_STATED = r"(?<![\w./@-])({0})[^\w.]{{0,4}}(?:version\W{{1,3}})?v?({1})(?:\.[xX])?(?![\w%]|[.-]\w)"
_ALONE = re.compile(r"[a-zA-Z]\s\d{1,5}$")
"""A name and a number that may be no version: ``node 2``."""
_NEEDED = re.compile(
    r"(?i)(?:\brequir\w{0,4}|\bneeds?|\bminimum|\bat least|\bupgrade to|\buntil|>=?"
    r"|\b(?:added|introduced|stabili[sz]ed|stable|available) (?:in|from|since|as of))\W{0,3}$"
)
"""Words before a version that is not the one in use."""
_PART = lazy(
    rf"(\^|~>|~=|~|[<>]=?|={{1,3}}|!=)?\s?v?({_NUMBER})(?:\.[x*])*(?:[-+][\w.-]{{1,40}}|[A-Za-z][\w.]{{0,20}})?"
)
SAYS = re.compile(r"The report names `([^`]{1,60})` (\S{1,40}), which this line does not allow\.")


class Bound(NamedTuple):
    """A line, the versions that it allows, and what they are of: an entry of ``bounds.toml``."""

    hit: Hit
    allowed: str
    host: Mapping[str, Any]


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the first line that excludes every version of a language, a host or a peer that the report names."""
    body = without_comments(inquiry.issue.body[:MAX_TEXT])
    for bound in _bounds(inquiry.witness):
        named = _stated(bound, inquiry.issue.title, body)
        if named and all(_excludes(bound, it[2], old=it[0] in inquiry.issue.title) for it in named):
            words, name, last = named[0]
            says = say("The report names `{name}` {version}, which this line does not allow.", name=name, version=last)
            yield bound.hit.fact("named_here", says, words, count=1, strong=True, unclaimed=True)
            return


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the report names the version, and that the line excludes it."""
    (title, _, body), found = witness.issue_text.partition("\n"), SAYS.fullmatch(fact.says)
    for bound in (bound for bound in _bounds(witness) if (bound.hit.path, bound.hit.line) == (fact.path, fact.line)):
        if found and found.groups() in [named[1:] for named in _stated(bound, title, body)]:
            return None if _excludes(bound, found[2]) else "the line allows the version"
    return "the report names no such version, or the line is about something else"


def _stated(bound: Bound, title: str, body: str) -> list[tuple[str, str, str]]:
    """Return the words of a report with each version that it names, the name and the version."""
    pattern = re.compile(_STATED.format(bound.host["names"], _NUMBER), re.IGNORECASE)
    found = [match for text in (title, body) for match in islice(pattern.finditer(text), MAX_STATED)]
    used = (match for match in found if match.string == title or not _ALONE.search(match[0]))
    return [(it[0], it[1], it[2]) for it in used if not _NEEDED.search(it.string[max(0, it.start() - 30) : it.start()])]


def _bounds(witness: Witness) -> Iterator[Bound]:
    """Yield the lines of the outermost manifests that say which versions they allow."""
    paths = [path for path in witness.files() if path.endswith(_ENDS) and role_of(path) not in ("test", "docs")]
    paths.sort(key=lambda path: (path.count("/"), path))
    for path in paths[:MAX_MANIFESTS]:
        lines = witness.lines(path, 1, MAX_LINES)
        hosts = [host for host in _HOSTS if path.endswith(tuple(host["files"]))]
        # The versions of a language that a tool in a folder further in works with are not the project's.
        ends = [tuple(host["files"]) if "language" in host else path for host in hosts]
        depths = (next(it for it in paths if it.endswith(end)).count("/") for end in ends)
        hosts = [host for host, depth in zip(hosts, depths, strict=True) if path.count("/") == depth]
        for host in (host for host in hosts if "before" in host):
            for at, text in enumerate(lines, 1):
                if start := re.match(host["before"], text):
                    yield Bound(Hit(path, at, text), text[start.end() :], host)
        yield from _of_json(path, lines, [host for host in hosts if "within" in host]) if "json" in path else ()


def _of_json(path: str, lines: list[str], hosts: Sequence[Mapping[str, Any]]) -> Iterator[Bound]:
    """Yield the lines with the versions at some keys of a JSON document, and of the packages that it goes with."""
    try:
        document = json.loads("\n".join(lines))
        table = "require" if path.endswith("composer.json") else "peerDependencies"
        packages = [it for it in document.get(table, {}).items() if "/" in it[0] or table != "require"][:MAX_PACKAGES]
        own = str(document.get("name")).partition("/")[0]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return
    for host in (*hosts, *({"names": _names(name, own, packages), "within": [table, name]} for name, _ in packages)):
        allowed, at = document, 0
        for key in host["within"]:
            allowed = allowed.get(key) if isinstance(allowed, dict) else None
            start = (f'"{key}"', f'"{key.replace("/", chr(92) + "/")}"')  # PHP writes slashes with a backslash
            at = next((n for n, text in enumerate(lines[at:], at + 1) if text.lstrip().startswith(start)), 0)
        allowed = " || ".join(map(str, allowed)) if isinstance(allowed, list) else allowed
        if at and isinstance(allowed, str):
            yield Bound(Hit(path, at, lines[at - 1]), allowed, host)


def _names(package: str, own: str, packages: Sequence[tuple[str, str]]) -> str:
    """Return how reports call one of some packages: by its name, or by another vendor if all of its have one range."""
    vendor, _, name = package.rpartition("/")
    ranges = {str(allowed) for other, allowed in packages if other.startswith(f"{vendor}/")}
    by_vendor = len(vendor) >= SHORTEST and vendor[0] != "@" and vendor != own and len(ranges) == 1
    return "|".join(map(re.escape, (package, name if len(name) >= SHORTEST else package, *[vendor] * by_vendor)))


def _excludes(bound: Bound, version: str, *, old: bool = True) -> bool:
    """Return whether no choice of a line's versions certainly includes one; it may lack its last numbers.

    A version of a language that is too old counts only with ``old``.
    """
    choices = [_PART.findall(choice) for choice in re.split(r"\|\|?", bound.allowed[:LONGEST])]
    # People write the end of a version that is a date.
    is_dated = any(part[0] >= FIRST_YEAR for choice in choices for _, text in choice if (part := numbers(text)))
    known = (
        len(bound.allowed) <= LONGEST
        and not (is_dated and numbers(version)[0] < FIRST_YEAR)
        and all(choices)
        and not re.search(r" - |[*]|\blatest\b", bound.allowed)
    )
    is_composer, given = bound.hit.path.endswith("composer.json"), numbers(version)

    def is_outside(sign: str, text: str) -> bool:
        low, high = _range(sign or (">=" if bound.host.get("least") else "=="), numbers(text), is_composer=is_composer)
        count = min(len(low), len(given))
        is_old = given[:count] < low[:count] and (old or not bound.host.get("language"))
        return is_old or bool(high and (*given, 0, 0, 0)[: len(high)] >= high)

    return known and all(any(is_outside(*part) for part in parts) for parts in choices)


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version, the most significant first."""
    return tuple(map(int, text.split(".")))


def _range(sign: str, number: tuple[int, ...], *, is_composer: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the lowest version that a sign allows, and the lowest above that it does not; either may be empty."""
    last = len(number) - 1
    if sign in (">", ">=", "!="):
        return ((), ()) if sign == "!=" else (number, ())
    if sign in ("<", "<="):
        return (), number if sign == "<" else (*number[:-1], number[-1] + 1)
    # ``^0.5`` allows 0.5.1 and not 0.6; ``~> 1.2`` allows 1.3, and ``~1.2`` does so only for Composer.
    kept = {"^": next((at for at, part in enumerate(number) if part), last), "~": last if is_composer else 1}
    at = max(0, min(last, kept.get(sign, last)) - (sign in ("~>", "~=") or (sign == "~" and is_composer)))
    return number, (*number[:at], number[at] + 1)
