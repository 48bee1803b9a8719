"""Rank the same issues with Tracehound, with bm25s and by counting keywords; print accuracy and time side by side.

    python -m tests.ranking.bench                               the project's own small set
    python -m tests.ranking.bench --repos CLONES --data FILE    JSON lines: repo, base_commit, issue, gold_files

CLONES holds one clone per repository in a folder named owner+name; the clone may be one level down, in repo.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bm25s

from nodes.search.engine import Engine
from nodes.search.git import decode
from nodes.search.roles import role_of
from nodes.search.types import Query

HERE = Path(__file__).parent
WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])")
Ranker = Callable[[str], list[str]]


def main() -> None:
    """Run the comparison and print its table."""
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        rows = _rows(options, Path(scratch))
        results: dict[str, list[tuple[bool, bool, float, float]]] = {}
        for number, (row, clone) in enumerate(rows, 1):
            print(f"\r{number}/{len(rows)}", end="", file=sys.stderr)
            for name, result in _measured(row, clone, Path(scratch)).items():
                results.setdefault(name, []).append(result)
    print(file=sys.stderr)
    print(f"{'ranker':<18}{'all@1':>7}{'all@5':>7}{'index s':>10}{'query s':>10}   n={len(rows)}")
    for name, measured in results.items():
        first, five = (100 * statistics.fmean(r[k] for r in measured) for k in (0, 1))
        index, query = (statistics.median(r[k] for r in measured) for k in (2, 3))
        print(f"{name:<18}{first:>7.1f}{five:>7.1f}{index:>10.3f}{query:>10.3f}")


def _measured(row: dict[str, Any], clone: Path, scratch: Path) -> dict[str, tuple[bool, bool, float, float]]:
    builders = {"tracehound": _tracehound, "bm25s": _bm25s, "keyword counting": _counting}
    return {name: _run(build, row, clone, scratch) for name, build in builders.items()}


def _run(build: Any, row: dict[str, Any], clone: Path, scratch: Path) -> tuple[bool, bool, float, float]:
    began = time.perf_counter()
    ranker: Ranker = build(clone, row["base_commit"], scratch)
    indexed = time.perf_counter()
    ranked = ranker(row["issue"])
    done = time.perf_counter()
    gold = set(row["gold_files"])
    return gold <= set(ranked[:1]), gold <= set(ranked[:5]), indexed - began, done - indexed


def _tracehound(clone: Path, commit: str, scratch: Path) -> Ranker:
    with tempfile.TemporaryDirectory(dir=scratch) as fresh:
        engine = Engine(clone, Path(fresh))
        engine.warm(commit)

    def rank(issue: str) -> list[str]:
        title, _, body = issue.partition("\n")
        return [hit.path for hit in engine.find(Query(title, body, limit=20), commit).files]

    return rank


def _texts(clone: Path, commit: str) -> dict[str, str]:
    repository = Engine(clone).repository
    entries = [e for e in repository.tree(repository.resolve(commit)) if role_of(e.path) == "source"]
    blobs = dict(repository.read(sorted({entry.blob for entry in entries})))
    return {entry.path: decode(blobs[entry.blob]) for entry in entries if entry.blob in blobs}


def _bm25s(clone: Path, commit: str, _scratch: Path) -> Ranker:
    texts = _texts(clone, commit)
    paths = list(texts)
    index = bm25s.BM25()
    index.index([_words(f"{path} {text}") for path, text in texts.items()], show_progress=False)

    def rank(issue: str) -> list[str]:
        found, _ = index.retrieve([_words(issue)], k=min(20, len(paths)), show_progress=False)
        return [paths[number] for number in found[0]]

    return rank


def _counting(clone: Path, commit: str, _scratch: Path) -> Ranker:
    """What a person does with ripgrep: count how often each file holds the issue's rarer words."""
    texts = {path: Counter(_words(f"{path} {text}")) for path, text in _texts(clone, commit).items()}

    def rank(issue: str) -> list[str]:
        words = {word for word in _words(issue) if len(word) > 3}
        return sorted(texts, key=lambda path: (-sum(texts[path][word] for word in words), path))

    return rank


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _rows(options: argparse.Namespace, scratch: Path) -> list[tuple[dict[str, Any], Path]]:
    data = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()][: options.limit]
    if options.repos:
        located = [(row, _clone(options.repos, row["repo"])) for row in data]
        return [(row, clone) for row, clone in located if clone is not None]
    demo = scratch / "demo"
    make = HERE.parents[1] / "docs" / "demo" / "make_repository.py"
    subprocess.run([sys.executable, str(make), str(demo)], check=True)
    return [({**row, "base_commit": "HEAD"}, demo) for row in data]


def _clone(root: Path, repository: str) -> Path | None:
    folder = root / repository.replace("/", "+")
    return next((path for path in (folder / "repo", folder) if path.is_dir()), None)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, help="folder of clones")
    parser.add_argument("--data", type=Path, default=HERE / "issues.jsonl", help="issues as JSON lines")
    parser.add_argument("--limit", type=int, help="only the first so many issues")
    return parser.parse_args()


if __name__ == "__main__":
    main()
