"""Every kind of fact in six languages and in a whole run, with reports where it is false and hostile reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

from bot import triage
from nodes.search.engine import Engine
from nodes.search.facts import Fact
from nodes.search.facts.finding import MAX_OF_A_KIND
from nodes.search.facts.types import LEADING, Kind
from nodes.search.types import Query
from tests.search.facts.finding import verify
from tests.search.facts.zones import LANGUAGES, History, Zones, make_history
from tests.support.growth import assert_cheap

ERROR = "```\nZoneError: the zone utc has no known region\n```"
FALSE_ERROR = "```\nZoneError: the zone utc has no good region\n```"


class Example(NamedTuple):
    """Two reports, each a title and a body: one has a fact of the kind, the other only resembles it."""

    holds: tuple[str, str]
    resembles: tuple[str, str]
    file: str | None
    """The field of ``Zones`` with the file of the fact; None if it has another file or none."""
    line: str | None = None
    """Words of the fact's line; None if the fact is about a whole file, a change or a release."""


EXAMPLES: dict[Kind, Example] = {
    "linked_here": Example(
        ("It is wrong", "See https://github.com/acme/zones/blob/{head}/{load}#L{call}."),
        ("It is wrong", f"See https://github.com/acme/zones/blob/{'a1' * 20}/{{load}}#L{{call}}."),
        "load",
        "check_zone",
    ),
    "named_change": Example(
        ("Regions leak", "Related to #812."), ("Regions leak", "Related to #8123."), "load", "open_region_lazily"
    ),
    "introduced_in": Example(
        ("Regions leak", "This broke with #812."),
        ("Regions leak", "This broke with #81."),
        "load",
        "open_region_lazily",
    ),
    "raised_here": Example(
        ("It crashes", "```\n{trace}```\n"),
        ("It crashes", "```\n{foreign_trace}```\n"),
        "load",
        "strict_zone",
    ),
    "named_here": Example(
        ("It is wrong", "The fault is in {load} I think."), ("It is wrong", "The fault is in my{load} I think."), "load"
    ),
    "pasted_here": Example(
        ("It is wrong", "This looks wrong:\n\n```\n{pasted}\n```\n"),
        ("It is wrong", "This looks wrong:\n\n```\nregion = open_region(name)\nreturn lax_zone(region)\n```\n"),
        "load",
        "check_zone",
    ),
    "quoted_here": Example(
        ("It is wrong", "It stops in `open_region_lazily(name, table)`."),
        ("It is wrong", "It stops in `open_region_lazily(table, name)`."),
        "load",
        "open_region_lazily",
    ),
    "defined_once": Example(("`load_zone` is slow", ""), ("`load_zones` is slow", ""), "load", " load_zone"),
    "built_here": Example(("It fails", ERROR), ("It fails", FALSE_ERROR), "check", "known region"),
    "guarded_by": Example(("It fails", ERROR), ("It fails", "`refuse_zone` has no condition."), "check", "if "),
    "called_from": Example(("It fails", ERROR), ("It fails", "```\n{uncalled}\n```"), "load", "check_zone"),
    "read_here": Example(
        ("It is wrong", "With `lenient_zone` set it fails."),
        ("It is wrong", "With `lenient_zones` set it fails."),
        "scan",
        "lenient_zone",
    ),
    "default_here": Example(
        ("`--packed-zones` is ignored", "Always."),
        ("`--packed-zone` is ignored", "Always."),
        "option",
        "packed-zones",
    ),
    "used_here": Example(
        ("`load_zone` is wrong", "It returns the wrong `strict_zone`."),
        ("`load_zone` is wrong", "It returns the wrong `lenient_zone`."),
        "load",
        "strict_zone",
    ),
    "tested_here": Example(("`load_zone` is slow", ""), ("`scan_zone` is slow", ""), "test", "load_zone"),
    "changed_in": Example(
        ("`load_zone` fails", "It works in 1.2.0 and fails in 1.3.0."),
        ("`load_zone` fails", "It works with OpenSSL 1.2.0 and fails with OpenSSL 1.3.0."),
        "load",
    ),
    "older_release": Example(
        ("It fails", "I use version 1.2.0."), ("It fails", "I use version 1.3.0, and OpenSSL 1.2.0."), None
    ),
    "documented_here": Example(
        ("How do I use `load_zone`?", ""), ("How do I use `scan_zone`?", ""), None, "## Loading"
    ),
    "absent": Example(
        ("It crashes in {lost}", "Always."),
        ("It crashes in {load}", "Always."),
        None,
    ),
}


