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
GERMAN = '{\n  "Watch the zones": "Zonen ansehen"\n}\n'
EXTENSION = '{\n  "menu.watchZones": {\n    "message": "Watch the zones"\n  }\n}\n'
SHARP = "class Settings {\n    string Title = Texts.WatchZones;\n}\n"
RESX = '<root>\n  <data name="WatchZones">\n    <value>Watch the zones</value>\n  </data>\n</root>\n'
PHP, ARRAY = (
    "<?php\n$label = trans('menu.watch_zones');\n",
    "<?php\nreturn [\n    'watch_zones' => 'Watch the zones',\n];\n",
)
NESTED = '{\n  "zones": {\n    "title": "Watch the zones"\n  },\n  "rates": {\n    "title": "All rates"\n  }\n}\n'
KEYS = "export const T = {\n  title: 'zones.title',\n};\nexport const other = t('rates.title');\n"
PAGE = '<form>\n  <button class="watch">{{ _("Watch the zones") }}</button>\n</form>\n'
ALONE = "<template>\n  <button>\n    Watch the zones\n  </button>\n</template>\n"
SAVE = SCREEN.replace("Watch the zones", "Save")
SAVES = {"S.ts": "// save it\n" * 5 + "export const s = t.save;\n", "locales/en.json": '{\n  "save": "Save"\n}\n'}
FOUND = [
    pytest.param({"S.kt": SCREEN}, "It stops with “Watch the zones” on", 3, id="quoted"),
    pytest.param({"S.kt": SCREEN}, "Open Settings > General > **Watch the zones**", 3, id="stressed"),
    pytest.param({"S.kt": SCREEN}, 'With the setting "watch the zones" it stops', 3, id="in-lower-case"),
    pytest.param({"S.kt": RUSSIAN}, "При «следить за зонами» падает", 3, id="russian"),
    pytest.param({"S.kt": KEYED, "app/res/values/strings.xml": XML}, "“Watch the zones” stops", 2, id="android"),
    pytest.param({"s.ts": SCRIPT, "locales/en.json": JSON}, "“Watch the zones” stops", 2, id="json"),
    pytest.param({"s.ts": SCRIPT, "_locales/en/messages.json": EXTENSION}, "“Watch the zones” stops", 2, id="browser"),
    pytest.param({"s.ts": SCRIPT, "src/locales/en.ts": JSON}, "“Watch the zones” stops", 2, id="texts-in-a-script"),
    pytest.param({"s.cs": SHARP, "Texts.resx": RESX}, "“Watch the zones” stops", 2, id="resources"),
    pytest.param(
        {"s.ts": "const s = () =>\n  t`Watch the zones`;\nlog('Watch the zones now');\n", "locales/de.json": GERMAN},
        "“Zonen ansehen” geht nicht",
        2,
        id="text-of-the-code-as-key",
    ),
    pytest.param({"s.php": PHP, "lang/en/menu.php": ARRAY}, "“Watch the zones” stops", 2, id="array-of-texts"),
    pytest.param(
        {"s.ts": "export const s = () =>\n  t('zones.title');\n", "keys.ts": KEYS, "i18n/en.json": NESTED},
        "“Watch the zones” stops",
        2,
        id="key-of-a-table",
    ),
    pytest.param({"S.kt": SCREEN}, "It stops with \u2018Watch the zones\u2019 on", 3, id="single-quotes"),
    pytest.param({"S.kt": SCREEN}, "Watch the zones stops", 3, id="not-quoted"),
    pytest.param({"page.html": PAGE}, "“Watch the zones” stops", 2, id="page"),
    pytest.param({"page.vue": ALONE}, "“Watch the zones” stops", 3, id="alone-on-its-line"),
    pytest.param({"S.kt": SCREEN}, "A filter (watch the zones) stops", 3, id="in-parentheses"),
    pytest.param({"S.kt": SCREEN}, "“Watch-The-Zones” stops", 3, id="hyphens-and-capitals"),
    pytest.param({"S.kt": SCREEN}, "Watch-the zones stops", 3, id="hyphens-of-plain-words"),
    pytest.param({"S.kt": SCREEN}, "**Watch The Zones** stops", 3, id="in-capitals"),
    pytest.param({"S.kt": SCREEN}, "**Watch the-zones** stops", 3, id="with-a-hyphen"),
]  # fmt: skip
BODIES = [
    pytest.param("Open Settings > Watch the zones and wait.", id="path-of-menus"),
    pytest.param("Then click on watch the zones.", id="something-to-click"),
    pytest.param("Untick watch the zones.", id="something-to-tick"),
    pytest.param('It shows the label "watch_zones".', id="a-key"),
    pytest.param("It only says:\n\n```\nWatch the zones…\n```\n", id="in-a-block"),
]


