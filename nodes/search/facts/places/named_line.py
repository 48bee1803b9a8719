"""Lines that the report names by a path and a number, in the form of any tool; part of ``named_here``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from nodes.search.facts.changes.releases import fitting_release, named_release
from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FinderInput, Issue
from nodes.search.facts.levels import is_logging
from nodes.search.facts.names import defined_once
from nodes.search.facts.output.built_here import shortened
from nodes.search.facts.output.happened import Happened, happened
from nodes.search.facts.output.on_a_line import statement
from nodes.search.facts.output.shapes import is_possible
from nodes.search.facts.places.linked_here import links
from nodes.search.facts.places.moved import line_now, line_then, removed
from nodes.search.facts.places.reported import MAX_MESSAGE, holding, message
from nodes.search.facts.places.reported import printed as printed_code
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.history.versions import Release
from nodes.search.issue.located import Located, find_in_lines
from nodes.search.issue.normal.report import UNKNOWN
from nodes.search.paths.project import common_tail, simplified
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS, normalise_space

MAX_PLACES = 8
"""Maximum number of lines of one report; a log of a compiler has hundreds."""
MAX_NAMED, MAX_READ = 2_000, 200
"""Maximum number of places that are found, and of those that are compared with the code, the most serious first."""
NEAR = 3
"""Number of lines around the name of a line in which an error may say what it did."""
_THROWS = re.compile(r"\s{0,200}(?:throw new|throw|raise)\s{1,9}([A-Z][\w.:]{2,80})\b(?=\s{0,9}[({;]|$)")
_UNDECLARED = re.compile(
    r"(?:implicit declaration of function|undeclared (?:function|identifier))\W{1,3}"
    r"(\w{4,80})|\W(\w{4,80})\W (?:was not declared in this scope|undeclared)"
)
"""A name that a compiler does not know where it is used."""
_IS_ERROR = re.compile(r"(?:fatal |syntax |internal )?error\b", re.IGNORECASE)
_FAILS = re.compile(r"error|fail|warn|panic|fatal|exception|assert|cannot|could not|unable|invalid", re.IGNORECASE)
MIN_CODE = 12
"""Number of characters that tell code from a message."""
_ASIDE = re.compile(r"\W{1,6}(?:note|info|help)\b", re.IGNORECASE)
"""What a tool prints behind a place that only explains the error of another one."""
_DECLARED_ELSEWHERE = re.compile(
    r"\bno (?:such )?(?:member|field|matching|method|module|property)\b|too (?:many|few) arguments|incompatible"
    r"|cannot (?:convert|find)|does not (?:exist on type|contain a definition)|not assignable|undefined reference"
    r"|mismatch|unbound |expects? \d|could not be found|\bexpected \d{1,2}, |not found",
    re.IGNORECASE,
)
"""What a compiler says of a line that does not fit a declaration elsewhere: often that was changed, and is fixed."""
_INCLUDED = re.compile(r"\s{0,40}(?:In file included from|from|included from)\s\S")
_DEFINED = re.compile(r" uses `(\w+)` on this line; its only definition is on line (\d+) of `([^`]+)`\.$")
_NUMBERED = re.compile(r"(?::|\bline )\d")
_REMARKS = ("# ", "// ", "-- ", "/*", "* ")
"""The beginnings of a line that runs nothing; outside functions its number is of another version."""
_FOREIGN = frozenset({"vendored", "minified", "generated"})
_WORD = re.compile(r"[^\W\d]\w{2,60}")
_COMMON = frozenset(
    """error errors line lines file files function method module main call called return returns null none nil true
    false self this const let var def class import from undefined warning exception the and for not with value type
    object string number test""".split()
)
"""Words that many lines of code and most reports of errors have."""
_GENERAL = frozenset(
    """index main app mod lib init __init__ test tests util utils setup config server client run start script
    example demo model models views program helper helpers""".split()
)
"""Names of files that most projects have, so that a file of the reporter's own program may be meant."""
_PROGRAM = re.compile(r".+/main\.(?:rs|go|zig|c|cc|cpp)")
"""The file of a program in a folder; who names its whole path means the project's, because a library has none."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines of the project's files that a path and a number name outside stack traces."""
    return islice(_find(inquiry), MAX_PLACES)


