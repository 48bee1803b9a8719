"""Parse an issue's text into title, prose, code and explicit names, and weight its words.

The rarity of a word in the code is not a measure: hardly any code contains "unexpected" or "reproduce".
``issue_stop_words.json`` has the words of at least two in a hundred issues. ``benchmarks.ranking.issue_stop_words``
learns them from a separate set of repositories.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

from nodes.search.issue.mentions.found import named_symbols
from nodes.search.issue.mentions.markdown import without_comments
from nodes.search.issue.normal.evidence import is_fence
from nodes.search.issue.normal.report import without_lower_levels
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.tokens import STOPWORDS, load_sections, query_terms, shingles
from nodes.search.types import Query, StackTrace

_HEADING = re.compile(r" {0,3}(?:#{1,6}[ \t]{1,8}(\S.{0,120})|\*\*([^*\n]{2,60})\*\*:?[ \t]{0,8})$")
_BOX = re.compile(r"[ \t]{0,12}[-*+][ \t]{0,4}\[[ xX]\]")
_FORMS = load_sections(Path(__file__).with_name("query.txt"))
_URL, _ENVIRONMENT, _VERSION, CODE_LINE, QUOTED = (
    re.compile("".join(_FORMS[name])) for name in "url environment version code_line quoted".split()
)
_MAX_LINE = 2_000  # characters of a line in which a version or a heading is searched for
STOP_WORDS = Path(__file__).with_name("issue_stop_words.json")
HALVED_AT = 5.0
"""Percentage of issues at which the weight of a word is halved."""

MAX_ISSUE_TEXT = 60_000
"""Maximum characters of a text that are read; the rest of a pasted log repeats the same words."""
# A pasted log has thousands of distinct words; the most frequent ones suffice, and the time of a query grows with
# them.
MAX_TERMS = 600
IDENTIFIER = re.compile(r"[^\W\d]\w{1,63}")
DOTTED = re.compile(r"[^\W\d]\w{0,63}(?:(?:\.|::)[^\W\d]\w{0,63}){1,9}")
IMPORT = re.compile(r"^[ \t>.]{0,8}from ([\w.]{1,200}) import ([\w, ]{1,300})", re.MULTILINE)
PATH = re.compile(r"[\w@.+/\\-]{3,300}")
COMPOUND = re.compile(r"[a-zA-Z0-9]_[a-zA-Z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]|^_")
FIELDS = ("title", "prose", "code")
BACKTICK_FACTOR = 1.6
"""Factor for the weight of a word that occurs in backticks."""


def without_asides(body: str) -> str:
    """Drop a form's comments, headings, check boxes, environment, version lines and links; other code stays."""
    reported: list[str] = []
    fenced = in_environment = False
    for line in without_comments(body).split("\n"):
        at_fence = is_fence(line)
        # A fence inside another one is not tracked: here a wrong guess only adds or drops words.
        fenced ^= at_fence
        heading = None if fenced or at_fence else _HEADING.match(line[:_MAX_LINE])
        if heading:
            in_environment = bool(_ENVIRONMENT.search(heading[1] or heading[2]))
        # Fences of a dropped section stay, so that later lines are split into prose and code correctly.
        elif at_fence or (not in_environment and fenced):
            reported.append(line)
        elif not in_environment and not _BOX.match(line) and not _VERSION.match(line[:_MAX_LINE]):
            reported.append(_URL.sub(" ", line))
    return "\n".join(reported)


@cache
def issue_frequencies() -> dict[str, int]:
    """Return the terms that many issues contain, with the percentage of issues."""
    percentages: dict[str, int] = json.loads(STOP_WORDS.read_text(encoding="utf-8"))
    return percentages


@dataclass(frozen=True, slots=True)
class Parsed:
    """The contents of a query by field."""

    texts: dict[str, str]
    """Texts by field of ``FIELDS``."""
    terms: dict[str, dict[str, float]]
    """By field: each term with its damped weight."""
    worth: dict[str, float]
    """By term: how informative it is about a fault's location; 1 for most terms."""
    identifiers: dict[str, float]
    """Words that may name a definition, each with a strength (0 to 1): how much it looks like a name."""
    dotted: tuple[str, ...]
    """Dotted names, with ``.`` between the parts."""
    paths: tuple[str, ...]
    """Words that may be paths or file names."""
    traces: tuple[StackTrace, ...]
    shingles: frozenset[int]

    @property
    def weights(self) -> dict[str, float]:
        """Return the summed weight of each term in all fields."""
        summed: defaultdict[str, float] = defaultdict(float)
        for term, weight in chain.from_iterable(terms.items() for terms in self.terms.values()):
            summed[term] += weight
        return dict(summed)


