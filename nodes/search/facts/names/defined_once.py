"""``defined_once``: a name of the report with exactly one definition in the project's own code."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from nodes.search.facts.code import Code, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names import inherited
from nodes.search.facts.names.named import BUILT_IN, SYMPTOM, Name, names, names_of_code
from nodes.search.facts.types import Fact, declares_type
from nodes.search.facts.witness import Witness
from nodes.search.issue.query import COMPOUND
from nodes.search.paths.project import module_parts
from nodes.search.sentences import say

# In prose, 64 % of such names were defined in a fixed file, of all names with one definition 33 %.
FEW_USERS = 5
"""Maximum number of own files that use a name for its definition to be a useful hint."""
EVERYWHERE, MANY_USERS = 0.25, 30
"""Share and number of own files that use a name; above both, the name is too common in the project."""
# Reports list names, too: 71 % were right in reports with at most three, 64 % in all.
FEW_NAMES = 3
"""Maximum number of such names in one report; more names do not identify a place."""
_HEAD = (
    r"^\s*(?:(?:export|default|async|pub(?:\([a-z]+\))?|public|private|protected|static|final|abstract|sealed|data)\s+)*"
    r"(?:def|class|func|fn|function|trait|interface|macro_rules!|#define|object|record)\s+{0}\b(?![\w$.])(?!.*;\s*$)"
)
"""A line that defines a name, in most languages."""
_VARIABLE = r"^{0}\s{{0,4}}(?::[^=\n]{{1,80}})?=(?!=)(?!.{{0,400}}\b{0}\b)"
"""A line outside functions that gives a name a value, unless it only repeats the name, as a second export does."""
_FORWARDS = re.compile(r"\s*#\s*define\s+\w+\([^()]{0,200}\)\s*\w+\s*\(.{0,400}\)\s*$")
"""A macro of one line that only calls another name; the fault is rarely in it."""
_BODILESS = re.compile(r"[^=]{1,300}\)[^=(){}]{0,80};\s*$")
"""A declaration of a function, as in an interface."""
_FAILED_IN = r"(?i)(?:exception|error|crash|panic|fail|leak)\w{{0,4}}\b.{{0,20}}\b(?:in|at|from|by)\s[`\"']?{0}(?!\w)"
_REFUSED = r"(?<![\w.]){0}\(\) (?:missing \d|takes (?:from )?\d|got (?:an unexpected|multiple|some))"
"""A title that says in which function something failed, and what Python says of a call with wrong arguments."""
MAX_OF_CODE = 3
"""Maximum number of names from code blocks that are looked up."""
MAX_DEFINED = 40
"""Maximum number of facts of one issue."""
MAX_NAMESAKES = 24
"""Maximum number of definitions of a name among which others of the same owner are looked for."""


@dataclass(frozen=True, slots=True)
class _Hit:
    name: Name
    row: int
    users: int
    unused: bool = False
    """Whether it is a member of a class that the report neither calls nor names as a member; others may be meant."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield a fact for each name that is defined once."""
    hits = list(_hits(inquiry))[:MAX_DEFINED]
    listed = sum(not hit.name.in_title and _is_marked(hit) and hit.users <= FEW_USERS for hit in hits)
    most = min(max(FEW_USERS, EVERYWHERE * float(inquiry.code.own.sum())), MANY_USERS)
    everywhere = max(MANY_USERS, EVERYWHERE * float(inquiry.code.own.sum()))
    for hit in hits:
        # Skip, for example, the project's own name. Without ranked files, a person asked for the definition.
        if inquiry.first and not hit.name.is_qualified and hit.users > everywhere:
            continue
        fact = _fact(inquiry.code, hit)
        if fact and inquiry.issue.holds(hit.name.words):
            text, is_whole = fact.text or "", _is_whole(hit, fact.path or "")
            strong = _is_strong(hit, listed, most) or (is_whole and listed <= FEW_NAMES)
            strong = strong and not (declares_type(text) or _FORWARDS.match(text))
            # Where the search prefers another file, 2 of 13 names of a title or with a class were in a fixed one; where
            # it prefers this file, 18 of 20 members with their class were, however many files use their names.
            is_first = not inquiry.first or fact.path in inquiry.first[:1]
            written, issue = re.escape(hit.name.words), inquiry.issue
            failed = hit.name.is_qualified or re.search(_FAILED_IN.format(written), issue.title)
            refused = re.search(_REFUSED.format(written.lower()), issue.folded)
            is_member = is_first and bool((hit.name.in_title and failed) or refused)
            titled = not strong and is_member and not any(other.strong for other in inquiry.found)
            is_plain = not (hit.name.in_title or hit.name.is_qualified)
            # A declaration without a body has no code that could be wrong: of 5 in the lead none was in a fixed file.
            is_answer = not (inquiry.first and _BODILESS.match(text))
            strong = ((strong and (is_first or is_plain)) or titled) and is_answer
            yield replace(fact, strong=strong, in_title=hit.name.in_title, unclaimed=is_whole or titled)
    yield from _of_code(inquiry, {hit.row for hit in hits})


