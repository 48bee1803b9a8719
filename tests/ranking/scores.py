"""How good a ranking is, in the field's figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from nodes.search.rank import CHUNKS_PER_FILE, LEADS, lead_over
from tests.ranking.examples import Example, Floats
from tests.ranking.learner import fit_confidence

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
    """Return the rank of each fixed function; a definition in pieces is one place, at its best piece."""
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


def reliability(examples: Sequence[Example], files: Mapping[str, Floats]) -> str:
    """Tabulate confidence against what was right, each repository's confidence fitted on the others."""
    found: list[tuple[float, bool]] = []
    leads = {example.id: _leads(example, files[example.id]) for example in examples}
    right = {example.id: min(ranks(example, files[example.id]), default=LOST) == 1 for example in examples}
    for name in sorted({example.repository for example in examples}):
        others = [example.id for example in examples if example.repository != name]
        weights = fit_confidence(np.array([leads[i] for i in others]), np.array([right[i] for i in others]))
        for example in examples:
            if example.repository == name:
                logit = weights[0] + float(np.dot(weights[1:], leads[example.id]))
                found.append((float(1 / (1 + np.exp(-logit))), right[example.id]))
    found.sort(key=lambda item: -item[0])
    lines = ["confidence (most confident first)  n   mean   right"]
    for part in np.array_split(np.arange(len(found)), BINS):
        mine = [found[number] for number in part.tolist()]
        mean = 100 * sum(chance for chance, _ in mine) / len(mine)
        lines.append(f"{'':<31}{len(mine):>5}  {mean:5.1f}   {_share(yes for _, yes in mine)}")
    return "\n".join(lines)


def _leads(example: Example, scores: Floats) -> list[float]:
    best = sorted((round(float(score), 9) for score in scores), reverse=True)
    return [lead_over(best, place) for place in LEADS.values()]


def _share(flags: Iterable[bool]) -> str:
    values = [bool(flag) for flag in flags]
    return f"{100 * sum(values) / max(1, len(values)):.1f}"
