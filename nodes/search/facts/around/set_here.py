"""``guarded_by`` for a value: the only line above a fault that sets the variable which the error is about."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

from nodes.search.facts.around.called_from import is_call, is_comment
from nodes.search.facts.code import Code, outside_docstrings, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.output.frames import own_frames
from nodes.search.facts.output.on_a_line import statement
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.sentences import say
from nodes.search.tokens import indent_of, load_sections

OF = frozenset({"raised_here", "named_here"})
MAX_FACTS, MAX_FRAMES, MAX_WIDTH, FAR = 3, 4, 100, 120
"""Maximum number of facts, of frames, of characters of a line that is shown, and of lines between it and the fault."""
SAYS = re.compile(
    r"`([\w$]{1,80})` gets its value on this line: |`([^`]{1,80})` is set on this line and on no other of this file: "
)
EVENT = re.compile(r"` (?:uses|unwraps|has|looks up|reads|slices|divides by|passes) ")
CODE, QUOTED = re.compile(r"`([^`]{1,120})`"), re.compile(r"['\u2018]([A-Za-z_$][\w$]{0,80})['\u2019]")
REPORTED = "The report has “"
"""The beginning of a sentence with what a tool prints about a line."""
_FORMS = load_sections(Path(__file__).with_name("set_here.txt"))
_EMPTY, _NAME, _GIVEN, _NO_VALUE = (re.compile("".join(_FORMS[name])) for name in "empty name given no_value".split())
_NO_VARIABLE = frozenset({"this", "self", "super", "cls", "null", "undefined", "None", "nil"})


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the line that sets what the error of a shown fact is about, if one line of the function does.

    If it is an argument of the function, or if the line does not say, yield the call in the next frame.
    """
    code = inquiry.code
    for fact in [fact for fact in inquiry.shown if fact.kind in OF][:MAX_FACTS]:
        number, row = code.number(fact.path), code.row_of(fact) if fact.symbol else None
        if number is None or (fact.symbol and row is None) or fact.line is None:
            continue
        # The code of a template is in no function.
        first = max(code.span(row).start if row is not None else 1, fact.line - FAR)
        above = code.lines(number)[first - 1 : fact.line]
        whole = statement(code.lines(number), fact.line)
        names = list(_variables(fact.says, whole))
        for name in names:
            hit = code.hit(number, first + at) if (at := _only_setting(name, above)) is not None else None
            if hit and _is_shown(shown := _shortened(hit.text.strip())) and shown not in whole:
                says = say("`{name}` gets its value on this line: `{code}`.", name=name, code=shown)
                yield hit.fact("guarded_by", says, None, follows=fact.at)
                break
        else:
            head = code.head(row) if row is not None else None
            yield from _set_once(code, number, fact)
            given = head and any(whole_word(name).search(head.text) for name in names)
            if fact.kind == "raised_here" and (given or not EVENT.search(fact.says)):
                yield from _passed(inquiry, fact)


def _set_once(code: Code, number: int, fact: Fact) -> Iterator[Fact]:
    """Yield the only line of the file that sets a member which had no value, in another function."""
    found = _NO_VALUE.search(fact.says)
    at = _settings(code.lines(number), found[1]) if found else []
    hit = code.hit(number, at[0]) if len(at) == 1 else None
    if found and hit and hit.symbol != fact.symbol and _is_shown(shown := _shortened(hit.text.strip())):
        says = say("`{name}` is set on this line and on no other of this file: `{code}`.", name=found[1], code=shown)
        yield hit.fact("guarded_by", says, None, follows=fact.at)


def _settings(lines: Sequence[str], name: str) -> list[int]:
    """Return the lines that set a member, alone or with others."""
    form = re.compile(
        rf"(?<![\w$.>]){re.escape(name)}(?:,\s?[\w$.]{{1,60}}){{0,4}}(?:\s?:\s?[^=\n(]{{1,60}})?\s{{0,9}}(?:\?\?|\|\|)?=(?![=>~])"
    )
    return [at for at, text in enumerate(lines, 1) if form.search(text[:1_000]) and not is_comment(text)]


