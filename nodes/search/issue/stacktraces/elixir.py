"""Parse traces of Elixir, and of the Erlang code that it calls."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import (
    Dialect,
    FramelessError,
    Heading,
    Line,
    add_frameless_errors,
    build_trace,
)
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections
from nodes.search.types import Frame, StackTrace

_FORMS = load_sections(Path(__file__).with_name("elixir.txt"))
_FRAME, _NO_FILE, _TERM, _REASON, _ERLANG, _EXCEPTION, _STRUCT, _FIELD, _COMPILED = (
    lazy("".join(_FORMS[name])) for name in "frame no_file term reason erlang exception struct field compiled".split()
)
_RAISED, _WORDS, _ARITY = (lazy("".join(_FORMS[name])) for name in ("raised", "words", "arity"))
_APART = 200
"""Maximum number of characters between two frames of one term."""
_MAX_FIELDS = 12


def _frame(bare: str) -> Frame | None:
    # A cheap test first: this runs for every line of every issue.
    match = _FRAME.match(bare) if "/" in bare or bare.startswith("(") or ".ex" in bare else None
    if match is None and bare.startswith("(") and (alone := _NO_FILE.match(bare)):
        module, function = _split_name(alone[1])
        return Frame(_path(module or ""), None, function, module)
    if bare.startswith("in ") and (erlang := _ERLANG.match(bare)):
        return Frame(forward(erlang[2]), int(erlang[3]), _inside(erlang[1].rpartition(":")[2].strip("'")))
    if not match or not (_ARITY.search(match[4]) or match[4].startswith("(") or match[4].endswith(")")):
        return None
    module, function = _split_name(match[4])
    return Frame(forward(match[2]), int(match[3]), function, module)


def _path(module: str) -> str:
    """Return the end of a module's path by convention: ``ShopWeb.Cart`` is in ``shop_web/cart.ex``."""
    return f"{_WORDS.sub('_', module).lower().replace('.', '/')}.ex" if module[:1].isupper() else ""


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
        return module, _inside(function.strip('"'))
    module, dot, function = name.rpartition(".")
    return (module.removeprefix(":") or None, function or None) if dot else (None, name or None)


def _inside(name: str) -> str | None:
    """Return a function's name without its arity; ``-total/1-fun-0-`` is a function inside ``total``."""
    return name.lstrip("-").partition("/")[0] or None


def _heading(bare: str) -> Heading | None:
    if "exception " in bare[:100] and (shell := _EXCEPTION.match(bare)):
        return Heading(None, shell[1], Frame(forward(shell[2]), int(shell[3])) if shell[2] else None)
    match = _RAISED.match(bare) if "** (" in bare else None
    if match and (place := _COMPILED.match(match[2])):
        return Heading(match[1], place[3], Frame(forward(place[1]), int(place[2])))
    return Heading(match[1], match[2].strip() or None) if match else None


def _alone(bare: str) -> Heading | None:
    heading = _heading(bare) if bare.startswith("** (") else None
    return heading if heading and str(heading.error).endswith(("Error", "Exception")) else None


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Return the traces that are printed, those that are written as terms, and the errors that are."""
    terms = list(_terms(lines)) if any("file" in line.bare and "line" in line.bare for line in lines) else []
    traces = [*DIALECT.find(lines), *terms]
    return add_frameless_errors(lines, "elixir", traces, _struct)


def _terms(lines: Sequence[Line]) -> Iterator[StackTrace]:
    text, starts = "\n".join(line.text for line in lines), [0]
    for line in lines:
        starts.append(starts[-1] + len(line.text) + 1)
    runs: list[list[re.Match[str]]] = []
    for found in _TERM.finditer(text):
        if not runs or found.start() - runs[-1][-1].end() > _APART:
            runs.append([])
        runs[-1].append(found)
    for run in runs:
        reason = _REASON.search(text, max(0, run[0].start() - _APART), run[0].start())
        first, last = (bisect_right(starts, at) - 1 for at in (run[0].start(), run[-1].end() - 1))
        frames = [
            Frame(forward(found[3]), int(found[4]), _inside(found[2]), found[1].removeprefix("Elixir."))
            for found in run
        ]
        yield build_trace("elixir", Heading(reason[1] if reason else None), frames, lines[first : last + 1])


def _struct(lines: Sequence[Line], index: int) -> FramelessError | None:
    """Read ``%Shop.Error{message: "..."}``, and the function that has no clause."""
    found = _STRUCT.search(lines[index].bare) if "%" in lines[index].bare else None
    if found is None:
        return None
    below = lines[index + 1 : index + _MAX_FIELDS] if found.end() == len(lines[index].bare) else ()
    text = "\n".join((lines[index].bare[found.end() :], *(line.bare for line in below))).partition("}")[0]
    fields = {field[1]: field[2] or field[3] for field in _FIELD.finditer(text)}
    # A pattern such as ``%Shop.Error{} -> ...`` reports no error.
    if not fields:
        return None
    module, function, message = (fields.get(name) for name in ("module", "function", "message"))
    frame = Frame(_path(module), None, function, module) if module and function else None
    stop = index + 1 + sum(1 for _ in takewhile(lambda line: not line.bare.startswith("}"), below))
    return (Heading(found[1], None if message == "nil" else message, frame), stop)


DIALECT = Dialect("elixir", _frame, _heading, filler=lazy(r"\(stdlib\)$"), alone=_alone)
