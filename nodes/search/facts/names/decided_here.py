"""``read_here`` for an option that several places name: the few conditions that test it."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nodes.search.facts.around.called_from import without_strings
from nodes.search.facts.code import is_test, outside_docstrings, whole_word
from nodes.search.facts.inquiry import FinderInput, IssueParts
from nodes.search.facts.names.named import BUILT_IN, SYMPTOM
from nodes.search.facts.names.read_here import FLAG, MACHINE, WRITES, is_code
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness, fault_of_few
from nodes.search.history.names import plain
from nodes.search.issue.mentions.places import URL
from nodes.search.issue.query import COMPOUND
from nodes.search.languages.table import language_of
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS, load_sections

MAX_NAMES, MAX_HITS, FEW = 12, 80, 3
"""Maximum number of options that are looked up, of lines with one, and of places that test it."""
SHORTEST, MAX_WIDTH = 4, 400
_FORMS = load_sections(Path(__file__).with_name("decided_here.txt"))
_KEYWORD, _END, _ASSIGNS, _NAMED, _QUOTED, _SNAKE, _UPPER = (
    re.compile("".join(_FORMS[name])) for name in "keyword end assigns named quoted snake upper".split()
)
_COMPARED = r"{0}[\"'`]?\)?\s?(?:&&|\|\||\s\?\s|[=!]=)|(?:&&|\|\||[=!]==?)\s?!?[\"'`]?{0}"
_WITH_MACROS = frozenset({"c", "cpp", "csharp", "swift"})
"""Languages in which a line with a hash may be a condition."""
SAYS = re.compile("`[^`]+` is tested by this condition in ")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the places that test an option of the report, if nothing else places the report."""
    if inquiry.is_placed:
        return
    stems, own = inquiry.code.index.names.by_module_tail, inquiry.code.names
    options = (words for words in _options(inquiry.issue) if plain(words) not in own and words not in stems)
    for words in islice(options, MAX_NAMES):
        held = places(inquiry.witness, words)
        yield from _facts(inquiry, words, held) if len(held) <= FEW else ()


def _facts(inquiry: FinderInput, words: str, held: list[Hit]) -> Iterator[Fact]:
    first = [hit for hit in inquiry.code.few(held) if not is_test(hit.symbol)]
    for hit in first:
        only = (
            say("one of {count} in the project's own code", count=len(held))
            if len(held) > 1
            else say("and by no other in the project's own code")
        )
        says = say("`{name}` is tested by this condition in `{place}`, {only}.", name=words, place=hit.place, only=only)
        yield hit.fact_of_few("read_here", says, words, len(held), one=len(first) == 1)


def _options(issue: IssueParts) -> Iterator[str]:
    """Yield the distinct names of options and settings that a report gives, those of the title first."""
    seen = set[str]()
    for words in _named(issue):
        bare = words.lstrip("-")
        is_word = bare == words and not COMPOUND.search(bare) and "-" not in bare and not bare.isupper()
        if bare in seen or len(bare) < SHORTEST or bare in BUILT_IN or SYMPTOM.search(bare) or MACHINE.fullmatch(bare):
            continue
        if bare.lower() not in STOPWORDS and not (is_word and words not in issue.title) and issue.holds(words):
            seen.add(bare)
            yield words


def _named(issue: IssueParts) -> Iterator[str]:
    spans = [*issue.spans, *_QUOTED.findall(URL.sub(" ", issue.title))]
    for span in sorted(spans, key=lambda span: span not in issue.title):
        if found := _NAMED.fullmatch(span.strip()):
            yield f"{found[1] or ''}{found[2]}"
    yield from _SNAKE.findall(URL.sub(" ", issue.title))
    for line in (issue.title, *issue.prose):
        plain = URL.sub(" ", line[:MAX_WIDTH])
        yield from FLAG.findall(plain)
        yield from _UPPER.findall(plain)
        yield from (words for words in _QUOTED.findall(plain) if COMPOUND.search(words))


def places(witness: Witness, words: str) -> list[Hit]:
    """Return the lines of own code that test an option.

    Too many lines count as none. For an option of one word, only files count that have it in quotes, with its dashes or
    as an attribute: a variable of that name may hold anything.
    """
    held = list["Hit"]()
    for name in _spellings(words):
        whole = whole_word(name).pattern
        called, writes = re.compile(rf"{whole}\s?\("), re.compile(WRITES.format(whole))
        hits = witness.grep(name, own=True)
        if len(hits) > MAX_HITS:
            return []
        if words.startswith("-") and not COMPOUND.search(name):
            given = re.compile(rf"[\"'`]-{{0,2}}{re.escape(name)}[\"'`/,=]|(?:--|\.){re.escape(name)}(?![\w(-])")
            files = {hit.path for hit in hits if given.search(hit.text)}
            hits = [hit for hit in hits if hit.path in files]
        near = [hit for hit in hits if len(hit.text) <= MAX_WIDTH and _is_code(hit)]
        tested = (hit for hit in near if _tests(hit.text, name))
        held += [hit for hit in tested if not (called.search(hit.text) or writes.search(hit.text))]
    return [hit for hit in held if outside_docstrings(witness.lines(hit.path, 1, hit.line), [hit.line])][: FEW + 1]


def _tests(text: str, name: str) -> bool:
    """Return whether a condition on a line has a name outside longer strings."""
    own = re.sub(rf"([\"'`])-{{0,2}}({re.escape(name)})\1", r"\2", text)
    plain = without_strings(own)
    whole = whole_word(name)
    if re.search(_COMPARED.format(whole.pattern), plain):
        return True
    return any(whole.search(_condition(plain[word.end() :])) for word in _KEYWORD.finditer(plain))


def _condition(text: str) -> str:
    """Return the condition at the beginning of a text, without what it guards."""
    depth = 0
    for at, character in enumerate(text if text.startswith("(") else ""):
        depth += (character == "(") - (character == ")")
        if not depth:
            return text[:at]
    end = None if text.startswith("(") else _END.search(text)
    if end and end[0] == ";" and _ASSIGNS.search(text[: end.start()]):
        return _condition(text[end.end() :])
    return text[: end.start()] if end else text


def _is_code(hit: Hit) -> bool:
    return is_code(hit.text) and (not hit.text.lstrip().startswith("#") or language_of(hit.path) in _WITH_MACROS)


def _spellings(words: str) -> list[str]:
    """Return how code spells an option: with its hyphens, with underscores, and in camel case."""
    head, *rest = words.lstrip("-").split("-")
    camel = head + "".join(part[:1].upper() + part[1:] for part in rest)
    return sorted({"-".join((head, *rest)), "_".join((head, *rest)), camel})


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line tests the option, and that as many lines of own code do as stated."""
    return fault_of_few(fact, places(witness, fact.words or "-"), "the line does not test the option")
