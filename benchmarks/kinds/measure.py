"""Measure the kinds that `triage classify` assigns, including the rules for rare kinds, on labelled issues.

    python -m benchmarks.kinds.measure --data ISSUES.csv …

The figures are only meaningful for issues that were not used in training.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

from benchmarks.kinds.examples import read_examples
from benchmarks.kinds.scores import Guess, acted_on, reliability, table
from nodes.issue.kinds.classify import classify
from nodes.issue.kinds.model import LEARNT


def main() -> None:
    """Classify every issue and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="labelled issues, as CSV or JSONL")
    examples = read_examples(parser.parse_args().data)
    started = time.process_time()
    found = [classify(one.title, one.body) for one in examples]
    each = 1000 * (time.process_time() - started) / max(len(examples), 1)
    guesses = [
        Guess(one.source, one.kind, judged.kind, judged.confidence, judged.bug_rather_than_feature)
        for one, judged in zip(examples, found, strict=True)
    ]
    print(table("as it ships", guesses))
    print(acted_on(guesses), reliability(guesses), sep="\n")
    rare = Counter(guess.judged for guess in guesses if guess.judged not in LEARNT)
    print(f"classified as a rare kind: {dict(sorted(rare.items()))}; {each:.2f} ms an issue")


if __name__ == "__main__":
    main()
