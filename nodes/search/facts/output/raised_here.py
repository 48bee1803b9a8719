"""``raised_here``: the innermost own frame of a stack trace, at this commit."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from nodes.search.facts.changes.releases import fitting_release, named_release
from nodes.search.facts.code import Code, whole_word
from nodes.search.facts.inquiry import FinderInput, IssueParts
from nodes.search.facts.output.frame_lines import LONGEST_FUNCTION, MappedFrame, same_start
from nodes.search.facts.output.frame_says import passes, says_of
from nodes.search.facts.output.frame_text import frame_text, frame_words
from nodes.search.facts.output.frames import chains, cleans_up, from_root, own_frames
from nodes.search.facts.output.happened import Happened, happened, is_assertion
from nodes.search.facts.output.on_a_line import CONTINUES, MAX_CONTINUED, statement
from nodes.search.facts.output.refusals import is_deliberate, is_raising, is_refusal
from nodes.search.facts.output.shapes import is_possible, shape_of
from nodes.search.facts.places.moved import LOST, line_now, lost, removed, removes
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.history.versions import Release
from nodes.search.lazy import lazy
from nodes.search.sentences import say
from nodes.search.tokens import WORD, normalise_space
from nodes.search.types import StackTrace

MAX_TRACES, REACH, MAX_ABOVE = 6, 400, 300
"""Maximum numbers of traces of a report, of characters before one that may have its error, and of the line above it."""
SHORTEST, DEEP = 5, 3
"""Minimum length of the name of a function or a class that counts as named by words."""
_FAILED = lazy(r"assert|panic|CHECK|expect", re.IGNORECASE)
_IMPORTED = lazy(r"cannot import name '(\w{2,60})' from '([\w.]{3,80})'")
_ACCESS = re.compile(
    r"(?:.*[.:#])?(?:get(?:_Item)?|set|remove(?:At)?|elementAt|charAt|substring|subList|(?:_?check|range|out|throw)\w{0,60})(?:\$.*)?",
    re.IGNORECASE,
)
"""The functions of a library that read an element, and those that check its index."""
_GROUPS = ("ExceptionGroup", "AggregateException", "AggregateError")
"""Errors that only contain others."""
_MARKS = lazy(r"(\s{0,400}~{1,400})\^{1,400}\s*")
_TESTS = lazy(r"test", re.IGNORECASE)
_STOPPED = lazy(
    r"KeyboardInterrupt|SystemExit|Interrupted|Cancel(?:l?ed|lation)|SIG(?:INT|TERM|KILL|ABRT|QUIT|ALRM)|\bAbort(?:ed)?\b"
    r"|[Tt]imed? ?out|TimeoutE|deadline exceeded"
)
"""The error of a program that was stopped from outside, or that waited too long."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the innermost own frame of each root trace; if the root has none, that of the trace that wraps it."""
    seen = set[tuple[int, int]]()
    earlier: StackTrace | None = None
    for chain in islice(chains(inquiry.issue), MAX_TRACES):
        # The first trace, from the root on, that has an own frame counts.
        every = (frame for trace in from_root(chain) for frame in own_frames(inquiry.code, inquiry.issue, trace))
        frame = next(every, None)
        between = "```" if earlier is None else inquiry.issue.body[earlier.end : chain[0].start]
        # One log has both, if no block ends between them; then the later error often comes from the clean-up.
        follows = "```" not in between and "~~~" not in between
        earlier = chain[-1]
        # Several traces of one report may end in the same line; one fact is enough.
        if frame is None or (frame.number, frame.line) in seen:
            continue
        seen.add((frame.number, frame.line))
        text = inquiry.issue.trace_text(frame.trace)
        # Of this kind, only frames in removed files have been found; they are this one or inside it.
        inner = [fact.words for fact in inquiry.found if fact.kind == "raised_here" and (fact.words or "") in text]
        if frame_words(text, frame.frame) in inner:
            continue
        frame = replace(frame, lost_inner=frame.lost_inner or bool(inner))
        named = tuple(_named_in_words(inquiry, frame, seen))
        lines = inquiry.code.lines(frame.number)
        frame = _at_release(inquiry, frame)
        if not frame.exact and (printed := _lost_text(inquiry.issue, frame, lines)):
            gone, change = lost(inquiry, inquiry.code.path(frame.number), printed)
            frame = replace(frame, gone=gone, change=change)
        # A line of tests inside a source file is another one by its number, if no test failed.
        if inquiry.code.is_tested(frame.number, frame.line) and not _TESTS.search(text):
            continue
        purpose = is_deliberate(lines, frame.start, frame.end)
        frame, event = _at_error(inquiry.issue, frame, lines)
        if (fact := _fact(inquiry, frame, event)) is None:
            continue
        # A frame of another version has the same function with other code: 48 % right, with its text found 70 %.
        fits = frame.is_known or (event is not None and frame.symbol is not None)
        is_group = (frame.trace.error or "").endswith(_GROUPS) and len(inquiry.issue.traces) > 1
        is_root = frame.trace is from_root(chain)[0]
        strong = fits and is_root and not (purpose or frame.lost_inner or is_group)
        # Neither the text of the line nor its error says that the number is still that of the line.
        may_have_moved = not frame.is_known and event is None
        # In chains, the first and the last trace were right equally often (4 of 12).
        unclaimed = follows or may_have_moved or bool(frame.gone) or len(chain) > 1 or is_group
        unclaimed = unclaimed or _has_import(inquiry.code, frame.error)
        unclaimed = unclaimed or _is_elsewhere(inquiry.issue, frame, event, lines[frame.line - 1])
        refuses = is_refusal(lines, frame.line, frame.start)
        yield replace(fact, strong=strong, refuses=refuses, by_library=frame.is_library, unclaimed=unclaimed)
        yield from named


