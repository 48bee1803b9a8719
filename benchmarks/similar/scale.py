"""Measure the cost of a comparison with many earlier issues: ``python -m benchmarks.similar.scale [--rivals]``.

Issues consist of words drawn by natural frequencies, about seventy different ones each. Times are processor time, the
median of seven queries, from the file on disk to the nearest issues. The alternatives store one vector of 256 numbers
per issue, computed by a model beforehand, and return the nearest six; those that are not installed are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bot.ports import RepositoryRef
from bot.runs.past import _nearby
from bot.store.databases.sqlite import SqliteStore
from bot.store.issues.past_issues import StoredIssue
from nodes.search.issue.similar import words_of

REF = RepositoryRef("github.com", 7, 9, "octo", "parser")
SIZES = (1_000, 10_000, 50_000)
DIMENSIONS, NEAREST, QUERIES = 256, 6, 7


def texts(number: int) -> list[tuple[str, str]]:
    chance = random.Random(number)
    words = ["".join(chance.choices("abcdefghijklmnoprstu", k=chance.randint(3, 9))) for _ in range(60_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    drawn = iter(chance.choices(words, weights, k=number * 118))
    return [(" ".join(next(drawn) for _ in range(8)), " ".join(next(drawn) for _ in range(110))) for _ in range(number)]


def ours(number: int, folder: Path) -> None:
    issues = texts(number)

    async def measured() -> tuple[list[float], int, int]:
        store = SqliteStore(folder / "store.db")
        past = store.for_repository(REF).past
        kept = [StoredIssue(n, True, "2024", words_of(*issue)) for n, issue in enumerate(issues, 1)]
        await past.keep(kept)
        del kept
        before, took = peak(), []
        for title, body in issues[:QUERIES]:
            started = time.process_time()
            found = _nearby(await past.before(number + 1), (), title, body, NEAREST)
            took.append(time.process_time() - started)
            assert found.numbers
        memory = peak() - before
        await store.aclose()
        return took, sum(file.stat().st_size for file in folder.iterdir()), memory

    show("hashed words in SQLite, every one compared", number, *asyncio.run(measured()))


def dense(number: int, folder: Path) -> None:
    vectors = _vectors(number)
    np.save(folder / "v.npy", vectors)

    def ask(query: np.ndarray) -> None:
        held = np.load(folder / "v.npy")
        np.argpartition(-(held @ query), NEAREST)[:NEAREST]

    timed("dense vectors in a file, numpy", number, vectors, folder, ask)


def sqlite_vec(number: int, folder: Path) -> None:
    import sqlite3

    import sqlite_vec as extension

    vectors = _vectors(number)
    db = sqlite3.connect(folder / "v.db")
    if not hasattr(db, "enable_load_extension"):
        print("sqlite-vec: this Python's sqlite3 loads no extensions")
        return
    db.enable_load_extension(True)
    extension.load(db)
    db.execute(f"CREATE VIRTUAL TABLE v USING vec0(e float[{DIMENSIONS}])")
    db.executemany("INSERT INTO v(rowid, e) VALUES (?, ?)", [(n, v.tobytes()) for n, v in enumerate(vectors)])
    db.commit()
    statement = "SELECT rowid FROM v WHERE e MATCH ? AND k = ?"
    timed(
        "dense vectors, sqlite-vec",
        number,
        vectors,
        folder,
        lambda query: db.execute(statement, (query.tobytes(), NEAREST)).fetchall(),
    )


def qdrant(number: int, folder: Path) -> None:
    from qdrant_client import QdrantClient, models

    vectors = _vectors(number)
    client = QdrantClient(path=str(folder / "qdrant"))
    space = models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
    client.create_collection("issues", vectors_config=space)
    started = time.process_time()
    client.upload_collection("issues", vectors, ids=range(number))
    print(f"    qdrant-client took {time.process_time() - started:.1f} s to write them")
    timed(
        "dense vectors, qdrant-client's local mode",
        number,
        vectors,
        folder,
        lambda query: client.query_points("issues", query, limit=NEAREST),
    )
    client.close()


def timed(name: str, number: int, vectors: np.ndarray, folder: Path, ask: Callable[[np.ndarray], object]) -> None:
    before, took = peak(), []
    for query in vectors[:QUERIES]:
        started = time.process_time()
        ask(query)
        took.append(time.process_time() - started)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    show(name, number, took, size, peak() - before)


def show(name: str, number: int, took: list[float], size: int, memory: int) -> None:
    median = 1_000 * statistics.median(took)
    print(
        f"{name:45} {number:>6} issues  {median:8.1f} ms  {size / 1e6:7.1f} MB on disk  {memory / 1e6:7.1f} MB memory"
    )


def peak() -> int:
    """Return the maximum resident memory of this process in bytes."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def imports(module: str) -> None:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    whole = time.perf_counter() - started
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import numpy"], check=True)
    print(f"import {module}: {whole:.2f} s; numpy: {time.perf_counter() - started:.2f} s")


def _vectors(number: int) -> np.ndarray:
    made = np.random.default_rng(number).standard_normal((number, DIMENSIONS)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


RIVALS = {"numpy": dense, "sqlite_vec": sqlite_vec, "qdrant_client": qdrant}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--only", nargs=2, help="a method and a number of issues, measured in this process")
    given = parser.parse_args()
    if given.only:
        with tempfile.TemporaryDirectory() as folder:
            {"ours": ours, **RIVALS}[given.only[0]](int(given.only[1]), Path(folder))
        return
    rivals = [name for name in RIVALS if importlib.util.find_spec(name)] if given.rivals else []
    for name in ("ours", *rivals):
        for number in SIZES:
            subprocess.run([sys.executable, "-m", "benchmarks.similar.scale", "--only", name, str(number)], check=True)
    for name in rivals[1:]:
        imports(name)


if __name__ == "__main__":
    main()
