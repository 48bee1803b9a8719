"""``used_here``: a line of a found definition that uses another name of the report, or that defines its member."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nodes.search.facts.around.called_from import is_comment, without_strings
from nodes.search.facts.code import Code, outside_docstrings, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.named import BUILT_IN, Name, names
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.issue.query import COMPOUND
from nodes.search.sentences import say

OF = frozenset({"linked_here", "raised_here", "pasted_here", "defined_once", "built_here", "read_here", "default_here"})
"""Kinds of facts whose definition is read."""
MAX_DEFINITIONS, MAX_NAMES, MAX_FACTS = 3, 24, 4
"""Maximum numbers of definitions that are read, of names that are searched in each, and of facts."""
FEW_LINES = 3
"""Maximum number of lines of a definition that use a name; more lines do not say which one matters."""
# Imports, parameters and assignments are left out: 11 of 42 lines on development issues were of these kinds, and they
# told a reader nothing.
_IMPORT = re.compile(r"\s{0,200}(?:import|from|use|using|#\s?include|export\s+\*|require)\b")
_QUOTED = re.compile(r"['\"`]([A-Za-z_]\w{4,60})['\"`]")
_FIELD = re.compile(r"\s{0,200}(?:(?:private|protected|public|internal|static|final|readonly)\s+)+[^=(]{1,200};\s*$")
"""A field that is declared without a value."""
MAX_SIGNATURE = 30
"""Maximum number of lines of a signature."""
MAX_LINES, MAX_WIDTH = 600, 400
"""Maximum number of lines of a definition that are read, and of characters of a line."""
_EVERYWHERE = BUILT_IN | frozenset("toString ToString hashCode equals Equals valueOf getClass to_s inspect".split())
"""Names of methods that every object has: that a line uses one says nothing."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the uses of other names of the report in the definitions of facts about the first file, rarest first."""
    code, found = inquiry.code, list[tuple[int, Fact]]()
    shown = {(fact.path, fact.line) for fact in inquiry.found if fact.strong}
    wanted = _wanted(inquiry)
    for fact, row in _definitions(inquiry):
        symbol = code.index.name_of(row)
        for name in wanted if fact.path else ():
            # The fact itself already relates these names to the definition.
            if name.last in symbol.split(".") or name.last in re.split(r"\W+", fact.words or ""):
                continue
            one = _member(code, fact, row, name) or _use(code, fact, row, name)
            if one and (one[1].path, one[1].line) not in shown:
                found.append(one)
    # A file that the report names without a line has one if it uses another name of the report once.
    files = [fact for fact in inquiry.shown if fact.kind == "named_here" and not (fact.line or fact.in_title)]
    found += filter(None, (_in_file(code, fact, name.last) for fact in files for name in wanted))
    # What a line imports that a library lacks is used below it.
    imports = [fact for fact in inquiry.shown if fact.kind == "raised_here" and fact.line and not fact.symbol]
    missing = (
        (fact, name) for fact in imports for name in _QUOTED.findall(fact.words or "") if name in (fact.text or "")
    )
    found += filter(None, (_in_file(code, fact, name) for fact, name in missing))
    # A name on few lines points to a place. The sort is stable, so equal ones keep the report's order.
    found.sort(key=lambda item: (item[0], -len(item[1].symbol or "")))
    # A class and its method may both have the line, and a line may use several names.
    lines = {(fact.path, fact.line): fact for _, fact in reversed(found)}
    yield from [fact for _, fact in found if lines[fact.path, fact.line] is fact][:MAX_FACTS]


def _wanted(inquiry: FinderInput) -> list[Name]:
    """Return the names of the report that are in code mark-up or compound, without common ones."""
    # A plain word of prose is the name of a variable in many functions.
    every = (name for name in names(inquiry.issue) if name.marked or COMPOUND.search(name.last))
    return [name for name in every if name.last not in _EVERYWHERE and inquiry.issue.holds(name.last)][:MAX_NAMES]


def _definitions(inquiry: FinderInput) -> Iterator[tuple[Fact, int]]:
    """Yield the facts of the first file, and the strong ones, that name a definition, each definition once."""
    code, seen = inquiry.code, set[int]()
    ours = (fact for fact in inquiry.shown if fact.strong or fact.path in inquiry.first[:1])
    mine = (fact for fact in ours if fact.kind in OF and fact.symbol)
    for fact in mine:
        row = code.row_of(fact)
        if row is not None and row not in seen and len(seen) < MAX_DEFINITIONS:
            seen.add(row)
            yield fact, row


