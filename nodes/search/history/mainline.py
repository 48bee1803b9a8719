"""Read the commits of a branch, merge by merge, and the issues that each message says are closed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nodes.search.git import Repository
from nodes.search.git.objects import checked
from nodes.search.history.log import LOG_FORMAT, RAW, Log, parse_log
from nodes.search.history.types import Commit
from nodes.search.history.versions import first_with, main_releases, read_releases
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections

MAX_ISSUES = 20
"""The maximum number of references per message; a release's list of all its changes is not a fix."""
_FORMS = load_sections(Path(__file__).with_name("mainline.txt"))
_REFERENCE, _KEYWORD, _AND, _NUMBER, _ONLY_REFERENCED = (
    lazy("".join(_FORMS[name]), re.IGNORECASE) for name in "reference keyword and number only_referenced".split()
)
_NOT_A_FIX, _PULL, _PULLED = (lazy("".join(_FORMS[name]), re.IGNORECASE) for name in ("not_a_fix", "pull", "pulled"))
_REVERTS = lazy("".join(_FORMS["reverts"]))
MAX_COMMITS = 100_000
"""The maximum number of commits read, newest first."""
_MAX_LOG = 256_000_000  # bytes of messages
_MERGED = 200  # the maximum number of messages per merge
MAX_NAMING, MAX_READ = 4, 60
"""Maximum number of commits that are returned, and of messages that are read."""


@dataclass(frozen=True, slots=True)
class References:
    """Numbers in a message, each once, in order."""

    closes: tuple[int, ...] = ()
    """Numbers that the message says are fixed, closed or resolved."""
    names: tuple[int, ...] = ()
    """Numbers that the first line only mentions: issues, or the pull requests that contained the change."""


@dataclass(frozen=True, slots=True)
class MainlineCommit:
    """A commit of the first-parent line: a change, a squash, or a merge with the commits that it added."""

    sha: str
    parent: str
    """The branch's previous commit; empty for the first commit."""
    committed: int
    """Seconds since 1970."""
    message: str
    merged: tuple[str, ...] = ()
    """The messages of the commits that a merge added."""

    @property
    def messages(self) -> tuple[str, ...]:
        """The commit's own message, then those of the commits that it added."""
        return (self.message, *self.merged)


@dataclass(frozen=True, slots=True)
class NamingCommit:
    """A commit whose message names an issue."""

    sha: str
    subject: str
    committed: int
    """Seconds since 1970."""
    closes: bool
    """Whether the message says that the commit fixes or closes the issue."""
    pull: int | None = None
    """The pull request that contained the commit, if the first line of its message ends with or begins with it."""
    release: str = ""
    """The first final release that contains the commit; empty if none does."""


def references(message: str, project: str = "") -> References:
    """Read the issues that a message closes; of other projects, only ``project`` (owner/name) counts."""
    subject, _, _ = message.lstrip().partition("\n")
    # A revert quotes the message that it reverts, keywords included; a merge of branches quotes many.
    if _NOT_A_FIX.match(subject):
        return References()
    closes = tuple(dict.fromkeys(_closed(message[:20_000], project.lower())))[:MAX_ISSUES]
    named = tuple(dict.fromkeys(_named(_PULL.sub("", subject[:500]))))
    return References(closes, tuple(number for number in named if number not in closes)[:MAX_ISSUES])


def reverted(message: str) -> tuple[str, ...]:
    """Return the full SHAs of the commits that a message says it reverts."""
    return tuple(_REVERTS.findall(message[:20_000]))


def read_mainline(repository: Repository, tip: str, after: str | None = None) -> list[MainlineCommit]:
    """Return the first-parent line of a commit, newest first; without the commit ``after`` and its ancestors."""
    outside = (f"^{checked(after)}",) if after else ()
    command = ("log", "-z", f"--max-count={MAX_COMMITS}", "--no-show-signature", LOG_FORMAT)
    printed = repository.output(*command, checked(tip), *outside, "--", limit=_MAX_LOG) or b""
    commits = {commit.sha: commit for commit in parse_log(printed)}
    # The walk runs in memory: ``--first-parent`` would omit the commits that merges added.
    line: list[str] = []
    at = tip
    while at in commits:
        line.append(at)
        at = next(iter(commits[at].parents), "")
    added = _commits_of_merges(commits, line)
    found = []
    for sha in line:
        read, merged = commits[sha], tuple(commits[of].message for of in added.get(sha, ())[:_MERGED])
        found.append(MainlineCommit(sha, next(iter(read.parents), ""), read.committed, read.message, merged))
    return found


def files_of(repository: Repository, commits: Sequence[MainlineCommit]) -> dict[str, tuple[str, ...]]:
    """Map SHAs to the paths changed against the first parent; a moved file counts under both names."""
    shas = "".join(f"{commit.sha}\n" for commit in commits).encode()
    command = ("log", "--no-walk=unsorted", "--stdin", "--first-parent", "-m", "--no-renames", *RAW)
    found = repository.output("-c", "log.showRoot=true", *command, stdin=shas) if commits else b""
    return {commit.sha: commit.files for commit in parse_log(found or b"")}


def naming(log: Log, number: int, project: str, since: int) -> tuple[NamingCommit, ...]:
    """Return the latest commits of a history that name an issue, without those that were reverted.

    ``project`` is owner/name, as references may include it. Commits before ``since``, when the issue was opened
    (seconds since 1970), refer to another issue, for example of an old tracker.
    """
    made = main_releases(read_releases(log.repository, log.committed_at))
    found: list[NamingCommit] = []
    for commit in log.mentioning([str(number)], MAX_READ):
        message = f"{commit.subject}\n\n{commit.body}"
        if (
            commit.committed < since
            or not re.search(rf"(?<![\w&])#{number}(?!\w)", message)
            or commit.is_bot
            or commit.subject.startswith("Revert ")
            or log.is_reverted(commit.sha)
        ):
            continue
        pulled = _PULLED.search(commit.subject)
        pull = int(pulled[1] or pulled[2]) if pulled else None
        later = first_with(log.repository, commit.sha, made)
        found.append(
            NamingCommit(
                commit.sha,
                commit.subject,
                commit.committed,
                number in references(message, project).closes,
                pull if pull != number else None,
                str(later.version) if later else "",
            )
        )
        if len(found) == MAX_NAMING:
            break
    return tuple(found)


def _closed(message: str, project: str) -> Iterator[int]:
    for keyword in _KEYWORD.finditer(message):
        found = _REFERENCE.match(message, keyword.end())
        while found:
            other = (found["project"] or found["page"] or project).lower()
            # ``#12`` always means this project. A URL counts for any project if the caller does not know the
            # project's name.
            if other == project or (found["page"] and not project):
                yield int(found["number"])
            comma = _AND.match(message, found.end())
            found = _REFERENCE.match(message, comma.end()) if comma else None


def _named(subject: str) -> Iterator[int]:
    for found in _NUMBER.finditer(subject):
        if not _ONLY_REFERENCED.search(subject[max(0, found.start() - 30) : found.start()]):
            yield int(found["number"])


def _commits_of_merges(commits: Mapping[str, Commit], line: Sequence[str]) -> dict[str, list[str]]:
    """Map each merge to the commits that it first made reachable, the oldest merges first."""
    owned = set(line)
    added: dict[str, list[str]] = {}
    for sha in reversed(line):
        waiting = [parent for parent in commits[sha].parents[1:] if parent not in owned]
        while waiting:
            reached = waiting.pop()
            if reached in commits and reached not in owned:
                owned.add(reached)
                added.setdefault(sha, []).append(reached)
                waiting += commits[reached].parents
    return added
