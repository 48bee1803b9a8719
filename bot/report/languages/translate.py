"""Translate a comment: known sentences are read back into their facts and written in another language.

A line is translated only if reading the translation gives the same English line again, so no fact can change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from bot.report.languages.catalogue import CODE, ENGLISH, LANGUAGES, LINK, QUOTE, Catalogue, Sentence, catalogue

LONGEST = 1_500
"""Maximum characters of a line that is translated, because the time of matching grows with the length."""
_DEEPEST = 4
_FENCE = re.compile(r"\s{0,9}(?:>\s?)?(`{3,})")
_PREFIX = re.compile(
    r"(?:> ?)?\s{0,9}(?:[-*] |\d{1,3}\. )?(?:\[[ x]\] )?(?:\*\*Q\d{1,3}\*\*:? )?(?:\*\*@[A-Za-z0-9-]{1,39}\*\* — )?"
)
"""Mark-up at the beginning of a line: a quote, a list item, a check box, the number of a question, a mention."""
_WRAPPED = (
    re.compile(r"(\*\*)([^*\n]+)(\*\*)"),
    re.compile(r"(\*)([^*\n]+)(\*)"),
    re.compile(r"(<sub>)([^\n]+)(</sub>)"),
)
_WITH_PLACE = re.compile(rf"([^\n]+?)( (?:{LINK}|{CODE} L\d+|L\d+))")
_GUARDED = f"{CODE}|{LINK}|{QUOTE}"
_PIECES = re.compile(rf"{_GUARDED}|(; )")
_SENTENCES = re.compile(rf"{_GUARDED}|((?<=[.?!]) )")
_ENDS = ("\u3002", "\uff1f", "\uff01")
"""The full stop, question mark and exclamation mark of Chinese and Japanese, which no space follows."""
_UNSPACED = re.compile(rf"{_GUARDED}|((?<=[.?!]) |(?<=[{''.join(_ENDS)}]))")


def translate(markdown: str, language: str) -> str:
    """Return a comment or a part of it in a language; folded sections and unknown lines stay as they are.

    Args:
        markdown: sanitised Markdown with English sentences.
        language: a code such as ``de``; a language without a catalogue leaves the text as it is.
    """
    language = known_language(language)
    if language == ENGLISH or not markdown:
        return markdown
    lines, fence, folded = list[str](), "", False
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if not fence:
            folded = (folded or line.startswith("<details>")) and line != "</details>"
        lines.append(line if mark or fence or folded else _checked(line, language))
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
    return "\n".join(lines)


def known_language(code: str) -> str:
    """Return the catalogue for a language code; English if there is none, or if its script differs."""
    language = code.partition("-")[0]
    return language if language in LANGUAGES and code not in ("zh-TW", "zh-HK", "zh-MO") else ENGLISH


def read_back(markdown: str, language: str) -> str:
    """Return the English text of a translated comment."""
    reader = _translator(known_language(language), ENGLISH)
    return "\n".join(reader.line(line) for line in markdown.split("\n"))


def _checked(line: str, language: str) -> str:
    if not line.strip() or len(line) > LONGEST:
        return line
    translated = _translator(ENGLISH, language).line(line)
    return translated if _translator(language, ENGLISH).line(translated) == line else line


@cache
def _translator(source: str, target: str) -> Translator:
    return Translator(catalogue(source), catalogue(target))


@dataclass(frozen=True)
class Translator:
    """Reads sentences of one catalogue and writes them in another."""

    source: Catalogue
    target: Catalogue

    def line(self, line: str) -> str:
        """Return a line of Markdown in the target language, or unchanged."""
        prefix = _PREFIX.match(line)
        start = prefix[0] if prefix else ""
        return start + (self._inline(line[len(start) :]) or line[len(start) :])

    def _inline(self, text: str, depth: int = 0) -> str | None:
        """Return a piece of a line in the target language; None if it is unknown."""
        if depth > _DEEPEST or not text.strip():
            return None
        for sentence, values in self.source.candidates(text):
            if sentence.key not in self.target.sentences:
                return None
            filled = self._filled(sentence, values, depth)
            if filled is not None:
                return filled
        return self._marked_up(text, depth) or self._joined(text, depth)

    def _filled(self, sentence: Sentence, values: dict[str, str], depth: int) -> str | None:
        translated = dict[str, str]()
        for name, value in values.items():
            kind = name.partition(".")[0]
            if kind == "place":
                translated[name] = self._place(sentence, name, value)
            elif kind == "part":
                translated[name] = self._inline(value, depth + 1) or value
            elif kind == "parts":
                translated[name] = self._split(value, _PIECES, "; ", depth) or value
            elif kind == "known":
                known = self._inline(value, depth + 1)
                if known is None:
                    return None
                translated[name] = known
            else:
                translated[name] = value
        return self.target.sentences[sentence.key].fill(translated)

    def _place(self, sentence: Sentence, name: str, value: str) -> str:
        """Return a path, or the target language's words for *this file*, with a capital if they begin its sentence."""
        if value.casefold() != sentence.this_file.casefold():
            return value
        target, words = self.target.sentences[sentence.key], self.target.sentences["words.this_file"].text
        return words[:1].upper() + words[1:] if target.pieces[0] == ("", name) else words

    def _marked_up(self, text: str, depth: int) -> str | None:
        for pattern in _WRAPPED:
            found = pattern.fullmatch(text)
            inside = self._inline(found[2], depth + 1) if found else None
            if found and inside:
                return f"{found[1]}{inside}{found[3]}"
        placed = _WITH_PLACE.fullmatch(text)
        sentence = self._inline(placed[1], depth + 1) if placed else None
        return f"{sentence}{placed[2]}" if placed and sentence else None

    def _joined(self, text: str, depth: int) -> str | None:
        return self._split(text, _SENTENCES if self.source.has_spaces else _UNSPACED, " ", depth)

    def _split(self, text: str, separator: re.Pattern[str], gap: str, depth: int) -> str | None:
        """Return the pieces of a text in the target language, joined by a gap; None if every piece is unknown."""
        pieces, at = list[str](), 0
        for found in separator.finditer(text):
            if found[1] is not None and at < found.start():
                pieces.append(text[at : found.start()])
                at = found.end()
        pieces += [text[at:]] if at < len(text) else []
        if len(pieces) < 2:
            return self._inline(text, depth + 1) if separator is _PIECES else None
        translated = [self._inline(piece, depth + 1) for piece in pieces]
        whole = gap.join(new or old for new, old in zip(translated, pieces, strict=True))
        for end in _ENDS if gap == " " and not self.target.has_spaces else ():
            whole = whole.replace(f"{end} ", end)
        return whole if any(translated) else None