@pytest.mark.parametrize(("files", "title", "line"), FOUND)
def test_a_label_leads_to_its_line(tmp_path: Path, files: dict[str, str], title: str, line: int):
    (fact,) = of_kind(facts_of(tmp_path, files, title), "quoted_here")
    assert (fact.path, fact.line, fact.strong, fact.unclaimed) == (next(iter(files)), line, True, True)


NONE = [
    pytest.param({"S.kt": SAVE}, "The Quick Save button is late", id="the-end-of-a-longer-name"),
    pytest.param({"S.kt": SAVE}, "I save with a button", id="one-word-apart"),
    pytest.param({"S.kt": SAVE}, "Wrong sums on the Save page", id="one-word-of-a-page"),
    pytest.param({"S.kt": SCREEN}, "“Watch the zone” stops", id="another-text"),
    pytest.param({"S.kt": SCREEN.replace('"Watch', '"Do not watch')}, "“Watch the zones” stops", id="a-part-of-a-text"),
    pytest.param({"S.kt": f"// {SCREEN}".replace("\n", "\n// ")}, "“Watch the zones” stops", id="a-comment"),
    pytest.param({"S.kt": SCREEN}, "The zones stop", id="words-of-a-text"),
    pytest.param({"S.kt": SCREEN.replace("Watch the zones", "Save")}, "“Save” is late", id="one-word-without-a-click"),
    pytest.param(
        {name: SCREEN.replace("Watch the zones", "Save") for name in ("S.kt", "T.kt")},
        "I press “Save”",
        id="two-things",
    ),
    pytest.param({"S.kt": SCREEN.replace("Watch the zones", "还原")}, "这里的“还原”是错的", id="short-without-a-click"),
    pytest.param(
        {"S.kt": KEYED, "app/res/values/strings.xml": XML.replace("Watch", "Do not watch")},
        "“Watch the zones” stops",
        id="the-end-of-a-text-with-a-key",
    ),
    pytest.param(
        {"S.kt": (SCREEN + "val z = zonewatch\n" * 4).replace("Watch the zones", "zonewatch")},
        "zonewatch stops",
        id="common-word",
    ),
    pytest.param({"S.kt": SCREEN.replace("Watch the zones", "Watch zones")}, "Watch zones stop", id="two-words"),
    pytest.param({"S.kt": SCREEN.replace("Watch the zones", "watching")}, "It stops when watching", id="a-common-word"),
    pytest.param(
        {"S.kt": SCREEN.replace("Watch the zones", "Watching")}, "Stops When Watching", id="title-in-capitals"
    ),
    pytest.param({"s.py": '"""Watch the zones."""\n'}, "Watch the zones stops", id="a-docstring"),
    pytest.param(
        {"S.kt": SCREEN.replace("Watch the zones", "zone-watch"), "package.json": '{"name": "zone-watch"}'},
        "“zone-watch” stops",
        id="the-projects-own-name",
    ),
    pytest.param({"s.py": "print('import zones')\n"}, "'import zones' stops", id="a-line-of-code"),
    pytest.param({"S.kt": KEYED * 4, "app/res/values/strings.xml": XML}, "“Watch the zones” stops", id="many-uses"),
    pytest.param({f"{name}.kt": SCREEN for name in "STUV"}, "“Watch the zones” stops", id="many-files"),
]


@pytest.mark.parametrize("field", ["* **Watch the zones:** 1.2", "**Watch the zones** : v1"])
def test_the_name_of_a_field_of_a_form_is_no_label(tmp_path: Path, field: str):
    said = [
        facts_of(tmp_path / body[-2:], {"S.kt": SCREEN}, "It stops", body) for body in (field, field.replace(":", ""))
    ]
    assert [len(of_kind(facts, "quoted_here")) for facts in said] == [0, 1]


@pytest.mark.parametrize(("files", "title"), NONE)
def test_other_texts_are_no_label(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title), "quoted_here") == []