def _has_import(code: Code, error: str) -> bool:
    """Return whether an own module has the name that it lacks by an error: another version is installed."""
    found = _IMPORTED.search(error)
    path = "/".join(found[2].split(".")[-2:]) if found else ""
    numbers = [number for end in (f"{path}.py", f"{path}/__init__.py") for number in code.ending(end) if path]
    code.read(numbers)
    return any(whole_word(found[1]).search("\n".join(code.lines(number))) for number in numbers if found)


def _is_elsewhere(issue: IssueParts, frame: MappedFrame, event: Happened | None, line: str) -> bool:
    """Return whether an error says nothing about the code of its frame: other code has the fault."""
    asserts = event.asserts if event else is_assertion(line) and bool(_FAILED.search(frame.error))
    # An error of a library that names what the line does not have is about the library's own code.
    shape = shape_of(frame.error) if frame.is_library else None
    of_library = shape is not None and bool(shape.name) and shape.name not in line
    # Lua runs code that a program makes, of which no file has a line.
    begin = max(0, frame.trace.start - REACH) if frame.trace.language == "lua" else frame.trace.end
    is_made = '[string "' in issue.body[begin : frame.trace.end]
    stopped = bool(_STOPPED.search(frame.error))
    # A global of Lua is set by another file; a library that checks its own state deep inside has broken it.
    is_global = "global '" in frame.error and "nil value" in frame.error
    is_deep = frame.error.startswith("panic") and frame.trace.frames.index(frame.frame) >= DEEP
    # What a program was compiled with is not what it is run with.
    is_unlinked = "NoClassDefFoundError" in frame.error or "UnsatisfiedLinkError" in frame.error
    other = of_library or is_made or is_global or is_deep or is_unlinked
    return asserts or other or stopped or frame.in_program or frame.reports or cleans_up(frame)


def _named_in_words(inquiry: FinderInput, inner: MappedFrame, seen: set[tuple[int, int]]) -> Iterator[Fact]:
    """Yield the nearest outer frame that the title, an answer or a redirect names, unless that names the inner one.

    Of 14 development issues the outer file alone was fixed in 7 and the inner one alone in 6, so both are stated.
    """
    named = "\n".join((inquiry.issue.title, *inquiry.query.extra))

    def is_named(mapped: MappedFrame) -> bool:
        names = [name for name in (mapped.symbol or "").split(".") if len(name) >= SHORTEST]
        file = inquiry.code.path(mapped.number).rpartition("/")[2]
        # A part of an option, such as ``setup`` in ``--setup-show``, does not name a function.
        return file in named or any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", named) for name in names)

    outer = (frame for frame in own_frames(inquiry.code, inquiry.issue, inner.trace) if not is_named(inner))
    for mapped in [item for item in outer if is_named(item) and (item.number, item.line) not in seen][:1]:
        seen.add((mapped.number, mapped.line))
        if fact := _fact(inquiry, mapped, None):
            place = mapped.symbol or fact.path or ""
            yield replace(fact, says=passes(mapped, place, say(", which is named in words as well")), unclaimed=True)


