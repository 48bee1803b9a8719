"""Errors of languages and their standard libraries, and the form of the code that raises each of them."""

import re
from typing import NamedTuple

NAME, COUNT = r"[`'\"\u2018]?(?P<name>[A-Za-z_$][\w$]{0,60}[!?]?)", r"(?P<count>\d{1,2})"
_QUOTED = r"[\"'`]?(?P<name>[^\"'`\n\[\](),]{1,60})[\"'`]?"
_TYPE = r"(?:[\w$]{1,60}[.$]){0,12}(?P<name>\w{1,60})"
_TARGET = r"[\w.\[\]\"']{1,60}"
_MEMBER = r"(?:\.|->|::)\s?@name(?![\w$])"
_OF = (
    r"(?:the return value of \"(?:[\w$]{1,60}\.){0,12}"
    r"|\"(?:this\.|(?:[\w$]{1,60}\.){1,12}(?=[\w$]{1,60}\.[\w$]{1,60}\"))?)"
    r"(?P<of>(?!<)[\w$.]{2,120})(?:\([^\"\n]{0,200}\))?\" is null"
)
"""The value that was null: a field of a class, a field, a variable, or what a method returns."""
_OF_MEMBER = r"(?<![\w$])@of(?:\([^()\n]{0,80}\))?\s?\.\s?@name(?![\w$])"
_KEY = r"\[\s?:?[\"'`]?@name[\"'`]?\s?\]"
_WORD = r"(?<![\w$.])@name(?![\w$])"
_CALL = r"(?<![\w$])@name\s?\("
_KEYWORD = r"(?<![\w$.])@name\s?=(?!=)"
_LIST = r"(?:\blist\s?\(|^\s*\[)(?:[^()\[\],\n]{0,80},){@name}[^()\[\]\n]{1,80}[)\]]\s?=(?!=)"
UNSET = r"(?<![\w$])\$?(?P<name>[A-Za-z_]\w{0,60}(?:\[\w{1,20}\])?|\d{1,2}): (?:unbound variable|parameter not set)"
_UNPACK = (
    rf"^\s*\(?{_TARGET}(?:,\s?{_TARGET}){{@count}}\)?\s?=(?!=)"
    r"|\bfor\s\(?\w{1,40}(?:,\s?\w{1,40}){@count}\)?\sin\b"
)
_DIVIDE = r"[\w)\]]\s?(?://?|%)\s?(?![\d/*\s\"'=]|[A-Z_]+\b)[\w(]"
_UNWRAP = r"\.(?:unwrap|expect)\("
_SUBSCRIPT = r"[\w)\]]\[(?!\s?[\d\"'`:\]])[^\]\[\n:]{1,60}\](?!\s?:?=(?!=))"
_CAST = r"\(\s?(?:[\w.]{1,80}\.)?@name(?:<[^()\n]{0,60}>)?\s?\)\s?[\w(]|\bas[!?]?\s(?:[\w.]{1,80}\.)?@name\b"
MADE = r"^(?!\s*(?:pub\s)?use\s|[^\n]*\b(?:if|while)\slet\b|[^\n]*\bmatches!)[^\n]*::@name(?!\w)(?![^\n]*=>)"
"""A line of Rust that makes a variant of an error, and does not import or match it."""

