"""``quoted_here`` for Chinese and Japanese: the comment or the text of code that consists of words of the title."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.places.keys import FILE_OF_TEXTS, key_of, uses_of
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness, fault_of_few, is_own
from nodes.search.lazy import lazy
from nodes.search.sentences import say

LEAST, LEAST_OF_PROSE = 4, 6
"""Minimum number of characters, without those of grammar, that a text shares with the title, and with a line."""
SAYS = lazy(r"The \w+ has the words of “([^”]{1,400})”, which is (?:`([^`]{1,400})` in `[^`]{1,400}`; this line )?")
MAX_PAIRS, MAX_LINES, MAX_WIDTH, MAX_TEXTS, FEW = 40, 4, 400, 12, 2
"""Maximum number of pairs of characters, of lines, of characters of one, of texts of code whose lines are counted, the
longest first, and of lines that use a text by its key."""
_KANA = "\u3041-\u309f"
_SOLID = "々\u30a0-\u30ff\u3400-\u9fff"
_TEXT = lazy(rf"[{_KANA}{_SOLID}]{{{LEAST},40}}")
_PAIR = lazy(rf"(?=([{_SOLID}]{{2}}))")
_GRAMMAR = lazy(f"[{_KANA}的了是个個地得与與和]")
"""What may be left over: the endings of Japanese words, and the particles of both languages."""
_IS_SOLID, _HAS_KANA = lazy(f"[{_SOLID}]"), lazy(f"[{_KANA}]")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the only line of own code with the longest text that consists of words of the title, or else of a line."""
    title = inquiry.issue.title
    stated = [fact for fact in inquiry.found if fact.strong or fact.several]
    of_title = (fact.kind == "quoted_here" and (fact.words or " ") in title for fact in stated)
    # A fact on the first file says more, and so does one about a text that the title repeats verbatim.
    if any(of_title) or any(fact.path in inquiry.first[:1] for fact in stated):
        return
    lines = [title, *(inquiry.issue.prose if not stated else ())]
    every = (_of_line(inquiry, line) for line in lines if _PAIR.search(line))
    yield from islice(chain.from_iterable(islice(every, MAX_LINES)), 1)


def _of_line(inquiry: FinderInput, title: str) -> Iterator[Fact]:
    pairs, is_title = list(islice(dict.fromkeys(_PAIR.findall(title)), MAX_PAIRS)), title == inquiry.issue.title
    hits = _own(inquiry.witness.grep_any(pairs, words=False))
    texts = {text: pieces for hit in hits for text in _TEXT.findall(hit.text) if (pieces := pieces_of(text, title))}
    long = [text for text in texts if is_title or len(_GRAMMAR.sub("", text)) >= LEAST_OF_PROSE]
    for text in sorted(long, key=lambda text: (-len(_GRAMMAR.sub("", text)), text))[:MAX_TEXTS]:
        held = _having(hits, text, title)
        key, used = _uses(inquiry.witness, held[0], text) if len(held) == 1 else ("", [])
        for hit in inquiry.code.few(used[:1] or held) if len(held) == 1 else ():
            where = (
                say("`{key}` in `{path}`; this line uses it", key=key, path=held[0].path)
                if used
                else say("in `{place}`", place=hit.place)
            )
            values = {"text": text, "where": where}
            says = say("The report has the words of “{text}”, which is {where}.", **values)
            says = say("The title has the words of “{text}”, which is {where}.", **values) if is_title else says
            yield hit.fact_of_few("quoted_here", says, max(texts[text], key=len), 1)
            return


def _uses(witness: Witness, hit: Hit, text: str) -> tuple[str, list[Hit]]:
    """Return the key of a text in a file of texts, and the few lines that use it."""
    key = key_of(witness, hit, text) if FILE_OF_TEXTS.search(hit.path) else None
    used = uses_of(witness, key) if key else []
    return key or "", used if len(used) <= FEW else []


def _having(hits: Iterable[Hit], text: str, title: str) -> list[Hit]:
    """Return the lines with a text, or, if it has one word of a title only, all lines with this word."""
    word, *others = pieces_of(text, title)
    return [hit for hit in hits if (text in _TEXT.findall(hit.text) if others else word in hit.text)]


def _own(hits: Iterable[Hit]) -> list[Hit]:
    return [hit for hit in hits if is_own(hit.path) and len(hit.text) <= MAX_WIDTH]


def pieces_of(text: str, title: str) -> list[str]:
    """Return the words of a title that a text consists of, besides endings, or none; in Japanese, one is long."""
    content = _GRAMMAR.sub("", text)
    # A word twice in a row, as in a pattern, is not a text.
    if len(content) < LEAST or 2 * len(set(content)) <= len(content) or not set(content) <= set(title):
        return []
    pieces, at = list[str](), 0
    while at < len(text):
        end = max((end for end in range(at + 2, len(text) + 1) if _is_word(text[at:end], title)), default=0)
        if end:
            pieces.append(text[at:end])
        elif not _GRAMMAR.match(text[at]):
            return []
        at = end or at + 1
    return pieces if not _HAS_KANA.search(title) or max(map(len, pieces)) >= LEAST else []


def _is_word(piece: str, title: str) -> bool:
    """Return whether a title contains a piece; in Japanese, not only as part of a longer word."""
    at = title.find(piece)
    while at >= 0 and _HAS_KANA.search(title):
        end = at + len(piece)
        cut = (_IS_SOLID.match(piece[0]) and _IS_SOLID.match(title[at - 1 : at])) or (
            _IS_SOLID.match(piece[-1]) and _IS_SOLID.match(title[end : end + 1])
        )
        if not cut:
            break
        at = title.find(piece, at + 1)
    return at >= 0


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the text consists of words of the title, and that no other line of own code has it."""
    found = SAYS.match(fact.says)
    title, *lines = witness.issue_text.split("\n")
    every = lines if fact.says.startswith("The report") else [title]
    title = next((line for line in every if found and pieces_of(found[1], line)), "")
    if found is None or not title:
        return "the title does not have the words"
    held = _own(witness.grep_any(pieces_of(found[1], title)[:1], words=False))
    having = _having(held, found[1], title)
    if found[2] and len(having) == 1:
        key, used = _uses(witness, having[0], found[1])
        having = [hit for hit in used if key == found[2] and (hit.path, hit.line) == (fact.path, fact.line)]
    return fault_of_few(fact, having, "the line does not have or use the text")
