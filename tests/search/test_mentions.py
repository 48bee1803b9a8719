"""What an issue names outside its stack traces."""

import pytest

from nodes.search.issue.located import find_in_lines, find_located
from nodes.search.issue.mentions.found import MAX_EACH, find_mentions, form_fields, split_fields


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param("see src/foo/bar.py and foo.c:12.", ("src/foo/bar.py", "foo.c"), id="plain"),
        pytest.param(r"in C:\work\a.cs", ("C:/work/a.cs",), id="windows"),
        pytest.param("at src/op/././pool.h:26", ("src/op/pool.h",), id="included-with-a-dot"),
        pytest.param("https://github.com/a/b/blob/main/lib/x.rb#L3-L5", ("lib/x.rb",), id="blob-link"),
        pytest.param("`./lib/x.ts` twice: lib/x.ts", ("lib/x.ts",), id="without-repeats"),
        pytest.param("Node.js and Vue.js, e.g. and/or 3.2", (), id="products"),
    ],
)
def test_paths(text, paths):
    assert find_mentions(text).paths == paths


def test_lines_are_stored_with_their_path():
    text = "foo.c:12 and https://github.com/a/b/blob/main/lib/x.rb#L3-L5"
    assert find_mentions(text).lines == (("foo.c", 12, 12), ("lib/x.rb", 3, 5))


def test_escapes_of_addresses_in_paths_are_decoded_unless_they_are_no_printable_characters():
    text = "My%20App/foo.c:12, https://github.com/a/b/blob/main/lib%20b/x.rb#L3 and my%0Aapp/foo.c:4"
    assert find_mentions(text).lines == (("My App/foo.c", 12, 12), ("lib b/x.rb", 3, 3), ("my%0Aapp/foo.c", 4, 4))


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        pytest.param("call `reload` then run()", ("reload", "run"), id="backticks-and-calls"),
        pytest.param("HttpClient, max_retries, a.b.Conf", ("HttpClient", "max_retries", "a.b.Conf"), id="prose"),
        pytest.param("```\nlet x = Cart::new(3);\n```", ("Cart::new",), id="code"),
        pytest.param("GitHub and JavaScript are nice. If True, return None.", (), id="ordinary"),
        pytest.param("EnumSet类型反序列化失败。read_valueの結果", ("EnumSet", "read_value"), id="no-spaces"),
    ],
)
def test_symbols(text, symbols):
    assert find_mentions(text).symbols == symbols


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        pytest.param("from a.b import c", ("a.b",), id="from"),
        pytest.param("import os.path, sys as s", ("os.path", "sys"), id="import"),
        pytest.param("run `python -m shop.cli`", ("shop.cli",), id="dash-m"),
        pytest.param("const x = require('./lib/x')", ("./lib/x",), id="require"),
        pytest.param('import { a } from "@acme/x"', ("@acme/x",), id="es-module"),
        pytest.param("use shop::cart::Cart;", ("shop::cart::Cart",), id="rust"),
        pytest.param("#include <shop/cart.h>", ("shop/cart.h",), id="include"),
        pytest.param("import the data from a table", (), id="prose"),
    ],
)
def test_modules(text, modules):
    assert find_mentions(text).modules == modules


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        pytest.param("ValueError: no such item", ("no such item",), id="typed"),
        pytest.param("x.py:3: error: Missing return", ("Missing return",), id="compiler"),
        pytest.param("TypeError: 'map' object has no 'x'", ("'map' object has no 'x'",), id="quoted-names"),
        pytest.param("**error: 'cannot open'**", ("cannot open",), id="quoted-whole"),
        pytest.param('It says "cannot open the file".', ("cannot open the file",), id="quoted"),
        pytest.param('The "quick fix" is fine.', (), id="short-phrase"),
    ],
)
def test_errors(text, errors):
    assert find_mentions(text).errors == errors


