"""Errors of languages and their standard libraries, and the form of the code that raises each of them."""

from __future__ import annotations

import re

NAME, COUNT = r"[`'\"\u2018]?(?P<name>[A-Za-z_$][\w$]{0,60}[!?]?)", r"(?P<count>\d{1,2})"
_QUOTED = r"[\"'`]?(?P<name>[^\"'`\n\[\](),]{1,60})[\"'`]?"
_TYPE = r"(?:[\w$]{1,60}[.$]){0,12}(?P<name>\w{1,60})"
_TARGET = r"[\w.\[\]\"']{1,60}"
_MEMBER = r"(?:\.|->|::)\s?@name(?![\w$])"
_KEY = r"\[\s?:?[\"'`]?@name[\"'`]?\s?\]"
_WORD = r"(?<![\w$.])@name(?![\w$])"
_CALL = r"(?<![\w$])@name\s?\("
_KEYWORD = r"(?<![\w$.])@name\s?=(?!=)"
_UNPACK = (
    rf"^\s*\(?{_TARGET}(?:,\s?{_TARGET}){{@count}}\)?\s?=(?!=)"
    r"|\bfor\s\(?\w{1,40}(?:,\s?\w{1,40}){@count}\)?\sin\b"
)
_DIVIDE = r"[\w)\]]\s?(?://?|%)\s?(?![\d/*\s\"'=]|[A-Z_]+\b)[\w(]"
_UNWRAP = r"\.(?:unwrap|expect)\("
_SUBSCRIPT = r"[\w)\]]\[(?!\s?[\d\"'`:\]])[^\]\[\n:]{1,60}\](?!\s?:?=(?!=))"
_CAST = r"\(\s?(?:[\w.]{1,80}\.)?@name(?:<[^()\n]{0,60}>)?\s?\)\s?[\w(]|\bas[!?]?\s(?:[\w.]{1,80}\.)?@name\b"

SHAPES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(error), form)
    for error, form in (
        (rf"too many values to unpack(?: \(expected {COUNT}\))?", _UNPACK),
        (rf"not enough values to unpack \(expected {COUNT}", _UNPACK),
        (r"\bKeyError: ?[\"'](?P<name>[^\"'`\n]{1,60})[\"']", _KEY),
        (rf"key not found: :?{_QUOTED}", _KEY),
        (rf"[Uu]ndefined (?:array key|index|offset):? {_QUOTED}", _KEY),
        (rf"has no attribute {NAME}", _MEMBER),
        (rf"{NAME}[`'\"\u2019]? was removed (?:from|in) ", _MEMBER),
        (rf"cannot import name {NAME}", r"\bimport\b[^\n#]{0,300}(?<![\w.])@name(?![\w.])"),
        (rf"Cannot read propert(?:y|ies) {NAME}['\u2019]? of (?:undefined|null)", _MEMBER),
        (rf"Cannot read properties of (?:undefined|null) \(reading {NAME}", _MEMBER),
        (rf"(?:undefined|null) is not an object \(evaluating '[^'\n]{{0,120}}\.{NAME}", _MEMBER),
        (rf"undefined (?:local variable or )?method {NAME}['\u2019`]? for (?:nil|an instance)", _MEMBER),
        (rf"Cannot invoke \"[^\"\n]{{0,200}}\.{NAME}\([^\"\n]{{0,200}}\" because", _MEMBER),
        (rf"Cannot read field {NAME}\" because", _MEMBER),
        (rf"null pointer of method \"{NAME}", _MEMBER),
        (rf"invoke (?:virtual|interface) method '[^'\n]{{0,200}}\.{NAME}\([^'\n]{{0,200}}' on a null object", _MEMBER),
        (rf"Call to a member function {NAME}\(\) on", _MEMBER),
        (rf"[Uu]ndefined property: (?:\w{{1,60}}::)?\$?{NAME}", _MEMBER),
        (rf"unexpected keyword argument {NAME}", _KEYWORD),
        (rf"(?:\w{{1,60}}\.){{0,6}}{NAME} is not a function", _CALL),
        (rf"ReferenceError: {NAME} is not defined", _WORD),
        (rf"NameError: (?:global )?name {NAME}['\u2019] is not defined", _WORD),
        (rf"local variable {NAME}['\u2019] (?:referenced before|where it is not)", _WORD),
        (r"(?:[Dd]ivision|[Dd]ivide|modulo) by zero|ZeroDivisionError|DivideByZeroException", _DIVIDE),
        (rf"{NAME}\(\): Argument #\d{{1,2}}[^\n]{{0,80}} must be of type [^\n]{{1,80}} given", _CALL),
        (r"[Ii]ndex (?:was )?out of (?:range|bounds)|IndexOutOfBounds", _SUBSCRIPT),
        (r"called `(?:Option|Result)::unwrap\(\)`", _UNWRAP),
        (rf"cannot be cast to(?: class)? {_TYPE}", _CAST),
        (rf"Unable to cast object of type '[^'\n]{{1,100}}' to type '{_TYPE}", _CAST),
    )
)
"""An error's message, and the form of a line that raises it: ``@name`` and ``@count`` are what the message names."""


def shape_of(text: str) -> tuple[str, re.Pattern[str]] | None:
    """Return an error's words in a text and a pattern of the lines that may raise it, or None."""
    for error, form in SHAPES:
        if found := error.search(text):
            held = found.groupdict()
            commas = max(1, int(held.get("count") or 2) - 1)
            return found[0], re.compile(
                form.replace("@count", str(commas)).replace("@name", re.escape(held.get("name") or ""))
            )
    return None
