"""The parts of an issue that may quote a message, and the match of a literal's fixed parts in them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

from nodes.search.facts.inquiry import IssueParts
from nodes.search.facts.output.literals import Literal
from nodes.search.facts.output.shapes import ERRORS
from nodes.search.issue.mentions.found import ANNOUNCED
from nodes.search.issue.mentions.places import URL
from nodes.search.tokens import STOPWORDS, WORD, normalise_space

MAX_GAP = 240
"""Maximum number of characters of one value in a message."""
MAX_TRIES = 8
"""Maximum number of occurrences of one part that are tried."""
SHORTEST_HEAD, LONGEST_HEAD, LONGEST_VALUE = 5, 12, 80
"""Number of characters with which a truncated message must begin, and maximum length of a value that is truncated."""
# A template of few fixed words fits any text, and in prose three words in a row match by chance.
FIXED_WORDS, CONTENT_WORDS, PROSE_WORDS, MANY_WORDS = 3, 2, 4, 7
LONG_RUN, MEANING_OF_RUN, MOST_WORDS = 7, 4, 2_000
"""Minimum number of words of a part of a message that report and code share, and of those that say something; maximum
number of words of a text in which it is looked for."""
NARROW = 60
"""Minimum length of a line that a screen or a tracker may have truncated without a mark, in characters."""
_CLOSING = " \"'”\u2019»`)]"
"""Characters that may follow an ellipsis."""
_EDGES = " .:;,!'\"`()[]<>"
"""Characters around the fixed parts of a message that reports often change."""
_TYPOGRAPHIC = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
"""Quotes and apostrophes that trackers and keyboards write for those of code."""
# Rules such as `===` surround banners of test runners; imports, prompts and frames do not belong to messages.
_DROPPED = re.compile(
    r"\s*(?:[=*_-]{3,}|File \"|>>>|\.\.\. |In \[|Out\[|\$ |import\b|from\s+\S+\s+import\b|#include|using |use )"
)
_RAISED = re.compile(r"(?:raise|throw)\s[^\n]{1,120}\(\s*$")  # the code before the message of an error
_LOGGED = re.compile(r"\W{0,8}(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|CRITICAL)\b")
"""The beginning of a log line without a time that was pasted without mark-up."""
_FOREIGN = re.compile(
    r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff5e]\s?([!-~](?=[^\n]{0,300}: )[ -~]{14,300})"
)
"""English in a sentence of Chinese, Japanese or Korean, which is mostly what a program printed."""
_CHAIN = re.compile(r"\s{0,8}((?:[a-z][\w ,'/-]{3,60}: ){2,8}[ -~]{2,200})$")
"""An error with those that wrap it, as Go prints them."""
_LEVEL = re.compile(r"(?:\[[\w ]{1,20}\])?\W{0,3}(?:(?:bug|error|err|fatal|warning|warn)\W{1,4})?", re.IGNORECASE)
"""What a program or a reporter writes before a message."""
_QUOTED_VALUE = re.compile(r":? (?:'[^\s']{1,60}'|\"[^\s\"]{1,60}\"|`[^\s`]{1,60}`)[.!]?")
"""A value at the end of a message."""
STANDARD = re.compile("|".join(ERRORS["standard"]), re.IGNORECASE)
"""Messages of interpreters and standard libraries; a literal that equals one does not identify the printing code."""


@dataclass(frozen=True, slots=True)
class MessageText:
    """A part of the issue with normalised white space."""

    text: str
    is_prose: bool
    """Whether it is plain prose, in which three consecutive words may match by chance."""
    cut: int = 0
    """The number of fixed words that suffice if the message may be truncated at the end; 0 if it is complete."""


def texts(issue: IssueParts) -> list[MessageText]:
    """Return the parts of an issue that may contain a message, each at most a paragraph or a block."""
    found = [MessageText(normalise_space(trace.message), is_prose=False) for trace in issue.traces if trace.message]
    found += [MessageText(normalise_space(issue.title), is_prose=True)]
    found += [MessageText(normalise_space(span), is_prose=False) for span in issue.spans if " " in span]
    found += [MessageText(run, is_prose=True) for run in _runs(issue.prose)]
    announced = (message for line in issue.prose for message in ANNOUNCED.findall(line))
    found += [MessageText(normalise_space(message), is_prose=False) for message in announced]
    quoted = (run for line in issue.prose for run in (*_FOREIGN.findall(line), *_CHAIN.findall(line)))
    found += [MessageText(normalise_space(run), is_prose=False) for run in quoted]
    logged = {line.text for line in issue.logged}
    found += [
        MessageText(normalise_space(line), is_prose=False)
        for line in issue.prose
        if _LOGGED.match(line) or line.strip() in logged
    ]
    loud = ([line if line.strip() not in issue.quiet else "" for line in block.split("\n")] for block in issue.blocks)
    found += [MessageText(run, is_prose=False) for block in loud for run in _runs(block)]
    found += _truncated(issue)
    found += [MessageText(normalise_space(line), is_prose=True) for line in issue.prose if len(line) <= LONGEST_VALUE]
    # ``is_message`` needs three consecutive words, so a shorter text matches nothing.
    return [text for text in dict.fromkeys(found) if text.text.count(" ") >= 2]


def _truncated(issue: IssueParts) -> Iterator[MessageText]:
    """Yield the lines that end with an ellipsis, and those that a screen or a tracker may have truncated."""
    traced = (trace.message for trace in issue.traces if trace.message)
    code = [line for block in issue.blocks for line in block.split("\n") if line.strip() not in issue.quiet]
    for line in (issue.title, *traced, *issue.spans, *issue.prose, *code):
        bare = line.rstrip(_CLOSING)
        mark = next((mark for mark in ("…", "...") if bare.endswith(mark)), None)
        if mark:
            yield MessageText(normalise_space(bare.rstrip(f" {mark}")), is_prose=False, cut=PROSE_WORDS)
    # Lines of prose end anywhere, so without a mark only code and the title may be truncated.
    before = {line.text: len(line.prefix) for line in issue.logged}
    for line in (issue.title, *code):
        if len(line.rstrip()) + before.get(line.strip(), 0) >= NARROW:
            yield MessageText(normalise_space(line), is_prose=False, cut=PROSE_WORDS + 1)


def _runs(lines: Sequence[str]) -> Iterator[str]:
    """Join the lines of a wrapped message; a line that cannot be part of a message ends it."""
    held: list[str] = []
    for line in (*lines, ""):
        plain = line.strip()
        if not plain or _DROPPED.match(plain):
            if held:
                yield normalise_space(" ".join(held))
            held = []
            continue
        pieces = URL.split(plain)
        held.append(pieces[0])
        for piece in pieces[1:]:
            yield normalise_space(" ".join(held))
            held = [piece]


def is_message(parts: Sequence[str], before: str = "") -> bool:
    """Return whether a literal has three consecutive fixed words and two significant ones, or many in an error."""
    weights = [_weight(part) for part in parts]
    is_long = sum(words for words, _ in weights) >= MANY_WORDS and bool(_RAISED.search(before))
    means = sum(means for _, means in weights) + is_long
    return any(words >= FIXED_WORDS for words, _ in weights) and means >= CONTENT_WORDS


def fixed_words(parts: Sequence[str]) -> int:
    """Return the number of words of the longest fixed part."""
    return max((_weight(part)[0] for part in parts), default=0)


def _weight(part: str) -> tuple[int, int]:
    words = WORD.findall(part)
    return len(words), sum(len(word) >= 3 and word.lower() not in STOPWORDS for word in words)


def match_parts(parts: Sequence[str], text: str) -> str | None:
    """Return the words of a text that contain all parts in order, or None."""
    fixed = [part.strip(_EDGES) for part in parts]
    fixed = [part for part in fixed if part and WORD.search(part)]
    if not fixed:
        return None
    # The longest part occurs least often, so few positions of the others have to be tried.
    anchor = max(range(len(fixed)), key=lambda at: len(fixed[at]))
    at, plain = -1, text.translate(_TYPOGRAPHIC)
    for _ in range(MAX_TRIES):
        at = plain.find(fixed[anchor], at + 1)
        if at < 0:
            return None
        start, end = _backward(fixed[:anchor], plain, at), _forward(fixed[anchor + 1 :], plain, at + len(fixed[anchor]))
        if start is not None and end is not None and _is_whole(text, start, end):
            # An edge that closes what the message opens is part of it.
            return text[
                start : end + (text[end : end + 1] == ")" and text.count("(", start, end) > text.count(")", start, end))
            ]
    return None


def match_whole(literal: Literal, text: str) -> str | None:
    """Return a text without its level if it consists of a short literal's parts and of values, fewer than its words.

    Two words suffice before a value in quotes that the code inserts.
    """
    words = match_parts(literal.parts, text)
    fixed, means = map(sum, zip(*map(_weight, literal.parts), strict=True))
    if words is None or means < CONTENT_WORDS or len(WORD.findall(words)) >= 2 * fixed:
        return None
    before, _, after = text.partition(words)
    if not _LEVEL.fullmatch(before):
        return None
    if literal.takes_value and (found := _QUOTED_VALUE.fullmatch(after)):
        return words + found[0].rstrip(".!")
    return words if fixed >= FIXED_WORDS and not WORD.search(after) else None


def match_run(parts: Sequence[str], text: str) -> str | None:
    """Return the longest run of words that a text shares with a part, if it is long: people leave out the ends."""
    words = list(islice(WORD.finditer(text), MOST_WORDS))
    plain = [word[0] for word in words]
    for part in parts:
        run = SequenceMatcher(None, plain, WORD.findall(part), autojunk=False).find_longest_match()
        start, end = (words[run.a].start(), words[run.a + run.size - 1].end()) if run.size >= LONG_RUN else (0, 0)
        # What is cut off may be the beginning of several messages.
        is_message = text[start:end] in normalise_space(part) and not text.startswith(("…", "..."), end)
        if is_message and _weight(text[start:end])[1] >= MEANING_OF_RUN:
            return text[start:end]
    return None


def match_start(parts: Sequence[str], text: str, enough: int) -> str | None:
    """Return the end of a text if it begins a message: its first fixed parts in order, with ``enough`` words in all."""
    fixed = [part for item in parts if WORD.search(part := item.strip(_EDGES))]
    head = fixed[0][:LONGEST_HEAD] if fixed else ""
    at = -1
    for _ in range(MAX_TRIES if len(head) >= SHORTEST_HEAD else 0):
        at = text.find(head, at + 1)
        if at < 0:
            return None
        held = _until_end(fixed, text, at)
        words, means = _weight(held or "")
        if held and words >= enough and means >= CONTENT_WORDS and _is_whole(text, at, len(text)):
            return text[at:]
    return None


def _until_end(fixed: Sequence[str], text: str, at: int) -> str | None:
    """Return the fixed text from a position to the text's end, or None if the text continues differently."""
    held, position = "", at
    for number, part in enumerate(fixed):
        begin = text.find(part, position, position + (MAX_GAP if number else 0) + len(part))
        if begin < 0:
            return _truncated_part(held, part, text[position:].rstrip(_EDGES), is_first=number == 0)
        held, position = f"{held} {part}", begin + len(part)
    return None


def _truncated_part(held: str, part: str, rest: str, *, is_first: bool) -> str | None:
    """Return the fixed text if the rest of a text is a value, the beginning of a part, or both in this order."""
    if part.startswith(rest) or is_first:
        return f"{held} {rest}" if part.startswith(rest) else None
    at = -1
    for _ in range(MAX_TRIES):
        at = rest.find(part[:2], at + 1, MAX_GAP)
        if at < 0:
            break
        if part.startswith(rest[at:]):
            return f"{held} {rest[at:]}"
    return held if len(rest) <= LONGEST_VALUE and " " not in rest.strip() else None


def _backward(parts: Sequence[str], text: str, at: int) -> int | None:
    for part in reversed(parts):
        at = text.rfind(part, max(0, at - MAX_GAP - len(part)), at)
        if at < 0:
            return None
    return at


def _forward(parts: Sequence[str], text: str, at: int) -> int | None:
    for part in parts:
        found = text.find(part, at, at + MAX_GAP + len(part))
        if found < 0:
            return None
        at = found + len(part)
    return at


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a range begins and ends at word boundaries."""
    left = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
    return left and (end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum()))
