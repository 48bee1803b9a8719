"""All finders of facts."""

from __future__ import annotations

from nodes.search.facts.around import called_from, guarded_by, intended, used_here
from nodes.search.facts.asked import called_here, last_changed, owned_by
from nodes.search.facts.changes import changed_in, changed_since, named_change, only_change, releases
from nodes.search.facts.finding import Finder
from nodes.search.facts.names import absent, defined_once, documented_here, read_here, tested_here
from nodes.search.facts.output import built_here, raised_here
from nodes.search.facts.places import linked_here, named_here, pasted_here

FINDERS: tuple[Finder, ...] = (
    linked_here.find,
    named_change.find,
    raised_here.find,
    pasted_here.find,
    defined_once.find,
    built_here.find,
    read_here.find,
    named_here.find,
    guarded_by.find,
    called_from.find,
    used_here.find,
    intended.find,
    only_change.find,
    changed_in.find,
    changed_since.find,
    releases.find,
    tested_here.find,
    absent.find,
    documented_here.find,
    owned_by.find,
    last_changed.find,
    called_here.find,
)
"""The finders in order of precedence."""
