"""``raised_here`` for errors of a language: the line of a function that the report reaches with the error's form."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import Code, Span, family, is_test, outside_docstrings
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.output.frames import own_frames
from nodes.search.facts.output.happened import happened
from nodes.search.facts.output.refusals import is_refusal
from nodes.search.facts.output.shapes import MADE, Shape, is_possible, shape_of
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.issue.mentions.places import URL
from nodes.search.languages.table import language_of
from nodes.search.paths.project import package_of
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS, WORD, indent_of, terms_of

MAX_ERRORS, MAX_FRAMES = 4, 4
"""Maximum numbers of errors of one report, and of frames of each trace, that are read."""
FEW_FILES = 40
"""Maximum number of own files that are all read if the report reaches none of their functions."""
DISTINCTIVE = 6
"""Minimum length of a name for which those files of a large project are read that have it."""
MESSAGE_OF, MAX_ATTRIBUTES = "#[error(", 6
"""The attribute with the message of a Rust error, and maximum number of lines from it to the error's name."""
MAX_LINES, MAX_WIDTH = 8_000, 400
"""Maximum number of lines of a function or a file that are read, and of characters of a line."""
FEW_LINES, MAX_FILES = 3, 8
"""Maximum numbers of lines of a larger project that have the form, and of names of files that are looked up."""
_PREFIXES = frozenset(("", *"is has show use enable disable allow on handle toggle set get".split()))
"""Prefixes that names have before the words that people use."""
_VARIANT = re.compile(r"\s{0,80}([A-Z]\w{1,60})\s?(?:[({,]|$)")
_OF_SCRIPTS = re.compile(r"Cannot read propert|is not an object \(eval|can't access property|is not a function")
"""What only JavaScript prints."""
_FILE = re.compile(r"(?<![\w.-])[A-Za-z_][\w-]{2,80}\.[A-Za-z]{1,5}(?![\w-])")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield, for each error, the line with its form in the first part of the code that has a single one."""
    raised = [fact for fact in inquiry.found if fact.kind == "raised_here"]
    shown = {(fact.path, fact.line) for fact in inquiry.found if fact.kind in ("raised_here", "named_here")}
    for shape in errors(inquiry):
        # The line of the innermost frame may explain the error; then no other one does.
        is_known = any(happened(fact.text or "", shape.words) for fact in raised if fact.strong)
        fact = None if is_known else _first(inquiry, shape)
        # The trace of the error may end in that line already.
        if fact and (fact.path, fact.line) not in shown:
            yield fact
    for built in [fact for fact in inquiry.found if fact.kind == "built_here"]:
        number = inquiry.code.number(built.path)
        message = None if number is None else _of_message(built, inquiry.code.lines(number))
        if message and (made := _in_all(inquiry, message)):
            yield replace(made, follows=(built.path or "", built.line or 0), refuses=True)


def _of_message(fact: Fact, lines: Sequence[str]) -> Shape | None:
    """Return how a Rust error is made whose attribute has the message of a fact: the attribute is over its variant."""
    line = fact.line or 0
    is_over = any(MESSAGE_OF in text for text in lines[max(0, line - 2) : line])
    below = lines[line : line + MAX_ATTRIBUTES] if is_over else ()
    name = next((found[1] for text in below if (found := _VARIANT.match(text))), None)
    return Shape(fact.words or "", re.compile(MADE.replace("@name", name)), name) if name else None


def errors(inquiry: FinderInput) -> list[Shape]:
    """Return each error of a language that the report has."""
    issue = inquiry.issue
    found: dict[str, Shape] = {}
    traced = (f"{trace.error or ''}: {trace.message or ''}" for trace in issue.traces)
    for shape in map(shape_of, (*traced, *issue.lines)):
        if shape and issue.holds(shape.words):
            found.setdefault(shape.form.pattern, shape)
    return list(found.values())[:MAX_ERRORS]


def _first(inquiry: FinderInput, shape: Shape) -> Fact | None:
    # Where a trace exists, the error is in one of its frames, or in a library; a value with a name is in own code also
    # below frames of a program into which the project was merged, and any error below a built file of its package.
    inner = [trace.frames[0].path for trace in inquiry.issue.traces if trace.frames]
    is_built = any(package_of(path) and not inquiry.code.index.project.is_foreign(path) for path in inner)
    # A constant and a name that is imported are on few lines of a file.
    frames = list(_frames(inquiry, whole=shape.name.isdigit() or "import name" in shape.words))
    is_missing = shape.words.startswith(("Method not found", "NoSuchMethodError"))  # that a library lacks
    is_anywhere = (
        shape.of
        or is_missing
        or is_built
        or re.search("export|Cannot find|to search for|No module|Invalid entity|^@", shape.words)
    )
    traced = bool(inner) and not (is_anywhere and not frames)
    for part in frames if traced else (*_named(inquiry), *_files(inquiry)):
        held = fitting(inquiry.code.lines(part.number), part.start, part.end, shape)
        if len(held) == 1 or (held and is_missing and traced):  # the first use of what is missing fails
            return _fact(inquiry, shape.words, part.number, held[0])
    return None if traced else _in_all(inquiry, shape)


def _frames(inquiry: FinderInput, *, whole: bool) -> Iterator[Span]:
    """Yield the functions of each trace's innermost own frames, up to the first of a library, or also their files."""
    for trace in inquiry.issue.traces:
        for _, frame in zip(range(MAX_FRAMES), own_frames(inquiry.code, inquiry.issue, trace), strict=False):
            if (whole or frame.symbol) and not (frame.is_library or frame.lost_inner):
                yield Span(frame.number, frame.start, frame.end)
                if whole and not (frame.name or frame.is_known):
                    yield Span(frame.number, 1, len(inquiry.code.lines(frame.number)))


