"""Check and update the catalogues of the languages.

``python docs/catalogues.py`` adds the new sentences of the sources, without a translation, and removes those that no
source has. ``--check`` fails if a catalogue is wrong, and counts the sentences without a translation, which are posted
in English. ``--missing`` lists them, and fails if there are any: a release is fully translated.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from bot.report.languages.codes import ENGLISH, LANGUAGES

ROOT = Path(__file__).parents[1]
FOLDERS = ("bot", "nodes")
KEYWORDS = {"say": None}
"""The function whose first argument is a sentence."""
TRANSLATED = tuple(language for language in LANGUAGES if language != ENGLISH)


def catalogue_file(language: str) -> Path:
    """Return the path of a language's catalogue."""
    return ROOT / "bot" / "report" / "languages" / f"{language}.po"


@cache
def sentences() -> tuple[str, ...]:
    """Return the English sentences of the sources, each once, in alphabetical order."""
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    # Without this condition it takes five times as long.
    saying = (path for path in files if "say(" in path.read_text("utf-8"))
    every = (text for path in saying for _, text, *_ in extract_from_file("python", path, keywords=KEYWORDS))
    return tuple(sorted({text for text in every if isinstance(text, str) and text}))


def read(text: str) -> Catalog:
    """Parse the text of a catalogue."""
    return read_po(BytesIO(text.encode()))


def written(language: str, texts: Iterable[str], known: Catalog) -> str:
    """Return the text of a catalogue that has these sentences, with their known translations."""
    catalogue = Catalog(locale=language, fuzzy=False)
    for text in texts:
        catalogue.add(text, translation(known, text))
        catalogue[text].flags.clear()
    file = BytesIO()
    write_po(file, catalogue, width=0, no_location=True, omit_header=True)
    # Without a line between two sentences, a reader sees twice as many.
    entries = file.getvalue().decode().replace("\n\n", "\n")
    return f'msgid ""\nmsgstr "Language: {language}\\nContent-Type: text/plain; charset=utf-8\\n"\n{entries}'


def translation(known: Catalog, text: str) -> str:
    """Return the translation of a sentence; empty if it has none."""
    message = known.get(text)
    return str(message.string) if message else ""


def faults(language: str, text: str) -> Iterator[str]:
    """Yield what is wrong with the text of a catalogue. A sentence without a translation is no fault."""
    known = read(text)
    for message in (*known, *known.obsolete.values()):
        english, theirs = str(message.id), str(message.string)
        if english and english not in sentences():
            yield f"no source has {english!r}"
        elif english and message.fuzzy:
            yield f"the translation of {english!r} is marked as fuzzy"
        elif theirs and _placeholders(theirs) != _placeholders(english):
            yield f"the translation of {english!r} has other placeholders"
    if text != written(language, (one for one in sentences() if one in known), known):
        yield "its entries are not as python docs/catalogues.py writes them"


def missing(text: str) -> list[str]:
    """Return the sentences of the sources that the text of a catalogue does not translate."""
    known = read(text)
    return [one for one in sentences() if not translation(known, one)]


def _placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"{\w*}", text))


def main() -> None:
    """Update or check each catalogue, or list what it lacks.

    Raises:
        SystemExit: with ``--check``, one is wrong; with ``--missing``, a sentence has no translation.
    """
    wrong = list[str]()
    for language in TRANSLATED:
        file = catalogue_file(language)
        text = file.read_text("utf-8")
        lacks = missing(text)
        if "--missing" in sys.argv:
            wrong += [f"{file.name} lacks {one!r}" for one in lacks]
            continue
        if "--check" in sys.argv:
            wrong += [f"{file.name}: {fault}" for fault in faults(language, text)]
        else:
            file.write_text(written(language, sentences(), read(text)), encoding="utf-8")
        if lacks:
            print(f"{file.name} lacks {len(lacks)} of {len(sentences())} translations: posted in English")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
