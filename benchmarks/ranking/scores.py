"""Quality of a ranking, in standard metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from benchmarks.ranking.examples import Example, Examples, Floats
from benchmarks.ranking.learner import fit_confidence
from nodes.search.ranking.rank import CHUNKS_PER_FILE, RIVALS, SIGNS, confidence, signs

LOST = 10_000  # rank of a file that the fix created
BINS = 5


def accuracy(examples: Iterable[Example], files: Mapping[str, Floats]) -> str:
    """Tabulate how often all, and any, of the fixed files are within the first k, by data set and language."""
    rows = [ranks(example, files[example.id]) for example in examples]
    all_at = " ".join(f"@{k} {_share(max(r, default=LOST) <= k for r in rows)}" for k in (1, 3, 5, 10))
    any_at = " ".join(f"hit@{k} {_share(min(r, default=LOST) <= k for r in rows)}" for k in (1, 5))
    return f"files      n={len(rows)} {all_at} {any_at}"


def ranks(example: Example, scores: Floats) -> list[int]:
    """Return the rank of each fixed file."""
    order = sorted(range(len(scores)), key=lambda n: (-round(float(scores[n]), 9), example.paths[n]))
    place = {number: rank for rank, number in enumerate(order, 1)}
    return [place[number] for number in np.flatnonzero(example.fixed).tolist()] + [LOST] * example.lost


def function_accuracy(examples: Iterable[Example], chunks: Mapping[str, Floats]) -> str:
    """Tabulate how often all of the fixed functions are within the first k places."""
    worst = [
        max(place_ranks(example, chunks[example.id]), default=LOST) for example in examples if example.fixed_functions
    ]
    return f"functions  n={len(worst)} " + " ".join(f"@{k} {_share(rank <= k for rank in worst)}" for k in (5, 10))


def place_ranks(example: Example, scores: Floats) -> list[int]:
    """Return the rank of each fixed function; a definition in several chunks is one place, at its best chunk."""
    listed: list[str] = []
    seen: set[tuple[str, int]] = set()
    per_file: Counter[str] = Counter()
    for number in np.argsort(-np.round(scores, 9), kind="stable").tolist():
        key = (example.chunk_paths[number], example.chunk_definitions[number])
        if (key[1] >= 0 and key in seen) or per_file[key[0]] >= CHUNKS_PER_FILE:
            continue
        seen.add(key)
        per_file[key[0]] += 1
        listed.append(example.places[number])
    place = {name: rank for rank, name in reversed(list(enumerate(listed, 1)))}
    return [place.get(name, LOST) for name in sorted(example.fixed_functions)]


def reliability(examples: Examples, measured: Floats, right: npt.NDArray[np.bool_], counts: Floats) -> str:
    """Tabulate confidence against accuracy, each repository's confidence fitted on the others.

    Args:
        examples: the issues.
        measured: the signs of each.
        right: whether the first file of each was right.
        counts: the weight of each.
    """
    repository = np.array([example.repository for example in examples.items])
    found: list[tuple[float, bool]] = []
    for name in sorted(set(repository.tolist())):
        own = repository == name
        weights = fit_confidence(measured[~own], right[~own], counts[~own])
        fitted = dict(zip(("bias", *SIGNS), weights.tolist(), strict=True))
        chances = [confidence(dict(zip(SIGNS, row, strict=True)), fitted) for row in measured[own].tolist()]
        found += zip(chances, right[own].tolist(), strict=True)
    found.sort(key=lambda item: -item[0])
    lines = ["confidence (most confident first)  n   mean   right"]
    for part in np.array_split(np.arange(len(found)), BINS):
        mine = [found[number] for number in part.tolist()]
        mean = 100 * sum(chance for chance, _ in mine) / len(mine)
        lines.append(f"{'':<31}{len(mine):>5}  {mean:5.1f}   {_share(yes for _, yes in mine)}")
    return "\n".join(lines)


def signs_of(
    examples: Examples, files: Mapping[str, Floats], weights: Mapping[str, Mapping[str, float]]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the inputs of the confidence in the first file of each issue, and whether that file is right.

    Args:
        examples: the issues.
        files: scores of the files of each issue, by its id.
        weights: by which the issues of each repository were scored.
    """
    measured, right = [], []
    for example in examples.items:
        scores = files[example.id]
        order = sorted(range(len(scores)), key=lambda n: (-round(float(scores[n]), 9), example.paths[n]))
        best = [float(scores[number]) for number in order[:RIVALS]]
        columns = dict(zip(examples.file_features, example.files[order[:RIVALS]].T, strict=True))
        found = signs(best, columns, weights[example.repository])
        measured.append([found[name] for name in SIGNS])
        right.append(bool(example.fixed[order[0]]))
    return np.array(measured), np.array(right)


def _share(flags: Iterable[bool]) -> str:
    values = [bool(flag) for flag in flags]
    return f"{100 * sum(values) / max(1, len(values)):.1f}"
