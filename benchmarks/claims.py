"""Triage issues with known fixes by rules, and compare every report with the repository and the fix.

    python -m benchmarks.claims --repos CLONES --data FILE[=N] [FILE[=N] …]

FILE: JSON lines with id, repo, base_commit, issue, gold_files; N of them, evenly spread. CLONES contains one clone per
repository in a folder named owner+name; the clone may be one level down, in repo. TRIAGE_DATA_DIR stores parse results.

Cited lines are read from the clone with plain git, independently of the code under test, and so is what a reader would
object to (``benchmarks.facts.reading``). Exit code 1 if a cited line is not at its commit, if a claim cites nothing, if
a reader objects to a fact, or if precision or coverage is below its minimum.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.facts.reading import Commit, Reading, read, table
from benchmarks.ranking.examples import clone_with
from bot.cli.backtest.table import by_kind
from bot.runs.context import BlindRun, triage_blind
from nodes.evidence import Evidence
from nodes.search.engine import Engine
from nodes.trust.prose import split

PRECISION, COVERAGE = 0.80, 0.35
"""Minimum precision (share of claims whose file was fixed) and coverage (share of reports with a claim)."""
_CITED = re.compile(r"\bE\d+\b")


@dataclass(frozen=True, slots=True)
class CheckedReport:
    """One report, compared with its repository and its fix."""

    id: str
    kind: str
    confidence: float
    claims: bool
    right: bool
    """Whether the first file of the report was fixed."""
    lines: int
    """Number of cited lines of code."""
    wrong_lines: int
    """Number of cited lines whose text differs at the commit."""
    uncited: int
    """Number of sentences of the cause without a citation."""
    dropped: int
    """Number of claims that the report's own checks removed."""
    seconds: float
    has_headline: bool
    lead: str
    """Kind of the fact that leads the report; empty if none does."""
    reading: Reading


def main() -> None:
    """Run the triages, print the results and exit with 1 on a failure."""
    options = _options()
    rows = [row for given in options.data for row in _read(given)]
    started = time.perf_counter()
    checked = list(_check_all(rows, options.repos, options.cache))
    if options.json:
        print(json.dumps([asdict(one) for one in checked], indent=1))
    else:
        print(_table(checked, time.perf_counter() - started))
    sys.exit(0 if _passes(checked) else 1)


def _check_all(rows: Sequence[dict[str, Any]], clones: Path, cache: Path) -> Iterator[CheckedReport]:
    engines: dict[Path, Engine] = {}
    for number, row in enumerate(sorted(rows, key=lambda row: (row["repo"], row["id"])), 1):
        print(f"\r{number}/{len(rows)} {row['id'][:50]:<50}", end="", file=sys.stderr, flush=True)
        clone = clone_with(clones, row["repo"], row["base_commit"])
        if clone is None:
            print(f"\nleft out: {row['id']}: no clone has its commit", file=sys.stderr)
            continue
        engine = engines.pop(clone, None) or Engine(clone, cache, cache_bytes=2_000_000_000)
        engines = {clone: engine}
        title, _, body = row["issue"].partition("\n")
        yield _check(row, clone, asyncio.run(triage_blind(engine, title, body, row["base_commit"])))
    print(file=sys.stderr)


