"""The Grafana dashboard and the alert rules: every metric and label exists, and each rule fires on its condition."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from bot.observability.metrics.measures import ACKNOWLEDGED, DELIVERIES, GLANCE, SHARED
from bot.store.databases.sqlite import SqliteStore
from tests.github_server import serve_github
from tests.limits.test_admission import staged
from tests.metrics.test_page import METRICS, ask

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "monitoring"
ALERTS = FOLDER / "alerts.yml"
PROMTOOL = shutil.which("promtool") or shutil.which(ROOT / ".tools" / "prometheus" / "promtool")
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


def test_each_rule_fires_on_its_condition_and_none_on_a_sound_server(tmp_path: Path) -> None:
    if PROMTOOL is None:
        if os.environ.get("CI") and shutil.which("apt-get") and os.geteuid() == 0:
            pytest.fail("promtool is not installed: run .ci/promtool")
        pytest.skip("promtool is not installed: run .ci/promtool")
    text = (Path(__file__).parent / "alerts_test.yml").read_text(encoding="utf-8")
    (tmp_path / "test.yml").write_text(text.replace("ALERTS", str(ALERTS)), encoding="utf-8")
    for arguments in (("check", "rules", str(ALERTS)), ("test", "rules", str(tmp_path / "test.yml"))):
        done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 0, done.stdout + done.stderr
    fired = {one["alertname"] for one in yaml.safe_load(text)["tests"][1]["alert_rule_test"] if one["exp_alerts"]}
    assert fired == {rule["alert"] for rule in rules()}
