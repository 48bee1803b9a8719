"""``quoted_here`` for texts of a user interface: the string with a label of the report, or the uses of its key."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from nodes.search.facts.inquiry import FinderInput, IssueParts
from nodes.search.facts.places.keys import MAX_WIDTH, NOT_SEARCHED, as_label, has_text, key_of, keys_of, spaced, uses_of
from nodes.search.facts.places.searched import files_for
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness, fault_of_few
from nodes.search.history.names import plain
from nodes.search.issue.mentions.places import URL
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS, WORD, comparable, load_sections, query_terms

MAX_MARKED, MAX_PLAIN = 6, 60
"""Maximum number of marked labels of one report, and of other words that may be labels; one search finds all."""
FEW, FEW_PLACES, FEW_USES = 2, 3, 8
"""Maximum number of lines of one place, of places that have a label, and of those that use its key."""
LEAST_WORDS, MOST_WORDS, MOST_PLAIN_WORDS = 2, 9, 5
"""Number of words of a label; a single word is in many strings."""
_FORMS = load_sections(Path(__file__).with_name("labels.txt"))
_MARKED, _FIELD, SAYS, _MENU, _WORDS, _UNSPACED, _CODE = (
    re.compile("".join(_FORMS[name])) for name in ("marked", "field", "says", "menu", "words", "unspaced", "code")
)
_CUE = re.compile(
    r"(?i)\b(?:click|press|tap|(?:un|de)?(?:check|tick|select)|choos|open|go to|going to|toggl|enabl|disabl)\w{0,4}"
    r"(?: on)?(?: the)? "
)
"""What precedes the name of something to click."""
SHORTEST_UNSPACED, LONGEST_UNSPACED = 4, 12
"""Number of characters of a label among them."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines with a label of the report, or those that use its key, if nothing else places the report.

    Words that are not marked count if they are the whole of a string, and only those of the first such string.
    """
    if inquiry.is_placed:
        return
    # A message that the code builds is found with what it is built of.
    known = {comparable(fact.words) for fact in inquiry.found if fact.words}
    found = [(text, is_marked) for text, is_marked in _labels(inquiry.issue) if comparable(text) not in known]
    # The name of the project is in its titles and its help.
    own = inquiry.code.names
    wanted = [(text, is_marked) for text, is_marked in found if plain(re.split(r"[:/]", text)[-1]) not in own]
    forms = _forms(text for text, _ in wanted)
    hits = [(as_label(hit.text), hit) for hit in _hits(inquiry.witness, forms, files_for(inquiry.code, forms))]
    placed, titled = False, {fact.path for fact in inquiry.found if fact.kind == "named_here" and fact.in_title}
    for label, is_marked in wanted:
        if placed and not is_marked:
            continue
        facts = _of_label(inquiry, label, [hit for text, hit in hits if as_label(label) in text])
        # If the title names a file, what the report says in passing is a step on the way to it.
        for fact in (fact for fact in facts if is_marked or not titled or fact.path in titled):
            placed = True
            yield fact


def _of_label(inquiry: FinderInput, label: str, hits: Sequence[Hit]) -> Iterator[Fact]:
    yield from next(filter(None, (list(search(inquiry, label, hits)) for search in (_by_key, _in_code))), ())


def _labels(issue: IssueParts) -> list[tuple[str, bool]]:
    """Return the distinct texts that may be those of a user interface, the marked ones first, and whether each is."""
    # What the title has too is the subject; the other texts are often steps on the way to it.
    title = {*query_terms(issue.title)}

    def apart(text: str) -> int:
        terms = query_terms(text)
        return -len(terms if text in issue.title else title.intersection(terms))

    found = sorted(islice(labels(issue), MAX_MARKED), key=apart)
    known = set(map(comparable, found))
    plain = {comparable(text): text for text in reversed(list(_plain_labels(issue)))}
    rest = sorted((text for key, text in reversed(plain.items()) if key not in known), key=apart)
    return [*((text, True) for text in found), *((text, False) for text in rest[:MAX_PLAIN])]


def labels(issue: IssueParts) -> Iterator[str]:
    """Yield the distinct texts of a user interface that a report quotes, stresses, or names on a path of menus."""
    seen = set[str]()
    prose = (
        URL.sub(" ", line[field.end() :] if (field := _FIELD.match(line)) else line)
        for line in (issue.title, *issue.prose)
    )
    marked = chain(next(filter(None, found.groups())) for line in prose for found in _MARKED.finditer(line))
    blocks = (block.strip().split("\n") for block in issue.blocks)
    # A block of a line or two shows a text as the program does.
    shown = (line for lines in blocks if len(lines) <= FEW for line in lines)
    parts = chain((part for words in marked for part in _MENU.split(words)), shown)
    for text in (part.strip(" .,:;!?…*\"'“”") for part in parts):
        if LEAST_WORDS <= _length(text) <= MOST_WORDS and not _CODE.search(text) and comparable(text) not in seen:
            seen.add(comparable(text))
            yield text


def _length(text: str) -> int:
    # `UTF-8` is one word, and a sentence without spaces is as telling as a label.
    words = len(WORD.findall(text))
    return min(len(text), MOST_WORDS) if _UNSPACED.search(text) else words - (words == LEAST_WORDS and " " not in text)


def _plain_labels(issue: IssueParts) -> Iterator[str]:
    """Yield words side by side that may be a label: on a path of menus, at something to click, or without spaces."""
    # The last part of a path of menus, ``系统配置-注册配置``, is what the title is about.
    for run in reversed(_UNSPACED.findall(issue.title)):
        for length in range(min(LONGEST_UNSPACED, len(run)), SHORTEST_UNSPACED - 1, -1):
            yield from (run[at : at + length] for at in range(len(run) - length + 1))
    for line in (issue.title, *issue.prose):
        plain = URL.sub(" ", line[:MAX_WIDTH])
        arrows = list(_MENU.finditer(plain))
        for after in (*arrows, *_CUE.finditer(plain)):
            yield from _runs(_WORDS.match(plain, after.end()))
        for before in arrows:
            *_, last = (None, *_WORDS.finditer(plain, 0, before.start()))
            yield from _runs(last if last and last.end() == before.start() else None, from_end=True)
    for found in _WORDS.finditer(URL.sub(" ", issue.title)):
        # Two words of a title are often the subject of a library, whose documentation has them as a string too.
        for start in range(found[0].count(" ")):
            yield from (run for run in _runs(found, start) if spaced(run).count(" ") >= LEAST_WORDS)


def _runs(found: re.Match[str] | None, start: int = 0, *, from_end: bool = False) -> Iterator[str]:
    """Yield the first or last words of a phrase, the longest first, if they are informative."""
    words = found[0].split(" ")[start:] if found else []
    words = words[-MOST_PLAIN_WORDS:] if from_end else words[:MOST_PLAIN_WORDS]
    for count in range(len(words), 1, -1):
        run = words[-count:] if from_end else words[:count]
        # In “the general Settings button”, only the capitalised word is the text of the button.
        if run[0].islower() and run[0].isalpha() and run[-1].istitle():
            continue
        if sum(word.casefold() not in STOPWORDS and len(word) > 2 for word in run) >= LEAST_WORDS:
            yield " ".join(run)


def _forms(wanted: Iterable[str]) -> list[str]:
    """Return the texts that a program may have for labels, which reporters write with other capitals and hyphens."""
    every = ((text, text[0].upper() + text[1:], text[0].lower() + text[1:], spaced(text)) for text in wanted)
    joined = ((*four, *(four[0].replace(" and ", f" {mark} ") for mark in ("&", "&amp;"))) for four in every)
    # Git compares only ASCII letters without their case.
    return list({form.encode("utf-8", "surrogatepass").lower(): form for some in joined for form in some}.values())


def _hits(witness: Witness, forms: Sequence[str], paths: Iterable[str] = ()) -> list[Hit]:
    """Return the lines with one of the texts, in files of the pathspecs."""
    found = witness.grep_any(forms, (*paths, *NOT_SEARCHED), any_case=True)
    return [hit for hit in found if len(hit.text) <= MAX_WIDTH]


def _in_code(inquiry: FinderInput, label: str, hits: Sequence[Hit]) -> Iterator[Fact]:
    own = [hit for hit in hits if has_text(hit, label)]
    places = _places(inquiry, own)
    for hit in places:
        only = (
            say("one of {count} strings of the project's own code", count=len(own))
            if len(places) > 1
            else say("and in no other string of the project's own code")
        )
        says = say("The text “{text}” is in `{place}`, {only}.", text=label, place=hit.place, only=only)
        yield hit.fact_of_few("quoted_here", says, label, len(own), one=len(places) == 1)


def _places(inquiry: FinderInput, hits: Sequence[Hit], most: int = FEW_PLACES) -> list[Hit]:
    """Return the only place that has the hits, or each of a few places."""
    places = inquiry.code.few(hits)
    is_one = len(places) == 1 and len(hits) <= FEW
    return places if is_one or 1 < len(places) == len(hits) <= most else []


def _by_key(inquiry: FinderInput, label: str, hits: Iterable[Hit]) -> Iterator[Fact]:
    """Yield the uses of the key that a file of texts gives a label."""
    for key, file in islice(keys_of(inquiry.witness, label, hits).items(), FEW):
        used = uses_of(inquiry.witness, key)
        places = _places(inquiry, used, FEW_USES)
        for hit in places:
            says = _says(label, key, file, used)
            yield hit.fact_of_few("quoted_here", says, label, len(used), one=len(places) == 1)


def _says(label: str, key: str, file: str, used: Sequence[Hit]) -> str:
    only = (
        say("this is one of {count} lines of the project's own code that use it", count=len(used))
        if len(used) > 1
        else say("only this line of the project's own code uses it")
    )
    return say("The text “{text}” is `{key}` in `{path}`; {only}.", text=label, key=key, path=file, only=only)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the string, or the key and its use, are where the fact says, and on how many lines they are."""
    label = fact.words or ""
    hits = _hits(witness, _forms([label]))
    keyed = re.search(r" is `([^`]+)` in `([^`]+)`; ", fact.says)
    held = [hit for hit in hits if has_text(hit, label)]
    if keyed is not None:
        is_key = any(hit.path == keyed[2] and key_of(witness, hit, label) == keyed[1] for hit in hits)
        held = uses_of(witness, keyed[1]) if is_key else []
    return fault_of_few(fact, held, "the line does not have it")
