"""Query git for commits and line histories; every walk is limited by a number of commits, never by time."""

import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from nodes.search.git import Repository
from nodes.search.git.errors import SearchError
from nodes.search.git.objects import checked, decode, is_sha
from nodes.search.history.types import Commit

_NOREPLY = re.compile(r"(?:\d{1,20}\+)?([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))@users\.noreply\.[A-Za-z0-9.-]{1,100}")
_ADDRESS = re.compile(r"[^\s@<>]{1,100}@[^\s@<>]{1,200}")
_BOT = re.compile(
    r"\[bot\]|(?:^|[\s_-])bot$|^(?:dependabot|renovate|greenkeeper|github[- ]actions?|pre-commit-ci|pyup|imgbot|"
    r"weblate|transifex|travis|jenkins|semantic-release|allcontributors|mergify|bors|homu|codecov|snyk)\b",
    re.IGNORECASE,
)
UNKNOWN = "someone without a name"
LOG_FORMAT = "--format=%H%x00%P%x00%ct%x00%aN%x00%aE%x00%B%x00"
_FIELDS = 6
WINDOW = 3_000
"""The number of commits back to which blame goes; older lines only count as old."""
DEEPEST = 10_000
"""The maximum number of commits back to which the issue's range is followed line by line."""
MAX_IGNORED = 1_000
# The git configuration of the user must not change the result.
_PLAIN = (
    *("-c", "diff.algorithm=myers", "-c", "diff.indentHeuristic=true", "-c", "core.quotePath=false"),
    *("-c", "log.follow=false", "-c", "log.showRoot=true", "-c", "blame.ignoreRevsFile="),
)
# Options against programs that a repository or a user can configure: converters, diff drivers and gpg.
_NOTHING_RUNS = ("--no-textconv", "--no-ext-diff", "--no-show-signature")
RAW: tuple[str, ...] = ("-z", "--raw", "--no-abbrev", LOG_FORMAT, *_NOTHING_RUNS)


@dataclass(frozen=True, slots=True)
class Blamed:
    """The commits that wrote the lines of one file."""

    lines: dict[int, str]
    """Maps a 1-based line to the commit's SHA; lines older than the walk are absent."""
    paths: tuple[str, ...]
    """The file's names during the walk."""


