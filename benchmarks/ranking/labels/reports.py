"""The reports of each source, as its repository stores them."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from benchmarks.ranking.labels.git import Git

MAX_BYTES = 4_000_000
"""Maximum size of a stored report or of the list of a source."""
_BUGZILLA = re.compile(r"^Bug \d+\s+")
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
        row = _json(store, path)
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


def rust_swe_bench(store: Git) -> Iterator[Report]:
    """Yield the issues of Rust-SWE-Bench; the number of each is that of the pull request with the fix."""
    for key, text in (_json(store, "RustForger/data/rb_all_bug_report.json") or {}).items():
        owner_name, _, number = key.rpartition("-")
        title, _, body = text.strip().partition("\n")
        yield Report("rust", owner_name.replace("__", "/"), number, title.strip("# "), body.strip(), f"#{number}")


def tomcat(store: Git) -> Iterator[Report]:
    """Yield the Tomcat reports of Ye, Bunescu and Liu (2014)."""
    content = store.read("dataset/Tomcat.xml")
    # Entities can expand without limit.
    if content is None or b"<!ENTITY" in content:
        return
    for table in ET.fromstring(content).iter("table"):
        row = {column.get("name"): column.text or "" for column in table.iter("column")}
        if row.get("commit"):
            title = _BUGZILLA.sub("", row["summary"])
            yield Report("ye", "apache/tomcat", row["bug_id"], title, row["description"].strip(), row["commit"])


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
            row = _json(reports, f"data/Defects4J/bug_report/{project}-{bug['bug.id']}.json")
            if row:
                title, body = (_plain(row[key] or "") for key in ("title", "description"))
                yield Report("defects4j", repository, bug["bug.id"], title, body, bug["revision.id.fixed"])


def sources(clones: Path) -> Mapping[str, Callable[[], Iterator[Report]]]:
    """Return the readers of the sources whose repositories are among the clones, by source."""

    def store(name: str) -> Git:
        return Git.at(clones / name)

    found: dict[str, tuple[tuple[str, ...], Callable[[], Iterator[Report]]]] = {
        "denchmark": (("RosePasta+Denchmark_BRs",), lambda: denchmark(store("RosePasta+Denchmark_BRs"))),
        "rust": (("GhabiX+Rust-SWE-Bench",), lambda: rust_swe_bench(store("GhabiX+Rust-SWE-Bench"))),
        "ye": (("eashaan-rao+bug-localization-1",), lambda: tomcat(store("eashaan-rao+bug-localization-1"))),
        "defects4j": (
            ("coinse+libro", "rjust+defects4j"),
            lambda: defects4j(store("coinse+libro"), store("rjust+defects4j")),
        ),
    }
    return {name: read for name, (needed, read) in found.items() if all((clones / one).is_dir() for one in needed)}


def _json(store: Git, path: str) -> dict[str, Any] | None:
    content = store.read(path)
    try:
        found = json.loads(content) if content and len(content) <= MAX_BYTES else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", _LINE_TAG.sub("\n", text))).strip()
