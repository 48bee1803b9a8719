"""The outlines of the larger samples equal the stored ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodes.search.languages.syntax import outline
from nodes.search.languages.table import LANGUAGES

SAMPLES = sorted(path for path in (Path(__file__).parent / "samples").iterdir() if path.suffix != ".json")
AT_LEAST = dict.fromkeys(("ruby", "php", "csharp", "kotlin", "swift", "scala"), 30)


def load_expected(sample: Path) -> dict[str, Any]:
    return json.loads(sample.with_suffix(".json").read_text())


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_a_sample_gives_its_outline(sample: Path) -> None:
    expected = load_expected(sample)
    read = outline(sample.name, sample.read_bytes())
    assert read.language == expected["language"]
    rows = [" ".join((d.name, d.kind, str(d.start_line), str(d.end_line))) for d in read.definitions]
    assert rows == expected["definitions"]
    assert list(read.imports) == expected["imports"]
    assert [list(message) for message in read.strings] == expected["strings"]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_an_outer_definition_comes_before_those_inside_it(sample: Path) -> None:
    lines = len(sample.read_bytes().splitlines())
    definitions = outline(sample.name, sample.read_bytes()).definitions
    assert [d.start_line for d in definitions] == sorted(d.start_line for d in definitions)
    assert all(1 <= d.start_line <= d.end_line <= lines for d in definitions)


@pytest.mark.parametrize(
    "language", [one.name for one in LANGUAGES if one.package and one.name not in {"tsx", "component"}]
)
def test_a_language_has_enough_golden_definitions(language: str) -> None:
    counts = [len(e["definitions"]) for e in map(load_expected, SAMPLES) if e["language"] == language]
    assert max(counts) >= AT_LEAST.get(language, 12)


@pytest.mark.parametrize(
    ("name", "source", "language", "names"),
    [
        pytest.param("a.h", b"class A {\n  void f() {}\n};\n", "cpp", ["A", "A.f"], id="a-header-of-c++"),
        pytest.param("a.h", b"struct a { int b; };\n", "c", ["a"], id="a-header-of-c"),
        pytest.param("lib/Rakefile", b"def build\nend\n", "ruby", ["build"], id="by-its-name"),
        pytest.param("a.py", b"def a(): pass\n)))\ndef b(): pass\n", "python", ["a", "b"], id="broken-syntax"),
        pytest.param("a.py", b"def f(): pass\n" * 80_000, "python", [], id="over-a-megabyte"),
        pytest.param("a.py", b"def f(): pass\n" + b"x = 1\n" * 9_000 + b"\0", "text", [], id="a-nul-far-inside"),
        pytest.param("a.js", b"function a() {};" * 5_000, "javascript", [], id="minified"),
    ],
)
def test_each_construct_gives_its_definitions(name: str, source: bytes, language: str, names: list[str]) -> None:
    read = outline(name, source)
    assert (read.language, [d.name for d in read.definitions]) == (language, names)


@pytest.mark.parametrize(
    ("name", "source", "rows"),
    [
        pytest.param("a.rs", "#[a]\n#[b(\n  c)]\nfn f() {}\n", ["f 1 4"], id="several-attributes"),
        pytest.param("a.rs", "#[a]\n/// Says.\n// so\n\npub fn f() {}\n", ["f 1 5"], id="documentation-between"),
        pytest.param("a.rs", "/// Says.\n#[a]\nfn f() {}\n", ["f 2 3"], id="documentation-before"),
        pytest.param("a.rs", "#![a]\nfn f() {}\n", ["f 2 2"], id="of-the-whole-file"),
        pytest.param("a.rs", "#[a]\nuse b;\nfn f() {}\n", ["f 3 3"], id="of-something-else"),
        pytest.param("a.rs", "#[a]\nmod m {\n  #[b]\n  fn f() {}\n}\n", ["m 1 5", "m.f 3 4"], id="nested"),
        pytest.param(
            "a.rs", "impl A {\n  #[b] #[c]\n  fn f() {}\n  fn g() {}\n}\n", ["A.f 2 3", "A.g 4 4"], id="methods"
        ),
        pytest.param(
            "a.cpp", "template <>\ntemplate <class T>\nvoid A<int>::f() {}\n", ["A.f 1 3"], id="two-templates"
        ),
        pytest.param(
            "a.cpp",
            "template <> int f<int>(int a) {\n  return a;\n}\ntemplate <> struct A<bool> {\n};\n",
            ["f 1 3", "A 4 5"],
            id="explicit-specialisations",
        ),
        pytest.param("a.cpp", "template <class T>\n  requires C<T>\nstruct A {\n};\n", ["A 1 4"], id="a-requirement"),
        pytest.param("a.cpp", "template\n<class T> class A;\nint f() {}\n", ["f 3 3"], id="of-a-declaration"),
        pytest.param(
            "a.cpp",
            "template <class T>\nclass A {\n  template <class U>\n  void f() {}\n};",
            ["A 1 5", "A.f 3 4"],
            id="in-one",
        ),
        pytest.param(
            "a.ts",
            "class A {\n  @B()\n  @C()\n  f() {}\n  g() {}\n}\n",
            ["A 1 6", "A.f 2 4", "A.g 5 5"],
            id="decorators",
        ),
    ],
)
def test_a_definition_begins_where_its_attributes_do(name: str, source: str, rows: list[str]) -> None:
    read = outline(name, source.encode())
    assert [f"{d.name} {d.start_line} {d.end_line}" for d in read.definitions] == rows


@pytest.mark.tried("source files made to be slow to parse, in each language")
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(b"#[a]\n" * 100_000 + b"fn f() {}\n", id="attributes"),
        pytest.param(b"#[a]\n" + b"// b\n" * 100_000 + b"fn f() {}\n" * 20_000, id="comments"),
        pytest.param(b"#[a] fn f() {}\n" * 50_000, id="functions"),
    ],
)
def test_many_attributes_take_little_time(source: bytes) -> None:
    assert outline("a.rs", source).definitions


HOSTILE = {
    "50000-brackets": b"(" * 50_000,
    "50000-balanced-brackets": b"(" * 50_000 + b")" * 50_000,
    "50000-bracket-lines": b"(\n" * 50_000,
    "20000-balanced-brace-lines": b"{\n" * 10_000 + b"}\n" * 10_000,
    # `make parsers` reads a megabyte of each of 123 tokens.
    "100000-brace-lines": b"{\n" * 100_000,
    "open-classes": b"class A {\n" * 20_000,
    "closed-functions": b"function a(){" * 20_000 + b"}" * 20_000,
    "closed-objects": b"x={" + b"a:{" * 50_000 + b"}" * 50_000 + b"}",
    "closed-namespaces": b"namespace a{" * 20_000 + b"}" * 20_000,
    "closed-modules": b"mod a{" * 50_000 + b"}" * 50_000,
    "many-casts": b"x::operator a " * 20_000 + b"() {}",
    "many-arguments": b"int " + b"a<" * 20_000 + b">" * 20_000 + b"::f() {}",
    "every-byte": bytes(range(1, 256)) * 300,
}


@pytest.mark.tried("source files made to be slow to parse, in each language")
@pytest.mark.timeout(20)
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_a_hostile_file_takes_little_time(language: Any, source: bytes) -> None:
    assert outline("a" + language.endings[0], source).language in {language.name, "cpp"}
