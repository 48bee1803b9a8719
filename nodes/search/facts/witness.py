"""A commit and an issue for the checks of facts: read with plain git, without the index."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from nodes.search.facts.types import Fact, Hit
from nodes.search.git import Repository
from nodes.search.git.objects import is_sha, is_text, parse_entry
from nodes.search.issue.normal.report import normalise
from nodes.search.languages.table import language_of
from nodes.search.paths.roles import COPIED, role_of
from nodes.search.tokens import folded

MAX_HITS = 4_000
"""Maximum number of lines of one search that are read."""
MAX_OF_FILE = 50
"""Maximum number of lines of one file that a search finds."""
MAX_OWN = 48_000_000
"""Bytes of own source files; more are searched by git instead of in memory."""


@dataclass(frozen=True)
class Witness:
    """Access to a commit and an issue to verify a fact."""

    repository: Repository
    sha: str
    issue_text: str
    _known: dict[tuple[tuple[str, ...], bool], list[Hit]] = field(default_factory=dict, repr=False, compare=False)
    """The hits in own source files by texts; finders ask again for the same names."""

    @cached_property
    def folded(self) -> str:
        """Return the issue's text, as written and normalised, in lower case with normalised white space."""
        plain = normalise(self.issue_text).text
        return folded(self.issue_text if plain == self.issue_text else f"{self.issue_text}\n{plain}")

    def mentions(self, words: str) -> bool:
        """Return whether the issue contains the words."""
        return folded(words) in self.folded

    @cached_property
    def own(self) -> list[tuple[str, bytes]]:
        """Return the paths and contents of the own source files, or none if they are too large or not all there.

        A search in memory takes milliseconds, one by git a fifth of a second.
        """
        listed = self.repository.cached_output("ls-tree", "-r", "-z", "-l", "--full-tree", self.sha) or b""
        # The path is checked first, because few of a commit's files are own source.
        own_records = (record for record in listed.split(b"\0") if is_own(os.fsdecode(record.partition(b"\t")[2])))
        own = [entry for record in own_records if (entry := parse_entry(record, {}))]
        if any(entry.size < 0 for entry in own) or sum(entry.size for entry in own) > MAX_OWN:
            return []
        blobs = dict(self.repository.read(dict.fromkeys(entry.blob for entry in own), retain=False))
        complete = all(entry.blob in blobs for entry in own)
        return [(entry.path, blobs[entry.blob]) for entry in own if is_text(blobs[entry.blob])] if complete else []

    def line(self, path: str, line: int, at: str | None = None) -> str | None:
        """Return a line of a file, or None."""
        return self.repository.lines(at or self.sha, path, line, line)

    def lines(self, path: str, first: int, last: int) -> list[str]:
        """Return the existing lines of a file between two line numbers."""
        content = self.repository.read_file(self.sha, path) or b""
        return content.decode("utf-8", "replace").split("\n")[max(0, first - 1) : last]

    def grep(self, name: str, *, own: bool = False) -> list[Hit]:
        """Return the lines that contain a whole word, in the whole commit or in source files of any language."""
        return self.own_hits([name]) if own else self.hits([name], "-F", "-w", most=MAX_OF_FILE)

    def own_hits(self, texts: Sequence[str], *, words: bool = True) -> list[Hit]:
        """Return the lines of own source files that contain one of several texts, as whole words or not."""
        asked = (tuple(texts), words)
        if asked not in self._known:
            self._known[asked] = self._own_hits(*asked)
        return [*self._known[asked]]

    def _own_hits(self, texts: tuple[str, ...], words: bool) -> list[Hit]:  # noqa: FBT001  a part of the key
        if not self.own or not all(text and "\n" not in text for text in texts):
            options = ("-F", "-w") if words else ("-F",)
            return [hit for hit in self.hits(texts, *options, most=MAX_OF_FILE) if is_own(hit.path)]
        return list(islice(self._in_memory([os.fsencode(text) for text in texts], words=words), MAX_HITS))

    def grep_any(
        self, texts: Sequence[str], paths: Sequence[str] = (), *, words: bool = True, any_case: bool = False
    ) -> list[Hit]:
        """Return the lines that contain one of several texts, as whole words or not, in files of the pathspecs."""
        options = (*(("-w",) if words else ()), *(("-i",) if any_case else ()))
        return self.hits(texts, "-F", *options, most=4 * MAX_OF_FILE, paths=paths)

    def hits(self, patterns: Iterable[str], *options: str, most: int, paths: Sequence[str] = ()) -> list[Hit]:
        """Return the lines that git finds for some patterns, at most as many of each file."""
        wanted = [part for text in patterns if text and "\n" not in text for part in ("-e", text)]
        if not wanted or not is_sha(self.sha):
            return []
        command = ("grep", "-I", "-n", "-z", "--full-name", f"--max-count={most}", *options, *wanted, self.sha, "--")
        # Git also fails if no line matches.
        printed = self.repository.cached_output("--no-pager", *command, *paths) or b""
        return [hit for record in printed.split(b"\n")[:MAX_HITS] if (hit := _parse_hit(record, self.sha))]

    def _in_memory(self, texts: Sequence[bytes], *, words: bool) -> Iterator[Hit]:
        """Yield the lines of own source files with one of several texts, as git finds them."""
        # The text before a word is checked after the match: a pattern that begins with plain text is found faster.
        escaped = [re.escape(text) for text in texts]
        either = b"|".join(rb"%b(?<!\w%b)(?!\w)" % (text, text) for text in escaped) if words else b"|".join(escaped)
        pattern = re.compile(either)
        for path, content in self.own:
            if any(text in content for text in texts):
                yield from islice(_lines_with(pattern, path, content), MAX_OF_FILE)

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
        command = ("merge-base", "--is-ancestor", change, self.sha)
        if change != self.sha and self.repository.cached_output(*command) is None:
            return None
        printed = self.repository.cached_output("log", "-1", "--no-show-signature", "--format=%B", change)
        return printed.decode("utf-8", "replace") if printed is not None else None

    def changed(self, change: str) -> frozenset[str]:
        """Return the files that a commit changed relative to its first parent."""
        # Options, so that no setting of the machine changes what git prints.
        command = "show --format= --name-only -m --first-parent -z --no-renames --no-show-signature --no-textconv"
        printed = self.repository.cached_output(*command.split(), "--no-ext-diff", change) or b""
        return frozenset(os.fsdecode(name.strip(b"\n")) for name in printed.split(b"\0") if name.strip(b"\n"))


