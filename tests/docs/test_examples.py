"""The examples of the documentation: commands parse, files are valid, and every setting that is named exists."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from bot.cli.group import cli
from bot.settings.environment import Settings
from bot.settings.operator import OperatorConfig, read_operator_config
from bot.settings.repository import RepositoryConfig, read_config
from tests.cli.process import ROOT, triage
from tests.support.patience import patience

PAGES = [
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "decisions-archive.md"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md")),
]
"""The pages for readers of this release; the archive of decisions is a record of earlier ones."""
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(triage [^`]+)`")
SETTING = re.compile(r"\b(?:TRIAGE|GITHUB|OPENAI)_[A-Z0-9_]*[A-Z0-9]\b")
TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)
WIDTH = 100
"""Characters of a line in a block, above which a page of usual width scrolls."""
ENDS = {"|", "||", "&&", ";", "&", "("}
SCHEMAS = {"jobs": "vendor.github-workflows", "services": "vendor.compose-spec"}
"""The schema of a file that has this key, as check-jsonschema has it."""
PROMETHEUS = {"scrape_configs", "rule_files"}


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Return where it is, for the name of a test."""
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page, without the indent of a list that they stand in."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        indent, language, code = match.groups()
        lines = [line.removeprefix(indent) for line in code.splitlines(keepends=True)]
        yield Block(page, text[: match.start()].count("\n") + 1, language, "".join(lines))


BLOCKS = [block for page in PAGES for block in blocks(page)]


def of(*languages: str) -> pytest.MarkDecorator:
    """Parametrize a test by the blocks of these languages."""
    found = [block for block in BLOCKS if block.language in languages]
    return pytest.mark.parametrize("block", found, ids=lambda block: block.place)


def commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each command of a script, without redirections and settings in front."""
    without_comments = re.sub(r"(?:^|[ \t])#.*", "", script.replace("\\\n", " "), flags=re.MULTILINE)
    lexer = shlex.shlex(without_comments, posix=True, punctuation_chars="()|&;<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    words = list[str]()
    tokens = iter(lexer)
    for token in tokens:
        if token.strip("\n") in {"", *ENDS, ")"}:
            yield words
            words = []
        elif token in {"<", ">", ">>"}:
            next(tokens, None)
        elif words or not re.fullmatch(r"[A-Z_]+=.*", token, re.DOTALL):
            words.append(token)
    yield words


def started(name: str) -> Iterator[tuple[Block, list[str]]]:
    """Yield the uses of a program in all scripts, with the words after its name."""
    for block in BLOCKS:
        if block.language == "sh":
            for words in commands(block.text):
                if words and words[0] == name:
                    yield block, words[1:]


def uses(name: str) -> list[Any]:
    """Return the uses of a program as parameters of a test."""
    return [pytest.param(words, id=f"{block.place} {' '.join(words)}"[:90]) for block, words in started(name)]


def helped() -> Iterator[Any]:
    """Yield the commands in the texts of ``--help``, which the page of the command line repeats."""
    lines = (line for block in BLOCKS if block.page.name == "cli.md" for line in block.text.splitlines())
    for line in lines:
        example = re.fullmatch(r" +(?:\$ )?(?:[^|]*\| )?triage (\w+ .*)", line)
        if example:
            yield pytest.param(next(commands(example[1])), id=f"help {example[1]}"[:90])


def parse(words: list[str]) -> list[click.Context]:
    """Parse a command line like the program does, without running it; return the contexts of all its commands."""
    contexts, command = [click.Context(cli, info_name="triage")], cli
    while isinstance(command, click.Group):
        _, found, words = command.resolve_command(contexts[-1], words)
        assert found is not None
        command = found  # type: ignore[assignment]
        contexts.append(command.make_context(command.name, list(words), parent=contexts[-1]))
        words = [*contexts[-1]._protected_args, *contexts[-1].args]
    return contexts


@pytest.mark.parametrize("words", [*uses("triage"), *helped()])
def test_a_command_is_accepted_by_the_program(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in words:
        if re.fullmatch(r"[\w.-]+\.(?:md|json|jsonl)", word):  # options may require that it exists
            Path(word).write_text("{}\n")
    parse(words)


def test_the_example_of_classify_prints_what_the_help_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    found = re.search(r"\$ echo '(.+)' \| triage classify -\n +(\{.+\})\n", page)
    assert found
    assert triage(tmp_path, "classify", "-", stdin=found[1].encode()).stdout.strip() == found[2]


def options(words: list[str]) -> tuple[set[str], set[str]]:
    """Return the options in a command line, and those that its command has."""
    command: click.Command = cli
    for word in words:
        context = click.Context(command)
        found = command.get_command(context, word) if isinstance(command, click.Group) else None
        command = found or command
    has = {name for option in command.get_params(click.Context(command)) for name in option.opts}
    return {word.partition("=")[0] for word in words if word.startswith("-") and word != "-"}, has


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_command_in_prose_has_these_options(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    for command in INLINE.findall(text):
        given, has = options(shlex.split(command)[1:])
        assert given <= has, command


@of("sh")
def test_a_script_is_valid_shell(block: Block) -> None:
    read = subprocess.run(
        ["bash", "-n"], input=re.sub(r"<(\w+)>", r"\1", block.text), capture_output=True, text=True,
        timeout=patience(10), check=False,
    )  # fmt: skip
    assert (read.returncode, read.stderr) == (0, "")


@pytest.mark.parametrize("words", uses("make"))
def test_a_target_is_in_the_makefile(words: list[str]) -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    assert {word for word in words if "=" not in word} <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_targets_and_modules_in_prose_exist(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    assert set(re.findall(r"`make ([a-z-]+)\b", text)) <= targets
    modules = set(re.findall(r"python -m ((?:benchmarks|bot|tests)[\w.]*)", text))
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


@of("yaml")
def test_a_file_is_valid(block: Block, tmp_path: Path) -> None:
    keys = set(yaml.safe_load(block.text))
    for key, schema in SCHEMAS.items():
        if key in keys:
            return check(tmp_path, schema, block.text)
    if keys <= PROMETHEUS:
        return None
    if keys <= set(OperatorConfig.model_fields):
        read_operator_config(re.sub(r"\$\{\w+\}", "a-value", block.text))
    else:
        assert keys <= set(RepositoryConfig.model_fields)
        read_config(block.text)
    return None


def check(folder: Path, schema: str, text: str) -> None:
    """Validate a file against a published schema."""
    file = folder / "example.yml"
    file.write_text(text)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patience(60), check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@of("json")
def test_json_is_json(block: Block) -> None:
    assert json.loads(block.text)


@of("python")
def test_a_program_compiles(block: Block) -> None:
    compile(block.text, block.place, "exec")


def test_every_language_of_a_block_is_checked() -> None:
    assert {block.language for block in BLOCKS} == {"sh", "yaml", "json", "python", "text"}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.place} {block.language}")
def test_lines_of_a_block_fit_the_page(block: Block) -> None:
    assert [line for line in block.text.splitlines() if len(line) > WIDTH] == []


def test_commands_are_read_as_a_shell_reads_them() -> None:
    script = "A=1 triage run o/r#5 --text 'a | b' \\\n  --brain rules  # a comment\n"
    script += "cat <x | triage classify - >y && make demo\n"
    assert [words for words in commands(script) if words] == [
        ["triage", "run", "o/r#5", "--text", "a | b", "--brain", "rules"],
        ["cat"],
        ["triage", "classify", "-"],
        ["make", "demo"],
    ]
    with pytest.raises(click.UsageError, match="No such option"):
        parse(["run", "--no-such-option"])
    assert options(["run", "--no-such-option=1"])[0] == {"--no-such-option"}


def known() -> set[str]:
    """Return every setting, the names of files for secrets, and the variables that runners and libraries read."""
    sources = [*(ROOT / "bot").rglob("*.py"), ROOT / "action.yml", ROOT / "compose.yaml", ROOT / "Dockerfile"]
    settings = {name.upper() for name in Settings.model_fields}
    return settings.union(*(SETTING.findall(path.read_text(encoding="utf-8")) for path in sources))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_variable_that_a_page_names_exists(page: Path) -> None:
    found = SETTING.findall(page.read_text(encoding="utf-8"))
    assert {name.removesuffix("_FILE") for name in found} - known() == set()
