"""Rules for rare kinds, which have no training data: spam and docs only if certain, security even if uncertain."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Literal

from nodes.issue.kinds.model import OPENING, Field, KindParts, load_model
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections

READ = 4_000
"""Characters of prose that are searched."""
_HERE = Path(__file__).parent
DISCLOSURES = _HERE / "disclosures.json"
_CUES = ("outsider", "others", "guarded", "machine", "unchecked", "works", "fails", "wishes")
"""Sections of the text file whose words, and pairs of whose words, are terms of the model of disclosures."""
_STEM = 5
"""Letters of a word that count, so that its forms are one term."""
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""The scripts of Chinese, Japanese and Korean, of which pairs of characters are terms."""
_IS_UNSPACED = lazy(f"[{_UNSPACED}]")
_TOKEN = lazy(rf"[{_UNSPACED}]+|[^\W\d_{_UNSPACED}]+(?:'[a-z]+)?|\d+|\.\./|&&|[$;<{{`'=*]")
READ_FOR_ACCESS = 600
"""Characters of prose whose first sentences are read."""
USUAL_LENGTH = 150
"""Characters of an opening as in the training data; the required score rises by 1 for each further such length."""
SURE_IN_A_SENTENCE = 2.5
"""The minimum score of the title and one sentence alone, which a long opening may bury."""
SURE_BESIDE_ERROR, SURE_BESIDE_TRACE = 1.0, 4.0
"""The minimum scores of a disclosure whose opening names an exception or a crash, or with the trace of an error."""
_SENTENCE_END = lazy(r"[.!?]\s|\n\s*\n|[\u3002\uff01\uff1f]")
_ASKS_HOW = lazy(r"\W{0,3}(?:how|where|what|which|is there|can i|should i|do i|does anyone|best way)\b")
RareKind = Literal["docs", "spam", "security"]
SURE = 0.8
"""The confidence of a rule. This is an estimate: no labelled issues were available to measure it."""
_PHONE = lazy(r"(\+|\b1[-. (]{1,2})\d{1,3}[-. ()]{1,3}\d{3}|(?<!\d)1[3-9]\d{9}(?!\d)")
"""A telephone number: usual in an advertisement, and rare in a report that names nothing that fails."""

_WORDINGS = {name: row for file in ("security.txt", "rare.txt") for name, row in load_sections(_HERE / file).items()}
_SECTIONS = {name: lazy("|".join(lines)) for name, lines in _WORDINGS.items()}
WEAKNESS, _HARMLESS = _SECTIONS["weakness"], _SECTIONS["harmless"]
_ATTACK, _DOES_HARM, _HAS_TRACE = (_SECTIONS[name] for name in ("attack", "does_harm", "printed_trace"))
_DOCS, _TYPO, _PAGE, _BREAKS = (_SECTIONS[name] for name in ("docs", "typo", "page", "breaks"))
_ERROR_NAME = lazy(_SECTIONS["error name"].pattern, re.IGNORECASE)
_ADVERTS = tuple(map(lazy, _WORDINGS["advert"]))


@lru_cache(maxsize=4)  # each stage of a run asks
def may_be_security(parts: KindParts) -> bool:
    """Return whether the title names a vulnerability, or the body describes one together with an attack."""
    title, prose, whole = parts.title, parts.prose[:READ], parts.whole[:READ]
    # A crash whose frames the report itself prints: its place is public, and its name alone indicates no attack.
    is_printed = bool(_SECTIONS["printed_crash"].search(parts.whole))
    if is_printed:
        title, prose, whole = (_SECTIONS["memory"].sub(" memoryerror ", text) for text in (title, prose, whole))
    title, prose = _HARMLESS.sub(" ", title), _HARMLESS.sub(" ", prose)
    if _DOES_HARM.search(prose) or _DOES_HARM.search(whole) or (is_printed and WEAKNESS.search(prose)):
        return True
    if WEAKNESS.search(title):
        return not (_ASKS_HOW.match(title) and title.rstrip().endswith("?"))
    return _is_described(prose) or _tells_access(title, prose, has_trace=bool(_HAS_TRACE.search(whole)))


def rare_kind(parts: KindParts) -> RareKind | None:
    """Return the kind that a rule decides, or None."""
    if may_be_security(parts):
        return "security"
    if _is_advert(parts):
        return "spam"
    title = parts.title
    # Something that crashes, fails or is built is not documentation.
    is_docs = _DOCS.search(title) or (_TYPO.search(title) and _PAGE.search(f"{title} {parts.prose}"))
    return "docs" if is_docs and not _BREAKS.search(title) else None


def opening_of(title: str, prose: str) -> str:
    """Return the title and the first sentences of the prose."""
    return f"{title}. {' '.join(_SENTENCE_END.split(prose[:READ_FOR_ACCESS])[:3])} "


def disclosure_terms(opening: str) -> dict[Field, frozenset[str]]:
    """Return the terms of the model of disclosures: stems, pairs of them, and the kinds of words and their pairs."""
    words = [word for token in _TOKEN.findall(opening) for word in _stems(token)]
    cues = [name for name in _CUES if _SECTIONS[name].search(opening)]
    return {
        "whole": frozenset((*words, *map(" ".join, pairwise(words)))),
        "cues": frozenset((*cues, *map(" ".join, combinations(cues, 2)))),
    }


def _stems(token: str) -> Sequence[str]:
    if token[0].isdecimal():
        return ("0",)
    if _IS_UNSPACED.match(token):
        return [token[at : at + 2] for at in range(max(1, len(token) - 1))]
    # A single letter, such as "in" in Russian, is in every report of its language.
    return () if len(token) == 1 and not token.isascii() else (token[:_STEM],)


def _tells_access(title: str, prose: str, *, has_trace: bool) -> bool:
    """Return whether the title and the first sentences say in plain words who reaches what without a right."""
    model, opening = load_model(DISCLOSURES, ("disclosure",)), opening_of(title, prose)
    least = SURE_BESIDE_TRACE if has_trace else SURE_BESIDE_ERROR if _ERROR_NAME.search(opening) else 0.0
    if model.scores(disclosure_terms(opening))[0] > max(least, len(opening) / USUAL_LENGTH - 1):
        return True
    sentences = _SENTENCE_END.split(prose[:READ_FOR_ACCESS])[:3]
    alone = (disclosure_terms(opening_of(title, sentence)) for sentence in sentences)
    return any(model.scores(terms)[0] > least + SURE_IN_A_SENTENCE for terms in alone)


def _is_described(prose: str) -> bool:
    """Return whether the opening names a vulnerability and the text an attack, or the text names two of them."""
    if len({found[0] for found in WEAKNESS.finditer(prose)}) > 1:
        return True
    begins = WEAKNESS.search(prose[:OPENING])
    # The name of the weakness is removed first, because it may contain a word for an attack.
    return bool(begins and (_ATTACK.search(prose.replace(begins[0], " ")) or not begins[0].isascii()))


def _is_advert(parts: KindParts) -> bool:
    """Return whether a text has two kinds of advertising words and no code; a real report would contain code."""
    if parts.code or "`" in parts.whole:
        return False
    text = f"{parts.title}\n{parts.prose}"
    has_number = bool(_PHONE.search(text)) and not _SECTIONS["fails"].search(text)
    return has_number + sum(bool(pattern.search(text)) for pattern in _ADVERTS) >= 2
