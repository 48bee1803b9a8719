"""Lines that the report names by a path and a number, in the form of any tool; part of ``named_here``."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from nodes.search.facts.changes.releases import fitting_release, named_release
from nodes.search.facts.inquiry import FinderInput, IssueParts
from nodes.search.facts.output.built_here import shortened
from nodes.search.facts.output.frames import is_compiled
from nodes.search.facts.output.happened import Happened, happened
from nodes.search.facts.output.on_a_line import logs, statement
from nodes.search.facts.output.shapes import is_possible
from nodes.search.facts.places.linked_here import links
from nodes.search.facts.places.moved import line_now, line_then, removed, unfit
from nodes.search.facts.places.of_class import find_of_class, names_class
from nodes.search.facts.places.reported import MAX_MESSAGE, holding, message, of_trace
from nodes.search.facts.places.reported import printed as printed_code
from nodes.search.facts.places.which_file import MIN_CODE, file_of
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness
from nodes.search.history.versions import Release
from nodes.search.issue.located import FAR_BELOW, Located, find_in_lines, find_located
from nodes.search.issue.normal.report import UNKNOWN
from nodes.search.paths.roles import role_of
from nodes.search.sentences import say
from nodes.search.tokens import load_sections, normalise_space

MAX_PLACES = 8
"""Maximum number of lines of one report; a log of a compiler has hundreds."""
MAX_NAMED, MAX_READ = 2_000, 200
"""Maximum number of places that are found, and of those that are compared with the code, the most serious first."""
_RECIPE = re.compile(r"\s{0,8}\w{0,8}make(?:\[\d{1,3}\])?: \*\*\* ")
NEAR = 3
"""Number of lines around the name of a line in which an error may say what it did."""
_FORMS = load_sections(Path(__file__).with_name("named_line.txt"))
_CALM, _THROWS, _IS_ERROR, _FAILS, _ASIDE, _ENDS_IN_CALL = (
    re.compile("".join(_FORMS[name])) for name in "calm throws is_error fails aside ends_in_call".split()
)
_DECLARED_ELSEWHERE, _LEADS_ERROR, _LEADS_ASIDE, _INCLUDED, _NUMBERED, _QUOTED = (
    re.compile("".join(_FORMS[name]))
    for name in "declared_elsewhere leads_error leads_aside included numbered quoted".split()
)
_IN_FUNCTION = re.compile(r": in function ")
"""How Lua goes on after the place of a frame."""
_REMARKS = ("# ", "// ", "-- ", "/*", "* ")
"""The beginnings of a line that executes nothing; outside functions, its number belongs to another version."""


class _Named(NamedTuple):
    """A line that the report names, at the commit that is read."""

    at: int
    """The index of the report's line that names it."""
    place: Located
    number: int
    """The number of the file."""
    line: int
    text: str
    words: str
    error: str
    """The text of the report in which the error of the line may be."""
    release: Release | None
    """The release to which the number in the report belongs, if it is known."""
    moved: str
    """The end of a sentence that gives the number of the line in its release, if it has another one now."""
    printed: str
    """The code of the line in the report, as a tool prints it."""
    is_printed: bool
    """Whether the file has that code."""
    is_gone: bool
    """Whether another line has the number now."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines of the project's files that a path and a number name outside stack traces."""
    return islice(_find(inquiry), MAX_PLACES)


