"""The statement that facts allow: which facts lead, which are shown, and whether a file is claimed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Literal

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FIRST
from nodes.search.facts.places.moved import is_gone
from nodes.search.facts.types import LEADING, NOT_RANKED, Fact, Kind, declares_type
from nodes.search.tokens import load_sections

Level = Literal["claimed", "stated", "ranked", "none"]
"""The level of a statement. ``claimed``: strong facts on the first file only, or weaker ones if the search is sure.
``stated``: facts without a claim. ``ranked``: no fact to state, but the search is sure. ``none``: no place is shown."""
# A person refers to these places directly; on the first file of development issues 87 to 95 % were right.
FIRM = frozenset({"linked_here", "raised_here", "pasted_here"})
_EVENTS = frozenset({"raised_here", "built_here"})
"""Kinds about what happened; those without a claim show a fault of other code, or a line that may have moved."""
_WEAK = frozenset({"quoted_here", "read_here", "default_here"})
"""Kinds that are unclaimed because they say little."""
_KNOWN = frozenset({"defined_once", "used_here", "read_here", "default_here"})
"""Kinds about a name of the report that show nothing of what happened."""
SUPPORTING: tuple[Kind, ...] = (
    "raised_here",
    "built_here",
    "pasted_here",
    "quoted_here",
    "defined_once",
    "read_here",
    "default_here",
)
"""Kinds that explain why a file is relevant, even if a single such fact may be a coincidence; by precedence."""
SURE = 0.8
"""Minimum confidence for a claim by a weak fact."""
TRUSTS_TITLE = 0.7
"""Minimum confidence for a claim by a name of the title that is defined once, and for a file that the title means."""
FIRST_PLACE = 0.85
"""Minimum confidence for the first place to be named without a fact."""
LONG_LINE = 36
"""Minimum number of characters of a single line of code for it to identify its place."""
MAX_EMPTY_FUNCTION = 80
"""Maximum number of lines of a function whose body may be empty on purpose; most of them are documentation."""
_FORMS = load_sections(Path(__file__).with_name("levels.txt"))
_CATCHES_ALL, _ENDS, _REGISTERED, _PRINTED, _DOCUMENTED, _EMPTY = (
    re.compile("".join(_FORMS[name])) for name in "catches_all ends registered printed documented empty".split()
)
MAX_ABOVE = 24
"""Maximum number of lines with documentation and annotations above a definition."""
MAX_FILES = 16
"""Maximum number of files in which the registration of a function is looked for."""
_COMMENT = re.compile(r"#|//|/\*|\*")


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement that a report may make about an issue."""

    level: Level
    headline: Fact | None = None
    """The fact that leads, or None."""
    stated: tuple[Fact, ...] = ()
    """The facts that are strong, and those about lines that the report names, in order of precedence."""


@dataclass(frozen=True, slots=True)
class ConfidenceInputs:
    """The inputs of the fitted confidence besides the ranking."""

    on_first: bool = False
    """A strong fact is on the first file."""
    two_kinds: bool = False
    """Strong facts of two kinds are on two lines of the first file."""
    elsewhere: bool = False
    """A strong fact, at least as strong as those on the first file, is on another of the first files."""
    unclaimed: bool = False
    """What happened in the first file supports no claim, and no other fact does."""


