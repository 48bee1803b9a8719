"""``built_here``: the string literal from which the code builds a message that the issue quotes."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from nodes.search.facts.code import Code, is_test
from nodes.search.facts.inquiry import FinderInput, IssueParts
from nodes.search.facts.output.frames import own_files, wrapping
from nodes.search.facts.output.literals import AFTER, BEFORE, MAX_WIDTH, Literal, literals_at
from nodes.search.facts.output.messages import (
    PROSE_WORDS,
    STANDARD,
    MessageText,
    fixed_words,
    is_message,
    match_parts,
    match_run,
    match_start,
    match_whole,
    texts,
)
from nodes.search.facts.output.printed import enclosing, is_printed
from nodes.search.facts.output.refusals import is_refusal
from nodes.search.facts.output.shapes import ERRORS
from nodes.search.facts.places.keys import FILE_OF_TEXTS
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.index.index import lookup
from nodes.search.issue.normal.report import UNKNOWN
from nodes.search.sentences import say
from nodes.search.tokens import (
    STOPWORDS,
    WORD,
    comparable,
    folded,
    load_sections,
    normalise_space,
    query_terms,
    shingles,
)

MAX_PLACES = 60
"""Maximum number of literals that are compared in full."""
COMMON = 12
"""Maximum number of literals that share three words; if there are more, the words are a common phrase."""
# Where more than three places build the same message, 6 % of them were in the fix.
FEW = 3
"""Maximum number of places that build the same message; more places do not help a reader."""
_FORMS = load_sections(Path(__file__).with_name("built_here.txt"))
(_PROGRESS_CALLS, _OF_ERROR, _OF_EVERY_CRASH, _DIAGNOSES, _IN_QUOTES, _VALUE, _QUOTED, _FAILS, _ANNOUNCES) = (
    re.compile("".join(_FORMS[name]))
    for name in "progress_calls of_error of_every_crash diagnoses in_quotes value quoted fails announces".split()
)
RAREST = 3
"""Minimum length of a word that is looked up, less one."""
MAX_SPANS, LONG_ENOUGH, NEAR_CALL = 400, 24, 120
"""Maximum number of parts of a message that are looked for, minimum length of the part that is looked up, and number
of characters before a literal in which the call that raises or logs an error is."""
SHORT, MAX_SHORT, MAX_NEAR = 12, 8, 24
"""Maximum number of words of a short message, of such messages, and of own files that have one of its words."""
LINES_APART = 3
"""Maximum number of lines between literals that build lines of output side by side."""
_OF_FAULT = re.compile(rf"\b(?:{'|'.join(ERRORS['fault'])})\b", re.IGNORECASE)
"""A message that reports a problem itself, whatever call has it."""


@dataclass(frozen=True, slots=True)
class _Match:
    number: int
    literal: Literal
    words: str
    text: MessageText


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the places that build what the report quotes, if there are at most three."""
    code, issue = inquiry.code, inquiry.issue
    ranks = [(normalise_space(line.text), line.rank) for line in issue.logged]
    output, matches = _matches(code, issue, ranks)
    same: dict[str, list[_Match]] = {}
    for match in matches:
        same.setdefault(match.words, []).append(match)
    messages = {normalise_space(trace.message) for trace in issue.traces if trace.message}
    on_trace, wrappers = own_files(code, issue), wrapping(code, issue)
    # If the title quotes another one, messages of the body often describe what works.
    quotes = map(folded, _IN_QUOTES.findall(issue.title))
    titled = [text for text in quotes if len(WORD.findall(text)) >= PROSE_WORDS]
    built = [folded(match.words) for match in matches] if titled else []
    others = bool(titled) and not any(text in folded(issue.title) or any(it in text for it in titled) for text in built)
    quoted = {comparable(found[1]) for line in (issue.title, *issue.prose) for found in _IN_QUOTES.finditer(line)}
    # A line or a block that is the text and nothing else shows it; a short block is rather a label.
    shown = (text for text in map(normalise_space, issue.blocks) if text.count(" ") > PROSE_WORDS)
    quoted |= {comparable(text) for text in (*issue.prose, *shown)}
    spans = tuple(comparable(span) for span in issue.spans if span.count(" ") >= PROSE_WORDS)
    informing = [text for text, rank in ranks if rank > UNKNOWN]
    for match in matches:
        places = same[match.words]
        words = comparable(match.words)
        begins = match.words.count(" ") >= PROSE_WORDS and any(span.startswith(words) for span in spans)
        if not _identifies(code, match, len(places), shown=match in output or words in quoted or begins):
            continue
        # Outside the files of a trace 1 of 14 literals was right. What uses a text's key shows it, not the texts' file.
        calls = (name for name in enclosing(match.literal.before)[0] if not name.endswith(":"))
        is_text = FILE_OF_TEXTS.search(code.path(match.number)) and not any(calls)
        if (on_trace and match.number not in on_trace) or is_text:
            continue
        together = len({(place.number, code.symbol(place.number, place.literal.line)) for place in places}) == 1
        if fact := _fact(inquiry, match, len(places), together=together):
            is_wrapped = match.text.text in wrappers
            # What a log writes when all is well is near the fault by chance, unless the search agrees.
            announces = bool(_ANNOUNCES.match(match.words)) and not _OF_FAULT.search(match.words)
            informs = announces or any(match.words in line for line in informing)
            is_aside = informs and fact.path not in inquiry.first[:1]
            # What a program printed before it crashed does not lead over the crash either.
            stressed = match.words in issue.title or match.text.text in messages or _OF_FAULT.search(match.words)
            strong = fact.strong and not is_wrapped and not others and not is_aside and bool(stressed or not on_trace)
            withheld = fact.unclaimed or announces or not _is_printed(code, match) or not _tells_fault(match)
            yield replace(fact, strong=strong, several=fact.several and not (is_wrapped or others), unclaimed=withheld)


