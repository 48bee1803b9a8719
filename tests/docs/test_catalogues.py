"""Which catalogues are wrong, and which only lack a translation."""

from __future__ import annotations

import pytest

from docs.catalogues import catalogue_file, faults, missing, read, sentences, written

GERMAN = catalogue_file("de").read_text("utf-8")
FILE = 'msgid "this file"\nmsgstr "diese Datei"\n'
PLACE = 'msgid " of `{place}`"\nmsgstr " von `{place}`"\n'


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        pytest.param(PLACE, PLACE.replace("von `{place}", "von `{plaec}"), "has other placeholders", id="placeholder"),
        pytest.param(PLACE, PLACE.replace("von `{place}`", "davon"), "has other placeholders", id="without-its-value"),
        pytest.param(
            FILE, f'{FILE}msgid "this flie"\nmsgstr "diese Datei"\n', "no source has 'this flie'", id="unknown"
        ),
        pytest.param(
            FILE, f'{FILE}#~ msgid "that file"\n#~ msgstr "jene"\n', "no source has 'that file'", id="obsolete"
        ),
        pytest.param(FILE, f"#, fuzzy\n{FILE}", "'this file' is marked as fuzzy", id="fuzzy"),
        pytest.param(FILE, f"{FILE}{FILE}", "not as python docs/catalogues.py writes them", id="twice"),
        pytest.param(FILE, f"{FILE}\n", "not as python docs/catalogues.py writes them", id="another-form"),
    ],
)
def test_a_wrong_catalogue(before: str, after: str, fault: str):
    assert GERMAN.count(before) == 1
    assert fault in "\n".join(faults("de", GERMAN.replace(before, after)))


@pytest.mark.parametrize("entry", ["", 'msgid "this file"\nmsgstr ""\n'], ids=["not-added", "not-translated"])
def test_a_missing_translation_is_counted_and_no_fault(entry: str):
    lacking = GERMAN.replace(FILE, entry)
    assert list(faults("de", lacking)) == []
    assert set(missing(lacking)) - set(missing(GERMAN)) == {"this file"}
    assert 'msgid "this file"\nmsgstr ""\n' in written("de", sentences(), read(lacking))
