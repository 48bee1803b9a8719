"""Measure facts on issues with a known fix: ``python -m benchmarks.facts.measure A.jsonl B.jsonl --repos CLONES``.

CLONES contains one clone for each repository, in a folder ``owner+name``. Each line of a data file has ``id``,
``repo``, ``base_commit``, ``issue``, ``gold_files`` and optionally ``gold_functions`` (``path::name``).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.cli.backtest.table import by_kind
from nodes.search.engine import Engine
from nodes.search.facts import Fact
from nodes.search.facts.kinds import fault_of
from nodes.search.facts.levels import statement
from nodes.search.facts.witness import Witness
from nodes.search.git import Repository
from nodes.search.git.errors import SearchError
from nodes.search.types import Query

ALSO = {
    "django/django": "felixxm/django",
    "scikit-learn/scikit-learn": "ogrisel/scikit-learn",
    "matplotlib/matplotlib": "anntzer/matplotlib",
}
"""Forks that contain the same history."""


@dataclass
class Kind:
    """Counts for one kind of fact."""

    issues: set[str] = field(default_factory=set)
    places: int = 0
    file: list[bool] = field(default_factory=list)
    function: list[bool] = field(default_factory=list)
    by_rank: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    functions_first: list[bool] = field(default_factory=list)


def clone_of(row: dict[str, Any], root: Path) -> Path | None:
    names = {row["repo"], ALSO.get(row["repo"], row["repo"])}
    folders = {folder.name.lower(): folder for folder in root.iterdir() if folder.is_dir()}
    for name in sorted(names):
        base = folders.get(name.replace("/", "+").lower())
        for path in [base, *sorted(base.iterdir())] if base else []:
            if path.is_dir() and ((path / "objects").is_dir() or (path / ".git").exists()):
                return path
    return None


def in_fix(fact: Fact, row: dict[str, Any]) -> bool | None:
    """Return whether a fact names a function of the fix; None if either is unknown."""
    functions = row.get("gold_functions")
    if not functions or not fact.symbol or fact.kind == "called_from":
        return None
    for function in functions:
        path, _, name = function.partition("::")
        if path == fact.path and (name == fact.symbol or f"{name}.".startswith(f"{fact.symbol}.")):
            return True
    return False


def cpu() -> float:
    """Return the processor seconds of this process and its children so far."""
    return sum(os.times()[:4])


def share(values: list[bool]) -> str:
    return f"{100 * sum(values) / len(values):5.1f} % of {len(values):4}" if values else "      –       "


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".tracehound/facts"))
    parser.add_argument("--each", type=int, help="issues of each set, evenly spaced")
    parser.add_argument("--only", help="measure only issues whose id contains this text")
    parser.add_argument("--show", help="comma-separated kinds whose facts are printed; * for all")
    parser.add_argument("--verify", action="store_true", help="verify every fact again")
    return parser.parse_args()


@dataclass
class Results:
    """The measurements of all issues."""

    kinds: dict[str, Kind] = field(default_factory=lambda: defaultdict(Kind))
    levels: dict[str, list[tuple[bool, bool | None]]] = field(default_factory=lambda: defaultdict(list))
    claims: list[tuple[str, bool]] = field(default_factory=list)
    """Of each claim, the kind of the fact that leads it, and whether its file was fixed."""
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    done: int = 0
    skipped: int = 0
    false: list[str] = field(default_factory=list)
    """Facts that do not verify."""


def main() -> None:
    args = options()
    results = Results()
    engines: dict[Path, Engine] = {}
    for row in rows_of(args):
        clone = clone_of(row, args.repos)
        if clone is None:
            results.skipped += 1
            continue
        engine = engines.setdefault(clone, Engine(clone, args.cache))
        try:
            engine.warm(row["base_commit"])
        except SearchError as error:  # a clone without that commit
            print("skipped", row["id"], error, file=sys.stderr)
            results.skipped += 1
            continue
        measure(engine, row, results, args)
    report(results, args)


def measure(engine: Engine, row: dict[str, Any], results: Results, args: argparse.Namespace) -> None:
    """Find the facts of one issue and count them."""
    title, _, body = row["issue"].partition("\n")
    query, sha = Query(title, body), row["base_commit"]
    started = cpu()
    ranking = engine.find(query, sha)
    middle = cpu()
    files = [hit.path for hit in ranking.files]
    facts = engine.facts(query, files, sha)
    results.seconds["find"] += middle - started
    results.seconds["facts"] += cpu() - middle
    if cpu() - middle > 1:
        print("slow", row["id"], round(cpu() - middle, 2), file=sys.stderr)
    results.done += 1
    gold = set(row["gold_files"])
    for fact in facts:
        count(results.kinds, fact, row, files, gold)
        if args.verify and (
            why := fault_of(fact, Witness(Repository.open(engine.repository.directory), sha, f"{title}\n{body}"))
        ):
            results.false.append(f"{row['id']} {fact.kind}: {why}")
    stated = statement(facts, files, ranking.confidence)
    lead = stated.headline
    if lead and stated.level == "claimed":
        results.claims.append((lead.kind, files[0] in gold))
    function = in_fix(lead, row) if lead and stated.level == "claimed" else None
    results.levels[stated.level].append((bool(files) and files[0] in gold, function))
    if args.show:
        show(row, facts, files, gold, args.show)


def report(results: Results, args: argparse.Namespace) -> None:
    """Print all tables."""
    done = results.done
    seconds = ", ".join(f"{k} {v / max(1, done):.3f} s" for k, v in results.seconds.items())
    print(f"issues {done}, skipped {results.skipped}; {seconds}")
    print_kinds(results.kinds, done)
    print_levels(results.levels, done)
    print("\n".join(by_kind(results.claims)))
    if args.verify:
        print(f"facts that fail verification: {len(results.false)}")
        print("\n".join(results.false[:20]))


def print_levels(levels: dict[str, list[tuple[bool, bool | None]]], done: int) -> None:
    """Print how often the first file, and the function that was claimed, are right at each level."""
    for level, results in sorted(levels.items()):
        functions = [right for _, right in results if right is not None]
        print(
            f"{level:10} {100 * len(results) / max(1, done):5.1f} % "
            f"of issues; first file {share([r for r, _ in results])}"
            f"; function {share(functions)}"
        )


def rows_of(args: argparse.Namespace) -> list[dict[str, Any]]:
    chosen = []
    for path in args.data:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if not args.only or args.only in row["id"]]
        if args.each and args.each < len(rows):
            rows = [rows[at * len(rows) // args.each] for at in range(args.each)]
        chosen += rows
    return chosen


def count(kinds: dict[str, Kind], fact: Fact, row: dict[str, Any], files: list[str], gold: set[str]) -> None:
    for name in (fact.kind, f"{fact.kind} ●") if fact.strong else (fact.kind,):
        kind = kinds[name]
        kind.issues.add(row["id"])
        kind.places += 1
        if fact.path is None:
            continue
        rank = files.index(fact.path) + 1 if fact.path in files else 99
        kind.file.append(fact.path in gold)
        kind.by_rank["1" if rank == 1 else "2-5" if rank <= 5 else "beyond"].append(fact.path in gold)
        function = in_fix(fact, row)
        if function is not None:
            kind.function.append(function)
            if rank == 1:
                kind.functions_first.append(function)


def print_kinds(kinds: dict[str, Kind], done: int) -> None:
    print(f"{'kind':20} {'cover':>6} {'n':>4}  {'file':16} {'function':16} {'fn, first file':16} rank 1   2-5   beyond")
    for name, kind in sorted(kinds.items()):
        ranks = "  ".join(f"{sum(kind.by_rank[r])}/{len(kind.by_rank[r])}" for r in ("1", "2-5", "beyond"))
        print(
            f"{name:20} {100 * len(kind.issues) / max(1, done):5.1f}% {kind.places / max(1, len(kind.issues)):4.1f}  "
            f"{share(kind.file)} {share(kind.function)} {share(kind.functions_first)}  {ranks}"
        )


def show(row: dict[str, Any], facts: tuple[Fact, ...], files: list[str], gold: set[str], kinds: str) -> None:
    mine = [fact for fact in facts if kinds == "*" or fact.kind in kinds.split(",")]
    if mine:
        first = files[0] if files else None
        print(
            f"\n== {row['id']}: {row['issue'].partition(chr(10))[0][:100]}\n"
            f"   gold {sorted(gold)} {row.get('gold_functions')}"
        )
        print(f"   first {first} {'right' if first in gold else 'WRONG'}")
    for fact in mine:
        mark = "+" if fact.path in gold else "-"
        place = f"{fact.path}:{fact.line}"
        print(
            f" {mark}{'●' if fact.strong else ' '} {fact.kind} {place} [{fact.symbol}] "
            f"{fact.words!r} u={fact.users} n={fact.count} x={fact.exact}"
        )
        print(f"      {(fact.text or '').strip()[:140]}\n      {fact.says}")


if __name__ == "__main__":
    main()
