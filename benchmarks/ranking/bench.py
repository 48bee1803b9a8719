"""Rank the same issues with Tracehound, with bm25s and by counting keywords; print accuracy and time side by side.

    python -m benchmarks.ranking.bench                              the project's own small set
    python -m benchmarks.ranking.bench --repos CLONES --data FILE   JSON lines: id, repo, base_commit, issue, gold_files

CLONES contains one clone per repository in a folder named owner+name, or in its subfolder repo. All
index the same commit from nothing and rank its source files; bm25s does so with every text file and with source files
alone, whose content is all that Tracehound reads for a ranking. all@k: every fixed file is within
the first k; hit@k: any is; fn@k: every fixed function is within the first k places. x: time as a multiple of bm25s's in
this run.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.ranking.examples import clone_with
from benchmarks.ranking.rivals import RANKERS, Ranked
from tests.ranking.small_set import build_repositories, read_issues

BINS = ((0.9, 1.01), (0.75, 0.9), (0.6, 0.75), (0.45, 0.6), (0.0, 0.45))
"""Confidence, from (included) to (excluded)."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one ranker on one issue."""

    id: str
    ranker: str
    worst: int
    """Rank of the fixed file that came last; 0 if one is missing."""
    best: int
    worst_function: int | None
    """The same for functions; None if the fix names none or the ranker ranks none."""
    confidence: float | None
    index_seconds: float
    query_seconds: float


def main() -> None:
    """Run the comparison and print its tables."""
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        rows = list(_rows(options, Path(scratch)))
        results = []
        for number, (row, clone) in enumerate(rows, 1):
            print(f"\r{number}/{len(rows)} {row['repo'][:40]:<40}", end="", file=sys.stderr, flush=True)
            results += [_run(name, row, clone, Path(scratch)) for name in RANKERS]
    print(file=sys.stderr)
    if not results:
        sys.exit("no issue could be ranked: no clone under --repos has the commits that --data names")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if options.json:
        print(json.dumps({"peak_mb": peak, "results": [asdict(result) for result in results]}, indent=1))
        return
    print(_accuracy(results))
    print(_reliability([result for result in results if result.confidence is not None]))
    print(f"peak memory of this process, all rankers together: {peak} MB")


def _run(name: str, row: dict[str, Any], clone: Path, scratch: Path) -> Result:
    started = time.perf_counter()
    ranker = RANKERS[name](clone, row["base_commit"], scratch)
    indexed = time.perf_counter()
    ranked: Ranked = ranker(row["issue"])
    done = time.perf_counter()
    ranks = [_rank(path, ranked.files) for path in row["gold_files"]]
    functions = [_rank(place, ranked.places) for place in row.get("gold_functions") or ()] if ranked.places else []
    return Result(
        id=row["id"],
        ranker=name,
        worst=0 if 0 in ranks else max(ranks),
        best=min((rank for rank in ranks if rank), default=0),
        worst_function=(0 if 0 in functions else max(functions)) if functions else None,
        confidence=ranked.confidence,
        index_seconds=indexed - started,
        query_seconds=done - indexed,
    )


def _rank(wanted: str, listed: tuple[str, ...]) -> int:
    return listed.index(wanted) + 1 if wanted in listed else 0


def _accuracy(results: list[Result]) -> str:
    head = f"{'ranker':<18}" + "".join(f"{name:>8}" for name in ("all@1", "all@3", "all@5", "all@10", "hit@1", "hit@5"))
    lines = [f"{head}{'fn@5':>8}{'fn@10':>8}{'index s':>10}{'x':>6}{'query s':>10}   n={len(results) // len(RANKERS)}"]
    base = statistics.median(result.index_seconds for result in results if result.ranker == "bm25s")
    for name in RANKERS:
        mine = [result for result in results if result.ranker == name]
        cells = [_share([0 < result.worst <= k for result in mine]) for k in (1, 3, 5, 10)]
        cells += [_share([0 < result.best <= k for result in mine]) for k in (1, 5)]
        functions = [result.worst_function for result in mine if result.worst_function is not None]
        cells += [_share([0 < rank <= k for rank in functions]) if functions else "–" for k in (5, 10)]
        index = statistics.median(result.index_seconds for result in mine)
        query = statistics.median(result.query_seconds for result in mine)
        row = "".join(f"{cell:>8}" for cell in cells)
        lines.append(f"{name:<18}{row}{index:>10.3f}{index / max(base, 1e-9):>6.1f}{query:>10.3f}")
    return "\n".join(lines)


def _reliability(results: list[Result]) -> str:
    lines = [f"\n{'confidence':<18}{'n':>8}{'mean':>8}{'right':>8}"]
    for low, high in BINS:
        mine = [result for result in results if low <= (result.confidence or 0.0) < high]
        if mine:
            lines.append(f"{f'{low:.2f} to {min(high, 1):.2f}':<18}{_reliable(mine)}")
    surest = sorted(results, key=lambda result: (-(result.confidence or 0.0), result.id))[: max(1, len(results) // 5)]
    lines.append(f"{'surest fifth':<18}{_reliable(surest)}")
    return "\n".join(lines)


def _reliable(results: list[Result]) -> str:
    mean = 100 * statistics.fmean(result.confidence or 0.0 for result in results)
    return f"{len(results):>8}{mean:>8.1f}{_share([result.best == 1 for result in results]):>8}"


def _share(flags: list[bool]) -> str:
    return f"{100 * sum(flags) / len(flags):.1f}"


def _rows(options: argparse.Namespace, scratch: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    if options.repos is None:
        built = build_repositories(scratch / "small")
        for row in read_issues()[: options.limit]:
            path, commit = built[row["repo"]]
            yield {**row, "base_commit": commit}, path
        return
    for line in options.data.read_text(encoding="utf-8").splitlines()[: options.limit]:
        row = json.loads(line)
        clone = clone_with(options.repos, row["repo"], row["base_commit"])
        if clone is None:
            print(f"left out: {row['id']}: no clone in {options.repos} has its commit", file=sys.stderr)
        else:
            yield row, clone


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, help="folder of clones")
    parser.add_argument("--data", type=Path, help="issues as JSON lines; needs --repos")
    parser.add_argument("--limit", type=int, help="maximum number of issues")
    parser.add_argument("--json", action="store_true", help="every single result instead of the tables")
    options = parser.parse_args()
    if (options.repos is None) != (options.data is None):
        parser.error("--repos and --data go together: the issues, and the clones that have their commits")
    return options


if __name__ == "__main__":
    main()