def _find(inquiry: FinderInput) -> Iterator[Fact]:
    code, seen = inquiry.code, set[tuple[int, int | None]]()
    linked = {fact.path for fact in inquiry.found if fact.kind == "linked_here"}
    lines = [line for line in inquiry.issue.lines if line.strip()]
    # A logger names the line that caught an error, which the trace of the error has too, further out.
    frames = (frame for trace in inquiry.issue.traces for frame in trace.frames[1:])
    callers = {(frame.path.rpartition("/")[2], frame.line) for frame in frames}
    places = _by_severity(inquiry.issue, lines)
    named = named_release(inquiry) if places else None
    release = named.release if named else None
    for at, place, is_aside in places[:MAX_READ]:
        printed = printed_code(lines, at, place.line)
        context = "\n".join((*lines[at : at + 2], printed))
        number = file_of(code, place, context, release, printed=printed, report=inquiry.issue.written)
        if number is None or _is_moved_frame(inquiry, code.path(number), place.line):
            continue
        error = _error(lines, at)
        then, line, moved = _now(inquiry, release, number, place.line, error)
        held = holding(code.lines(number), printed, line or place.line) if printed else None
        line, moved = (held, "") if held else (line, moved)
        text = code.text(number, line) if line else None
        words = words_of(lines, at, place)
        if line is None or text is None or (number, line) in seen or not inquiry.issue.holds(words):
            continue
        # A bracket is not what a report is about: the number is that of another version.
        if not any(map(str.isalnum, text)):
            continue
        path, symbol = code.path(number), code.symbol(number, line)
        if "://" in words and (path in linked or links(words)):  # the link is a fact of its own, or of another commit
            continue
        seen.add((number, line))
        if not moved and not held and (printed or is_possible(error, text) is False):
            end, change = (
                removed(inquiry, then, number, line)
                if then
                else (say("; it does not fit the error at this commit"), None)
            )
            gone = say("The report names line {line} of `{path}`{end}.", line=line, path=path, end=end)
            yield Fact("named_here", gone, words, path, line, text, change=change, count=1, unclaimed=True)
            continue
        informs = _informs(inquiry, lines, at)
        strong = code.index.roles[number] != "test" and not is_aside and not informs
        where = symbol or path
        event = None if moved else _event(statement(code.lines(number), line), lines, at)
        says = _undeclared(code, where, text, error) or _says(where, text, lines, (at, place), event or moved)
        outer = (place.path.rpartition("/")[2], place.line) in callers
        fact = Fact("named_here", says, words, path, line, text, symbol, count=1, strong=strong, exact=bool(held))
        reported = message(lines, at, place)
        elsewhere = bool(_IS_ERROR.match(reported) and _DECLARED_ELSEWHERE.search(reported))
        is_remark = not symbol and text.lstrip().startswith(_REMARKS)
        asserts = event is not None and event.asserts
        yield replace(fact, unclaimed=outer or elsewhere or informs or asserts or is_logging(text) or is_remark)


def _informs(inquiry: FinderInput, lines: Sequence[str], at: int) -> bool:
    """Return whether the line of a log only informs: by its level, or beside a trace that tells what failed.

    Rust's tracing prints the place below the message: ``at src/app.rs:12``.
    """
    ranks = {logged.text: logged.rank for logged in inquiry.issue.logged}
    above = lines[at - 1].strip() if at and lines[at].lstrip().startswith("at ") else ""
    rank = ranks.get(lines[at].strip(), ranks.get(above))
    is_traced = any(fact.kind == "raised_here" for fact in inquiry.found)
    return rank is not None and (rank > UNKNOWN or (rank == UNKNOWN and is_traced and not _FAILS.search(lines[at])))


def _by_severity(issue: Issue, lines: Sequence[str]) -> list[tuple[int, Located, bool]]:
    """Return the places that lines name, the most serious first, each with whether it only explains another one.

    A log of hundreds of lines names many places; that of its error matters. Below an error, compilers print notes,
    includes, and places without a message.
    """
    ranks = {line.text: line.rank for line in issue.logged}
    places = [found for found in islice(find_in_lines(lines), MAX_NAMED) if not _INCLUDED.match(lines[found[0]])]
    errors = {at for at, place in places if _IS_ERROR.match(message(lines, at, place))}
    found = [(at, place, bool(errors) and at not in errors and _is_aside(lines[at], place)) for at, place in places]
    return sorted(found, key=lambda item: (ranks.get(lines[item[0]].strip(), UNKNOWN), item[2]))


def _is_aside(line: str, place: Located) -> bool:
    is_bare = not line[: place.start].strip() and not line[place.end :].strip(" :,")
    return is_bare or bool(_ASIDE.match(line, place.end))


def _is_moved_frame(inquiry: FinderInput, path: str, line: int) -> bool:
    """Return whether the frame of a trace with this number is a fact already, at the line where its code is now."""
    number = re.compile(rf"(?<!\d){line}(?!\d)")
    raised = (fact for fact in inquiry.found if fact.kind == "raised_here" and fact.path == path)
    return any(fact.line != line and number.search(fact.words or "") for fact in raised)


def _undeclared(code: Code, where: str, text: str, error: str) -> str | None:
    """Return where the name is defined that a compiler does not know at a line."""
    named = _UNDECLARED.search(error)
    name = (named[1] or named[2]) if named else ""
    head = code.only_head(name) if name and name in text else None
    if head is None:
        return None
    values = {"place": where, "name": name, "line": str(head.line), "path": head.path}
    return say("`{place}` uses `{name}` on this line; its only definition is on line {line} of `{path}`.", **values)


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
    near = (happened(text, line[:MAX_MESSAGE]) for line in lines[max(0, at - NEAR) : at + NEAR + 1])
    return next((item for item in near if item and not (item.asserts and "`" not in item.says)), None)


