"""The event on a frame's line, as far as the error and the parsed line agree."""

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from nodes.search.facts.output.on_a_line import (
    MAX_LINE,
    UNWRAPS,
    Subscript,
    after,
    before,
    bounded,
    closing,
    end_of,
    is_quoted,
    members,
    popped,
    shown_as,
    split,
    subscripts,
)
from nodes.search.facts.output.shapes import expression, is_possible, messages
from nodes.search.sentences import Sentence, say
from nodes.search.tokens import load_sections

_NULL = messages("null")
"""Messages that name the member of a value which was null."""
_FORMS = load_sections(Path(__file__).with_name("happened.txt"))
_PLAIN_NULL, _NIL, _FORCED_NULL, _FORCED, _LOOP, _SLICE, _KEY = (
    re.compile("".join(_FORMS[name])) for name in "plain_null nil forced_null forced loop slice key".split()
)
_INDEX, _ZERO, _NO_VALUE, _EXPECTED, _DIVISION, _ASSERTION, _RAISES = (
    re.compile("".join(_FORMS[name])) for name in "index zero no_value expected division assertion raises".split()
)
_VALUE_NULL = messages("value null")
"""Messages that name the value which was null."""
_MISSING_MEMBER, _MISSING_NAME = messages("missing member"), messages("missing name")
"""Messages that name what the code uses and what does not exist."""
_ELEMENT_OF_NULL, _OVER_NULL = messages("null inside")
"""Messages about an element of a null value, and about a loop over one."""
_UNBOUND, _UNSET, _UNDEFINED_NAME = messages("no value")
"""Messages of Python, of a shell and of PHP that name a variable without a value."""
_ARGUMENT, _NULL_ARGUMENT, _CLAUSE, _RETURNED = messages("argument")
"""Messages of PHP, a sanitizer of C and Elixir about an argument, and all arguments of a call."""
_NAMED_KEY = re.compile(
    r"(?:\bKeyError: ?(?:key (?:not found: ?)?)?|[Uu]ndefined (?:array key|index):? |The given key )"
    r"[\"'`:]{0,2}(?P<key>[^\"'`\n]{1,60}?)[\"'`]?(?: not found in| was not| in |$)",
    re.MULTILINE,
)
_OPENS_TEXT = ("'", '"', "`", ":")
_NEVER_NULL = frozenset({"this", "self", "super", "cls", "@"})


class Happened(NamedTuple):
    """The end of a sentence that begins with the function."""

    says: Sentence
    asserts: bool = False
    """Whether the line is an assertion that failed: it shows a fault that is in another line."""
    null: str = ""
    """The null value of an error that does not say what was null, so that the line may be another one."""
    repeats: bool = False
    """Whether several lines often have what the error names, so that it confirms a line and does not find one."""

    def at(self, place: str, *, is_known: bool = True) -> str:
        """Return the sentence about a place; ``is_known`` if more than the number says which line it is."""
        event = self.says
        if self.null and not is_known:
            event = say("uses `{member}` on {value}; this was `{null}` if the line has not moved.", **event.values)
        return say("`{place}` {event}", place=place, event=event)


def happened(text: str, error: str, column: int | None = None) -> Happened | None:
    """Return what a line did when an error occurred, or None if the two do not fit each other beyond doubt.

    ``error`` is the class of the error and its message, ``column`` the 1-based column of the line at which it occurred.
    """
    above, _, text = text.rpartition("\n")
    line = _of_code(text.strip())
    if not line or len(line) > MAX_LINE or ("char boundary" in error and is_possible(error, line) is False):
        return None
    given = _EXPECTED.search(line)
    if _NO_VALUE.search(error) or (given and given[1] in error):
        failed = "Result::" in error or bool(given and f"{given[1]}: " in error)
        return _unwrapped(line, above, failed=failed) or (_asserted(line, error) if given else None)
    at = column - 1 - (len(text) - len(text.lstrip())) if column else None
    if _INDEX.search(error):
        return _index(line, at)
    found = _key(line, error, at) if at is not None else None
    return found or next(filter(None, (find(line, error) for find in _FINDERS)), None)


def is_assertion(text: str) -> bool:
    """Return whether a line asserts or unwraps a value."""
    return bool(_ASSERTION.search(text))


def _null(line: str, whole: str) -> Happened | None:
    uses = {(member, value) for at, member in members(line) if line[at] not in "?&" and (value := before(line, at))}
    for pattern in _NULL:
        if found := pattern.search(whole):
            named = {use for use in uses if use[0] == found["name"]}
            of = found.groupdict().get("of")
            matching = {use for use in named if of and re.search(rf"(?<![\w$]){re.escape(of)}(?:\([^()]*\))?$", use[1])}
            return _of_null(matching or named, found["null"])
    word = "null" if _PLAIN_NULL.search(whole) else "nil" if _NIL.search(whole) else ""
    # Without a message, the error in Kotlin is that of an assertion: `name!!.length`.
    forced = {before(line, found.start()) for found in _FORCED.finditer(line) if found[0] == "!!"}
    if forced and whole.rstrip(": ").endswith("NullPointerException"):
        return _of_value(forced, word)
    held = {use for use in uses if not _is_type(use[1]) and use[1] not in _NEVER_NULL}
    event = _of_null(held, word) if word else None
    return event and event._replace(null=word)


