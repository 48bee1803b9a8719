"""Recognise the language in which an issue is written, from its prose only."""

import re
from collections import Counter
from pathlib import Path

from bot.report.languages.codes import LANGUAGES
from nodes.search.issue.normal.evidence import outside_fences
from nodes.search.tokens import load_words

MAX_CHARACTERS = 8_000
"""Characters of an issue that are read."""
ENOUGH = 4
"""Minimum number of different common words of a language, and of occurrences, that identify it."""
CLEAR = 2
"""How many times as many common words a language must have as the next one."""
_LEAST_CHARACTERS = 10
_NOT_PROSE = re.compile(
    r"<!--.{0,4000}?-->|`[^`\n]{1,400}`"
    r"|https?://\S{1,900}|<[^<>\n]{1,400}>|^[ \t]{0,3}(?:>|#{1,6}\s|\*\*)[^\n]*|^(?: {4}|\t)[^\n]*",
    re.DOTALL | re.MULTILINE,
)
"""Comments, code, addresses, mark-up, quoted lines, and the headings that an issue form writes in its own language."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_KANA = re.compile(r"[\u3041-\u30fa]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_TRADITIONAL = re.compile("[這個們來時沒說為後會過對開關問題嗎錯誤請網頁檔執]")
_SIMPLIFIED = re.compile("[这个们来时没说为后会过对开关问题吗错误请网页档执]")
_WORDS = load_words(Path(__file__).with_name("common.txt"))
"""Frequent words of each language."""


def language_of(title: str, body: str) -> str | None:
    """Return the language of an issue's prose; None if it is too short, unclear, or one without a catalogue."""
    outside = "\n".join(outside_fences(body[:MAX_CHARACTERS]))
    prose = _NOT_PROSE.sub(" ", f"{title[:300]}\n{outside}")
    words = [word.casefold() for word in _WORD.findall(prose)]
    return _by_script(prose, words) if _HAN.search(prose) or _KANA.search(prose) else _by_words(words)


def _by_script(prose: str, words: list[str]) -> str | None:
    """Return Chinese or Japanese, if as much is written in it as in Latin letters."""
    kana, han = len(_KANA.findall(prose)), len(_HAN.findall(prose))
    latin = sum(word.isascii() for word in words)
    # A word of either language has about two characters.
    if kana + han < max(_LEAST_CHARACTERS, 2 * latin) or len(_HANGUL.findall(prose)) > han + kana:
        return _by_words(words)
    if kana * 5 >= han:
        return "ja"
    return "zh" if len(_SIMPLIFIED.findall(prose)) >= len(_TRADITIONAL.findall(prose)) else None


def _by_words(words: list[str]) -> str | None:
    seen = Counter(words)
    found = {language: [word for word in common if seen[word]] for language, common in _WORDS.items()}
    counts = {language: sum(seen[word] for word in common) for language, common in found.items()}
    best, second = sorted(counts, key=lambda language: (-counts[language], language))[:2]
    if min(len(found[best]), counts[best]) < ENOUGH or counts[best] < len(words) / 10:
        return None
    return best if best in LANGUAGES and counts[best] >= CLEAR * counts[second] else None
