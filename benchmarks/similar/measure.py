"""Measure how well issues about the same failure are distinguished from others.

python -m benchmarks.similar.measure --repos CLONES DATA.jsonl …

Data are JSON lines with ``repo``, ``issue`` (title on the first line) and ``gold_files``, as for
``benchmarks.ranking.bench``; CLONES contains one clone per repository in a folder ``owner+name``. The data have no
labelled duplicates, so these are measured instead:

- false duplicates: every pair of issues of a repository whose fixes share no file;
- crash variants: an issue's crash as another person pastes it, with other paths, lines, words and title;
- near copies: an issue that its author posted twice, with an edit;
- related: whether a named issue was fixed in one of the same files, compared with chance.

``--csv FILE`` with ``repo``, ``title``, ``body`` lists every pair that would be called a duplicate, for manual review.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nodes.search.issue.fingerprint import fingerprints
from nodes.search.issue.similar import PastIndex, Report, compare
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.paths.project import PathIndex

FETCHED, NAMED = 6, 3
YOUNG, DRAWS = 10, 200


@dataclass(frozen=True)
class Known:
    """An issue with a known fix."""

    id: str
    title: str
    body: str
    fixed: frozenset[str]


def load(files: list[Path]) -> dict[str, list[Known]]:
    """Return the issues by repository, without those with identical texts."""
    found: dict[str, dict[str, Known]] = defaultdict(dict)
    for line in itertools.chain.from_iterable(file.read_text().splitlines() for file in files):
        row = json.loads(line)
        title, _, body = row["issue"].partition("\n")
        found[row["repo"]].setdefault(row["issue"], Known(row["id"], title, body, frozenset(row["gold_files"])))
    return {repo: list(issues.values()) for repo, issues in found.items()}


def paths_of(clones: Path | None, repo: str) -> PathIndex:
    """Return the files of a clone's newest commit, to recognise the repository's own frames."""
    place = clones and clones / repo.replace("/", "+")
    if place is None or not place.exists():
        return PathIndex(())
    place = place / "repo" if (place / "repo").exists() else place
    revs = subprocess.run(
        ["git", "-C", place, "rev-list", "--all", "-1"], capture_output=True, text=True, check=True
    ).stdout.split()
    listed = ["git", "-C", str(place), "ls-tree", "-r", "-z", "--name-only", revs[0]]
    return PathIndex(tuple(subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0")))


def report_of(title: str, body: str, names: PathIndex) -> Report:
    return Report.of(title, body, fingerprints(find_traces(body), names))


class Totals:
    """Counts by name, printed as shares."""

    def __init__(self) -> None:
        self.of: dict[str, list[int]] = defaultdict(lambda: [0, 0])

    def add(self, name: str, *, right: bool) -> None:
        self.of[name][0] += right
        self.of[name][1] += 1

    def show(self) -> None:
        for name, (right, whole) in self.of.items():
            print(f"{name:60} {right:>7} of {whole:>7}  {100 * right / max(whole, 1):6.2f} %")


def measure(repo: str, issues: list[Known], names: PathIndex, totals: Totals) -> None:
    reports = [report_of(issue.title, issue.body, names) for issue in issues]
    past = PastIndex([(number, report.words) for number, report in enumerate(reports)])
    false_duplicates(repo, issues, reports, past, totals)
    related(issues, reports, past, totals)
    for number, issue in enumerate(issues):
        for name, (title, body) in variants(issue, names):
            found_again(name, number, report_of(title, body, names), reports, past, totals)
    with_few_issues(issues, reports, totals)


def false_duplicates(repo: str, issues: list[Known], reports: list[Report], past: PastIndex, totals: Totals) -> None:
    for one, other in itertools.combinations(range(len(issues)), 2):
        if issues[one].fixed & issues[other].fixed:
            continue
        likeness = compare(reports[one], reports[other], past)
        wrong = likeness.relation == "duplicate"
        totals.add("false duplicates among pairs with different fixes", right=wrong)
        totals.add("called related among pairs with different fixes", right=likeness.relation == "related")
        if wrong:
            print("FALSE", repo, issues[one].id, issues[other].id, likeness.why, file=sys.stderr)


def related(issues: list[Known], reports: list[Report], past: PastIndex, totals: Totals) -> None:
    for number, (issue, report) in enumerate(zip(issues, reports, strict=True)):
        older = [near for near in past.nearest(report.words, FETCHED + 1) if near != number]
        judged = [(compare(report, reports[other], past), other) for other in older]
        named = [(like, other) for like, other in judged if like.relation][:NAMED]
        totals.add("issues that get something related named", right=bool(named))
        for _, other in named:
            totals.add("named, and fixed in a file of the issue's fix", right=bool(issue.fixed & issues[other].fixed))
        for other in range(len(issues)):
            if other != number:
                totals.add("  any other issue, fixed in such a file", right=bool(issue.fixed & issues[other].fixed))


def found_again(
    name: str, number: int, variant: Report, reports: list[Report], past: PastIndex, totals: Totals
) -> None:
    near = past.nearest(variant.words, FETCHED)
    judged = compare(variant, reports[number], past).relation if number in near else None
    totals.add(f"{name}: found among the nearest {FETCHED}", right=number in near)
    totals.add(f"{name}: called a duplicate", right=judged == "duplicate")
    totals.add(f"{name}: called a duplicate or related", right=judged is not None)


def with_few_issues(issues: list[Known], reports: list[Report], totals: Totals) -> None:
    """Measure a repository on the day of its installation, which has few issues to compute word frequencies from."""
    chance = random.Random(len(issues))
    for _ in range(DRAWS if len(issues) > YOUNG else 0):
        drawn = chance.sample(range(len(issues)), YOUNG + 1)
        past = PastIndex([(number, reports[number].words) for number in drawn[1:]])
        for other in drawn[1:]:
            if not issues[drawn[0]].fixed & issues[other].fixed:
                likeness = compare(reports[drawn[0]], reports[other], past)
                totals.add(f"with {YOUNG} past issues: false duplicates", right=likeness.relation == "duplicate")
                totals.add(f"with {YOUNG} past issues: called related", right=likeness.relation == "related")


def variants(issue: Known, names: PathIndex) -> Iterator[tuple[str, tuple[str, str]]]:
    traces = [trace for trace in find_traces(issue.body) if fingerprints([trace], names)]
    if traces:
        basis = {one.basis for trace in traces for one in fingerprints([trace], names)}
        kind = "frames" if "frames" in basis else "message"
        pasted = "\n\n".join(issue.body[trace.start : trace.end] for trace in traces)
        yield f"crash by {kind}, elsewhere", ("Crashes since the update", _as_report(_elsewhere(pasted)))
        yield f"crash by {kind}, other program", (issue.title, _as_report(_deeper(_elsewhere(pasted))))
    if len(issue.body.split()) >= 40:
        yield "near copy", (f"[Bug]: {issue.title}", _edited(issue.body))


def _as_report(pasted: str) -> str:
    return f"Hello,\n\nafter updating I get this whenever I start it:\n\n```\n{pasted}\n```\n\nAny help is welcome.\n"


def _elsewhere(pasted: str) -> str:
    """Return a trace with other lines, another machine and other addresses."""
    moved = re.sub(r"(line |:)(\d{1,6})\b", lambda found: f"{found[1]}{int(found[2]) + 17}", pasted)
    moved = re.sub(r"(?<![\w.])/(?:home|Users|usr|opt|root|tmp|private|var)/", "/srv/app/python/", moved)
    return re.sub(r"0x[0-9a-f]{6,16}", "0x7fdeadbeef00", moved)


def _deeper(pasted: str) -> str:
    """Return a Python traceback with a caller of the reporter's own at its outer end."""
    head = "Traceback (most recent call last):\n"
    return pasted.replace(head, f'{head}  File "/srv/mine/run_all.py", line 7, in <module>\n    main()\n')


