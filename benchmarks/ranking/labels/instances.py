"""Issues of data sets for agents, each with the commit or the pull request of its fix."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from benchmarks.ranking.labels.git import Git
from benchmarks.ranking.labels.reports import MAX_BYTES, Report, stored_json

OF_THE_PULL_REQUEST = 0.6
"""Weight of a text that begins with the title of the pull request that fixed it."""
_HEADING = re.compile(r"^## Issue #(\d+) \S+[ \t]+(.*)$", re.MULTILINE)
_CODE = re.compile(r'^(repository_owner|repository_name|code_change_id) = "([^"\n]*)"$', re.MULTILINE)
_TICKET = re.compile(r"^(\[[^\]\n]{1,40}\]|[A-Z]+-\d+):?\s*")
_FEATURE = re.compile(r"^(feat|docs|chore|build|ci|style|refactor|test)\b", re.IGNORECASE)


def rust_swe_bench(store: Git) -> Iterator[Report]:
    """Yield the issues of Rust-SWE-Bench; the number of each is that of the pull request with the fix."""
    for key, text in (stored_json(store, "RustForger/data/rb_all_bug_report.json") or {}).items():
        owner_name, _, number = key.rpartition("-")
        title, _, body = text.strip().partition("\n")
        yield Report("rust", owner_name.replace("__", "/"), number, title.strip("# "), body.strip(), f"#{number}")


def kotlin_swe_bench(store: Git) -> Iterator[Report]:
    """Yield the issues of kotlin-swe-bench that are the only issue of their pull request."""
    for path in store.paths("tasks/"):
        if not path.endswith("/task.toml"):
            continue
        task = dict(_CODE.findall(_text(store, path)))
        text = _text(store, path.replace("task.toml", "instruction.md"))
        issues = list(_HEADING.finditer(text))
        if len(task) == 3 and len(issues) == 1:
            repository = f"{task['repository_owner']}/{task['repository_name']}"
            number, title = issues[0].groups()
            body, fix = text[issues[0].end() :].strip(), f"#{task['code_change_id']}"
            yield Report("kotlin", repository, number, title.strip(), body, fix)


def gitbug_java(store: Git) -> Iterator[Report]:
    """Yield the issues of GitBug-Java, without pull requests and without commits that add a feature."""
    for path in store.paths("data/bugs/"):
        for row in _lines(store, path):
            issues = [one for one in row.get("issues") or () if not one.get("is_pull_request")]
            if len(issues) == 1 and not _FEATURE.match(row.get("commit_message", "")):
                number, title, body = (str(issues[0].get(key) or "").strip() for key in ("id", "title", "body"))
                yield Report("gitbug", row["repository"], number, title, body, row["commit_hash"])


def swe_benchify(store: Git) -> Iterator[Report]:
    """Yield the issues of SWE-benchify that people wrote; the number of each is that of the pull request."""
    for path in store.paths("output/"):
        if not path.endswith("instances.jsonl") or "/synthetic/" in path:
            continue
        weight = OF_THE_PULL_REQUEST if "-jira/" in path else 1.0
        for row in _lines(store, path):
            number = row["instance_id"].rpartition("-")[2]
            title, _, body = _TICKET.sub("", row["problem_statement"].strip()).partition("\n")
            yield Report("benchify", row["repo"], number, title.strip(), body.strip(), f"#{number}", weight)


def _lines(store: Git, path: str) -> Iterator[dict[str, Any]]:
    for line in _text(store, path).splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def _text(store: Git, path: str) -> str:
    content = store.read(path) or b""
    return content.decode(errors="replace") if len(content) <= MAX_BYTES else ""
