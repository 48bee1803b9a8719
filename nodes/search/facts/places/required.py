"""``named_here`` for libraries: the line of a manifest that requires the one of an error's file."""

import re
from collections.abc import Iterator
from itertools import islice

from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.places.bounds import numbers
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness
from nodes.search.history.names import plain
from nodes.search.sentences import say

MANY = 3
"""Number of libraries from which none is meant."""
MAX_LIBRARIES, MAX_MANIFESTS, MAX_LINES, MAX_TEXT = 4, 20, 2_000, 40_000
"""Maximum number of libraries of a report, of manifests, of lines of each, and of characters that are searched."""
_INSTALLED = re.compile(
    r"(?:gems|pkg/mod|registry/src|\.pnpm|hosted)/(?:[^\s/]{1,80}/){0,6}"
    r"(?P<words>(?P<name>[A-Za-z][\w.]{0,40}(?:-[A-Za-z][\w.]{0,40}){0,4})[-@]v?(?P<version>\d{1,6}(?:\.\d{1,6}){1,3}))/"
)
"""A file of an installed library, in a folder with its name and its version."""
_MODULE = re.compile(
    r"(?<![\w./-])(?P<words>(?P<name>[a-z][\w-]{0,40}(?:\.[\w-]{1,20}){1,4}(?:/[\w.-]{1,60}){1,6})@v"
    r"(?P<version>\d{1,6}(?:\.\d{1,6}){2}(?:-[\w.-]{1,60}\w)?))(?![\w.-]*\w)"
)
"""A module of Go with its version."""
_REQUIRES = {
    "go.mod": r"\s*(?:require\s+)?(?:[\w.~-]{{1,80}}/){{0,8}}{0}(?:/v\d+)?\s+v\d",
    "Cargo.toml": r"\s*{0}\s*=|\s*\[.{{0,80}}dependencies\.{0}\]",
    "Gemfile": r"\s*gem[\s(]+[\"']{0}[\"']",
    "gemspec": r".{{0,80}}\.add_(?:runtime_|development_)?dependency[\s(]+[\"']{0}[\"']",
    "package.json": r"\s*\"(?:@?[\w.-]{{1,80}}/)?{0}\"\s*:\s*\"(?:[~^<>=*]|v?\d|npm:)",
    "pubspec.yaml": r"\s+{0}:\s*(?:[\"'^<>=\d]|any\b|$)",
}
"""The line of a manifest that requires a library, by the end of the manifest's name."""
SAYS = re.compile(r"The report names (?:a file of )?`([^`]{1,200})` (\S{1,80})[,;] (?:which )?this line ")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the line that requires the first library of the report, if no line of own code places the report."""
    if inquiry.is_placed or any(fact.is_named_line for fact in inquiry.found):
        return
    if older := next(_older(inquiry), None):
        yield older
        return
    named = {match["name"]: match for match in _INSTALLED.finditer(inquiry.issue.body[:MAX_TEXT])}
    # A trace passes through the files of many libraries.
    named = {
        name: match for name, match in named.items() if len(named) < MANY and plain(name) not in inquiry.code.names
    }
    every = ((match, requiring(inquiry.witness, name)) for name, match in named.items())
    for match, hits in islice((found for found in every if found[1]), 1):
        values = {"name": match["name"], "version": match["version"]}
        says = say("The report names a file of `{name}` {version}, which this line requires.", **values)
        if len(hits) == 1:
            yield hits[0].fact("named_here", says, match["words"], count=1, strong=True, unclaimed=True)


def _older(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the line of ``go.mod`` that requires a newer version of a module than the report's program has."""
    every = {match["name"]: match for match in _MODULE.finditer(inquiry.issue.body[:MAX_TEXT])}
    for match in islice(every.values(), MAX_LIBRARIES):
        for hit in _newer(inquiry.witness, match["name"], match["version"]):
            values = {"name": match["name"], "version": match["version"]}
            says = say("The report names `{name}` {version}; this line requires a newer one.", **values)
            yield hit.fact("named_here", says, match["words"], count=1, strong=True, unclaimed=True)


def _newer(witness: Witness, name: str, version: str) -> list[Hit]:
    """Return the only line of ``go.mod`` for a module, if a program built from it cannot have the older version."""
    hits = [hit for hit in requiring(witness, name) if hit.path.endswith("go.mod")]
    found = re.search(r"\sv(\d{1,6}(?:\.\d{1,6}){2})(?![\d.])", hits[0].text) if len(hits) == 1 else None
    return hits if found and numbers(found[1]) > numbers(version.partition("-")[0]) else []


def requiring(witness: Witness, name: str) -> list[Hit]:
    """Return the lines of the outermost manifests that require a library."""
    paths = [path for path in witness.files() if path.endswith(tuple(_REQUIRES))]
    hits = list[Hit]()
    for path in sorted(paths, key=lambda path: (path.count("/"), path))[:MAX_MANIFESTS]:
        form = next(form for end, form in _REQUIRES.items() if path.endswith(end))
        pattern = re.compile(form.format(re.escape(name)), re.IGNORECASE)
        lines = enumerate(witness.lines(path, 1, MAX_LINES), 1)
        hits += [Hit(path, line, text) for line, text in lines if pattern.match(text)]
    return hits


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the report has the folder of the library, and that no other line requires the library."""
    found, words = SAYS.match(fact.says), fact.words or ""
    is_older = fact.says.endswith(" requires a newer one.")
    every = (_MODULE if is_older else _INSTALLED).finditer(witness.issue_text)
    if found is None or not any((it["words"], it["name"], it["version"]) == (words, *found.groups()) for it in every):
        return "the report does not name the library"
    held = _newer(witness, found[1], found[2]) if is_older else requiring(witness, found[1])
    is_held = [(hit.path, hit.line) for hit in held] == [(fact.path, fact.line)]
    return None if is_held else "the line does not require the library, or others do"
