"""A version that a report names leads to the line of a manifest that does not allow it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.search.facts.finding import facts_of

PEERS = json.dumps({"name": "zones", "peerDependencies": {"plough": "^9.0.0 || ^10.0.0-0"}}, indent=2)
COMPOSER = '{\n  "require": {\n    "php": "~8.2"\n  }\n}\n'
PACKAGES = '{\n  "require": {\n    "php": "^8.2",\n    "filament\\/forms": "^3.0|^4.0"\n  }\n}\n'
VENDOR = '{\n  "require": {\n    "acmezones/core": "^7.0|^8.0",\n    "acmezones/contracts": "^1.0|^3.0"\n  }\n}\n'
OWN = '{\n  "name": "acmezones/cms",\n  "require": {\n    "acmezones/strings": "^3.1"\n  }\n}\n'
HOST = '{\n  "engines": {\n    "node": "20.x || >=22"\n  }\n}\n'
EXCLUDED = [
    pytest.param("build.zig.zon", '.{\n    .minimum_zig_version = "0.16.0",\n}\n', "Zig 0.15.2", 2, id="lowest"),
    pytest.param("package.json", PEERS, "“Plough” v11 fails", 4, id="peer"),
    pytest.param("package.json", HOST.replace(" || >=22", ""), "Node.js 24.1", 3, id="host"),
    pytest.param("composer.json", PACKAGES, "Filament v5", 4, id="package"),
    pytest.param("composer.json", COMPOSER, "PHP: 9.0", 3, id="php"),
    pytest.param("pyproject.toml", '[project]\nrequires-python = ">=3.9,<3.14"\n', "python3.14", 2, id="two-bounds"),
    pytest.param("zones.gemspec", "s.required_ruby_version = '~> 3.1'\n", "Ruby version: 4.0.1", 1, id="series"),
    pytest.param(
        "fabric.mod.json", '{\n  "depends": {\n    "minecraft": "~26.1"\n  }\n}\n', "Minecraft 26.2", 3, id="patches"
    ),
    pytest.param("Cargo.toml", '[package]\nrust-version = "1.93"\n', "rustc 1.92.0", 2, id="bare"),
    pytest.param("metadata.json", '{\n  "shell-version": ["48", "49"]\n}\n', "GNOME Shell: 50", 2, id="a-list"),
    pytest.param("metadata.json", '{\n  "shell-version": ["48", "49"]\n}\n', "it since GNOME 50.1", 2, id="since"),
    pytest.param(
        "Zones.csproj",
        '<PackageReference Include="Jellyfin.Model" Version="10.11.6" />\n',
        "Jellyfin 10.11.5",
        1,
        id="nuget",
    ),
    pytest.param("hacs.json", '{\n  "homeassistant": "2026.2.0"\n}\n', "Home Assistant 2026.1", 2, id="a-host"),
    pytest.param("go.mod", "module zones\n\ngo 1.26.0\n", "Go 1.26 (running go 1.25.7; GOTOOLCHAIN=local)", 3, id="go"),
]
ALLOWED = [
    pytest.param("package.json", PEERS, "“Plough” 9 fails", id="a-series"),
    pytest.param("package.json", PEERS, "“Plough” v10.2 fails", id="another-choice"),
    pytest.param("package.json", PEERS.replace("^9.0.0 ||", "1 - 9 ||"), "“Plough” v11 fails", id="a-range-in-words"),
    pytest.param("package.json", PEERS.replace("peerD", "devD"), "“Plough” v11 fails", id="for-development"),
    pytest.param("package.json", PEERS[:-2], "“Plough” v11 fails", id="not-json"),
    pytest.param("package.json", HOST, "It stops on node 2 of 3", id="a-number"),
    pytest.param("package.json", HOST, "Node.js 18.3", id="an-old-language"),
    pytest.param("composer.json", PACKAGES, "PHP 7.4", id="another-old-language"),
    pytest.param("package.json", HOST, "With Node 18.3 it works, with Node 20.1 it fails", id="one-of-two"),
    pytest.param("composer.json", COMPOSER, "PHP 8.5", id="later-minor"),
    pytest.param("composer.json", COMPOSER.replace("require", "platform"), "PHP 9.0", id="another-table"),
    pytest.param("tests/composer.json", COMPOSER, "PHP 9.0", id="a-test"),
    pytest.param("pyproject.toml", '[project]\nrequires-python = ">=3.9,<4"\n', "python3.12", id="two-bounds"),
    pytest.param("pyproject.toml", '[project]\nrequires-python = "!=3.9.1"\n', "Python 3.8", id="one-left-out"),
    pytest.param("pyproject.toml", '[project]\nrequires-python = "<=3.9"\n', "Python 3.9.4", id="up-to"),
    pytest.param("Cargo.toml", '[package]\nrust-version = "1.93"\n', "rustc 1.96.0", id="lowest"),
    pytest.param("pubspec.yaml", 'environment:\n  flutter: ">=3.27.4-zone-1.0.5"\n', "Flutter 3.44.1", id="an-end"),
    pytest.param("composer.json", OWN, "Acmezones 5", id="the-projects-vendor"),
    pytest.param("package.json", PEERS.replace("^9.0.0 || ^10.0.0-0", ">=2026.2.0"), "Plough 3.22", id="end-of-a-date"),
    pytest.param("composer.json", VENDOR, "Acmezones 8.1", id="a-vendor-whose-packages-differ"),
    pytest.param("hacs.json", '{\n  "homeassistant": "2026.2.0"\n}\n', "Home Assistant 2026", id="less-exact"),
    pytest.param("Cargo.toml", '[package]\nrust-version = "1.93"\n', "it <!-- rustc: 1.92 -->", id="a-comment"),
    pytest.param("Cargo.toml", '[package]\nrust-version = "1.93"\n', "it (requires rustc 1.92 or later)", id="a-need"),
    pytest.param("Cargo.toml", '[package]\nrust-version = "1.93"\n', "it (stable since Rust 1.82)", id="a-remark"),
]


def not_allowed(folder: Path, file: str, text: str, body: str) -> list[tuple[str | None, int | None, bool]]:
    facts = facts_of(folder, {"src/zones.py": "def zones():\n    pass\n", file: text}, "Zones stop", body)
    return [(fact.path, fact.line, fact.unclaimed) for fact in facts if "does not allow" in fact.says]


@pytest.mark.parametrize(("file", "text", "body", "line"), EXCLUDED)
def test_an_excluded_version_leads_to_its_line(tmp_path: Path, file: str, text: str, body: str, line: int):
    assert not_allowed(tmp_path, file, text, f"I use {body}.") == [(file, line, True)]


@pytest.mark.parametrize(("file", "text", "body"), ALLOWED)
def test_what_may_be_allowed_is_silent(tmp_path: Path, file: str, text: str, body: str):
    assert not_allowed(tmp_path, file, text, f"I use {body}.") == []


def test_a_tool_in_a_folder_further_in_has_bounds_of_its_own(tmp_path: Path):
    files = {"python/setup.py": "setup()\n", "tools/kiln/setup.py": "setup(\n    python_requires='~=2.7',\n)\n"}
    facts = facts_of(tmp_path, {"src/zones.py": "def zones():\n    pass\n", **files}, "Zones stop", "I use Python 3.5.")
    assert not [fact for fact in facts if "does not allow" in fact.says]


def test_a_number_of_the_title_is_a_version(tmp_path: Path):
    files = {"zones.py": "def zones():\n    pass\n", "package.json": PEERS, "composer.json": PACKAGES}
    for words in ("plough 11", "PHP 7.4"):
        facts = facts_of(tmp_path / words[:3], files, f"It fails with {words}")
        assert [fact.words for fact in facts if "does not allow" in fact.says] == [words]


def test_many_versions_and_long_ranges_take_little_time(tmp_path: Path):
    many = json.dumps({"peerDependencies": {"plough": " || ".join(["^9"] * 20_000), "harrow": "^9"}}, indent=2)
    files = {"zones.py": "def zones():\n    pass\n", "package.json": many}
    facts = facts_of(tmp_path, files, "It fails", "plough: 11, harrow: 11, " * 1_500)
    assert [fact.words for fact in facts if "does not allow" in fact.says] == ["harrow: 11"]
