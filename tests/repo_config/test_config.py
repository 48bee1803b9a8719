"""`.github/triage.yml`: valid and invalid content with line numbers, and the effective file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from bot.cli.group import cli
from bot.settings.environment import Settings
from bot.settings.operator import operator_schema
from bot.settings.plain import PATTERNS
from bot.settings.repository import ConfigError, RepositoryConfig, config_schema, find_config, read_config
from nodes.search.paths.globs import path_matches

WHOLE = """\
# yaml-language-server: $schema=https://example.org/triage.yml.json
mode: label
brain: rules
labels:
  allowed: ["area: *", bug]
  map:
    bug: "type: bug"
    needs-answer: needs info
ignore_paths: ["vendor/**", "*.min.js"]
limits:
  questions: 1
  claim_from: 0.8
opt_out_label: no bots
language: de
commands:
  stop: maintainer
bots: ["sentry-io[bot]"]
"""


def test_every_key_is_read() -> None:
    config = read_config(WHOLE)
    assert (config.mode, config.brain, config.language, config.opt_out_label) == ("label", "rules", "de", "no bots")
    assert (config.limits.questions, config.commands["stop"]) == (1, "maintainer")
    assert config.limits.claim_from == 0.8
    assert config.labels.allows("area: lexer")
    assert config.labels.allows("type: bug")
    assert not config.labels.allows("wontfix")
    assert path_matches("vendor/a/b.c", config.ignore_paths)
    assert path_matches("jquery.min.js", config.ignore_paths)
    assert not path_matches("src/vendor/x", config.ignore_paths)


def test_keys_of_an_earlier_release_are_ignored() -> None:
    former = "pictures: false\ndigest: {issue: 3}\ncommands: {digest: nobody}\nlimits: {over: wait}\n"
    assert read_config(former) == RepositoryConfig()


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_file_means_the_defaults(text: str) -> None:
    assert read_config(text) == RepositoryConfig()


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        pytest.param("\nmod: label\n", 2, "unknown key `mod`; did you mean `mode`?", id="unknown-key"),
        pytest.param("labels:\n  allow: []\n", 2, "did you mean `allowed`", id="unknown-key-below"),
        pytest.param("labels:\n  map:\n    bgu: x\n", 3, "unknown key `bgu`; did you mean `bug`?", id="kind"),
        pytest.param("commands:\n  redirekt: nobody\n", 2, "did you mean `redirect`", id="command"),
        pytest.param("commands:\n  stop: anyone\n", 2, "`commands.stop` must be 'author', 'maintainer'", id="role"),
        pytest.param("mode: coment\n", 1, "did you mean `comment`?", id="mistyped-value"),
        pytest.param("labels:\n  allowed: bug\n", 2, "`labels.allowed` must be a list", id="no-list"),
        pytest.param("enabled: maybe\n", 1, "`enabled` must be true or false", id="no-truth"),
        pytest.param("language: english\n", 1, "must be a language code, such as `en`", id="language"),
        pytest.param("bots: [a, '']\n", 1, "`bots`, entry 2, must not be empty", id="empty-entry"),
        pytest.param("mode: shout\n", 1, "`mode` must be 'dry-run', 'label' or 'comment'", id="value"),
        pytest.param("a: 1\nlimits:\n  questions: 3\n", 3, "`limits.questions` must be at most 2", id="number"),
        pytest.param("mode: label\nmode: comment\n", 2, "`mode` appears twice", id="twice"),
        pytest.param("bots:\n  - a\n  - []\n", 3, "bots", id="item"),
        pytest.param("mode: 'label\n", 2, "not YAML", id="broken"),
        pytest.param("- mode\n", 1, "a mapping", id="a-list"),
        pytest.param("a: &x [1]\nb: *x\n", 2, "aliases", id="alias"),
        pytest.param("a: " + "[" * 5_000, 1, "deeply", id="deep"),
        pytest.param("a: \x01", 1, "not YAML", id="control-character"),
        pytest.param("a: !!python/object:os.system ls\n", 1, "unknown key", id="a-tag-makes-nothing"),
        pytest.param("x" * 70_000, 1, "longer than", id="long"),
        pytest.param("labels:\n  allowed: ['*a*a*a*a*a*b']\n", 2, "labels.allowed", id="many-stars"),
        pytest.param("ignore_paths:\n- vendor/\n- '!vendor/ours'\n", 3, "ignore_paths", id="negated-path"),
    ],
)
def test_a_fault_is_named_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_config(text)
    assert any(fault.line == line and says in fault.message for fault in raised.value.faults), raised.value.faults


def test_faults_are_in_the_order_of_their_lines() -> None:
    text = "mode: shout\nlimits:\n  questions: 9\n  claim_from: many\nlanguage: english\nmod: label\n"
    with pytest.raises(ConfigError) as raised:
        read_config(text)
    assert [fault.line for fault in raised.value.faults] == [1, 3, 4, 5, 6]


def test_no_value_of_the_file_is_repeated() -> None:
    with pytest.raises(ConfigError) as raised:
        read_config("mode: hunter2\nlanguage: hunter2\nbots: hunter2\nlimits: {claim_from: hunter2}\n")
    assert len(raised.value.faults) == 4
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("schema", [config_schema, operator_schema, Settings.model_json_schema])
def test_each_pattern_is_explained_in_words(schema: Callable[[], dict[str, Any]]) -> None:
    patterns = set(re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(schema())))
    assert patterns
    assert {json.loads(pattern) for pattern in patterns} <= PATTERNS.keys()


def test_a_key_in_a_fault_is_sanitised() -> None:
    with pytest.raises(ConfigError) as raised:
        read_config('"`@all`\\n/close": 1\n')
    assert raised.value.faults[0].message.startswith("unknown key `@all/close`")


def test_the_schema_accepts_every_valid_file() -> None:
    validator = jsonschema.Draft202012Validator(config_schema())
    validator.validate(yaml.safe_load(WHOLE))
    assert not validator.is_valid({"mod": "label"})
    assert not validator.is_valid({"mode": "shout"})


class Files:
    def __init__(self, own: str | None = None, organisation: str | None = None) -> None:
        self.own, self.organisation = own, organisation

    async def file(self, path: str) -> str | None:
        assert path == ".github/triage.yml"
        return self.own

    async def organisation_file(self, path: str) -> str | None:
        assert path == ".github/triage.yml"
        return self.organisation


async def test_the_repository_comes_first_and_nothing_is_merged() -> None:
    found = await find_config(Files("brain: rules\n", "mode: label\n"))
    assert (found.config.mode, found.config.brain) == ("comment", "rules")
    found = await find_config(Files(None, "mode: label\n"))
    assert found.config.mode == "label"
    assert (await find_config(Files())).config == RepositoryConfig()


@pytest.mark.tried("configurations that cannot be read")
async def test_an_invalid_file_leaves_the_last_valid_one_in_effect() -> None:
    broken = Files("mod: label\n", "mode: label\n")
    found = await find_config(broken)
    assert found.config.mode == "dry-run"
    assert [fault.line for fault in found.faults] == [1]
    found = await find_config(broken, "mode: label\n")
    assert (found.config.mode, found.text) == ("label", "mode: label\n")
    assert (await find_config(broken, "also: broken\n")).config.mode == "dry-run"


@pytest.mark.tried("configurations that cannot be read")
@pytest.mark.parametrize(
    ("text", "may_tell"),
    [
        pytest.param("labels: [\n", True, id="not-yaml"),
        pytest.param("mode: comment\nlabels: [\n", True, id="not-yaml-and-comments-are-wanted"),
        pytest.param("- mode\n", True, id="a-list"),
        pytest.param("enabled: false\nlabels: [\n", False, id="not-yaml-and-switched-off"),
        pytest.param("  'mode' : \"dry-run\"\nlabels: [\n", False, id="not-yaml-and-a-dry-run"),
        pytest.param("{enabled: no, [", False, id="flow"),
        pytest.param("e\0n\0a\0b\0l\0e\0d\0:\0 \0f\0a\0l\0s\0e\0\n\0", False, id="utf-16-without-a-mark"),
        pytest.param("enabled: false\n" + "#" * 70_000, False, id="too-long-and-switched-off"),
    ],
)
async def test_a_syntax_error_is_reported_unless_the_file_switches_comments_off(text: str, may_tell: bool) -> None:
    found = await find_config(Files(text))
    assert found.faults
    assert found.config.mode == "dry-run"
    assert found.may_tell is may_tell


def test_the_command_names_each_fault_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "triage.yml"
    file.write_text("mod: x\nbrain: gpt\n")
    done = CliRunner().invoke(cli, ["config", "check", str(file)])
    assert done.exit_code == 1
    assert f"{file}:1: unknown key `mod`" in done.output
    assert f"{file}:2: `brain`" in done.output
    document = json.loads(CliRunner().invoke(cli, ["config", "check", str(file), "--json"]).output)
    assert (document["valid"], [fault["line"] for fault in document["faults"]]) == (False, [1, 2])
    file.write_text("mode: label\n")
    document = json.loads(CliRunner().invoke(cli, ["config", "check", str(file), "--format", "json"]).output)
    assert document == {"file": str(file), "valid": True, "summary": "mode label", "faults": [], "notes": []}
    done = CliRunner().invoke(cli, ["config", "check", str(file)])
    assert (done.exit_code, done.output) == (0, f"{file}: valid; mode label\n")


def test_a_missing_file_is_reported_in_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["config", "check", str(tmp_path / "none.yml")])
    assert done.exit_code == 2
    assert "cannot be read" in done.output


def test_the_schema_is_printed() -> None:
    assert json.loads(CliRunner().invoke(cli, ["config", "schema"]).output) == config_schema()
