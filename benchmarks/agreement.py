"""Fit the table of agreement (``nodes/context/agreement.json``) to a model's readings of code, and store it.

`triage backtest` does so for a model that answers; this program reads the results of single runs.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.cli.backtest.command import LEAST, fit, reading, store
from nodes.context.agreement import Opinions


@dataclass(frozen=True, slots=True)
class Observed:
    """One run: what search, model and critic said, and whether the first place was right."""

    name: str
    numbers: dict[str, float]
    """The probabilities and signs of the last reading of the code, as the trace holds them."""
    verdict: str
    """The critic's last verdict; empty if no critic ran."""
    claimed: bool
    right: bool

    @property
    def reading(self) -> tuple[Opinions, bool] | None:
        """The reading to learn from; None if a critic rejects it, because then nothing is claimed."""
        opinions = reading({**self.numbers, "approved": float(self.verdict == "APPROVED")})
        return None if self.verdict == "REJECTED" or opinions is None else (opinions, self.right)


def observe(results: Path, data: Path) -> Iterator[Observed]:
    """Yield the runs of a folder whose issue is in the data; a result without a reading by a model is left out."""
    rows = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines() if line.strip()]
    fixed = {_key(row["id"]): set(row["gold_files"]) for row in rows}
    for file in sorted(results.glob("*.llm.json")):
        name, result = file.name.removesuffix(".llm.json"), json.loads(file.read_text(encoding="utf-8"))
        read = [one["scores"] for one in result.get("trace", ()) if "model" in one.get("scores", {})]
        if name in fixed and read:
            yield _observed(name, result, read[-1], fixed[name])


def _observed(name: str, result: dict[str, Any], numbers: dict[str, float], fixed: set[str]) -> Observed:
    report, critique = result["report"], result.get("critique") or {}
    first = report["suspects"][0]["path"] if report["suspects"] else ""
    return Observed(name, numbers, str(critique.get("verdict", "")), bool(report["root_cause"]), first in fixed)


def _key(name: str) -> str:
    """Return the name of an issue's files: the end of its id."""
    return re.sub(r"[^\w.-]", "-", name.rsplit("__", maxsplit=1)[-1])


def main() -> None:
    """Print the observations and the fitted table; write the table if a file is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="issues with their fixes, as JSON lines")
    parser.add_argument("results", type=Path, help="a folder with NAME.llm.json of each issue")
    parser.add_argument("--model", default="", help="the model's name; the shipped table has none")
    parser.add_argument("--write", type=Path, help="where to store the table")
    options = parser.parse_args()
    runs = list(observe(options.results, options.data))
    for one in runs:
        shown = " ".join(f"{name} {value:g}" for name, value in one.numbers.items())
        print(f"{one.name}: {shown} critic {one.verdict or '-'} claimed {one.claimed:d} right {one.right:d}")
    readings = [one.reading for one in runs if one.reading is not None]
    table = fit(readings, options.model)
    print(f"{len(readings)} readings, {sum(right for _, right in readings)} of them right")
    if table is None:
        print(f"{LEAST} readings are needed to fit the table")
    elif options.write:
        store(table, options.write)


if __name__ == "__main__":
    main()