def confidence_inputs(facts: Sequence[Fact], files: Sequence[str], *, trusts_title: bool = False) -> ConfidenceInputs:
    """Return what facts add to the confidence in the first file.

    A name in the title is the reporter's guess, and the ranking has already counted its words: it counts as a strong
    fact only with ``trusts_title``.
    """
    # Files after the first five that have a fact are right in 2 % of cases, so they neither support nor contradict.
    shown = set(files[:FIRST])
    shown |= {fact.path for fact in facts if fact.kind == "linked_here" and fact.line and fact.path}
    strong = [fact for fact in facts if fact.path in shown and _is_claimable(fact)]
    first = files[0] if files else None
    # A line that is gone leaves nothing to fix in the file as it is.
    if any(fact.path == first and is_gone(fact) for fact in facts):
        return ConfidenceInputs()
    # The line that called a library makes no claim: what the library was given is often decided elsewhere.
    titled = {fact for fact in strong if fact.in_title and not (trusts_title and fact.kind == "defined_once")}
    on_first = [fact for fact in strong if fact.path == first and not (fact.by_library or fact in titled)]
    # An option that another file declares is read in many places, so it does not count against the first file.
    others = [fact for fact in strong if fact.path != first and fact.kind in LEADING]
    # A name that is defined once elsewhere does not count against what the reporter refers to directly.
    if any(fact.kind in FIRM for fact in on_first):
        others = [fact for fact in others if fact.kind in FIRM]
    # Two kinds on one line are one observation.
    two = len({fact.kind for fact in on_first}) >= 2 and len({fact.line for fact in on_first}) >= 2
    events = (fact for fact in facts if fact.path == first and fact.kind in _EVENTS and not on_first)
    unclaimed = any(fact.refuses or fact.unclaimed or not fact.strong for fact in events)
    return ConfidenceInputs(bool(on_first), two, bool(others), unclaimed)


def _is_claimable(fact: Fact) -> bool:
    """Return whether a fact alone may carry a claim; of five bare strings that are printed too, two were right."""
    words = fact.words or ""
    is_bare = fact.kind == "quoted_here" and words[:1] in ("'", '"') and words[0] == words[-1]
    return fact.strong and not (fact.refuses or fact.unclaimed or is_bare)


def _supports(fact: Fact, facts: Sequence[Fact]) -> bool:
    """Return whether a fact relates the words to its file and to no other."""
    same = {item.path for item in facts if item.kind == fact.kind and item.words == fact.words}
    return fact.kind in SUPPORTING and fact.line is not None and same == {fact.path} and not fact.unclaimed


def statement(facts: Sequence[Fact], files: Sequence[str], confidence: float) -> Statement:
    """Decide what a report may state by all facts, the ranked files, and the probability that the first is right."""
    first = list(files[:FIRST])
    order = precedence(facts, first)
    stated = tuple(sorted(filter(_is_stated(first), facts), key=order))
    is_free = bool(first) and not _is_against(facts, first[0])
    signs = confidence_inputs(facts, files, trusts_title=is_free and confidence >= TRUSTS_TITLE)
    lead = None
    if signs.on_first and not signs.elsewhere:
        lead = _lead(facts, first[0], stated, order)
    if lead is None and is_free and confidence >= SURE and not signs.elsewhere:
        lead = _lead(facts, first[0], stated, order, is_sure=True)
    # A line that a tool or a trace names for its error says more than where a name of the error is defined.
    named = {fact.path for fact in stated if fact.kind == "named_here" and fact.is_named_line and fact.strong}
    named |= {fact.path for fact in stated if fact.kind == "raised_here" and fact.exact}
    if lead and not (named - {first[0]} and lead.kind in _KNOWN):
        return Statement("claimed", lead, stated)
    # With strong facts on other files too, the first file was right in 73 % of development issues instead of 92 %.
    inside = _use_inside(stated[0], facts) if stated else None
    # A file that the title may mean was fixed in 24 of 32 leads if the search is sure of it, else in 6 of 18.
    if inside and (confidence >= TRUSTS_TITLE or not inside.is_echo):
        return Statement("stated", inside, stated)
    return Statement("ranked" if confidence >= FIRST_PLACE and files else "none")


def _is_against(facts: Sequence[Fact], path: str) -> bool:
    """Return whether what the report shows happened elsewhere, or is what the file's code does on purpose."""
    raised = {fact.path for fact in facts if fact.kind == "raised_here"}
    return bool(raised and path not in raised) or any(
        (fact.path == path and is_gone(fact))
        or (fact.path == path and fact.strong and (fact.refuses or (fact.unclaimed and fact.kind in _EVENTS)))
        for fact in facts
    )


