"""Find who knows the code of a place: CODEOWNERS first, then authors of its lines and of recent file changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from nodes.search.history.codeowners import FILES, LARGEST, owners_of, parse_codeowners
from nodes.search.history.people import shown
from nodes.search.history.types import Owner
from nodes.search.history.weigh import MASS, YEAR
from nodes.search.types import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nodes.search.history.codeowners import Rule
    from nodes.search.history.log import Log
    from nodes.search.history.touched import Touched
    from nodes.search.history.types import Commit, Spot

SHOWN = 3
LAST_CHANGES = 10
"""The number of changes of a file that count as recent."""
MOST_CHANGES = 400
"""The maximum number of commits to these files that are searched for recent changes."""
LISTED, WROTE, CHANGED = 2.0, 1.0, 1.0
HALF_LIFE = 2
"""Years after which the authorship of a line counts half."""


def find_owners(log: Log, touched: Sequence[Touched], since: str | None) -> tuple[Owner, ...]:
    """Rank the people who know the places, best first.

    Args:
        log: the history to read.
        touched: the authors of changes to the places; the first place counts most.
        since: only changes after this commit count as recent.
    """
    found: dict[str, list[Reason]] = defaultdict(list)
    rules = read_rules(log)
    wrote = {sha for place in touched for sha in place.lines.values()} - log.ignored
    commits = {commit.sha: commit for commit in log.details(sorted(wrote))}
    paths = sorted({place.spot.path for place in touched})
    late = log.touching(paths, since, log.commit, MOST_CHANGES) or [] if paths else []
    seen: set[str] = set()
    for number, place in enumerate(touched):
        weight = round(place.spot.weight / (1 + number), 6)
        if place.spot.path not in seen:
            seen.add(place.spot.path)
            for name, reason in (*_listed(rules, place.spot, weight, log), *_late(late, place.spot.path, weight, log)):
                found[name].append(reason)
        for name, reason in _wrote(place, commits, weight, log.committed_at):
            found[name].append(reason)
    owners = [_owner(name, reasons) for name, reasons in found.items()]
    return tuple(sorted(owners, key=lambda owner: (-round(owner.score, 6), owner.name))[:SHOWN])


def read_rules(log: Log) -> tuple[Rule, ...]:
    """Parse the first CODEOWNERS file that exists in the commit."""
    for path in FILES:
        entry = log.repository.entry(log.commit, path)
        if entry is not None:
            content = log.repository.read_file(log.commit, path) if entry.size <= LARGEST else None
            return parse_codeowners((content or b"").decode("utf-8", "replace"))
    return ()


def _owner(name: str, reasons: Sequence[Reason]) -> Owner:
    ordered = tuple(sorted(reasons, key=lambda reason: (-reason.contribution, reason.kind, reason.text)))
    return Owner(name, sum(reason.contribution for reason in ordered), ordered)


def _listed(rules: Sequence[Rule], spot: Spot, weight: float, log: Log) -> Iterator[tuple[str, Reason]]:
    rule = owners_of(rules, spot.path)
    for owner in rule.owners if rule else ():
        name = owner if owner.startswith("@") else _without_address(owner, log)
        if name and rule:
            yield name, Reason("codeowners", f"CODEOWNERS assigns `{rule.pattern}`", LISTED * weight)


def _without_address(address: str, log: Log) -> str:
    """Return the name for an address in CODEOWNERS if the mailmap has it; the address itself is never shown."""
    name, proper = log.mailmap.proper("", address)
    return shown(name, proper) if name or "noreply" in proper else ""


def _wrote(place: Touched, commits: Mapping[str, Commit], weight: float, now: int) -> Iterator[tuple[str, Reason]]:
    lines: dict[str, int] = defaultdict(int)
    worth: dict[str, float] = defaultdict(float)
    for sha in place.lines.values():
        commit = commits.get(sha)
        if commit is None or commit.is_bot or _is_mass_change(commit):
            continue
        lines[commit.author] += 1
        worth[commit.author] += 0.5 ** (max(0, now - commit.committed) / YEAR / HALF_LIFE)
    whole = max(1, place.spot.end_line - place.spot.start_line + 1)
    name = f"`{place.spot.symbol or place.spot.path}`"
    for author, count in sorted(lines.items()):
        text = f"wrote {count} of the {whole} lines of {name}"
        yield author, Reason("blame", text, round(WROTE * weight * min(1.0, worth[author] / whole), 6))


def _late(commits: Sequence[Commit], path: str, weight: float, log: Log) -> Iterator[tuple[str, Reason]]:
    mine = [
        commit for commit in commits if path in commit.files and not commit.is_bot and commit.sha not in log.ignored
    ]
    mine = mine[:LAST_CHANGES]
    counts = Counter(commit.author for commit in mine)
    for author, count in sorted(counts.items()):
        of = f"{count} of the last {len(mine)} changes" if len(mine) > 1 else "the last change"
        text = f"made {of} of `{path}`"
        # The divisor is at least half of LAST_CHANGES, so that the only change of a file counts little.
        yield author, Reason("late", text, round(CHANGED * weight * count / max(len(mine), LAST_CHANGES // 2), 6))


def _is_mass_change(commit: Commit) -> bool:
    # The author of a mass edit does not know all the code that it changes.
    return len(commit.files) + len(commit.renamed) > MASS
