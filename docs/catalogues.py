"""Update the catalogues of the languages: find the sentences of the sources, and list those without a translation.

``python docs/catalogues.py`` adds new sentences, with an empty translation, and removes those that no source has;
``--check`` only reports what it would change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from bot.report.languages.codes import ENGLISH, LANGUAGES

ROOT = Path(__file__).parents[1]
FOLDERS = ("bot", "nodes")
KEYWORDS = {"say": None}
"""The function whose first argument is a sentence."""


def catalogue_file(language: str) -> Path:
    """Return the path of a language's catalogue."""
    return ROOT / "bot" / "report" / "languages" / f"{language}.po"


def sentences() -> Iterator[str]:
    """Yield the English sentences of the sources, each once, in alphabetical order."""
    folders = (ROOT / folder for folder in FOLDERS)
    every = (text for folder in folders for _, _, text, *_ in extract_from_dir(folder, keywords=KEYWORDS))
    yield from sorted({text for text in every if isinstance(text, str) and text})


def updated(language: str) -> str:
    """Return the text of a catalogue with the sentences of the sources; what is the same in both stays."""
    with catalogue_file(language).open("rb") as file:
        known = {message.id: message.string for message in read_po(file)}
    catalogue = Catalog(locale=language, fuzzy=False)
    for text in sentences():
        catalogue.add(text, known.get(text, ""))
        catalogue[text].flags.clear()
    written = BytesIO()
    write_po(written, catalogue, width=0, no_location=True, omit_header=True)
    # Without a line between two sentences, a reader sees twice as many.
    entries = written.getvalue().decode().replace("\n\n", "\n")
    return f'msgid ""\nmsgstr "Language: {language}\\nContent-Type: text/plain; charset=utf-8\\n"\n{entries}'


def main() -> None:
    """Update or check each catalogue.

    Raises:
        SystemExit: with ``--check``, one is not up to date; else, a sentence has no translation.
    """
    faults = list[str]()
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        text, file = updated(language), catalogue_file(language)
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif text != file.read_text("utf-8"):
            faults.append(f"{file.name} is not up to date: run python docs/catalogues.py")
        missing = text.count('msgstr ""\n')
        faults += [f"{file.name} lacks {missing} translations: posted in English"] if missing else []
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
