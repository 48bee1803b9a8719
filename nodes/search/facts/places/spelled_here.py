"""``quoted_here`` for code in other words: a name that words of the report spell."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from nodes.search.facts.code import whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names import defined_once, named
from nodes.search.facts.places.labelled_here import labels
from nodes.search.facts.places.quoted_here import Expression, checked_hits, lines_of, only_of
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness, fault_of_few
from nodes.search.issue.mentions.places import URL
from nodes.search.issue.query import COMPOUND
from nodes.search.sentences import say
from nodes.search.tokens import PART, STOPWORDS, WORD, terms_of

MOST_WORDS, FEWEST_LETTERS, FEW_LETTERS = 4, 8, 12
"""Maximum number of words of a name, and minimum number of letters of three words and of two."""
FEW, MAX_FACTS, MAX_FILES = 5, 2, 5
"""Maximum number of lines of own code with a name, of facts of each form, and of files."""
MAX_GROUPS = 60
OF_TITLE, FILES_READ = 2, 1
"""Maximum number of groups of words that are looked up; minimum number of words of the title that spell a name; number
of ranked files that are read."""
_PREFIXES = ("", "is", "has", "show", "use", "enable", "disable", "allow", "on", "handle", "toggle", "set", "get")
"""Prefixes that names have before the words that people use."""
_PHRASE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9]*(?:[ -][A-Za-z][A-Za-z0-9]*)+")
_DECIDES = (
    r"\b(?:if|elif|guard|when|unless|while|switch|case|match|assert)\b.{{0,200}}{0}|{0}\S{{0,9}}\s?(?:&&|\|\||\?\s)"
)
_DECLARES = (
    r"\b(?:def|fn|func|fun|function|class|struct|enum|interface|let|var|val|const)\s+{0}\b"
    r"|{0}\s*(?::[^=]{{1,60}})?=(?!=)"
)
_PRINTED = re.compile(r"\{\s?\"[^{}\n]{0,400}\}")
"""An object as a program prints it, whose words are not those of a person."""
ELLIPSIS = " … "
_OPERATION = re.compile(r"(?<![\w$.])(?=\w{8})(?:[A-Z][a-z0-9]+){2,6}(?![\w$])")
_SEPARATOR = re.compile(r"[._-]")
SAYS = re.compile(r"The words “([^”]{1,400})” (?:spell|are in the name) `([^`]{1,400})`, which ")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield lines with a name that words spell, if nothing else places the report."""
    if inquiry.is_placed or inquiry.is_of_other_code:
        return
    yield from islice(_respelled(inquiry), MAX_FACTS)
    yield from islice(_spelled(inquiry), MAX_FACTS)


def _spelled(inquiry: FinderInput) -> Iterator[Fact]:
    code, taken = inquiry.code, list[str]()
    groups = list(islice(dict.fromkeys(_groups(inquiry)), MAX_GROUPS))
    code.look_up(name for words in groups for name in _names(words))
    for words in sorted(groups, key=lambda words: -words.count(" ")):
        if any(words in longer for longer in taken):
            continue
        files = sorted({number for name in _names(words) for number in code.files_with(name)})
        if not 0 < len(files) <= MAX_FILES:
            continue
        code.read(files)
        pattern = re.compile(rf"(?<![\w$])({'|'.join(map(re.escape, _names(words)))})(?![\w$])", re.IGNORECASE)
        spelled = {name for n in files for line in code.lines(n) for name in pattern.findall(line)}
        for name in sorted(spelled):
            if (fact := _of_name(inquiry, words, name)) is not None:
                taken.append(words)
                yield fact
                break


