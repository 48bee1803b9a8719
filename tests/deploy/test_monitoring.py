"""The Grafana dashboard and the alert rules: every metric and label exists, and each rule fires on its condition."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from bot.observability.measures import ACKNOWLEDGED, DELIVERIES, GLANCE, SHARED
from bot.store.databases.sqlite import SqliteStore
from tests.limits.test_admission import staged
from tests.metrics.test_page import METRICS, ask
from tests.serve.app import HTTP, running
from tests.servers.github_server import serve_github
from tests.support.patience import wait_for

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "monitoring"
ALERTS = FOLDER / "alerts.yml"
PROMTOOL, PROMETHEUS = (
    shutil.which(name) or shutil.which(ROOT / ".tools" / "prometheus" / name) for name in ("promtool", "prometheus")
)
NAME = re.compile(r"\btracehound_[a-z_]+")
LABELS = re.compile(r"\bby \(([^)]*)\)|\{([^}]*)\}")


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "grafana.json").read_text(encoding="utf-8"))
    return found


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def expressions() -> Iterator[str]:
    for panel in dashboard()["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (rule["expr"] for rule in rules())


def metrics() -> dict[str, set[str]]:
    """Return the labels of each sample's name."""
    found: dict[str, set[str]] = {}
    for measure in (DELIVERIES, ACKNOWLEDGED, *SHARED):
        family = next(iter(measure.describe()))
        labels = set(measure._labelnames)
        if family.type == "counter":
            found[f"{family.name}_total"] = labels
        elif family.type == "histogram":
            found[f"{family.name}_bucket"] = labels | {"le"}
        else:
            found[family.name] = labels
    return found | {name: set(labels) for name, labels, _ in GLANCE}


@pytest.mark.parametrize("expression", list(expressions()))
def test_each_metric_of_an_expression_exists_with_its_labels(expression: str) -> None:
    names = set(NAME.findall(expression))
    known = metrics()
    assert names <= known.keys()
    given = ",".join("".join(groups) for groups in LABELS.findall(expression))
    used = {re.split(r"[=!~]", part)[0].strip() for part in given.split(",") if part.strip()}
    assert used <= set().union(*(known[name] for name in names), {"job"})
    assert names or expression == 'up{job="tracehound"} == 0'


async def test_a_working_server_shows_the_metrics_that_the_dashboard_reads(tmp_path: Path) -> None:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            await stage.opened(title="parse_date ignores the sign of the zone")
    store = SqliteStore(tmp_path / "data" / "store.db")
    page = (await ask(store, f"Bearer {METRICS}", triage_metrics_token=METRICS)).text
    await store.aclose()
    families = list(text_string_to_metric_families(page))
    shown = {sample.name: set(sample.labels) for family in families for sample in family.samples}
    used = {name for expression in expressions() for name in NAME.findall(expression)}
    # The run used no model, reached no limit, and no delivery was sent to this process.
    absent = {name for name in used if re.search("model|limit|deliver", name)}
    assert used - absent <= shown.keys()
    assert all(shown[name] == labels for name, labels in metrics().items() if name in used - absent)
    results = {sample.labels["result"] for family in families for sample in family.samples if "result" in sample.labels}
    assert {"first", "scored"} <= results


def test_panels_have_titles_texts_and_places_of_their_own() -> None:
    panels = dashboard()["panels"]
    assert len({panel["title"] for panel in panels}) == len(panels) == 16
    assert all(panel["description"] for panel in panels)
    cells = [
        (x, y)
        for at in (panel["gridPos"] for panel in panels)
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells)), "two panels overlap"
    assert max(x for x, _ in cells) < 24


def test_the_page_lists_each_alert() -> None:
    page = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(Tracehound\w+)` \|", page, re.MULTILINE)) == {rule["alert"] for rule in rules()}


def test_each_alert_fires_on_its_condition_and_none_on_a_healthy_server(tmp_path: Path) -> None:
    promtool = installed(PROMTOOL)
    text = (Path(__file__).parent / "alerts_test.yml").read_text(encoding="utf-8")
    (tmp_path / "test.yml").write_text(text.replace("ALERTS", str(ALERTS)), encoding="utf-8")
    for arguments in (("check", "rules", str(ALERTS)), ("test", "rules", str(tmp_path / "test.yml"))):
        done = subprocess.run([promtool, *arguments], capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
    fired = {one["alertname"] for one in yaml.safe_load(text)["tests"][1]["alert_rule_test"] if one["exp_alerts"]}
    assert fired == {rule["alert"] for rule in rules()}


def installed(program: str | None) -> str:
    """Return the program; skip the test without it, or fail in CI where it can be installed."""
    if program is not None:
        return program
    if os.environ.get("CI") and shutil.which("apt-get") and os.geteuid() == 0:
        pytest.fail("Prometheus is not installed: run .ci/promtool")
    pytest.skip("Prometheus is not installed: run .ci/promtool")


@contextmanager
def prometheus(folder: Path, target: str, token: str) -> Iterator[str]:
    """Yield the address of a Prometheus that reads a server each second, with the alert rules."""
    (folder / "token").write_text(token, encoding="utf-8")
    job = {
        "job_name": "tracehound",
        "scrape_interval": "1s",
        "authorization": {"credentials_file": str(folder / "token")},
        "static_configs": [{"targets": [target]}],
    }
    config = {"global": {"evaluation_interval": "1s"}, "rule_files": [str(ALERTS)], "scrape_configs": [job]}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [installed(PROMETHEUS), f"--config.file={folder / 'prometheus.yml'}", f"--web.listen-address={address}"]
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [*command, f"--storage.tsdb.path={folder / 'tsdb'}"], stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield f"http://{address}/api/v1"
    finally:
        process.terminate()
        process.wait(60)


def answered(url: str, **given: str) -> Any:
    """Return the data of an answer of Prometheus; None while it starts."""
    try:
        answer = HTTP.get(url, params=given)
    except httpx.TransportError:
        return None
    if answer.status_code == 503:
        return None
    found = answer.json()
    assert found["status"] == "success", found
    return found["data"]


@pytest.mark.timeout(120)
def test_a_real_prometheus_reads_a_server_evaluates_each_rule_and_answers_each_panel(tmp_path: Path) -> None:
    installed(PROMETHEUS)
    with (
        serve_github() as github,
        running(github, tmp_path / "data", TRIAGE_METRICS_TOKEN=METRICS) as app,
        prometheus(tmp_path, app.url.removeprefix("http://"), METRICS) as url,
    ):
        up = 'up{job="tracehound"} == 1'
        wait_for(lambda: bool((answered(f"{url}/query", query=up) or {}).get("result")), 60.0)

        def evaluated() -> list[dict[str, Any]]:
            groups = (answered(f"{url}/rules") or {}).get("groups", [])
            found = [rule for group in groups for rule in group["rules"]]
            return found if found and all(rule["health"] != "unknown" for rule in found) else []

        wait_for(lambda: bool(evaluated()), 60.0)
        assert {(rule["name"], rule["health"]) for rule in evaluated()} == {(rule["alert"], "ok") for rule in rules()}
        # On a busy machine an answer may be late, which is pending and no alert.
        assert "firing" not in {rule["state"] for rule in evaluated()}
        for expression in expressions():
            # Grafana replaces its variables before it asks.
            query = expression.replace("$__rate_interval", "1m").replace("$__range", "1h")
            assert answered(f"{url}/query", query=query) is not None
        read = '{job="tracehound", __name__=~"tracehound_.+"}'
        wait_for(lambda: bool((answered(f"{url}/query", query=read) or {}).get("result")), 60.0)