LED_BY: dict[Kind, Kind | None] = {
    "guarded_by": "built_here",
    "called_from": "built_here",
    "default_here": None,
    "tested_here": "defined_once",
    "changed_in": "defined_once",
    "older_release": None,
}
"""The kind of the headline of each example that another kind leads, or none."""


class Project(NamedTuple):
    """The project in one language, its commits, and the engine that reads it."""

    zones: Zones
    history: History
    engine: Engine

    def facts(self, report: tuple[str, str]) -> list[Fact]:
        """Return the facts of a report at the last commit, each verified."""
        title, body = (self.filled(text) for text in report)
        query, head = Query(title, body), self.history.head
        ranked = [hit.path for hit in self.engine.find(query, head).files]
        facts = self.engine.facts(query, ranked, head)
        for fact in facts:
            assert verify(fact, self.engine.repository, head, f"{title}\n{body}") is None, fact
        return list(facts)

    def report(self, written: tuple[str, str], data: Path) -> dict[str, Any]:
        """Return the result of a run for a report, which is that of ``triage run`` (``tests/test_library.py``)."""
        title, body = (self.filled(text) for text in written)
        repository, head = self.engine.repository.directory, self.history.head
        result = triage(repository, f"{title}\n\n{body}\n", rev=head, brain="rules", data_dir=data)
        report: dict[str, Any] = json.loads(result.report.model_dump_json())
        return report

    def filled(self, text: str) -> str:
        zones, name = self.zones, self.zones.load[0].rpartition("/")[2]
        pasted = [line.strip() for line in zones.load[1].split("\n") if "check_zone" in line or "open_region" in line]
        return text.format(
            head=self.history.head,
            load=zones.load[0],
            lost=zones.load[0].replace(name, f"lost_{name}"),
            test=f"{zones.test[0]}#L{zones.line(zones.test, 'load_zone')}",
            call=zones.line(zones.load, "check_zone"),
            pasted="\n".join(pasted),
            trace=zones.trace_at(zones.load, "strict_zone", "load_zone"),
            foreign_trace=zones.trace_at((f"other/all_{name}", zones.load[1]), "strict_zone", "load_all"),
            former_error="ZoneError: the zone utc is in no region of the table",
            uncalled="ZoneError: the zone utc cannot be written to disk",
        )


@pytest.fixture(scope="module", params=LANGUAGES)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project in each language; its engine is shared because no test changes it."""
    path, zones = tmp_path_factory.mktemp(request.param) / "zones", LANGUAGES[request.param]
    return Project(zones, make_history(path, zones), Engine(path))


def test_every_kind_has_an_example_in_six_languages():
    assert set(EXAMPLES) == set(get_args(Kind))
    assert len(LANGUAGES) >= 6


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_fact_is_found_in_each_language(project: Project, kind: Kind):
    example, zones = EXAMPLES[kind], project.zones
    found = [fact for fact in project.facts(example.holds) if fact.kind == kind]
    assert found
    first = found[0]
    assert not any(fact.strong for fact in found) or kind in (*LEADING, "default_here")
    if example.file is not None:
        assert first.path == getattr(zones, example.file)[0]
    assert (example.line is None) == (first.text is None)
    assert (example.line or "") in (first.text or "")


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_report_that_resembles_it_has_no_such_fact(project: Project, kind: Kind):
    assert [fact for fact in project.facts(EXAMPLES[kind].resembles) if fact.kind == kind] == []


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("project", ["python"], indirect=True)
def test_a_hostile_report_is_read_within_limits(project: Project, kind: Kind):
    title, body = EXAMPLES[kind].holds
    facts: list[Fact] = []
    hostile = title, f"{title} {body}\n" * (12_000 // (len(title) + len(body)))
    assert_cheap(lambda: facts.extend(project.facts(hostile)), 10.0, kind)
    assert len([fact for fact in facts if fact.kind == kind]) <= MAX_OF_A_KIND


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("project", ["python"], indirect=True)
def test_the_fact_reaches_the_report_of_a_run(project: Project, kind: Kind, tmp_path: Path):
    example, report = EXAMPLES[kind], project.report(EXAMPLES[kind].holds, tmp_path / "data")
    found = [fact for fact in report["facts"] if fact["kind"] == kind]
    assert found, report["facts"]
    if example.file is not None:
        assert found[0]["path"] == getattr(project.zones, example.file)[0]
    if (path := found[0]["path"]) and (line := found[0]["line"]):
        at = found[0]["sha"] or project.history.head
        assert project.engine.repository.lines(at, path, line, line) == found[0]["text"]
    lead = None if report["headline"] is None else report["facts"][report["headline"]]
    assert (lead and lead["kind"]) == LED_BY.get(kind, kind)
    assert lead is None or lead["says"][:300] == report["verdict"]
