"""Collect reports with known fixes from clones, write them as JSON lines, and their labels without texts as a table.

    python -m benchmarks.ranking.labels.collect \\
        --clones CLONES --development DEV.jsonl --rows ROWS.jsonl --table TABLE.csv

CLONES contains a clone of each source and of each repository, in folders named owner+name. The rows have the texts and
stay outside this project; the table has repository, commit, files, functions, source and weight.

--keep OLD.csv adds the rows of an earlier table whose repositories have no clone in CLONES, unless they are held back.
A table can grow by a few repositories at a time: --keep and --table may be the same file. Kept rows have no texts, so
they are in the table only.

--threads THREADS.jsonl collects issues that were looked up one by one, and nothing else: JSON lines with repo, number,
title, body and fix (a commit). They replace the kept ones of their repositories; all other kept rows stay.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.ranking.labels.commits import closing_commits, without_the_fix
from benchmarks.ranking.labels.git import Change, Git
from benchmarks.ranking.labels.held_back import HeldBack
from benchmarks.ranking.labels.reports import THREADS, Report, threads
from benchmarks.ranking.labels.sources import sources
from nodes.search.languages.syntax import outline
from nodes.search.languages.table import language_of
from nodes.search.paths.roles import role_of

MAX_FILES = 5
"""Maximum fixed files: a commit with more did more than fix one bug."""
SHORTEST = {"denchmark": 100, "commit": 120}
"""Minimum characters of a report's text, by source; 150 for others."""
CAPS = {"denchmark": 200, "rust": 200, "commit": 150, THREADS: 6}
"""Maximum rows of one repository, by source; 400 for others."""
MOVED = {"azure/mmlspark": "microsoft/synapseml"}
"""Repositories that a source has under a name that they no longer have, lower case."""
CALLABLE = frozenset({"function", "method"})
FIELDS = ("id", "repo", "base_commit", "gold_files", "gold_functions", "source", "weight")


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect the reports, check them and write the rows and the table; by default with the command's arguments."""
    options = _options(arguments)
    held = HeldBack(_rows(options.development))
    left_out: Counter[str] = Counter()
    folders = {folder.name.lower(): folder for folder in sorted(options.clones.iterdir()) if folder.is_dir()}
    looked_up = options.threads is not None
    kept = list(_kept(options.keep, folders, held, left_out, looked_up=looked_up)) if options.keep else []
    found = (
        _reports(THREADS, threads(options.threads), folders, held, left_out)
        if looked_up
        else _collect(options.clones, folders, held, left_out)
    )
    collected = sorted(found, key=_place)
    options.rows.write_text("".join(json.dumps(row) + "\n" for row in collected), encoding="utf-8")
    rows = sorted([*kept, *collected], key=_place)
    with options.table.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        table.writerows([_cell(row[field]) for field in FIELDS] for row in rows)
    for name, counted in (("source", "source"), ("language", "language")):
        print(name, dict(Counter(row[counted] for row in rows).most_common()))
    repositories = len({row["repo"].lower() for row in rows})
    print(f"{len(rows)} rows of {repositories} repositories, {len(kept)} of them kept; left out: {dict(left_out)}")