def parse_query(query: Query) -> Parsed:
    """Parse a query; text that came later counts as prose."""
    body = "\n".join([query.body, *query.extra])[:MAX_ISSUE_TEXT].replace("\r\n", "\n")
    title = query.title[:1_000]
    traces = tuple(find_traces(body))
    # Traces are removed first, because their offsets refer to the unchanged body.
    prose, code = split_code(without_asides(without_lower_levels(blank(body, traces))))
    texts = {"title": title, "prose": prose, "code": code}
    # A logarithm, so that repetitions count less than new terms.
    terms = {
        field: {term: 1 + math.log(times) for term, times in query_terms(text).most_common(MAX_TERMS)}
        for field, text in texts.items()
    }
    full_text = f"{title}\n{without_lower_levels(body)}"
    return Parsed(
        texts=texts,
        terms=terms,
        worth=worth({term for field in terms.values() for term in field}, full_text),
        identifiers=identifiers(texts, named_symbols(full_text)),
        dotted=dotted_names(full_text),
        paths=tuple(dict.fromkeys(PATH.findall(full_text)))[:MAX_TERMS],
        traces=traces,
        # The text with its traces: the message of an error is in the trace.
        shingles=frozenset(shingles(full_text)),
    )


def blank(text: str, traces: Iterable[StackTrace]) -> str:
    """Replace stack traces by their messages: their paths and function names are used as frames."""
    # From the end, so that the offsets of earlier traces stay valid. Traces of merged logs overlap.
    floor = len(text)
    for trace in sorted(traces, key=lambda trace: -trace.start):
        message = f"{trace.error or ''} {trace.message or ''}"
        text = f"{text[: trace.start]}\n{message}\n{text[min(trace.end, floor) :]}"
        floor = trace.start
    return text


def split_code(text: str) -> tuple[str, str]:
    """Split Markdown into prose and code; code is fenced, indented or follows a prompt."""
    prose: list[str] = []
    code: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if is_fence(line):
            fenced = not fenced
        else:
            (code if fenced or CODE_LINE.match(line) else prose).append(line)
    return "\n".join(prose), "\n".join(code)


def worth(terms: Iterable[str], text: str) -> dict[str, float]:
    """Return the weight of each term: low for a term of many issues, higher for a term in backticks."""
    in_backticks, common = query_terms("\n".join(QUOTED.findall(text))), issue_frequencies()
    return {
        term: 1 / (1 + common.get(term, 0) / HALVED_AT) * (BACKTICK_FACTOR if term in in_backticks else 1.0)
        for term in terms
    }


def identifiers(texts: dict[str, str], symbols: Iterable[str]) -> dict[str, float]:
    """Return the words that may name a definition, with their strengths."""
    found: dict[str, float] = {}
    named = {part for symbol in symbols for part in re.split(r"[.:#]+", symbol)}
    # A plain word of prose is rarely a name; a title is short and chosen, and code consists of names.
    for field, plain in (("title", 0.5), ("prose", 0.25), ("code", 0.5)):
        for word in IDENTIFIER.findall(texts[field]):
            if len(word) < 3 or word.lower() in STOPWORDS:
                continue
            is_name = word in named or COMPOUND.search(word) or (word[0].isupper() and field == "code")
            found[word] = max(found.get(word, 0.0), 1.0 if is_name else plain)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[: 2 * MAX_TERMS])


def dotted_names(text: str) -> tuple[str, ...]:
    """Return dotted names, including the full names of ``from a import b``."""
    names = [name.replace("::", ".") for name in DOTTED.findall(text)]
    for module, members in IMPORT.findall(text):
        names.extend(f"{module}.{member.split()[0]}" for member in members.split(",") if member.split())
    # ``dict.fromkeys`` removes repeats and preserves the order; a set would make the cut depend on hashing.
    return tuple(dict.fromkeys(names))[:MAX_TERMS]