def _at_error(issue: IssueParts, mapped: MappedFrame, lines: Sequence[str]) -> tuple[MappedFrame, Happened | None]:
    """Return a frame and what its line did, if no frame inside it may have done it instead.

    If only the number says which line it is, and the error fits another line of the function alone, it is that line.
    """
    inner = mapped.trace.frames[: mapped.trace.frames.index(mapped.frame)]
    accesses = bool(inner) and all(_ACCESS.fullmatch(frame.function or "") for frame in inner)
    if mapped.lost_inner or ((mapped.has_inner or mapped.is_library) and not accesses):
        return mapped, None
    # A function that is found by its name alone has the number of its first line, which did nothing.
    is_head = mapped.line == mapped.start != mapped.frame.line
    event = None if mapped.gone or is_head else event_of(issue, mapped, statement(lines, mapped.line))
    if event or mapped.is_known:
        return mapped, event
    is_short = mapped.end - mapped.start <= LONGEST_FUNCTION
    every = range(mapped.start, min(mapped.end, len(lines)) + 1) if is_short else ()
    starts = [at for at in every if not lines[at - 1].lstrip().startswith(CONTINUES)]
    events = ((at, event_of(issue, replace(mapped, line=at), statement(lines, at))) for at in starts)
    # An error that does not say what was null fits almost every line.
    every_fit = [(at, one) for at, one in events if one and not one.null]
    fits = [(at, one) for at, one in every_fit if not one.repeats or len(every_fit) == 1]
    # Lines that do the same to the same value are not reached after the first one.
    if len({one.at("") for _, one in fits}) == 1:
        at, event = fits[0]
        # A statement has several lines, of which one alone may do it.
        own = ((n, event_of(issue, replace(mapped, line=n), lines[n - 1])) for n in every[at - mapped.start :])
        at = next((n for n, one in islice(own, MAX_CONTINUED + 1) if one and one.at("") == event.at("")), at)
        return replace(mapped, line=at), event
    possible = mapped.frame.line is None or is_possible(mapped.error, statement(lines, mapped.line))
    if mapped.gone or possible is not False:
        return mapped, None
    line = str(mapped.frame.line)
    return replace(mapped, gone=say("; its line {line} does not fit the error at this commit", line=line)), None


def event_of(issue: IssueParts, mapped: MappedFrame, text: str) -> Happened | None:
    """Return what the line of a frame did when its error occurred, or None if the two do not fit each other."""
    words = frame_words(issue.trace_text(mapped.trace), mapped.frame) or ""
    pointed = re.search(rf":{mapped.frame.line}:(\d{{1,4}})(?!\d)", words)
    column = int(pointed[1]) if pointed and mapped.line == mapped.frame.line else None
    # A handler of the program prints the error in its own form, above the place.
    above = issue.body[: mapped.trace.start].rstrip().rpartition("\n")[2] if not mapped.error.strip(": ") else ""
    return happened(text, above[:MAX_ABOVE] or mapped.error, column or _marked(issue.trace_text(mapped.trace), text))


def _marked(trace: str, text: str) -> int | None:
    """Return the column of a line of code at which Python's marks below it begin: of ``^`` after ``~`` in ``~~^^``."""
    for code, marks in pairwise(trace.split("\n")) if "~^" in trace else ():
        if code.strip() and code.strip() == text.strip() and (found := _MARKS.fullmatch(marks)):
            return found.end(1) - (len(code) - len(code.lstrip())) + (len(text) - len(text.lstrip())) + 1
    return None