class Log:
    """The history of one commit."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self.repository = repository
        self.commit = checked(commit)

    @cached_property
    def ignored(self) -> frozenset[str]:
        """Commits that the repository asks blame to ignore (``.git-blame-ignore-revs``)."""
        text = self.repository.text(self.commit, ".git-blame-ignore-revs") or ""
        lines = (line.split("#", 1)[0].strip().lower() for line in text.split("\n"))
        return frozenset(islice(filter(is_sha, lines), MAX_IGNORED))

    @cached_property
    def shallow(self) -> frozenset[str]:
        """Commits at which a shallow clone ends; blame would attribute all older lines to them."""
        if not self.repository.shallow:
            return frozenset()
        return frozenset((self._git("rev-list", "--max-parents=0", self.commit) or b"").decode().split())

    @cached_property
    def committed_at(self) -> int:
        """The time of the commit, in seconds since 1970."""
        return next((commit.committed for commit in self.details([self.commit])), 0)

    def horizon(self, back: int = WINDOW) -> str | None:
        """Return the commit this many commits back, or None if the history is shorter."""
        return self._sha("rev-list", f"--skip={back}", "--max-count=1", self.commit)

    def between(self, start: str | None, end: str) -> frozenset[str]:
        """Return the commits after ``start`` up to ``end``, limited to the newest ones."""
        found = self._git("rev-list", f"--max-count={DEEPEST}", *span(start, end))
        return frozenset((found or b"").decode().split())

    def before(self, moment: int) -> str | None:
        """Return the last first-parent commit made by a time (seconds since 1970)."""
        # The @ makes git read any number as seconds since 1970; it guesses the format of small numbers otherwise.
        until = f"--before=@{max(0, moment)} +0000"
        return self._sha("rev-list", "--first-parent", "--max-count=1", until, self.commit)

    def merge_base(self, commit: str) -> str | None:
        """Return the merge base with another commit; the other commit itself if it is an ancestor."""
        return commit if commit == self.commit else self._sha("merge-base", checked(commit), self.commit)

    def is_ancestor(self, commit: str) -> bool:
        """Return whether a commit is part of this history."""
        command = ("merge-base", "--is-ancestor", checked(commit), self.commit)
        return commit == self.commit or self._git(*command) is not None

    def touching(self, paths: Sequence[str], start: str | None, end: str, limit: int) -> list[Commit] | None:
        """Return the latest commits that change one of the paths, without merges; None if git fails."""
        # The commits at which a shallow clone ends are left out: git lists all their files as changed.
        command = ("log", "--no-merges", f"--max-count={limit}", "--no-renames", *RAW, *span(start, end), "--")
        found = self._git(*command, *map(os.fsencode, paths))
        if found is None:
            return None
        return [commit for commit in parse_log(found) if commit.files and commit.sha not in self.shallow]

    def mentioning(self, numbers: Sequence[str], limit: int = 20) -> list[Commit]:
        """Return the latest commits, including merges, whose messages contain ``#`` and a number, or a ticket's key."""
        requested = (f"--grep={'#' * number.isdigit()}{number}" for number in numbers)
        command = ("log", "--fixed-strings", *requested, f"--max-count={limit}", "--no-renames", *RAW)
        found = self._git(*command, *span(self.horizon(DEEPEST), self.commit))
        return list(parse_log(found or b""))

    def resolved(self, prefix: str) -> str | None:
        """Return the commit of this history whose SHA begins so; None if there is none."""
        try:
            sha = self.repository.resolve(prefix)
        except SearchError:
            return None
        # A branch or tag may have a name that looks like a SHA.
        return sha if sha.startswith(prefix) and self.is_ancestor(sha) else None

    def is_reverted(self, change: str) -> bool:
        """Return whether a later commit of this history says that it reverts a change."""
        command = ("log", "--fixed-strings", f"--grep=This reverts commit {checked(change)}", "--max-count=1")
        return bool(self._git(*command, "--format=%H", "--no-show-signature", *span(change, self.commit)))

    def merged(self, merge: str, limit: int = 20) -> list[str]:
        """Return the commits that a merge added to its first parent; empty if it is not a merge."""
        found = self._git("rev-list", "--no-merges", f"--max-count={limit}", checked(merge), f"^{checked(merge)}^1")
        return (found or b"").decode().split()

    def details(self, shas: Iterable[str]) -> list[Commit]:
        """Return commits by their SHAs, with every file they change; missing commits are left out."""
        requested, known = list(dict.fromkeys(shas)), self.repository.known
        # Another history of this commit may have read them; authors depend on its mailmap.
        commits = {sha: commit for sha in requested if (commit := known.get(("commit", self.commit, sha)))}
        query = "".join(checked(sha) + "\n" for sha in requested if sha not in commits)
        if query:
            # -M100% compares only blob ids; a lower threshold would read the blobs.
            found = self._git("log", "--no-walk=unsorted", "--stdin", "-M100%", *RAW, stdin=query.encode())
            for commit in parse_log(found or b""):
                commits[commit.sha] = commit
                size = 1_000 + len(commit.message) + 100 * len(commit.files)
                known.keep(("commit", self.commit, commit.sha), commit, size)
        # In the requested order; a shallow or partial clone lacks some commits.
        return [commits[sha] for sha in requested if sha in commits]

    def person(self, address: str) -> str:
        """Return the public name that the mailmap has for an address; empty if it has none."""
        found = (self._git("check-mailmap", f"<{address}>") or b"").decode("utf-8", "replace")
        name, _, proper = found.strip().removesuffix(">").rpartition("<")
        return shown(name, proper) if name or "noreply" in proper else ""

    def blame(self, path: str, ranges: Sequence[tuple[int, int]], start: str | None) -> Blamed | None:
        """Blame lines (1-based, inclusive) of a file, as far back as ``start``; None if git fails."""
        lines = [argument for first, last in ranges for argument in ("-L", f"{first},{last}")]
        with tempfile.NamedTemporaryFile("w", suffix=".revs") as ignored:
            ignored.writelines(f"{sha}\n" for sha in sorted(self.ignored))
            ignored.flush()
            # Paths are passed as bytes because a file name need not be UTF-8.
            where: tuple[str | bytes, ...] = (*lines, *span(start, self.commit), "--", os.fsencode(path))
            command = ("blame", "--incremental", "--no-textconv", "--ignore-revs-file", ignored.name)
            # The name of the temporary file differs in each call, so it is not part of the cache's key; its content
            # depends on the commit only.
            found = self._git(*command, *where, cache_key=("blame", *where))
        return None if found is None else parse_blame(found, self.shallow)

    def of_lines(self, path: str, ranges: Sequence[tuple[int, int]], start: str | None, limit: int) -> list[str] | None:
        """Return the latest commits after ``start`` that changed these lines or their earlier versions."""
        command = ("log", "-s", "--no-merges", f"--max-count={limit}", "--format=%H", *_NOTHING_RUNS)
        lines = (b"-L%d,%d:" % (first, last) + os.fsencode(path) for first, last in ranges)
        found = self._git(*command, *lines, *span(start, self.commit))
        return None if found is None else found.decode().split()

    def _sha(self, *command: str) -> str | None:
        found = (self._git(*command) or b"").decode().split()
        return found[0] if found else None

    def _git(self, *command: str | bytes, stdin: bytes = b"", cache_key: Hashable = None) -> bytes | None:
        # In the folder of a clone git would prefer the mailmap of the work tree to that of the commit.
        place = ("-C", str(self.repository.git_directory)) if self.repository.git_directory else ()
        mailmap = ("-c", "mailmap.file=", "-c", f"mailmap.blob={self.commit}:.mailmap")
        return self.repository.cached_output(*place, *_PLAIN, *mailmap, *command, stdin=stdin, cache_key=cache_key)


