"""Train the model of disclosures in plain words and write it to nodes/issue/kinds/disclosures.json.

    python -m benchmarks.kinds.disclosures --data ISSUES.jsonl

Disclosures and ordinary reports about the same subjects are the lists of this folder and, by their even lines, of
``tests/kinds``. The labelled issues of the data, which name no weakness, are ordinary reports of all subjects. The
printed figures are of the odd lines, and of the issues of repositories that were not used in training.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.kinds.examples import read_examples
from benchmarks.kinds.learner import Space, Used, fit, postings
from benchmarks.kinds.train import as_text
from nodes.issue.kinds.model import TENTHS, UNIT, Field, KindModel, parts_of
from nodes.issue.kinds.rare import DISCLOSURES, READ, WEAKNESS, disclosure_terms, opening_of
from tests.kinds.disclosures import DISCLOSURES as WRITTEN
from tests.kinds.disclosures import ORDINARY_NEAR
from tests.kinds.pairs import paraphrases, read_pairs
from tests.kinds.weaknesses import ORDINARY, SECURITY

Terms = dict[Field, frozenset[str]]
FIELDS: dict[Field, float] = {"whole": 1.4, "cues": 0.7}
"""The fields, and their weights."""
FREEDOM = 3.0
"""The inverse of the penalty."""
SHARES = (1.0, 2.0, 2.0)
"""How much the disclosures, the ordinary reports of the lists and the issues of the data count."""
OFTEN = 2
"""Minimum number of texts of the lists with a term."""
KINDS = ("disclosure",)
LEARN = Path(__file__).with_suffix(".txt")


def main() -> None:
    """Measure, train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="labelled issues, as CSV or JSONL")
    parser.add_argument("--above", type=float, default=0.0075, help="share of the issues of the data above 0")
    options = parser.parse_args()
    parts = ((one, parts_of(one.title, one.body)) for one in read_examples(options.data))
    issues = [one for one, part in parts if not WEAKNESS.search(f"{part.title}\n{part.prose[:READ]}")]
    rows = [(one.repository, terms_of(one.title, one.body)) for one in issues]
    apart = set(sorted({repository for repository, _ in rows})[::2])
    known = [terms for repository, terms in rows if repository not in apart]
    _print(learn(known, options.above), [terms for repository, terms in rows if repository in apart])
    written = as_text(learn([terms for _, terms in rows], options.above))
    DISCLOSURES.write_text(written, encoding="utf-8")
    print(f"wrote {DISCLOSURES}, {len(written.encode()):,} bytes")


def terms_of(title: str, body: str) -> Terms:
    """Return the terms of an issue."""
    parts = parts_of(title, body)
    return disclosure_terms(opening_of(parts.title, parts.prose))


def learn(far: Sequence[Terms], above: float) -> KindModel:
    """Return a model of one score, above 0 for a share of the issues of the data."""
    disclosed, near = _seen("disclosures"), _seen("ordinary")
    # A third is left out in turn, so that the threshold is that of issues that the weights have not seen.
    scores: list[float] = []
    for third in range(3):
        model = fit_disclosures(disclosed, near, [row for at, row in enumerate(far) if at % 3 != third])
        scores += [model.scores(row)[0] for row in far[third::3]]
    least = sorted(scores)[-1 - int(above * len(scores))]
    model = fit_disclosures(disclosed, near, far)
    return KindModel((model.bias[0] - round(least * UNIT),), 1.0, model.fields, KINDS)


def _seen(part: Literal["disclosures", "ordinary"]) -> list[Terms]:
    """Return the terms of the texts from which the model is learnt."""
    lists = (SECURITY, WRITTEN[::2]) if part == "disclosures" else (ORDINARY, ORDINARY_NEAR)
    texts = [*read_pairs(LEARN, part), *(pair for pairs in (*lists, paraphrases(part)[::2]) for pair in pairs)]
    return [terms_of(*pair) for pair in texts]


def fit_disclosures(disclosed: Sequence[Terms], near: Sequence[Terms], far: Sequence[Terms]) -> KindModel:
    """Return the model whose score tells the first group from the others; its terms are those of the first two."""
    rows = [*disclosed, *near, *far]
    counts = np.concatenate(
        [np.full(len(group), share / len(group)) for group, share in zip((disclosed, near, far), SHARES, strict=True)]
    )
    wanted = np.zeros((len(rows), 2))
    wanted[: len(disclosed), 0] = wanted[len(disclosed) :, 1] = 1
    listed = {field: postings([*disclosed, *near], field) for field in FIELDS}
    used: dict[Field, Used] = {
        field: {term: at for term, at in postings(rows, field).items() if len(listed[field].get(term, ())) >= OFTEN}
        for field in FIELDS
    }
    space = Space.of(len(rows), used, FIELDS)
    bias, weights = fit(space, wanted, counts / counts.mean(), FREEDOM)
    fields: dict[Field, dict[str, tuple[int, ...]]] = {field: {} for field in FIELDS}
    for (field, term), rarity, (yes, no) in zip(space.columns, space.rarity, weights, strict=True):
        fields[field][term] = (int(rarity), round(FIELDS[field] * rarity / TENTHS * (yes - no) * UNIT))
    return KindModel((round(float(bias[0] - bias[1]) * UNIT),), 1.0, fields, KINDS)


def _print(model: KindModel, unknown: Sequence[Terms]) -> None:
    for name, rows in (
        ("disclosures", WRITTEN[1::2]),
        ("disclosures, paraphrased", paraphrases("disclosures")[1::2]),
        ("ordinary, paraphrased", paraphrases("ordinary")[1::2]),
    ):
        _line(name, model, [terms_of(*row) for row in rows])
    _line("issues of other repositories", model, unknown)


def _line(name: str, model: KindModel, rows: Sequence[Terms]) -> None:
    taken = sum(model.scores(terms)[0] > 0 for terms in rows)
    print(f"{name:<30}{taken:>6} of {len(rows):>6}  {taken / len(rows):>7.2%}")


if __name__ == "__main__":
    main()
