"""Documents, docstrings, comments, messages, pages and names are written in plain technical English."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.cli.process import ROOT

GENERATED = {"cli.md", "measures.md", "settings.md"}
"""Pages whose text is in docstrings, field descriptions and docs/generate.py."""
DOCUMENTS = sorted(
    [
        *(page for page in (ROOT / "docs").glob("*.md") if page.name not in GENERATED),
        *ROOT.glob("*.md"),
        *(ROOT / ".github").rglob("*.md"),
        ROOT / "benchmarks" / "README.md",
    ]
)
PACKAGES = ("bot", "nodes", "prompts", "benchmarks")
DIALECT = re.compile(
    "|".join(
        (
            r"\bmend(?:s|ed|ing)?\b",
            r"\bheld against\b",
            r"\bhold(?:s|ing)? \w+ against\b",
            r"\bwhoever\b",
            r"\bgo(?:es)? round\b",
            r"\bnobody (?:knows|has|took|takes|works)\b",
            r"\bhears? (?:of|in|less|more|history)\b",
            r"\b(?:is|are) told\b",
            r"\bwhat bites\b",
            r"\bso manieth\b",
            r"\btaken for known\b",
            r"\bknows itself\b",
            r"\blets? in\b",
            r"\bcannot rot\b",
            r"\b(?:came|comes|come) to nothing\b",
            r"\bwhat (?:it|a run|they) (?:came|comes) to\b",
            r"\b(?:written|made|begun|posted|starts|begins) anew\b",
            r"\bsaid once\b",
            r"\bpurse\b(?!:)",
            r"\bas ever\b",
            r"\bspeaks? for\b",
            r"\bis no choice\b",
            r"\bwas no choice\b",
            r"\btak(?:e|es|en) up again\b",
            r"\bbegin(?:s)? again\b",
            r"\bleft unread\b",
            r"\bsay how things stand\b",
            r"\bsigns? of life\b",
            r"\bin hand\b",
            r"\blaid aside\b",
            r"\bnothing is kept\b",
            r"\bevery decision leads here\b",
            r"\blast said\b",
            r"\blook again\b",
            r"\bon its way\b",
            r"\bby how they compared\b",
            r"\bno longer reads as\b",
            r"\bis (?:no|nobody's) (?:JSON|address|limit|price)\b",
            r"\banew\b",
            r"\bcame (?:about|of)\b",
            r"\bbec(?:omes?|ame) of\b",
            r"\bleads? nowhere\b",
            r"\bmeans? harm\b",
            r"\bin the midst\b",
            r"\bin its stead\b",
            r"\bby nature\b",
            r"\bof late\b",
            r"\bto be had\b",
            r"\bread(?:s)? so\b",
            r"\bstand-ins?\b",
            r"\btak(?:e|es|en) (?:it |them |that )?for\b",
            r"\bt(?:ook|akes?|aken) out\b",
            r"\btells? (?:nothing|something|little|less|more) of\b",
            r"\bsa(?:ys?|id) (?:nothing|something|little|less|more) of\b",
            r"\bholds? (?:the|no|these|a) (?:names?|words?|lines?|text)\b",
            r"\blook(?:s|ed)? (?:it|them|facts?|every fact|a fact) up again\b",
            r"\bhow a (?:report|run) came\b",
            r"\bis had by\b",
            r"\bnobody (?:works|watches|listens|looks|asked|gathered)\b",
            r"\b(?:foreign|strangers') (?:prose|words|address)\b",
            r"(?<!there )\bis no (?:failure|fault|finding|measure|ordinary|part|person|string)\b",
            r"\bfor ever\b",
            r"\bgoes on to\b",
            r"\bthing without a\b",
            r"\bnot what was promised\b",
            r"\b(?:is|are) no (?:clones?|evidence|guards?|measure|messages?)\b",
            r"\b(?:is|are) no (?:names?|objects?|recording|results|table|tests?)\b(?!:)",
            r"\b(?:answer|reply) holds no\b",
        )
    ),
    re.IGNORECASE,
)
NAMES = re.compile(
    r"(?:^|_)(?:said|told|untold|unkept|mend(?:s|ed|ing)?|purse|ledger|errands?|parlance|whoever|begun|anew|door|heard"
    r"|wish|triagist|still_ours|let_in|let_out|knows_itself|is_us|run_through|go_round|go_on|goes_on|in_hand|put_off"
    r"|come_back|came_in|made_anew|bears|is_led)(?:_|$)",
    re.IGNORECASE,
)
"""Parts of names that carry no meaning for a reader; docs/glossary.md has the terms that replace them."""
STORED = {"put_off", "job_put_off", "jobs_in_hand"}
"""Names of metrics, log actions and indexes that operators or databases use."""
PROMPTS = ("nodes/judgements.py",)
"""Modules whose texts are prompts for a model."""


HEADLESS = re.compile(r"(?:What|Where|Who|Whose|How|Which|Why|Nobody|Whether)\b")
"""First words of a docstring without a subject; functions start with a verb, classes and modules with a noun."""


def found(text: str) -> list[str]:
    """Return the phrases of the list in a text; code spans are ignored, because names are not prose."""
    without_code = re.sub(r"``[^`\n]+``|`[^`\n]+`", "", text)
    return [match.group() for match in DIALECT.finditer(" ".join(without_code.split()))]


TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | (?:\b[rbfu]{1,2})?(?:\"{3}(?:[^\\"]|\\.|"(?!""))*\"{3} | '{3}(?:[^\\']|\\.|'(?!''))*'{3}
        | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
    | \b(?P<name>[^\W\d]\w*)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""A comment, a string or a name of a module, as ``tokenize`` finds them in several times the time."""


