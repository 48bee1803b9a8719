"""Expressions on one line of code in the notation of most languages, without a parser."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_LINE = 300
"""Maximum length of a line that is parsed, in characters."""
CONTINUES = (".", "?.", "->")
"""The beginning of a line that continues the calls of the line above."""
_REMARKS, UNWRAPS = ("//", "#", "/*", "*"), (".unwrap()", ".expect(")
MAX_CONTINUED, MAX_ABOVE = 4, 20
"""Maximum number of lines of a statement below its first, and above a line that only unwraps it."""
MAX_SHOWN = 60
"""Maximum length of an expression that a sentence shows."""
MAX_ARGUMENTS = 12
"""Maximum length of the arguments of a call that a sentence shows; longer ones are left out."""
_GENERIC = re.compile(
    r"(?:.*\W)?(?:[A-Z](?=\w*[a-z])\w*|map|chan|list|dict|set|tuple|type|frozenset|defaultdict|deque)$"
)
_ARGUMENT = re.compile(
    r"(?:[\w.]{1,80}\.)?(?:[A-Z](?=\w*[a-z])\w*|[A-Z]|u?int(?:8|16|32|64)?|float(?:32|64)?|str(?:ing)?|bool|bytes?|rune"
    r"|any|error|object|None)"
)
"""A type that takes arguments, and such an argument, in the notation of Go, Scala, Python and Nim."""
_DEREFERENCE = re.compile(r"(?:\?\.|->|\.|&\.)(?=[A-Za-z_$])")
_MEMBER = re.compile(r"[A-Za-z_$][\w$]*[!?]?")

_LOGS = re.compile(
    r"\s{0,200}(?:await\s|return\s)?(?:(?:[\w$]{1,40}(?:\(\))?(?:\.|::|->)){0,4}\$?_{0,2}(?:log(?:ger|ging|rus)?|slog|zap|glog|klog"
    r"|console|syslog|tracing|timber)(?:\(\))?(?:\.|::|->)\w{0,30}|(?:log|tracing)?:{0,2}(?:error|warn|info|debug|trace)!"
    r"|[A-Z]{0,20}_?LOG_?[A-Z]{0,12}(?=\()|(?:Write-(?:Error|Warning|Host|Verbose|Log\w{0,12})))\s?\(?",
    re.IGNORECASE,
)
"""The beginning of a line that writes to a log: the fault that it reports is in another line."""


def logs(text: str) -> bool:
    """Return whether a line begins to write to a log."""
    return _LOGS.match(text) is not None


def statement(lines: Sequence[str], at: int) -> str:
    """Return a line (1-based) with the following lines that continue its calls, as far as it stays short enough.

    What a line with ``.unwrap()`` continues is on a line of its own above it.
    """
    text = lines[at - 1]
    for below in lines[at : at + MAX_CONTINUED]:
        if not below.lstrip().startswith(CONTINUES) or len(text) + len(below) > MAX_LINE:
            break
        text += below.strip()
    above = ""
    for line in lines[max(0, at - 1 - MAX_ABOVE) : at - 1][::-1] if text.lstrip().startswith(UNWRAPS) else ():
        if not line.lstrip().startswith(_REMARKS):
            above = f"{line.strip()}{above}"
        if above and not above.startswith(CONTINUES) and above.count("(") >= above.count(")"):
            break
    return f"{above}\n{text}" if above else text


def members(line: str) -> Iterator[tuple[int, str]]:
    """Yield the position of each access to a member, and the member."""
    for found in _DEREFERENCE.finditer(line):
        if (member := _MEMBER.match(line, found.end())) and not is_quoted(line, found.start()):
            yield found.start(), member[0]


class Subscript(NamedTuple):
    """``value[key]``, and the offset where it begins."""

    value: str
    key: str
    start: int
    called: str = ""
    """The call that looks the key up instead of brackets: ``.pop``."""

    @property
    def bracket(self) -> int:
        """The offset of the bracket."""
        return self.start + len(self.value) + len(self.called)


def _brackets(line: str, opening: str = "[") -> Iterator[tuple[str, str, int]]:
    """Yield the text before a bracket, the text inside it, and where the former begins."""
    for at, one in enumerate(line):
        if one == opening and at and (value := before(line, at)) and not is_quoted(line, at):
            inside = line[at + 1 : closing(line, at)].strip()
            if inside:
                yield value, inside, at - len(value)


def subscripts(line: str) -> Iterator[Subscript]:
    """Yield the subscripted value and the subscript of each ``value[subscript]`` that is no range and no type."""
    found = (Subscript(*bracket) for bracket in _brackets(line))
    return (at for at in found if not (":" in at.key.lstrip(":") or ".." in at.key or _is_type(at)))


def popped(line: str) -> Iterator[Subscript]:
    """Yield what ``value.pop(key)`` looks up, if it gives no other value for a missing key."""
    for call, inside, start in _brackets(line, "(") if ".pop(" in line else ():
        if call.endswith(".pop") and len(split(inside)) == 1:
            yield Subscript(call.removesuffix(".pop"), inside, start, ".pop")


def _is_type(bracket: Subscript) -> bool:
    """Return whether brackets give a type its arguments, as ``set.Set[types.View]`` does."""
    arguments = bracket.key.partition("[")[0].split(",")
    return bool(_GENERIC.match(bracket.value)) and all(_ARGUMENT.fullmatch(part.strip(" *&")) for part in arguments)


def bounded(line: str) -> list[str]:
    """Return each expression that takes a part of a value by its bounds."""
    found = (f"{value}[{key}]" for value, key, _ in _brackets(line) if ":" in key or ".." in key)
    return list(dict.fromkeys(found))


def split(arguments: str) -> list[str]:
    """Return the arguments of a call, which commas outside brackets and strings separate."""
    parts, depth, quote, start = list[str](), 0, "", 0
    for at, one in enumerate(arguments):
        if quote:
            quote = "" if one == quote else quote
        elif one in "\"'":
            quote = one
        elif one == "," and not depth:
            parts.append(arguments[start:at].strip())
            start = at + 1
        else:
            depth += (one in "([{") - (one in ")]}")
    return [*parts, arguments[start:].strip()]


def is_quoted(line: str, at: int) -> bool:
    """Return whether a position is inside a string, as far as the quotes before it tell."""
    return bool(line.count('"', 0, at) % 2 or line.count("'", 0, at) % 2)


def before(line: str, end: int) -> str:
    """Return the expression that ends at a position: names, calls and subscripts joined by dots or arrows."""
    start = end
    while start:
        one = line[start - 1]
        if one in ")]":
            opened = _opening(line, start - 1)
            if opened < 0:
                return ""
            start = opened
        elif one.isalnum() or one in "_$@!?":
            start -= 1
        elif one == "." or line[start - 2 : start] in ("->", "::"):
            start -= 1 if one == "." else 2
        # Lua: ``value:method(``.
        elif one == ":" and line[end : end + 1] == "(" and line[start - 2 : start - 1].isalnum():
            start -= 1
        else:
            break
    return line[start:end].lstrip("!?.")


def after(line: str, start: int) -> str:
    """Return the expression that begins at a position."""
    end = start
    while end < len(line):
        one = line[end]
        if one in "([":
            end = closing(line, end) + 1
            if end <= 0:
                return ""
        elif one.isalnum() or one in "_$@." or line[end : end + 2] in ("->", "::"):
            end += 2 if line[end : end + 2] in ("->", "::") else 1
        else:
            break
    return line[start:end]


def _opening(line: str, closing: int) -> int:
    depth = 0
    for at in range(closing, -1, -1):
        depth += (line[at] in ")]") - (line[at] in "([")
        if not depth:
            return at
    return -1


def closing(line: str, opening: int) -> int:
    """Return the position of the bracket that closes another one, or -1."""
    depth = 0
    for at in range(opening, len(line)):
        depth += (line[at] in "([") - (line[at] in ")]")
        if not depth:
            return at
    return -1


def shown_as(value: str) -> str:
    """Return an expression without long arguments; empty if it is still too long for a sentence."""
    kept, at = "", 0
    while at < len(value):
        if value[at] == "(" and (end := closing(value, at)) - at > MAX_ARGUMENTS:
            kept, at = f"{kept}(…)", end + 1
        else:
            kept, at = kept + value[at], at + 1
    return kept if 0 < len(kept) <= MAX_SHOWN and "`" not in kept else ""


def end_of(text: str) -> str:
    """Return the expression at the end of a text if a sentence can show it, else its last call after an ellipsis."""
    value = before(text, len(text))
    start = value.rfind(".", 0, _opening(value, len(value) - 1)) if value.endswith(")") else -1
    return value if shown_as(value) or start < 0 else f"…{value[start:]}"