def _lead(
    facts: Sequence[Fact],
    path: str,
    stated: Sequence[Fact],
    order: Callable[[Fact], tuple[bool, int, bool, int, bool]],
    *,
    is_sure: bool = False,
) -> Fact | None:
    """Return the fact that leads a claim of a file, or None.

    If the search is sure, a fact that supports no claim by itself may lead: of 17 such claims of development issues 16
    were right.
    """
    weak = frozenset(fact for fact in facts if is_sure and fact.unclaimed and fact.kind in _WEAK and not fact.refuses)
    of_title = {fact for fact in facts if is_sure and fact.in_title and fact.kind == "named_here"}
    here = [fact for fact in facts if fact.path == path and fact not in of_title]
    mine = [fact for fact in here if fact in stated or fact in weak or _supports(fact, facts)]
    # A use inside the type of the title says less than the function that the title names.
    places = {(fact.path, fact.line) for fact in mine if not fact.is_echo}
    uses = [fact for fact in here if fact.kind == "used_here" and (not places or fact.follows in places)]
    # A change or a path without a line shows no code; that the report names it is no reason against another fact.
    changes = {fact for fact in mine if fact.line is None or fact.kind == "named_change"}
    lead = min((*mine, *uses), key=lambda fact: (fact in changes, fact.is_echo, *order(fact)), default=None)
    # The reporter knows where the type of the title is; of 27 such claims 22 were right. What shows a fault of other
    # code, or a line that may have moved, is stated.
    return None if lead is None or lead in changes or lead.is_echo or (lead.unclaimed and lead not in weak) else lead


def _use_inside(lead: Fact, facts: Sequence[Fact]) -> Fact:
    """Return the line inside a definition that uses another name of the report; the reporter knows the definition."""
    uses = (fact for fact in facts if fact.kind == "used_here" and fact.path == lead.path)
    inside = (fact for fact in uses if lead.is_echo or fact.follows == (lead.path, lead.line))
    return next(inside, lead) if lead.is_echo or lead.kind == "defined_once" else lead


def _is_stated(first: Sequence[str]) -> Callable[[Fact], bool]:
    """Return a test for the facts to state.

    A strong fact is one on the first files, if it is about a line or a change; one that cannot lead, or is about one of
    several lines, counts on the first file only: of 5 such leads on other files none was right. The ranking does not
    decide on a line or an option that the report itself names, on a change of a file that it names, nor where a message
    is built.
    """
    return lambda fact: (
        is_stated(fact)
        and (
            fact.is_named_line
            or fact.is_option
            or fact.kind in NOT_RANKED
            or (fact.kind == "built_here" and fact.strong)
            or fact.path in first[:1]
            or (fact.path in first and fact.kind in LEADING and not fact.is_repeated and bool(fact.line or fact.change))
        )
    )


def is_stated(fact: Fact) -> bool:
    """Return whether a fact about the report's files is stated: strong, chosen, or about a line the report names."""
    return fact.strong or fact.chosen or fact.is_named_line