SHAPES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(error), form)
    for error, form in (
        (rf"too many values to unpack(?: \(expected {COUNT}\))?", _UNPACK),
        (rf"not enough values to unpack \(expected {COUNT}", _UNPACK),
        (r"\bKeyError: ?[\"'](?P<name>[^\"'`\n]{1,60})[\"']", _KEY),
        (rf"key not found: :?{_QUOTED}", _KEY),
        (r"[Uu]ndefined (?:array key|offset):? (?P<name>\d{1,4})(?!\w)", rf"{_KEY}|{_LIST}"),
        (rf"[Uu]ndefined (?:array key|index|offset):? {_QUOTED}", _KEY),
        (rf"has no attribute {NAME}", _MEMBER),
        (rf"{NAME}[`'\"\u2019]? was removed (?:from|in) ", _MEMBER),
        (rf"cannot import name {NAME}", r"\bimport\b[^\n#]{0,300}(?<![\w.])@name(?![\w.])"),
        (rf"Cannot read propert(?:y|ies) {NAME}['\u2019]? of (?:undefined|null)", _MEMBER),
        (rf"Cannot read properties of (?:undefined|null) \(reading {NAME}", _MEMBER),
        (rf"(?:undefined|null) is not an object \(evaluating '[^'\n]{{0,120}}\.{NAME}", _MEMBER),
        (rf"undefined (?:local variable or )?method {NAME}['\u2019`]? for (?:nil|an instance)", _MEMBER),
        (rf"Cannot invoke \"[^\"\n]{{0,200}}\.{NAME}\([^\"\n]{{0,200}}\" because {_OF}", _OF_MEMBER),
        (rf"Cannot (?:read|assign) field {NAME}\" because {_OF}", _OF_MEMBER),
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
        (
            rf"bound mismatch for dimension \d{{1,2}} of array {NAME}",
            r"^[^!]{0,200}(?<![\w%$])@name\s?(?:\([^()\n]{0,80}\))?\s?=(?![=>])",
        ),
        (UNSET, r"\$\{?@name(?![\w+-]|:[+-])"),
        (rf"null cannot be cast to non-null type {_TYPE}", r"\bas\s(?:[\w.]{1,80}\.)?@name\b(?!\?)"),
        (rf"cannot be cast to(?: class)? {_TYPE}", _CAST),
        (rf"is not a subtype of type '{_TYPE}\??' in type cast", r"\bas\s@name\b"),
        # What ``main`` returns, in its debugging form.
        (r"^\s{0,8}Error: (?P<name>[A-Z]\w{1,60})(?=\s?[({])", MADE),
        (r"^\s{0,8}Error: (?P<name>[A-Z][a-z0-9]{1,40}[A-Z]\w{1,40})$", MADE),
        (rf"Unable to cast object of type '[^'\n]{{1,100}}' to type '{_TYPE}", _CAST),
    )
)
"""An error's message, and the form of a line that raises it: ``@name`` and ``@count`` are what the message names."""


