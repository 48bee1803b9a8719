"""``changed_in`` and ``introduced_in``: what changed between the version that worked and the one that does not."""

import re
from collections.abc import Iterator, Sequence

from nodes.search.facts.changes.added import body_of, find_added, lines_at
from nodes.search.facts.changes.named_change import short
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.levels import is_stated
from nodes.search.facts.places.moved import is_unsure
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.git import Repository
from nodes.search.history.names import plain
from nodes.search.history.ranges import find_range
from nodes.search.history.types import Commit, Range
from nodes.search.history.weigh import is_mechanical
from nodes.search.sentences import say
from nodes.search.tokens import query_terms

FEW = 5
"""Maximum number of changes of a file between two versions."""
SHORT = 20
"""Number of commits from which a range is long: a change in it tells nothing, unless it has words of the report."""
MAX_PATHS, MAX_LINES, MANY = 2, 4, 3
_BEFORE = frozenset(
    "version versions release releases since after update updating upgrade upgrading from using".split()
)
"""What may precede a version in a title and names no product."""
_ENOUGH = 12
"""Minimum number of letters that make a line distinctive."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the changes of the facts' files in the range of versions of the report."""
    claimed = claimed_range(inquiry)
    if claimed is None:
        return
    span, words = claimed
    named = [fact.path or "" for fact in inquiry.shown if fact.strong and not fact.line and fact.kind == "named_here"]
    shown = [fact for fact in inquiry.shown if fact.line and fact.kind != "tested_here"]
    seen: set[str] = set()
    for fact in [fact for fact in shown if not is_unsure(fact)][:MAX_LINES]:
        for item in _introduced(inquiry, fact, span, words):
            seen.add(item.change or "")
            yield item
    paths = list(dict.fromkeys([fact.path or "" for fact in shown if fact.strong] or named or inquiry.first[:1]))[
        :MAX_PATHS
    ]
    for path in paths:
        yield from (item for item in _changed(inquiry, path, span, words) if item.change not in seen)


def claimed_range(inquiry: FinderInput) -> tuple[Range, str] | None:
    """Return the commits between the good and the bad version of the report, and the words that end the range."""
    claims = inquiry.claims
    stated = [claim for claim in (*claims.versions, *claims.days) if claim.part != "affected"]
    stated.sort(key=lambda claim: claim.part not in ("bad", "until"))
    words = next((claim.text for claim in stated if inquiry.issue.holds(claim.text)), None)
    # "Kotlin 2.3.20" in the title is the version of another product wherever else the number is.
    named = re.search(rf"([A-Z][\w.+#]{{2,30}}) v?{re.escape(words or ' ')}(?![\d.]\d)", inquiry.issue.title)
    if named and named[1].lower() not in _BEFORE and plain(named[1]) not in inquiry.code.names:
        return None
    span = find_range(claims, inquiry.code.log, inquiry.code.names) if words else None
    return (span, words) if words and isinstance(span, Range) and span.start is not None else None


def _introduced(inquiry: FinderInput, fact: Fact, span: Range, words: str) -> Iterator[Fact]:
    """Yield the commit that added a line, if the line exists at the end of the range and not at its start."""
    text = (fact.text or "").strip()
    path = fact.path or ""
    # A short line, such as a closing bracket, exists at many places, and any of them would date it.
    if sum(map(str.isalnum, text)) < _ENOUGH or span.start is None:
        return
    if _holds(inquiry, span.start, path, text) or not _holds(inquiry, span.end, path, text):
        return
    for commit in _touching(inquiry, path, span):
        before = inquiry.code.repository.resolve(f"{commit.sha}~1")
        if _holds(inquiry, commit.sha, path, text) and not _holds(inquiry, before, path, text):
            if is_mechanical(commit) or occurs(inquiry.code.repository, before, text):
                return
            says = say("This line came in with `{sha}` “{title}”, within {range}.", **_values(commit, span))
            yield Fact(
                "introduced_in", says, words, path, fact.line, fact.text, fact.symbol,
                change=commit.sha, count=1, follows=(path, fact.line or 0),
            )  # fmt: skip
            return


def _changed(inquiry: FinderInput, path: str, span: Range, words: str) -> Iterator[Fact]:
    commits = _touching(inquiry, path, span)
    is_named = any(fact.kind == "named_here" and fact.path == path for fact in inquiry.found)
    real = [commit for commit in commits if not is_mechanical(commit)]
    is_short = len(inquiry.code.log.between(span.start, span.end)) < SHORT
    report = {*query_terms(f"{inquiry.query.title}\n{inquiry.query.body}")} - inquiry.code.names
    real.sort(key=lambda commit: -len(report.intersection(query_terms(commit.subject))))
    is_alike = len(real) == 1 and bool(report.intersection(query_terms(real[0].subject)))
    is_few = len(real) <= MANY if is_named and is_short else is_alike
    chosen = is_few and not any(is_stated(fact) and fact.line for fact in inquiry.found)
    for commit in real if len(commits) <= FEW else ():  # many changes of one file only repeat its log
        says = say("`{sha}` “{title}” changed `{path}` within {range}.", path=path, **_values(commit, span))
        yield Fact("changed_in", says, words, path, change=commit.sha, count=len(commits), chosen=chosen)


def _values(commit: Commit, span: Range) -> dict[str, str]:
    """Return the values of a sentence about a commit in a range."""
    return {"sha": commit.sha[:10], "title": short(commit.subject), "range": span.words}


def _touching(inquiry: FinderInput, path: str, span: Range) -> Sequence[Commit]:
    return inquiry.code.log.touching([path], span.start, span.end, 4 * FEW) or []


def _holds(inquiry: FinderInput, sha: str, path: str, text: str) -> bool:
    return body_of(text) in map(body_of, lines_at(inquiry.code, sha, path))


def occurs(repository: Repository, sha: str, text: str) -> bool:
    """Return whether any file of a commit has a line: a renamed file brings no line of its own."""
    command = ("grep", "-I", "-l", "-F", "-e", text, sha, "--")
    return bool(repository.cached_output("--no-pager", *command))


def find_only(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the line that the only commit in the report's range added, if its changes are in one definition."""
    claimed = claimed_range(inquiry)
    if claimed is None:
        return
    span, words = claimed
    # The second commit is requested to know whether the first is the only one.
    commits = inquiry.code.log.touching(list(inquiry.first), span.start, span.end, 2) or []
    if len(commits) == 1 and not is_mechanical(commits[0]):
        changed = [path for path in inquiry.first if path in commits[0].files]
        found = [fact for path in changed if (fact := _only(inquiry, path, commits[0], span, words))]
        yield from found if len(found) == 1 else ()


def _only(inquiry: FinderInput, path: str, commit: Commit, span: Range, words: str) -> Fact | None:
    hit = find_added(inquiry.code, path, commit.sha)
    if hit is None:
        return None
    values = {**_values(commit, span), "path": path, "symbol": hit.symbol or ""}
    says = say("One commit changed `{path}` within {range}: `{sha}` “{title}”, in `{symbol}`.", **values)
    return hit.fact("introduced_in", says, words, change=commit.sha, count=1, strong=True)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the commit's history has the change, and that it touches the file and added any given line."""
    change, path = fact.change or "", fact.path or ""
    if witness.message(change) is None:
        return "the commit is not in the history of the commit that is read"
    if path not in witness.changed(change):
        return "the commit does not change this file"
    if fact.kind == "introduced_in" and fact.text is not None:
        before = witness.repository.resolve(f"{change}~1")
        if occurs(witness.repository, before, fact.text.strip()) and "came in with" in fact.says:
            return "the line is older than the change"
    return None
