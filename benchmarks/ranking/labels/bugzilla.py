"""Bugzilla reports of Eclipse and Tomcat, from the data of two studies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET
from zipfile import BadZipFile, ZipFile

from benchmarks.ranking.labels.git import Git
from benchmarks.ranking.labels.reports import MAX_BYTES, Report

MAX_PART_BYTES = 20_000_000
"""Maximum size of one part of a spreadsheet, uncompressed."""
AMBIGUOUS = 0.7
"""Weight of a report whose number is in the messages of several commits."""
SPREADSHEETS = {
    "jdt": "eclipse-jdt/eclipse.jdt.ui",
    "swt": "eclipse-platform/eclipse.platform.swt",
    "birt": "eclipse-birt/birt",
    "eclipse_platform_ui": "eclipse-platform/eclipse.platform.ui",
}
"""Repository of each spreadsheet of Ye et al."""
SYSTEMS = {
    "eclipse.jdt.core": "eclipse-jdt/eclipse.jdt.core",
    "eclipse.jdt.debug": "eclipse-jdt/eclipse.jdt.debug",
    "eclipse.pde.ui": "eclipse-pde/eclipse.pde",
    "ecf": "eclipse/ecf",
}
"""Repository of each system of BLIZZARD, except those that Ye et al. have too."""
_TITLE = re.compile(r"^Bug \d+\s+([^\w\s\[(\"']\s+)?")
_NUMBER = re.compile(r"\b\d{4,6}\b")
_ESCAPED = re.compile(r"_x000D_", re.IGNORECASE)
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def ye(store: Git) -> Iterator[Report]:
    """Yield the reports of Ye, Bunescu and Liu (2014), latest fix first."""
    yield from _tomcat(store)
    for name, repository in SPREADSHEETS.items():
        for row in _rows(store.read(f"dataset/{name}.xlsx") or b""):
            title, body = _TITLE.sub("", row.get("summary", "")), row.get("description", "")
            if row.get("commit") and body not in ("", "None"):
                yield Report("ye", repository, row["bug_id"], title.strip(), body.strip(), row["commit"])


def _tomcat(store: Git) -> Iterator[Report]:
    content = store.read("dataset/Tomcat.xml")
    # Entities can expand without limit.
    if content is None or b"<!ENTITY" in content:
        return
    for table in ET.fromstring(content).iter("table"):
        row = {column.get("name"): column.text or "" for column in table.iter("column")}
        if row.get("commit"):
            title = _TITLE.sub("", row["summary"])
            yield Report("ye", "apache/tomcat", row["bug_id"], title, row["description"].strip(), row["commit"])


def _rows(spreadsheet: bytes) -> Iterator[dict[str, str]]:
    """Yield the rows of the first sheet below its header, by the names in the header."""
    if len(spreadsheet) > MAX_BYTES:
        return
    try:
        with ZipFile(BytesIO(spreadsheet)) as parts:
            strings, sheet = (_part(parts, f"xl/{name}.xml") for name in ("sharedStrings", "worksheets/sheet1"))
    except (BadZipFile, KeyError, ET.ParseError):
        return
    texts = [_ESCAPED.sub("", "".join(text.text or "" for text in one.iter(f"{_SHEET}t"))) for one in strings]
    header: dict[str, str] = {}
    for row in sheet.iter(f"{_SHEET}row"):
        cells = dict(_cell(cell, texts) for cell in row.iter(f"{_SHEET}c"))
        if header:
            yield {header[column]: text for column, text in cells.items() if column in header}
        else:
            header = cells


def _part(parts: ZipFile, name: str) -> ET.Element:
    if parts.getinfo(name).file_size > MAX_PART_BYTES:
        raise BadZipFile(f"{name} is too large")
    content = parts.read(name)
    if b"<!ENTITY" in content:
        raise BadZipFile(f"{name} declares entities")
    return ET.fromstring(content)


def _cell(cell: ET.Element, texts: list[str]) -> tuple[str, str]:
    """Return the column's letters and the text of a cell, which may be an index of the shared strings."""
    value = cell.findtext(f"{_SHEET}v", "")
    shared = cell.get("t") == "s" and value.isdigit() and int(value) < len(texts)
    return cell.get("r", "").rstrip("0123456789"), texts[int(value)] if shared else value


def blizzard(store: Git, repository: Callable[[str], Git | None]) -> Iterator[Report]:
    """Yield the reports of BLIZZARD (Rahman and Roy, 2018), latest first.

    The source names no commits: the fix is the commit with the number of the report in its message that changed the
    most of the fixed files.

    Args:
        repository: returns the clone of a repository, or None.
    """
    for system, owner_name in SYSTEMS.items():
        clone = repository(owner_name)
        commits = _commits_by_number(clone) if clone else {}
        for number in sorted(map(_stem, store.paths(f"BR-Raw/{system}/")), key=lambda stem: -int(stem or 0)):
            fixed = {_name(line) for line in _text(store, f"Goldset/{system}/{number}.txt").splitlines()}
            shared = {sha: len(fixed & names) for sha, names in commits.get(number, {}).items() if fixed & names}
            title, _, body = _text(store, f"BR-Raw/{system}/{number}.txt").partition("\n")
            if shared:
                # The log is newest first: of equals, the last is the oldest.
                fix = max(reversed(shared), key=lambda sha: shared[sha])
                weight = 1.0 if len(shared) == 1 else AMBIGUOUS
                yield Report("blizzard", owner_name, number, _TITLE.sub("", title).strip(), body.strip(), fix, weight)


def _commits_by_number(clone: Git) -> dict[str, dict[str, set[str]]]:
    """Return the commits whose message has a number, newest first, with the names of their files."""
    listed = clone.run("log", "--no-merges", "--no-renames", "--name-only", "--format=%x01%H%x00%B%x00") or b""
    found: defaultdict[str, dict[str, set[str]]] = defaultdict(dict)
    for record in listed.decode(errors="replace").split("\x01")[1:]:
        sha, message, paths = [*record.split("\0"), "", ""][:3]
        names = {_name(path) for path in paths.split("\n") if path}
        for number in _NUMBER.findall(message):
            found[number][sha] = names
    return found


def _text(store: Git, path: str) -> str:
    content = store.read(path) or b""
    return content.decode("cp1252", errors="replace") if len(content) <= MAX_BYTES else ""


def _stem(path: str) -> str:
    stem = PurePosixPath(path).stem
    return stem if stem.isdecimal() else ""


def _name(path: str) -> str:
    return path.strip().rpartition("/")[2]
