"""Generate the page of facts: each kind with its meaning, an example from the English catalogue, and its check."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import get_args

from bot.report.languages.catalogue import catalogue
from nodes.search.facts.kinds import CHECKS, FINDERS
from nodes.search.facts.types import LEADING, OF_CHANGES, Kind

_CHANGE = {"ref": "`4be1a7c09d`", "quote": "“Read zones lazily”"}
_SINCE = {"part": "1.2.0 → 1.3.0"}
_OPTION = {"code": "`FEED_TIMEOUT`"}
EXAMPLES: dict[Kind, tuple[str, dict[str, str]]] = {
    "linked_here": ("linked", {"place": "`feedbox/dates.py`"}),
    "named_change": ("named_change", {**_CHANGE, "place": "`feedbox/dates.py`"}),
    "introduced_in": ("introduced", {**_CHANGE, **_SINCE}),
    "raised_here": ("raised", {"part": "`KeyError`", "place": "`parse_date`"}),
    "named_here": ("named_file", {"code": "`feedbox/dates.py`"}),
    "pasted_here": ("pasted_lines", {"n": "3", "place": "`feedbox/dates.py`"}),
    "quoted_here": ("quoted_once", {"code": "`zone.strip()`", "place": "`parse_date`"}),
    "defined_once": ("defined_once", {"code": "`parse_date`", "place": "`feedbox/dates.py`"}),
    "built_here": ("built_only", {"place": "`parse_date`", "quote": "“the zone is empty”"}),
    "read_here": ("read_in", {**_OPTION, "code.symbol": "`fetch`"}),
    "default_here": ("declared", _OPTION),
    "guarded_by": ("runs_if", {"code": "`if not zone:`"}),
    "used_here": ("used", {"code": "`parse_date`", "code.name": "`zone`"}),
    "called_from": ("called", {"code": "`parse_date`", "place": "`read_entry`"}),
    "subject_of_test": (
        "subject_of_test",
        {"code": "`test_zones`", "code.name": "`parse_date`", "place": "`feedbox/dates.py`"},
    ),
    "tested_here": ("tested", {"code": "`test_zones`", "code.name": "`parse_date`"}),
    "changed_in": ("changed", {**_CHANGE, **_SINCE, "place": "`feedbox/dates.py`"}),
    "older_release": ("older_releases", {"word": "1.2.0", "n": "3", "word.last": "1.4.0"}),
    "fixed_since": ("fixed_since", {"place": "`CHANGES.md`", "quote": "“Fix `parse_date` for zones”"}),
    "documented_here": ("documented_in", {**_OPTION, "place": "`docs/settings.md`", "quote": "“Timeouts”"}),
    "absent": ("absent", {"code": "`parse_dates`"}),
}
"""A key of the catalogue's table ``facts`` for each kind, and the texts of its placeholders. Another kind has the
sentence under its own name, filled with ``SAMPLES``."""
SAMPLES = {"code": "`parse_date`", "place": "`feedbox/dates.py`", "n": "3", "quote": "“the zone is empty”", **_SINCE}
_INTRODUCTION = """\
# Facts

This page is generated from the code.

A fact is a checked relation between words of an issue and a line or a change of the repository. There are {count}
kinds. The search engine finds a fact; then a check of its kind verifies it with plain git, without the finder's
results. A fact that fails is dropped. Every fact must also have words that the issue contains, or explain another fact,
and its line must have the stated text at the commit. [Accuracy](accuracy.md#when-a-report-claims-a-file) says how facts
decide what a report states.

*Leads* marks the kinds that may be the first sentence of a report, in order of precedence. These are about a commit:
{changes}. `triage run --format json` lists the facts of a report under `report.facts`, and the
[HTTP API](api.md#reading-what-the-app-stored) those of all reports.
"""


def kinds() -> tuple[Kind, ...]:
    """Return every kind of fact: those that may lead a report in order of precedence, then the others."""
    return (*LEADING, *(kind for kind in get_args(Kind) if kind not in LEADING))


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield _INTRODUCTION.format(
        count=len(kinds()), changes=", ".join(f"`{kind}`" for kind in kinds() if kind in OF_CHANGES)
    )
    yield "| Kind | What it finds | Example | Leads | What the check verifies |"
    yield "|---|---|---|---|---|"
    for kind in kinds():
        leads = "yes" if kind in LEADING else ""
        yield f"| `{kind}` | {_meaning(kind)} | {example(kind)} | {leads} | {_check(kind)} |"
    yield ""


def example(kind: Kind) -> str:
    """Return an example sentence of a kind.

    Raises:
        SystemExit: the catalogue has no sentence for the kind, or one with other placeholders.
    """
    key, values = EXAMPLES.get(kind, (kind, SAMPLES))
    sentence = catalogue("en").sentences.get(f"facts.{key}")
    if sentence is None or not set(sentence.names) <= set(values):
        sys.exit(f"the English catalogue needs a sentence facts.{key} with the texts of docs/facts_page.py")
    return sentence.fill(values)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0].replace("``", "`").rstrip(".")


def _modules(kind: Kind) -> list[str]:
    """Return the modules whose docstring names the kind, those whose subject it is first."""
    modules = [finder.__module__ for finder in FINDERS]
    named = [name for name in modules if f"``{kind}``" in _before_colon(name)]
    return sorted(dict.fromkeys(named), key=lambda name: not _before_colon(name).startswith(f"``{kind}``"))


def _before_colon(module: str) -> str:
    return (sys.modules[module].__doc__ or "").partition(":")[0]


def _meaning(kind: Kind) -> str:
    if not _modules(kind):
        sys.exit(f"no finder's docstring begins with ``{kind}`` and a colon, from which docs/facts.md has its meaning")
    return "; or ".join(_first_line(sys.modules[name].__doc__).partition(": ")[2] for name in _modules(kind))


def _check(kind: Kind) -> str:
    own = [CHECKS[kind].__doc__, *(getattr(sys.modules[name], "check", kinds).__doc__ for name in _modules(kind))]
    return next((_first_line(text).removeprefix("Verify ") for text in own if text), "")
