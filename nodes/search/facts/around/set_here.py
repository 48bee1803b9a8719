"""``guarded_by`` for a value: the only line above a fault that sets the variable which the error is about."""

import re
from collections.abc import Iterator, Sequence

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import outside_docstrings
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.output.on_a_line import statement
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.sentences import say
from nodes.search.tokens import indent_of

OF = frozenset({"raised_here", "named_here"})
MAX_FACTS, MAX_WIDTH, FAR = 3, 100, 120
"""Maximum number of facts, of characters of a line that is shown, and of lines between it and the fault."""
SAYS = re.compile(r"`([\w$]{1,80})` gets its value on this line: ")
_EVENT = re.compile(r"` (?:uses|unwraps|has|looks up|reads|slices|divides by|passes) ")
_CODE = re.compile(r"`([^`]{1,120})`")
_EMPTY = re.compile(
    r"=\s?(?:array\(\)|\[\]|\{\}|\"\"|''|(?:list|dict|set)\(\)|new \w{1,40}(?:<[^<>\n]{0,60}>)?\(\)"
    r"|\w{1,40}(?:\[\w{1,20}\]\w{0,40})?\{\})\s?;?$"
)
"""An empty value, which another line fills later."""
_NAME = re.compile(r"(?<![\w$.>:@#\"'])(?![a-z]:\w)[A-Za-z_$][\w$]{0,80}(?![\w$(!\"']|::)")
_NO_VARIABLE = frozenset({"this", "self", "super", "cls", "null", "undefined", "None", "nil"})


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the line that sets what the error of a shown fact is about, if one line of the function does."""
    code = inquiry.code
    for fact in [fact for fact in inquiry.shown if fact.kind in OF and fact.symbol and _EVENT.search(fact.says)][
        :MAX_FACTS
    ]:
        number, row = code.number(fact.path), code.row_of(fact)
        if number is None or row is None or fact.line is None:
            continue
        first = max(code.span(row).start, fact.line - FAR)
        above = code.lines(number)[first - 1 : fact.line]
        whole = statement(code.lines(number), fact.line)
        for name in _variables(fact.says, whole):
            hit = code.hit(number, first + at) if (at := _only_setting(name, above)) is not None else None
            if hit and _is_shown(shown := hit.text.strip()) and shown not in whole:
                says = say("`{name}` gets its value on this line: `{code}`.", name=name, code=shown)
                yield hit.fact("guarded_by", says, None, follows=fact.at)
                break


def _is_shown(code: str) -> bool:
    return len(code) <= MAX_WIDTH and "`" not in code and not _EMPTY.search(code)


def _variables(says: str, whole: str) -> Iterator[str]:
    """Yield the variables of the expressions in a sentence about a line of code, then those of what it unwraps."""
    event = _EVENT.search(says)
    shown = _CODE.findall(says, event.end() - 1 if event else 0)
    for code in (*shown, whole.rpartition("\n")[0] if " unwraps " in says else ""):
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
    if says is None or path != fact.path or fact.line is None or not fact.line < line <= fact.line + FAR:
        return "it is not above the line that uses the variable"
    alone = _only_setting(says[1], witness.lines(path, fact.line, line)) == 0
    return None if alone else "the line does not set the variable alone"