NEIGHBOURS = ("SQLite 3.45.1", "1.2.0", "1.3.0")
VALID_NUMBERS = ("Ubuntu 18.04", "Perl 5.008", "Chrome 95.0.4638.54")


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        pytest.param("Django 3.2 breaks", ("Django 3.2",), id="named"),
        pytest.param("Python version: 3.9.1", ("Python 3.9.1",), id="with-a-colon"),
        pytest.param("numpy==1.26.0rc1", ("numpy 1.26.0rc1",), id="pinned"),
        pytest.param("since v2.1", ("2.1",), id="nameless"),
        pytest.param("1.22.1 but anything from 1.11 up to now", ("1.22.1", "1.11"), id="anything"),
        pytest.param('`x.format("ss") => "39.096"`', (), id="a-quoted-value"),
        pytest.param("It returns 0.0 and 100.00, not 1.5 % or 2.5 seconds.", (), id="values-and-durations"),
        pytest.param("It costs $ 9.99 or 9.5 EUR at (48.13, 11.57), with a load of 1200.0000.", (), id="amounts"),
        pytest.param("Listening on 127.0.0.1 and 0.0.0.0, then 192.168.0.20", (), id="addresses"),
        pytest.param("The scale is 1.5, the level at 0.5, and x = 2.5 + 0.25", (), id="assigned-values"),
        pytest.param("Ubuntu 18.04, Perl v5.008 and Chrome 95.0.4638.54", VALID_NUMBERS, id="not-values"),
        pytest.param("Yarn - 1.22, my version is 1.8", ("Yarn 1.22", "1.8"), id="said-in-words"),
        pytest.param("Works in 2.1, not since version 2.10", ("2.1", "2.10"), id="two-parts"),
        pytest.param("It raises an exception in 3.6.1", ("3.6.1",), id="not-of-the-noun-before"),
        pytest.param("The table is empty. SQLite 3.45.1, from v1.2.0 to v1.3.0", NEIGHBOURS, id="of-its-own-sentence"),
        pytest.param("Fails on Python since 3.12", ("Python 3.12",), id="of-a-runtime-before"),
        pytest.param("It fails going 1.2.0 -> 1.3.1", ("1.2.0", "1.3.1"), id="a-verb"),
        pytest.param("the levels are at 0, 0.15, 0.3, 0.45, 0.6", (), id="numbers-that-rise-as-decimals"),
        pytest.param("it fails with 1.8, 1.9, 1.10 and 1.11", ("1.8", "1.9", "1.10", "1.11"), id="rising-versions"),
        pytest.param("68.31       Error: no headers\n68.32   note: not a problem", (), id="seconds-of-a-build"),
        pytest.param("[2026.01.08-20.14.31:518] with 1.8.2", ("1.8.2",), id="time-of-a-log"),
        pytest.param("3.10 and 3.9.1", ("3.10", "3.9.1"), id="first-on-a-line"),
        pytest.param('"version": "1.2.345", "lodash": "4.17.21"', ("1.2.345", "4.17.21"), id="quoted-versions"),
        pytest.param("Første forekomst: 06.44.27 (1 forekomst)", (), id="a-time-of-the-day"),
        pytest.param("version 06.44.27", ("06.44.27",), id="a-version-like-a-time"),
    ],
)
def test_versions(text, versions):
    assert find_mentions(text).versions == versions


def test_platforms():
    found = find_mentions("On Windows with Firefox, see https://example.com/a.")
    assert found.platforms == ("windows", "firefox")
    assert find_mentions("我的系统是macos 15.5，版本是最新").platforms == ("macos",)
    # A milestone is no processor.
    assert find_mentions("M1: the export of zones, on an M3 Pro").platforms == ("m3",)
    assert find_mentions("It stops on a MacBook Pro M1").platforms == ("macbook pro m1",)


@pytest.mark.parametrize(
    ("text", "platforms"),
    [
        pytest.param("An edge case of the parser", (), id="edge-case"),
        pytest.param("Happens in Edge 110 only", ("edge",), id="with-a-version"),
        pytest.param("Chrome and Edge are fine", ("chrome", "edge"), id="beside-a-browser"),
    ],
)
def test_edge_is_a_browser_only_if_the_line_says_so(text, platforms):
    assert find_mentions(text).platforms == platforms


@pytest.mark.parametrize(
    ("text", "platforms"),
    [
        ("It happens on Android but not on iOS", ("android",)),
        ("It doesn't happen on Linux, only on Windows", ("windows",)),
        ("It does not work on Windows", ("windows",)),
        ("系统：Windows11", ("windows",)),
        ("Not only on Windows", ("windows",)),
    ],
)
def test_a_platform_without_the_fault_is_none(text, platforms):
    assert find_mentions(text).platforms == platforms


def test_code_blocks_are_fenced_or_indented():
    text = "a\n\n```py\none()\n```\n\n    two()\n    three()\n\nb"
    assert find_mentions(text).code_blocks == ("one()", "two()\nthree()")


def test_prose_and_code_are_split():
    assert split_fields("a\n```\nb\n```\nc<!-- hint -->") == ("a\nc", "b")


