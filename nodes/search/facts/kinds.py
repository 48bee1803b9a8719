"""Every kind of fact: its finder, and its check with plain git, which is independent of the finder."""

import sys
from collections.abc import Callable
from dataclasses import replace

from nodes.search.facts.around import called_from, guarded_by, same_code, set_here, used_here
from nodes.search.facts.changes import changed_in, named_change, of_line, releases, since
from nodes.search.facts.finding import Finder
from nodes.search.facts.names import (
    absent,
    decided_here,
    defined_once,
    documented_here,
    read_here,
    tested_here,
)
from nodes.search.facts.output import built_here, error_form, raised_here, removed
from nodes.search.facts.places import (
    bounds,
    entries,
    labelled_here,
    linked_here,
    moved,
    named_here,
    pasted_here,
    quoted_here,
    required,
)
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.issue.normal.report import as_printed

Check = Callable[[Fact, Witness], str | None]

FINDERS: tuple[Finder, ...] = (
    linked_here.find,
    named_change.find,
    removed.find,
    raised_here.find,
    pasted_here.find,
    defined_once.find,
    built_here.find,
    read_here.find,
    named_here.find,
    quoted_here.find,
    error_form.find,
    decided_here.find,
    labelled_here.find,
    bounds.find,
    entries.find,
    required.find,
    changed_in.find_only,
    # The next finders explain facts of those above, so they come after them.
    same_code.find,
    set_here.find,  # tells more about a missing value than the condition
    guarded_by.find,
    called_from.find,
    used_here.find,
    of_line.find,
    since.find,
    changed_in.find,
    releases.find,
    tested_here.find,
    absent.find,
    documented_here.find,
)
"""The finders in order of precedence; the module of each has the ``check`` of its facts."""
CHECKS: dict[str, Check] = {
    **{finder.__module__.rpartition(".")[2]: vars(sys.modules[finder.__module__])["check"] for finder in FINDERS},
    "introduced_in": changed_in.check,
    "default_here": read_here.check,
    "older_release": releases.check,
}
"""The check of each kind, by the name of its module; it returns the reason why a fact does not hold, or None."""
_BY_SENTENCE = (bounds, decided_here, entries, labelled_here, of_line, required, same_code, set_here, since)
"""Modules that find facts of a kind which another module finds too."""


def _check_of(fact: Fact) -> Check:
    # The report names the commit, or it comes from a range of versions.
    if fact.kind == "introduced_in" and (not fact.line or fact.says.startswith("The report")):
        return named_change.check
    # Without the name of a frame, the words are the message of an error.
    if fact.kind == "raised_here" and fact.exact is None:
        return error_form.check
    # The line is read in a release.
    if fact.kind == "raised_here" and fact.sha:
        return removed.check
    return next((module.check for module in _BY_SENTENCE if module.SAYS.match(fact.says)), CHECKS[fact.kind])


def fault_of(fact: Fact, witness: Witness) -> str | None:
    """Return the reason why a fact does not hold, or None if it holds."""
    # Without the index, so that its errors cannot confirm themselves.
    if fault := _everywhere(fact, witness):
        return fault
    # The checks compare with code, which has none of the escapes and prefixes of a log.
    plain = replace(fact, words=as_printed(fact.words, witness.issue_text)) if fact.words else fact
    return _check_of(fact)(plain, witness)


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
