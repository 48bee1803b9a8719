"""Finds definitions, imports and messages of a file with one query over its syntax tree.

Only this module imports tree-sitter, which holds the interpreter's lock while it parses, on hostile input for minutes.
Therefore only the helper processes (``nodes.search.languages.helper``) and tests import this module.
"""

import importlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor

from nodes.search.languages import grammar
from nodes.search.languages.table import BY_KEY, language_for
from nodes.search.types import Outline

MAX_WRECKAGE = 20_000
"""Maximum loose tokens at the top of a file that does not parse; a query's time grows by the square of their number."""
MAX_GAP = 2_000
"""Maximum bytes between an attribute and its definition."""
_QUERIES = Path(__file__).with_name("queries")
_SCRIPT = re.compile(rb"<script\b[^<>]*>", re.IGNORECASE)
_NOT_FEED = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))
_ARGUMENTS = re.compile(r"<[^<>]*>")
_CAST = re.compile(r"(\boperator\s+\w[^()]*)\(.*", re.DOTALL)
_SPACE = re.compile(r"\s+(?!\w)|(?<!\w)\s+")
_BETWEEN = re.compile(rb"(?>(?:\s|//[^\n]*\n)*)")
"""Allowed between an attribute and its definition: white space and line comments."""

_DIALECTS = {"javascript": BY_KEY["tsx"]}
"""Languages whose grammar also reads a dialect that the one by name rejects: JavaScript with Flow's types."""
_KINDS = frozenset(("function", "method", "class", "interface", "enum", "module", "macro", "type", "constant"))


def outline(path: str, source: bytes) -> Outline:
    """Outline one file, without a parser if possible."""
    language = language_for(path, source)
    if language is None:
        return Outline("text")
    return grammar.outline_without_parser(language, source) or parsed(language, source)


def parsed(language: grammar.Language, source: bytes) -> Outline:
    """Outline one file by its syntax tree, or by another grammar's if that finds more in a file with errors."""
    code = scripts_of(source) if language.name == "component" else source
    root, outlined = _parsed(language, code)
    dialect = _DIALECTS.get(language.name)
    if dialect is None or root is None or not root.has_error:
        return outlined
    _, other = _parsed(dialect, code)
    more = len(other.definitions) > len(outlined.definitions)
    return replace(other, language=language.name) if more else outlined


def scripts_of(source: bytes) -> bytes:
    """Return a page with everything blanked except its scripts; lines and columns stay."""
    parts, at = [], 0
    while opening := _SCRIPT.search(source, at):
        closing = source.find(b"</script", opening.end())
        end = closing if closing >= 0 else len(source)
        parts += [source[at : opening.end()].translate(_NOT_FEED), source[opening.end() : end]]
        at = end
    return b"".join([*parts, source[at:].translate(_NOT_FEED)])


def _parsed(language: grammar.Language, source: bytes) -> tuple[Node | None, Outline]:
    """Return the tree and the outline of a source; no tree if it gives none that can be read."""
    parser, query = _loaded(language)
    try:
        root = parser.parse(source).root_node
    except ValueError:  # the binding raises this if the parser returned no tree
        return None, Outline(language.name)
    if root.type == "ERROR" and root.child_count > MAX_WRECKAGE:
        return None, Outline(language.name)
    found: list[grammar.FoundBlock] = []
    imports: dict[str, None] = {}
    strings: list[tuple[int, str]] = []
    leads: list[Node] = []
    for _, captures in QueryCursor(query).matches(root):
        if nodes := captures.get("string"):
            strings.extend(_messages(nodes, source))
        elif nodes := captures.get("import"):
            imports.update(dict.fromkeys(_text(node).strip("\"'`<> ;\n").removeprefix("import ") for node in nodes))
        elif nodes := captures.get("lead"):
            leads.extend(nodes)
        else:
            found.extend(_found(captures, source))
    leads.sort(key=lambda lead: lead.end_byte)
    ends = [lead.end_byte for lead in leads]
    for item in found if leads else ():
        item.start_line = _first_line(item, leads, ends, source)
    return root, Outline(language.name, grammar.nested(found), tuple(imports), tuple(strings[: grammar.MAX_STRINGS]))


@cache
def _loaded(language: grammar.Language) -> tuple[Parser, Query]:
    loaded = load(language)
    query = "".join((_QUERIES / f"{name}.scm").read_text(encoding="utf-8") for name in language.queries)
    return Parser(loaded), Query(loaded, query)


@cache
def load(language: grammar.Language) -> Grammar:
    """Return the grammar of a language from its wheel."""
    module: Any = importlib.import_module(language.package)
    return Grammar(getattr(module, language.factory)())


def _found(captures: dict[str, list[Node]], source: bytes) -> Iterator[grammar.FoundBlock]:
    kind = next((name for name in captures if name in _KINDS or name == "scope"), None)
    names = captures.get("name")
    if kind is None or not names:
        return
    node = captures[kind][0]
    name = ".".join(filter(None, (_dotted(part) for part in (*captures.get("owner", ()), names[0]))))
    if not name:
        return
    yield grammar.FoundBlock(
        kind, name, node.start_byte, node.end_byte, node.start_point[0] + 1, _last_line(node, source)
    )


def _last_line(node: Node, source: bytes) -> int:
    """Return a definition's last line without the white space after it, which indentation-based grammars include."""
    line, end, start = node.end_point[0] + 1, node.end_byte, node.start_byte
    while end > start and source[end - 1] in b" \t\r\n":
        end -= 1
        line -= source[end] == ord("\n")
    return line


def _first_line(item: grammar.FoundBlock, leads: Sequence[Node], ends: Sequence[int], source: bytes) -> int:
    line, start = item.start_line, item.start
    # Backwards from the definition: several attributes may be above each other.
    for number in range(bisect_right(ends, start) - 1, -1, -1):
        gap = _BETWEEN.match(source, ends[number], start) if start - ends[number] <= MAX_GAP else None
        if gap is None or gap.end() < start:
            break
        line, start = leads[number].start_point[0] + 1, leads[number].start_byte
    return line


def _messages(nodes: Iterable[Node], source: bytes) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if text := grammar.message(source[node.start_byte : node.end_byte]):
            yield node.start_point[0] + 1, text


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _dotted(node: Node) -> str:
    text = _text(node)[: grammar.MAX_NAME]
    if text.isidentifier():
        return text
    text = text.strip("*& \r\n\t`:")
    # In an operator's name, angle brackets may be the name itself, and a cast is named after its type.
    text = _CAST.sub(r"\1", text) if "operator" in text else _ARGUMENTS.sub("", text)
    return _SPACE.sub("", text).replace("::", ".").removesuffix(".prototype").strip(".")
