"""A commit and an issue for the checks of facts: read with plain git, without the index."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nodes.search.facts.code import COPIED
from nodes.search.facts.inquiry import folded
from nodes.search.history.printed import is_sha
from nodes.search.issue.normal.report import normalise
from nodes.search.languages import language_of
from nodes.search.paths.roles import role_of

if TYPE_CHECKING:
    from nodes.search.git import Repository

MAX_HITS = 4_000
"""Maximum number of lines of one search that are read."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a search found."""

    path: str
    line: int
    text: str


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

    def line(self, path: str, line: int, at: str | None = None) -> str | None:
        """Return a line of a file, or None."""
        return self.repository.lines(at or self.sha, path, line, line)

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """Return the existing lines of a file between two line numbers."""
        content = self.repository.read_file(self.sha, path) or b""
        return content.decode("utf-8", "replace").split("\n")[max(0, first - 1) : last]

    def grep(self, name: str, *, own: bool = False) -> list[Hit] | None:
        """Return the lines that contain a whole word, in the whole commit or in source files of any language.

        Return None if the name cannot be searched.
        """
        if not name or "\n" in name or not is_sha(self.sha):
            return None
        command = ("grep", "-I", "-n", "-z", "-w", "-F", "--full-name", "--max-count=50", "-e", name, self.sha, "--")
        # Git also fails if no line matches.
        printed = self.repository.cached_output("--no-pager", *command)
        if printed is None:
            return []
        hits = [hit for record in printed.split(b"\n")[:MAX_HITS] if (hit := parse_hit(record, self.sha))]
        return [hit for hit in hits if not own or is_own(hit.path)]

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
        command = (
            "show",
            "--format=",
            "--name-only",
            "-m",
            "--first-parent",
            "-z",
            "--no-renames",
            "--no-show-signature",
        )
        printed = self.repository.cached_output(*command, "--no-textconv", "--no-ext-diff", change) or b""
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