def _of_null(uses: set[tuple[str, str]], word: str) -> Happened | None:
    member, value = next(iter(uses)) if len(uses) == 1 else ("", "")
    shown = shown_as(value)
    returned = say("what `{call}` returns", call=shown) if value.endswith(")") else f"`{shown}`"
    values = {"member": f".{member}", "value": returned, "null": word}
    return _if_shown(shown, say("uses `{member}` on {value}; the error says that this was `{null}`.", **values))


def _key(line: str, whole: str, column: int | None = None) -> Happened | None:
    if not _KEY.search(whole) or is_possible(whole, line) is False:
        return None
    named = _NAMED_KEY.search(whole)
    every = [*subscripts(line), *popped(line)]
    # A key that the line writes out is the missing one only if the error names it.
    named_here = [subscript for subscript in every if named and subscript.key.strip("\"'`:") == named["key"]]
    others = [it for it in every if not (it.key[:1].isdigit() or (named and it.key[:1] in _OPENS_TEXT))]
    held = _pointed(named_here or others, column)
    key, of = _only([subscript.key for subscript in held]), _only([subscript.value for subscript in held])
    says = say("looks up `{key}` in `{value}`; the error says that this key is missing.", key=key, value=of)
    return Happened(says) if key and of else None


def _index(line: str, column: int | None) -> Happened | None:
    shown = _only({f"{subscript.value}[{subscript.key}]" for subscript in _pointed(list(subscripts(line)), column)})
    return _if_shown(shown, say("reads `{code}`; the error says that the index is out of range.", code=shown))


def _pointed(held: list[Subscript], column: int | None) -> list[Subscript]:
    """Return the only subscript whose beginning, or whose bracket, is in a column; else all of them."""
    at = [subscript for subscript in held if column in (subscript.start, subscript.bracket)]
    return at if len(at) == 1 else held


def _zero(line: str, whole: str) -> Happened | None:
    held = _DIVISION.finditer(line) if _ZERO.search(whole) else ()
    shown = _only([after(line, found.end()) for found in held])
    return _if_shown(shown, say("divides by `{code}`; the error says that this was zero.", code=shown))


def _asserted(line: str, whole: str) -> Happened | None:
    # A panic of ``expect`` begins with its argument, and one of ``unwrap`` names the method.
    given = _EXPECTED.search(line)
    unwraps = bool(re.search(r"\.(?:unwrap|expect)\(", line)) and not (given and given[1] in whole)
    asserts = is_assertion(line) and not unwraps and ("assert" in whole.lower() or "panic" in whole)
    return Happened(say("fails its own check on this line."), asserts=True) if asserts else None


def _unwrapped(line: str, above: str, *, failed: bool) -> Happened | None:
    """Return that a line unwraps a value that is missing, or that ``failed`` because Rust has an error in its place."""
    values = [value for at, member in members(line) if member in ("unwrap", "expect") and (value := before(line, at))]
    # The expression is on the lines above.
    alone = line.startswith(UNWRAPS)
    shown = shown_as(end_of(above)) if alone else _only(values)
    if shown:
        none = say("unwraps `{code}`; the error says that it has no value.", code=shown)
        return Happened(
            say("unwraps `{code}`; the error says that it failed.", code=shown) if failed else none, asserts=True
        )
    says = say("unwraps a value on this line; the error says that there is none.")
    return Happened(says, asserts=True) if alone else None


def _slice(line: str, whole: str) -> Happened | None:
    shown = _only(bounded(line) if _SLICE.search(whole) else [])
    return _if_shown(shown, say("slices `{code}`; the error says that its bounds are out of range.", code=shown))


def _value(line: str, whole: str) -> Happened | None:
    """Return what a line did with a value that the error names as null, or that the line asserts not to be null."""
    if found := _ELEMENT_OF_NULL.search(whole):
        return _of_value({subscript.value for subscript in subscripts(line)}, found["null"] or found["none"])
    if (found := _OVER_NULL.search(whole)) and (loop := _LOOP.match(line)):
        return _of_value({(loop["py"] or loop["php"]).strip()}, found["null"] or found["none"])
    if _FORCED_NULL.search(whole):
        return _of_value({before(line, found.start()) for found in _FORCED.finditer(line)}, "null")
    for found in filter(None, (pattern.search(whole) for pattern in _VALUE_NULL)):
        name = re.escape(found["name"])
        ends = (item.end() for item in re.finditer(rf"(?<![\w$]){name}(?=\s?(?:[.\[(:+*/<>-]|\.\.|$))", line))
        return _of_value({before(line, end) for end in ends if not is_quoted(line, end)}, found["null"])
    return None


def _of_value(values: set[str], word: str) -> Happened | None:
    shown = _only(values)
    return _if_shown(shown, say("uses `{code}`; the error says that this was `{null}`.", code=shown, null=word))


