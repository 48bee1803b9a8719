"""Facts about functions that show a fault of other code: they are stated, and no claim rests on them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.facts.code import Code
    from nodes.search.facts.types import Fact

LONGEST = 80
"""Maximum number of lines of a function whose body may be empty on purpose; most of them are documentation."""
_CATCHES_ALL = re.compile(
    r"\b(?:set_hook|excepthook|set_exception_handler|set_error_handler|register_shutdown_function|set_terminate|sigaction"
    r"|rescue_from|at_exit|faulthandler|signal\.signal|signal\.Notify)\b|\brecover\(\)|\buncaught_?exception"
    r"|\bun(?:caught|handled)_?(?:exception|error|rejection)|[sS]etDefaultUncaught",
    re.IGNORECASE,
)
"""How the languages register, or are, the code through which every crash of a program passes."""
_LOGS = re.compile(
    r"\s{0,200}(?:await\s|return\s)?(?:(?:[\w$]{1,40}(?:\(\))?(?:\.|::|->)){0,4}\$?_{0,2}(?:log(?:ger|ging|rus)?|slog|zap|glog|klog"
    r"|console|syslog|tracing|timber)(?:\(\))?(?:\.|::|->)\w{0,30}|(?:log|tracing)?:{0,2}(?:error|warn|info|debug|trace)!"
    r"|(?:Write-(?:Error|Warning|Host|Verbose|Log\w{0,12})))\s?\(?",
    re.IGNORECASE,
)
"""The beginning of a line that writes to a log."""
MAX_FILES = 16
"""Maximum number of files in which the registration of a function is looked for."""
_DOCUMENTED = re.compile(r"[rub]{0,2}(\"\"\"|''')")
_COMMENT = re.compile(r"#|//|/\*|\*")
_EMPTY = re.compile(r"(?:pass|\.\.\.|return(?:\s{1,9}(?:None|null|nil|undefined))?;?|[{}();]{0,9}|end)$")


def limited(code: Code, fact: Fact) -> Fact:
    """Return a fact, marked if no claim may rest on it."""
    number = code.number(fact.path)
    if number is None or not fact.line or not fact.symbol or fact.sha:
        return fact
    row = code.index.definition_at(number, fact.line)
    if row is None or code.index.name_of(row) != fact.symbol:
        return fact
    body = code.lines(number)[int(code.index.def_start[row]) - 1 : int(code.index.def_end[row])]
    if is_empty(body):
        return replace(fact, unclaimed=True)
    withheld = fact.strong and _prints_crashes(code, fact.symbol.rpartition(".")[2], body)
    return replace(fact, unclaimed=True) if withheld else fact


def is_logging(text: str) -> bool:
    """Return whether a line only writes to a log: it tells of a fault of another one."""
    return bool(_LOGS.match(text))


def _prints_crashes(code: Code, name: str, body: Sequence[str]) -> bool:
    """Return whether a function catches every crash of the program, or is registered to receive them."""
    if any(map(_CATCHES_ALL.search, body)):
        return True
    files = code.files_with(name)[:MAX_FILES]
    code.read(files)
    return any(name in line and _CATCHES_ALL.search(line) for number in files for line in code.lines(number))


def is_empty(lines: Sequence[str]) -> bool:
    """Return whether a function has only a head, documentation and no statement that does anything."""
    if not 2 <= len(lines) <= LONGEST:
        return False
    body, quoted = list[str](), ""
    for line in map(str.strip, lines[_head(lines) :]):
        mark = _DOCUMENTED.match(line)
        if quoted:
            quoted = "" if quoted in line else quoted
        elif mark:
            quoted = "" if mark[1] in line[mark.end() :] else mark[1]
        elif line and not _COMMENT.match(line):
            body.append(line)
    # An empty function says so; a declaration without any body, or a constant, is none.
    return bool(body) and all(map(_EMPTY.match, body))


def _head(lines: Sequence[str]) -> int:
    """Return the number of lines up to the one that ends the head of a definition."""
    return next((at for at, line in enumerate(lines, 1) if line.rstrip().endswith((":", "{"))), len(lines))