def _says(where: str, text: str, lines: Sequence[str], named: tuple[int, Located], event: Happened | str) -> str:
    """Return what the line did, else what a tool reported for it, if anything.

    A line with another number now is only named, with the end of the sentence that gives its number in the release.
    """
    at, place = named
    if isinstance(event, Happened):
        return event.at(where)
    moved = event
    # A backtick of the report would begin or end a code span of the sentence; code is not a message.
    reported = message(lines, at, place).rstrip("`").replace("`", "'")
    is_code = normalise_space(reported)[:MIN_CODE] in normalise_space(text)
    quoted = "" if "“" in reported or is_code else shortened(reported)
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
    if number.search(words):
        return words
    last = at + 1 if at + 2 >= len(lines) or number.search(lines[at + 1]) else at + 2
    return "\n".join((lines[at][place.start :], *lines[at + 1 : last], lines[last].strip()[:80]))


def file_of(
    code: Code, place: Located, context: str, release: Release | None = None, *, printed: str = "", report: str = ""
) -> int | None:
    """Return the only own file that a path can mean, if it has the line.

    Args:
        code: the repository's files.
        place: the path and its line.
        context: the text around the path, of which one word has to be in the code if the path is ambiguous.
        release: the release to which the number of the line belongs, if the report names one.
        printed: the code of that line as a tool prints it, or an empty text; a file that has it has the line.
        report: the whole text, which may name the file's folder or paste the line elsewhere.
    """
    if code.index.project.is_foreign(place.path):
        return None
    parts = [part for part in place.path.split("/") if part not in ("", ".", "~")]
    tails = {
        number: common_tail(parts, code.path(number).split("/"))
        for number in code.index.names.by_name.get(parts[-1] if parts else "", ())
        if code.index.roles[number] not in _FOREIGN and not code.is_ignored(number)
    }
    longest = max(tails.values(), default=0)
    most = [number for number, length in tails.items() if length == longest]
    best = [number for number in most if printed and holding(code.lines(number), printed, place.line)]
    best = best or [number for number in most if line_now(code, release, number, place.line).line]
    if len(best) == 1 and not _is_ambiguous(code, parts, code.path(best[0]), longest) and place.line > 1:
        return best[0]
    best = [number for number in best if _is_described(code, number, place.line, report)] or [
        n for n in best if _shares_word(code, n, place, line_now(code, release, n, place.line).line or 0, context)
    ]
    # Tools print paths from the root of the project.
    best = [number for number in best if code.path(number) == place.path] if len(best) > 1 else best
    return best[0] if len(best) == 1 else None


def _is_ambiguous(code: Code, parts: Sequence[str], path: str, shared: int) -> bool:
    """Return whether a file of another project may be meant: the folders differ, or many projects have such a file."""
    # Also with one more folder, unless one of the paths is the end of the other.
    if _PROGRAM.fullmatch(path) and "/".join(parts) == path:
        return False
    # Below a folder with the project's name, the whole path is given.
    if shared == 1 + path.count("/") < len(parts) and simplified(parts[-shared - 1]) in code.index.project.names:
        return False
    differs = shared < min(len(parts), 1 + path.count("/"), 3) or (shared == 1 and len(parts) > 1)
    return differs or (shared <= 2 and parts[-1].partition(".")[0].casefold() in _GENERAL)


def _is_described(code: Code, number: int, line: int, report: str) -> bool:
    """Return whether a report names the folders of a file, or pastes the code around the line."""
    folder = code.path(number).rpartition("/")[0]
    if "/" in folder and re.search(rf"(?<![\w/-]){re.escape(folder)}(?![\w-])(?!/\w+\.)", report):
        return True
    pasted = {normalise_space(written) for written in report.split("\n")}
    near = (normalise_space(text) for text in code.lines(number)[max(0, line - 2) : line + 2])
    return any(len(text) >= MIN_CODE and text in pasted for text in near)


def _shares_word(code: Code, number: int, place: Located, line: int, context: str) -> bool:
    """Return whether the text around a path has a word of the line, or the name of its definition."""
    here = f"{code.text(number, line) or ''} {(code.symbol(number, line) or '').replace('.', ' ')}"
    around = context.replace(place.path.rpartition("/")[2], " ")
    return not _words(around).isdisjoint(_words(here))


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text[:4_000]) if word.casefold() not in STOPWORDS | _COMMON}


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the words have the file's name and the line's number, and that the commit has the file."""
    path, words = fact.path or "", fact.words or ""
    is_numbered = re.search(rf"(?<!\d){line_then(fact)}(?!\d)", words) or (
        fact.exact and witness.mentions((fact.text or "").strip())
    )
    if path.rpartition("/")[2] not in words or not is_numbered:
        return "the words do not name this line"
    if defined := _DEFINED.search(fact.says):
        text = witness.line(defined[3], int(defined[2])) or ""
        return defined_once.check(replace(fact, words=defined[1], path=defined[3], text=text, symbol=None), witness)
    return None if witness.repository.entry(witness.sha, path) is not None else "the commit does not have this file"
