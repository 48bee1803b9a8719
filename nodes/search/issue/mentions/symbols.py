"""Find the identifiers and modules that a text names, in the syntax of a dozen languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.search.issue.mentions.markdown import lines
from nodes.search.issue.mentions.places import URL, is_path

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
        # Besides the statements above: ``import x from "y"`` has its module at the end.
        if '"' in line or "'" in line:
            yield from _QUOTED_MODULE.findall(line)


_INLINE = re.compile(r"`{1,2}([^`\n]{1,200})`{1,2}")
_WORD = re.compile(r"[A-Za-z_$][\w$]{0,99}(?:(?:\.|::|#|->)[A-Za-z_$][\w$]{0,99}){0,8}[!?]?(\()?")
_CAMEL = re.compile(r"[A-Z][a-z0-9]+[A-Z]|[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]")
# Words of prose in mixed case that are not names of code.
_ORDINARY = frozenset(
    """
    GitHub GitLab JavaScript TypeScript StackOverflow YouTube macOS iOS iPhone iPad MacOS PostgreSQL MySQL
    SQLite PyPI OpenSSL WebSocket OAuth README FreeBSD CentOS NodeJS MongoDB VSCode MacBook PyCharm IntelliJ
    LaTeX JetBrains PowerShell WordPress e.g i.e etc
    """.split()  # noqa: SIM905  a table of words is easier to read and to extend
)
_KEYWORDS = frozenset(
    """
    if else elif for while do return def class function var let const new import from as in is not and or None
    True False true false null undefined self this try except catch finally with lambda print yield async await
    pass break continue public private protected static void int str string bool boolean float double char long
    struct fn func mut pub use mod impl end begin then package switch case default throw throws raise del assert
    require module exports echo nil include extends implements interface type enum namespace using
    """.split()  # noqa: SIM905  a table of words is easier to read and to extend
)


def find_symbols(prose: str, code: str) -> Iterator[str]:
    """Yield each identifier, with repeats; per line of prose, those in backticks come first."""
    for line in lines(prose):
        for span in _INLINE.findall(line):
            yield from (word for word, _ in _words(span) if word not in _KEYWORDS)
        yield from (word for word, called in _words(URL.sub(" ", line)) if _looks_like_code(word, called=called))
    for line in lines(code):
        yield from (word for word, called in _words(line) if _looks_like_code(word, called=called))


def _words(line: str) -> Iterator[tuple[str, bool]]:
    for found in _WORD.finditer(line):
        called = bool(found[1])
        # ``save!`` is a method in Ruby, but in prose the mark ends a sentence far more often.
        word = found[0][:-1] if called else found[0].rstrip("!?")
        if len(word) > 1 and not is_path(word):
            yield word, called


def _looks_like_code(word: str, *, called: bool) -> bool:
    if word in _ORDINARY or word in _KEYWORDS:
        return False
    if called or "_" in word.strip("_") or "::" in word or "->" in word or "#" in word:
        return True
    return "." in word or bool(_CAMEL.search(word))
