"""Reads git objects at a commit, from a bare or normal clone, without a checkout and without running anything of it."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from nodes.search.errors import EmptyRepository, GitFailed, NotARepository, UnknownRevision
from nodes.search.remembered import Remembered
from nodes.search.running import Cut, ReadLimits, Running
from nodes.search.shortfalls import Shortfalls

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

TEXT_LIMIT = 1_000_000
"""Bytes. A larger blob is found by its path alone, and never loaded."""
NUL_WINDOW = 8_000  # as far as git itself looks for a NUL before it calls a blob binary
_FULL = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_ENTRY = 200
"""Bytes that an entry takes in memory, about."""
_ANSWER = 1_000_000
"""Bytes of an answer that is a name or two."""
_OBJECT = 60
"""Bytes that git prints of an object's id and size, about."""

logger = logging.getLogger(__name__)

SAFE = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*"),
    # What git keeps of packs and deltas in memory, whatever a repository's own configuration asks for.
    *("-c", "core.packedGitWindowSize=32m", "-c", "core.packedGitLimit=256m", "-c", "core.deltaBaseCacheLimit=32m"),
)
QUIET = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # Nobody's own settings change what is read; objects are what their ids say, not what stands in for them.
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    # Before 2.45 git fetches missing objects all the same, by a command that the repository may name.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A regular file of a commit's tree."""

    path: str
    """With forward slashes; bytes that are not UTF-8 are kept as surrogate escapes."""
    blob: str
    size: int
    """Bytes; -1 where the object is missing, as in a partial clone."""