def _at_release(inquiry: FinderInput, mapped: MappedFrame) -> MappedFrame:
    """Return a frame without source text at the line that its release has there, if its function still has that."""
    line = mapped.frame.line
    is_counted = mapped.trace.language == "vim"  # from the head of its function
    named, printed = named_release(inquiry), frame_text(inquiry.issue, mapped.trace, mapped.frame)
    if line is None or is_counted or printed or (mapped.exact and not named):
        return mapped
    here = statement(inquiry.code.lines(mapped.number), line) if inquiry.code.text(mapped.number, line) else ""
    event = happened(here, mapped.error)
    if named and event and not event.null:  # the version is that of the next release
        return mapped
    release = named.release if named else _fitting_release(inquiry, mapped, line)
    now = line_now(inquiry.code, release, mapped.number, line)
    if release and now.is_known and now.line is None:
        # The number is that of another line now, so a function that the frame names is shown from its beginning.
        at = mapped.start if mapped.symbol and mapped.name else mapped.line
        gone, change = removed(inquiry, release, mapped.number, line)
        return replace(mapped, line=at, gone=gone, change=change)
    inside = now.is_known and now.line is not None and mapped.start <= now.line <= mapped.end
    return replace(mapped, line=now.line or line, moved=now.says) if inside else mapped


def _fitting_release(inquiry: FinderInput, mapped: MappedFrame, line: int) -> Release | None:
    """Return the last release whose line the error fits, or whose line was edited since, if it fits no present one."""
    code, error = inquiry.code, mapped.error

    def fits(text: str) -> bool:
        event = happened(text, error)
        return event is not None and not event.null

    def fits_better(text: str) -> bool:
        return fits(text) or bool(excluded and is_possible(error, text))

    text = statement(code.lines(mapped.number), line) if code.text(mapped.number, line) else ""
    if fits(text):
        return None
    excluded = is_possible(error, text) is False
    path = code.path(mapped.number)
    return None if mapped.has_inner else fitting_release(inquiry, path, line, fits_better)


def _lost_text(issue: IssueParts, mapped: MappedFrame, lines: Sequence[str]) -> str | None:
    """Return the line of code that the trace prints below the frame, if its file does not have it."""
    words = frame_words(issue.trace_text(mapped.trace), mapped.frame)
    printed = _printed_below(issue.written, words) if words else None
    same = printed == frame_text(issue, mapped.trace, mapped.frame)
    return printed if printed and same and not _has(lines, printed) else None


def _printed_below(text: str, words: str) -> str | None:
    """Return the line of a text below the one that names a frame, both without what the log writes before them."""
    lines = text.split("\n")
    at = next((at for at, line in enumerate(lines[:-1]) if line.rstrip().endswith(words)), None)
    if at is None:
        return None
    mark, below = lines[at][: lines[at].rindex(words)].strip(), lines[at + 1].strip()
    return normalise_space(below.removeprefix(mark).strip()) if below.startswith(mark) else None


def _has(lines: Sequence[str], text: str) -> bool:
    return any(same_start(normalise_space(line), text) for line in lines)


def _fact(inquiry: FinderInput, mapped: MappedFrame, event: Happened | None) -> Fact | None:
    words = frame_words(inquiry.issue.trace_text(mapped.trace), mapped.frame)
    hit = inquiry.code.hit(mapped.number, mapped.line)
    if words is None or hit is None or not inquiry.issue.holds(words):
        return None
    # Without its own name in the trace, the function of a line that is gone is unknown.
    hit = replace(hit, symbol=mapped.symbol if not mapped.gone or mapped.name else None)
    says, change = says_of(mapped, event, hit.path, hit.text), mapped.change if event is None else None
    return hit.fact("raised_here", says, words, change=change, count=1, exact=mapped.exact)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the words name the file or the function, and that the trace gives an exact line."""
    path, words = fact.path or "", fact.words or ""
    is_removed = fact.says.endswith(" removed the line that the report prints.")
    if is_removed or fact.says.endswith(f"{LOST}."):
        printed = _printed_below(witness.issue_text, words)
        if not printed or _has(witness.lines(path, 1, sys.maxsize), printed):
            return "the file has the line that the trace prints"
        if is_removed and not (fact.change and removes(witness, fact.change, path, printed)):
            return "the change did not remove the line"
    name = (fact.symbol or "").rpartition(".")[2]
    if path.rpartition("/")[2].partition(".")[0] not in words and (not name or name not in words):
        return "the words name neither the file nor the function"
    # Traces truncate and wrap lines, so one word of the line suffices.
    quoted = [word for word in WORD.findall(fact.text or "") if len(word) >= 3]
    if fact.exact and quoted and not any(witness.mentions(word) for word in quoted) and not is_raising(fact.text or ""):
        return "the trace does not give this line"
    return None
