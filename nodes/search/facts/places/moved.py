"""Lines of the release that a report is about, found again at the commit that is read."""

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from nodes.search.facts.changes.named_change import short
from nodes.search.facts.changes.releases import (
    is_released,
    last_to_change,
    made_before,
    named_release,
    releases_of,
    since_release,
)
from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.git.errors import SearchError
from nodes.search.git.objects import split_lines
from nodes.search.history.versions import Release, parse_version
from nodes.search.sentences import say
from nodes.search.tokens import normalise_space

AROUND = 2
"""Number of lines on each side that tell equal lines apart."""
ENOUGH = 4
"""Minimum number of letters and digits of a line; closing brackets occur everywhere and locate nothing."""
LOST = say("; the line that the trace prints is not in this file at this commit")
"""The end of a sentence about a frame whose text the file does not have."""
_UNFIT = ("does not fit the error at this commit.", f"{LOST}.", " removed the line that the report prints.")
"""The ends of sentences about a line other than the one that the report is about."""
_SAYS = re.compile(
    r"[,;] line (\d{1,7}) of ([^\s,]{1,40}?)"
    r"( is no longer in this file(?:, since `[0-9a-f]{10}` “[^\n]{1,90}”(?P<where>, [^\n“”`]{1,60})?)?)?\.$"
)


class Moved(NamedTuple):
    """The place of a line of a release at the commit that is read."""

    line: int | None
    """None if the file has no such line any more."""
    says: str = ""
    """The clause that names the line of the release, if it has another number now."""
    is_known: bool = False
    """Whether the text of the line in the release was compared."""


def line_now(code: Code, release: Release | None, number: int, line: int) -> Moved:
    """Return the present place of a line of a file of a release; the line itself if its text is not known."""
    if release is None or release.commit == code.sha:
        return Moved(line if code.text(number, line) else None, is_known=release is not None)
    then = split_lines(code.repository.text(release.commit, code.path(number)) or "")
    text = then[line - 1].strip() if line <= len(then) else ""
    lines = code.lines(number)
    if sum(map(str.isalnum, text)) < ENOUGH:
        return Moved(line if code.text(number, line) else None)
    now = nearest(lines, text, line, then[max(0, line - 1 - AROUND) : line + AROUND])
    then_line = say(", line {line} of {release}", line=line, release=str(release.version))
    return Moved(now, "" if now == line else then_line, is_known=True)


def nearest(lines: Sequence[str], text: str, near: int, around: Sequence[str] = ()) -> int | None:
    """Return the line with a text that has most of the lines around it, and the nearest of these.

    White space around a line is left aside.
    """
    same = (line for line, here in enumerate(lines, 1) if here.strip() == text)
    wanted = frozenset(map(str.strip, around))

    def distance(line: int) -> tuple[int, int]:
        here = map(str.strip, lines[max(0, line - 1 - AROUND) : line + AROUND])
        return -len(wanted.intersection(here)), abs(line - near)

    return min(same, key=distance, default=None)


def removed(inquiry: FinderInput, release: Release, number: int, line: int) -> tuple[str, str | None]:
    """Return the clause about a line of a release that is gone, and the change that removed it."""
    code = inquiry.code
    path = code.path(number)
    text = (code.repository.lines(release.commit, path, line, line) or "").strip()
    sha = last_to_change(code.repository, text, release.commit, code.sha, path) if text else None
    change = next(iter(inquiry.code.log.details([sha])), None) if sha else None
    made = releases_of(code)
    where = since_release(code.repository, change.sha, made) if change else ""
    values = {"sha": change.sha[:10], "title": short(change.subject), "where": where} if change else {}
    since = say(", since `{sha}` “{title}”{where}", **values) if change else ""
    values = {"line": str(line), "release": str(release.version), "since": since}
    return say("; line {line} of {release} is no longer in this file{since}", **values), change.sha if change else None


def lost(inquiry: FinderInput, path: str, printed: str) -> tuple[str, str | None]:
    """Return the clause about a line that a trace prints and its file lacks, and the change that removed it."""
    repository, named = inquiry.code.repository, named_release(inquiry)
    sha = last_to_change(repository, printed, named.release.commit if named else None, inquiry.code.sha, path)
    change = next(iter(inquiry.code.log.details([sha])), None) if sha else None
    if change is None or not removes(inquiry.witness, change.sha, path, printed):
        return LOST, None
    values = {"sha": change.sha[:10], "title": short(change.subject)}
    return say("; `{sha}` “{title}” removed the line that the report prints", **values), change.sha


def unfit(inquiry: FinderInput, path: str, printed: str) -> tuple[str, str | None]:
    """Return the clause about a named line whose number another one has, and the change that removed it, if known."""
    end, change = lost(inquiry, path, normalise_space(printed)) if printed else ("", None)
    return (end, change) if change else (say("; it does not fit the error at this commit"), None)


def removes(witness: Witness, change: str, path: str, text: str) -> bool:
    """Return whether a file has a line with a text before a change and none after it."""
    with suppress(SearchError):  # the first commit has none before it
        shas = (witness.repository.resolve(f"{change}~1"), change)
        before, after = (map(normalise_space, (witness.repository.text(sha, path) or "").split("\n")) for sha in shas)
        return text in before and text not in after
    return False


def is_gone(fact: Fact) -> bool:
    """Return whether the line that a fact is about is no longer in its file, as far as the error tells."""
    found = _SAYS.search(fact.says)
    return fact.says.endswith(_UNFIT) or (found is not None and bool(found[3]))


def is_unsure(fact: Fact) -> bool:
    """Return whether the line that a fact is about is, or may be, another one at this commit."""
    return is_gone(fact) or "may have moved" in fact.says


def line_then(fact: Fact) -> int:
    """Return the number of a fact's line as the report gives it."""
    found = _SAYS.search(fact.says)
    return int(found[1]) if found else fact.line or 0


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the release has a fact's text at the line that its sentence names, if it names one."""
    if fact.kind == "named_here" and fact.says.endswith(_UNFIT[-1]):
        printed = {normalise_space(line.rpartition("|")[2]) for line in witness.issue_text.split("\n") if "|" in line}
        is_so = fact.change and any(removes(witness, fact.change, fact.path or "", text) for text in printed - {""})
        return None if is_so else "the change did not remove the line"
    found = _SAYS.search(fact.says)
    version = parse_version(found[2]) if found else None
    if found is None or version is None:
        return None
    path, line = fact.path or "", line_then(fact)
    releases = (item.exactly(version) for item in made_before(witness))
    texts = [witness.repository.lines(release.commit, path, line, line) or "" for release in releases if release]
    if found[3]:
        here = frozenset(map(str.strip, witness.lines(path, 1, sys.maxsize)))
        gone = [text for text in map(str.strip, texts) if sum(map(str.isalnum, text)) >= ENOUGH and text not in here]
        is_there = found["where"] and not is_released(witness, fact, found["where"])
        return "the file has this line of the release" if not gone else "another release has it" if is_there else None
    return None if (fact.text or "").strip() in map(str.strip, texts) else "the release has another line there"