def _passed(inquiry: FinderInput, fact: Fact) -> Iterator[Fact]:
    """Yield the line that calls the function of a frame, as the next frame of its trace gives it."""
    name = (fact.symbol or "").rpartition(".")[2]
    for trace in inquiry.issue.traces:
        for inner, outer in pairwise(islice(own_frames(inquiry.code, inquiry.issue, trace), MAX_FRAMES)):
            hit = inquiry.code.hit(outer.number, outer.line)
            place = inquiry.code.path(inner.number), inner.line
            if place == fact.at and outer.exact and hit and is_call(hit.text, name):
                says = say("`{name}` is called here, in `{place}`.", name=name, place=hit.place)
                yield replace(hit, symbol=name).fact("called_from", says, None, count=1, follows=fact.at)
                return


def _shortened(code: str) -> str:
    return code if len(code) <= MAX_WIDTH else f"{code[: MAX_WIDTH - 2].rpartition(' ')[0]} …"


def _is_shown(code: str) -> bool:
    return len(code) <= MAX_WIDTH and "`" not in code and not _EMPTY.search(code)


def _variables(says: str, whole: str) -> Iterator[str]:
    """Yield the variables of the expressions in a sentence about a line of code, then those of what it unwraps."""
    event = EVENT.search(says)
    if event is None:
        named = QUOTED.findall(says) if says.startswith(REPORTED) else ()
        yield from (name for name in named if whole_word(name).search(whole))
        return
    shown = CODE.findall(says, event.end() - 1)
    # What a call or a subscript is given matters more than what it is of.
    given = [
        _GIVEN.sub("", code).replace("..", " ") for code in shown if event[0] in ("` has ", "` reads ", "` slices ")
    ]
    for code in (*given, *shown, whole.rpartition("\n")[0] if " unwraps " in says else ""):
        yield from (name for name in _NAME.findall(code) if name not in _NO_VARIABLE and not name.isupper())


def _only_setting(name: str, lines: Sequence[str]) -> int | None:
    """Return the index of the only line that sets a variable which the last line uses, or None.

    The parameter of a closure below it has another value, and what is indented further than the use may not run.
    """
    bare = re.escape(name.lstrip("$"))
    form = re.compile(
        rf"(?<![\w$.>-])\$?{bare}(?![\w$])(?:,\s?\$?\w{{1,40}}){{0,4}}\)?(?:\s?:\s?[^=\n(]{{1,60}})?\s{{0,9}}(?::=|\?\?=|=(?![=>~]))"
        rf"|\bas\s\$?{bare}\b|\bfor\s?\(?(?:\w{{1,20}}\s)?[\w\s,$()]{{0,60}}?\$?{bare}\b[\w\s,$)]{{0,40}}\s(?:in|of|:)\s"
    )
    given = re.compile(
        rf"\b(?:function|func|fn|def|sub|lambda|fun|proc)\b[^()\n]{{0,80}}\(?[^()\n]{{0,200}}(?<![\w$])\$?{bare}(?![\w$])"
        rf"|(?:[(,={{]|\bmove|\bdo)\s?\|[^|()\n]{{0,100}}(?<![\w$]){bare}(?![\w$])"
        rf"|(?<![\w$]){bare}(?![\w$])[\w\s,:$]{{0,200}}\)?\s?(?:=>|->)"
    )
    *above, use = lines
    short = [line if len(line) < 1_000 and not is_comment(line) else "" for line in above]
    found = [at - 1 for at in outside_docstrings(short, [at for at, line in enumerate(short, 1) if form.search(line)])]
    if len(found) != 1 or any(map(given.search, short[found[0] :])) or indent_of(short[found[0]]) > indent_of(use):
        return None
    return found[0]


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line sets the variable above the line that uses it, and no line between them does."""
    says, (path, line) = SAYS.match(fact.says), fact.follows or ("", 0)
    if says and says[2]:
        alone = path == fact.path and _settings(witness.lines(path, 1, sys.maxsize), says[2]) == [fact.line]
        return None if alone else "other lines of the file set it"
    if says is None or path != fact.path or fact.line is None or not fact.line < line <= fact.line + FAR:
        return "it is not above the line that uses the variable"
    alone = _only_setting(says[1], witness.lines(path, fact.line, line)) == 0
    return None if alone else "the line does not set the variable alone"