def _find(inquiry: FinderInput) -> Iterator[Fact]:
    seen = set[tuple[int, int]]()
    linked = {fact.path for fact in inquiry.found if fact.kind == "linked_here"}
    # The message of a trace may name the line of other code, as that of a native library.
    heads = (trace.message.partition("\n")[0] for trace in inquiry.issue.traces if trace.message and trace.frames)
    # What a test runner prints of a test that failed is a trace of one frame.
    single = (trace for trace in inquiry.issue.traces if [role_of(it.path) for it in trace.frames] == ["test"])
    alone = map(inquiry.issue.trace_text, single)
    lines = [line for text in (*inquiry.issue.lines, *heads, *alone) for line in text.split("\n") if line.strip()]
    places = _by_severity(inquiry.issue, lines)
    places += find_of_class(inquiry.code, lines, [place.path for _, place, _ in places])
    # An informational line of a log is not the reason why the program printed a trace.
    calm = {logged.text for logged in inquiry.issue.logged if logged.rank > UNKNOWN and _is_traced(inquiry)}
    named, is_clone = named_release(inquiry) if places else None, inquiry.code.index.project.is_named
    for at, place, is_aside in (place for place in places[:MAX_READ] if lines[place[0]].strip() not in calm):
        found = _at_commit(inquiry, lines, at, place, named.release if named else None)
        if found is None or (found.number, found.line) in seen or not inquiry.issue.holds(found.words):
            continue
        # A link is a fact of its own, or of another commit.
        if "://" in found.words and (inquiry.code.path(found.number) in linked or links(found.words)):
            continue
        seen.add((found.number, found.line))
        fact = _gone(inquiry, found) if found.is_gone else _stated(inquiry, lines, found, is_aside=is_aside)
        # Code that no version of the file had is of another program's file, if that is outside any clone.
        folders = place.path.split("/")[1:-1] if place.path.startswith("/") and found.printed else []
        if not found.is_gone or found.release or fact.change or not folders or any(map(is_clone, folders)):
            yield fact


def _at_commit(
    inquiry: FinderInput, lines: Sequence[str], at: int, place: Located, release: Release | None
) -> _Named | None:
    """Return the line that a path and a number name; None if no own file has it, or if it is a frame or a bracket."""
    code, printed = inquiry.code, printed_code(lines, at, place)
    context = "\n".join((*lines[at : at + 2], printed))
    number = file_of(code, place, context, release, printed=printed, report=inquiry.issue.written)
    if number is None or _is_moved_frame(inquiry, code.path(number), place.line):
        return None
    error = f"{_error(lines, at)}\n{of_trace(inquiry.issue, place)}"
    then, line, moved = _now(inquiry, release, number, place.line, error)
    held = holding(code.lines(number), printed, line or place.line) if printed else None
    line, moved = (held, "") if held else (line, moved)
    line = place.line if (is_lost := line is None and then is not None) else line
    text = code.text(number, line) if line else None
    # A bracket is not what a report is about.
    if line is None or text is None or not any(map(str.isalnum, text)):
        return None
    is_gone = is_lost or (not moved and not held and bool(printed or is_possible(error, text) is False))
    words = words_of(lines, at, place)
    return _Named(at, place, number, line, text, words, error, then, moved, printed, bool(held), is_gone)


def _gone(inquiry: FinderInput, found: _Named) -> Fact:
    """Return the fact about a number that another line has now."""
    path, then = inquiry.code.path(found.number), found.release
    end, change = removed(inquiry, then, found.number, found.line) if then else unfit(inquiry, path, found.printed)
    says = say("The report names line {line} of `{path}`{end}.", line=found.line, path=path, end=end)
    hit = Hit(path, found.line, found.text)
    return hit.fact("named_here", says, found.words, change=change, count=1, unclaimed=True)


def _stated(inquiry: FinderInput, lines: Sequence[str], found: _Named, *, is_aside: bool) -> Fact:
    """Return the fact about a line; no claim rests on it if its error is of other code or explains another one."""
    code, path, place = inquiry.code, inquiry.code.path(found.number), found.place
    hit = Hit(path, found.line, found.text, code.symbol(found.number, found.line))
    # A logger names the line that caught an error, which the trace of the error has too, further out.
    run = (trace for trace in inquiry.issue.traces if not is_compiled(inquiry.issue, trace))
    frames = (frame for trace in run for frame in trace.frames)
    outer = any(
        (frame.path.rpartition("/")[2], frame.line) == (place.path.rpartition("/")[2], place.line) for frame in frames
    )
    informs, reported = _informs(inquiry, lines, found.at), message(lines, found.at, place)
    elsewhere = bool(_IS_ERROR.match(reported) and _DECLARED_ELSEWHERE.search(reported))
    is_remark = not hit.symbol and found.text.lstrip().startswith(_REMARKS)
    is_aside |= code.index.roles[found.number] == "test" or code.is_tested(found.number, found.line)
    strong = not (is_aside or informs or (outer and _is_traced(inquiry)))
    event = None if found.moved else _event(statement(code.lines(found.number), found.line), lines, found.at)
    asserts = event is not None and event.asserts
    unclaimed = (
        outer or elsewhere or informs or asserts or (logs(found.text) and not _IS_ERROR.match(reported)) or is_remark
    )
    says = _says(lines, found, hit.place, event)
    more = {"strong": strong, "exact": found.is_printed, "unclaimed": unclaimed}
    return hit.fact("named_here", says, found.words, count=1, **more)


