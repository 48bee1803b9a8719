"""``changed_in`` after the release of a report, or else the last one: a change of lines with a name of the error."""

import re
from collections.abc import Iterator
from pathlib import Path

from nodes.search.facts.changes import releases
from nodes.search.facts.changes.named_change import short
from nodes.search.facts.code import whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.named import SYMPTOM
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.history.names import plain
from nodes.search.history.versions import Release, parse_version
from nodes.search.history.weigh import is_mechanical
from nodes.search.issue.query import COMPOUND
from nodes.search.sentences import say
from nodes.search.tokens import load_sections

MAX_NAMES, MAX_PATHS, MAX_WIDTH, FEW = 4, 3, 400, 3
"""Maximum numbers of names and of files that are looked up, of characters of a line, and of changes."""
RECENT = 60 * 86_400
"""Number of seconds before the commit that is read within which a change may be what ended the fault."""
SHORTEST, RARE = 5, 10
"""Minimum length of a name, and of one of a single word that is rare."""
_FORMS = load_sections(Path(__file__).with_name("since.txt"))
SAYS, _OF_ERROR, _DOTTED, _ACCESS = (
    re.compile("".join(_FORMS[name])) for name in "says of_error dotted access".split()
)
_IN = r"(^|[^A-Za-z0-9_]){}([^A-Za-z0-9_]|$)"
"""A whole word, as git reads patterns."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the last of few changes since the release that changed lines with a name of the error, per file."""
    named = releases.named_release(inquiry)
    # Without one, it is of the last release at best, unless its reporter builds the program.
    made = [release for release in releases.releases_of(inquiry.code).all if not release.version.is_prerelease]
    release = named.release if named else max(made, key=lambda release: release.made, default=None)
    if release is None or release.commit == inquiry.code.sha:
        return
    shown = [fact for fact in inquiry.shown if fact.line and fact.path]
    names = list(_names(inquiry))[:MAX_NAMES]
    lines = "\n".join((inquiry.issue.title, *(fact.text or "" for fact in shown)))
    for path in list(dict.fromkeys(fact.path or "" for fact in shown))[:MAX_PATHS] if names else ():
        found = (fact for name in names if (fact := _changed(inquiry, release, path, name, lines)))
        if fact := next(found, None):
            yield fact


def _names(inquiry: FinderInput) -> Iterator[str]:
    """Yield the names of the title and of errors that code may have: compound ones and parts of dotted ones."""
    seen = set[str]()
    traced = (f"{trace.error}: {trace.message}" for trace in inquiry.issue.traces)
    for text in filter(_OF_ERROR.search, (*inquiry.issue.lines, *traced)):
        for words in _DOTTED.findall(text[:MAX_WIDTH]):
            for part in reversed(words.split(".")):
                name = _ACCESS.sub("", part)
                is_code = "." in words or COMPOUND.search(name)
                if is_code and len(name) >= SHORTEST and not SYMPTOM.search(name) and name not in seen:
                    seen.add(name)
                    # What the project itself defines is in most of its changes.
                    if not (plain(name) in inquiry.code.names or inquiry.code.definitions(name)):
                        yield name


def _changed(inquiry: FinderInput, release: Release, path: str, name: str, lines: str) -> Fact | None:
    """Return the fact about a name that the change's title has, or a rare one of the title or a shown line."""
    code = inquiry.code
    span = (code.sha, f"^{release.commit}", "--", path)
    found = releases.changes(code.repository, f"--max-count={FEW + 1}", f"-G{_IN.format(name)}", *span)
    commit = next(iter(code.log.details(found[:1])), None) if 0 < len(found) <= FEW else None
    # A change that is older has been in use for long, if not in a release; one of a side branch may precede that.
    if commit is None or is_mechanical(commit) or commit.committed < max(release.made, code.log.committed_at - RECENT):
        return None
    word, is_rare = whole_word(name), len(name) >= RARE or COMPOUND.search(name)
    if not word.search(commit.subject) and not (is_rare and word.search(lines)):
        return None
    where = releases.since_release(code.repository, commit.sha, releases.releases_of(code))
    values = {"sha": commit.sha[:10], "title": short(commit.subject), "where": where, "name": name, "path": path}
    says = say(
        "After {release}, `{sha}` “{title}” changed lines with `{name}` of `{path}`{where}.",
        release=str(release.version), **values,
    )  # fmt: skip
    return Fact("changed_in", says, name, path, change=commit.sha, count=1, chosen=True)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the change is later than the release, and that it changed a line of the file with the name."""
    says, change, path = SAYS.match(fact.says), fact.change or "", fact.path or ""
    version = parse_version(says["release"]) if says else None
    named = [item for made in releases.made_before(witness) if version and (item := made.exactly(version))]
    if says is None or not witness.mentions(says["name"]) or witness.message(change) is None:
        return "the issue does not have the name, or the history the change"
    pattern = f"-G{_IN.format(says['name'])}"
    later = (
        releases.changes(
            witness.repository, "-1", f"--since=@{item.made} +0000", pattern, change, f"^{item.commit}", "--", path
        )
        for item in named
    )
    if not any(found[:1] == [change] for found in later):
        return "the change is not later than the release, or does not change such a line"
    return None if releases.is_released(witness, fact, says["where"]) else "another release has the change first"
