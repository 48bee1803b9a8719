"""``documented_here``: the page and heading about a name in a question, or the line of a page that a report quotes."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from nodes.search.facts.code import MAX_WIDTH, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.named import BUILT_IN, names
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.paths.roles import role_of
from nodes.search.sentences import say
from nodes.search.tokens import load_sections

MAX_FACTS = 2
FEW_PAGES = 6
"""Maximum number of pages that mention a name; more pages do not identify a place."""
_FORMS = load_sections(Path(__file__).with_name("documented_here.txt"))
_QUESTION, _PAGE, _STORY, _UNDERLINE, _ABOUT_PAGES, _QUOTED = (
    re.compile("".join(_FORMS[name])) for name in "question page story underline about_pages quoted".split()
)
_HEADING = re.compile(r"#{1,5} +\S|={1,5} +\S")
_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+){0,8}")
SEVERAL, MAX_RUNS = 4, 16
"""Number of words in a row that a quoted line shares with the report, and maximum number of such runs."""
MAX_QUOTED = 3
_PAGES = ("*.md", "*.mdx", "*.rst", "*.adoc", "*.txt", "*.markdown")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines of pages that the report quotes, and the headings of sections about a name of its question."""
    yield from _quoted(inquiry)
    if not _QUESTION.search(inquiry.issue.title):
        return
    found = 0
    index = inquiry.code.index
    for name in names(inquiry.issue)[:20]:
        files = inquiry.code.holding(name.last) if name.last not in BUILT_IN else []
        pages = [number for number in files if index.roles[number] == "docs" and is_page(index.paths[number])]
        # A name on many pages has no section of its own that answers a question.
        for number in pages if len(pages) <= FEW_PAGES else ():
            fact = _fact(inquiry, number, name.last)
            if fact and found < MAX_FACTS:
                found += 1
                yield fact
                # The next name, so that the few facts are not all about one name.
                break


def _quoted(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the line of a page that has most words of a quoted sentence in a row, whatever mark-up is between them."""
    issue, code = inquiry.issue, inquiry.code
    texts = (issue.title, *issue.prose) if _ABOUT_PAGES.search(f"{issue.title} {issue.folded[:2_000]}") else ()
    for words in [quoted for text in texts for quoted in _QUOTED.findall(text)][:MAX_QUOTED]:
        patterns = ["[^[:alnum:]]+".join(run) for run in _runs(words)] if issue.holds(words) else []
        hits = inquiry.witness.hits(patterns, "-i", "-E", most=5, paths=_PAGES)
        best = [hit for hit in hits if code.number(hit.path) is not None and _is_quoted(words, hit.text)]
        if len(best) == 1 and best[0].text.strip():
            says = say("The report quotes this line{of}.", of=say(" of `{place}`", place=best[0].path))
            yield best[0].fact("documented_here", says, words, count=1)


def _runs(words: str) -> list[tuple[str, ...]]:
    """Return the runs of consecutive words of a sentence."""
    found = [word.casefold() for word in _WORD.findall(words)]
    return [tuple(found[at : at + SEVERAL]) for at in range(len(found) - SEVERAL + 1)][:MAX_RUNS]


def _is_quoted(words: str, text: str) -> bool:
    """Return whether a text of several words has all runs of words of a line, or the line those of the text."""
    quoted, held = {*_runs(words)}, {*_runs(text[:MAX_WIDTH])}
    return words.count(" ") >= SEVERAL - 1 and bool(quoted and held) and (quoted <= held or held <= quoted)


def _fact(inquiry: FinderInput, number: int, name: str) -> Fact | None:
    code, pattern = inquiry.code, whole_word(name)
    lines = code.lines(number)
    for line, text in enumerate(lines, 1):
        if name in text and pattern.search(text):
            at = heading(lines, line)
            shown = code.text(number, at) if at else None
            # Below the title of a page alone, the name may be anywhere.
            if at is None or shown is None or not heading(lines, at - 1) or not inquiry.issue.holds(name):
                return None
            title, path = shown.strip("# ").strip(), code.path(number)
            says = say("`{name}` is documented in `{path}`, under “{title}”.", name=name, path=path, title=title)
            return Fact("documented_here", says, name, code.path(number), at, shown, count=1)
    return None


def heading(lines: Sequence[str], line: int) -> int | None:
    """Return the line of the nearest heading at or above a line."""
    return max((at for at in headings(lines) if at <= line), default=None)


def headings(lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines of a page that are headings, as Markdown, reStructuredText and AsciiDoc write them."""
    for number, text in enumerate(lines, 1):
        below = lines[number] if number < len(lines) else ""
        if _HEADING.match(text) or (text.strip() and _UNDERLINE.match(below) and not _UNDERLINE.match(text)):
            yield number


def is_page(path: str) -> bool:
    """Return whether a document explains the project, unlike a changelog or a list of authors."""
    return bool(_PAGE.search(path) and not _STORY.search(path))


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the page is documentation and has the name under that heading."""
    path = fact.path or ""
    if fact.says.startswith("The report quotes"):
        return None if _is_quoted(fact.words or "", fact.text or "") else "the line does not have the words"
    if role_of(path) != "docs":
        return "the file is not documentation"
    lines = witness.lines(path, 1, 1_000_000)
    pattern = whole_word(fact.words or "")
    held = [at for at, text in enumerate(lines, 1) if pattern.search(text)]
    return (
        None if any(heading(lines, at) == fact.line for at in held) else "the name is not in the section of the heading"
    )
