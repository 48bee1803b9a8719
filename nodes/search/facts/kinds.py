"""Every kind of fact: its finder, and its check with plain git, which is independent of the finder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nodes.search.facts.around import called_from, guarded_by, used_here
from nodes.search.facts.changes import changed_in, fixed_since, named_change, only_change, releases
from nodes.search.facts.finding import Finder
from nodes.search.facts.names import (
    absent,
    decided_here,
    defined_once,
    documented_here,
    read_here,
    subject_of_test,
    tested_here,
)
from nodes.search.facts.output import built_here, error_form, raised_here
from nodes.search.facts.places import (
    labelled_here,
    linked_here,
    moved,
    named_here,
    pasted_here,
    quoted_here,
    spelled_here,
    worded_here,
)
from nodes.search.facts.witness import Witness
from nodes.search.issue.normal.report import as_printed

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from nodes.search.facts.types import Fact, Kind
    from nodes.search.git import Repository

FINDERS: tuple[Finder, ...] = (
    linked_here.find,
    named_change.find,
    raised_here.find,
    pasted_here.find,
    defined_once.find,
    built_here.find,
    read_here.find,
    named_here.find,
    subject_of_test.find,
    quoted_here.find,
    error_form.find,
    decided_here.find,
    spelled_here.find,
    labelled_here.find,
    worded_here.find,
    # The next finders explain facts of those above, so they come after them.
    guarded_by.find,
    called_from.find,
    used_here.find,
    only_change.find,
    changed_in.find,
    releases.find,
    fixed_since.find,
    tested_here.find,
    absent.find,
    documented_here.find,
)
"""The finders in order of precedence."""
CHECKS: dict[Kind, Callable[[Fact, Witness], str | None]] = {
    "linked_here": linked_here.check,
    "named_change": named_change.check,
    # With a line it comes from a range of versions; without one, the report names the commit.
    "introduced_in": lambda fact, witness: (changed_in if fact.line else named_change).check(fact, witness),
    # Without the name of a frame, the words are the message of an error.
    "raised_here": lambda fact, witness: (raised_here if fact.exact is not None else error_form).check(fact, witness),
    "named_here": named_here.check,
    "pasted_here": pasted_here.check,
    "quoted_here": lambda fact, witness: _finder_of(fact).check(fact, witness),
    "defined_once": defined_once.check,
    "built_here": built_here.check,
    "read_here": lambda fact, witness: (decided_here if decided_here.is_decided(fact) else read_here).check(
        fact, witness
    ),
    "default_here": read_here.check,
    "guarded_by": guarded_by.check,
    "called_from": called_from.check,
    "used_here": used_here.check,
    "tested_here": tested_here.check,
    "subject_of_test": subject_of_test.check,
    "changed_in": changed_in.check,
    "older_release": releases.check,
    "fixed_since": fixed_since.check,
    "documented_here": documented_here.check,
    "absent": absent.check,
}
"""The additional check of each kind; a check returns the reason why a fact does not hold, or None."""


def _finder_of(fact: Fact) -> ModuleType:
    """Return the module that found an expression, a label, words or a name in other spelling."""
    if labelled_here.is_label(fact):
        return labelled_here
    if worded_here.is_worded(fact):
        return worded_here
    return spelled_here if spelled_here.is_spelled(fact) else quoted_here


def verify(fact: Fact, repository: Repository, sha: str, issue_text: str) -> str | None:
    """Verify a fact about a commit, given the issue's title, body and all answers, like ``fault_of``."""
    return fault_of(fact, Witness(repository, sha, issue_text))


def fault_of(fact: Fact, witness: Witness) -> str | None:
    """Return the reason why a fact does not hold, or None if it holds."""
    # Without the index, so that its errors cannot confirm themselves.
    if fault := _everywhere(fact, witness):
        return fault
    # The checks compare with code, which has none of the escapes and prefixes of a log.
    plain = replace(fact, words=as_printed(fact.words, witness.issue_text)) if fact.words else fact
    return CHECKS[fact.kind](plain, witness)


def _everywhere(fact: Fact, witness: Witness) -> str | None:
    """Check what every fact must have: words of the issue, and a line with the stated text."""
    if fact.words is not None and not witness.mentions(fact.words):
        return "the issue does not contain these words"
    if fact.words is None and fact.follows is None:
        return "it neither has words of the issue nor follows a fact"
    if fact.line is None:
        return None
    if fact.path is None or fact.text is None or not fact.text.strip():
        return "it has a line but no path or text"
    if witness.line(fact.path, fact.line, fact.sha) != fact.text:
        return "the line has different text"
    return moved.check(fact, witness)
