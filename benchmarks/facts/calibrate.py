"""Fit the confidence from facts.

python -m benchmarks.facts.calibrate A.jsonl B.jsonl --repos CLONES --rows FILE [--write]

Each source of issues is evaluated with weights that were fitted without it. ``--rows FILE`` stores the measurements, so
that a second fit takes seconds.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.facts.measure import clone_of
from benchmarks.ranking.learner import fit_confidence
from nodes.search.engine import Engine
from nodes.search.facts.finding import WEIGHTS, fact_signs
from nodes.search.facts.levels import SURE, ConfidenceInputs, confidence_inputs
from nodes.search.git.errors import SearchError
from nodes.search.ranking.rank import logit_of, probability
from nodes.search.types import Query

NAMES = ("ranked", "alone", "shared", "elsewhere", "two_kinds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--repos", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(".tracehound/facts"))
    parser.add_argument("--each", type=int, help="issues of each set, evenly spaced")
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    if args.data:
        measure(args)
    rows = [json.loads(line) for line in args.rows.read_text(encoding="utf-8").splitlines()]
    weights = report(rows)
    if args.write:
        WEIGHTS.write_text(json.dumps(weights) + "\n", encoding="utf-8")


def measure(args: argparse.Namespace) -> None:
    """Append one row for each issue that has not been measured yet."""
    known = set()
    if args.rows.exists():
        known = {json.loads(line)["id"] for line in args.rows.read_text(encoding="utf-8").splitlines()}
    engines: dict[Path, Engine] = {}
    for path in args.data:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if args.each and args.each < len(rows):
            rows = [rows[at * len(rows) // args.each] for at in range(args.each)]
        for row in sorted(rows, key=lambda row: row["repo"]):
            clone = clone_of(row, args.repos)
            if clone is not None and row["id"] not in known and row["gold_files"]:
                found = of_issue(engines.setdefault(clone, Engine(clone, args.cache)), row, path.stem)
                if found is not None:
                    with args.rows.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(found) + "\n")


def of_issue(engine: Engine, row: dict[str, Any], source: str) -> dict[str, Any] | None:
    """Return the inputs of the fit, and details of the strong facts."""
    title, _, body = row["issue"].partition("\n")
    try:
        survey = engine.survey(Query(title, body, limit=10), row["base_commit"])
    except SearchError as error:  # a clone without that commit
        print("skipped", row["id"], repr(error)[:100], flush=True)
        return None
    judged = confidence_inputs(survey.facts, survey.paths)
    gold = set(row["gold_files"])
    return {
        "id": row["id"],
        "repo": row["repo"],
        "source": source,
        "ranked": survey.ranked,
        "bits": [judged.on_first, judged.two_kinds, judged.elsewhere],
        "right": bool(survey.paths) and survey.paths[0] in gold,
        "paths": [path in gold for path in survey.paths],
        "strong": [
            [
                fact.kind,
                survey.paths.index(fact.path) if fact.path in survey.paths else 99,
                fact.path in gold,
                fact.users,
            ]
            for fact in survey.facts
            if fact.strong
        ],
    }


def signs(row: dict[str, Any]) -> list[float]:
    found = fact_signs(ConfidenceInputs(*row["bits"]))
    return [logit_of(row["ranked"]), *(found[name] for name in NAMES[1:])]


def fit(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Fit the weights; each source of issues counts alike, and none more than the ranking's own confidence allows."""
    sizes = Counter(row["source"] for row in rows)
    counts = np.array([len(rows) / len(sizes) / sizes[row["source"]] for row in rows])
    prior = np.array([0.0, 1.0, *[0.0] * (len(NAMES) - 1)])
    right = np.array([row["right"] for row in rows])
    weights = fit_confidence(np.array([signs(row) for row in rows]), right, counts, prior)
    return {name: round(float(value), 4) for name, value in zip(("bias", *NAMES), weights, strict=True)}


def chance_of(row: dict[str, Any], weights: dict[str, float]) -> float:
    return probability(
        weights["bias"] + sum(weights[name] * value for name, value in zip(NAMES, signs(row), strict=True))
    )


def report(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Print the evaluation on held-out sources; return the weights fitted on all."""
    for source in {row["source"] for row in rows}:
        weights = fit([row for row in rows if row["source"] != source])
        for row in rows:
            if row["source"] == source:
                row["left_out"] = chance_of(row, weights)
    for source in (None, *sorted({row["source"] for row in rows})):
        mine = [row for row in rows if source in (None, row["source"])]
        print(f"\n{source or 'all'}: {len(mine)} issues, first file right {share(mine)}")
        for name, chosen in levels(mine).items():
            print(f"  {name:28} {100 * len(chosen) / len(mine):5.1f} %  right {share(chosen)}")
        ranked = sorted(mine, key=lambda row: -row["left_out"])
        for at in range(5):
            fifth = ranked[len(ranked) * at // 5 : len(ranked) * (at + 1) // 5]
            mean = sum(row["left_out"] for row in fifth) / max(1, len(fifth))
            print(f"  fifth {at + 1}: mean {100 * mean:5.1f}  right {share(fifth)}")
    weights = fit(rows)
    print(weights)
    return weights


def levels(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    alone = [row for row in rows if row["bits"][0] and not row["bits"][2]]
    claimed = {f"claimed at {bar}": [row for row in alone if row["left_out"] >= bar] for bar in (0.65, 0.75, 0.8, 0.85)}
    bare = [row for row in rows if not row["bits"][0] and not row["bits"][2]]
    return {
        "strong on the first alone": alone,
        **claimed,
        "on the first and others": [row for row in rows if row["bits"][0] and row["bits"][2]],
        "on others": [row for row in rows if not row["bits"][0] and row["bits"][2]],
        "none, sure": [row for row in bare if row["ranked"] >= SURE],
        "none": [row for row in bare if row["ranked"] < SURE],
    }


def share(rows: Sequence[dict[str, Any]]) -> str:
    return f"{100 * sum(row['right'] for row in rows) / len(rows):5.1f} % of {len(rows)}" if rows else "none"


if __name__ == "__main__":
    main()
