"""``pasted_here``: code in the report that also exists in the repository."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from nodes.search.facts.code import Code, is_test, outside_docstrings
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.levels import LONG_LINE
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.issue.query import COMPOUND
from nodes.search.sentences import say
from nodes.search.tokens import WORD, term_hash, terms_of

MAX_LINES, MAX_GREPPED = 80, 4
"""Maximum numbers of pasted lines that are looked up, and of lines of common words, in all own code."""
MAX_PLACES = 8
"""Maximum number of chunks that may contain one line, a more frequent one is an idiom, and of facts of one issue."""
# One of the conditions that exclude idioms, such as the lines that create a figure.
ENOUGH, LEAST_LETTERS = 16, 6
"""Minimum numbers of characters of a line without white space, and of its letters and digits; drawings have none."""
_SPACE = re.compile(r"\s+")
_SKIP = re.compile(
    r"\s*(?:>>>|\.\.\. |In \[|Out\[|\$ |import\b|from\s+\S+\s+import|#include|using |use |package |<[?!]|//|#|/?\*|--|"
    r"at |\d+[ |:]|File \"|[{}()\[\];,]*$)"
)
_TEXT = re.compile(
    r"(?!(?:return|raise|yield|throw|await|else|elif|case|when|with|let|var|const|new|delete)\b)[\w ,.!?'-]+$"
)
"""Words alone, such as a program prints."""
_CODE = re.compile(r"[(){}\[\]=;]")
"""A character that a line of code pasted without mark-up has, and most prose has not."""
# Notebooks print traces with line numbers; as pasted code such lines led to wrong places: 63 % were right with them,
# 14 of 14 without.
_NUMBERED = re.compile(r"\s{0,99}(?:-{1,9}>)?\s{0,99}\d{1,6}[ |:]")
_DIFF = re.compile(r"^(?:diff --git|index [0-9a-f]+\.\.|@@ |--- |\+\+\+ )")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield one fact for each function that contains pasted lines."""
    code = inquiry.code
    prose = "\n".join(line for line in inquiry.issue.prose if _CODE.search(line))
    lines = pasted_lines((*inquiry.issue.pasted, prose))[:MAX_LINES]
    places = _places(code, lines, inquiry.witness)
    by_function: dict[tuple[int, int | None], list[tuple[int, str]]] = defaultdict(list)
    unique: dict[tuple[int, int | None], bool] = defaultdict(bool)
    for text, found in places.items():
        keys = {(number, code.index.definition_at(number, line)): line for number, line in reversed(found)}
        for key, line in keys.items():
            by_function[key].append((line, text))
            unique[key] |= len(keys) == 1
    found_once = [key for key, once in unique.items() if once]  # lines that all occur elsewhere too identify none
    for key in sorted(found_once, key=lambda key: (-len(by_function[key]), key[0], by_function[key][0]))[:MAX_PLACES]:
        yield from _fact(inquiry, key[0], by_function[key])


def pasted_lines(blocks: Sequence[str]) -> list[str]:
    """Return the lines of code blocks that are worth looking up, without diff markers."""
    found: dict[str, None] = {}
    for block in blocks:
        rows = block.split("\n")
        diff = any(_DIFF.match(row) for row in rows)
        for row in rows:
            # The added lines of a pasted diff are a proposal, which the commit does not contain.
            if diff and (row.startswith("+") or _DIFF.match(row)):
                continue
            text = (row[1:] if diff and row.startswith("-") else row).strip()
            if (
                len(_SPACE.sub("", text)) >= ENOUGH
                and len(text) < 400
                and sum(map(str.isalnum, text)) >= LEAST_LETTERS
                and not _TEXT.match(text)
                and not _SKIP.match(text)
                and not _NUMBERED.match(text)
            ):
                found[text] = None
    return list(found)


