"""``quoted_here`` for what stands next to a text of a user interface: the setting of its control, and who tests it."""

import re
from collections.abc import Iterable, Iterator, Sequence

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import Code
from nodes.search.facts.names.decided_here import TESTED, every_spelling, is_declaration, places
from nodes.search.facts.names.read_here import IMPORT
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness, is_own
from nodes.search.sentences import say
from nodes.search.tokens import WORD, terms_of

NEAR, LEAST, FEW, MAX_WIDTH = 14, 2, 3, 400
"""Maximum number of lines from a text to the name of its setting, minimum number of words of the name, maximum number
of lines that test it, and of characters of a line."""
SAYS = re.compile(r"The text “(?P<text>[^”]{1,80})” stands beside `(?P<name>[^`]{1,80})`, which (?P<alone>no other )?")
_NAME = re.compile(r"(?<![\w-])[A-Za-z_]\w{5,60}(?![\w-])")
_OF_SETTINGS = r"(?i:settings?|config\w{{0,12}}|options?|prefs|preferences|store|state|form)(?:\.|\?\.|->|\[[\"']){0}\b"
"""A member of settings; that nothing reads another name, such as that of the next command, says nothing."""


def find(code: Code, witness: Witness, fact: Fact) -> Iterator[Fact]:
    """Yield the line with the setting next to the text of a fact if nothing reads it, else the lines that test it."""
    at, label = Hit(fact.path or "", fact.line or 0, fact.text or ""), fact.words or ""
    for name, line in names_beside(witness, at, label, fact.says):
        held, alone = tests(witness, name, at.path), [Hit(at.path, line, witness.line(at.path, line) or "")]
        is_alone = not held and is_unread(witness, name, at)
        for hit in code.few(alone if is_alone else held):
            end = (
                say("no other line of the project's own code reads")
                if is_alone
                else say("this condition of `{place}` tests", place=hit.place)
            )
            says = say("The text “{text}” stands beside `{name}`, which {end}.", text=label, name=name, end=end)
            # Most of them are where it is decided; another file may only pass it on.
            one = is_alone or sum(other.path == hit.path for other in held) > len(held) / 2
            yield hit.fact_of_few("quoted_here", says, label, 1 if is_alone else len(held), one=one)
        if held or is_alone:
            return


def names_beside(witness: Witness, at: Hit, label: str, says: str = "") -> list[tuple[str, int]]:
    """Return the names near a line that consist of words of its text, with their lines, the longest ones first."""
    stems = {term for word in WORD.findall(label) for term in terms_of(word)}
    found = dict[str, tuple[int, int, int]]()
    first = max(1, at.line - NEAR)
    for line, text in enumerate(witness.lines(at.path, first, at.line + NEAR), first):
        for name in _NAME.findall(text) if len(text) <= MAX_WIDTH and not is_comment(text) else ():
            parts = terms_of(name)[:-1]
            # The key of the text is no setting.
            if len(set(parts)) >= LEAST and stems.issuperset(parts) and not re.search(rf"\b{name}`", says):
                found.setdefault(name, (-len(parts), abs(line - at.line), line))
    return [(name, order[-1]) for name, order in sorted(found.items(), key=lambda item: item[1])]


def tests(witness: Witness, name: str, path: str) -> list[Hit]:
    """Return the few lines of other files that test a setting in any spelling, or none."""
    found = (
        hit
        for spelled in sorted({name, *every_spelling(name)})
        for hit in places(witness, spelled, TESTED)
        if hit.path != path
    )
    held = list(dict.fromkeys(found))
    return held if len(held) <= FEW else []


def is_unread(witness: Witness, name: str, at: Hit) -> bool:
    """Return whether code declares a setting elsewhere, and has it on no other line than those near its text."""
    near = "\n".join(witness.lines(at.path, at.line - NEAR, at.line + NEAR))
    if not re.search(_OF_SETTINGS.format(re.escape(name)), near):
        return False
    others = [
        hit
        for hit in witness.grep_any((name, *every_spelling(name)))
        if is_own(hit.path) and not (is_comment(hit.text) or IMPORT.match(hit.text))
        if hit.path != at.path or abs(hit.line - at.line) > 2 * NEAR
    ]
    declared = [hit for hit in others if is_declaration(hit.text, (name, *every_spelling(name)))]
    return bool(declared) and len(declared) == len(others)


def fault_of(fact: Fact, witness: Witness, labelled: Iterable[Hit]) -> str | None:
    """Verify that the name stands next to one of the lines with the text, and that code reads it as the fact says."""
    says = SAYS.match(fact.says)
    near = [hit for hit in labelled if says and says["name"] in dict(names_beside(witness, hit, says["text"]))]
    if says is None or not near:
        return "the name does not stand next to the text"
    held: Sequence[Hit] = [hit for at in near for hit in tests(witness, says["name"], at.path)]
    if says["alone"]:
        return None if not held and any(is_unread(witness, says["name"], at) for at in near) else "a line reads it"
    return None if (fact.path, fact.line) in {(hit.path, hit.line) for hit in held} else "the line does not test it"
