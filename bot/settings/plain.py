"""Explain in plain words what is wrong with a value; the value itself is never repeated, since it may be a secret."""

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

URL = r"^https?://[^/\s]"
LANGUAGE = r"^[a-z]{2}(-[A-Z]{2})?$"
STARS = r"^[^*]*(\*{1,2}[^*]*){0,4}$"
# In .gitignore "!" negates a pattern and "#" starts a comment; neither is supported here.
IGNORED_PATH = r"^[^!#]"
TOOL_NAME = r"^[a-z][a-z0-9_]{0,39}$"
ENV_NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,99}$"
HEADER_NAME = r"^[A-Za-z0-9-]{1,80}$"
MODEL_NAME = r"^[^\s=,]{1,200}$"
ONE_LINE = r"^[^\r\n\x00]*$"

PATTERNS: Mapping[str, str] = {
    URL: "must be an address that begins with http:// or https://",
    LANGUAGE: "must be a language code, such as `en` or `pt-BR`",
    STARS: "may contain at most four `*` or `**`",
    IGNORED_PATH: "must not begin with `!` or `#`: negation and comments are not supported",
    TOOL_NAME: "must begin with a lowercase letter and consist of lowercase letters, digits and `_`",
    ENV_NAME: "must be the name of an environment variable",
    HEADER_NAME: "must be the name of an HTTP header",
    MODEL_NAME: "must be the name of a model, without spaces",
    ONE_LINE: "must be one line of text",
}
"""What each pattern of a setting requires."""

_Context = Mapping[str, Any]
_WORDS: Mapping[str, str | Callable[[_Context], str]] = {
    "missing": "is missing",
    **dict.fromkeys(("bool_parsing", "bool_type"), "must be true or false"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "must be a number"),
    "string_type": "must be text",
    **dict.fromkeys(("tuple_type", "list_type"), "must be a list, such as [a, b]"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "must be a mapping of keys to values"),
    "greater_than": lambda bounds: f"must be more than {bounds['gt']:g}",
    "greater_than_equal": lambda bounds: f"must be at least {bounds['ge']:g}",
    "less_than": lambda bounds: f"must be less than {bounds['lt']:g}",
    "less_than_equal": lambda bounds: f"must be at most {bounds['le']:g}",
    "string_too_short": lambda bounds: _at_least(bounds["min_length"], "characters"),
    "string_too_long": lambda bounds: f"must have at most {bounds['max_length']:,} characters",
    "too_short": lambda bounds: _at_least(bounds["min_length"], _unit(bounds)),
    "too_long": lambda bounds: f"must have at most {bounds['max_length']:,} {_unit(bounds)}",
    "literal_error": lambda bounds: f"must be {bounds['expected']}",
    "string_pattern_mismatch": lambda bounds: PATTERNS.get(bounds["pattern"], f"must match {bounds['pattern']}"),
}


def explain(fault: Mapping[str, Any]) -> str:
    """Explain one of pydantic's errors, as the rest of a sentence that begins with the name of the value."""
    words = _WORDS.get(fault["type"])
    if words is None:
        return str(fault["msg"]).removeprefix("Value error, ")
    return words if isinstance(words, str) else words(fault.get("ctx", {}))


def nearest_choice(fault: Mapping[str, Any]) -> str | None:
    """Return the allowed word that a wrong one resembles most."""
    if fault["type"] != "literal_error" or not isinstance(fault.get("input"), str):
        return None
    choices = re.findall(r"'([^']{1,80})'", str(fault["ctx"]["expected"]))
    return next(iter(difflib.get_close_matches(fault["input"][:80], choices, 1)), None)


def _at_least(least: int, what: str) -> str:
    if least == 1:
        return "must not be empty"
    return f"must have at least {least:,} {what}"


def _unit(bounds: _Context) -> str:
    """Return what a length counts; a secret's is reported like that of a collection."""
    return "entries" if bounds["field_type"] in ("Tuple", "List", "Set", "Dictionary") else "characters"
