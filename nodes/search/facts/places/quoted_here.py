"""``quoted_here``: an expression of the report that few lines of the project's own code contain."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from nodes.search.facts.around.called_from import is_comment, without_strings
from nodes.search.facts.code import Code, outside_docstrings
from nodes.search.facts.inquiry import MAX_LINE, FinderInput, IssueParts
from nodes.search.facts.names.read_here import FLAG, IMPORT
from nodes.search.facts.output.happened import is_assertion
from nodes.search.facts.output.shapes import messages
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness
from nodes.search.issue.mentions.places import URL, is_path
from nodes.search.sentences import say
from nodes.search.tokens import WORD, term_hash, terms_of

MAX_EXPRESSIONS = 80
"""Maximum number of expressions of one report that are looked up."""
MAX_CHUNKS, MAX_CHUNKS_OF_STRING = 24, 120
"""Maximum number of chunks that contain all words of an expression, and of a route, whose words are often common."""
FEW, FEW_STRINGS, MAX_WIDTH, MAX_LINES = 4, 8, 400, 100_000
"""Maximum number of lines with an expression, as more do not identify a place, and of lines with a route as a string,
which the clients and the server of a project have; maximum length of a line, and number of lines of a file."""
_PROMPT = re.compile(r"\s{0,200}(?:>>>|\.\.\. |\$ |In \[)")
"""A session as an example, in a string of several lines."""
_TESTS = re.compile(r"\s{0,40}#\[cfg\(test\)\]")

SHORTEST_EXPRESSION, SHORTEST_VALUE, LONGEST_EXPRESSION, RAREST = 4, 8, 160, 3
"""Minimum length of an expression and of a value of prose, maximum length, and minimum of a word that is looked up."""
_STRING = r"(?:\"[^\"\n\\]{1,120}\"|'[^'\n\\]{1,120}')"
_DOTTED = r"[A-Za-z_$@][\w$]{0,60}(?:(?:\??\.|::|->)[A-Za-z_$][\w$]{0,60}){0,6}"
_VALUE = rf"(?:-?(?:0x[0-9a-fA-F]+|\d[\d_.]{{0,20}})|{_STRING}|{_DOTTED})"
_COMPARED = r"\s?(?:===?|!==?|<=|>=)\s?"
_PARTS = re.compile(
    rf"{_DOTTED}(?:{_COMPARED}|\s?[<>]\s?|\sis\snot\s|\sis\s|\snot\sin\s|\sin\s|\s?(?:=|:=|[+|]=)\s?){_VALUE}"
    rf"|{_DOTTED}\[{_VALUE}\]|(?P<name>{_DOTTED})\(?|{_STRING}|\b0x[0-9a-fA-F]{{3,16}}\b|\b\d{{4,20}}\b"
)
"""A comparison, a value with its name, a value read by its key, a qualified name, a string or an unusual number."""
_CONSTANT = r"[\"'](?=[^\"'\n]{0,40}[A-Z0-9_.-])[\w.-]{4,60}[\"']"
_VALUES = re.compile(rf"(?<==\s){_CONSTANT}|(?<==){_CONSTANT}")
_IN_PROSE = re.compile(
    rf"(?<![\w$./-])(?:{_CONSTANT}|{_DOTTED}(?:{_COMPARED}|=){_VALUE}|{_DOTTED}\[{_STRING}\]|(?P<name>{_DOTTED})\()"
)
"""An expression or an unusual string of prose; most qualified names without a call there are products and addresses."""
_QUALIFIED = re.compile(r"\w(?:\.|::|->)\w")
_SPAN = re.compile(r"`[^`\n]{1,300}`")
_CODE_IN_QUOTES = re.compile(r"[\"“]([^\"“”`\n]{1,80}(?:[!=]==?|->|::|\(\))[^\"“”`\n]{1,80})[\"”]")
_PROPOSED = re.compile(
    r"(?i)(?:\breplac\w{1,3}\b[^.;`\n]{0,20}(?:`[^`\n]{1,160}`)?[^.;`\n]{0,40} (?:with|by)"
    r"|\bshould (?:\w{1,12} )?(?:be|use|call))"
    r" (?:an? |the )?`([^`\n]{1,300})`"
)
"""Code that the report proposes; elsewhere it occurs by chance."""
_NAME = re.compile(r"\.?[\w$ -]+(?:\(\))?")
"""A name, with or without empty parentheses, or words."""
FAILED = re.compile(
    r"[>#\s]{0,8}(?:Error in (\S.{2,158}?) ?:(?:\s|$)|[^\d:]{0,40}\bline \d{1,6}: (\S.{2,158})$)"
    r"|.{0,80}?(?<![\w$.])((?!this\.)[\w$]{2,40}(?:\.[\w$]{3,40}){1,4}) is not (?:a function|iterable)\b"
)
"""The call, the command or the member that an error names, as R, a script and JavaScript print it."""
ASSERTED = messages("asserted")
_ROUTE = re.compile(r"(?:(?:GET|POST|PUT|PATCH|DELETE)\s)?(?P<route>/?[\w:{}-]{2,40}(?:/[\w:{}.-]{1,40}){1,6})")
"""A route of a server, a method of a protocol or a media type: code has it as a whole string."""
_SEGMENTS = r"/[\w:{}-]{2,40}(?:/[\w:{}.-]{1,40})"
REQUEST = re.compile(rf"\b(?:GET|POST|PUT|PATCH|DELETE) ({_SEGMENTS}{{0,6}})(?![\w/.-])")
"""A request in prose, whose route needs no mark-up to be one."""
_ADDRESS = re.compile(
    rf"(?:https?://[^\s/()<>\"']{{1,100}}(?:/#)?|(?<![\w./~:@-]))({_SEGMENTS}{{1,6}}|(?<=:\d{{4}})/[\w-]{{4,40}})(?![\w/.-])"
)
"""The path of an address, or one in prose."""
_DEFINES = re.compile(
    r"\bpath\s?[:=(]|\broute|\.(?:get|post|put|patch|delete|all|any|handle|mount|add_url_rule|HandleFunc)\(|@\w+\(",
    re.I,
)
"""What a line that defines a route contains; other lines link to it."""
_MOUNTED = re.compile(r"/api(?:/v\d{1,2})?(?=/)")
"""Where the routes of a server are often mounted; code has them without it."""
_VALUE_IN_PROSE = re.compile(
    r"(?<![A-Za-z0-9_./:@#%&=-])(?=[A-Za-z0-9.-]{0,60}[0-9])[A-Za-z][A-Za-z0-9]{0,30}(?:[-.][A-Za-z0-9]{1,30}){1,6}"
    r"(?![A-Za-z0-9_/@:=-]|\.[A-Za-z0-9])"
)
"""A value that code may have as a whole string, such as the name of a model: words and numbers with hyphens or dots."""
_LITERAL = re.compile(r"[\"“](?=[^\"“”\n]{0,80}[\[\]{}<>%|\\$])([^\"“”\s][^\"“”\n]{6,78}[^\"“”\s])[\"”]")
_FILE = re.compile(r"\.\w{1,5}$")
_TOKEN = re.compile(rf"{_STRING}|[\w$]+|\S")

Place = tuple[int, int]
"""The number of a file and of a line."""


@dataclass(frozen=True)
class Expression:
    """A piece of code as the report writes it."""

    words: str
    marked: bool
    """Whether it is in a code span, or a string that the title quotes."""
    whole: bool = False
    """Whether only a string of code that consists of it counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the words of the expression that are long enough to be looked up."""
        # A word of Chinese or Japanese has two characters.
        words = (word for word in WORD.findall(self.words) if len(word) >= (RAREST if word.isascii() else 2))
        return tuple(dict.fromkeys(words))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern of the same tokens, with any white space and quotes."""
        parts, before = list[str](), ""
        for token in _TOKEN.findall(self.words):
            spaced = _is_word(before[-1:]) and _is_word(token[0])
            parts.append((r"\s{1,8}" if spaced else r"\s{0,8}") if parts else "")
            quoted = len(token) > 1 and token[0] in "\"'"
            parts.append(rf"[\"'`]{re.escape(token[1:-1])}[\"'`]" if quoted else re.escape(token))
            before = token
        if self.whole:
            return re.compile(rf"[\"'`]{re.escape(self.words)}[\"'`]")
        start = r"(?<![\w$])" if _is_word(self.words[0]) else ""
        return re.compile(start + "".join(parts) + (r"(?![\w$])" if _is_word(self.words[-1]) else ""))

    def is_in(self, text: str) -> bool:
        """Return whether a line contains the expression; a message that quotes the code does not count."""
        is_code = not self.whole and _PARTS.fullmatch(self.words) and not re.search(r"[\"'`]", self.words)
        return bool(self.pattern.search(without_strings(text) if is_code else text))


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines with an expression of the report, if one function or at most four lines have it."""
    code = inquiry.code
    known = {fact.words for fact in inquiry.found if fact.kind in ("read_here", "default_here")}
    every = [group for group in expressions(inquiry.issue) if group[0].words not in known][:MAX_EXPRESSIONS]
    # A longer expression says more than its parts, which the report may have alone before it.
    groups = sorted(every, key=lambda group: any(group[0].words in other[0].words != group[0].words for other in every))
    near = _near(code, [judgement for group in groups for judgement in group])
    code.read(number for numbers in near.values() for number in numbers)
    shown = {(fact.path, fact.line) for fact in inquiry.found}
    for group in groups:
        for judgement in group:
            places = [
                (number, line) for number in near.get(judgement.words, ()) for line in lines_of(code, number, judgement)
            ]
            if not places:
                continue
            for fact in (
                _facts(inquiry, judgement, places)
                if len(places) <= (FEW_STRINGS if judgement.whole and judgement.marked else FEW)
                else ()
            ):
                if (fact.path, fact.line) not in shown:
                    shown.add((fact.path, fact.line))
                    yield fact
            if judgement is group[0]:
                break


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
        if hit is None or not inquiry.issue.holds(one.words):
            continue
        says = say("`{code}` is in `{place}`, {only}.", code=one.words, place=hit.place, only=only_of(len(places)))
        on_first = hit.path in inquiry.first[:1] and len({number for number, _ in places}) == 1
        strong = on_first or (len(places) == 1 and one.marked) or is_defined
        fact = hit.fact_of_few("quoted_here", says, one.words, len(places), one=strong)
        # An unmarked word of prose may be data of an example; what an option does is elsewhere than where it is named.
        is_value = one.whole and (not one.marked or one.words.startswith("--"))
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
    route = replace(one, whole=one.words.startswith(("/", "--")))
    one = route if route.is_in(fact.text or "") else one
    if not one.names or not one.is_in(fact.text or ""):
        return "the line does not contain it"
    held = checked_hits(witness, one, max(one.names, key=len))
    if (fact.path, fact.line) not in {(hit.path, hit.line) for hit in held}:
        return "the line is not code"
    other = next((hit.path for hit in held if hit.path != fact.path), fact.path)
    return None if len(held) <= (fact.count or 0) else f"`{other}` contains it as well"


def checked_hits(witness: Witness, one: Expression, name: str) -> list[Hit]:
    """Return the lines of own code that contain an expression with a name, without the tests at the end of a file."""
    found = list[Hit]()
    for path in sorted({hit.path for hit in witness.grep(name, own=True) if one.is_in(hit.text[:MAX_WIDTH])}):
        lines = witness.lines(path, 1, MAX_LINES)
        tests = next((line for line, text in enumerate(lines, 1) if _TESTS.match(text)), len(lines) + 1)
        found += [Hit(path, line, lines[line - 1]) for line in lines_with(lines, one) if line < tests]
    return found


def expressions(issue: IssueParts) -> list[list[Expression]]:
    """Return for each code span, and for each expression of prose, the expression and the parts of a longer one.

    The call or the command that an error names, and what an assertion tests, are expressions too.
    """
    proposed = {span for line in issue.prose for span in _PROPOSED.findall(line[:MAX_LINE])}
    spans: Iterable[list[Expression]] = (
        [Expression(item, marked=True) for item in _of_span(span)]
        for span in (*issue.spans, *chain.from_iterable(map(_CODE_IN_QUOTES.findall, (issue.title, *issue.prose))))
        if span not in proposed
    )
    calls = [next(filter(None, found.groups())) for line in issue.lines if (found := FAILED.match(line[:MAX_LINE]))]
    calls += [found["code"] for line in issue.lines for form in ASSERTED if (found := form.search(line[:MAX_LINE]))]
    spans = chain(spans, ([Expression(call, marked=True)] for call in calls if not _NAME.fullmatch(call)))
    titled = ([Expression(item, marked=item[0] in "\"'")] for item in _of_prose(issue.title))
    prose = chain(titled, ([Expression(item, marked=False)] for line in issue.prose for item in _of_prose(line)))
    routes = ([Expression(route, marked=True, whole=True)] for span in issue.spans if (route := _route(span)))
    requests = (
        [Expression(route, marked=True, whole=True), Expression(_MOUNTED.sub("", route, 1), marked=True, whole=True)]
        for line in (issue.title, *issue.prose)
        for route in (*REQUEST.findall(line[:MAX_LINE]), *_ADDRESS.findall(line[:MAX_LINE]))
    )
    plain = [URL.sub(" ", line[:MAX_LINE]) for line in (issue.title, *issue.prose)]
    values = (
        [Expression(value, marked=False, whole=True)]
        for value in chain.from_iterable(map(_VALUE_IN_PROSE.findall, plain))
        if len(value) >= SHORTEST_VALUE and not value.isupper() and not is_path(value)
    )
    flags = (*FLAG.findall(URL.sub(" ", issue.title)), *filter(FLAG.fullmatch, issue.spans))
    options = ([Expression(flag, marked=True, whole=True)] for flag in flags)
    literals = ([Expression(text, marked=False)] for line in plain for text in _LITERAL.findall(line))
    return [item for item in (*spans, *routes, *requests, *options, *prose, *values, *literals) if item]


def _of_span(span: str) -> Iterator[str]:
    """Yield a code span if it is more than a name, and then its parts."""
    whole = span.strip().rstrip(";,")
    if SHORTEST_EXPRESSION <= len(whole) <= LONGEST_EXPRESSION and not _NAME.fullmatch(whole) and not is_path(whole):
        yield whole
    # No part of a command's option, such as ``--flag=false``, is an expression of code.
    parts = (found for found in _PARTS.finditer(span[:LONGEST_EXPRESSION]) if not span[: found.start()].endswith("-"))
    yield from (found[0] for found in parts if _is_rare(found))
    # The name before a constant may be that of a variable of the program's user, or of an event.
    yield from _VALUES.findall(span[:LONGEST_EXPRESSION])


def _route(span: str) -> str | None:
    """Return the route of a code span that is one and not the path of a file."""
    found = _ROUTE.fullmatch(span.strip())
    return found["route"] if found and not _FILE.search(found["route"]) else None


def _of_prose(line: str) -> Iterator[str]:
    plain = URL.sub(" ", _SPAN.sub(" ", line[:MAX_LINE]))
    yield from (found[0] for found in _IN_PROSE.finditer(plain) if _is_rare(found))


def _is_rare(found: re.Match[str]) -> bool:
    """Return whether a part is long enough and, if it is a name, qualified."""
    qualified = found["name"] is None or _QUALIFIED.search(found[0])
    return bool(qualified) and len(found[0].strip("\"'")) >= SHORTEST_EXPRESSION and not is_path(found[0])


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", "$")
