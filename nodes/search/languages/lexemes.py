"""What the pieces of a few lines of code are, for whoever shows them in colour."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Literal

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

Kind = Literal["", "comment", "string", "number", "keyword"]
PATIENCE = 0.1
"""Seconds of work for one quote; most take less than a thousandth of one."""
LONGEST = 20_000
"""Characters beyond which nothing is told apart: this is for quotes."""
_WORDS = frozenset(["true", "false", "none", "null", "nil", "undefined", "self", "this", "super"])
_STRINGS = ("string", "char_literal", "character_literal", "template_literal", "heredoc", "rune_literal", "regex")


def pieces(grammar: Grammar, text: str) -> list[tuple[Kind, str]]:
    """Cut text at what its grammar sees in it; lines out of the middle of a file are no fault, only less is seen.

    Returns:
        Pieces that are the text again when they are joined; nothing in it is lost, whatever it is.
    """
    source = text.encode("utf-8", "surrogateescape")
    if len(text) > LONGEST or b"\0" in source:
        return [("", text)]
    root = _parsed(grammar, source)
    if root is None:
        return [("", text)]
    found: list[tuple[Kind, str]] = []
    at = 0
    for kind, start, end in _spans(root, source):
        if start < at:
            continue
        found += [("", _text(source[at:start])), (kind, _text(source[start:end]))]
        at = end
    return [piece for piece in (*found, ("", _text(source[at:]))) if piece[1]]


def _parsed(grammar: Grammar, source: bytes) -> Node | None:
    """The tree; None where it takes too long, as with a scanner that looks for a comment's end from each start."""
    until = time.thread_time() + PATIENCE
    try:
        tree = Parser(grammar).parse(
            lambda offset, _point: source[offset:], progress_callback=lambda _offset, _fault: time.thread_time() > until
        )
    except ValueError:
        return None
    return tree.root_node


def _spans(root: Node, source: bytes) -> Iterator[tuple[Kind, int, int]]:
    """What is told apart, from left to right; a stack, for hostile nesting is deeper than Python's own."""
    open_nodes = [root]
    while open_nodes:
        node = open_nodes.pop()
        kind = _kind(node, source)
        if kind:
            yield kind, node.start_byte, node.end_byte
        elif kind is None:
            open_nodes.extend(reversed(node.children))


def _kind(node: Node, source: bytes) -> Kind | None:
    """What a node is as a whole; None where its children tell."""
    name = node.type
    if "comment" in name:
        return "comment"
    if node.is_named and any(word in name for word in _STRINGS) and "interpolat" not in name:
        return "string"
    if node.child_count:
        return None
    said = _text(source[node.start_byte : node.end_byte])
    if node.is_named:
        if said[:1].isdigit():
            return "number"
        return "keyword" if said.lower() in _WORDS else ""
    return "keyword" if len(said) > 1 and said.replace("_", "").isalpha() else ""


def _text(source: bytes) -> str:
    return source.decode("utf-8", "surrogateescape")