def _hits(inquiry: FinderInput) -> Iterator[_Hit]:
    seen: set[int] = set()
    every = names(inquiry.issue)
    # In one pass over the index for all names; a name without a definition leads to no fact.
    inquiry.code.look_up(name.last for name in every if inquiry.code.definitions(name.last))
    for written in every:
        name, row = _resolved(inquiry.code, written)
        if row is None or row in seen:
            continue
        seen.add(row)
        # Alone, `next` or `property` is the language's own; with its owner it may be the project's.
        if not name.is_qualified and name.last in BUILT_IN:
            continue
        users = inquiry.code.count_users(name.last, FEW_USERS)
        if name.in_title or name.marked or name.is_qualified or users <= FEW_USERS:
            used = rf"(?:\.|::|#|->){re.escape(name.last.casefold())}\b|\b{re.escape(name.last.casefold())}`? ?\("
            unused = "." in inquiry.code.index.name_of(row) and not re.search(used, inquiry.issue.folded)
            yield _Hit(name, row, users, unused)


def _of_code(inquiry: FinderInput, known: set[int]) -> Iterator[Fact]:
    """Yield names that occur only in the report's code and are defined in the top-ranked file; none is strong."""
    code = inquiry.code
    found: dict[int, Name] = {}
    first = code.number(inquiry.first[0]) if inquiry.first else None
    # Of names that occur in code blocks only, 25 % were defined in a fixed file: examples use many.
    for name in names_of_code(inquiry.issue) if first is not None else ():
        row = definition_of(code, name) if name.last not in BUILT_IN else None
        if row is not None and row not in known and int(code.index.def_file[row]) == first:
            found.setdefault(row, name)
    for row, name in list(found.items())[:MAX_OF_CODE]:
        users = code.count_users(name.last, FEW_USERS)
        fact = _fact(code, _Hit(name, row, users)) if users <= FEW_USERS else None
        if fact and inquiry.issue.holds(name.words):
            yield fact


def _resolved(code: Code, name: Name) -> tuple[Name, int | None]:
    """Return a name and its only definition; an undefined member in the title is replaced by its class."""
    row = definition_of(code, name)
    if row is None and len(name.parts) > 1:
        row = inherited.definition(code, name.parts[-2], name.last)
    if row is not None or not name.in_title or len(name.parts) < 2:
        return name, row
    # For an object that the title names without its class, only the member is known.
    own = replace(name, words=name.last, parts=name.parts[-1:])
    is_alone = COMPOUND.search(name.last) and not code.definitions(name.parts[-2])
    if is_alone and (row := definition_of(code, own)) is not None and "." in code.index.name_of(row):
        return own, row
    if not name.parts[-2][0].isupper():
        return name, None
    # Such a member is, for example, an operator.
    owner = name.parts[-2]
    words = name.words[: name.words.rindex(owner) + len(owner)]
    name = replace(name, words=words, parts=name.parts[:-1])
    return name, definition_of(code, name)