def _matches(code: Code, issue: IssueParts, ranks: Sequence[tuple[str, int]]) -> tuple[list[_Match], list[_Match]]:
    """Return the lines of output that are built side by side, and with them all matches, errors of a log first."""
    # An error says more than a warning of the same log.
    found = sorted(
        find_matches(code, texts(issue)),
        key=lambda match: next((rank for text, rank in ranks if match.words in text), 0),
    )
    # A literal that has a part of the words of another one for the same text is another message.
    whole = [match.words for match in found]
    found = [it for it in found if not any(_begins(it.words, words) for words in whole)]
    output = list(_side_by_side(code, found, issue.title))
    return output, [*output, *found]


def _begins(words: str, whole: str) -> bool:
    """Return whether words are the beginning of longer ones."""
    return whole.startswith(words) and not whole[len(words) : len(words) + 1].isalnum() and whole != words


def _identifies(code: Code, match: _Match, count: int, *, shown: bool) -> bool:
    """Return whether a match identifies one of few places that print it, or build what the report shows as output."""
    # A message that the report cuts off counts only if a single literal begins with it.
    # A literal that equals an interpreter's message was right in 2 of 8 cases.
    # Paths, imports and dotted names have no two spaces.
    if count > FEW or STANDARD.search(match.words) or (match.text.cut and count > 1) or match.words.count(" ") < 2:
        return False
    # What precedes every crash of a program, or what reporters are asked to paste, says nothing about a place.
    if _OF_EVERY_CRASH.search(match.words) or _DIAGNOSES.search(code.path(match.number)):
        return False
    # Banners and lines about progress match as well: 37 % of places were right without this condition, 51 with it.
    # A text that the report quotes as a whole is one of the interface, whatever builds it.
    return shown or _is_message(code, match)


def _is_message(code: Code, match: _Match) -> bool:
    """Return whether the code prints a literal, or the literal reports a problem itself."""
    return _is_printed(code, match) or bool(_OF_FAULT.search(match.words))


def _is_printed(code: Code, match: _Match) -> bool:
    return is_printed(match.literal, code.symbol(match.number, match.literal.line) or "")


def _tells_fault(match: _Match) -> bool:
    """Return whether a message, or the code that builds it, tells of an error; all others tell of results."""
    return bool(_OF_FAULT.search(match.words) or _FAILS.search(match.literal.before[-NEAR_CALL:]))


