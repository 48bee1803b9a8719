"""``named_here`` for libraries: the line of a manifest that requires the one of an error's file, or of the title."""

import re
from collections.abc import Iterator
from itertools import islice

from nodes.search.facts.inquiry import FinderInput
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
_TITLED = re.compile(
    r"(?<![\w./-])(?P<words>(?P<name>[A-Za-z][\w./-]{2,40}?)(?: |-|==|@)v?(?P<version>\d{1,4}(?:\.\d{1,4}){0,3}))"
    r"(?![\w.]*\w)"
)
"""A library and its version, as a title writes them."""
_NONE = frozenset({"version", "release", "engine", "node", "edition"})
"""What a manifest names besides libraries."""
_REQUIRES = {
    "go.mod": r"\s*(?:require\s+)?(?:[\w.~-]{{1,80}}/){{0,8}}{0}(?:/v\d+)?\s+v\d",
    "Cargo.toml": r"\s*{0}\s*=|\s*\[.{{0,80}}dependencies\.{0}\]",
    "Gemfile": r"\s*gem[\s(]+[\"']{0}[\"']",
    "gemspec": r".{{0,80}}\.add_(?:runtime_|development_)?dependency[\s(]+[\"']{0}[\"']",
    **dict.fromkeys(
        ("package.json", "composer.json"), r"\s*\"(?:@?[\w.-]{{1,80}}/)?{0}\"\s*:\s*\"(?:[~^<>=*]|v?\d|npm:)"
    ),
    "pyproject.toml": r"\s*(?:[\"']{0}\s?(?:\[[\w,]{{1,80}}\])?[<>=~!\"']|{0}\s*=\s*[\"'{{])",
    "libs.versions.toml": r"\s*{0}(?:[-_.]?version)?\s*=\s*[\"']\d",
    "requirements.txt": r"{0}(?:\[[\w,]{{1,80}}\])?\s?[<>=~!]=?",
    ".cabal": r"\s*(?:build-depends:\s*)?,?\s*{0}\s+[<>=^]",
    ".csproj": r".{{0,80}}<PackageReference Include=\"{0}\"",
    "mix.exs": r".{{0,80}}\{{:{0},\s",
    "pubspec.yaml": r"\s+{0}:\s*(?:[\"'^<>=\d]|any\b|$)",
}
"""The line of a manifest that requires a library, by the end of the manifest's name."""
SAYS = re.compile(r"The (report|title) names (?:a file of )?`([^`]{1,200})` (\S{1,40})[,;] (?:which )?this line ")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the line that requires the first library of the report, if no line of own code places the report."""
    if inquiry.is_placed or any(fact.is_named_line for fact in inquiry.found):
        return
    title = inquiry.issue.title
    named = {match["name"]: match for match in _INSTALLED.finditer(inquiry.issue.body[:MAX_TEXT])}
    # A trace passes through the files of many libraries.
    named = named if len(named) < MANY else {}
    named |= {match["name"]: match for match in _TITLED.finditer(title)}
    named = {name: match for name, match in named.items() if plain(name) not in inquiry.code.names | _NONE}
    some = islice(named.items(), MAX_LIBRARIES)
    every = ((match, requiring(inquiry.witness, name, versioned=match.string == title)) for name, match in some)
    for match, hits in islice((found for found in every if found[1]), 1):
        values = {"name": match["name"], "version": match["version"]}
        says = say("The report names a file of `{name}` {version}, which this line requires.", **values)
        if match.string == title:
            says = say("The title names `{name}` {version}; this line says which version is required.", **values)
        if len(hits) == 1:
            yield hits[0].fact("named_here", says, match["words"], count=1, strong=True, unclaimed=True)


def requiring(witness: Witness, name: str, *, versioned: bool) -> list[Hit]:
    """Return the lines of the outermost manifests that require a library, or only those that give its version."""
    paths = [path for path in witness.files() if path.endswith(tuple(_REQUIRES))]
    hits = list[Hit]()
    for path in sorted(paths, key=lambda path: (path.count("/"), path))[:MAX_MANIFESTS]:
        form = next(form for end, form in _REQUIRES.items() if path.endswith(end))
        pattern = re.compile(form.format(re.escape(name)), re.IGNORECASE)
        lines = enumerate(witness.lines(path, 1, MAX_LINES), 1)
        hits += [Hit(path, line, text) for line, text in lines if pattern.match(text)]
    return [hit for hit in hits if not versioned or re.search(r"\d", hit.text.lower().partition(name.lower())[2])]


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the report has the folder of the library, and that no other line requires the library."""
    found, words = SAYS.match(fact.says), fact.words or ""
    title = witness.issue_text.partition("\n")[0]
    of_title = found is not None and found[1] == "title"
    every = _TITLED.finditer(title) if of_title else _INSTALLED.finditer(witness.issue_text)
    named = ((match["name"], match["version"]) for match in every if match["words"] == words)
    if found is None or (found[2], found[3]) not in named:
        return "the report does not name the library"
    held = [(hit.path, hit.line) for hit in requiring(witness, found[2], versioned=of_title)]
    return None if held == [(fact.path, fact.line)] else "the line does not require the library, or others do"
