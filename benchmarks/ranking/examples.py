"""Measured issues with known fixes: the training data of the ranker."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodes.search.engine import Engine
from nodes.search.ranking.pipeline import Measured
from nodes.search.ranking.rank import best_files, load_weights, weighted
from nodes.search.ranking.words import FileDefinitions, add_functions
from nodes.search.types import Query

Floats = npt.NDArray[np.float64]
FILES = 400
"""Number of files per issue; files below never reach the first places."""
PLACES_FROM = 15
"""Number of best files of the first pass whose chunks are used."""


@dataclass(frozen=True, slots=True)
class Example:
    """One issue: rows are files or chunks, columns are features in sorted order."""

    id: str
    repository: str
    files: Floats
    paths: tuple[str, ...]
    fixed: npt.NDArray[np.bool_]
    """For each file, whether the fix changed it."""
    lost: int
    """Number of fixed files that the commit lacks because the fix created them."""
    chunks: Floats
    chunk_paths: tuple[str, ...]
    chunk_definitions: tuple[int, ...]
    """-1 outside any definition."""
    fixed_chunks: npt.NDArray[np.bool_]
    places: tuple[str, ...]
    """For each chunk, ``path::Qualified.name``."""
    fixed_functions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Examples:
    """All examples, and the names of their columns."""

    file_features: tuple[str, ...]
    chunk_features: tuple[str, ...]
    items: tuple[Example, ...]


def read_rows(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Read JSON lines, ordered by repository and id so that training never depends on the order of files."""
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sorted(rows, key=lambda row: (row["repo"], row["id"]))


def measure_all(rows: Sequence[dict[str, Any]], clones: Path, cache: Path, jobs: int) -> Examples:
    """Measure every issue whose commit is in one of the clones; print the others on standard error."""
    cache.mkdir(parents=True, exist_ok=True)
    found: list[Example] = []
    names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    with ProcessPoolExecutor(jobs) as pool:
        tasks = [(row, clones, cache) for row in rows]
        for number, result in enumerate(pool.map(_measure_one, tasks, chunksize=4), 1):
            print(f"\rmeasured {number}/{len(rows)}", end="", file=sys.stderr, flush=True)
            if isinstance(result, str):
                print(f"\nleft out: {result}", file=sys.stderr)
            else:
                names, example = result
                found.append(example)
    print(file=sys.stderr)
    return Examples(*names, tuple(found))


def clone_with(clones: Path, repository: str, commit: str) -> Path | None:
    """Find the clone that has a commit: of the repository, or of a fork with the same name."""
    own = repository.replace("/", "+").lower()
    folders = sorted(path for path in clones.iterdir() if path.is_dir())
    same = [path for path in folders if path.name.lower() == own]
    forks = [path for path in folders if path.name.lower().endswith("+" + repository.partition("/")[2].lower())]
    for folder in dict.fromkeys([*same, *forks]):
        for path in (folder / "repo", folder):
            if path.is_dir() and _has(path, commit):
                return path
    return None


def _has(path: Path, commit: str) -> bool:
    command = ["git", "-C", str(path), "cat-file", "-e", f"{commit}^{{commit}}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _measure_one(task: tuple[dict[str, Any], Path, Path]) -> tuple[Any, Example] | str:
    row, clones, cache = task
    clone = clone_with(clones, row["repo"], row["base_commit"])
    if clone is None:
        return f"{row['id']}: no clone in {clones} has {row['base_commit'][:12]}"
    measured = _measured(clone, row, cache)
    index, features = measured.index, measured.features
    first = weighted(features.files, load_weights().first["files"], len(index.paths))
    fixed = {index.number_of[path] for path in row["gold_files"] if path in index.number_of}
    files = sorted({*best_files(first, index, FILES), *fixed})
    near = sorted({*best_files(first, index, PLACES_FROM), *fixed})
    add_functions(measured.features, measured.parsed, FileDefinitions.of(measured.index, near))
    chunks = np.flatnonzero(np.isin(index.chunk_file, near)).tolist()
    owners = [int(index.chunk_def[chunk]) for chunk in chunks]
    paths = tuple(index.paths[index.chunk_file[chunk]] for chunk in chunks)
    places = tuple(f"{path}::{index.name_of(o) if o >= 0 else ''}" for path, o in zip(paths, owners, strict=True))
    functions = frozenset(row.get("gold_functions") or ())
    names = tuple(sorted(features.files)), tuple(sorted(features.chunks))
    return names, Example(
        id=row["id"],
        repository=row["repo"],
        files=np.array([[features.files[name][number] for name in names[0]] for number in files]),
        paths=tuple(index.paths[number] for number in files),
        fixed=np.array([number in fixed for number in files]),
        lost=len(row["gold_files"]) - len(fixed),
        chunks=np.array([[features.chunks[name][chunk] for name in names[1]] for chunk in chunks]),
        chunk_paths=paths,
        chunk_definitions=tuple(owners),
        fixed_chunks=np.array([place in functions for place in places]),
        places=places,
        fixed_functions=functions,
    )


def _measured(clone: Path, row: dict[str, Any], cache: Path) -> Measured:
    engine = Engine(clone, cache)
    title, _, body = row["issue"].lstrip("\n").partition("\n")
    return engine.measure(Query(title.lstrip("# ").strip(), body.strip("\n")), row["base_commit"])


def by_repository(examples: Sequence[Example]) -> Iterator[tuple[str, list[Example], list[Example]]]:
    """Yield (repository, the examples of all others, its own), each repository once."""
    for name in sorted({example.repository for example in examples}):
        yield (
            name,
            [example for example in examples if example.repository != name],
            [example for example in examples if example.repository == name],
        )