def definition_of(code: Code, name: Name) -> int | None:
    """Return the only definition that a name can refer to, or None."""
    rows = code.definitions(name.last)
    if rows and len(name.parts) > 1:
        if any(used == len(name.parts) for _, used in code.index.names.of_module(".".join(name.parts))):
            return None  # the name refers to a module, whatever definitions share it
        if name.parts[0] in sys.stdlib_module_names:
            rows = [row for row in rows if not code.path_of(row).endswith(".py")]  # `html.escape` is Python's
        # `numpy.save` is not the project's `save`: this condition took dotted names from 23 to 60 % right.
        rows = [row for row in rows if _is_owner(code, row, name.owner)]
    # Not a second definition: a constructor has the name of its class.
    rows = [row for row in rows if code.index.name_of(row).split(".")[-2:] != [name.last] * 2] or rows
    places = {(int(code.index.def_file[row]), code.index.name_of(row)) for row in rows[:8]}
    return rows[0] if len(places) == 1 and len(rows) <= 8 else None


def _is_owner(code: Code, row: int, owner: str) -> bool:
    """Return whether a qualifier is the definition's class, module, folder, file or package."""
    around = code.index.name_of(row).split(".")[:-1]
    modules = module_parts(code.path_of(row))
    # A package can re-export names of its modules, such as `package.function`.
    return owner in around or owner in modules[-2:] or (not around and owner in modules[:2])


def _is_marked(hit: _Hit) -> bool:
    return hit.name.is_qualified or hit.name.marked


def _is_strong(hit: _Hit, listed: int, most: float) -> bool:
    if SYMPTOM.search(hit.name.last) or (hit.unused and not hit.name.is_qualified):
        return False
    if hit.name.in_title:
        # A name in the title may be used widely, because the reporter says that the issue is about it.
        return hit.users <= most
    return _is_marked(hit) and hit.users <= FEW_USERS and listed <= FEW_NAMES


def _is_whole(hit: _Hit, path: str) -> bool:
    """Return whether the prose names what many files use with its module: ``org.acme.Zone.load``."""
    module = f"/{'/'.join(hit.name.parts[:2])}/" in f"/{path.replace('.', '/')}" and len(hit.name.parts) > 2
    return module and hit.users > FEW_USERS and not hit.name.in_title


def _fact(code: Code, hit: _Hit) -> Fact | None:
    head = code.head(hit.row)
    if head is None:
        return None
    # A definition lacks the marks of a use: `@Captor`, `println!`.
    is_bare = re.split(r"[.:#>-]+", hit.name.words)[-1] in head.text
    words = hit.name.words if is_bare else hit.name.words.strip("@!?")
    values = {"name": words, "path": head.path}
    says = say("The only definition of `{name}` is in `{path}`.", **values)
    # In Java, C++ and others, functions of one name differ by their parameters.
    if _is_overloaded(code, hit.row):
        says = say("All definitions of `{name}` are in `{path}`.", **values)
    if hit.name.is_qualified and not _is_owner(code, hit.row, hit.name.owner):
        values = {"name": words, "symbol": head.place, "path": head.path}
        says = say("`{name}` is inherited from `{symbol}`, in `{path}`.", **values)
    return head.fact("defined_once", says, words, count=1, users=hit.users)


def _is_overloaded(code: Code, row: int) -> bool:
    """Return whether the owner of a definition has another definition of the same name."""
    place = code.index.name_of(row), code.path_of(row)
    others = code.definitions(place[0].rpartition(".")[2])[:MAX_NAMESAKES]
    return any(other != row and (code.index.name_of(other), code.path_of(other)) == place for other in others)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line contains the name and that no other source line of the language defines it."""
    parts = [part for part in re.split(r"[.:#>-]+|(?<=\w)\$", (fact.words or "").strip("@!?")) if part]
    name = parts[-1] if parts else ""
    if not name or not whole_word(name).search(fact.text or ""):
        return "the line does not contain the name"
    # Other definitions of a qualified name have other owners, which plain git cannot tell apart.
    if len(parts) > 1:
        base = (fact.symbol or "").rpartition(".")[0].rpartition(".")[2]
        if "is inherited from" not in fact.says or inherited.is_inherited(witness, parts[-2], base):
            return None
        return "the class does not inherit it from there"
    head = re.compile(f"(?:{_HEAD}|{_VARIABLE})".format(re.escape(name)))
    owner = (fact.symbol or "").rpartition(".")[0]
    for hit in witness.grep(name, own=True):
        if head.search(hit.text) and hit.path != fact.path and not owner:
            return f"`{hit.path}` defines it as well"
    return None