def _is_traced(inquiry: FinderInput) -> bool:
    """Return whether a trace of the report ends in own code."""
    return any(fact.kind == "raised_here" for fact in inquiry.found)


def _informs(inquiry: FinderInput, lines: Sequence[str], at: int) -> bool:
    """Return whether the line of a log only informs: by its level, or next to a trace that tells what failed.

    Rust's tracing prints the place below the message: ``at src/app.rs:12``.
    """
    if _CALM.match(lines[at]):
        return True
    ranks = {logged.text: logged.rank for logged in inquiry.issue.logged}
    above = lines[at - 1].strip() if at and lines[at].lstrip().startswith("at ") else ""
    rank = ranks.get(lines[at].strip(), ranks.get(above))
    return rank is not None and (
        rank > UNKNOWN or (rank == UNKNOWN and _is_traced(inquiry) and not _FAILS.search(lines[at]))
    )


def _by_severity(issue: IssueParts, lines: Sequence[str]) -> list[tuple[int, Located, bool]]:
    """Return the places that lines name, the most serious first, each with whether it only explains another one.

    A log of hundreds of lines names many places; those of its errors matter. Below an error, compilers print notes,
    includes, and places without a message.
    """
    ranks = {line.text: line.rank for line in issue.logged}
    places = [found for found in islice(find_in_lines(lines), MAX_NAMED) if not _INCLUDED.match(lines[found[0]])]
    # The recipe whose command failed is known from the command's own error.
    places = [found for found in places if not _RECIPE.match(lines[found[0]])] or places
    # What a log only informs about before an error is no place of it.
    if any(_FAILS.search(line) and not _CALM.match(line) for line in lines[1:]):
        places = [found for found in places if not _CALM.match(lines[found[0]])]
    errors = {at for at, place in places if _LEADS_ERROR.match(lines[at]) or _IS_ERROR.match(message(lines, at, place))}
    frames = {at for at, place in places if _IN_FUNCTION.match(lines[at], place.end)}
    asides = {at for at, place in places if errors and at not in errors and _is_aside(lines[at], place)} | frames
    # Of a stack whose lines end in a function, the first one is the innermost.
    stacked = {at for at, place in places if _ENDS_IN_CALL.match(lines[at], place.end)}
    asides |= {at for at in stacked if at - 1 in stacked}
    rank_of = {at: ranks.get(lines[at].strip()) for at, _ in places}
    if 0 in rank_of.values():
        asides |= {at for at, rank in rank_of.items() if rank}
    found = [(at, place, at in asides) for at, place in places]
    return sorted(found, key=lambda item: (UNKNOWN if (rank := rank_of[item[0]]) is None else rank, item[2]))


def _is_aside(line: str, place: Located) -> bool:
    before = line[: place.start].strip()
    # A compiler says in the user's language where a file is included.
    is_bare = not (before and before.isascii()) and not line[place.end :].strip(" :,")
    return is_bare or bool(_ASIDE.match(line, place.end) or _LEADS_ASIDE.match(line))


def _is_moved_frame(inquiry: FinderInput, path: str, line: int) -> bool:
    """Return whether the frame of a trace with this number is a fact already, at the line where its code is now."""
    number = re.compile(rf"(?<!\d){line}(?!\d)")
    raised = (fact for fact in inquiry.found if fact.kind == "raised_here" and fact.path == path)
    return any(fact.line != line and number.search(fact.words or "") for fact in raised)