def _member(code: Code, fact: Fact, row: int, name: Name) -> tuple[int, Fact] | None:
    """Return where a member that the report names is defined inside a class."""
    owner = code.index.name_of(row)
    rows = [definition for definition in code.definitions(name.last) if code.path_of(definition) == fact.path]
    mine = [item for item in rows if code.index.name_of(item) == f"{owner}.{name.last}"]
    head = code.head(mine[0]) if len(mine) == 1 else None
    # The other fact already shows its own line.
    if head is None or head.line == fact.line:
        return None
    says = say("`{name}` is a member of `{owner}`; it is defined on this line.", name=name.last, owner=owner)
    return 0, replace(head, symbol=owner).fact("used_here", says, name.last, follows=fact.at)


def _use(code: Code, fact: Fact, row: int, name: Name) -> tuple[int, Fact] | None:
    """Return the first line of a definition that uses a name, with the number of such lines."""
    (number, start, end), owner = code.span(row), code.index.name_of(row)
    head, lines = code.head(row), code.lines(number)
    first = _body(lines, max(start, head.line if head else start))
    # A parameter is used in most lines, and the reader sees it in the signature.
    if end - start > MAX_LINES or any(whole_word(name.last).search(text) for text in lines[start - 1 : first - 1]):
        return None
    near = (at for at in range(first, min(end, len(lines)) + 1) if name.last in lines[at - 1] and at != fact.line)
    held = [at for at in outside_docstrings(lines, near) if uses(lines[at - 1], name.last)]
    hit = code.hit(number, held[0]) if 0 < len(held) <= FEW_LINES else None
    if hit is None:
        return None
    says = say("`{owner}` uses `{name}` on this line.", owner=owner, name=name.last)
    return len(held), replace(hit, symbol=owner).fact("used_here", says, name.last, follows=fact.at)


def _in_file(code: Code, fact: Fact, name: str) -> tuple[int, Fact] | None:
    """Return the only line of a file that uses a name."""
    number, path = code.number(fact.path), fact.path or ""
    lines = code.lines(number) if number is not None and name not in path else ()
    near = [at for at, text in enumerate(lines[:MAX_LINES], 1) if name in text and uses(text, name)]
    near = [at for at in near if at != fact.line]
    hit = (
        code.hit(number, near[0])
        if number is not None and len(outside_docstrings(lines, near)) == len(near) == 1
        else None
    )
    if hit is None or name in (hit.symbol or "").split("."):
        return None
    says = say("`{owner}` uses `{name}` on this line.", owner=hit.place, name=name)
    return 1, hit.fact("used_here", says, name, follows=(path, hit.line), strong=True, unclaimed=True)


def _body(lines: Sequence[str], head: int) -> int:
    """Return the line after a definition's signature, which may have several lines."""
    depth = 0
    for at, text in enumerate(lines[head - 1 : head - 1 + MAX_SIGNATURE], head):
        depth += text.count("(") - text.count(")")
        if depth <= 0:
            return at + 1
    return head + 1


def uses(text: str, name: str) -> bool:
    """Return whether a line of code has a name outside comments and strings, or as a whole string, joined to no other.

    A line that only imports or assigns the name does not use it. A word that is not compound must be called or be a
    member, because a variable may have the same name.
    """
    if len(text) > MAX_WIDTH or is_comment(text) or _IMPORT.match(text) or _FIELD.match(text):
        return False
    if f'"{name}"' in text or f"'{name}'" in text:
        return not re.search(rf"\+\s?[\"']{re.escape(name)}[\"']|[\"']{re.escape(name)}[\"']\s?\+", text)
    plain, pattern = without_strings(text), whole_word(name).pattern
    if not COMPOUND.search(name):
        return bool(re.search(rf"(?:\.|->|::){re.escape(name)}\b|{pattern}\s?\(", plain))
    return bool(re.search(rf"{pattern}(?!\s{{0,9}}(?:=(?!=)|:\s))", plain))


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line uses the name and that the line of the other fact is in the same file."""
    path, line = fact.follows or ("", 0)
    if path != fact.path or witness.line(path, line) is None:
        return "it is not in the file of the other fact"
    if fact.says.endswith("defined on this line."):
        return None if whole_word(fact.words or "").search(fact.text or "") else "the line does not define the name"
    return None if uses(fact.text or "", fact.words or "") else "the line does not use the name"
