"""Learn which words are common in issues of any repository, and write them to nodes/search/issue/issue_stop_words.json.

    python -m benchmarks.ranking.issue_stop_words --data ISSUES.csv

ISSUES has the columns repo, title and body, of repositories that the ranking is not measured on. A term's share is the
mean of its shares in each repository without the highest one, so that a project's own words are excluded.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from benchmarks.kinds.examples import LONGEST
from benchmarks.kinds.train import by_first_letter
from nodes.search.issue.query import STOP_WORDS, without_asides
from nodes.search.tokens import query_terms

FEWEST = 2
"""Minimum number of issues out of a hundred; rarer terms count as absent."""


def main() -> None:
    """Count the terms and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="issues as CSV")
    csv.field_size_limit(LONGEST)
    with parser.parse_args().data.open(encoding="utf-8", newline="") as rows:
        words = issue_stop_words(
            (row["repo"], f"{row['title']}\n{without_asides(row['body'])}") for row in csv.DictReader(rows)
        )
    STOP_WORDS.write_text(f"{by_first_letter(words)}\n", encoding="utf-8")
    print(f"wrote {STOP_WORDS}, {len(words)} terms")


def issue_stop_words(issues: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the terms of at least ``FEWEST`` of a hundred issues; each issue is given with its repository."""
    used: defaultdict[str, Counter[str]] = defaultdict(Counter)
    count: Counter[str] = Counter()
    for repository, text in issues:
        used[repository].update(query_terms(text).keys())
        count[repository] += 1
    percent = {
        term: round(100 * sum(sorted(used[name][term] / count[name] for name in used)[:-1]) / max(1, len(used) - 1))
        for term in {term for terms in used.values() for term in terms}
    }
    return {term: percent[term] for term in sorted(percent) if percent[term] >= FEWEST}


if __name__ == "__main__":
    main()
