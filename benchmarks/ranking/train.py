"""Train the ranking weights on issues with known fixes, and write them to nodes/search/ranking/weights.json.

    python -m benchmarks.ranking.train --repos CLONES DATA.jsonl [DATA.jsonl ...]

CLONES contains one clone per repository in a folder named owner+name. DATA has one JSON object per line: id, repo,
base_commit, issue, gold_files, gold_functions. The same data gives the same file, byte for byte. The printed figures
are measured with one repository held out at a time: no issue is ranked by weights that were trained on its repository.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.ranking.examples import Example, Examples, Floats, by_repository, measure_all, read_rows
from benchmarks.ranking.learner import Belief, List, fit_confidence, fit_ranker
from benchmarks.ranking.scores import accuracy, function_accuracy, reliability, signs_of
from nodes.search.ranking import rank
from nodes.search.ranking.rank import FILE, SIGNS, load_weights

WEIGHTS = Path(rank.__file__).with_name("weights.json")
PULL_FILES, PULL_CHUNKS = 30.0, 10.0
SURE = 1.5
"""Factor that converts the first pass's weights to the prior."""
AROUND = 0.3
"""Prior weight of features that the first pass does not use: history, neighbours."""
CROWDED = 0.75
"""Exponent by which a repository's number of issues reduces their weight, so that large ones do not dominate."""
NO_FUNCTION = {"container": -3.0, "outside": -3.0}
"""Prior of places that are no function: the labels contain functions only, and a function is what can be named."""
COUNTS_AGAINST = frozenset({"package_file", "no_definitions", "little_logic", "outside", "container"})
EITHER_WAY = frozenset({"size", "fixed", "busy_folder", "dunder"})


def main() -> None:
    """Measure, train, print and write."""
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch)
        examples = measure_all(read_rows(options.data), options.repos, cache, options.jobs)
    files, chunks, weights = cross_validate(examples)
    measured, right = signs_of(examples, files, weights)
    importance = weigh(examples.items)
    counts = np.array([importance[example.repository] for example in examples.items])
    bias, *signs = fit_confidence(measured, right, counts).tolist()
    learnt = {
        "first": load_weights().first,
        "files": learn_files(examples.items, examples.file_features),
        "chunks": learn_chunks(examples.items, examples.chunk_features, files),
        "confidence": {"bias": round(bias, 3), **{n: round(w, 3) for n, w in zip(SIGNS, signs, strict=True)}},
    }
    if options.only_places:
        learnt |= {"files": load_weights().files, "confidence": load_weights().confidence}
    print(accuracy(examples.items, files))
    print(function_accuracy(examples.items, chunks))
    print(reliability(examples, measured, right, counts))
    if not options.dry_run:
        WEIGHTS.write_text(json.dumps(learnt, indent=2) + "\n", encoding="utf-8")
        print(f"wrote {WEIGHTS}")


def cross_validate(examples: Examples) -> tuple[dict[str, Floats], dict[str, Floats], dict[str, dict[str, float]]]:
    """Score the files and chunks of each issue by weights that were trained without its repository.

    Returns:
        The scores of files and of chunks, by issue, and the weights of files, by the held-out repository.
    """
    files: dict[str, Floats] = {}
    of_files: dict[str, dict[str, float]] = {}
    for name, others, own in by_repository(examples.items):
        of_files[name] = learn_files(others, examples.file_features)
        files |= {example.id: score_files(example, examples.file_features, of_files[name]) for example in own}
    chunks: dict[str, Floats] = {}
    for _, others, own in by_repository(examples.items):
        weights = learn_chunks(others, examples.chunk_features, files)
        for example in own:
            columns = chunk_columns(example, files[example.id])
            chunks[example.id] = columns @ np.array([weights[n] for n in (FILE, *examples.chunk_features)])
    return files, chunks, of_files


def learn_files(examples: Sequence[Example], names: Sequence[str]) -> dict[str, float]:
    """Fit the weights of files."""
    importance = weigh(examples)
    lists = [List(example.files, example.fixed, importance[example.repository]) for example in examples]
    prior = load_weights().first["files"]
    belief = Belief(prior_weights(names, prior), PULL_FILES, np.array([sign_of(name) for name in names]))
    return named(names, fit_ranker(lists, belief))


def learn_chunks(examples: Sequence[Example], names: Sequence[str], files: Mapping[str, Floats]) -> dict[str, float]:
    """Fit the weights of chunks, and the weight of their file's score."""
    importance = weigh(examples)
    lists = [
        List(chunk_columns(example, files[example.id]), example.fixed_chunks, importance[example.repository])
        for example in examples
    ]
    columns = (FILE, *names)
    prior = {FILE: 1.0, **load_weights().first["chunks"], **NO_FUNCTION}
    signs = np.array([sign_of(name) for name in columns])
    belief = Belief(np.array([prior.get(name, 0.0) for name in columns]), PULL_CHUNKS, signs)
    return named(columns, fit_ranker(lists, belief))


def prior_weights(names: Sequence[str], first: Mapping[str, float]) -> Floats:
    """Return the prior of each file weight."""
    return np.array([SURE * first[n] if n in first else AROUND if sign_of(n) > 0 else 0.0 for n in names])


def sign_of(name: str) -> int:
    """Return the allowed sign of a feature: evidence for a place never lowers its score."""
    if name in EITHER_WAY:
        return 0
    return -1 if name in COUNTS_AGAINST or name.startswith("role_") else 1


def weigh(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weight of one issue of each repository."""
    counts = Counter(example.repository for example in examples)
    mean = sum(count ** (1 - CROWDED) for count in counts.values()) / len(examples)
    return {name: count**-CROWDED / mean for name, count in counts.items()}


def score_files(example: Example, names: Sequence[str], weights: Mapping[str, float]) -> Floats:
    """Score the files of an issue."""
    return np.asarray(example.files @ np.array([weights[name] for name in names]))


def chunk_columns(example: Example, files: Floats) -> Floats:
    """Return the features of chunks; the first column is the score of the file."""
    of_path = dict(zip(example.paths, files.tolist(), strict=True))
    lowest = min(of_path.values())
    scores = np.array([of_path.get(path, lowest) for path in example.chunk_paths])
    return np.column_stack([scores - max(of_path.values()), example.chunks])


def named(names: Sequence[str], weights: Floats) -> dict[str, float]:
    """Return the weights by name, rounded to a readable precision."""
    return {name: round(float(weight), 2) + 0.0 for name, weight in zip(names, weights, strict=True)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", help="issues with their fixes, as JSON lines")
    parser.add_argument("--repos", type=Path, required=True, help="folder of clones")
    parser.add_argument("--cache", type=Path, help="folder that stores parsed files between runs")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    parser.add_argument(
        "--only-places",
        action="store_true",
        help="write the weights of places only; other weights of files require a new calibration of the facts",
    )
    parser.add_argument("--dry-run", action="store_true", help="print, but write nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
