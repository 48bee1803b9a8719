"""Parse commands, also of edited comments: only on a line of their own, never in code, quotes or HTML comments."""

import html
import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt

from bot.jobs import MAX_ARGUMENT

MAX_COMMANDS = 10
"""Commands that are accepted from one comment."""
MAX_TEXT = 65_536
"""Characters of a comment that are parsed; GitHub accepts no more."""
_COMMAND = re.compile(r" {0,3}/triage(?:[ \t]{1,20}(\S{1,60})(?:[ \t](.*))?)?[ \t]*", re.IGNORECASE)
_HEAD = len("   /triage")
# Browsers send line breaks of forms as CRLF.
_BREAK = re.compile(r"\r\n?")
_HIDING = re.compile(r"`+|<!--|<code\b", re.IGNORECASE)
_ENDS = {"<!--": "-->", "<code": "</code"}
# Only blocks are parsed here, because the inline rules take quadratic time on hostile text. Code spans and comments in
# paragraphs are found below, in linear time for any input.
_BLOCKS = MarkdownIt("commonmark").disable(["inline", "reference"])
_UNESCAPED = 3
"""Maximum rounds of decoding of character references, which may be nested."""
_UNSEEN = frozenset({"Cf", "Cn", "Co", "Cs", "Mn", "Me"})
"""Unicode categories of characters that a reader does not see, or sees as part of another character."""
_MARKS = re.compile(r"[*_~`\\]+")
_WORD = re.compile(r"/?[^\W_]+")
_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Command:
    """One command as it was typed."""

    name: str
    """``triage`` if nothing follows; else the next word, known or not."""
    argument: str = ""
    ordinal: int = 0

    @property
    def canonical(self) -> str:
        """The command with normalized spaces; equal for the same command."""
        return f"{self.name} {' '.join(self.argument.split())}".rstrip()


def parse(text: str) -> list[Command]:
    """Return the commands of a comment, in order, at most `MAX_COMMANDS`."""
    found: list[Command] = []
    for line in _own_lines(_BREAK.sub("\n", text[:MAX_TEXT])):
        match = _COMMAND.fullmatch(line)
        if match and len(found) < MAX_COMMANDS:
            name, argument = (match[1] or "triage").lower(), (match[2] or "").strip()
            found.append(Command(name, argument[:MAX_ARGUMENT], len(found)))
    return found


def _own_lines(text: str) -> Iterator[str]:
    """Yield the lines of the comment's own paragraphs, without quotes, as they were typed."""
    # Most comments have no command and skip the Markdown parser.
    if "/triage" not in text.lower():
        return
    lines, quotes = text.split("\n"), 0
    for token in _BLOCKS.parse(text):
        quotes += token.nesting if token.type.startswith("blockquote") else 0
        if token.type == "inline" and not quotes and token.map is not None:
            typed = lines[token.map[0] : token.map[1]]
            shown = _without_hidden("\n".join(typed)).split("\n")
            # The argument may contain code; the command itself must not be in code.
            both = zip(typed, shown, strict=True)
            yield from (line for line, seen in both if line[:_HEAD] == seen[:_HEAD])


def _without_hidden(text: str) -> str:
    """Blank out a paragraph's code spans and HTML comments but no line breaks; what begins first hides the rest."""
    runs = _tick_runs(text)
    at = 0
    parts: list[str] = []
    lowered = text.lower()
    for match in _HIDING.finditer(text):
        if match.start() < at:
            continue
        opening = match[0].lower()
        if opening in _ENDS:
            end = lowered.find(_ENDS[opening], match.end())
            end = len(text) if end < 0 else end + len(_ENDS[opening])
        else:
            same_length = runs[len(opening)]
            following = bisect_right(same_length, match.start())
            if following == len(same_length):
                continue
            end = same_length[following] + len(opening)
        parts += (text[at : match.start()], "\x00", "\n\x00" * text.count("\n", match.start(), end))
        at = end
    return "".join((*parts, text[at:]))


def _tick_runs(text: str) -> dict[int, list[int]]:
    """Return the positions of runs of backticks by length: a code span ends only at a run of the same length."""
    runs: dict[int, list[int]] = defaultdict(list)
    for match in re.finditer(r"`+", text):
        runs[len(match[0])].append(match.start())
    return runs


def new_commands(commands: Sequence[Command], before: str | None, *, by_author: bool) -> list[Command]:
    """Return the commands that the editor wrote; none if ``before``, the text before the edit, is unknown.

    A line that was in a comment, a quote or a code block before is not the editor's, whatever revealed it. In another
    person's edit, letters and digits are compared, so that revealing a hidden command cannot run it with the editor's
    permission. In the author's own edit, whole words are compared, so that a command runs after a typo is fixed.
    """
    # If unknown, no command runs: the commands may be another person's.
    if before is None:
        return []
    was_there = _was_present if by_author else _was_hidden
    earlier = _plain(before)
    return [command for command in commands if not was_there(_plain(f"/triage {_typed(command)}"), earlier)]


def _typed(command: Command) -> str:
    """Return the text after ``/triage``. A bare ``/triage`` has the name ``triage`` and no text."""
    return "" if (command.name == "triage" and not command.argument) else f"{command.name} {command.argument}"


def _was_present(line: str, before: str) -> bool:
    """Return whether a text had the line as whole words; a bare ``/triage``, which begins all commands, as a line."""
    line_words = _words(line)
    lines = [_words(item) for item in before.split("\n")]
    return line_words in lines if line_words == "/triage" else f" {line_words} " in f" {' '.join(lines)} "


def _was_hidden(line: str, before: str) -> bool:
    """Return whether the earlier text contained the line's letters and digits, ignoring all other characters."""
    return _NO_LETTER.sub("", line) in _NO_LETTER.sub("", before)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(_MARKS.sub("", text)))


def _plain(text: str) -> str:
    """Return text without invisible characters, in compatibility decomposition (NFKD) and case-folded."""
    for _ in range(_UNESCAPED):
        text = html.unescape(text)
    visible_line = (char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char) not in _UNSEEN)
    return "".join(visible_line).casefold()
