"""A text of a user interface that a report quotes leads to the string, or to the only use of its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.facts.finding import facts_of, of_kind

SCREEN = 'fun Settings() {\n    Row {\n        Text("Watch the zones", style = small)\n    }\n}\n'
KEYED = "fun Settings() {\n    Text(getString(R.string.watch_zones))\n}\n"
XML = '<resources>\n    <string name="watch_zones">Watch the zones</string>\n</resources>\n'
RUSSIAN = SCREEN.replace("Watch the zones", "Следить за зонами")
SCRIPT = 'export const s = () =>\n  t("menu.watchZones");\n'
JSON = '{\n  "watchZones": "Watch the zones"\n}\n'
FOUND = [
    pytest.param({"S.kt": SCREEN}, "It stops with “Watch the zones” on", 3, id="quoted"),
    pytest.param({"S.kt": SCREEN}, "Open Settings > General > **Watch the zones**", 3, id="stressed"),
    pytest.param({"S.kt": SCREEN}, 'With the setting "watch the zones" it stops', 3, id="in-lower-case"),
    pytest.param({"S.kt": RUSSIAN}, "При «следить за зонами» падает", 3, id="russian"),
    pytest.param({"S.kt": KEYED, "app/res/values/strings.xml": XML}, "“Watch the zones” stops", 2, id="android"),
    pytest.param({"s.ts": SCRIPT, "locales/en.json": JSON}, "“Watch the zones” stops", 2, id="json"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "title", "line"), FOUND)
def test_a_label_leads_to_its_line(tmp_path: Path, files: dict[str, str], title: str, line: int):
    (fact,) = of_kind(facts_of(tmp_path, files, title), "quoted_here")
    assert (fact.path, fact.line, fact.strong, fact.unclaimed) == (next(iter(files)), line, True, True)


NONE = [
    pytest.param({"S.kt": SCREEN, "T.kt": SCREEN}, "“Watch the zones” stops", id="two-files"),
    pytest.param({"S.kt": SCREEN}, "“Watch the zone” stops", id="another-text"),
    pytest.param({"S.kt": SCREEN.replace('"Watch', '"Do not watch')}, "“Watch the zones” stops", id="a-part-of-a-text"),
    pytest.param({"S.kt": f"// {SCREEN}".replace("\n", "\n// ")}, "“Watch the zones” stops", id="a-comment"),
    pytest.param({"S.kt": SCREEN}, "Watch the zones stops", id="not-quoted"),
    pytest.param(
        {"S.kt": SCREEN + "fun watchZones() {}\n"}, "`watchZones` and “Watch the zones” stop", id="another-fact"
    ),
    pytest.param({"S.kt": KEYED * 2, "app/res/values/strings.xml": XML}, "“Watch the zones” stops", id="two-uses"),
]


@pytest.mark.parametrize(("files", "title"), NONE)
def test_other_texts_are_no_label(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title), "quoted_here") == []