def precedence(facts: Sequence[Fact], first: Sequence[str] = ()) -> Callable[[Fact], tuple[bool, int, bool, int, bool]]:
    """Return a sort key of facts: what tells a reader most comes first.

    Facts in a function that the title names precede the others, except the definition, which the reporter knows. Then
    the kinds decide, then the ranks of the files; among equals, a function that the report names precedes one that it
    does not name. A short pasted line, a name of a file and a frame that no known change removed come last, one that
    may have moved after what the code says itself.
    """
    named = [fact for fact in facts if fact.kind == "defined_once" and not declares_type(fact.text or "")]
    functions, of_title = {fact.symbol for fact in named}, {fact.symbol for fact in named if fact.in_title}
    # A line to which the report links says more than a use of a name.
    uses = ("used_here" for fact in facts if fact.kind == "linked_here" and fact.line)
    known = {"defined_once", "named_here", *uses}
    # What prints every crash says less about this one than its line.
    prints_all = any(fact.kind == "built_here" and fact.refuses for fact in facts)
    # What unwraps the result of a tool says less than the error that the tool prints.
    printed = any(fact.kind == "named_here" and fact.strong and _PRINTED.match(fact.says) for fact in facts)

    def key(fact: Fact) -> tuple[bool, int, bool, int, bool]:
        kind = LEADING.index(fact.kind) if fact.kind in LEADING else len(LEADING)
        # A short line alone is often one of the reporter's own program.
        if fact.kind == "pasted_here" and fact.count == 1 and len((fact.text or "").strip()) < LONG_LINE:
            kind = len(LEADING)
        if fact.kind == "named_here" and fact.is_named_line and fact.strong:
            kind = LEADING.index("raised_here" if prints_all or not fact.unclaimed else "used_here")
        if fact.kind == "raised_here" and printed and " unwraps " in fact.says:
            kind = LEADING.index("named_here")
        is_weak = fact.kind == "raised_here" and not fact.strong
        gone = "linked_here" if fact.change else "named_here"  # the change may have fixed it
        kind = LEADING.index(gone if is_gone(fact) else "read_here") if is_weak else kind
        # A line that fits an error says more than one that the report only names.
        is_weak |= fact.kind == "named_here" and (not fact.strong or fact.says.startswith("The report names this line"))
        # Of two expressions, that which no other line has tells where it is.
        is_weak |= fact.kind == "quoted_here" and (fact.count or 0) > 1
        # Another line with the same call is of interest below the one that the report names.
        kind = LEADING.index("used_here") if fact.kind == "quoted_here" and fact.follows else kind
        kind = max(kind, LEADING.index("used_here")) if fact.chosen else kind
        is_inside = fact.symbol in of_title and (fact.is_named_line or fact.kind not in known)
        rank = first.index(fact.path) if fact.path in first else len(first)
        # Of several links, a report gives the most important one first.
        rank = 0 if fact.kind == "linked_here" and not fact.says.endswith("read as numbered.") else rank
        return not is_inside, kind, is_weak, rank, fact.symbol not in functions

    return key


def limited(code: Code, fact: Fact) -> Fact:
    """Return a fact, marked if no claim may rest on it."""
    row = code.row_of(fact) if fact.symbol else None
    if row is None or fact.symbol != (symbol := code.index.name_of(row)):
        return fact
    number, start, end = code.span(row)
    body = code.lines(number)[start - 1 : end]
    if fact.kind == "defined_once" and _is_registered(code, row):
        return replace(fact, strong=False, unclaimed=True)
    withheld = is_empty(body) or (fact.strong and _prints_crashes(code, symbol.rpartition(".")[2], body))
    return replace(fact, unclaimed=True, refuses=True) if withheld else fact


def _is_registered(code: Code, row: int) -> bool:
    """Return whether what precedes a definition gives it to a framework."""
    head = code.head(row)
    above = code.lines(int(code.index.def_file[row]))[max(0, head.line - 1 - MAX_ABOVE) : head.line - 1] if head else ()
    attached = takewhile(lambda line: line.strip() and not _ENDS.search(line), reversed(above))
    return any(map(_REGISTERED.match, attached))


def _prints_crashes(code: Code, name: str, body: Sequence[str]) -> bool:
    """Return whether a function catches every crash of the program, or is registered to receive them."""
    if any(map(_CATCHES_ALL.search, body)):
        return True
    files = code.files_with(name)[:MAX_FILES]
    code.read(files)
    return any(name in line and _CATCHES_ALL.search(line) for number in files for line in code.lines(number))


def is_empty(lines: Sequence[str]) -> bool:
    """Return whether a function has only a head, documentation and no statement that does anything."""
    if not 2 <= len(lines) <= MAX_EMPTY_FUNCTION:
        return False
    body, quoted = list[str](), ""
    head = next((at for at, line in enumerate(lines, 1) if line.rstrip().endswith((":", "{"))), len(lines))
    for line in map(str.strip, lines[head:]):
        mark = _DOCUMENTED.match(line)
        if quoted:
            quoted = "" if quoted in line else quoted
        elif mark:
            quoted = "" if mark[1] in line[mark.end() :] else mark[1]
        elif line and not _COMMENT.match(line):
            body.append(line)
    # An empty function says so; a declaration without any body, or a constant, does not count.
    return bool(body) and all(map(_EMPTY.match, body))