def test_template_hints_are_not_read():
    assert find_mentions("<!-- put src/a.py here -->src/b.py").paths == ("src/b.py",)


def test_form_fields():
    body = "### What\r\n\r\nIt broke.\r\n### Logs\n\n```\n### not a heading\n```\n\n### Version\n\n_No response_"
    assert form_fields(body) == (
        ("What", "It broke."),
        ("Logs", "```\n### not a heading\n```"),
        ("Version", ""),
    )


def test_each_kind_is_capped():
    assert len(find_mentions(" ".join(f"a_{n}" for n in range(500))).symbols) == MAX_EACH


NAMES = (
    ("If name 8.3.0 is installed the plugin crashes.", "8.3.0", ()),
    ("I updated it. 1.2.0 crashes at once.", "1.2.0", ()),
    ("Running kettle 1.2.0 on a fresh machine.", "1.2.0", ("kettle",)),
    ("kettle version: 1.2.0", "1.2.0", ("kettle",)),
    ("Version 1.2.0", "1.2.0", ()),
    ("Python 3.12.1, kettle 1.2.0", "1.2.0", ("kettle",)),
    ("The last release 1.2.0 does it too.", "1.2.0", ()),
    ("We moved everything to 1.2.0 yesterday.", "1.2.0", ()),
    ("There were 1.2.0 problems.", "1.2.0", ()),
    ("After that 1.2.0 stopped.", "1.2.0", ()),
    ("since upgrading 1.2.0 crashes", "1.2.0", ()),
    ("Environment\n\n- OS: Windows 10.0.19045\n- App: 1.2.0", "1.2.0", ("App",)),
    ("### Version\n\n1.2.0", "1.2.0", ()),
    ("**Version:** v1.2.0", "1.2.0", ()),
    ("node v20.11.1\nnpm 10.2.4\nkettle 1.2.0", "1.2.0", ("kettle",)),
    ('It says "connected" 1.2.0 then closes.', "1.2.0", ()),
    ("When I use 1.2.0 it closes.", "1.2.0", ()),
    ("The tag v1.2.0 has it.", "1.2.0", ()),
    ("with both 1.2.0 and 1.3.0", "1.2.0", ()),
    ("Please release 1.2.0 again", "1.2.0", ()),
    ("electron 28.2.0", "28.2.0", ("electron",)),
    ("Ich benutze 1.2.0", "1.2.0", ()),
    ("моя версия 1.2.0", "1.2.0", ()),
    ("版本 1.2.0", "1.2.0", ()),
    ("versión 1.2.0", "1.2.0", ()),
    ("The build from today (1.2.0) fails.", "1.2.0", ()),
    ("looks like 1.2.0 changed this", "1.2.0", ()),
    ("same on 1.2.0", "1.2.0", ()),
    ("I'm on 1.2.0", "1.2.0", ()),
    ("Home Assistant 2024.6.1", "2024.6.1", ("Assistant", "Home Assistant")),
    ("Spring Boot 3.2.1", "3.2.1", ("Boot", "Spring Boot")),
    ("you wrote 1.2.0 in the changelog", "1.2.0", ()),
    ("my file name 1.2.0 is wrong", "1.2.0", ()),
    ("yes, tested 1.2.0", "1.2.0", ()),
    ("now 1.2.0 is out", "1.2.0", ()),
    ("Android 14, One UI 6.1.0", "6.1.0", ("One UI", "UI")),
    ("kettle@1.2.0", "1.2.0", ("kettle",)),
    ("Fresh 1.2.0 database", "1.2.0", ()),
    ("astrbot版本为 4.18.3", "4.18.3", ("astrbot",)),
    ("root:xnu-11417.140.69~1/RELEASE_ARM64_T8122 24.6.0", "24.6.0", ()),
    ("2025.1 was fine, pulled 2026.1 today", "2026.1", ()),
    ("kettle==1.2.0", "1.2.0", ("kettle",)),
    ("kettle, version 1.2.0 (build 44)", "1.2.0", ("kettle",)),
    ("Actual: nothing. Expected: 1.2.0 prints the title.", "1.2.0", ()),
)
"""Texts with a version, and the names that may precede it."""


