"""A commit and an issue for the checks of facts: read with plain git, without the index."""

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice

from nodes.search.facts.code import COPIED
from nodes.search.facts.types import Hit
from nodes.search.git import Repository
from nodes.search.git.objects import is_sha, is_text, parse_entry
from nodes.search.issue.normal.report import normalise
from nodes.search.languages.table import language_of
from nodes.search.paths.roles import role_of
from nodes.search.tokens import folded

MAX_HITS = 4_000
"""Maximum number of lines of one search that are read."""
MAX_OF_FILE = 50
"""Maximum number of lines of one file that a search finds."""
MAX_OWN = 48_000_000
"""Bytes of own source files; more are searched by git instead of in memory."""
_WORD = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")


class OwnText:
    """The own source files of a commit in one piece: a search takes milliseconds, one by git a fifth of a second."""

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Join files, given with their paths, in their order; binary files are left out."""
        texts = [(path, text.removesuffix(b"\n") + b"\n") for path, text in files if is_text(text)]
        self._paths = [path for path, _ in texts]
        self._ends = list(accumulate(len(text) for _, text in texts))
        self._text = b"".join(text for _, text in texts)

    def hits(self, name: str) -> Iterator[Hit]:
        """Yield the lines with a whole word, as ``git grep -w`` finds them."""
        text, word, file = self._text, os.fsencode(name), -1
        at = line = start = found = 0
        while (at := text.find(word, at)) >= 0:
            if not _WORD.isdisjoint(text[max(0, at - 1) : at] + text[at + len(word) : at + len(word) + 1]):
                at += 1
                continue
            if (owner := bisect_right(self._ends, at)) != file:
                file, found, line = owner, 0, 1
                start = self._ends[file - 1] if file else 0
            line, start = line + text.count(b"\n", start, at), text.rfind(b"\n", 0, at) + 1
            at = text.index(b"\n", at)
            yield Hit(self._paths[file], line, text[start:at].decode("utf-8", "replace"))
            found += 1
            if found == MAX_OF_FILE:
                at = self._ends[file]

    def files_with(self, text: str) -> Iterator[str]:
        """Yield the paths of the files that contain a text of one line."""
        part, at = os.fsencode(text), 0
        while (at := self._text.find(part, at)) >= 0:
            file = bisect_right(self._ends, at)
            yield self._paths[file]
            at = self._ends[file]


@dataclass(frozen=True)
class Witness:
    """Access to a commit and an issue to verify a fact."""

    repository: Repository
    sha: str
    issue_text: str

    @cached_property
    def folded(self) -> str:
        """Return the issue's text, as written and normalised, in lower case with normalised white space."""
        plain = normalise(self.issue_text).text
        return folded(self.issue_text if plain == self.issue_text else f"{self.issue_text}\n{plain}")

    def mentions(self, words: str) -> bool:
        """Return whether the issue contains the words."""
        return folded(words) in self.folded

    @cached_property
    def own(self) -> OwnText | None:
        """Return the own source files, or None if they are too large or not all there."""
        listed = self.repository.cached_output("ls-tree", "-r", "-z", "-l", "--full-tree", self.sha) or b""
        # The path is checked first, because few of a commit's files are own source.
        own_records = (record for record in listed.split(b"\0") if is_own(os.fsdecode(record.partition(b"\t")[2])))
        own = [entry for record in own_records if (entry := parse_entry(record, {}))]
        if not own or any(entry.size < 0 for entry in own) or sum(entry.size for entry in own) > MAX_OWN:
            return None
        blobs = dict(self.repository.read(dict.fromkeys(entry.blob for entry in own), retain=False))
        complete = all(entry.blob in blobs for entry in own)
        return OwnText((entry.path, blobs[entry.blob]) for entry in own) if complete else None

    def line(self, path: str, line: int, at: str | None = None) -> str | None:
        """Return a line of a file, or None."""
        return self.repository.lines(at or self.sha, path, line, line)

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """Return the existing lines of a file between two line numbers."""
        content = self.repository.read_file(self.sha, path) or b""
        return content.decode("utf-8", "replace").split("\n")[max(0, first - 1) : last]

    def grep(self, *names: str, own: bool = False) -> list[Hit] | None:
        """Return the lines that contain a whole word, in the whole commit or in source files of any language.

        Several words are searched at once. Return None if one cannot be searched.
        """
        if not all(names) or "\n" in "".join(names) or not is_sha(self.sha):
            return None
        if own and self.own and len(names) == 1:
            return list(islice(self.own.hits(names[0]), MAX_HITS))
        words = (part for name in names for part in ("-e", name))
        most = f"--max-count={MAX_OF_FILE * len(names)}"
        command = ("grep", "-I", "-n", "-z", "-w", "-F", "--full-name", most, *words, self.sha, "--")
        # Git also fails if no line matches.
        printed = self.repository.cached_output("--no-pager", *command)
        if printed is None:
            return []
        hits = [hit for record in printed.split(b"\n")[:MAX_HITS] if (hit := parse_hit(record, self.sha))]
        return [hit for hit in hits if not own or is_own(hit.path)]

    def grep_any(self, texts: Sequence[str], paths: Sequence[str] = (), *, words: bool = True) -> list[Hit]:
        """Return the lines that contain one of several texts, as whole words or not, in files of the pathspecs."""
        wanted = [part for text in texts if text and "\n" not in text for part in ("-e", text)]
        if not wanted or not is_sha(self.sha):
            return []
        options = ("-I", "-n", "-z", "-F", "--full-name", f"--max-count={4 * MAX_OF_FILE}", *(("-w",) if words else ()))
        printed = self.repository.cached_output("--no-pager", "grep", *options, *wanted, self.sha, "--", *paths) or b""
        return [hit for record in printed.split(b"\n")[:MAX_HITS] if (hit := parse_hit(record, self.sha))]

    def own_files_with(self, text: str) -> list[str]:
        """Return the own source files that contain a text of one line."""
        if self.own:
            return list(self.own.files_with(text))
        command = ("grep", "-I", "-l", "-z", "-F", "--full-name", "-e", text, self.sha, "--")
        printed = self.repository.cached_output("--no-pager", *command) or b""
        paths = (os.fsdecode(name).removeprefix(f"{self.sha}:") for name in printed.split(b"\0") if name)
        return [path for path in paths if is_own(path)]

    def files(self) -> list[str]:
        """Return the paths of all files of the commit."""
        printed = (
            self.repository.cached_output("ls-tree", "-r", "--name-only", "-z", self.sha) if is_sha(self.sha) else None
        )
        return [os.fsdecode(name) for name in (printed or b"").split(b"\0") if name]

    def message(self, change: str) -> str | None:
        """Return the message of a commit in this commit's history, or None."""
        if not is_sha(change):
            return None
        # The code that is read does not contain a commit of another branch.
        if self.repository.cached_output("merge-base", "--is-ancestor", change, self.sha) is None:
            return None
        printed = self.repository.cached_output("log", "-1", "--no-show-signature", "--format=%B", change)
        return printed.decode("utf-8", "replace") if printed is not None else None

    def changed(self, change: str) -> frozenset[str]:
        """Return the files that a commit changed relative to its first parent."""
        # Options, so that no setting of the machine changes what git prints.
        command = "show --format= --name-only -m --first-parent -z --no-renames --no-show-signature --no-textconv"
        printed = self.repository.cached_output(*command.split(), "--no-ext-diff", change) or b""
        return frozenset(os.fsdecode(name.strip(b"\n")) for name in printed.split(b"\0") if name.strip(b"\n"))


def is_own(path: str) -> bool:
    """Return whether a path is source code."""
    return language_of(path) is not None and role_of(path) == "source" and not COPIED.search(path)


def parse_hit(record: bytes, sha: str) -> Hit | None:
    """Parse ``sha:path NUL line NUL text``."""
    head, _, rest = record.partition(b"\0")
    number, _, text = rest.partition(b"\0")
    if not number.isdigit():
        return None
    path = os.fsdecode(head).removeprefix(f"{sha}:")
    return Hit(path, int(number), text.decode("utf-8", "replace"))
