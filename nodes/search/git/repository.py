"""Reads git objects at a commit, from a bare or normal clone, without a checkout and without running its code."""

import logging
import os
import re
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from nodes.search.git import objects
from nodes.search.git.errors import EmptyRepository, GitFailed, NotARepository, Shortfalls, UnknownRevision
from nodes.search.git.running import SAFE, Cut, ReadLimits, Running, environment

_FULL = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_FORM = re.compile(r"^:|\*")
"""In a pathspec that is no path."""
_PARENT = re.compile("(?:[0-9a-f]{40}|[0-9a-f]{64})~1")
_ENTRY = 200
"""Approximate bytes of an entry in memory."""
_ANSWER = 1_000_000
"""Maximum bytes of a short answer, such as a name."""
_OBJECT = 60
"""Approximate bytes that git prints for an object's id and size."""

# Each restart costs a process; a repository with more such objects is hostile or broken.
_MAX_RESTARTS = 50
"""Maximum number of objects that may end git, because they are damaged or too large, before the rest stays unread."""
_MISSING = b" missing\n"
"""The end of git's answer about an object that it does not have."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Repository:
    """One clone on this machine. Answers for full ids are cached, because each git process costs milliseconds."""

    directory: Path
    known: objects.QueryCache = field(default_factory=objects.QueryCache, repr=False, compare=False)
    """Answers to earlier queries."""
    limits: ReadLimits = field(default=ReadLimits(), compare=False)
    """Limits of each git command."""
    shortfalls: Shortfalls = field(default_factory=Shortfalls, repr=False, compare=False)
    """The parts that were not read because the repository is too large."""
    git_directory: Path | None = field(default=None, repr=False, compare=False)
    """The folder with the objects and refs; None if unknown."""

    @classmethod
    def open(cls, path: Path | str, limits: ReadLimits | None = None) -> Self:
        """Open the repository at a path; raise NotARepository if it does not exist or is not a clone."""
        directory = Path(path).expanduser()
        if not directory.is_dir():
            raise NotARepository(f"{objects.printable(str(path))}: no such directory")
        repository = cls(directory.resolve(), limits=limits or ReadLimits())
        found = repository._answer("rev-parse", "--git-common-dir")
        if found is None:
            raise NotARepository(f"{objects.printable(str(path))}: not a git repository")
        # git prints a path relative to the folder; old versions print a wrong one below the top of a work tree.
        git_directory = repository.directory / os.fsdecode(found.removesuffix(b"\n"))
        return replace(repository, git_directory=git_directory if (git_directory / "refs").is_dir() else None)

    def resolve(self, revision: str = "HEAD") -> str:
        """Return the full SHA of the commit that a revision names.

        Raises:
            EmptyRepository: the repository has no commits.
            UnknownRevision: no commit has that name.
        """
        # An argument cannot contain a NUL, no ref name contains a line feed, and a leading dash would be an option.
        if not revision or revision.startswith("-") or "\0" in revision or "\n" in revision:
            raise UnknownRevision(
                f"{objects.printable(revision)!r} is not a revision: name a branch, a tag or a commit"
            )
        if self.known.get(("commit", revision)):
            return revision
        # A full id has the same parent as long as the clone reaches back as far.
        parent = ("parent", self._shallow_state(), revision) if _PARENT.fullmatch(revision) else None
        if parent is not None and (sha := self.known.get(parent)):
            return str(sha)
        found = self._answer("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        # git accepts ``^name`` and prints a negated id.
        if found and not found.startswith(b"^"):
            sha = found.decode().split()[-1]
            self.known.keep(("commit", sha), answer=True, size=_ENTRY)
            if parent is not None:
                self.known.keep(parent, sha, _ENTRY)
            return sha
        # Asked only after a failure: it distinguishes an empty repository from a wrong name.
        if not self._answer("rev-list", "--all", "--max-count=1"):
            raise EmptyRepository(f"{objects.printable(str(self.directory))}: the repository has no commits yet")
        raise UnknownRevision(f"{objects.printable(revision)}: no such commit here; fetch it, or name another revision")

    def tree(self, commit: str) -> list[objects.Entry]:
        """List the regular files of a commit by path, without submodules and symlinks; up to the limits."""
        return sorted(self._listed(commit, "-r"), key=lambda entry: entry.path)

    def entry(self, commit: str, path: str) -> objects.Entry | None:
        """Return one file of a commit, or None if no regular file has that path."""
        if not path or path.startswith("/") or "\0" in path:
            return None
        return next((entry for entry in self._some(commit, "-t", path) if entry.path == path), None)

    def list_together(self, commit: str, paths: Sequence[str]) -> None:
        """List files by one git process, so that reading each of them later needs none to find it."""
        for entry in self._some(commit, "-t", *sorted(paths)):
            if _FULL.fullmatch(commit) and entry.size >= 0:
                self.known.keep(("tree", commit, "-t", entry.path), (entry,), 2 * _ENTRY)

    def lacks_contents(self, commit: str) -> bool:
        """Return whether a partial clone has none of the files of a commit, only their names."""
        packs = (self.git_directory or self.directory) / "objects" / "pack"
        if not any(packs.glob("*.promisor")):
            return False
        # Most clones have a file of the top folder; listing all files of a large repository takes longer.
        sizes: list[int] = []
        for depth in ("-t", "-r"):
            sizes = [entry.size for entry in self._listed(commit, depth)]
            if max(sizes, default=-1) >= 0:
                return False
        return bool(sizes)

    def under(self, commit: str, *paths: str) -> list[objects.Entry]:
        """List the regular files at or below some paths, ordered by path."""
        return sorted(self._some(commit, "-r", *paths), key=lambda entry: entry.path)

    def _some(self, commit: str, depth: str, *paths: str) -> Sequence[objects.Entry]:
        """List some paths: ``-r`` includes everything below them, ``-t`` does not."""
        requested = ("tree", commit, depth, *paths)
        found: Sequence[objects.Entry] | None = self.known.get(requested)
        if found is None:
            found = tuple(self._listed(commit, depth, *map(os.fsencode, paths)))
            # A later fetch may add missing objects of a partial clone, and a branch may later name another commit.
            if _FULL.fullmatch(commit) and all(entry.size >= 0 for entry in found):
                self.known.keep(requested, found, _ENTRY * (1 + len(found)))
        return found

    def _listed(self, commit: str, depth: str, *paths: bytes) -> list[objects.Entry]:
        failed = b""
        # In a partial clone git exits at the first missing object, so the second attempt does not ask it for sizes.
        for size in ("-l", "-z"):
            sizes = {} if size == "-l" else self._sizes()
            # Without this option, git treats a leading ``:`` of a path as pathspec magic.
            command = ("--literal-pathspecs", "ls-tree", depth, "-z", size, "--full-tree", commit, "--", *paths)
            with self.start(*command, most=self.limits.listing) as git:
                records = git.records(b"\0", self.limits.entries)
                found = [entry for record in records if (entry := objects.parse_entry(record, sizes)) is not None]
                code = git.finish()
                # A truncated listing is used too, because a part of a huge repository is better than nothing.
                if git.cut is not None:
                    self.record_shortfall("files", f"only the first {len(found):,} files are searched", git.cut)
                if code == 0 or git.cut is not None:
                    return found
                failed = git.stderr_tail()
        hint = "; this is a partial clone: fetch what is missing" if b"promisor" in failed else ""
        raise GitFailed(f"git cannot list {commit}: {objects.last_line(failed)}{hint}")

    def record_shortfall(self, what: str, message: str, why: Cut) -> None:
        """Log once that a limit left a part of the repository unread, and record it."""
        if self.shortfalls.note(f"repository.{what}"):
            extra = {"action": "repository_too_large", "limit": f"repository.{what}"}
            logger.warning("the repository is too large to index completely (%s): %s", why, message, extra=extra)

    def _sizes(self) -> dict[bytes, bytes]:
        """Return the size of each present object by its id; of the first ones only if there are too many."""
        # The order does not matter here, and without one git need not sort the objects by id.
        command = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objectsize)")
        with self.start(*command, most=self.limits.listing) as git:
            most = self.limits.listing // _OBJECT
            return dict(line.split() for line in git.records(b"\n", most) if line.count(b" ") == 1)

    def read(self, blobs: Iterable[str], *, retain: bool = True) -> Iterator[tuple[str, bytes]]:
        """Read blobs one by one in the given order; skip a missing one. Cache them if they should be retained."""
        requested = list(blobs)
        known = {blob: content for blob in requested if (content := self.known.get(blob)) is not None}
        fresh = self.contents([blob for blob in requested if blob not in known])
        for blob in requested:
            found = known[blob] if blob in known else next(fresh)
            if found is None:
                continue
            if retain and blob not in known:
                self.known.keep(blob, found, len(found))
            yield blob, found

    def contents(self, blobs: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of each blob in the given order; None for one that is missing, damaged or too large."""
        left, present = blobs, None
        for _ in range(_MAX_RESTARTS):
            if not left:
                return
            done = 0
            asked = [blob for blob in left if present is None or blob.encode() in present]
            # ``--buffer`` avoids a flush per object; all ids are known before.
            batch = b"".join(blob.encode() + b"\n" for blob in asked)
            with self.start("cat-file", "--batch", "--buffer", stdin=batch) as git:
                for blob in left:
                    done += 1
                    header = git.out.readline() if present is None or blob.encode() in present else _MISSING
                    content = objects.parse_content(git.out, header)
                    # The memory limit is set after git's start, so it may print a large object before.
                    yield None if content is None or len(content) > self.limits.memory else content
                    # git exits at a damaged object, and in a partial clone at the first that is missing.
                    if content is None and not header.endswith(_MISSING):
                        break
            left, present = left[done:], self._sizes() if present is None and done < len(left) else present
        yield from (None for _ in left)

    def read_file(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes, or None if it does not exist or is too large to be text."""
        entry = self.entry(commit, path)
        if entry is None or not 0 <= entry.size <= objects.TEXT_LIMIT:
            return None
        return next((content for _, content in self.read([entry.blob])), None)

    def text(self, commit: str, path: str) -> str | None:
        """Return a whole text file, or None if it does not exist, is not text or is too large."""
        content = self.read_file(commit, path)
        return objects.decode(content) if content is not None and objects.is_text(content) else None

    def lines(self, commit: str, path: str, start: int, end: int) -> str | None:
        """Return lines ``start`` to ``end`` (1-based, inclusive) verbatim, or None if the range does not exist."""
        text = self.text(commit, path)
        return None if text is None else objects.cut(objects.split_lines(text), start, end)

    @property
    def shallow(self) -> bool:
        """Whether the clone is shallow; a later fetch may extend its history."""
        return self._shallow_state() is not None  # git decides by the same file

    def output(self, *arguments: str | bytes, stdin: bytes = b"", limit: int | None = None) -> bytes | None:
        """Return the output of a read-only command; None if it fails, as in a clone that lacks objects.

        Also None if it prints more than ``limit`` bytes or times out; after a timeout, later commands get less time,
        and no further text is searched for in all files of the commit.
        """
        is_grep, whole = "grep" in arguments[:2], _searched(arguments)
        if self.shortfalls.is_slow(whole):
            return None
        limits = replace(self.limits, seconds=self.shortfalls.timeout_for(self.limits.seconds))
        with self.start(*arguments, stdin=stdin, most=limit or self.limits.output, limits=limits) as git:
            printed = git.out.read()
            code = git.finish()
            if git.cut == "seconds":
                self.shortfalls.record_timeout(whole)
            # A search without a hit is an answer too, unless an object could not be read.
            is_answer = code == 0 or (code == 1 and is_grep and b"error: " not in git.stderr_tail())
        return printed if is_answer and git.cut is None else None

    def cached_output(self, *arguments: str | bytes, stdin: bytes = b"", cache_key: Hashable = None) -> bytes | None:
        """Return ``output`` of a command that identifies its input by full ids only, from the cache if possible.

        ``cache_key`` replaces the arguments in the key if these contain a value that differs in each call.
        """
        # The state of the clone is part of the key: deepening a shallow clone changes which commits a full id reaches.
        key = ("output", self._shallow_state(), cache_key or arguments, stdin)
        with self.known.lock_of(key):  # a second thread waits for the answer of the first
            printed: bytes | None = self.known.get(key)
            if printed is None:
                printed = self.output(*arguments, stdin=stdin)
                if printed is not None:  # a later fetch may add what is missing, so a failure is not cached
                    self.known.keep(key, printed, len(printed) + _ENTRY)
        return printed

    def _shallow_state(self) -> Hashable:
        """Return what changes when a shallow clone is deepened: git replaces this file. None for a whole clone."""
        for folder in (self.git_directory,) if self.git_directory else (self.directory, self.directory / ".git"):
            with suppress(OSError):
                found = (folder / "shallow").stat()
                return found.st_ino, found.st_mtime_ns, found.st_size
        return None

    def start(
        self, *arguments: str | bytes, stdin: bytes = b"", most: int | None = None, limits: ReadLimits | None = None
    ) -> Running:
        """Start a command; its output is streamed, at most ``most`` bytes of it."""
        command = ["git", "-C", str(self.directory), *SAFE, *arguments]
        # A file, not a pipe: git may print before it has read everything, and then both sides would block.
        with tempfile.TemporaryFile() if stdin else open(os.devnull, "rb") as file:
            if stdin:
                file.write(stdin)
                file.seek(0)
            return Running(command, stdin=file, env=environment(), limits=limits or self.limits, most=most)

    def _answer(self, *arguments: str | bytes) -> bytes | None:
        """Return the short output of a command; None if it fails."""
        with self.start(*arguments, most=_ANSWER) as git:
            printed = git.out.read()
            return printed if git.finish() == 0 else None


def _searched(arguments: Sequence[str | bytes]) -> str:
    """Return the commit of which a command searches all files or all of some kind, or an empty text."""
    if "grep" not in arguments[:2] or "--" not in arguments:
        return ""
    at = arguments.index("--")
    return str(arguments[at - 1]) if all(_FORM.search(str(path)) for path in arguments[at + 1 :]) else ""