def _check(row: dict[str, Any], clone: Path, blind: BlindRun) -> CheckedReport:
    report = blind.result.report
    title, _, body = row["issue"].partition("\n")
    numbered = blind.evidence
    sentences = split(report.root_cause or "")
    cited = {name for text in (*sentences, *report.ruled_out) for name in _CITED.findall(text)} | {
        s.evidence for s in report.suspects if s.evidence
    }
    quotes = [_quoted(numbered[name]) for name in sorted(cited) if numbered[name].kind == "code"]
    quotes += [(s.path, s.quote_start, s.quote_end, s.quote) for s in report.suspects]
    checked = [_wrong_lines(clone, row["base_commit"], *quote) for quote in dict.fromkeys(quotes)]
    return CheckedReport(
        id=row["id"],
        kind=report.kind,
        confidence=blind.confidence,
        claims=report.root_cause is not None,
        right=bool(report.suspects) and report.suspects[0].path in row["gold_files"],
        lines=sum(lines for lines, _ in checked),
        wrong_lines=sum(wrong for _, wrong in checked),
        # The sentence of a fact names its line and was verified as a fact.
        uncited=0 if report.headline is not None else sum(not _CITED.search(sentence) for sentence in sentences),
        dropped=blind.result.metrics.claims_dropped,
        seconds=blind.seconds,
        has_headline=report.headline is not None,
        lead=blind.lead,
        reading=read(report, title, body, Commit(clone, row["base_commit"])),
    )


def _quoted(evidence: Evidence) -> tuple[str, int, int, str]:
    where = evidence.locator
    return str(where.path), where.start_line or 0, where.end_line or 0, evidence.quote


def _wrong_lines(clone: Path, commit: str, path: str, start: int, end: int, quote: str) -> tuple[int, int]:
    """Return the number of quoted lines, and of those whose text differs."""
    command = ["git", "-C", str(clone), "cat-file", "blob", f"{commit}:{path}"]
    shown = subprocess.run(command, capture_output=True, check=False)
    try:
        text = shown.stdout.decode()
    except UnicodeDecodeError:
        text = shown.stdout.decode("latin-1")
    there = [line.removesuffix("\r") for line in text.split("\n")[start - 1 : end]]
    quoted = [line.removesuffix("\r") for line in quote.split("\n")]
    if shown.returncode or start < 1 or len(there) != len(quoted):
        return len(quoted), len(quoted)
    return len(quoted), sum(one != other for one, other in zip(there, quoted, strict=True))


def _table(checked: Sequence[CheckedReport], seconds: float) -> str:
    lines, wrong = sum(one.lines for one in checked), sum(one.wrong_lines for one in checked)
    claims = [one for one in checked if one.claims]
    right = sum(one.right for one in claims)
    return "\n".join(
        (
            f"issues                              {len(checked)}  ({seconds:.0f} s)",
            f"cited lines of code                 {lines}, of which {lines - wrong} are at their commit",
            f"sentences that cite nothing         {sum(one.uncited for one in checked)}",
            f"claims dropped in checking          {sum(one.dropped for one in checked)}",
            f"reports that claim a cause          {len(claims)} ({_share(len(claims), len(checked))})",
            f"… whose first file was fixed        {right} ({_share(right, len(claims))})",
            f"first file was fixed, all reports   {(n := sum(o.right for o in checked))} ({_share(n, len(checked))})",
            f"not read as a bug, not searched     {sum(o.kind in ('feature', 'question', 'spam') for o in checked)}",
            *by_kind([(one.lead, one.right) for one in claims]),
            *table([one.reading for one in checked], sum(one.has_headline for one in checked)),
        )
    )


def _passes(checked: Sequence[CheckedReport]) -> bool:
    claims = [one for one in checked if one.claims]
    sound = not any(one.wrong_lines or one.uncited or one.reading.faults for one in checked)
    enough = len(claims) >= COVERAGE * len(checked)
    return sound and enough and sum(one.right for one in claims) >= PRECISION * len(claims)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _read(given: str) -> list[dict[str, Any]]:
    """Return the rows of a file, or the given number of them, evenly spread."""
    name, _, wanted = given.partition("=")
    rows = [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]
    count = min(int(wanted or len(rows)), len(rows))
    return [rows[number * len(rows) // count] for number in range(count)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, help="folder of clones")
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE[=N]", help="issues as JSON lines")
    parser.add_argument("--json", action="store_true", help="every report instead of the table")
    kept = Path(os.environ.get("TRIAGE_DATA_DIR") or tempfile.gettempdir()) / "repos"
    parser.add_argument("--cache", type=Path, default=kept, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