def _side_by_side(code: Code, matches: Sequence[_Match], title: str) -> Iterator[_Match]:
    """Yield the literals that build lines of a code block side by side as one message, at the nearest to the title."""
    groups, terms = dict[tuple[int, MessageText], list[_Match]](), {*query_terms(title)}
    for match in matches:
        if not match.text.is_prose:
            groups.setdefault((match.number, match.text), []).append(match)
    for (_, text), group in groups.items():
        near = [(abs(match.literal.line - it.literal.line), match, it) for match in group for it in group]
        found = list({match: None for away, match, it in near if 0 < away <= LINES_APART and match.words != it.words})
        # A line that is a message by itself says more than the text around it.
        if found and not any(_is_message(code, match) for match in found):
            starts = [text.text.find(match.words) for match in found]
            end = max(start + len(match.words) for start, match in zip(starts, found, strict=True))
            nearest = max(found, key=lambda match: len(terms & {*query_terms(match.words)}))
            yield replace(nearest, words=text.text[min(starts) : end])


def find_matches(code: Code, wanted: Sequence[MessageText]) -> Iterator[_Match]:
    """Yield the literals of the project's own code whose fixed parts are in one of the texts."""
    short = [text for text in wanted if not (text.is_prose or text.cut) and len(WORD.findall(text.text)) <= SHORT]
    places = list(dict.fromkeys((*_candidates(code, wanted), *_near(code, short[:MAX_SHORT]))))
    code.read(number for number, _ in places)
    seen = set()
    for number, line in places:
        for literal in literals_at(code.path(number), code.lines(number), line):
            if (number, literal.start, literal.parts) in seen or not literal.parts or literal.is_compared:
                continue
            seen.add((number, literal.start, literal.parts))
            is_long = is_message(literal.parts, literal.before)
            for text in wanted if is_long else short:
                words = _words(literal, text) if is_long else match_whole(literal, text.text)
                if words and " " in words:
                    yield _Match(number, literal, words, text)
                    break


def _words(literal: Literal, text: MessageText) -> str | None:
    """Return the words of a text that match the literal's message, or None."""
    if text.cut:
        return match_start(literal.parts, text.text, text.cut)
    # A line that is a message and nothing else quotes it.
    is_long = not text.is_prose or fixed_words(literal.parts) >= PROSE_WORDS
    whole = match_parts(literal.parts, text.text) if is_long else match_whole(literal, text.text)
    # A part of a text that nothing prints may be of its documentation.
    return whole or (match_run(literal.parts, text.text) if is_printed(literal, "") else None)


def _candidates(code: Code, wanted: Sequence[MessageText]) -> list[tuple[int, int]]:
    """Return (file, line) of literals that share three consecutive words with the issue, most shared words first."""
    index = code.index
    hashes = np.asarray(sorted({value for text in wanted for value in shingles(text.text)}), np.uint32)
    place, exact = lookup(hashes, index.string_hash)
    rows = np.flatnonzero(exact)
    rows = rows[code.own[index.string_file[rows]]] if len(rows) else rows
    often = np.bincount(place[rows], minlength=len(hashes)) if len(rows) else np.zeros(0)
    rare = [row for row in rows.tolist() if often[place[row]] <= COMMON]
    counts = Counter((int(index.string_file[row]), int(index.string_line[row])) for row in rare)
    return [key for key, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))][:MAX_PLACES]


def _near(code: Code, short: Sequence[MessageText]) -> Iterator[tuple[int, int]]:
    """Yield (file, line) of strings with a rare word of a short message, between whose words values may be."""
    words = {text.text: [word for word in WORD.findall(text.text) if len(word) > RAREST] for text in short}
    code.look_up(word for found in words.values() for word in found)
    for found in words.values():
        near = {word: code.files_with(word) for word in found if word.lower() not in STOPWORDS}
        # Two words, because one of them may be a value.
        rare = sorted((word for word in near if 0 < len(near[word]) <= MAX_NEAR), key=lambda word: len(near[word]))[:2]
        code.read(number for word in rare for number in near[word])
        for word, number in ((name, number) for name in rare for number in near[name]):
            lines = enumerate(code.lines(number), 1)
            yield from ((number, at) for at, line in lines if word in line and _QUOTED.match(line[:MAX_WIDTH]))


