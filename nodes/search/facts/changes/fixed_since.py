"""``fixed_since``: the entry of the changelog's unreleased part that fixes what the title names."""

import re
from collections.abc import Collection, Iterator, Sequence

from packaging.version import Version

from nodes.search.facts.changes.named_change import short
from nodes.search.facts.changes.releases import made_before, releases_made
from nodes.search.facts.code import whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.named import BUILT_IN, names
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.history.versions import parse_version
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS, WORD, normalise_space

MAX_LINES, MAX_WIDTH, MAX_ENTRY = 400, 400, 6
"""Maximum number of lines of a changelog that are read, of characters of a line, and of lines of an entry."""
SHORTEST = 4
"""Minimum length of a word of the title that an entry has to have in addition to the name."""
_PAGE = re.compile(r"(?:docs?/)?(?:change(?:log|s)?|history|news|release[-_]?notes?)(?:\.(?:md|rst|txt|adoc))?", re.I)
_HEADING = re.compile(
    r"(?:[#=]{1,4}\s+)?(?:[A-Za-z]\w{0,30}\s+){0,2}[\[(]?v?(?P<version>\d{1,5}(?:\.\d{1,5}){1,3}\w{0,8})\b"
)
_ENTRY = re.compile(r"\s{0,6}[-*+•]\s+\S")
_FIX = re.compile(
    r"\b(?:fix(?:e[sd])?|no longer|correct(?:s|ed|ly)?|resolve[sd]?|repair(?:s|ed)?|prevent(?:s|ed)?)\b", re.I
)


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the first entry about a fix that has a name of the title and another word of it."""
    code, title = inquiry.code, inquiry.issue.title
    wanted = [name for name in names(inquiry.issue) if name.in_title and name.last not in BUILT_IN]
    pages = [number for number, path in enumerate(code.index.paths) if _PAGE.fullmatch(path)] if wanted else []
    made = {release.version for release in releases_made(inquiry)} if pages else ()
    for number in pages[:2]:
        for line, entry in unreleased(code.lines(number), made):
            held = next((name for name in wanted if has(entry, name.last, title)), None)
            text = code.text(number, line)
            if held and text and inquiry.issue.holds(held.last):
                path = code.path(number)
                says = say("The unreleased part of `{path}` has this entry: “{entry}”.", path=path, entry=shown(entry))
                yield Fact("fixed_since", says, held.last, path, line, text, count=1, strong=True, unclaimed=True)
                return


def unreleased(lines: Sequence[str], made: Collection[Version]) -> list[tuple[int, str]]:
    """Return the entries above the heading of the first released version, if there is one, each with its line."""
    found, released = list[tuple[int, str]](), False
    for at, text in enumerate(lines[:MAX_LINES]):
        heading = _HEADING.match(text[:MAX_WIDTH]) if not _ENTRY.match(text[:MAX_WIDTH]) else None
        if heading and parse_version(heading["version"]) in made:
            released = True
            break
        if _ENTRY.match(text[:MAX_WIDTH]):
            below = lines[at + 1 : at + MAX_ENTRY]
            ends = (
                n for n, line in enumerate(below) if not line.startswith((" ", "\t")) or _ENTRY.match(line[:MAX_WIDTH])
            )
            entry = (text, *below[: next(ends, len(below))])
            found.append((at + 1, normalise_space(" ".join(item[:MAX_WIDTH] for item in entry))))
    # Without such a heading, nothing shows which entries are newer than the last release.
    return found if released else []


def has(entry: str, name: str, title: str) -> bool:
    """Return whether an entry is about a fix and has a name and another word of a title."""
    words = {word.casefold() for word in WORD.findall(title) if len(word) >= SHORTEST} - STOPWORDS - {name.casefold()}
    shared = words & {word.casefold() for word in WORD.findall(entry)}
    return bool(_FIX.search(entry) and whole_word(name).search(entry) and shared)


def shown(entry: str) -> str:
    """Return an entry as a sentence quotes it."""
    return short(entry.lstrip("-*+• ").replace("`", "").replace("“", '"').replace("”", '"'))


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line begins such an entry, above the heading of every release."""
    path = fact.path or ""
    made = {release.version for product in made_before(witness) for release in product.all}
    entries = dict(unreleased(witness.lines(path, 1, MAX_LINES), made)) if _PAGE.fullmatch(path) else {}
    entry = entries.get(fact.line or 0)
    if entry is None or f"“{shown(entry)}”" not in fact.says:
        return "the changelog has no such unreleased entry"
    return None if whole_word(fact.words or "").search(entry) else "the entry does not have the name"
