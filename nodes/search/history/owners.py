"""Find who knows the code of a place: CODEOWNERS first, then authors of its lines and of recent changes."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from nodes.search.git import Repository
from nodes.search.git.objects import decode
from nodes.search.history.log import Log
from nodes.search.history.types import Commit, Owner, Spot, Touched
from nodes.search.history.weigh import YEAR, is_sweep
from nodes.search.paths.globs import path_matches
from nodes.search.types import Reason

FILES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""The paths in the order in which GitHub tries them; only the first that exists is used."""
MAX_RULES = 20_000
_OWNER = re.compile(r"@[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:/[A-Za-z0-9._-]{1,100})?|[^\s@]{1,100}@[^\s@]{1,200}")
_WILDCARD = re.compile(r"[*?\\]")
_FIELD = re.compile(r"(?:\\.|[^\s\\]|\\$)+")
SHOWN = 3
LAST_CHANGES = 10
"""The number of changes of a file that count as recent."""
MAX_CHANGES = 400
"""The maximum number of commits to these files that are searched for recent changes."""
LISTED, WROTE, CHANGED = 2.0, 1.0, 1.0
HALF_LIFE = 2
"""Years after which the authorship of a line counts half."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line: a pattern and the owners of what it matches."""

    pattern: str
    """As written, except that a space has no backslash."""
    owners: tuple[str, ...]
    """Users and teams with ``@``, or email addresses; empty if the line removes owners."""


def parse_codeowners(text: str) -> tuple[Rule, ...]:
    """Parse a CODEOWNERS file; as on GitHub, an invalid line is skipped."""
    found = (_rule(raw[:2_000]) for raw in text.removeprefix("\ufeff").split("\n"))
    return tuple(islice(filter(None, found), MAX_RULES))


def owners_of(rules: Sequence[Rule], path: str) -> Rule | None:
    """Return the rule that decides for a path, which is the last that matches; it may have no owners."""
    return next((rule for rule in reversed(rules) if _matches(rule.pattern, path)), None)


def recent_changes(log: Log, spots: Sequence[Spot], since: str | None) -> list[Commit]:
    """Return the latest commits after ``since`` that change one of the files."""
    paths = sorted({spot.path for spot in spots})
    return log.touching(paths, since, log.commit, MAX_CHANGES) or [] if paths else []


def find_owners(log: Log, touched: Sequence[Touched], recent: Sequence[Commit]) -> tuple[Owner, ...]:
    """Rank the people who know the places, best first, also by the recent changes of their files."""
    found: dict[str, list[Reason]] = defaultdict(list)
    _, rules = read_rules(log.repository, log.commit)
    authored = {sha for place in touched for sha in place.lines.values()} - log.ignored
    commits = {commit.sha: commit for commit in log.details(sorted(authored))}
    seen: set[str] = set()
    for number, place in enumerate(touched):
        # Rounded, so that sums do not differ between machines in the last bits.
        weight = round(place.spot.weight / (1 + number), 6)
        # Two places of one file must not count its rule and its recent changes twice.
        if place.spot.path not in seen:
            seen.add(place.spot.path)
            authors = _recent_authors(recent, place.spot.path, weight, log)
            for name, reason in (*_listed(rules, place.spot, weight, log), *authors):
                found[name].append(reason)
        for name, reason in _authors(place, commits, weight, log.committed_at):
            found[name].append(reason)
    owners = [_owner(name, reasons) for name, reasons in found.items()]
    return tuple(sorted(owners, key=lambda owner: (-round(owner.score, 6), owner.name))[:SHOWN])


def read_rules(repository: Repository, commit: str) -> tuple[str, tuple[Rule, ...]]:
    """Return the path and the rules of a commit's CODEOWNERS file; both are empty if there is none."""
    present = {entry.path for entry in repository.under(commit, *FILES)}
    path = next((path for path in FILES if path in present), "")
    content = repository.read_file(commit, path) if path else None
    return path, parse_codeowners(decode(content or b""))


def _rule(raw: str) -> Rule | None:
    fields = _FIELD.findall(raw)
    if not fields or fields[0].startswith(("#", "!", "\\#")) or "[" in fields[0] or "]" in fields[0]:
        return None  # GitHub supports neither negation nor character ranges, nor an escaped hash
    owners: list[str] = []
    for field in fields[1:]:
        if field.startswith("#"):
            break
        if not _OWNER.fullmatch(field):
            return None
        owners.append(field)
    pattern = fields[0].replace("\\ ", " ")
    return Rule(pattern, tuple(owners)) if pattern.strip("/") else None


def _matches(pattern: str, path: str) -> bool:
    # Most rules of a long file are excluded by their first letters, without compiling a pattern.
    if _WILDCARD.split(pattern.strip("/"), maxsplit=1)[0] not in path:
        return False
    # Unlike in ``.gitignore``, ``docs/*`` does not match what is in a folder below ``docs``.
    is_direct = pattern.endswith("/*") and "**" not in pattern
    return path_matches(path, (pattern,)) and not (is_direct and path.count("/") > pattern.strip("/").count("/"))


def _owner(name: str, reasons: Sequence[Reason]) -> Owner:
    ordered = tuple(sorted(reasons, key=lambda reason: (-reason.contribution, reason.kind, reason.text)))
    return Owner(name, sum(reason.contribution for reason in ordered), ordered)


def _listed(rules: Sequence[Rule], spot: Spot, weight: float, log: Log) -> Iterator[tuple[str, Reason]]:
    rule = owners_of(rules, spot.path)
    for owner in rule.owners if rule else ():
        name = owner if owner.startswith("@") else log.person(owner)
        if name and rule:
            yield name, Reason("codeowners", f"CODEOWNERS assigns `{rule.pattern}`", LISTED * weight)


def _authors(place: Touched, commits: Mapping[str, Commit], weight: float, now: int) -> Iterator[tuple[str, Reason]]:
    lines: dict[str, int] = defaultdict(int)
    recency: dict[str, float] = defaultdict(float)
    for sha in place.lines.values():
        commit = commits.get(sha)
        # The author of a mass edit does not know all the code that it changes.
        if commit is None or commit.is_bot or is_sweep(commit):
            continue
        lines[commit.author] += 1
        recency[commit.author] += 0.5 ** (max(0, now - commit.committed) / YEAR / HALF_LIFE)
    spot = place.spot
    total = max(1, spot.end_line - spot.start_line + 1)
    name = f"of `{spot.symbol}`" if spot.symbol else f"L{spot.start_line}-L{spot.end_line} of `{spot.path}`"
    for author, count in sorted(lines.items()):
        text = f"wrote {count} of the {total} lines {name}"
        yield author, Reason("blame", text, round(WROTE * weight * min(1.0, recency[author] / total), 6))


def _recent_authors(commits: Sequence[Commit], path: str, weight: float, log: Log) -> Iterator[tuple[str, Reason]]:
    changing = (commit for commit in commits if path in commit.files and commit.sha not in log.ignored)
    of_path = [commit for commit in changing if not commit.is_bot][:LAST_CHANGES]
    counts = Counter(commit.author for commit in of_path)
    for author, count in sorted(counts.items()):
        of = f"{count} of the last {len(of_path)} changes" if len(of_path) > 1 else "the last change"
        text = f"made {of} of `{path}`"
        # The divisor is at least half of LAST_CHANGES, so that the only change of a file counts little.
        yield author, Reason("late", text, round(CHANGED * weight * count / max(len(of_path), LAST_CHANGES // 2), 6))
