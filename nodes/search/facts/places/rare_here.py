"""``quoted_here`` for the title: the only file with a word of it, if the search ranks that file first."""

import re
from collections.abc import Iterator

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import outside_docstrings
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.read_here import IMPORT
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness, is_own
from nodes.search.issue.mentions.places import URL, is_path
from nodes.search.sentences import say
from nodes.search.tokens import LISTS, STOPWORDS, WORD

SHORTEST, MOST, MAX_WIDTH, MAX_LINES = 5, 4, 400, 100_000
"""Minimum length of a word, maximum number of files that may have it, and of characters and lines that are read."""
MIN_FILES = 20
"""Minimum number of own files: in a project of few files every word is in few of them."""
OF_REPORTS = LISTS["of reports"]
"""Words that say how a fault shows, or since when."""
SAYS = re.compile("The word “([^”]{1,80})” of the title is in ")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the first line with a word of the title that only this file has, if nothing else places the report."""
    code, first = inquiry.code, inquiry.first[0] if inquiry.first else ""
    if inquiry.is_placed or any(fact.chosen or fact.several for fact in inquiry.found):
        return
    # A part of a path only repeats the file that the title names.
    parts = (part for part in URL.sub(" ", inquiry.issue.title).split() if not is_path(part.strip("`'\"()[],:;")))
    words = [word for part in parts for word in WORD.findall(part) if len(word) >= SHORTEST and word.isalpha()]
    code.look_up(words)
    # The index costs no search of all text, and counts a word in several forms as one.
    near = (word for word in dict.fromkeys(words) if 0 < len(code.files_with(word)) <= MOST)
    near = (word for word in near if word.lower() not in STOPWORDS | OF_REPORTS)
    rare = (word for word in near if files_with(inquiry.witness, word) == [first])
    word = max(rare, key=len, default="") if code.own.sum() >= MIN_FILES else ""
    lines, number = lines_with(inquiry.witness, first, word) if word else [], code.number(first)
    if lines and number is not None and code.own[number] and (hit := code.hit(number, lines[0])):
        values = {"word": word, "place": hit.place}
        says = say(
            "The word “{word}” of the title is in `{place}`, and in no other file of the project's own code.", **values
        )
        yield hit.fact_of_few("quoted_here", says, word, 1)


def _forms(word: str) -> tuple[str, ...]:
    return word.lower(), word.capitalize(), word.upper()


def files_with(witness: Witness, word: str) -> list[str]:
    """Return the own source files that contain a word in lower case, capitals or as a part of a name."""
    if witness.own:
        forms = [form.encode() for form in _forms(word)]
        return sorted(path for path, text in witness.own if any(form in text for form in forms))
    return sorted({hit.path for hit in witness.hits(_forms(word), "-F", most=1) if is_own(hit.path)})


def lines_with(witness: Witness, path: str, word: str) -> list[int]:
    """Return the lines of code of a file that contain a word; comments, docstrings and imports do not count."""
    lines, forms = witness.lines(path, 1, MAX_LINES), _forms(word)
    near = (at for at, text in enumerate(lines, 1) if len(text) <= MAX_WIDTH and any(form in text for form in forms))
    found = ((at, lines[at - 1]) for at in outside_docstrings(lines, near))
    return [at for at, text in found if not (is_comment(text) or IMPORT.match(text))]


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line is the first with the word, and that as many own files have the word as stated."""
    word, path = fact.words or "-", fact.path or ""
    if lines_with(witness, path, word)[:1] != [fact.line]:
        return "the line is not the first with the word"
    return None if files_with(witness, word) == [path] else "another file has it as well"