def _place(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["repo"], row["source"], row["id"]


def _kept(
    table: Path, folders: Mapping[str, Path], held: HeldBack, left_out: Counter[str], *, looked_up: bool
) -> Iterator[dict[str, Any]]:
    """Yield the rows of an earlier table that are not collected again.

    Collected again are the issues that were looked up if ``looked_up``, all other rows if not, of repositories that
    have a clone under their own name.
    """
    with table.open(encoding="utf-8", newline="") as file:
        # Of two rows with one fix, the first is kept.
        for row in sorted(csv.DictReader(file), key=lambda row: -float(row["weight"])):
            if row["repo"].lower().replace("/", "+") in folders and (row["source"] == THREADS) == looked_up:
                continue
            files, functions = (
                row[field].split("|") if row[field] else [] for field in ("gold_files", "gold_functions")
            )
            if why := held.reason(row["repo"], _number(row), row["base_commit"], files):
                left_out[f"kept: {why}"] += 1
            else:
                yield {
                    **row,
                    "gold_files": files,
                    "gold_functions": functions,
                    "language": language_of(files[0]) or "text",
                }


def _number(row: Mapping[str, str]) -> str:
    """Return the number of a row's report, which its identifier ends with."""
    return row["id"].removeprefix(f"{row['source']}:{row['repo'].replace('/', '__')}-")


def _collect(
    clones: Path, folders: Mapping[str, Path], held: HeldBack, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    for source, read in sources(clones, partial(_clone, folders)).items():
        yield from _reports(source, read(), folders, held, left_out)
    for name, folder in folders.items():
        rows = list(islice(_weak_rows(Git.at(folder), name.replace("+", "/", 1), held, left_out), CAPS["commit"]))
        print(f"commits of {name}: {len(rows)}", file=sys.stderr)
        yield from rows


def _reports(
    source: str, reports: Iterable[Report], folders: Mapping[str, Path], held: HeldBack, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    per_repository: Counter[str] = Counter()
    for report in reports:
        clone = _clone(folders, report.repository)
        if clone is None:
            left_out["no clone"] += 1
        elif per_repository[report.repository] < CAPS.get(source, 400):
            row = _row(report, clone, held)
            if isinstance(row, str):
                left_out[row] += 1
            else:
                per_repository[report.repository] += 1
                yield row
    print(f"{source}: {sum(per_repository.values())}", file=sys.stderr)


def _weak_rows(clone: Git, repository: str, held: HeldBack, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    if repository.rpartition("/")[2] in held.repositories:
        return
    for report in closing_commits(clone, repository):
        row = _row(report, clone, held)
        if isinstance(row, str):
            left_out[row] += 1
        else:
            yield row


def _clone(folders: Mapping[str, Path], repository: str) -> Git | None:
    """Return the clone of a repository, or of one with its name and another owner, as after a move."""
    current = MOVED.get(repository.lower(), repository.lower())
    own, name = current.replace("/", "+"), current.rpartition("/")[2]
    moved = [folder for key, folder in folders.items() if key.rpartition("+")[2] == name]
    folder = folders.get(own) or (moved[0] if len(moved) == 1 else None)
    return Git.at(folder) if folder else None


def _row(report: Report, clone: Git, held: HeldBack) -> dict[str, Any] | str:
    """Return the row of a report, or why it has none."""
    named = clone.merged(report.fix[1:]) if report.fix.startswith("#") else report.fix
    fix = clone.resolve(named) if named else None
    base = clone.resolve(f"{fix}^1") if fix else None
    changes = clone.changes(base, fix) if fix and base else None
    if not (fix and base and changes):
        return "no such commit"
    fixed = [change for change in changes if _is_fixed(change)]
    if not 1 <= len(fixed) <= MAX_FILES:
        return "no fixed source file" if not fixed else "many fixed files"
    shown = without_the_fix(report, changes) if report.source == "commit" else report
    text = f"{shown.title}\n\n{shown.body}".strip() if shown else ""
    if shown is None or len(text) < SHORTEST.get(report.source, 150):
        return "short text"
    files = [change.path for change in fixed]
    if why := held.reason(report.repository, report.number, base, files, fix=fix, text=text):
        return why
    return {
        "id": f"{report.source}:{report.repository}-{report.number}".replace("/", "__"),
        "repo": report.repository,
        "language": language_of(fixed[0].path) or "text",
        "base_commit": base,
        "issue": text,
        "gold_files": files,
        "gold_functions": sorted(_functions(clone, base, fixed)),
        "source": report.source,
        "weight": shown.weight,
    }


def _is_fixed(change: Change) -> bool:
    return change.status in "MD" and language_of(change.path) is not None and role_of(change.path) == "source"


def _functions(clone: Git, base: str, changes: Sequence[Change]) -> set[str]:
    """Return ``path::Qualified.name`` of the innermost function around each replaced range."""
    found: set[str] = set()
    for change in changes:
        definitions = outline(change.path, clone.read(change.path, base) or b"").definitions
        for first, last in change.old_lines:
            around = [one for one in definitions if one.start_line <= first and last <= one.end_line]
            inner = [one for one in around if one.kind in CALLABLE]
            if inner:
                found.add(f"{change.path}::{inner[-1].name}")
    return found


def _cell(value: object) -> object:
    # A path may contain a space, but rarely a pipe.
    return "|".join(value) if isinstance(value, list) else value


def _rows(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True, help="folder of clones")
    parser.add_argument("--development", type=Path, nargs="+", default=(), help="issues that must not be rows")
    parser.add_argument("--keep", type=Path, metavar="OLD.csv", help="table whose rows without a clone are kept")
    parser.add_argument("--threads", type=Path, metavar="THREADS.jsonl", help="issues that were looked up one by one")
    parser.add_argument(
        "--rows", type=Path, required=True, help="where the collected rows are written, with their texts"
    )
    parser.add_argument("--table", type=Path, required=True, help="where the table is written")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
