"""Log lines, metrics and spans of a triage, without any text that people wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.hostile.corpus import Hostile
from tests.hostile.obedient import obedient
from tests.serve.app import HTTP, App, running, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.collector import Collector, collecting
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo
from tests.servers.model_server import serve as serve_model

METRICS_TOKEN = "prometheus-reads-with-this"
WRITTEN = ("parse_date", "feedbox", "RFC 822", "octo", "rita", "no zone in")
"""Texts from the issue, the code, the repository's name and its people."""


@dataclass
class Seen:
    app: App
    collector: Collector
    key: str
    measures: dict[str, dict[tuple[tuple[str, str], ...], float]]


DONE = (("kind", "triage"), ("outcome", "done"))
"""The labels of a triage that ended well."""


@pytest.fixture(scope="module")
def seen(github: GitHubServer, feedbox: Repo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """Yield one triage by a model with all its records, after its metrics are stored."""
    with collecting() as collector, serve_model() as model:
        model.script = obedient(Hostile("observed", TITLE, BODY))
        settings = {
            "TRIAGE_METRICS_TOKEN": METRICS_TOKEN,
            "TRIAGE_BRAIN": "llm",
            "TRIAGE_MODEL_CALLS_PER_MINUTE": "1000",
            "TRIAGE_PRICES": "gpt-4o=2.5/10",
            "OPENAI_BASE_URL": model.url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        with running(github, tmp_path_factory.mktemp("observed") / "data", **settings) as app:
            number = app.open_issue(feedbox, TITLE, BODY)
            # On a busy machine the job that learns past issues may be counted before the triage.
            wait_for(lambda: DONE in measured(app).get("tracehound_jobs_total", {}), 60.0, lambda: app.log[-5:])
            wait_for(lambda: any(span.name == "job triage" for span in collector.spans()), 30.0)
            yield Seen(app, collector, app.key(feedbox, number), measured(app))


def measured(app: App) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    answer = HTTP.get(f"{app.url}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_a_delivery_is_counted_and_timed(seen: Seen) -> None:
    assert seen.measures["tracehound_deliveries_total"][("event", "issues"), ("outcome", "queued")] == 1
    assert seen.measures["tracehound_delivery_seconds_count"][()] == 1


def test_the_server_reports_the_workers_metrics(seen: Seen) -> None:
    measures = seen.measures
    assert measures["tracehound_jobs_total"][DONE] == 1
    nodes = {dict(labels)["node"] for labels in measures["tracehound_node_seconds_count"]}
    assert {"supervisor", "investigator"} <= nodes
    calls = measures["tracehound_model_calls_total"][("model", "gpt-4o"), ("outcome", "answered")]
    assert calls > 0
    assert measures["tracehound_model_cost_dollars_total"][(("model", "gpt-4o"),)] > 0
    assert measures["tracehound_model_tokens_total"][("direction", "input"), ("model", "gpt-4o")] == 100 * calls
    assert measures["tracehound_github_calls_total"][("method", "POST"), ("status", "201")] >= 1
    assert ("lane", "run") in {label for labels in measures["tracehound_queue_oldest_seconds"] for label in labels}


def test_the_log_names_delivery_job_issue_and_run(seen: Seen) -> None:
    done = next(line for line in seen.app.log if line.get("message") == "triage is done")
    assert (done["issue"], done["run"]) == (seen.key, 1)
    assert done["delivery"]
    assert isinstance(done["job"], int)


def test_spans_contain_the_outcome_and_no_text(seen: Seen) -> None:
    spans = seen.collector.spans()
    job = next(span for span in spans if span.name == "job triage")
    node = next(span for span in spans if span.name == "node investigator")
    model = next(span for span in spans if span.name == "chat gpt-4o")
    said = {one.key: one.value for one in model.attributes}
    assert said["gen_ai.operation.name"].string_value == "chat"
    assert said["gen_ai.provider.name"].string_value == "openai"
    assert said["gen_ai.request.model"].string_value == "gpt-4o"
    assert said["gen_ai.usage.input_tokens"].int_value == 100
    assert model.kind == model.SPAN_KIND_CLIENT
    assert node.trace_id == model.trace_id == job.trace_id
    assert node.parent_span_id == job.span_id
    assert model.parent_span_id in {span.span_id for span in spans if span.name.startswith("node ")}
    assert [word for word in WRITTEN if word in seen.collector.everything()] == []


def test_metrics_name_no_user_and_no_repository(seen: Seen) -> None:
    assert [word for word in WRITTEN if word in str(seen.measures)] == []