def _respelled(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the name of the code that no own file has as the report: `CreateJob` with underscores or other capitals."""
    code, lines = inquiry.code, (URL.sub(" ", line) for line in (inquiry.issue.title, *inquiry.issue.prose))
    every = (name for line in lines for name in _OPERATION.findall(line) if not named.SYMPTOM.search(name))
    others = {name: "_".join(PART.findall(name)).lower() for name in islice(dict.fromkeys(every), MAX_GROUPS)}
    code.look_up((*others, *others.values()))
    for name, other in others.items():
        files = code.files_with(name) or code.files_with(other)
        form = re.compile(rf"(?<![\w$])(?i:{name}|{other})(?![\w$])")
        few = files if len(files) <= MAX_FILES else ()
        forms = {held for number in few for line in code.lines(number) for held in form.findall(line)}
        if len(forms) == 1 and name not in forms and (fact := _of_name(inquiry, name, forms.pop(), files)):
            yield fact


def first_files(inquiry: FinderInput) -> list[int]:
    """Return the first own files of the ranking."""
    numbers = (inquiry.code.number(path) for path in inquiry.first[:FILES_READ])
    return [number for number in numbers if number is not None and inquiry.code.own[number]]


def report_stems(inquiry: FinderInput) -> tuple[dict[str, str], dict[str, str]]:
    """Return the plain words of the title, and those of the title and the prose, by their stems."""
    title = stems_of(_PRINTED.sub(" ", URL.sub(" ", inquiry.issue.title)))
    return title, stems_of(URL.sub(" ", "\n".join(inquiry.issue.prose))) | title


def stems_of(text: str) -> dict[str, str]:
    """Return the plain words of a text by their stems."""
    found = (word for word in WORD.findall(text) if word.isascii() and word.isalpha())
    plain = (word for word in found if word[1:].islower() or word.isupper())
    return {stems[0]: word for word in plain if word.lower() not in STOPWORDS and (stems := terms_of(word))}


def parts_of(name: str) -> list[str]:
    """Return the stems of the words of a name that say something."""
    *parts, _ = terms_of(name) or ("",)
    return [part for part in dict.fromkeys(parts) if part not in STOPWORDS and part not in _PREFIXES]


def acts(parts: list[str], stems: Container[str]) -> list[str]:
    """Return the stems of a name; that of an actor becomes its verb if the report has that: ``Editor`` as ``edit``."""
    return [part[:-2] if part.endswith(("er", "or")) and part[:-2] in stems else part for part in parts]


def _groups(inquiry: FinderInput) -> Iterator[str]:
    """Yield two to four words side by side of the title, and of what the report quotes or stresses."""
    # Words with few letters say enough if code of the report has the name that they spell.
    shown = {_joined(name) for block in inquiry.issue.blocks for name in WORD.findall(block) if COMPOUND.search(name)}
    for text in (URL.sub(" | ", inquiry.issue.title), *labels(inquiry.issue)):
        for phrase in _PHRASE.findall(text):
            words = re.split("[ -]", phrase)
            for count in range(min(MOST_WORDS, len(words)), 1, -1):
                for at in range(len(words) - count + 1):
                    group = words[at : at + count]
                    if (is_name(group) or _joined("".join(group)) in shown) and inquiry.issue.holds(" ".join(group)):
                        yield " ".join(group)


def _joined(name: str) -> str:
    """Return a name without what differs between the conventions of languages."""
    return name.replace("_", "").lower()


def is_name(words: Sequence[str], least: int = FEW_LETTERS) -> bool:
    """Return whether words may spell a name that says something, two of them with a minimum number of letters."""
    ends = {words[0].lower(), words[-1].lower()}
    letters = sum(map(len, words))
    return ends.isdisjoint(STOPWORDS) and letters >= (least if len(words) == 2 else FEWEST_LETTERS)


def _names(words: str) -> list[str]:
    """Return the spellings of words as a name; their case does not matter."""
    parts = words.lower().split(" ")
    stems = (parts, [*parts[:-1], parts[-1].removesuffix("s") if parts[-1].endswith("s") else f"{parts[-1]}s"])
    named = [list(filter(None, (prefix, *stem))) for stem in stems for prefix in _PREFIXES]
    # Without capitals the index takes a name for a word, and drops its ending.
    return [form for name in named for form in ("_".join(name), "".join(map(str.capitalize, name)))]


def _of_name(inquiry: FinderInput, words: str, name: str, files: Sequence[int] = ()) -> Fact | None:
    """Return the most informative line with a name: one that decides, in a file that the search ranks high."""
    code, one = inquiry.code, Expression(name, marked=True)
    held = [(n, line) for n in files or code.files_with(name) for line in lines_of(code, n, one)]
    if not 0 < len(held) <= FEW:
        return None
    ranks = [code.number(path) for path in (inquiry.first if files else inquiry.first[:FILES_READ])]
    decides, declares = (re.compile(form.format(whole_word(name).pattern)) for form in (_DECIDES, _DECLARES))

    def order(place: tuple[int, int]) -> tuple[bool, bool, bool, int]:
        text, rank = code.lines(place[0])[place[1] - 1], (*ranks, place[0]).index(place[0])
        return place[0] not in ranks, not decides.search(text), bool(declares.search(text)), rank

    number, line = min(held, key=order)
    hit = code.hit(number, line) if number in ranks else None
    return None if hit is None else _fact(hit, words, name, len(held))


def _fact(hit: Hit, words: str, name: str, count: int) -> Fact:
    place = hit.path if hit.symbol == name else hit.place
    values = {"words": words, "name": name, "place": place, "only": only_of(count)}
    says = say("The words “{words}” spell `{name}`, which is in `{place}`, {only}.", **values)
    if _has_more(name, words):
        says = say("The words “{words}” are in the name `{name}`, which is in `{place}`, {only}.", **values)
    return hit.fact_of_few("quoted_here", says, max(words.split(ELLIPSIS), key=len), count)


def _has_more(name: str, words: str) -> bool:
    """Return whether a name ends with words and has others before them."""
    plain, joined = _joined(name).replace("-", ""), _joined(words.replace(" ", ""))
    return not plain.startswith(joined) and plain.endswith(joined)


def _spells(words: list[str], name: str, witness: Witness) -> bool:
    """Return whether words of the issue spell a name: side by side, or each a part of it."""
    if len(words) == 1:
        forms = {form.lower() for form in _names(words[0])}
        return name.lower() in forms or _SEPARATOR.sub("", name.lower()) == _joined(words[0])
    stems = [terms_of(word)[0] for word in words]
    return all(map(witness.mentions, words)) and [p for p in acts(parts_of(name), stems) if p in stems] == stems


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the words spell the name, and that as many lines have the name as stated."""
    words = fact.words or ""
    spelled = SAYS.match(fact.says)
    if spelled is None or words not in spelled[1] or not _spells(spelled[1].split(ELLIPSIS), spelled[2], witness):
        return "the words do not spell the name"
    if " defines." in fact.says:
        return defined_once.check(replace(fact, words=spelled[2]), witness)
    held = checked_hits(witness, Expression(spelled[2], marked=True), spelled[2])
    return fault_of_few(fact, held, "the line does not have the name")
