"""Parse traces of Elixir, and of the Erlang code that it calls."""

from __future__ import annotations

import re

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import (
    Dialect,
    Heading,
)
from nodes.search.types import Frame

_FRAME = re.compile(
    r"(?:\(([\w .+-]{1,80})\) )?((?:[A-Za-z]:)?[^:\s(\"]{1,300}\.(?:exs?|eex|heex|leex|erl)):(\d{1,9}): (\S.{0,400})$"
)
_NO_FILE = re.compile(
    r"\([\w.+-]{1,60} \d[\w .+-]{0,30}\) ([A-Z][\w.]{0,200}\.[a-z_]\w{0,80}[?!]?)(?:\(.{0,400}\)|/\d{1,3})$"
)
"""The function whose clauses do not fit, for which Elixir prints its arguments and no file."""
_RAISED = re.compile(r".{0,120}?\*\* \((?:(?:EXIT|exit|throw) from \S{1,80}: )?([\w.]{1,200})\) ?(.*)$")
_ARITY = re.compile(r"/\d{1,3}$")


def _frame(bare: str) -> Frame | None:
    # A cheap test first: this runs for every line of every issue.
    match = _FRAME.match(bare) if "/" in bare or bare.startswith("(") or ".ex" in bare else None
    if match is None and bare.startswith("(") and (alone := _NO_FILE.match(bare)):
        module, function = _split_name(alone[1])
        return Frame("", None, function, module)
    if not match or not (_ARITY.search(match[4]) or match[4].startswith("(") or match[4].endswith(")")):
        return None
    module, function = _split_name(match[4])
    return Frame(forward(match[2]), int(match[3]), function, module)


def _split_name(written: str) -> tuple[str | None, str | None]:
    """Split ``Shop.Cart."-add/2-fun-0-"/3`` into its module and the function in it."""
    if written.startswith("("):
        return None, written.strip("()") or None
    # ``anonymous fn/1 in Shop.total/2``: the enclosing function is the one to find.
    if written.startswith("anonymous fn"):
        written = written.partition(" in ")[2] or written
    name = _ARITY.sub("", written.partition("(")[0])
    if '."' in name:
        module, _, function = name.partition('."')
        return module, function.strip('"').lstrip("-").partition("/")[0] or None
    module, dot, function = name.rpartition(".")
    return (module.removeprefix(":") or None, function or None) if dot else (None, name or None)


def _heading(bare: str) -> Heading | None:
    match = _RAISED.match(bare) if "** (" in bare else None
    return Heading(match[1], match[2].strip() or None) if match else None


def _alone(bare: str) -> Heading | None:
    heading = _heading(bare) if bare.startswith("** (") else None
    return heading if heading and str(heading.error).endswith(("Error", "Exception")) else None


def _is_filler(bare: str) -> bool:
    return bare == "(stdlib)"


DIALECT = Dialect("elixir", _frame, _heading, filler=_is_filler, alone=_alone)