@pytest.mark.parametrize("body", BODIES)
def test_words_at_something_to_click_are_a_label(tmp_path: Path, body: str):
    code = SCREEN.replace("Watch the zones", "watch_zones") if "_" in body else SCREEN
    (fact,) = of_kind(facts_of(tmp_path, {"S.kt": code}, "It stops", body), "quoted_here")
    assert (fact.path, fact.line) == ("S.kt", 3)


SEVERAL = [
    pytest.param({"server_form.html": PAGE, "invite.html": PAGE}, "strings", id="pages"),
    pytest.param({"server.ts": SCRIPT, "invite.ts": SCRIPT, "locales/en.json": JSON}, "lines", id="uses-of-a-key"),
    pytest.param(
        {**{f"{page}.ts": SCRIPT for page in ("server", "client", "region", "rate", "invite")}, "lang/en.json": JSON},
        "lines",
        id="many-uses-of-a-key",
    ),
]


@pytest.mark.parametrize(("files", "noun"), SEVERAL)
def test_of_several_places_the_title_chooses_one(tmp_path: Path, files: dict[str, str], noun: str):
    facts = of_kind(facts_of(tmp_path, files, "“Watch the zones” fails in an invitation"), "quoted_here")
    assert {fact.path for fact in facts if fact.chosen} == {path for path in files if path.startswith("invite")}
    assert all(f"one of {len(facts)} {noun}" in fact.says for fact in facts)


TAB = """class Tab {
  display() {
    new Setting()
      .setName("Watch the zones")
      .onChange(value => {
        this.settings.watchZones = value;
      });
  }
}
"""


def test_a_step_on_the_way_to_the_file_that_the_title_names_leads_nowhere(tmp_path: Path):
    files = {"src/BoardView.ts": "export class BoardView {\n}\n", "src/tab.ts": TAB}
    facts = facts_of(tmp_path, files, "Board view is not saved", "3. Click on watch the zones.")
    assert not [fact for fact in facts if fact.says.startswith("The text “")]


def test_the_text_that_the_title_has_precedes_the_steps(tmp_path: Path):
    files = {"a.kt": 'val a = Text("Advanced options")\n', "b.kt": 'val b = Text("Watch the zones")\n'}
    found = facts_of(tmp_path, files, "The zones stop", "Open “Advanced options”, then “Watch the zones”.")
    assert [fact.words for fact in of_kind(found, "quoted_here")] == ["Watch the zones", "Advanced options"]


def test_another_fact_is_enough_and_a_defined_name_is_not(tmp_path: Path):
    files = {"S.kt": SCREEN + "fun watchZones() {\n    zones.watchAll(true)\n}\n"}
    for name, found in (("zones.watchAll(true)", False), ("watchZones", True)):
        facts = facts_of(tmp_path / str(found), files, f"`{name}` and “Watch the zones” stop")
        assert any(fact.says.startswith("The text “") for fact in facts) == found


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("予約を登録できない", "次のように表示されます。\n\n```\n{}\n```", id="in-a-block"),
        pytest.param("予約を登録できない", "「{}」と表示されます。", id="in-quotes"),
        pytest.param("“{}”", "登録を押すと表示されます。", id="in-the-title"),
    ],
)
def test_a_sentence_without_spaces_is_found_where_the_code_has_it(tmp_path: Path, title: str, body: str):
    text = "この時間帯はすでに予約されています。別の時間帯を選んでください"
    files = {"Booking.java": f'class Booking {{\n  void book() {{\n    throw new Taken("{text}");\n  }}\n}}\n'}
    (found,) = of_kind(facts_of(tmp_path, files, title.format(text), body.format(text)), "quoted_here")
    assert (found.line, found.words, found.strong) == (3, text, True)


@pytest.mark.parametrize(("text", "count"), [("npm run zones", 0), ("open the zones", 1)])
def test_the_command_of_a_tool_is_no_text_of_the_program(tmp_path: Path, text: str, count: int):
    files = {"src/new.ts": f'export function hint() {{\n  return "{text}";\n}}\n'}
    facts = facts_of(tmp_path, files, "It stops", f"I ran `{text}` and it stops.")
    assert len([fact for fact in of_kind(facts, "quoted_here") if fact.says.startswith("The text “")]) == count
