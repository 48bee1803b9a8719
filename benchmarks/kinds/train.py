"""Train the model of issue kinds and write it to nodes/issue/kinds/weights.json.

    python -m benchmarks.kinds.train --data ISSUES.csv ISSUES.jsonl

The files have the columns or keys repo, label or kind (bug, feature or question; other rows are left out), title, body
and, in JSONL, source. They are never stored here. The same data gives the same file, byte for byte. The printed figures
are measured on issues that were not used in training: in five folds that each contain issues of every repository; with
a fifth of the repositories held out at a time, which corresponds to a repository on the day of its installation; and
with one source held out at a time. Confidences are calibrated for the second.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.kinds.examples import Example, Split, folds, read_examples, whole_repositories, whole_sources
from benchmarks.kinds.learner import shares, temperature
from benchmarks.kinds.recipe import learn, one_hot_kinds
from benchmarks.kinds.scores import Guess, acted_on, reliability, table
from nodes.issue.kinds.classify import odds
from nodes.issue.kinds.model import LEARNT, WEIGHTS, KindModel


def main() -> None:
    """Measure, train, print and write."""
    options = _options()
    examples = read_examples(options.data)
    elsewhere = _held_out_scores(whole_repositories(examples))
    heat = temperature(np.array([scores for _, scores in elsewhere]), one_hot_kinds([one for one, _ in elsewhere]))
    if not options.quick:
        print(table("five folds", _guesses(_held_out_scores(folds(examples)), heat)))
        print(table("sources held out", _guesses(_held_out_scores(whole_sources(examples)), heat)))
    guesses = _guesses(elsewhere, heat)
    print(table("repositories held out", guesses), acted_on(guesses), reliability(guesses), sep="\n")
    if options.dry_run:
        return
    written = as_text(dataclasses.replace(learn(examples), temperature=heat))
    WEIGHTS.write_text(written, encoding="utf-8")
    print(f"wrote {WEIGHTS}, {len(written.encode()):,} bytes")


def as_text(model: KindModel) -> str:
    """Return the model as JSON, with one line per first letter of its terms."""
    lines = [
        f'"kinds": {json.dumps(model.kinds)}',
        f'"bias": {list(model.bias)}',
        f'"temperature": {model.temperature}',
    ]
    fields = ",\n".join(f'"{name}": {by_first_letter(weights)}' for name, weights in model.fields.items())
    lines.append(f'"fields": {{\n{fields}\n}}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def by_first_letter(values: Mapping[str, object]) -> str:
    """Return a mapping as JSON in the order of its keys, with one line per first letter."""
    lines = (
        ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(values[key])}" for key in keys)
        for _, keys in groupby(sorted(values), key=lambda key: key[:1])
    )
    return "{\n" + ",\n".join(lines) + "\n}"


def _held_out_scores(splits: Iterable[Split]) -> list[tuple[Example, list[float]]]:
    """Return the scores of issues by models that were trained without them."""
    found = []
    for known, unknown in splits:
        model = learn(known)
        found += [(example, model.scores(example.terms)) for example in unknown]
    return found


def _guesses(judged: Sequence[tuple[Example, list[float]]], heat: float) -> list[Guess]:
    """Return the guesses from scores; rules for rare kinds are not used, since no issue here is labelled with one."""
    sure = shares(np.array([scores for _, scores in judged]) / heat)
    return [
        Guess(example.source, example.kind, LEARNT[int(row.argmax())], float(row.max()), float(odds(*row[:2])))
        for (example, _), row in zip(judged, sure, strict=True)
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="labelled issues, as CSV or JSONL")
    parser.add_argument("--quick", action="store_true", help="skip the five folds and the sources held out")
    parser.add_argument("--dry-run", action="store_true", help="print, but write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