def _named(inquiry: FinderInput) -> Iterator[Span]:
    """Yield the definitions of strong facts."""
    code = inquiry.code
    for fact in inquiry.found:
        if fact.strong and (row := code.row_of(fact)) is not None:
            yield code.span(row)


def _files(inquiry: FinderInput) -> Iterator[Span]:
    """Yield the own files that the report names by a name which no other own file has."""
    code = inquiry.code
    written = (name for line in inquiry.issue.lines for name in _FILE.findall(line))
    for name in list(dict.fromkeys(written))[:MAX_FILES]:
        numbers = [number for number in code.index.names.by_name.get(name, ()) if code.own[number]]
        if len(numbers) == 1:
            yield Span(numbers[0], 1, len(code.lines(numbers[0])))


def _in_all(inquiry: FinderInput, shape: Shape) -> Fact | None:
    """Return the only line with the form, in few files with its name or of a small project, or in the first file."""
    code, name = inquiry.code, re.split(r"[^\w$]", shape.name)[-1]  # of a module's path, its last part
    named = code.files_with(name) if len(name) >= DISTINCTIVE else np.flatnonzero(code.own).tolist()
    numbers = [number for number in named if code.own[number]]
    is_few = len(numbers) <= FEW_FILES
    if not is_few:
        numbers = [number for path in inquiry.first[:1] if (number := code.number(path)) is not None]
    code.read(numbers)
    places = ((number, line) for number in numbers for line in fitting(code.lines(number), 1, MAX_LINES, shape))
    held = [place for place in places if not code.is_tested(*place)]
    if "is not defined" in shape.words:
        held = [place for place in held if not _binds(code.lines(place[0]), shape.name)]
    # Of the uses in one file the first one fails, and of methods for several versions the first is of the newest.
    if re.search("is not defined|^@", shape.words) and len({number for number, _ in held}) == 1:
        held = held[:1]
    if "local variable" in shape.words:
        held = [place for place in held if _may_be_unset(code, *place, shape.name)]
    # The one that is executed first, in the folder that the line of the log names.
    logged = " ".join(line for line in inquiry.issue.lines if shape.words in line)
    folders = {word for word in WORD.findall(logged) if len(word) >= DISTINCTIVE}
    inside = [place for place in held if not folders.isdisjoint(code.path(place[0]).split("/")[:-1])]
    inside = sorted(inside, key=lambda place: bool(code.symbol(*place))) if "import name" in shape.words else []
    held = inside[:1] or held
    if len(held) > 1:
        # The one in the function that words of the report spell.
        stems, names = (
            _stems_of("\n".join((inquiry.issue.title, *inquiry.issue.prose))),
            [(code.symbol(*place) or "").rpartition(".")[2] for place in held],
        )
        parts = [_parts_of(f"get_{name}") for name in names]  # of one word, a name has itself as its only part
        held = [place for place, some in zip(held, parts, strict=True) if some and stems >= {*some}]
    if len(held) != 1 or not (is_few or _is_rare(inquiry, shape)):
        return None
    fact = _fact(inquiry, shape.words, *held[0])
    return fact and replace(fact, strong=is_few)


