"""``changed_since``: a line of the release that the report names, which a later commit changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nodes.search.facts.changes.named_change import short
from nodes.search.facts.changes.releases import last_to_change, named_release
from nodes.search.facts.code import MAX_WIDTH
from nodes.search.facts.inquiry import normalise_space
from nodes.search.facts.output.built_here import find_matches
from nodes.search.facts.output.frames import MAX_FRAMES, frame_text, is_call, is_forwarding, roots
from nodes.search.facts.output.literals import literals_at
from nodes.search.facts.output.messages import STANDARD, is_message, match_parts, texts
from nodes.search.facts.output.raised_here import MAX_TRACES, frame_words
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import is_own
from nodes.search.history.log import DEEPEST
from nodes.search.history.mainline import containing
from nodes.search.ranking.features.frames import files_of_frame
from nodes.search.tokens import WORD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.facts.changes.releases import NamedRelease
    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.output.messages import Text
    from nodes.search.facts.witness import Witness
    from nodes.search.git import Repository
    from nodes.search.history.versions import Release

MAX_SEARCHED = 2
"""Maximum number of lines whose change is searched for."""
MAX_PATTERNS, MAX_HITS = 24, 200
"""Maximum number of phrases of messages that are searched for in the release, and of lines found."""
_ENOUGH = 12
"""Minimum number of letters and digits that make a line distinctive."""
_PHRASE = 4
"""Number of words of a message that are searched for."""


_ERROR = re.compile(r"(?:[\w.]{0,100}(?:Error|Exception)\b|(?:fatal|error|panic)\b)[^:]{0,60}:", re.IGNORECASE)
"""The beginning of an error's message."""


class _Line(NamedTuple):
    """A line of a file of a release, its number (1-based), and the words of the report that refer to it."""

    path: str
    number: int
    text: str
    words: str
    says: str


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines that the report's trace or message comes from, if the commit that is read no longer has them."""
    messages = [one for one in texts(inquiry.issue) if _is_error(one, inquiry)]
    named = named_release(inquiry) if messages or inquiry.issue.traces else None
    if named is None or named.release.commit == inquiry.code.sha:
        return
    release = named.release
    if not 0 < len(inquiry.log.between(release.commit, inquiry.code.sha)) < DEEPEST:
        return
    lines = {
        (line.path, line.number): line
        for line in (*_of_messages(inquiry, release, messages), *_of_frames(inquiry, release))
    }
    repository, sha = inquiry.code.repository, inquiry.code.sha
    # The pickaxe search walks the history once for each line, so only lines that are gone are searched for.
    for line in [line for line in lines.values() if is_gone(repository, sha, line.path, line.text)][:MAX_SEARCHED]:
        if fact := _fact(inquiry, named, line):
            yield fact


def _of_frames(inquiry: FinderInput, release: Release) -> Iterator[_Line]:
    """Yield the innermost own frame of each trace, if the release has its text, or its call, at exactly its line."""
    code, issue = inquiry.code, inquiry.issue
    for trace, _ in list(roots(issue))[:MAX_TRACES]:
        inner = None
        for frame in trace.frames[:MAX_FRAMES]:
            numbers = [number for number in files_of_frame(code.index, frame) if code.own[number]]
            if len(numbers) == 1 and frame.line and not is_forwarding(frame):
                path = code.path(numbers[0])
                text = code.repository.lines(release.commit, path, frame.line, frame.line) or ""
                printed, words = frame_text(issue, trace, frame), frame_words(issue.trace_text(trace), frame)
                same = normalise_space(text) == printed if printed else is_call(text, inner)
                if same and words:
                    yield _Line(path, frame.line, text, words, "The report's trace passes through this line")
                break
            inner = frame


def _of_messages(inquiry: FinderInput, release: Release, messages: Sequence[Text]) -> Iterator[_Line]:
    """Yield the lines of the release that build an error's message which no code of this commit builds."""
    repository, code = inquiry.code.repository, inquiry.code
    for text in [one for one in messages if not any(find_matches(code, [one]))][:MAX_SEARCHED]:
        for path, line in _holding(repository, release.commit, text.text):
            lines = (repository.read_file(release.commit, path) or b"").decode("utf-8", "replace").split("\n")
            if not 1 <= line <= len(lines):
                continue
            for literal in literals_at(path, lines, line):
                words = match_parts(literal.parts, text.text)
                if literal.line == line and is_message(literal.parts) and words and inquiry.issue.holds(words):
                    yield _Line(path, line, lines[line - 1], words, "The report's message is built by this line")


