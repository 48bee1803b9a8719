"""Generate the page of facts: each kind with its meaning, an example, and its check."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from babel.messages.extract import extract
from catalogues import KEYWORDS

from nodes.search.facts.kinds import CHECKS, FINDERS
from nodes.search.facts.types import LEADING, OF_CHANGES, Kind

EXAMPLES: dict[Kind, str] = {
    "linked_here": "The report links to this line{of}.",
    "named_change": "The report names this change: `{sha}` “{title}”; it changed `{path}`.",
    "introduced_in": "This line came in with `{sha}` “{title}”, within {range}.",
    "raised_here": "{error} passes through `{place}`{end}.",
    "named_here": "The report names the file `{path}`.",
    "pasted_here": "{count} lines of the report's code are in {file}.",
    "quoted_here": "`{code}` is in `{place}`, {only}.",
    "defined_once": "The only definition of `{place}`{where} is in `{path}`.",
    "built_here": "`{place}` builds the message {message}, the only place that does.",
    "read_here": "`{option}` is read on this line in `fetch`; no other file of the project's code contains it.",
    "default_here": "`{option}` is declared on this line; no other file of the project's code contains it.",
    "guarded_by": "It runs only under this condition: `if not zone:`.",
    "used_here": "`{place}` uses `zone` on this line.",
    "called_from": "`{place}` is called here, in `read_entry`.",
    "tested_here": "The test `{test}` uses `{place}`.",
    "changed_in": "`{sha}` “{title}” changed `{path}` within {range}.",
    "older_release": "The report names 1.2.0; {count} later releases exist, up to 1.4.0.",
    "documented_here": "`{option}` is documented in `docs/settings.md`, under “Timeouts”.",
    "absent": "`parse_dates` occurs nowhere at this commit.",
}
"""An example of each kind's sentence. Another kind has the first sentence of its finder, filled with ``SAMPLES``."""
SAMPLES = {
    "sha": "4be1a7c09d", "title": "Read zones lazily", "range": "1.2.0 → 1.3.0", "path": "feedbox/dates.py",
    "of": " of `feedbox/dates.py`", "file": "`feedbox/dates.py`", "place": "parse_date", "name": "parse_date",
    "error": "`KeyError`", "code": "zone.strip()", "count": "3", "message": "“the zone is empty”", "test": "test_zones",
    "option": "FEED_TIMEOUT", "where": "", "moved": "", "line": "12",
    "end": "; this line is its innermost frame in the project's own code",
    "only": "and on no other line of the project's own code",
}  # fmt: skip
_INTRODUCTION = """\
# Facts

This page is generated from the code.

A fact is a checked relation between words of an issue and a line or a change of the repository. There are {count}
kinds. The search engine finds a fact; then a check of its kind verifies it with plain git, independently of the finder.
Every fact must also have words that the issue contains, or explain another fact, and its line must have the stated text
at the commit. [Accuracy](accuracy.md#when-a-report-claims-a-file) says how facts
decide what a report states.

*Leads* marks the kinds that may be the first sentence of a report, in order of precedence. These are about a commit:
{changes}. `triage run --format json` lists the facts of a report under `report.facts`.
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
        SystemExit: it has placeholders without a sample.
    """
    text = EXAMPLES.get(kind) or next(iter(_sentences(kind)), "")
    missing = set(re.findall(r"{(\w+)}", text)) - set(SAMPLES)
    if missing or not text:
        sys.exit(f"EXAMPLES of docs/facts_page.py needs an example of {kind}, or SAMPLES {', '.join(sorted(missing))}")
    return text.format(**SAMPLES)


def _sentences(kind: Kind) -> Iterator[str]:
    """Yield the sentences of a kind's finders."""
    for name in _modules(kind):
        with Path(str(sys.modules[name].__file__)).open("rb") as file:
            yield from (str(text) for _, text, *_ in extract("python", file, keywords=KEYWORDS) if text.endswith("."))


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
