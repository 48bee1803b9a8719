"""``named_here`` and ``absent``: a dependency or a class that only a trace outside the project names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.facts.code import hash_of
from nodes.search.facts.places.moved import is_gone
from nodes.search.facts.types import Fact
from nodes.search.paths.project import MANIFEST, package_of, simplified
from nodes.search.sentences import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness

MAX_NAMES, MAX_MANIFESTS = 4, 12
LONGEST = 20_000
"""Maximum number of characters that are read."""
_FRAME = re.compile(r"\bat (?:[^\s(]{1,120} )?\(?((?:/|[A-Z]:)[^\s():]{1,300}):\d{1,7}:\d")
"""A frame inside a log that is not read as a trace."""
_CAST = re.compile(r"cannot be cast to (?:class )?[\w.$]{1,200}\.(\w{5,80})|to type '[\w.]{1,200}\.(\w{5,80})'")
"""The type that a failed cast names."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield where the dependency is declared that a trace passes through, and the own classes that no file has."""
    if any(fact.kind == "raised_here" and not is_gone(fact) for fact in inquiry.found):
        return
    frames = [frame for trace in inquiry.issue.traces for frame in trace.frames]
    paths = [frame.path for frame in frames] or _FRAME.findall(inquiry.issue.written[:LONGEST])
    packages = dict.fromkeys(filter(None, map(package_of, paths)))
    declared = (fact for name in list(packages)[:MAX_NAMES] if (fact := _declared(inquiry, name)))
    yield from list(declared)[:1]
    text = f"{inquiry.issue.title}\n{inquiry.issue.written[:LONGEST]}"
    casts = [name for found in _CAST.findall(text) for name in found if name]
    classes = [frame.module for frame in frames if frame.module and not frame.path and _is_ours(inquiry, frame.module)]
    for name in list(dict.fromkeys((*classes, *casts)))[:MAX_NAMES]:
        if _is_absent(inquiry, name):
            says = say("The error names `{name}`, which occurs nowhere at this commit.", name=name)
            yield Fact("absent", says, name, count=0, strong=True)
            return


def _declared(inquiry: FinderInput, name: str) -> Fact | None:
    """Return the line of the outermost manifest that declares a dependency."""
    code = inquiry.code
    held = [number for number, path in enumerate(code.index.paths) if MANIFEST.search(path)]
    for number in sorted(held, key=lambda number: (code.path(number).count("/"), code.path(number).casefold()))[
        :MAX_MANIFESTS
    ]:
        for line, text in enumerate(code.lines(number), 1):
            if _declares(text, name) and inquiry.issue.holds(name):
                says = say("The trace passes through `{name}`, a dependency that is declared on this line.", name=name)
                return Fact(
                    "named_here", says, name, code.path(number), line, text, count=1, by_library=True, unclaimed=True
                )
    return None


def _declares(text: str, name: str) -> bool:
    """Return whether a line of a manifest has a name and a version of it."""
    return bool(re.search(rf"(?<![\w/@.-]){re.escape(name)}(?![\w/-])[^\n]{{0,40}}\d", text))


def _is_ours(inquiry: FinderInput, module: str) -> bool:
    """Return whether a qualified name begins like the project's own."""
    root = simplified(module.partition(".")[0])
    own = inquiry.code.index.project
    return "." in module and any(name.startswith(root) for name in own.names | own.folders if len(root) >= 5)


def _is_absent(inquiry: FinderInput, name: str) -> bool:
    known = hash_of(name.rpartition(".")[2]) is not None and inquiry.issue.holds(name)
    return known and not inquiry.witness.grep(name)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that a manifest declares the dependency on the line."""
    holds = MANIFEST.search(fact.path or "") and _declares(fact.text or "", fact.words or "")
    return None if holds and witness.mentions(fact.words or "") else "the line declares no such dependency"
