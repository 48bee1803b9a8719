"""``introduced_in`` and ``changed_in`` for a line of the report: what it came in with, what removed what it uses."""

import re
from collections.abc import Iterator

from nodes.search.facts.changes.added import body_of, lines_at
from nodes.search.facts.changes.changed_in import claimed_range, occurs
from nodes.search.facts.changes.named_change import short
from nodes.search.facts.changes.releases import changes, is_released, last_to_change, releases_of, since_release
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.levels import is_stated, precedence
from nodes.search.facts.places.moved import is_unsure
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.history.types import Commit
from nodes.search.history.weigh import is_mechanical
from nodes.search.sentences import say
from nodes.search.tokens import WORD

RECENT = 180 * 86_400
"""Number of seconds before the commit that is read within which a change of a line is of interest by itself."""
_OF_CODE = frozenset({"built_here", "quoted_here", "read_here"})
"""Kinds about a line that the report does not name itself."""
MAX_LINES = 2
"""Maximum number of lines whose changes are looked for."""
MAX_BACK = 2_000
"""Maximum number of commits in which the one that removed a definition is looked for."""
ALIKE = 0.5
"""Minimum share of words that a rewritten line has of the one before it."""
_ENOUGH = 12
"""Minimum number of letters that make a line distinctive."""
SAYS = re.compile(
    r"This line came in with `[0-9a-f]{10}` “.{1,90}”(?P<where>, (?:released|in no) [^”\n]{1,80}?)\.$"
    r"|`[0-9a-f]{10}` “.{1,90}” removed (?:the definition of `(?P<name>\w{1,80})`|`(?P<path>[^`]{1,400})`)\.$"
)
_MISSING = re.compile(
    r"(?<!\w)(\w{4,80})[!?]?`; the error says (?:that this does not exist\.|“[^”]{1,200} is not a function”)"
)
_LOST = re.compile(r"^\s{0,40}from \.(\w{2,60}) import ")
_DEFINES = r"(^|[^A-Za-z0-9_.])(def|func|function|fn|fun|sub|class|struct|interface|trait) +{}[^A-Za-z0-9_]"
"""A definition in languages that mark one with a word, also as git reads patterns."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield what removed what the first lines of the report use, and the recent changes that these came in with."""
    lines = [fact for fact in inquiry.shown if fact.line and (fact.is_named_line or fact.kind in _OF_CODE)]
    lines.sort(key=precedence(inquiry.found, inquiry.first))
    for fact in [fact for fact in lines if is_stated(fact) and not is_unsure(fact)][:MAX_LINES]:
        if missing := _MISSING.search(fact.says):
            yield from _undefined(inquiry, fact, missing[1])
        if lost := _LOST.search(fact.text or ""):
            yield from _removed(inquiry, fact, lost[1])
        if claimed_range(inquiry) is None:
            yield from _recent(inquiry, fact)


def _recent(inquiry: FinderInput, fact: Fact) -> Iterator[Fact]:
    code, text = inquiry.code, (fact.text or "").strip()
    if sum(map(str.isalnum, text)) < _ENOUGH:
        return
    since = f"--since=@{max(0, code.log.committed_at - RECENT)} +0000"
    sha = last_to_change(code.repository, text, None, code.sha, fact.path or "", since)
    commit = _details(inquiry, sha)
    if commit is None or is_mechanical(commit) or occurs(code.repository, commit.parents[0], text):
        return
    # Types of arguments and white space are none of a line's doing, and one that is written otherwise is not new.
    before = lines_at(code, commit.parents[0], fact.path or "")
    if body_of(text) in map(body_of, before) or any(_resembles(text, line) for line in before):
        return
    where = since_release(code.repository, commit.sha, releases_of(code))
    # The release that the report names.
    named = next((words for words in re.findall(r"\d[\w.]+\d", where) if inquiry.issue.holds(words)), None)
    values = {"sha": commit.sha[:10], "title": short(commit.subject), "where": where}
    says = say("This line came in with `{sha}` “{title}”{where}.", **values)
    yield Fact(
        "introduced_in", says, named, fact.path, fact.line, fact.text, fact.symbol,
        change=commit.sha, count=1, follows=fact.at,
    )  # fmt: skip


def _resembles(line: str, other: str) -> bool:
    """Return whether two lines have most of their words in common."""
    words, others = ({*WORD.findall(text)} for text in (line, other))
    return len(words & others) >= ALIKE * len(words | others) > 0


def _undefined(inquiry: FinderInput, fact: Fact, name: str) -> Iterator[Fact]:
    code = inquiry.code
    since = [f"^{horizon}"] if (horizon := code.log.horizon(MAX_BACK)) else []
    pattern = f"-S{_DEFINES.format(name)}"
    found = (
        [] if code.definitions(name) else changes(code.repository, "-1", "--pickaxe-regex", pattern, code.sha, *since)
    )
    commit = _details(inquiry, found[0] if found else None)
    paths = _defining(inquiry.witness, commit.parents[0], name) if commit else []
    if commit and paths and not _defining(inquiry.witness, commit.sha, name):
        values = {"sha": commit.sha[:10], "title": short(commit.subject), "name": name}
        says = say("`{sha}` “{title}” removed the definition of `{name}`.", **values)
        yield Fact("changed_in", says, None, paths[0], change=commit.sha, count=1, follows=fact.at)


def _removed(inquiry: FinderInput, fact: Fact, module: str) -> Iterator[Fact]:
    """Yield the change that removed a module of Python that a line imports from its own folder."""
    folder = (fact.path or "").rpartition("/")[0]
    path = f"{folder}/{module}.py".lstrip("/")
    is_there = any(map(inquiry.code.ending, (path, f"{path.removesuffix('.py')}/__init__.py")))
    if module.isidentifier() and not is_there and "No module named" in fact.says:
        found = changes(inquiry.code.repository, "-1", "--diff-filter=D", inquiry.code.sha, "--", path)
        if commit := _details(inquiry, found[0] if found else None):
            values = {"sha": commit.sha[:10], "title": short(commit.subject), "path": path}
            says = say("`{sha}` “{title}” removed `{path}`.", **values)
            yield Fact("changed_in", says, None, change=commit.sha, count=1, follows=fact.at)


def _details(inquiry: FinderInput, sha: str | None) -> Commit | None:
    """Return a commit that has one before it."""
    commit = next(iter(inquiry.code.log.details([sha])), None) if sha else None
    return commit if commit and commit.parents else None


def _defining(witness: Witness, sha: str, name: str) -> list[str]:
    """Return the files of a commit that define a name."""
    form, hits = re.compile(_DEFINES.format(name)), Witness(witness.repository, sha, "").grep(name)
    return sorted({hit.path for hit in hits if form.search(f"{hit.text}\n")})


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the change is in the history, and that it added the line or removed the last definition."""
    change, says = fact.change or "", SAYS.match(fact.says)
    path = fact.path or (says and says["path"]) or ""
    if says is None or witness.message(change) is None or path not in witness.changed(change):
        return "the history of the commit that is read has no such change of this file"
    if says["path"]:
        is_there = any(witness.repository.entry(sha, path) for sha in (change, witness.sha))
        return "the file is there" if is_there else None
    before = witness.repository.resolve(f"{change}~1")
    if says["name"]:
        is_so = path in _defining(witness, before, says["name"]) and not _defining(witness, change, says["name"])
        return None if is_so else "the change did not remove the definition"
    if occurs(witness.repository, before, (fact.text or "").strip()):
        return "the line is older than the change"
    return None if is_released(witness, fact, says["where"]) else "another release has the change first"