class Texts(NamedTuple):
    """The texts of a module, each with its line."""

    prose: list[tuple[int, str]]
    """Docstrings, including those of attributes, and comments."""
    documented: list[tuple[int, str]]
    """Docstrings of the module, its classes and its functions, except properties."""
    literals: list[tuple[int, str]]
    """String literals that are not docstrings."""
    names: list[tuple[int, str]]
    """Identifiers, each where it is first."""
    tests: list[tuple[int, str]]
    """Names of test functions."""


@functools.cache
def texts(source: str) -> Texts:
    """Return the texts of a module, which is parsed and walked once for all tests: that takes most of their time."""
    found_in = Texts([], [], [], [], [])
    documentation: set[int] = set()
    constants: list[ast.Constant] = []
    for node in ast.walk(tree := ast.parse(source)):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                constants.append(node)
        elif isinstance(node, ast.Expr):
            documentation.add(id(node.value))
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                found_in.prose.append((node.lineno, node.value.value))
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found_in.documented.extend(documented(node))
            if not isinstance(node, ast.ClassDef) and node.name.startswith("test_"):
                found_in.tests.append((node.lineno, node.name))
    found_in.documented.extend(documented(tree))
    found_in.literals.extend((node.lineno, str(node.value)) for node in constants if id(node) not in documentation)
    named: dict[str, int] = {}
    for token in TOKEN.finditer(source):
        if name := token["name"]:
            named.setdefault(name, token.start())
        elif comment := token["comment"]:
            found_in.prose.append((line_of(source, token.start()), comment))
    found_in.names.extend((line_of(source, at), name) for name, at in named.items())
    return found_in


def line_of(source: str, at: int) -> int:
    """Return the number of the line at a position."""
    return source.count("\n", 0, at) + 1


def documented(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[int, str]]:
    """Yield the docstring of a module, a class or a function, unless that is a property."""
    text = ast.get_docstring(node)
    decorators = [] if isinstance(node, ast.Module) else node.decorator_list
    if text and not any("property" in ast.unparse(each) for each in decorators):
        yield node.body[0].lineno, text