def _edited(body: str) -> str:
    """Return a body without each fifth paragraph and with an additional one."""
    kept = [part for number, part in enumerate(body.split("\n\n")) if number % 5 != 3]
    return "\n\n".join((*kept, "Edit: it still happens with the newest release, on two machines of mine."))


def list_pairs(file: Path) -> None:
    csv.field_size_limit(1 << 30)
    by: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in csv.DictReader(file.open()):
        by[row["repo"]].append((row["title"] or "", row["body"] or ""))
    for repo, issues in by.items():
        reports = [report_of(title, body, PathIndex(())) for title, body in issues]
        past = PastIndex([(number, report.words) for number, report in enumerate(reports)])
        pairs = list(itertools.combinations(range(len(issues)), 2))
        likes = [(compare(reports[one], reports[other], past), one, other) for one, other in pairs]
        named = [(like, one, other) for like, one, other in likes if like.relation == "duplicate"]
        close = sum(like.relation == "related" for like, _, _ in likes)
        print(f"{repo}: {len(issues)} issues, {len(pairs)} pairs, {len(named)} called duplicates, {close} related")
        for like, one, other in named:
            print(
                f"  {like.score:.2f}  {issues[one][0][:90]!r}  {issues[other][0][:90]!r}  ({one}, {other}; {like.why})"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--repos", type=Path)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    totals = Totals()
    for repo, issues in load(given.data).items():
        if len(issues) > 1:
            measure(repo, issues, paths_of(given.repos, repo), totals)
    totals.show()
    if given.csv:
        list_pairs(given.csv)


if __name__ == "__main__":
    main()