_EXACTLY = r"(?<![\w$.])@name(?![\w$])"
_VALUE = r"[\w$.\])]{1,60}"
_PLUS, _MINUS, _TIMES = (
    rf"(?<![\w$.\])])(?<!{sign}\s)(?<!{sign}){_VALUE}\s?{sign}=?\s?(?![>=])\w[\w$.]{{0,60}}\b(?!\s?{sign})"
    for sign in ("\\+", "-", "\\*")
)
_CASTS = r"\(\s?(?:[\w.]{1,80}\.)?@name\s?\)\s?[\w$.]{1,60}"
EXPRESSIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(error), form)
    for error, form in (
        (r"(?P<name>[A-Za-z_$][\w$.]{0,80}) is not (?:a function|a constructor|iterable)", _EXACTLY),
        (r"Cannot destructure property '[\w$]{1,60}' of '(?P<name>[A-Za-z_$][\w$.]{0,80})'", _EXACTLY),
        (r"(?P<name>[a-z_]\w{0,60})\(\) missing \d{1,2} required [\w ',:-]{0,120}", _CALL),
        (
            r"interface conversion: [\w .*/{}\[\]]{1,120}, not (?:\w{1,60}\.)?(?P<name>\w{1,60})",
            rf"{_VALUE}\.\(\*?(?:\w{{1,60}}\.)?@name\)",
        ),
        (r"assignment to entry in nil map", rf"{_VALUE}\[[^\]\n]{{1,60}}\](?=\s?[+|-]?=(?!=))"),
        (r"close of (?:closed|nil) channel", r"\bclose\([\w.]{1,60}\)"),
        (
            rf"attempt to [a-z ]{{1,60}}(?:local|global|field|upvalue|method) {NAME}['\u2019]? "
            r"\(an? (?!nil)(?:[a-z]{1,20} ){0,3}value",
            r"(?:[\w.:\])]{1,60}[.:])?(?<![\w$])@name(?![\w$])",
        ),
        (r"attempt to add with overflow", _PLUS),
        (r"attempt to subtract with overflow", _MINUS),
        (r"attempt to multiply with overflow", _TIMES),
        (r"already (?:mutably )?borrowed", rf"{_VALUE}\.borrow(?:_mut)?\(\)"),
        (rf"cannot be cast to(?: class)? {_TYPE}", rf"{_CASTS}|{_VALUE}\sas\s@name\b"),
        (rf"Unable to cast object of type '[^'\n]{{1,100}}' to type '{_TYPE}", _CASTS),
        (rf"lateinit property {NAME} has not been initialized", _EXACTLY),
        (rf"key :{NAME} not found in", r"(?:\.|\[\s?:)@name(?!\w)"),
        (r"type 'Null' is not a subtype of type '(?P<name>\w{1,60})'", r"[\w$.()\[\]'\"]{1,60}\sas\s@name\b(?!\?)"),
        (r"[Uu]nexpectedly found nil while unwrapping an Optional value", rf"{_VALUE}!(?=[.\[(;,)\s]|$)"),
        # An argument that the code does not pass has a default, which another line declares.
        *(
            (error.pattern, form)
            for error, form in SHAPES
            if re.search("@name|@count", form) and "Arg" not in error.pattern
        ),
    )
)
"""An error's message, and an expression that names what the message names, or that is rare enough to be meant."""


_NEEDED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(error), form)
    for error, form in (
        (r"called `(?:Option|Result)::unwrap\(\)`", r"\.\s?unwrap\("),
        (r"[Uu]ndefined (?:array key|index|offset)", r"\[|\blist\s?\("),
        (r"index out of (?:bounds: the len is|bounds: index|range \[)", r"\["),
        (rf"(?:local|global|field|upvalue) {NAME}['\u2019]? \(an? [a-z]", r"(?<![\w$])@name(?![\w$])"),
        (UNSET, r"\$\{?@name"),
    )
)
"""An error's message, and what any line has that raises it."""


class Shape(NamedTuple):
    """An error's words in a text, a pattern of the lines that may raise it, and the name in it."""

    words: str
    form: re.Pattern[str]
    name: str
    of: str = ""
    """The value that was null, if the error names it."""


def shape_of(text: str) -> Shape | None:
    """Return the first error of a language in a text, or None."""
    return _form_of(SHAPES, text)


def is_possible(error: str, line: str) -> bool | None:
    """Return whether a line has what any line has that raises an error; None if nothing is known of the error."""
    needed = _form_of(_NEEDED, error)
    return None if needed is None else bool(needed.form.search(line))


def expression(error: str, line: str) -> tuple[str, str] | None:
    """Return the words of an error and the only expression of a line that can have raised it, or None."""
    found = _form_of(EXPRESSIONS, error)
    held = list(found.form.finditer(line)) if found else []
    if found is None or len(held) != 1:
        return None
    code = held[0][0].strip(" =")
    return found.words, f"{code}…)" if code.endswith("(") else code


def _form_of(table: tuple[tuple[re.Pattern[str], str], ...], text: str) -> Shape | None:
    for error, form in table:
        if found := error.search(text):
            held = found.groupdict()
            commas, name = max(1, int(held.get("count") or 2) - 1), held.get("name") or ""
            of = held.get("of") or ""
            pattern = form.replace("@count", str(commas)).replace("@name", re.escape(name))
            return Shape(found[0], re.compile(pattern.replace("@of", re.escape(of))), name, of)
    return None
