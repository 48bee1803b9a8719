"""Query git for commits and line histories; every walk is limited by a number of commits, never by time."""

from __future__ import annotations

import os
import tempfile
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from nodes.search.history.printed import (
    LOG_FORMAT,
    Mailmap,
    checked,
    is_bot,
    parse_blame,
    parse_ignored,
    parse_log,
    parse_mailmap,
    shown,
)
from nodes.search.history.types import Commit

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from nodes.search.git import Repository
    from nodes.search.history.printed import Blamed, Entry

WINDOW = 3_000
"""The number of commits back to which blame goes; older lines only count as old."""
DEEPEST = 10_000
"""The maximum number of commits back to which the issue's range is followed line by line."""
MAX_IGNORED = 1_000
_BODY = 4_000
# The git configuration of the user must not change the result.
_PLAIN = (
    *("-c", "diff.algorithm=myers", "-c", "diff.indentHeuristic=true", "-c", "core.quotePath=false"),
    *("-c", "log.follow=false", "-c", "log.showRoot=true", "-c", "blame.ignoreRevsFile="),
)
# Options against programs that a repository or a user can configure: converters, diff drivers and gpg.
_NOTHING_RUNS = ("--no-textconv", "--no-ext-diff", "--no-show-signature")
_RAW: tuple[str, ...] = ("-z", "--raw", "--no-abbrev", LOG_FORMAT, *_NOTHING_RUNS)


class Log:
    """The history of one commit."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self.repository = repository
        self.commit = checked(commit)
        self._commits: dict[str, Commit] = {}
        self._ranges: dict[tuple[str, ...], frozenset[str]] = {}

    @cached_property
    def mailmap(self) -> Mailmap:
        """The repository's mailmap of names and addresses."""
        return parse_mailmap(self._text(".mailmap"))

    @cached_property
    def ignored(self) -> frozenset[str]:
        """Commits that the repository asks blame to ignore (``.git-blame-ignore-revs``)."""
        return frozenset(islice(parse_ignored(self._text(".git-blame-ignore-revs")), MAX_IGNORED))

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
        query = (f"--max-count={DEEPEST}", *span(start, end))
        # Several checks need the same range, and a walk of 10,000 commits is expensive.
        if query not in self._ranges:
            self._ranges[query] = frozenset((self._git("rev-list", *query) or b"").decode().split())
        return self._ranges[query]

    def before(self, moment: int) -> str | None:
        """Return the last first-parent commit made by a time (seconds since 1970)."""
        # The @ makes git read any number as seconds since 1970; it guesses the format of small numbers otherwise.
        return self._sha(
            "rev-list", "--first-parent", "--max-count=1", f"--before=@{max(0, moment)} +0000", self.commit
        )

    def merge_base(self, commit: str) -> str | None:
        """Return the merge base with another commit; the other commit itself if it is an ancestor."""
        return self._sha("merge-base", checked(commit), self.commit)

    def is_ancestor(self, commit: str) -> bool:
        """Return whether a commit is part of this history."""
        return self._git("merge-base", "--is-ancestor", checked(commit), self.commit) is not None

    def touching(self, paths: Sequence[str], start: str | None, end: str, limit: int) -> list[Commit] | None:
        """Return the latest commits that change one of the paths, without merges; None if git fails.

        The commits at which a shallow clone ends are left out: git lists all their files as changed.
        """
        command = ("log", "--no-merges", f"--max-count={limit}", "--no-renames", *_RAW, *span(start, end), "--")
        found = self._git(*command, *map(os.fsencode, paths))
        return (
            None
            if found is None
            else [self._commit(entry) for entry in parse_log(found) if entry.sha not in self.shallow]
        )

    def mentioning(self, numbers: Sequence[str], limit: int = 20) -> list[Commit]:
        """Return the latest commits, including merges, whose messages contain ``#`` and one of the numbers."""
        requested = (f"--grep=#{int(number)}" for number in numbers)
        found = self._git(
            *("log", "--fixed-strings", *requested, f"--max-count={limit}", "--no-renames", *_RAW),
            *span(self.horizon(DEEPEST), self.commit),
        )
        return [self._commit(entry) for entry in parse_log(found or b"")]

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
        for sha in requested:
            # Another history of this commit may have read them; authors depend on its mailmap.
            if sha not in self._commits and (commit := known.get(("commit", self.commit, sha))) is not None:
                self._commits[sha] = commit
        query = "".join(checked(sha) + "\n" for sha in requested if sha not in self._commits)
        if query:
            # -M100% compares only blob ids; a lower threshold would read the blobs.
            found = self._git("log", "--no-walk=unsorted", "--stdin", "-M100%", *_RAW, stdin=query.encode())
            for entry in parse_log(found or b""):
                commit = self._commits[entry.sha] = self._commit(entry)
                size = 1_000 + len(commit.body) + 100 * len(commit.files)
                known.keep(("commit", self.commit, entry.sha), commit, size)
        # In the requested order; a shallow or partial clone lacks some commits.
        return [self._commits[sha] for sha in requested if sha in self._commits]

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

    def _commit(self, entry: Entry) -> Commit:
        subject, _, rest = entry.message.strip("\n").partition("\n")
        return Commit(
            sha=entry.sha,
            author=shown(*self.mailmap.proper(entry.name, entry.address)),
            authored=entry.authored,
            committed=entry.committed,
            subject=subject[:300],
            body=rest.strip()[:_BODY],
            is_bot=is_bot(entry.name, entry.address),
            files=entry.changed,
            renamed=entry.renamed,
        )

    def _text(self, path: str) -> str:
        return (self.repository.read_file(self.commit, path) or b"").decode("utf-8", "replace")

    def _sha(self, *command: str) -> str | None:
        found = (self._git(*command) or b"").decode().split()
        return found[0] if found else None

    def _git(self, *command: str | bytes, stdin: bytes = b"", cache_key: Hashable = None) -> bytes | None:
        return self.repository.cached_output(*_PLAIN, *command, stdin=stdin, cache_key=cache_key)


def span(start: str | None, end: str) -> tuple[str, ...]:
    """Return git's arguments for the commits after ``start`` up to ``end``."""
    return (checked(end),) if start is None else (checked(end), f"^{checked(start)}")