@dataclass(frozen=True, slots=True)
class Repository:
    """One clone on this machine. What it said of a full id is remembered: a process of git costs milliseconds."""

    directory: Path
    known: Remembered = field(default_factory=Remembered, repr=False, compare=False)
    """What was asked before."""
    limits: ReadLimits = field(default=ReadLimits(), compare=False)
    """Of each command of git."""
    shortfalls: Shortfalls = field(default_factory=Shortfalls, repr=False, compare=False)
    """What was left unread because the repository is too large."""

    @classmethod
    def open(cls, path: Path | str, limits: ReadLimits | None = None) -> Repository:
        """Check that there is a repository at the path.

        Raises:
            NotARepository: nothing is there, or no clone.
        """
        directory = Path(path).expanduser()
        if not directory.is_dir():
            raise NotARepository(f"{printable(str(path))}: no such directory")
        repository = cls(directory.resolve(), limits=limits or ReadLimits())
        if repository._answer("rev-parse", "--git-dir") is None:
            raise NotARepository(f"{printable(str(path))}: not a git repository")
        return repository

    def resolve(self, revision: str = "HEAD") -> str:
        """Return the full SHA of the commit a revision names.

        Raises:
            EmptyRepository: there is no commit at all.
            UnknownRevision: there are commits, but none by that name.
        """
        if not revision or revision.startswith("-") or "\0" in revision or "\n" in revision:
            raise UnknownRevision(f"{printable(revision)!r} is not a revision: name a branch, a tag or a commit")
        if self.known.get(("commit", revision)):
            return revision
        found = self._answer("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        if found and not found.startswith(b"^"):
            sha = found.decode().split()[-1]
            self.known.keep(("commit", sha), answer=True, size=_ENTRY)
            return sha
        if not self._answer("rev-list", "--all", "--max-count=1"):
            raise EmptyRepository(f"{printable(str(self.directory))}: the repository has no commits yet")
        raise UnknownRevision(f"{printable(revision)}: no such commit here; fetch it, or name another revision")

    def tree(self, commit: str) -> list[Entry]:
        """List the regular files of a commit by path; submodules and symlinks are left out.

        Of a commit that lists as more than the limits allow, the files that git names first.
        """
        return sorted(self._listed(commit, "-r"), key=lambda entry: entry.path)

    def entry(self, commit: str, path: str) -> Entry | None:
        """Return one file of a commit, or None where no regular file has that path."""
        if not path or path.startswith("/") or "\0" in path:
            return None
        return next((entry for entry in self._some(commit, "-t", path) if entry.path == path), None)

    def under(self, commit: str, *paths: str) -> list[Entry]:
        """List the regular files at some paths or below them, by path."""
        return sorted(self._some(commit, "-r", *paths), key=lambda entry: entry.path)

    def _some(self, commit: str, depth: str, *paths: str) -> Sequence[Entry]:
        """List some paths: ``-r`` with all that is below them, ``-t`` without."""
        asked = ("tree", commit, depth, *paths)
        found: Sequence[Entry] | None = self.known.get(asked)
        if found is None:
            found = tuple(self._listed(commit, depth, *map(os.fsencode, paths)))
            # What is missing in a partial clone may be fetched; a name that is no full id may come to mean another.
            if _FULL.fullmatch(commit) and all(entry.size >= 0 for entry in found):
                self.known.keep(asked, found, _ENTRY * (1 + len(found)))
        return found

    def _listed(self, commit: str, depth: str, *paths: bytes) -> list[Entry]:
        found, failed = self._list(commit, {}, depth, "-l", *paths)
        if failed is not None:  # in a partial clone git gives up at the first object that is not there
            found, failed = self._list(commit, self._sizes(), depth, "-z", *paths)
        if failed is not None:
            hint = "; this is a partial clone: fetch what is missing" if b"promisor" in failed else ""
            raise GitFailed(f"git cannot list {commit}: {last_line(failed)}{hint}")
        return found

    def _list(
        self, commit: str, sizes: Mapping[bytes, bytes], *arguments: str | bytes
    ) -> tuple[list[Entry], bytes | None]:
        """Return the files that git lists within the limits, and what it complained of where it failed."""
        limits = self.limits
        (depth, size), paths = arguments[:2], arguments[2:]
        command = ("--literal-pathspecs", "ls-tree", depth, "-z", size, "--full-tree", commit, "--", *paths)
        with self.started(*command, most=limits.listing) as git:
            records = git.records(b"\0", limits.entries)
            found = [entry for record in records if (entry := parse_entry(record, sizes)) is not None]
            code = git.finish()
            if git.cut is not None:
                self._fell_short("files", f"only the first {len(found):,} files are searched", git.cut)
            return found, None if code == 0 or git.cut is not None else git.complaint()

    def _fell_short(self, what: str, said: str, why: Cut) -> None:
        if self.shortfalls.note(f"repository.{what}"):
            extra = {"action": "repository_too_large", "limit": f"repository.{what}"}
            logger.warning("the repository is too large to index whole (%s): %s", why, said, extra=extra)

    def _sizes(self) -> dict[bytes, bytes]:
        """The size of every object that is here, by its id; of the first ones where there are too many."""
        command = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objectsize)")
        with self.started(*command, most=self.limits.listing) as git:
            most = self.limits.listing // _OBJECT
            return dict(line.split() for line in git.records(b"\n", most) if line.count(b" ") == 1)

    def read(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Read blobs one after the other, in the order asked; a missing one is skipped."""
        asked = list(blobs)
        known = {blob: content for blob in asked if (content := self.known.get(blob)) is not None}
        fresh = self._fresh([blob for blob in asked if blob not in known])
        following = next(fresh, None)
        for blob in asked:
            if blob in known:
                yield blob, known[blob]
            elif following and following[0] == blob:
                self.known.keep(blob, following[1], len(following[1]))
                yield following
                following = next(fresh, None)

    def _fresh(self, asked: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        if not asked:
            return
        answered = 0
        for blob, content in self._answers(asked):
            answered += 1
            if content is not None:
                yield blob, content
        if answered < len(asked):  # in a partial clone git gives up at the first blob that is not there
            here = self._sizes()
            rest = self._answers([blob for blob in asked[answered:] if blob.encode() in here])
            yield from ((blob, content) for blob, content in rest if content is not None)

    def _answers(self, blobs: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        # A file instead of a pipe for the ids: git never waits for us while we wait for it.
        with tempfile.TemporaryFile() as ids:
            ids.write(b"".join(blob.encode() + b"\n" for blob in blobs))
            ids.seek(0)
            with self.started("cat-file", "--batch", "--buffer", stdin=ids) as git:
                yield from parse_batch(git.out)

    def read_file(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes, or None where it is not there or too large to be text."""
        entry = self.entry(commit, path)
        if entry is None or not 0 <= entry.size <= TEXT_LIMIT:
            return None
        return next((content for _, content in self.read([entry.blob])), None)

    def lines(self, commit: str, path: str, start: int, end: int) -> str | None:
        """Return lines ``start`` to ``end`` (1-based, inclusive) verbatim, or None where they are not there."""
        content = self.read_file(commit, path)
        if content is None or not is_text(content):
            return None
        return cut(split_lines(decode(content)), start, end)

    def log(self, commit: str, count: int) -> bytes | None:
        """Return the newest ``count`` commits from one back, merges and beginnings left out.

        What a first commit holds, or the last one of a shallow clone, was not changed together.

        Returns:
            For each commit ``\\x01 message \\x02 \\0 \\n path \\0 path …``; None where history is not there to be
            read, as in a clone without trees.
        """
        which = (f"--max-count={count}", "--min-parents=1", "--max-parents=1")
        shape = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-show-signature", "--format=%x01%B%x02")
        with self.started("log", *which, *shape, "--end-of-options", commit, "--", most=self.limits.output) as git:
            printed = git.out.read()
            code = git.finish()
            if git.cut is None:
                return printed if code == 0 else None
            whole = printed[: max(0, printed.rfind(b"\x01"))]  # the last commit may be half a commit
            commits = whole.count(b"\x01")
            self._fell_short("history", f"only the latest {commits:,} commits are searched", git.cut)
            return whole

    @property
    def shallow(self) -> bool:
        """Whether history ends where somebody stopped fetching it, and may reach further back tomorrow."""
        return (self._answer("rev-parse", "--is-shallow-repository") or b"").strip() == b"true"

    def output(self, *arguments: str | bytes, stdin: bytes = b"", limit: int | None = None) -> bytes | None:
        """Return what a command that only reads prints; None where it fails, as in a clone that lacks objects.

        None too where it prints more than ``limit`` bytes, or is stuck; the next one then gets less time.
        """
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            limits = replace(self.limits, seconds=self.shortfalls.patience(self.limits.seconds))
            most = self.limits.output if limit is None else limit
            with self.started(*arguments, stdin=given, most=most, limits=limits) as git:
                printed = git.out.read()
                code = git.finish()
                if git.cut == "seconds":
                    self.shortfalls.stuck()
        return printed if code == 0 and git.cut is None else None

    def settled(self, *arguments: str | bytes, stdin: bytes = b"", asked: Hashable = None) -> bytes | None:
        """Return ``output`` of a command that names what it reads by full ids alone, from memory where it is there.

        Args:
            arguments: as git takes them.
            stdin: what git reads.
            asked: what to remember it by, where the arguments hold something that is different each time.
        """
        key = ("output", self._border(), asked or arguments, stdin)
        printed: bytes | None = self.known.get(key)
        if printed is None:
            printed = self.output(*arguments, stdin=stdin)
            if printed is not None:  # else what is missing may be fetched
                self.known.keep(key, printed, len(printed) + _ENTRY)
        return printed

    def _border(self) -> Hashable:
        """Changes when a shallow clone is fetched deeper."""
        for place in (self.directory / "shallow", self.directory / ".git" / "shallow"):
            try:
                found = place.stat()
            except OSError:
                continue
            return found.st_mtime_ns, found.st_size
        return None

    def started(
        self,
        *arguments: str | bytes,
        stdin: IO[bytes] | int = subprocess.DEVNULL,
        most: int | None = None,
        limits: ReadLimits | None = None,
    ) -> Running:
        """Start a command whose output is read as it comes, at most so many bytes of it."""
        command = ["git", "-C", str(self.directory), *SAFE, *arguments]
        return Running(command, stdin=stdin, env=environment(), limits=limits or self.limits, most=most)

    def _answer(self, *arguments: str | bytes) -> bytes | None:
        """Return the short answer of a command; None where it fails."""
        with self.started(*arguments, most=_ANSWER) as git:
            printed = git.out.read()
            return printed if git.finish() == 0 else None


def environment() -> dict[str, str]:
    """The process environment without the variables that redirect git, plus those that keep it from acting."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | QUIET


def parse_entry(record: bytes, sizes: Mapping[bytes, bytes]) -> Entry | None:
    """Read ``mode type sha size<TAB>path``, or without the size, which is then looked up.

    None for what is not a regular file.
    """
    head, tab, path = record.partition(b"\t")
    if not tab:
        return None
    mode, kind, blob, *written = head.split()
    size = written[0] if written else sizes.get(blob, b"-")
    if kind != b"blob" or mode == b"120000":
        return None
    return Entry(path.decode("utf-8", "surrogateescape"), blob.decode(), int(size) if size.isdigit() else -1)


def parse_batch(stream: IO[bytes]) -> Iterator[tuple[str, bytes | None]]:
    """Read the answers of ``git cat-file --batch``, None for an object that is missing."""
    while header := stream.readline():
        yield header.split()[0].decode(), parse_content(stream, header)


def parse_content(stream: IO[bytes], header: bytes) -> bytes | None:
    """Read what follows a header of ``git cat-file --batch``; None where the object is missing or breaks off."""
    parts = header.split()
    if len(parts) != 3:  # "<id> missing"
        return None
    content = stream.read(int(parts[2]))
    return content if stream.read(1) else None


def is_text(content: bytes) -> bool:
    """Whether a blob is text, judged as git does."""
    return b"\0" not in content[:NUL_WINDOW]


def decode(content: bytes) -> str:
    """Decode a text blob: UTF-8, else Latin-1, which never fails."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def split_lines(text: str) -> list[str]:
    """Split at line feeds only, each kept: git counts lines so, where ``splitlines`` also cuts at form feeds."""
    lines = text.split("\n")
    kept = [line + "\n" for line in lines[:-1]]
    return [*kept, lines[-1]] if lines[-1] else kept


def cut(lines: list[str], start: int, end: int) -> str | None:
    """Return lines ``start`` to ``end`` without the last line's ending, or None where they are out of range."""
    if not 1 <= start <= end <= len(lines):
        return None
    return "".join(lines[start - 1 : end]).removesuffix("\n").removesuffix("\r")


def printable(text: str) -> str:
    """Make any path or revision fit for a message: surrogates escaped, on one line."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\n", "\\n")


def last_line(output: bytes) -> str:
    """Return the last line of what git complained about."""
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "no reason given"