def _error(lines: Sequence[str], at: int) -> str:
    """Return the text in which the error of a named line may be: its own, and the next one without a number."""
    below = lines[at + 1][:MAX_MESSAGE] if at + 1 < len(lines) else ""
    return f"{lines[at][:MAX_MESSAGE]}\n{'' if _NUMBERED.search(below) else below}"


def _now(
    inquiry: FinderInput, named: Release | None, number: int, line: int, error: str
) -> tuple[Release | None, int | None, str]:
    """Return the release that a line is of, its present number, and the end of a sentence that says so.

    The release is the named one, or the last one whose line can raise the error, if the present line cannot.
    """
    code = inquiry.code
    if named or is_possible(error, code.text(number, line) or "") is not False:
        return (named, *line_now(code, named, number, line)[:2])
    release = fitting_release(inquiry, code.path(number), line, lambda text: is_possible(error, text))
    now = line_now(code, release, number, line)
    return release, now.line or line, now.says if now.line else ""


def _event(text: str, lines: Sequence[str], at: int) -> Happened | None:
    """Return what a line did, if an error near its name fits it; that it only fails its check is no news."""
    around = range(max(0, at - NEAR), min(at + NEAR + 1, len(lines)))
    # What is below another place is about that one.
    ours = [n for n in around if n in (0, at, at + 1) or next(find_located(lines[n - 1]), None) is None]
    # The title has the error without the marks of code.
    texts = [*(lines[n][:MAX_MESSAGE] for n in ours), lines[0][:MAX_MESSAGE].replace("`", "")]
    near = (happened(text, error) for error in texts)
    return next((item for item in near if item and not (item.asserts and "`" not in item.says)), None)


def _says(lines: Sequence[str], found: _Named, where: str, event: Happened | None) -> str:
    """Return what the line did, else what a tool reported for it, if anything.

    A line with another number now is only named, with the end of the sentence that gives its number in the release.
    """
    at, text, moved = found.at, found.text, found.moved
    if event is not None:
        return event.at(where)
    # A backtick of the report would begin or end a code span of the sentence; code is not a message.
    reported = message(lines, at, found.place)
    reported = (reported.rstrip("`") if reported.count("`") % 2 else reported).replace("`", "'")
    is_code = normalise_space(reported)[:MIN_CODE] in normalise_space(text)
    # A name alone is the function of a frame.
    quoted = "" if "“" in reported or is_code or reported.isidentifier() else shortened(reported)
    thrown = _THROWS.match(text)
    if thrown and not quoted and not moved:
        return say("`{place}` raises `{error}` on this line.", place=where, error=thrown[1])
    of = say(" of `{place}`", place=where)
    if quoted:
        return say("The report has “{message}” for this line{of}{moved}.", message=quoted, of=of, moved=moved)
    return say("The report names this line{of}{moved}.", of=of, moved=moved)


def words_of(lines: Sequence[str], at: int, place: Located) -> str:
    """Return the words that name a line, with those of the next line if the number is there."""
    words, number = lines[at][place.start : place.end].strip(), re.compile(rf"(?<!\d){place.line}(?!\d)")
    below = () if number.search(words) else range(at + 1, min(at + FAR_BELOW, len(lines)))
    last = next((n for n in below if number.search(lines[n])), 0)
    return "\n".join((lines[at][place.start :], *lines[at + 1 : last], lines[last].strip()[:80])) if last else words


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the words have the file's name and the line's number, and that the commit has the file."""
    path, words = fact.path or "", fact.words or ""
    is_exact, quoted = fact.exact and witness.mentions((fact.text or "").strip()), _QUOTED.search(words)
    # MkDocs quotes the link of a page, and Django names a view, without a number.
    is_quoted = quoted is not None and (quoted[1] or quoted[2]) in (fact.text or "")
    is_numbered = is_exact or is_quoted or re.search(rf"(?<!\d){line_then(fact)}(?!\d)", words)
    is_named = path.rpartition("/")[2].lower() in words.lower() or names_class(path, words)
    if not (is_named and is_numbered):
        return "the words do not name this line"
    return None if witness.repository.entry(witness.sha, path) is not None else "the commit does not have this file"