def _fact(inquiry: FinderInput, match: _Match, count: int, *, together: bool) -> Fact | None:
    code, line = inquiry.code, match.literal.line
    hit = code.hit(match.number, line)
    if hit is None or not inquiry.issue.holds(match.words) or is_test(hit.symbol):
        return None
    opening = "[" if f"[{match.words}" in match.text.text and "]" in match.words else ""  # a tag before the message
    # A value at the end distinguishes it from a longer message that begins so.
    value = _VALUE.match(match.text.text.partition(match.words)[2]) if match.literal.takes_value else None
    end = value[0] if value and not match.text.cut else ""
    names, what = enclosing(match.literal.before)[0], f"“{opening}{shortened(match.words)}{end}”"
    prints = bool(names and _PROGRESS_CALLS.search(names[0])) or any(name.endswith("stdout.write") for name in names)
    # A script has no other call with which to print an error; nothing is claimed from such a call.
    is_fault = prints and bool(_OF_FAULT.search(match.words))
    progress = prints and not is_fault
    what = say("that begins with {message}", message=what) if match.text.cut else what
    says = sentence(what, hit.path, hit.symbol, count)
    reports = not progress and not _OF_ERROR.search(hit.symbol or "")
    # What only reports progress is often of a part that works, so it is stated for the first file and never claimed.
    is_stated = progress and count == 1 and hit.path in inquiry.first[:1]
    # The attribute of a Rust error: the place that makes the error is more relevant.
    is_stated |= match.literal.before.rstrip().endswith("#[error(")
    return hit.fact(
        "built_here", says, match.words, count=count,
        strong=together and (reports or is_stated), several=not together and reports,
        unclaimed=is_stated or is_fault, refuses=is_refusal(code.lines(match.number), line),
    )  # fmt: skip


def sentence(what: str, path: str, symbol: str | None, count: int) -> str:
    """Return the sentence that a place builds a message; a file is never the one that builds it."""
    if symbol:
        only = say("the only place that does") if count == 1 else say("one of {count} places that do", count=count)
        return say("`{place}` builds the message {message}, {only}.", place=symbol, message=what, only=only)
    only = (
        say("and nowhere else in the project's own code") if count == 1 else say("one of {count} places", count=count)
    )
    return say("The message {message} is built in `{path}`, {only}.", message=what, path=path, only=only)


def shortened(words: str) -> str:
    """Truncate words at a space, after at most 90 characters."""
    return words if len(words) <= 90 else words[:90].rpartition(" ")[0] + " …"


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the lines have three consecutive words of the message, and that no other file does if it says so."""
    line = fact.line or 0
    lines = witness.lines(fact.path or "", line - BEFORE, line + AFTER)
    around = _plain(" ".join(lines))
    plain = _plain(fact.words or "").split()
    runs = [run for at in range(len(plain) - 2) if (run := " ".join(plain[at : at + 3])) in around]
    short = literals_at(fact.path or "", witness.lines(fact.path or "", 1, line + AFTER), line) if not runs else ()
    if not runs and not any(match_whole(literal, fact.words or "") for literal in short if literal.parts):
        return "the line does not contain three words of the message"
    other = _other_place(fact, witness, lines) if fact.count == 1 or fact.strong else None
    return f"`{other}` builds it as well" if other else None


def _other_place(fact: Fact, witness: Witness, lines: Sequence[str]) -> str | None:
    """Return another source file whose code quotes the longest part of the message that is on one line."""
    words = (fact.words or "").split(" ")
    spans = (" ".join(words[at:end]) for at in range(len(words)) for end in range(at + 3, len(words) + 1))
    # grep compares single lines. The longest span is the rarest, so few other lines have it by chance.
    held = max((span for span in islice(spans, MAX_SPANS) if any(span in line for line in lines)), key=len, default="")
    hits = witness.grep(held.strip(" .,:;!'\""), own=True) if len(held) > LONG_ENOUGH else ()
    others = (hit for hit in hits if hit.path != fact.path)
    quoting = (hit for hit in others if _QUOTED.match(hit.text[:MAX_WIDTH]))
    return next((hit.path for hit in quoting), None)


def _plain(text: str) -> str:
    """Return the text without quotes, plus signs and escapes, which split a message."""
    return " ".join(WORD.findall(re.sub(r"\\[nrt]", " ", text)))
