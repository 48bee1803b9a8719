"""A line of a log that names a function of the project by its module is a fact of that function."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.facts.finding import facts_of, of_kind

FILES = {
    "crates/fed/src/activities.rs": "pub async fn send_activity(a: A) {\n    deliver(a)\n}\n",
    "crates/fed/src/other.rs": "pub async fn receive(a: A) {\n    deliver(a)\n}\n",
    "acme/jobs.py": "def run_job(job):\n    return job\n",
    "lib/acme/cart.ex": "defmodule Acme.Cart do\n  def add_item(cart), do: cart\nend\n",
    "src/main/java/com/acme/Store.java": "package com.acme;\nclass Store {\n  void loadAll() {\n    run();\n  }\n}\n",
    "pkg/queue/queue.go": "package queue\n\nfunc (q *Queue) PopFirst() int {\n\treturn 1\n}\n",
}
TIME = "2026-01-07T13:36:25.162Z"


@pytest.mark.parametrize(
    ("line", "places"),
    [
        pytest.param(
            f"{TIME} ERROR request{{id=0}}:perform{{self=Post {{ a: 1 }}}}:send_activity: fed::activities: no route",
            ["crates/fed/src/activities.rs:1"],
            id="the-last-span",
        ),
        pytest.param(
            f"app_1 | {TIME}  INFO send_activity{{to=1}}: fed::activities: sending\napp_1 | killed",
            ["crates/fed/src/activities.rs:1"],
            id="the-last-line",
        ),
        pytest.param(f"{TIME} ERROR send_activity: fed::elsewhere: no route", [], id="a-module-that-is-absent"),
        pytest.param(f"{TIME} ERROR receive: fed::activities: no route", [], id="a-function-of-another-module"),
        pytest.param(
            f"{TIME} INFO send_activity: fed::activities: sending\n{TIME} INFO main: idle", [], id="an-earlier-line"
        ),
        pytest.param(
            "2026-01-07 13:36:25.162 | ERROR    | acme.jobs:run_job:42 - no such job", ["acme/jobs.py:1"], id="loguru"
        ),
        pytest.param(
            f'time="{TIME}" level=error msg="empty" func="github.com/acme/app/pkg/queue.(*Queue).PopFirst"',
            ["pkg/queue/queue.go:3"],
            id="logrus",
        ),
        pytest.param("13:36:25.162 mfa=Acme.Cart.add_item/1 [error] it is full", ["lib/acme/cart.ex:2"], id="elixir"),
        pytest.param(
            '{"level":"error","logger":"acme.jobs","funcName":"run_job","message":"no such job"}',
            ["acme/jobs.py:1"],
            id="json",
        ),
        pytest.param(
            "2026-01-07 13:36:25,162 ERROR [main] com.acme.Store.loadAll: it is closed",
            ["src/main/java/com/acme/Store.java:3"],
            id="jvm",
        ),
        pytest.param(
            "2026-01-07 13:36:25.162 ERROR 1 --- [main] com.acme.Store   : it is closed",
            ["src/main/java/com/acme/Store.java:2"],
            id="a-logger",
        ),
        pytest.param(
            "13:36:25.162 [main] ERROR c.a.Store - it is closed", ["src/main/java/com/acme/Store.java:2"], id="initials"
        ),
        pytest.param("13:36:25.162 [main] ERROR c.b.Store - it is closed", [], id="initials-of-another-package"),
    ],
)
def test_a_function_that_a_log_names(tmp_path: Path, line: str, places: list[str]):
    found = of_kind(facts_of(tmp_path, FILES, "It stops", f"Then it stops:\n\n```\n{line}\n```\n"), "named_here")
    assert [f"{fact.path}:{fact.line}" for fact in found] == places
