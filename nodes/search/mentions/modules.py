"""Finds the modules that a text imports, in the syntax of a dozen languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.search.mentions.markdown import lines

_FROM = re.compile(r"(?:>>> )?from\s{1,8}([\w.]{1,200})\s{1,8}import\s{1,8}\(?([\w, *]{0,300})")
_IMPORT = re.compile(
    r"(?:>>> )?import\s{1,8}(?:static\s{1,8})?([\w.]{1,200}(?: as \w{1,60})?"
    r"(?:, ?[\w.]{1,200}(?: as \w{1,60})?){0,20});?\s*(?:#.*)?$"
)
_USE = re.compile(r"(?:pub )?use\s{1,8}(\\?\w{1,100}(?:(?:::|\\)\w{1,100}){0,20})")
_USING = re.compile(r"(?:using|alias|open)\s{1,8}([A-Z]\w{0,100}(?:\.\w{1,100}){0,10});?$")
_INCLUDE = re.compile(r"#\s{0,4}include\s{0,4}[<\"]([^>\"\n]{1,200})[>\"]")
_QUOTED_MODULE = re.compile(
    r"(?:\brequire(?:_relative)?\s?\(?\s?|\bfrom\s{1,4}|^import\s{1,4}\(?|\bimport\()[\"']([^\"'\s]{1,200})[\"']"
)
_DASH_M = re.compile(r"\bpython[\d.]{0,5}(?: -[A-Za-ln-z]{1,4}){0,4} -m ([\w.]{1,200})")


def find_modules(text: str) -> Iterator[str]:
    """Yield each module as written, with repeats."""
    for raw in lines(text):
        line = raw.strip().lstrip("> ").strip()
        if "python" in line:
            yield from _DASH_M.findall(line)
        if statement := _FROM.match(line):
            yield statement[1]
        elif statement := _IMPORT.match(line):
            yield from (name.split(" as ")[0].strip() for name in statement[1].split(","))
        elif statement := _USE.match(line) or _USING.match(line) or _INCLUDE.match(line):
            yield statement[1]
        if '"' in line or "'" in line:
            yield from _QUOTED_MODULE.findall(line)