def _places(code: Code, lines: Sequence[str], witness: Witness) -> dict[str, list[tuple[int, int]]]:
    """Return (file, line) of the occurrences of each pasted line that occurs in few places."""
    terms = {text: {term_hash(term) for word in WORD.findall(text) for term in terms_of(word)} for text in lines}
    # A line with a single term would be in too many chunks.
    near = code.chunks_with({text: values for text, values in terms.items() if len(values) >= 2})
    few = {text: found for text, found in near.items() if 0 < len(found) <= MAX_PLACES}
    code.read(int(code.index.chunk_file[item]) for found in few.values() for item in found)
    places = {text: _lines(code, text, found) for text, found in few.items()}
    # All terms of a line may be common although the line is in one place only.
    common = [text for text, found in near.items() if len(found) > MAX_PLACES][:MAX_GREPPED]
    places |= {text: _grepped(code, text, witness) for text in common}
    return {text: found for text, found in places.items() if found}


def _grepped(code: Code, text: str, witness: Witness) -> list[tuple[int, int]]:
    """Return (file, line) of a line in own code as plain git reads it, or nothing if many files have it."""
    found = ((code.number(hit.path), hit) for hit in witness.grep(text, own=True))
    held = [(number, hit) for number, hit in found if number is not None and code.own[number]]
    if len({number for number, _ in held}) > MAX_PLACES:
        return []
    same = [(number, hit.line) for number, hit in held if _SPACE.sub("", hit.text) == _SPACE.sub("", text)]
    return [(number, line) for number, line in same if outside_docstrings(code.lines(number), [line])]


def _lines(code: Code, text: str, chunks: Sequence[int]) -> list[tuple[int, int]]:
    wanted, found = _SPACE.sub("", text), list[tuple[int, int]]()
    for chunk in chunks:
        number, start = int(code.index.chunk_file[chunk]), int(code.index.chunk_start[chunk])
        lines, end = code.lines(number), int(code.index.chunk_end[chunk])
        same = (line for line, here in enumerate(lines[start - 1 : end], start) if _SPACE.sub("", here) == wanted)
        # Documentation has examples of the public API, which reports have as well.
        found += [(number, line) for line in outside_docstrings(lines, same)]
    return found


def _fact(inquiry: FinderInput, number: int, places: list[tuple[int, str]]) -> Iterator[Fact]:
    code = inquiry.code
    places = sorted(set(places))
    line, words = places[0]
    hit, several = code.hit(number, line), len(places) >= 2
    if hit is None or is_test(hit.symbol) or not inquiry.issue.holds(words):
        return
    # A decorator is of the public API; a line that documents, templates or tests have too is the reporter's own use.
    same, others = hit.text.strip(), (f":(exclude,literal){hit.path}",)
    copies = () if several else inquiry.witness.hits([same], "-F", most=MAX_PLACES, paths=others)
    if not several and (words.startswith("@") or any(copy.text.strip() == same for copy in copies)):
        return
    if not several and len(same) < LONG_LINE and "(" not in same and not COMPOUND.search(same):
        return  # "return predictions" is anyone's code
    where = f"`{hit.symbol}`" if hit.symbol else say("this file")
    if several:
        says = say("{count} lines of the report's code are in {place}.", count=len(places), place=where)
    else:
        says = say("A line of the report's code is in {place} and nowhere else.", place=where)
    # One line alone may be pasted from a copy elsewhere; on the search's first file both agree. On the next four, 5 of
    # 8 such files were in the fix: they are stated, and no claim rests on them.
    withheld = not several and hit.path not in inquiry.first[:1]
    yield hit.fact("pasted_here", says, words, count=len(places), strong=True, unclaimed=withheld)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line equals the pasted one apart from white space."""
    # ``kinds.fault_of`` compared the text with git before this check, so nothing is read again.
    del witness
    same = _SPACE.sub("", fact.text or "") == _SPACE.sub("", fact.words or "")
    return None if same and fact.words else "the line differs from the pasted one"