def _if_shown(shown: str, says: Sentence) -> Happened | None:
    """Return an event about an expression, if a sentence can show it."""
    return Happened(says) if shown else None


def _only(values: Collection[str]) -> str:
    """Return the only one of some expressions, if a sentence can show it."""
    return shown_as(next(iter(values))) if len(values) == 1 else ""


def _missing(line: str, whole: str) -> Happened | None:
    """Return which member or which other name a line uses that does not exist, if it uses that only once."""
    for pattern in (*_MISSING_MEMBER, *_MISSING_NAME):
        if found := pattern.search(whole):
            name = re.escape(found["name"])
            ends = (item.end() for item in re.finditer(rf"(?<![\w$]){name}(?![\w$])", line))
            used = {before(line, end) for end in ends if not is_quoted(line, end)}
            if pattern in _MISSING_MEMBER:
                used.discard(found["name"])
            # A module may have the name of its member: ``a.zone.zone``.
            used = {value for value in used if not any(other.startswith(f"{value}.") for other in used)}
            # Julia: ``value::Type`` has the type, and not a member of the value.
            # An expression that is too long is shown by its end.
            is_long = used and ("UndefVar" in pattern.pattern or (len(used) == 1 and not _only(used)))
            shown = found["name"] if is_long else _only(used)
            return _if_shown(shown, say("uses `{code}`; the error says that this does not exist.", code=shown))
    return None


def _unbound(line: str, whole: str) -> Happened | None:
    for pattern, start in ((_UNBOUND, r"(?<![\w$.])"), (_UNSET, r"\$\{?"), (_UNDEFINED_NAME, r"(?<![\w.:])\$?\{?")):
        if found := pattern.search(whole):
            shown = re.sub(r"^(?=\d)", "$", found["name"])  # an argument of a script
            says = say("uses the variable `{code}`; the error says that it has no value yet.", code=shown)
            is_used = re.search(rf"{start}{re.escape(found['name'])}(?![\w$])", line)
            return Happened(says, repeats=pattern is _UNDEFINED_NAME) if is_used else None
    return None


def _argument(line: str, whole: str) -> Happened | None:
    found = _ARGUMENT.search(whole) or _NULL_ARGUMENT.search(whole)
    name = re.escape(found["name"]) if found and "name" in found.groupdict() else r"[A-Za-z_]\w{1,80}"
    calls = list(re.finditer(rf"(?<![\w$])({name})\s?\(", line)) if found else []
    # Where the function is defined, nothing is passed to it.
    if found is None or len(calls) != 1 or re.search(r"\b(?:function|def|func|fn)\s{1,9}&?$", line[: calls[0].start()]):
        return None
    arguments = split(line[calls[0].end() : closing(line, calls[0].end() - 1)])
    shown = shown_as(arguments[int(found["nth"]) - 1]) if 0 < int(found["nth"]) <= len(arguments) else ""
    values = {"code": shown, "name": calls[0][1], "null": found["null"] or found["given"]}
    return _if_shown(shown, say("passes `{code}` to `{name}`; the error says that this was `{null}`.", **values))


def _clause(line: str, whole: str) -> Happened | None:
    found = _CLAUSE.search(whole)
    if found is None or not re.match(rf"defp?\s{{1,8}}{re.escape(found['name'])}\b", line):
        return None
    code = f"{found['name']}/{found['arity']}"
    says = say(
        "has the first clause of `{code}` on this line; the error says that no clause fits its arguments.", code=code
    )
    return Happened(says)


def _returned(line: str, whole: str) -> Happened | None:
    found = _RETURNED.search(whole)
    if found is None or not re.search(rf"\bfunction\s+&?{re.escape(found['name'])}\s?\(", line):
        return None
    says = say(
        "declares `{code}` on this line; the error says that it returned `{given}`.",
        code=f"{found['name']}()",
        given=found["given"],
    )
    return Happened(says)


def _fitting(line: str, whole: str) -> Happened | None:
    """Return the only expression of a line that can have raised an error which names it."""
    words, code = expression(whole, line) or ("", "")
    # Rust and Ruby print a backtick, which would end the code span.
    says = say("has `{code}`; the error says “{error}”.", code=shown_as(code), error=words.replace("`", "'"))
    return Happened(says, repeats=True) if shown_as(code) else None


_FINDERS: tuple[Callable[[str, str], Happened | None], ...] = (
    _null, _value, _missing, _key, _slice, _zero, _unbound, _argument, _clause, _returned, _asserted, _fitting,
)  # fmt: skip


def _is_type(value: str) -> bool:
    """Return whether an expression is a number, or a type with its namespace, which is never null."""
    parts = re.split(r"\.|->|::", value)
    return value[:1].isdigit() or all(part[:1].isupper() and part[-1:] not in ")]" for part in parts)


def _of_code(line: str) -> str:
    """Return a line without its comment; empty if it raises an error itself: then its values are not the cause."""
    return "" if _RAISES.match(line) else re.split(r"\s(?:#|//|--)\s", line, maxsplit=1)[0]