def shown(name: str, address: str) -> str:
    """Return a person's public name: the login of a GitHub noreply address, else the name without any address."""
    login = _NOREPLY.fullmatch(address.strip())
    if login:
        # A login is public already, and it can be mentioned.
        return login[1]
    clean = " ".join(_ADDRESS.sub("", name).split())
    return clean[:80] or UNKNOWN


def is_bot(name: str, address: str) -> bool:
    """Return whether a bot made the commit."""
    return bool(_BOT.search(name.strip()) or "[bot]" in address)


def parse_log(printed: bytes) -> Iterator[Commit]:
    """Parse the output of ``git log -z --raw`` in our format."""
    tokens = printed.split(b"\0")
    at = 0
    while at + _FIELDS <= len(tokens):
        sha = tokens[at].strip(b"\n").decode("ascii", "replace")
        # Unexpected output is skipped up to the next token that is a full id.
        if not is_sha(sha):
            at += 1
            continue
        parents = tuple(tokens[at + 1].decode("ascii", "replace").split())
        committed = int(tokens[at + 2])
        name, address, message = (decode(token) for token in tokens[at + 3 : at + _FIELDS])
        at, changed, renamed = parse_raw(tokens, at + _FIELDS)
        author, is_by_bot = shown(name, address), is_bot(name, address)
        yield Commit(sha, author, committed, message, is_by_bot, parents, tuple(changed), tuple(renamed))


def parse_raw(tokens: Sequence[bytes], at: int) -> tuple[int, list[str], list[str]]:
    """Parse the ``:mode mode blob blob status`` records of one commit; return their end, changed paths, moved paths."""
    changed: list[str] = []
    renamed: list[str] = []
    while at < len(tokens):
        head = tokens[at].lstrip(b"\n")
        if head and not head.startswith(b":"):
            break
        if not head:
            at += 1
            continue
        *_, before, after, status = (b"", b"0", *head.split(b" "))
        # Renames and copies have two paths, the old one first.
        two = status[:1] in (b"R", b"C")
        path = os.fsdecode(tokens[min(at + 1 + two, len(tokens) - 1)])
        # A change of the mode changes no line.
        if before != after or two:
            (renamed if status == b"R100" else changed).append(path)
        at += 2 + two
    return at, changed, renamed


def parse_blame(printed: bytes, unknown: frozenset[str]) -> Blamed:
    """Parse the output of ``git blame --incremental``, without lines of commits in ``unknown`` and older ones."""
    groups: dict[str, list[range]] = defaultdict(list)
    old = set(unknown)
    paths: dict[str, None] = {}
    sha = ""
    for line in printed.split(b"\n"):
        words = line.split(b" ")
        if len(words) == 4 and is_sha(words[0].decode("ascii", "replace")):
            sha = words[0].decode()
            groups[sha].append(range(int(words[2]), int(words[2]) + int(words[3])))
        elif line == b"boundary":
            # git marks the commits at which the walk stops; older commits may have written their lines.
            old.add(sha)
        elif line.startswith(b"filename "):
            paths.setdefault(os.fsdecode(line[9:]))
    lines = {number: sha for sha, runs in groups.items() if sha not in old for run in runs for number in run}
    return Blamed(dict(sorted(lines.items())), tuple(paths))


def span(start: str | None, end: str) -> tuple[str, ...]:
    """Return git's arguments for the commits after ``start`` up to ``end``."""
    return (checked(end),) if start is None else (checked(end), f"^{checked(start)}")
