"""``quoted_here``: an expression of the report, or of the line it names, that few lines of the own code contain."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import Code, outside_docstrings
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.named import SYMPTOM, names
from nodes.search.facts.names.read_here import IMPORT
from nodes.search.facts.output.happened import is_assertion
from nodes.search.facts.places.expressions import KEY, Expression, classes, expressions
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness, is_own
from nodes.search.history.names import plain
from nodes.search.issue.query import COMPOUND
from nodes.search.sentences import say
from nodes.search.tokens import term_hash, terms_of

MAX_EXPRESSIONS, SHORTEST = 80, 6
"""Maximum number of expressions of one report that are looked up, and minimum length of a name of a library."""
MAX_CHUNKS, MAX_CHUNKS_OF_STRING = 24, 120
"""Maximum number of chunks that contain all words of an expression, and of a route, whose words are often common."""
FEW, FEW_OF_TITLE, FEW_STRINGS, MAX_WIDTH, MAX_LINES = 4, 2, 8, 400, 100_000
"""Maximum number of lines with an expression, of lines with one of the title that lead,
and of lines with a route as a string, which the clients and the server of a project have; maximum length of a line, and
number of lines of a file."""
_PROMPT = re.compile(r"\s{0,200}(?:>>>|\.\.\. |\$ |In \[)")
"""A session as an example, in a string of several lines."""
_OF_ERROR = re.compile(r"(?i)\b(?:error|warning|deprecat|exception|panic|undefined|undeclared|not (?:found|defined))")
_NAME = re.compile(r"(?<![\w$])(?=\w{0,60}(?:[a-z\d][A-Z]|_))[A-Za-z]\w{5,60}(?![\w$])|(?<![\w$])[a-z]{7,60}(?=\()")
_PAGES = (".html", ".htm", ".cshtml", ".erb", ".ejs", ".twig", ".jinja", ".j2", ".mustache", ".hbs")
_TESTS = re.compile(r"\s{0,40}#\[cfg\(test\)\]")
_CALL = re.compile(r"(?!(?:self|this|cls)\b)\w+(?:\.|->)(\w+)\($")
_DEFINES = re.compile(
    r"\bpath\s?[:=(]|\broute|\.(?:get|post|put|patch|delete|all|any|handle|mount|add_url_rule|HandleFunc)\(|@\w+\(",
    re.I,
)
"""What a line that defines a route contains; other lines link to it."""

Place = tuple[int, int]
"""The number of a file and of a line."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines with an expression of the report, if one function or at most four lines have it."""
    code = inquiry.code
    known = {fact.words for fact in inquiry.found if fact.kind in ("read_here", "default_here")}
    # What the title or a whole package names and no own file defines is of a library, whose uses may be few.
    parts = (part for name in names(inquiry.issue) if name.in_title for part in name.parts[-2:])
    named = [it for it in (*filter(COMPOUND.search, parts), *classes(inquiry.issue)) if len(it) >= SHORTEST]
    foreign = [name for name in named if not (inquiry.is_placed or SYMPTOM.search(name) or code.definitions(name))]
    every = expressions(inquiry.issue)
    members = [group[0].words.rpartition("::")[2] for group in every]
    every += [[Expression(name, marked=True)] for name in foreign if not any(name in member for member in members)]
    at = _at_stated(inquiry)
    every += [[Expression(name, marked=True)] for name in at if not any(name in member for member in members)]
    # The project's own name, as in ``custom:zone-card``, says nothing about a place in it.
    known |= {group[0].words for group in every if plain(re.split(r"[:/]", group[0].words)[-1]) in code.names}
    every = [group for group in every if group[0].words not in known][:MAX_EXPRESSIONS]
    # A longer expression says more than its parts, which the report may have alone before it.
    groups = sorted(every, key=lambda group: any(group[0].words in other[0].words != group[0].words for other in every))
    near = _near(code, [judgement for group in groups for judgement in group])
    code.read(number for numbers in near.values() for number in numbers)
    shown = {(fact.path, fact.line) for fact in inquiry.found}
    for group in groups:
        for judgement in group:
            places = [(n, line) for n in near.get(judgement.words, ()) for line in lines_of(code, n, judgement)]
            if not places:
                continue
            most = FEW_STRINGS if judgement.whole and judgement.marked else FEW
            most = FEW_OF_TITLE if judgement.words in foreign else most
            for fact in _facts(inquiry, judgement, places) if len(places) <= most else ():
                if (fact.path, fact.line) not in shown:
                    shown.add((fact.path, fact.line))
                    stated = at.get(judgement.words)
                    yield replace(fact, strong=True, unclaimed=True, follows=stated) if stated else fact
            if judgement is group[0]:
                break


def _at_stated(inquiry: FinderInput) -> dict[str, tuple[str, int]]:
    """Return the names of an error or of the title on the lines that the report names, with the place of each.

    Other lines with such a name, of a library or of a variable, often have the same fault.
    """
    texts = [inquiry.issue.title, *filter(_OF_ERROR.search, inquiry.issue.lines)]
    named = {name for text in texts for name in _NAME.findall(text[:MAX_WIDTH])}
    lines = [fact for fact in inquiry.found if fact.line and fact.is_named_line]
    held = {name: fact.at for fact in reversed(lines) for name in _NAME.findall(fact.text or "") if name in named}
    return {name: place for name, place in held.items() if not (inquiry.code.definitions(name) or SYMPTOM.search(name))}