def _is_error(text: Text, inquiry: FinderInput) -> bool:
    """Return whether a text is an error's message, and not one of an interpreter."""
    of_trace = any(normalise_space(trace.message) == text.text for trace in inquiry.issue.traces if trace.message)
    return (of_trace or (not text.is_prose and bool(_ERROR.match(text.text)))) and not STANDARD.search(text.text)


def _holding(repository: Repository, sha: str, message: str) -> list[tuple[str, int]]:
    """Return the lines of source files of a commit that contain four consecutive words of a message."""
    words = list(WORD.finditer(message))
    runs = [message[one.start() : other.end()] for one, other in zip(words, words[_PHRASE - 1 :], strict=False)]
    patterns = [part for run in dict.fromkeys(runs[:MAX_PATTERNS]) for part in ("-e", run)]
    if not patterns:
        return []
    command = ("grep", "-I", "-n", "-z", "-F", "--full-name", "--max-count=5", *patterns, sha, "--")
    found = []
    for record in (repository.cached_output("--no-pager", *command) or b"").split(b"\n")[:MAX_HITS]:
        name, _, rest = record.partition(b"\0")
        path = name.decode("utf-8", "replace").removeprefix(f"{sha}:")
        number = rest.partition(b"\0")[0]
        if number.isdigit() and is_own(path, path):
            found.append((path, int(number)))
    return found


def is_gone(repository: Repository, sha: str, path: str, text: str) -> bool:
    """Return whether no file of a commit contains a line, and its own file does not contain it in another format."""
    plain = text.strip()
    if _letters(plain) == "" or len(_letters(plain)) < _ENOUGH or len(plain) > MAX_WIDTH:
        return False
    content = repository.read_file(sha, path)
    # A formatter may have wrapped the line, which changed its form only.
    if content is None or _letters(plain) in _letters(content.decode("utf-8", "replace")):
        return False
    command = ("grep", "-I", "-q", "-F", "-e", plain, sha, "--")
    return repository.cached_output("--no-pager", *command) is None


def _letters(text: str) -> str:
    """Return the letters and digits of a text, which formatters leave as they are."""
    return "".join(filter(str.isalnum, text))


def _fact(inquiry: FinderInput, named: NamedRelease, line: _Line) -> Fact | None:
    repository, path, release = inquiry.code.repository, line.path, named.release
    change = last_to_change(repository, line.text.strip(), release.commit, inquiry.code.sha, path)
    commit = next(iter(inquiry.log.details([change])), None) if change else None
    if change is None or commit is None or not _changes(repository, change, path, line.text):
        return None
    later = containing(inquiry.log, change, named.made, release)
    where = f", and {later.version} contains that change" if later else ""
    says = f"{line.says} of {release.version}; `{change[:10]}` “{short(commit.subject)}” changed it{where}."
    text = line.text.removesuffix("\r")
    return Fact(
        "changed_since", says, line.words, path, line.number, text,
        sha=release.commit, change=change, strong=True, unclaimed=True,
    )  # fmt: skip


def _changes(repository: Repository, change: str, path: str, text: str) -> bool:
    """Return whether a file contains a line before a commit, and after the commit not even in another format."""
    before = repository.read_file(repository.resolve(f"{change}~1"), path)
    after = repository.read_file(change, path)
    if before is None or text.strip() not in {line.strip() for line in before.decode("utf-8", "replace").split("\n")}:
        return False
    return after is None or _letters(text) not in _letters(after.decode("utf-8", "replace"))


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the commit is in the history, changed the line, and that the commit that is read lacks it."""
    change, path, text = fact.change or "", fact.path or "", fact.text or ""
    if witness.message(change) is None:
        return "the commit is not in the history of the commit that is read"
    if fact.sha is None or not _changes(witness.repository, change, path, text):
        return "the commit did not change the line"
    return None if is_gone(witness.repository, witness.sha, path, text) else "the line is still there"
