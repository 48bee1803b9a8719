"""``used_here`` for code: other lines, of the file and of the project, with the code that an error is about."""

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.around.set_here import CODE, EVENT, MAX_FACTS, OF, REPORTED
from nodes.search.facts.code import Code, family
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.issue.query import COMPOUND
from nodes.search.languages.table import language_of
from nodes.search.sentences import say
from nodes.search.tokens import WORD

LEAST, MAX_OTHERS, MAX_FILES = 5, 9, 60
"""Minimum number of letters and digits of code that identify it, and maximum numbers of other lines and files."""
SAYS = re.compile(
    r"`(.{1,120})` is (?:on (\d) other lines? of this file"
    r"|in (\d{1,2}) other files? of the project's own code in this language, as on line (\d{1,6}) of `(.+)`)"
)
_IS_GONE = re.compile(r"` (?:has|uses) `([^`]{1,120})`; the error says (?:“|that this does not exist)")
"""The code whose name the error is about, whatever its value is: where else it is, it fails as well."""
_NAMED = re.compile(r"['\u2018](?:[\w.:$]{0,80}(?:\.|::))?([A-Za-z_$][\w$]{0,80})(?:\([^()'\u2019]{0,80}\))?['\u2019]")
_HEADER = re.compile(r"['\u2018]?([\w./+-]{2,120}\.(?:h|hh|hpp|hxx))['\u2019]?: (?:No such file|file not found)")
_NO_LONGER = re.compile(
    r"deprecat|obsolete|removed|does not (?:exist|contain)|no longer|not a (?:function|member)|undeclared|unresolved"
    r"|implicit declaration|has no (?:member|attr)|no (?:member|method) named|undefined (?:function|method)"
    r"|been declared",
    re.IGNORECASE,
)
"""What tools say of a name that is gone, or that will be."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield for each shown fault the next line of its file with the same code, and a line of another file."""
    for fact in islice((fact for fact in inquiry.shown if fact.kind in OF and fact.line), MAX_FACTS):
        number = inquiry.code.number(fact.path)
        if number is not None:
            yield from _repeated(inquiry.code, number, fact)
            yield from _elsewhere(inquiry.code, number, fact)


def _repeated(code: Code, number: int, fact: Fact) -> Iterator[Fact]:
    """Yield the next line of a file that has the same code as the fault, if few have it: often with the same fault."""
    event = EVENT.search(fact.says)
    shown = CODE.search(fact.says, event.end() - 1) if event else None
    if shown is None or sum(map(str.isalnum, shown[1])) < LEAST or shown[1].isidentifier() or "…" in shown[1]:
        return
    others = _with(code.lines(number), shown[1], fact.line or 0)
    # The next lines of the function run only if the fault does not occur.
    apart = [at for at in others if code.symbol(number, at) != fact.symbol] if len(others) <= MAX_OTHERS else []
    hit = code.hit(number, min(apart, key=lambda at: (at < (fact.line or 0), at))) if apart else None
    if hit:
        lines = say("1 other line") if len(others) == 1 else say("{count} other lines", count=len(others))
        says = say("`{code}` is on {lines} of this file.", code=shown[1], lines=lines)
        yield hit.fact("used_here", says, None, count=len(others), follows=fact.at)


def _elsewhere(code: Code, number: int, fact: Fact) -> Iterator[Fact]:
    """Yield how many other files use what the error says is gone, with one of them; its rank does not matter."""
    shown = _gone(fact)
    files = [other for other in code.files_with(max(WORD.findall(shown), key=len)) if other != number] if shown else []
    if not files or len(files) > MAX_FILES:
        return
    code.read(files)
    # In another language, a function of the same name is another one.
    files = [other for other in files if _is_like(code.path(other), fact.path or "")]
    found = {other: held for other in files if (held := _with(code.lines(other), shown, 0))}
    places = [(code.path(other), at, code.lines(other)[at - 1]) for other, held in found.items() for at in held]
    if places:
        others = say("1 other file") if len(found) == 1 else say("{count} other files", count=len(found))
        # What follows another value is only used if that is missing: ``new || old``.
        other = re.compile(rf"(?:\|\||\?\?|\?:|\bor)\s{{0,4}}{re.escape(shown)}")
        path, line, _ = min(places, key=lambda place: bool(other.search(place[2][:1_000])))
        values = {"code": shown, "files": others, "line": str(line), "path": path}
        says = say(
            "`{code}` is in {files} of the project's own code in this language, as on line {line} of `{path}`.",
            **values,
        )
        yield Fact("used_here", says, None, count=len(found), follows=fact.at)


def _is_like(path: str, other: str) -> bool:
    return family(language_of(path) or "") == family(language_of(other) or "")


def _gone(fact: Fact) -> str:
    """Return the code that an error says does not exist, or is deprecated, if it identifies one thing; else nothing."""
    found, tool = _IS_GONE.search(fact.says), _NO_LONGER.search(fact.says)
    if header := _HEADER.search(fact.says):
        return header[1] if header[1] in (fact.text or "") else ""
    names = [found[1].replace("(…)", "")] if found and tool else []
    names += _NAMED.findall(fact.says) if tool and fact.says.startswith(REPORTED) else []
    shown = next((name for name in names if name in (fact.text or "")), "")
    is_one = "." in shown[1:] or "::" in shown or COMPOUND.search(shown)
    return shown if is_one and WORD.search(shown) and not re.match(r"(?:self|this)\b", shown) else ""


def _with(lines: Sequence[str], code: str, line: int) -> list[int]:
    """Return the other lines of a file that have a piece of code, outside comments."""
    before, after = (r"(?<![\w$])" if code[0].isalnum() else "", r"(?![\w$])" if code[-1].isalnum() else "")
    form = re.compile(f"{before}{re.escape(code)}{after}")
    return [at for at, text in enumerate(lines, 1) if at != line and form.search(text[:1_000]) and not is_comment(text)]


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line has the code, and as many other lines or files as the sentence says."""
    says, (path, line) = SAYS.match(fact.says), fact.follows or ("", 0)
    if says and says[2]:
        held = _with(witness.lines(path, 1, sys.maxsize), says[1], line) if path == fact.path else []
        return None if fact.line in held and len(held) == int(says[2]) else "other lines of the file have the code"
    hits = witness.grep(max(WORD.findall(says[1]), key=len), own=True) if says else []
    hits = [hit for hit in hits if hit.path != path and _is_like(hit.path, path)]
    others = [hit for hit in hits if says and _with([hit.text], says[1], 0)]
    is_there = says and (says[5], int(says[4])) in [(hit.path, hit.line) for hit in others]
    is_count = says and len({hit.path for hit in others}) == int(says[3])
    return None if is_there and is_count else "other files have the code"
