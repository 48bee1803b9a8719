"""Facts about traces without a line of the project's own code."""

from pathlib import Path

import pytest

from tests.search.facts.finding import facts_of

FILES = {
    "package.json": '{\n  "name": "region-watch",\n  "dependencies": {\n    "zone-feed": "^5.5.2"\n  }\n}\n',
    "src/watch.ts": "export function watchRegion(name: string) {\n  return name;\n}\n",
}
INSIDE = "at Feed.onMessage (/opt/x/node_modules/zone-feed/src/feed.ts:69:26)"
OTHER = "at Socket.emit (/opt/x/node_modules/sockets/lib/index.js:12:25)"


@pytest.mark.parametrize(
    ("trace", "places"),
    [
        pytest.param(f"TypeError: x is null\n    {INSIDE}\n", [("package.json", 4)], id="a-trace"),
        pytest.param(
            f"host.1 | error | Caught: {OTHER}\nhost.1 | error | Caught: {INSIDE}", [("package.json", 4)], id="a-log"
        ),
        pytest.param(f"TypeError: x is null\n    {OTHER}\n", [], id="a-dependency-of-a-dependency"),
        pytest.param(
            f"TypeError: x is null\n    {INSIDE}\n    at watchRegion (/opt/x/src/watch.ts:2:3)\n", [], id="an-own-frame"
        ),
    ],
)
def test_a_trace_outside_the_project_leads_to_the_declared_dependency(tmp_path: Path, trace, places):
    found = [fact for fact in facts_of(tmp_path, FILES, "It stops", f"```\n{trace}\n```\n") if fact.by_library]
    declared = [fact for fact in found if fact.kind == "named_here"]
    assert [(fact.path, fact.line) for fact in declared] == places
    assert all(fact.unclaimed for fact in declared)


SHARP = {
    "Acmesoft.Plugin.Hooks/Start.cs": "namespace Acmesoft.Plugin.Hooks;\npublic class Start\n{\n    void Run() { }\n}\n"
}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param(
            "System.NullReferenceException: No value.\n   at Other.Webhooks.Entry.OnProgress(Object sender)\n",
            [],
            id="another-project",
        ),
        pytest.param(
            "System.NullReferenceException: No value.\n   at Acmesoft.Webhooks.Entry.OnProgress(Object sender)\n",
            ["Acmesoft.Webhooks.Entry"],
            id="a-class-named-like-the-project",
        ),
        pytest.param(
            "java.lang.ClassCastException: class a.Start cannot be cast to class org.zones.OvenEntity",
            ["OvenEntity"],
            id="the-type-of-a-cast",
        ),
        pytest.param(
            "java.lang.ClassCastException: class a.b cannot be cast to class org.zones.Start",
            [],
            id="a-type-that-the-project-has",
        ),
    ],
)
def test_what_the_error_names_and_no_file_has_is_stated(tmp_path: Path, body, names):
    found = facts_of(tmp_path / "acmesoft", SHARP, "It crashes", f"```\n{body}```\n")
    assert [fact.words for fact in found if fact.kind == "absent"] == names