def fault_of_few(fact: Fact, held: Sequence[Hit], lacks: str) -> str | None:
    """Return why a line is not among those that a search finds, or why these are not as many as the fact says."""
    if (fact.path, fact.line) not in {(hit.path, hit.line) for hit in held}:
        return lacks
    return None if len(held) == fact.count else "another number of lines has it"


def is_own(path: str) -> bool:
    """Return whether a path is source code."""
    return language_of(path) is not None and role_of(path) == "source" and not COPIED.search(path)


def _lines_with(pattern: re.Pattern[bytes], path: str, content: bytes) -> Iterator[Hit]:
    """Yield the lines of a file in which a pattern is found that spans no line break."""
    start, number = 0, 1
    while found := pattern.search(content, start):
        begin, end = content.rfind(b"\n", 0, found.start()) + 1, content.find(b"\n", found.end())
        line = content[begin : end if end >= 0 else None]
        number += content.count(b"\n", start, begin)
        yield Hit(path, number, line.decode("utf-8", "replace"))
        if end < 0:
            return
        start, number = end + 1, number + 1


def _parse_hit(record: bytes, sha: str) -> Hit | None:
    """Parse ``sha:path NUL line NUL text``."""
    head, _, rest = record.partition(b"\0")
    number, _, text = rest.partition(b"\0")
    if not number.isdigit():
        return None
    path = os.fsdecode(head).removeprefix(f"{sha}:")
    return Hit(path, int(number), text.decode("utf-8", "replace"))