def _binds(lines: Sequence[str], name: str) -> bool:
    """Return whether a file of Python imports, defines or sets a name anywhere, or imports all of a module."""
    form = re.compile(
        rf"\s{{0,80}}(?:(?:from\s.{{1,200}}\s)?import\s(?:.{{0,300}}(?<![\w.]){re.escape(name)}(?!\w)|[(*])"
        rf"|(?:async\s)?(?:def|class)\s{re.escape(name)}\b|.{{0,200}}(?:\b(?:as|for|global)\s|(?<![\w.])(?={re.escape(name)}\s?[,=:]))"
        rf"{re.escape(name)}\b)"
    )
    return any(name in line and form.match(line[:MAX_WIDTH]) for line in lines) or any("import *" in it for it in lines)


def _stems_of(text: str) -> set[str]:
    """Return the stems of the plain words of a text."""
    found = (word for word in WORD.findall(URL.sub(" ", text)) if word.isascii() and word.isalpha())
    plain = (word for word in found if word[1:].islower() or word.isupper())
    return {stems[0] for word in plain if word.lower() not in STOPWORDS and (stems := terms_of(word))}


def _parts_of(name: str) -> list[str]:
    """Return the stems of the words of a name that say something."""
    *parts, _ = terms_of(name) or ("",)
    return [part for part in dict.fromkeys(parts) if part not in STOPWORDS and part not in _PREFIXES]


def _may_be_unset(code: Code, number: int, line: int, name: str) -> bool:
    """Return whether a function of Python gives a name a value only further in than a line, and not as an argument."""
    row = code.index.definition_at(number, line)
    start = code.span(row).start if row is not None else line
    above, depth = code.lines(number)[start - 1 : line - 1], indent_of(code.lines(number)[line - 1])
    word = rf"(?<![\w.]){re.escape(name)}\b"
    given = re.compile(
        rf"[\w\s,()\[\]]{{0,200}}{word}[\w\s,\[\])]{{0,200}}(?<![=!<>])=(?!=)|.{{0,200}}\b(?:as|for) {word}"
    )
    depths = [indent_of(text) for text in above if given.match(text[:MAX_WIDTH])]
    return bool(depths) and min(depths) > depth and not re.search(word, "\n".join(above).partition("):")[0])


def _is_rare(inquiry: FinderInput, shape: Shape) -> bool:
    """Return whether few lines of own code have the form with the error's name; each file may have one ``.replace``."""
    hits = inquiry.witness.grep(shape.name, own=True) if shape.name else ()
    return sum(bool(shape.form.search(hit.text[:MAX_WIDTH])) for hit in hits) <= FEW_LINES


def fitting(lines: Sequence[str], start: int, end: int, shape: Shape) -> list[int]:
    """Return the lines of code between two lines that have a form, and can raise its error."""
    end = min(end, start + MAX_LINES, len(lines))
    near = [at for at in range(start, end + 1) if len(lines[at - 1]) <= MAX_WIDTH and shape.form.search(lines[at - 1])]
    near = [at for at in near if is_possible(shape.words, lines[at - 1]) is not False]
    if "has no attribute" in shape.words:  # code that asks for it first has it
        asks = re.compile(rf"\b(?:has|get)attr\(.{{1,80}}?, ?[\"']{re.escape(shape.name)}[\"']")
        near = [at for at in near if not any(map(asks.search, lines[max(0, at - 3) : at]))]
    return [at for at in outside_docstrings(lines, near) if not is_comment(lines[at - 1])]


def _fact(inquiry: FinderInput, words: str, number: int, line: int) -> Fact | None:
    hit = inquiry.code.hit(number, line)
    is_script = family(language_of(hit.path) or "") in ("javascript", "component") if hit else False
    if hit is None or is_test(hit.symbol) or (_OF_SCRIPTS.search(words) and not is_script):
        return None
    event = happened(hit.text, words)
    if event and not event.asserts:
        says = event.at(hit.place)
    else:
        # Ruby and Rust print an opening backtick, which would begin a code span.
        quoted, of = words.replace("`", "'"), say(" of `{place}`", place=hit.place)
        says = say("“{error}” fits this line{of}.", error=quoted, of=of)
    refuses = is_refusal(inquiry.code.lines(number), line)
    return hit.fact("raised_here", says, words, count=1, strong=True, refuses=refuses)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line is code and has the form of the error."""
    words, line, (path, above) = fact.words or "", fact.line or 0, fact.follows or ("", 0)
    message = _of_message(replace(fact, line=above), witness.lines(path, 1, above + MAX_ATTRIBUTES)) if path else None
    # The words end before the bracket after the name of a Rust error.
    shape = message or shape_of(words) or shape_of(f"{words}(")
    if shape is None:
        return "the words are not an error of a language"
    held = fitting(witness.lines(fact.path or "", 1, line), line, line, shape)
    return None if held else "the line does not have the form of the error"
