"""Check the Python example of an issue for missing imports, input files and versions, without running it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from nodes.search.facts.inquiry import read_issue
from nodes.search.types import Query

MAX_NAMES = 3
"""Maximum number of names that are reported."""
LONGEST, DEEPEST = 8_000, 40
"""Characters of an example, and its nested brackets; a larger one is not parsed."""
_IMPORT = re.compile(r"^[ \t]*(?:>>>[ \t]*)?(?:import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import[ \t])", re.MULTILINE)
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?:[ \t]|$)")
_FILE = re.compile(r"[\w./-]{1,120}\.[A-Za-z]\w{0,5}")
_READS = re.compile(r"open|imread|read_\w+|load\w*")
_KNOWN = frozenset({*dir(builtins), "__file__", "__doc__", "display", "get_ipython", "reveal_type"})


def check_example(title: str, body: str, versions: Sequence[str]) -> str:
    """Return what the Python example of an issue lacks, as a sentence; empty if the issue has no such example.

    Args:
        title: the issue's title.
        body: its text.
        versions: the versions that the issue names.
    """
    blocks = [_typed(block) for block in read_issue(Query(title, body)).blocks if _IMPORT.search(block)]
    nodes = _parsed("\n".join(blocks)) if blocks else []
    if not nodes or any(isinstance(node, ast.alias) and node.name == "*" for node in nodes):
        return ""
    undefined = [name for name in _undefined(nodes) if not _is_bound(name, body)]
    if {"self", "cls"} & set(undefined):  # a part of a class, not an example
        return ""
    files = [name for name in dict.fromkeys(_read_files(nodes)) if body.count(PurePosixPath(name).stem) == 1]
    used = ", ".join(f"`{name}`" for name in undefined[:MAX_NAMES])
    lacks = [f"it uses {used} without an import or a definition"] if undefined else []
    lacks += [f"it reads `{name}`, which the report does not contain" for name in files[:1]]
    lacks += [] if versions else ["the report names no version"]
    return f"The example was read, not run: {'; '.join(lacks) or 'no missing import or input file was found'}."


def _typed(block: str) -> str:
    """Return the lines of a block that were typed: with prompts, only the lines that have one."""
    lines = block.split("\n")
    prompted = [_PROMPT.sub("", line) for line in lines if _PROMPT.match(line)]
    return "\n".join(prompted or lines)


def _parsed(code: str) -> list[ast.AST]:
    """Return all nodes of a program; none if it is not Python or is too large."""
    depth = deepest = 0
    for character in code[: LONGEST + 1]:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    if len(code) > LONGEST or deepest > DEEPEST:
        return []
    try:
        program = ast.parse(code)
        program.body = [item for item in program.body if not _is_printed(item)]
        return list(ast.walk(program))
    # A long chain of operators nests as deeply as brackets do.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _is_printed(statement: ast.stmt) -> bool:
    """Return whether a statement is a value as Python prints it, such as ``array([1, 2])``: pasted output."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    plain = (ast.List, ast.Tuple, ast.Dict, ast.Constant, ast.UnaryOp)
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and all(isinstance(arg, plain) for arg in (*call.args, *(arg.value for arg in call.keywords)))
        and bool(call.args)
        and not isinstance(call.args[0], ast.Constant)
    )


def _undefined(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the names that a program uses and binds nowhere, in order of appearance."""
    used: dict[str, None] = {}
    bound: set[str] = set(_KNOWN)
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.setdefault(node.id)
        bound.update(_bound(node))
    return [name for name in used if name not in bound]


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _is_bound(name: str, body: str) -> bool:
    """Return whether the text of the issue imports or assigns a name, in whichever block or sentence."""
    return bool(re.search(rf"\b(?:import|as|def|class)\b[^\n]{{0,200}}\b{name}\b|\b{name}[ \t]*=(?!=)", body))


def _read_files(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of files that calls such as ``open("a.csv")`` read."""
    for node in nodes:
        if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        name, mode = node.args[0].value, node.args[1] if len(node.args) > 1 else None
        writes = any(isinstance(item, ast.Constant) and item.value not in ("r", "rb") for item in (mode,))
        if isinstance(name, str) and _FILE.fullmatch(name) and _READS.fullmatch(called) and not writes:
            yield name
