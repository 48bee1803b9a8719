"""A report with its fix, and the readers of three sources: Denchmark, Defects4J and issues looked up one by one."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.ranking.labels.git import Git

MAX_BYTES = 4_000_000
"""Maximum size of a stored report or of the list of a source."""
THREADS = "threads"
"""The source of issues that were looked up one by one."""
_LINE_TAG = re.compile(r"</?(p|br|div|li|ul|ol|pre|h\d)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_BLOCK = re.compile(r"</?denchmark-code>")
_MARK = re.compile(r"</?denchmark-[^<>]{0,2000}>")


@dataclass(frozen=True, slots=True)
class Report:
    """One report and the commit that fixed it."""

    source: str
    repository: str
    """owner/name as the source spells it."""
    number: str
    title: str
    body: str
    fix: str
    """A commit, or the number of a pull request as ``#5``."""
    weight: float = 1.0
    """How much like a real report it is, from 0 to 1."""


def denchmark(store: Git) -> Iterator[Report]:
    """Yield the reports of Denchmark (Kim and Lee, 2021): deep-learning projects and their tools."""
    for path in store.paths("JSonSet/fulljson"):
        row = stored_json(store, path)
        if row is None:
            continue
        report, owner_name = row["BR"], path.split("/")[2]
        text = report["BR_text"]
        body = _MARK.sub("", _BLOCK.sub("\n```\n", text["BRdescription"] or ""))
        yield Report(
            "denchmark",
            owner_name.replace("+", "/"),
            str(report["BR_id"]),
            html.unescape(text["BRsummary"] or "").strip(),
            html.unescape(body).strip(),
            row["commit"]["commit_id"],
        )


DEFECTS4J = {
    "Cli": "apache/commons-cli",
    "Closure": "google/closure-compiler",
    "Codec": "apache/commons-codec",
    "Collections": "apache/commons-collections",
    "Compress": "apache/commons-compress",
    "Csv": "apache/commons-csv",
    "JacksonDatabind": "FasterXML/jackson-databind",
    "JxPath": "apache/commons-jxpath",
    "Lang": "apache/commons-lang",
    "Math": "apache/commons-math",
    "Time": "JodaOrg/joda-time",
}
"""Repository of each Defects4J project that is not held back for evaluation."""


def defects4j(reports: Git, projects: Git) -> Iterator[Report]:
    """Yield the reports of Defects4J (Just et al., 2014), with the texts that LIBRO collected."""
    for project, repository in DEFECTS4J.items():
        table = projects.read(f"framework/projects/{project}/active-bugs.csv") or b""
        for bug in csv.DictReader(table.decode(errors="replace").splitlines()):
            row = stored_json(reports, f"data/Defects4J/bug_report/{project}-{bug['bug.id']}.json")
            if row:
                title, body = (_plain(row[key] or "") for key in ("title", "description"))
                yield Report("defects4j", repository, bug["bug.id"], title, body, bug["revision.id.fixed"])


def threads(file: Path) -> Iterator[Report]:
    """Yield the issues of a file of JSON lines: each with repo, number, title, body and fix."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Report(THREADS, row["repo"], str(row["number"]), row["title"], row["body"], row["fix"])


def stored_json(store: Git, path: str) -> dict[str, Any] | None:
    """Return the object in a file of a source, or None if the file is missing, too large or no object."""
    content = store.read(path)
    try:
        found = json.loads(content) if content and len(content) <= MAX_BYTES else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", _LINE_TAG.sub("\n", text))).strip()