@pytest.mark.parametrize(("text", "version", "names"), NAMES, ids=[text[:30] for text, _, _ in NAMES])
def test_a_version_has_a_name_only_if_it_is_sure(text: str, version: str, names: tuple[str, ...]) -> None:
    found = next(one for one in find_mentions(text).versions if one.endswith(version))
    assert found in {version, *(f"{name} {version}" for name in names)}


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("The bug is in src/net.c around line 120", ("src/net.c", 120)),
        ("src/net.c의 44번째 줄에서 멈춥니다", ("src/net.c", 44)),
        ("src/net.cの44行目", ("src/net.c", 44)),
        ("у файлі `src/net.c`, рядок 44, умова", ("src/net.c", 44)),
        ("44-й рядок у src/net.c", None),
        ("src/net.c, riadok 44", ("src/net.c", 44)),
        ('Raised at Net.read in file "src/net.ml" (inlined), line 44, characters 1-9', ("src/net.ml", 44)),
        ("src/net.c 1.2:30", None),
        ("44 open_net ./net.sh", ("net.sh", 44)),
        ("7 main net.sh", ("net.sh", 7)),
        ("3 times net.sh", None),
        ("title=FontString <net.lua:44>", None),
        ("in function <net.lua:44>", ("net.lua", 44)),
        ("- Opening the net...net.sh: line 44: $1: unbound variable", ("net.sh", 44)),
        ("...net/net.sh: line 44: $1: unbound variable", ("...net/net.sh", 44)),
        ("/gems/kettle-1.7.2/bin/kettle:7: warning: it is old", ("/gems/kettle-1.7.2/bin/kettle", 7)),
        ("loosely/kettle:7: warning: it is old", None),
    ],
)
def test_a_path_with_its_line(line: str, place: tuple[str, int] | None):
    found = [(located.path, located.line) for located in find_located(line)]
    assert found == ([place] if place else [])


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("**File:** `src/load.c`\n**Line:** 12", [("src/load.c", 12)]),
        ("Location   : src/load.c\nLine       : 12", [("src/load.c", 12)]),
        ("Location   : load.c (/app/a.jar!/src/load.c)\nLine       : 12", [("/src/load.c", 12)]),
        ("- File: src/load.c\n- Function: `load()`\n- Lines: 12-18", [("src/load.c", 12)]),
        ("- **Location**: `src/load.c` (lines ~12–18)", [("src/load.c", 12)]),
        ("### `src/load.c`, `load()`, lines 12-18", [("src/load.c", 12)]),
        ("`src/load.c` → `load()` (line 12)", [("src/load.c", 12)]),
        ("`src/load.c` has two copies of it (lines 12 and 40)", [("src/load.c", 12)]),
        ("`src/load.c` and other.c (line 12)", [("other.c", 12)]),
        ("`src/load.c` takes 40 ms (on 12 lines)", []),
        ("`src/load.c` (~L12) and `src/row.c:~14`", [("src/load.c", 12), ("src/row.c", 14)]),
        ("| File | Line(s) | What |\n|---|---|---|\n| `src/load.c` | 12-18 | leak |", [("src/load.c", 12)]),
        ("| # | Lines | File |\n|--|--|--|\n| 1 | ~12, 18 | **src/load.c** |", [("src/load.c", 12)]),
        ("| File | Missed |\n|---|---|\n| `src/load.c` | 12 |", []),
        ("| File | Line |\n|---|---|\n\nThen\n| `src/load.c` | 12 |", []),
        ("`src/load.c` and version 12", []),
        ("`src/load.c`, `load()`, 12 times", []),
    ],
)
def test_a_file_and_a_line_apart(text: str, places: list[tuple[str, int]]) -> None:
    assert [(found.path, found.line) for _, found in find_in_lines(text.split("\n"))] == places


def test_a_box_that_nobody_ticked_is_neither_a_platform_nor_a_version() -> None:
    found = find_mentions(
        "### Plattform\n\n- [ ] Windows\n- [X] Linux\n- [ ] macOS 14\n\n### Version\n\n- [ ] 1.2.0\n- [x] 1.3.0"
    )
    assert found.platforms == ("linux",)
    assert found.versions == ("1.3.0",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("Es erscheint „Der Name ist ungültig“.", "Der Name ist ungültig", id="german"),
        pytest.param("Un message « le fichier est vide » apparaît.", "le fichier est vide", id="french"),
        pytest.param("Ошибка «Не удалось записать файл».", "Не удалось записать файл", id="russian"),
        pytest.param("控制台提示“解析失败：缺少列名”。", "解析失败：缺少列名", id="chinese"),
        pytest.param("打開時顯示「檔案格式錯誤」。", "檔案格式錯誤", id="traditional-chinese"),
    ],
)
def test_a_message_in_the_quotes_of_a_language_is_found(text: str, message: str) -> None:
    assert find_mentions(text).errors == (message,)