@functools.cache
def modules(package: str) -> list[tuple[str, str]]:
    """Return paths and sources of a package's modules."""
    paths = sorted((ROOT / package).rglob("*.py"))
    return [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_documents_are_in_plain_words(document: Path) -> None:
    assert found(document.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("package", [*PACKAGES, "tests"])
def test_docstrings_and_comments_are_in_plain_words(package: str) -> None:
    hits = [
        f"{path}:{line}: {phrase}"
        for path, source in modules(package)
        if "/samples/" not in path  # sources that parsers read
        for line, text in texts(source).prose
        for phrase in found(text)
    ]
    assert not hits, f"{len(hits)} phrases of the word list:\n" + "\n".join(hits)


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_begin_with_a_subject_or_a_verb(package: str) -> None:
    hits = [
        f"{path}:{line}: {text.partition(chr(10))[0]}"
        for path, source in modules(package)
        for line, text in texts(source).documented
        if HEADLESS.match(text)
    ]
    assert not hits, "\n".join(hits)


@pytest.mark.parametrize("package", PACKAGES)
def test_messages_are_in_plain_words(package: str) -> None:
    hits = [
        f"{path}:{line}: {phrase}"
        for path, source in modules(package)
        if not path.startswith(PROMPTS)
        for line, text in texts(source).literals
        for phrase in found(text)
    ]
    assert not hits, f"{len(hits)} phrases of the word list:\n" + "\n".join(hits)


@pytest.mark.parametrize(
    "template", sorted((ROOT / "bot" / "server" / "web" / "templates").rglob("*.html")), ids=lambda p: p.name
)
def test_pages_are_in_plain_words(template: Path) -> None:
    assert found(template.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_terms_of_the_field(package: str) -> None:
    hits = [
        f"{path}:{line}: {name}"
        for path, source in modules(package)
        if not path.startswith(PROMPTS)
        for line, name in texts(source).names
        if NAMES.search(name) and name not in STORED
    ]
    hits += [path for path, _ in modules(package) if NAMES.search(Path(path).stem)]
    assert not hits, f"{len(hits)} names of the word list:\n" + "\n".join(hits)


def test_tests_are_named_by_terms_of_the_field() -> None:
    hits = [
        f"{path}:{line}: {name}"
        for path, source in modules("tests")
        if "/samples/" not in path  # sources that parsers read
        for line, name in texts(source).tests
        if NAMES.search(name)
    ]
    hits += [path for path, _ in modules("tests") if NAMES.search(Path(path).stem)]
    assert not hits, f"{len(hits)} names of the word list:\n" + "\n".join(hits)


def test_comments_and_names_are_those_that_python_reads() -> None:
    for path, source in (*modules("bot")[::20], *modules("tests")[::20]):
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
        comments = {(one.start[0], one.string) for one in tokens if one.type == tokenize.COMMENT}
        names = {one.string for one in tokens if one.type == tokenize.NAME}
        assert comments <= set(texts(source).prose), path
        assert names <= {name for _, name in texts(source).names}, path


def test_the_list_of_names_finds_a_part_and_not_a_syllable() -> None:
    assert NAMES.search("_said_before")
    assert NAMES.search("still_ours")
    assert not NAMES.search("recommended")
    assert not NAMES.search("indoors")


def test_the_word_list_finds_a_phrase_across_lines_and_not_in_code() -> None:
    assert found("It is\ntold.") == ["is told"]
    assert found("The module `nodes/brains/purse.py`, the class ``purse``, recommended and amended.") == []


def test_contributing_states_the_rule_for_commit_subjects() -> None:
    rule = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    assert "Commit subjects are imperative and have at most 72 characters" in rule


def test_forms_and_hooks_are_valid_yaml() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert [form.name for form in forms] == ["bug.yml", "config.yml", "feature.yml"]
    for form in (*forms, ROOT / ".pre-commit-config.yaml", *(ROOT / ".github" / "workflows").glob("*.yml")):
        assert yaml.safe_load(form.read_text(encoding="utf-8")), form


def test_actions_of_workflows_are_pinned_by_commit() -> None:
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        uses = re.findall(r"uses: \S+@(\S+)", workflow.read_text(encoding="utf-8"))
        assert uses
        assert all(re.fullmatch(r"[0-9a-f]{40}", pin) for pin in uses)
