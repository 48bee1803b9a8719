"""Alternative methods to find the nearest issue: ``python -m benchmarks.similar.rivals DATA.jsonl …``.

The nearest issue counts as right if its fix changed a file of the other issue's fix, because no labelled pairs exist
and issues about the same place are useful to a maintainer. WordLlama (a wheel with a static embedding of 16 MB) is
measured if it is installed, alone and combined with the words.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import bm25s
import numpy as np

from benchmarks.similar.measure import Known, load
from nodes.search.issue.similar import BODY, TITLE, PastIndex, words_of
from nodes.search.tokens import query_terms

FEWEST, TOPICS, GRAMS = 8, 64, 1 << 14


def ours(issues: list[Known]) -> np.ndarray:
    words = [words_of(issue.title, issue.body) for issue in issues]
    past = PastIndex(list(enumerate(words)))
    rows = [TITLE * past._title.cosines(one.title) + BODY * past._body.cosines(one.body) for one in words]
    return np.array(rows)


def bm25(issues: list[Known]) -> np.ndarray:
    terms = [list(query_terms(f"{issue.title}\n{issue.body}").elements()) for issue in issues]
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(terms, show_progress=False)
    return np.array([index.get_scores(list(dict.fromkeys(one))) for one in terms])


def characters(issues: list[Known]) -> np.ndarray:
    """Return hashed character n-grams (three to five characters), weighted by rarity."""
    return _cosines(_weighted([_grams(f"{issue.title} {issue.body}") for issue in issues], GRAMS))


def topics(issues: list[Known]) -> np.ndarray:
    """Return words projected on the directions of highest variance in these issues (LSA)."""
    hashed = [_hashed(query_terms(f"{issue.title}\n{issue.body}")) for issue in issues]
    left, sizes, _ = np.linalg.svd(_weighted(hashed, 1 << 15), full_matrices=False)
    kept = min(TOPICS, len(issues) // 2)
    return _cosines(left[:, :kept] * sizes[:kept])


def embedding(issues: list[Known]) -> np.ndarray:
    from wordllama import WordLlama

    folder = Path(str(importlib.util.find_spec("wordllama").origin)).parent
    model = WordLlama.load(disable_download=True, cache_dir=folder)
    return _cosines(model.embed([f"{issue.title}\n{issue.body[:4_000]}" for issue in issues]))


def _grams(text: str) -> Counter[int]:
    words = " ".join(text.lower().split())[:20_000]
    return Counter(
        zlib.crc32(words[at : at + size].encode()) % GRAMS for size in (3, 4, 5) for at in range(len(words) - size + 1)
    )


def _hashed(terms: Counter[str]) -> Counter[int]:
    return Counter({zlib.crc32(term.encode()) % (1 << 15): count for term, count in terms.items()})


def _weighted(rows: list[Counter[int]], size: int) -> np.ndarray:
    counts = np.zeros((len(rows), size), np.float32)
    for number, row in enumerate(rows):
        counts[number, list(row)] = list(row.values())
    frequency = (counts > 0).sum(0)
    rarity = np.log1p((len(rows) - frequency + 0.5) / (frequency + 0.5))
    return np.log1p(counts) * rarity


def _cosines(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)
    return unit @ unit.T


def _standard(scores: np.ndarray) -> np.ndarray:
    return (scores - scores.mean(1, keepdims=True)) / (scores.std(1, keepdims=True) + 1e-9)


def score(scores: np.ndarray, issues: list[Known]) -> list[tuple[float, bool, bool]]:
    """Return, for each issue that has a right one, the reciprocal rank of the first, and whether it is in the top 1 and
    3."""
    found = []
    for number, issue in enumerate(issues):
        right = {at for at, other in enumerate(issues) if at != number and other.fixed & issue.fixed}
        order = [at for at in np.argsort(-scores[number], kind="stable") if at != number]
        rank = next((place for place, at in enumerate(order, 1) if at in right), None)
        if rank is not None:
            found.append((1 / rank, rank == 1, rank <= 3))
    return found


def main() -> None:
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    ways = {"words, as they are used": ours, "BM25": bm25, "characters": characters, "topics": topics}
    if importlib.util.find_spec("wordllama"):
        ways["static embedding"] = embedding
    results: dict[str, list[tuple[float, bool, bool]]] = defaultdict(list)
    for issues in load([Path(name) for name in sys.argv[1:]]).values():
        if len(issues) < FEWEST:
            continue
        scores = {name: _standard(way(issues)) for name, way in ways.items()}
        words = scores["words, as they are used"]
        added = {f"words + half of {name}": words + 0.5 * scores[name] for name in list(scores)[1:]}
        chance = {"chance": np.random.default_rng(0).random(words.shape)}
        for name, one in {**scores, **added, **chance}.items():
            results[name] += score(one, issues)
    for name, found in results.items():
        mean = np.mean(np.array(found, float), 0)
        print(f"{name:34} MRR {mean[0]:.3f}  @1 {mean[1]:.3f}  @3 {mean[2]:.3f}  of {len(found)} issues")


if __name__ == "__main__":
    main()
