"""``intended``: a comment, docstring or page that states that a named definition behaves as intended."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING

from nodes.search.facts.code import whole_word
from nodes.search.facts.inquiry import normalise_space
from nodes.search.facts.names import BUILT_IN, names
from nodes.search.facts.names.documented_here import pages_about
from nodes.search.facts.types import Fact
from nodes.search.languages import language_of
from nodes.search.languages.lexemes import pieces
from nodes.search.tokens import STOPWORDS, WORD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness

OF = frozenset({"linked_here", "raised_here", "pasted_here", "defined_once", "built_here", "read_here", "default_here"})
"""Kinds of facts whose definition is read."""
ABOVE, MAX_LINES = 10, 120
"""Number of lines above a definition that are read with it, and maximum number of lines in all."""
MAX_NAMES, LONGEST_PAGE = 5, 2_000
"""Maximum number of names that are looked up in the documentation, and of lines of a page that are read."""
LONGEST = 240
"""Maximum length of a sentence that is quoted, in characters."""
SHARED = 2
"""Minimum number of significant words that the sentence shares with the report, besides names of the definition."""
_INTENT = re.compile(
    r"\bby design\b|\bon purpose\b|\bintention(?:al|ally)?\b|\bintended\b|\bdeliberate(?:ly)?\b"
    r"|\bknown limitation\b",
    re.IGNORECASE,
)
_NOT_SO = re.compile(
    r"\b(?:unintended|not intended)|\bnot (?:by design|on purpose|intentional\w*)|\b(?:todo|fixme|xxx)\b|\?", re.I
)
_COMMENT = re.compile(r"\s{0,200}(?:#|//|/\*|\*)")
_END = re.compile(r"[.!?:;](?=\s)|\n\n")
_MARKS = re.compile(r"^(?:#+|//+[/!]?|/?\*+/?|\"{3}|'{3}|--)|(?:\*{1,9}/|\"{3}|'{3})$")
"""Markers at the beginning and end of lines of comments and docstrings, without white space."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the sentence of intention in the comments of a definition that another fact is about."""
    code, issue = inquiry.code, inquiry.issue
    # Without words in common, a sentence of intention is about another property of the definition.
    report = _terms(" ".join((issue.title, *issue.prose)))
    read: set[int] = set()
    for fact in (fact for fact in inquiry.shown if fact.kind in OF and fact.line):
        number = code.number(fact.path)
        row = code.around(number, fact.line or 0) if number is not None else None
        if number is None or row is None or row in read:
            continue
        # Several facts may be about one definition, whose comments are read once.
        read.add(row)
        name, first = code.index.name_of(row), _begin(code.lines(number), int(code.index.def_start[row]))
        last = min(int(code.index.def_end[row]), first + MAX_LINES)
        for line, sentence in sentences(code.path(number), code.lines(number)[first - 1 : last], first):
            text = code.text(number, line)
            if text and len((_terms(sentence) - _terms(name)) & report) >= SHARED:
                says = f"A comment in `{name}` says: “{sentence}”"
                follows = (fact.path or "", fact.line or 0)
                yield Fact("intended", says, None, fact.path, line, text, name, follows=follows)
                return
    yield from islice(_of_pages(inquiry, report), 1)


def _of_pages(inquiry: FinderInput, report: set[str]) -> Iterator[Fact]:
    """Yield the sentences of intention about a name of the report in the few documentation pages that have it."""
    code = inquiry.code
    for name in [one.last for one in names(inquiry.issue) if one.last not in BUILT_IN][:MAX_NAMES]:
        for number in pages_about(inquiry, name):
            path, lines = code.path(number), code.lines(number)[:LONGEST_PAGE]
            for line, sentence in sentences(path, lines, 1):
                text = code.text(number, line)
                shared = (_terms(sentence) - _terms(name)) & report
                if text and whole_word(name).search(sentence) and len(shared) >= SHARED and inquiry.issue.holds(name):
                    yield Fact("intended", f"`{path}` says: “{sentence}”", name, path, line, text)


def _begin(lines: Sequence[str], start: int) -> int:
    """Return the first line of the comments directly above a definition, or its own first line."""
    first = start
    while first > max(1, start - ABOVE) and _COMMENT.match(lines[first - 2]):
        first -= 1
    return first


def sentences(path: str, lines: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield the sentences of comments and docstrings that state an intention, each with the line that states it.

    Args:
        path: the file, for its language.
        lines: its lines from ``first`` on.
        first: the number of the first line (1-based).
    """
    text, starts = "", []
    prose_lines = _is_prose(path, lines)
    for line, inside in zip(lines, prose_lines, strict=True):
        starts.append(len(text))
        plain = _MARKS.sub("", line.strip()).strip() if inside else ""
        text += f"{plain} " if plain else "\n\n"
    for found in _INTENT.finditer(text):
        begin = max(
            (one.end() for one in _END.finditer(text, max(0, found.start() - LONGEST), found.start())), default=0
        )
        stop = _END.search(text, found.end(), found.end() + LONGEST)
        sentence = text[begin : stop.end() if stop else len(text)].strip()
        # A negation, a question or a TODO states that the behaviour is not, or may not be, intended.
        if len(sentence) <= LONGEST and not _NOT_SO.search(sentence):
            yield first + bisect_right(starts, found.start()) - 1, sentence


def _is_prose(path: str, lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is part of a comment or a docstring, and has no code; a page has only prose."""
    language = language_of(path)
    prose_lines, at, before = [language is None] * len(lines), 0, ""
    for kind, text in pieces(language, "\n".join(lines)) if language else ():
        prose = kind == "comment" or (kind == "string" and text.startswith(('"""', "'''")))
        # A remark behind code shares its line with the code.
        if prose and not before.strip():
            prose_lines[at : at + text.count("\n") + 1] = [True] * (text.count("\n") + 1)
        at += text.count("\n")
        before = text.rpartition("\n")[2] if "\n" in text else before + text
    return prose_lines


def _terms(text: str) -> set[str]:
    """Return the significant words of a text, without those that state an intention."""
    words = WORD.findall(_INTENT.sub(" ", text))
    return {word.lower().removesuffix("s") for word in words if len(word) >= 4 and word.lower() not in STOPWORDS}


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line states an intention, and that it and the lines around it contain the sentence."""
    line = fact.line or 0
    # A sentence may have several lines, of which the fact names the one that states the intention.
    lines = witness.lines(fact.path or "", max(1, line - ABOVE), line + ABOVE)
    quoted = fact.says.partition("“")[2].removesuffix("”")
    around = normalise_space(" ".join(_MARKS.sub("", text.strip()) for text in lines))
    held = bool(quoted) and normalise_space(quoted) in around and _INTENT.search(quoted)
    return None if held else "the lines do not have the sentence"