def _near(code: Code, wanted: Sequence[Expression]) -> dict[str, list[int]]:
    """Return, for each expression, the own files with a chunk that has all its words, unless they are many."""
    terms = {item.words: {term_hash(term) for word in item.names for term in terms_of(word)} for item in wanted}
    near, strings = dict[str, list[int]](), {item.words for item in wanted if item.whole}
    for words, chunks in code.chunks_with(terms).items():
        if len(chunks) <= (MAX_CHUNKS_OF_STRING if words in strings else MAX_CHUNKS):
            near[words] = sorted({int(code.index.chunk_file[item]) for item in chunks})
    return near


def lines_of(code: Code, number: int, one: Expression) -> list[int]:
    """Return the lines of a file that contain an expression, without tests."""
    return [line for line in lines_with(code.lines(number), one) if not code.is_tested(number, line)]


def lines_with(lines: Sequence[str], one: Expression) -> list[int]:
    """Return the lines of code that contain an expression; comments, docstrings and imports do not count."""
    rarest = max(one.names, key=len, default="")
    if not rarest:
        return []
    near = (line for line, text in enumerate(lines, 1) if rarest in text and len(text) <= MAX_WIDTH and one.is_in(text))
    found = ((line, lines[line - 1]) for line in outside_docstrings(lines, near))
    return [line for line, text in found if not (is_comment(text) or IMPORT.match(text) or _PROMPT.match(text))]


def _facts(inquiry: FinderInput, one: Expression, places: Sequence[Place]) -> Iterator[Fact]:
    code = inquiry.code
    defined = [(n, line) for n, line in places if one.whole and _DEFINES.search(code.lines(n)[line - 1])]
    is_defined = len(defined) == 1 and one.marked
    for number, line in defined if is_defined else places:
        hit = code.hit(number, line)
        if hit is None or not inquiry.issue.holds(one.words) or _page_with(inquiry.witness, one):
            continue
        says = say("`{code}` is in `{place}`, {only}.", code=one.words, place=hit.place, only=only_of(len(places)))
        on_first = hit.path in inquiry.first[:1] and len({number for number, _ in places}) == 1
        titled = len(places) <= FEW_OF_TITLE and one.words in inquiry.issue.title
        strong = on_first or (len(places) == 1 and one.marked) or is_defined or titled
        fact = hit.fact_of_few("quoted_here", says, one.words, len(places), one=strong)
        # An unmarked word of prose may be data of an example; what an option or an object's method does is elsewhere.
        is_value = one.whole and (not one.marked or one.words.startswith("--"))
        is_value |= bool((call := _CALL.match(one.words)) and code.definitions(call[1]))
        yield replace(fact, unclaimed=len(places) > 1 or is_value or is_assertion(hit.text))


def only_of(count: int) -> str:
    """Return the end of a sentence that says on how many lines of own code something is."""
    if count > 1:
        return say("one of {count} lines of the project's own code", count=count)
    return say("and on no other line of the project's own code")


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line has the expression, and that as many lines of the language's source files do as stated."""
    one = Expression(fact.words or "", marked=False)
    # A longer route that begins with it is another one, and a flag within a text is no argument.
    whole = replace(one, whole=one.words.startswith(("/", "--")) or KEY.fullmatch(one.words) is not None)
    one = whole if whole.is_in(fact.text or "") else one
    if not one.names or not one.is_in(fact.text or ""):
        return "the line does not contain it"
    held = checked_hits(witness, one, max(one.names, key=len))
    if (fact.path, fact.line) not in {(hit.path, hit.line) for hit in held}:
        return "the line is not code"
    other = next((hit.path for hit in held if hit.path != fact.path), fact.path)
    page = _page_with(witness, one)
    return None if len(held) <= (fact.count or 0) and not page else f"`{page or other}` contains it as well"


def _page_with(witness: Witness, one: Expression) -> str | None:
    """Return a page whose script has an expression; it is code, although no language's file has it."""
    pages = (hit for hit in witness.grep(max(one.names, key=len)) if hit.path.endswith(_PAGES) and not is_own(hit.path))
    return next((hit.path for hit in pages if one.is_in(hit.text[:MAX_WIDTH])), None)


def checked_hits(witness: Witness, one: Expression, name: str) -> list[Hit]:
    """Return the lines of own code that contain an expression with a name, without the tests at the end of a file."""
    found = list[Hit]()
    for path in sorted({hit.path for hit in witness.grep(name, own=True) if one.is_in(hit.text[:MAX_WIDTH])}):
        lines = witness.lines(path, 1, MAX_LINES)
        tests = next((line for line, text in enumerate(lines, 1) if _TESTS.match(text)), len(lines) + 1)
        found += [Hit(path, line, lines[line - 1]) for line in lines_with(lines, one) if line < tests]
    return found
