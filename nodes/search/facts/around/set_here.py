"""``guarded_by`` for a value: the only line above a fault that sets the variable which the error is about."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from nodes.search.facts.around.called_from import is_call, is_comment
from nodes.search.facts.code import Code, outside_docstrings, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.output.frames import own_frames
from nodes.search.facts.output.on_a_line import statement
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.sentences import say
from nodes.search.tokens import WORD, indent_of

OF = frozenset({"raised_here", "named_here"})
LEAST, MAX_OTHERS = 5, 9
"""Minimum number of letters and digits of code that identify it, and maximum number of other lines with it."""
FEW, MAX_FILES = 2, 24
"""Maximum number of lines that store under a key, and of own files that are read for them."""
MAX_FACTS, MAX_FRAMES, MAX_WIDTH, FAR = 3, 4, 100, 120
"""Maximum number of facts, of frames, of characters of a line that is shown, and of lines between it and the fault."""
SAYS = re.compile(
    r"`([\w$]{1,80})` gets its value on this line: |`(.{1,120})` is on (\d) other lines? of this file\."
    r"|`([^`]{1,120})` gets a key on this line: "
)
_EVENT = re.compile(r"` (?:uses|unwraps|has|looks up|reads|slices|divides by|passes) ")
_CODE, _QUOTED = re.compile(r"`([^`]{1,120})`"), re.compile(r"['\u2018]([A-Za-z_$][\w$]{0,80})['\u2019]")
_REPORTED = "The report has “"
"""The beginning of a sentence with what a tool prints about a line."""
_EMPTY = re.compile(
    r"=\s?(?:array\(\)|\[\]|\{\}|\"\"|''|(?:list|dict|set)\(\)|new \w{1,40}(?:<[^<>\n]{0,60}>)?\(\)"
    r"|\w{1,40}(?:\[\w{1,20}\]\w{0,40})?\{\})\s?;?$"
)
"""An empty value, which another line fills later."""
_NAME = re.compile(r"(?<![\w$.>:@#\"'])(?![a-z]:\w)[A-Za-z_$][\w$]{0,80}(?![\w$(!\"']|::)")
_GIVEN = re.compile(r"^[^(\[]*(?:[(\[]|$)")
_LOOKS_UP = re.compile(r"` looks up `[^`]{1,120}` in `([^`]{1,120})`; the error says that this key")
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
        if same := _repeated(code, number, fact):
            yield same
        yield from _stored(code, fact)
        names = list(_variables(fact.says, whole))
        for name in names:
            hit = code.hit(number, first + at) if (at := _only_setting(name, above)) is not None else None
            if hit and _is_shown(shown := _shortened(hit.text.strip())) and shown not in whole:
                says = say("`{name}` gets its value on this line: `{code}`.", name=name, code=shown)
                yield hit.fact("guarded_by", says, None, follows=fact.at)
                break
        else:
            head = code.head(row) if row is not None else None
            given = head and any(whole_word(name).search(head.text) for name in names)
            if fact.kind == "raised_here" and (given or not _EVENT.search(fact.says)):
                yield from _passed(inquiry, fact)


def _repeated(code: Code, number: int, fact: Fact) -> Fact | None:
    """Return the next line of a file that has the same code as the fault, if few have it: often with the same fault."""
    event = _EVENT.search(fact.says)
    shown = _CODE.search(fact.says, event.end() - 1) if event else None
    if shown is None or sum(map(str.isalnum, shown[1])) < LEAST or shown[1].isidentifier() or "…" in shown[1]:
        return None
    others = _with(code.lines(number), shown[1], fact.line or 0)
    # The next lines of the function run only if the fault does not occur.
    apart = [at for at in others if code.symbol(number, at) != fact.symbol] if len(others) <= MAX_OTHERS else []
    hit = code.hit(number, min(apart, key=lambda at: (at < (fact.line or 0), at))) if apart else None
    if hit is None:
        return None
    lines = say("1 other line") if len(others) == 1 else say("{count} other lines", count=len(others))
    says = say("`{code}` is on {lines} of this file.", code=shown[1], lines=lines)
    return hit.fact("used_here", says, None, count=len(others), follows=fact.at)


def _stored(code: Code, fact: Fact) -> Iterator[Fact]:
    """Yield the few lines of own code that store under a key in what lacks the key of an error."""
    found = _LOOKS_UP.search(fact.says)
    value = re.sub(r"^(?:self|this)(?:\.|->)", "", found[1]) if found else ""
    is_shared = re.search(r"\w[.\[>]", value) or value.isupper()
    names = WORD.findall(value) if is_shared else []
    files = code.files_with(max(names, key=len)) if names else []
    if len(files) > MAX_FILES:
        return
    code.read(files)
    places = [(number, at) for number in files for at in _storing(code.lines(number), value)]
    hits = [hit for place in places if not code.is_tested(*place) and (hit := code.hit(*place))]
    for hit in hits if len(hits) <= FEW else ():
        if _is_shown(shown := hit.text.strip()):
            says = say("`{value}` gets a key on this line: `{code}`.", value=value, code=shown)
            yield hit.fact("used_here", says, None, count=len(hits), follows=fact.at)


def _storing(lines: Sequence[str], value: str) -> list[int]:
    form = re.compile(rf"(?<![\w$]){re.escape(value)}\[[^\]\n]{{1,80}}\]\s?=(?!=)")
    return [at for at, text in enumerate(lines, 1) if form.search(text[:1_000]) and not is_comment(text)]


def _with(lines: Sequence[str], code: str, line: int) -> list[int]:
    """Return the other lines of a file that have a piece of code, outside comments."""
    before, after = (r"(?<![\w$])" if code[0].isalnum() else "", r"(?![\w$])" if code[-1].isalnum() else "")
    form = re.compile(f"{before}{re.escape(code)}{after}")
    return [at for at, text in enumerate(lines, 1) if at != line and form.search(text[:1_000]) and not is_comment(text)]


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
    event = _EVENT.search(says)
    if event is None:
        named = _QUOTED.findall(says) if says.startswith(_REPORTED) else ()
        yield from (name for name in named if whole_word(name).search(whole))
        return
    shown = _CODE.findall(says, event.end() - 1)
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
        is_same = path == fact.path and fact.line in (held := _with(witness.lines(path, 1, sys.maxsize), says[2], line))
        return None if is_same and len(held) == int(says[3]) else "other lines of the file have the code"
    if says and says[4]:
        hits = witness.grep(max(WORD.findall(says[4]), key=len), own=True)
        stores = {(hit.path, hit.line) for hit in hits if _storing([hit.text], says[4])}
        return None if (fact.path, fact.line) in stores and len(stores) <= FEW else "more lines store there"
    if says is None or path != fact.path or fact.line is None or not fact.line < line <= fact.line + FAR:
        return "it is not above the line that uses the variable"
    alone = _only_setting(says[1], witness.lines(path, fact.line, line)) == 0
    return None if alone else "the line does not set the variable alone"
