"""``named_change`` and ``introduced_in``: commits that the report names by SHA or number, and their files."""

import re
from collections.abc import Iterator
from dataclasses import replace

from nodes.search.facts.changes.added import find_added
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.types import Fact, Kind
from nodes.search.facts.witness import Witness
from nodes.search.history.claims import NamedChange, is_mentioned
from nodes.search.history.types import Commit
from nodes.search.issue.query import COMPOUND
from nodes.search.sentences import say

MAX_REFERENCES = 5
"""Maximum number of numbers and SHAs that are looked up."""
MAX_CHANGES = 4
# Of changes to one source file 65 % name a fixed file, of those to at most three 51 %.
FEW = 3
"""Maximum number of source files of a change; larger changes do not identify a place."""
_AGAIN = re.compile(
    r"(?i)\b(?:re-?open\w{0,3}|again|still|returned|(?:came|comes?|is) back|not \w{0,6} ?(?:fixed|solved|resolved))\b"
)
"""What a report says of a fault that a change was to end: it is of the same code, also if that is in several files."""
_CALLED = re.compile(r"(?<!\w)(\w{3,80})\(")
_SHORTEST = 2
"""Minimum number of digits; #1 is more often an item of a list than an issue."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield a fact for each source file of the small changes that the report names."""
    claims = inquiry.claims
    found: dict[str, tuple[Commit, NamedChange]] = {}
    for commit, named in (*_by_sha(inquiry, claims.commits), *_by_number(inquiry, claims.numbers)):
        found.setdefault(commit.sha, (commit, named))
    for commit, named in list(found.values())[:MAX_CHANGES]:
        yield from _facts(inquiry, commit, named)


def _by_sha(inquiry: FinderInput, commits: tuple[NamedChange, ...]) -> Iterator[tuple[Commit, NamedChange]]:
    # A commit that identifies a version says nothing about its own change.
    for named in [named for named in commits if not named.in_use][:MAX_REFERENCES]:
        if sha := inquiry.code.log.resolved(named.text):
            yield from ((commit, named) for commit in inquiry.code.log.details([sha]))


def _by_number(inquiry: FinderInput, numbers: tuple[NamedChange, ...]) -> Iterator[tuple[Commit, NamedChange]]:
    wanted = [named for named in numbers if len(named.text) >= _SHORTEST][:MAX_REFERENCES]
    for commit in inquiry.code.log.mentioning([named.text for named in wanted]) if wanted else ():
        for named in wanted:
            if is_mentioned(named.text, commit.message):
                # A merge is listed without files.
                files = commit.files or tuple(sorted(inquiry.witness.changed(commit.sha)))
                yield replace(commit, files=files), named
                break


def _facts(inquiry: FinderInput, commit: Commit, named: NamedChange) -> Iterator[Fact]:
    code = inquiry.code
    numbers = [n for path in commit.files if (n := code.number(path)) is not None and code.own[n]]
    # The files of a revert are those of a change that the code no longer has.
    if not numbers or len(numbers) > FEW or commit.subject.startswith("Revert "):
        return
    blamed = named.blamed
    words = _words(inquiry, named.text)
    if words is None:
        return
    again = any(words in line and _AGAIN.search(line) for line in (inquiry.issue.title, *inquiry.issue.prose))
    written = f"{inquiry.issue.title}\n{inquiry.issue.written}"
    names = {*_CALLED.findall(written), *filter(COMPOUND.search, re.findall(r"\w{4,80}", written))}
    for number in numbers:
        path = code.path(number)
        values = {"sha": commit.sha[:10], "title": short(commit.subject), "path": path}
        if blamed:
            says = say("The report says that this change broke it: `{sha}` “{title}”; it changed `{path}`.", **values)
        elif commit.sha.startswith(named.text):
            says = say("The report names this change: `{sha}` “{title}”; it changed `{path}`.", **values)
        else:
            ticket = f"{'#' * named.text.isdigit()}{named.text}"
            says = say(
                "Like the report, `{sha}` “{title}” names `{ticket}`; it changed `{path}`.", ticket=ticket, **values
            )
        kind: Kind = "introduced_in" if blamed else "named_change"
        hit = find_added(code, path, commit.sha, names)
        strong = again or len(numbers) == 1 or (blamed and hit is not None)
        fact = Fact(kind, says, words, path, change=commit.sha, count=len(numbers), strong=strong)
        yield replace(fact, line=hit.line, text=hit.text, symbol=hit.symbol) if hit else fact


def _words(inquiry: FinderInput, text: str) -> str | None:
    """Return the SHA or the number as the report writes it; an address is one of this project."""
    addresses = re.findall(rf"/([^/\s]{{1,100}})/((?:pull|issues)/{text})(?!\d)", inquiry.issue.written)
    own = (words for name, words in addresses if inquiry.code.index.project.is_named(name))
    ways = (f"#{text}", f"GH-{text}", *own, *(() if text.isdigit() else (text,)))
    return next((way for way in ways if inquiry.issue.holds(way)), None)


def short(subject: str) -> str:
    """Truncate the first line of a commit message to a length that fits in a sentence."""
    cut = subject if len(subject) <= 80 else subject[:79].rstrip() + "…"
    # A code span that the cut leaves open would take in the rest of the sentence.
    return cut.replace("`", "") if cut.count("`") % 2 else cut


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the commit's history has the change, that it touches the file and that the words name it."""
    change, words = fact.change or "", fact.words or ""
    message = witness.message(change)
    if message is None:
        return "the commit is not in the history of the commit that is read"
    if fact.path not in witness.changed(change):
        return "the commit does not change this file"
    before = witness.repository.text(f"{change}~1", fact.path or "") if fact.line else None
    if (fact.text or "").strip() in map(str.strip, (before or "").split("\n")) and fact.line:
        return "the line is older than the change"
    number = re.search(r"(?:(?:#|GH-|pull/|issues/)(?=\d)|^(?=[A-Z]\w{1,9}-))([\w-]{1,18})$", words)
    if number and not is_mentioned(number[1], message):
        return "the message does not name the number"
    return None if number or change.startswith(words) or words in message else "the words name another commit"
