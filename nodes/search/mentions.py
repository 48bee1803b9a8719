"""What an issue names outside its stack traces: paths, symbols, modules, messages, versions and code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter

MAX_EACH = 100
"""Mentions of one kind that are kept."""
MAX_TEXT = 200_000
"""Characters that are read; GitHub's longest body has 65,536."""
_MAX_LINE = 2000
_MAX_MESSAGE = 300

_COMMENT_OPEN, _COMMENT_CLOSE = "<!--", "-->"
_FENCE = re.compile(r" {0,3}(?:> ?){0,4}(`{3,}|~{3,})")
_INLINE = re.compile(r"`{1,2}([^`\n]{1,200})`{1,2}")
_URL = re.compile(r"https?://[^\s<>\"'`)\]}|\\]{1,500}")
_BLOB = re.compile(
    r"https?://[^/\s]{1,100}/[^/\s]{1,100}/[^/\s]{1,100}"
    r"/(?:blob|tree|blame|raw)/[^/\s]{1,100}/([^\s#?]{1,300})(?:#L(\d{1,7})(?:C\d{1,5})?(?:-L(\d{1,7}))?)?"
)

_SUFFIX = frozenset(
    """
    py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts vue svelte java kt kts scala groovy go rs rb erb rake gemspec
    php phtml twig cs fs vb cshtml razor c h cc cpp cxx hpp hh hxx inl m mm swift ex exs eex heex erl hs ml clj
    lua pl pm r jl dart zig nim sh bash zsh fish ps1 bat cmake json json5 yaml yml toml ini cfg conf xml html htm
    css scss sass less styl sql md mdx rst txt proto graphql gql csproj sln gradle properties lock tf sol v sv vhd
    f90 cu cuh asm s po j2 jinja jinja2 csv env
    """.split()  # noqa: SIM905  a table of words is easier to read and to extend
)
_PATH = re.compile(
    r"(?<![\w./\\@:-])(?:[A-Za-z]:[\\/]|~/|\.{1,2}/|/)?(?:[\w@+.-]{1,100}[\\/]){0,30}[\w@+.-]{1,120}(?::\d{1,7})?"
)
_PLACE = re.compile(r"(.{1,600}?)(?::(\d{1,7}))?$")
_BARE_NAMES = frozenset({"Dockerfile", "Makefile", "Rakefile", "Gemfile", "CMakeLists.txt", "Jenkinsfile"})

_WORD = re.compile(r"[A-Za-z_$][\w$]{0,99}(?:(?:\.|::|#|->)[A-Za-z_$][\w$]{0,99}){0,8}[!?]?(\()?")
_CAMEL = re.compile(r"[A-Z][a-z0-9]+[A-Z]|[a-z][a-z0-9]*[A-Z]|[A-Z]{2,}[a-z]")
_ORDINARY = frozenset(
    {
        "GitHub",
        "GitLab",
        "JavaScript",
        "TypeScript",
        "StackOverflow",
        "YouTube",
        "macOS",
        "iOS",
        "iPhone",
        "iPad",
        "MacOS",
        "PostgreSQL",
    }
    | {
        "MySQL",
        "SQLite",
        "PyPI",
        "OpenSSL",
        "WebSocket",
        "OAuth",
        "README",
        "FreeBSD",
        "CentOS",
        "NodeJS",
        "MongoDB",
        "VSCode",
        "MacBook",
    }
    | {"PyCharm", "IntelliJ", "LaTeX", "JetBrains", "PowerShell", "WordPress", "e.g", "i.e", "etc"}
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

_ERROR = re.compile(
    r"(?:[\w$]{1,80}[.:\\]{1,2}){0,10}\w{0,80}(?:Error|Exception|Warning|Panic|Fault|Failure)(?:\[\w{1,20}\])?: ?(\S.*)"
)
_SAYS = re.compile(r"\b(?:fatal error|fatal|error|panic|err|failed|failure)(?:\[\w{1,20}\])?: (\S.*)", re.IGNORECASE)
_PHRASE = re.compile(r"\"([^\"\n]{8,300})\"|“([^”\n]{8,300})”|(?<![\w`'])'([^'\n]{8,300})'(?!\w)")

_VERSION = re.compile(
    r"(?<![\w.:/#-])v?(\d{1,4}(?:\.\d{1,6}){1,3}"
    r"(?:[-.]?(?:alpha|beta|rc|dev|a|b|post|SNAPSHOT|preview|pre)[.-]?\d{0,6})?)(?![\w/%]|\.\d)",
    re.IGNORECASE,
)
_VERSION_NAME = re.compile(
    r"([A-Za-z][\w.+#/@-]{0,60}(?: [A-Z][\w.]{0,30})?)"
    r"(?:\s{0,3}(?:\bversion\b|\bver\b|==|>=|<=|~=|:|@|=|\*\*|\bv\b|\(|-)){0,3}\s{0,3}$",
    re.IGNORECASE,
)
_NAMELESS = frozenset(
    """
    version versions v ver release since in on at from to with and or than until before after is using use the
    latest upgrade by of about python_requires
    """.split()  # noqa: SIM905  a table of words is easier to read and to extend
)
_PLATFORMS = re.compile(
    r"(?<![\w.])(?:"
    r"windows|macos|mac os x|os x|osx|linux|ubuntu|debian|fedora|centos|rhel|alpine|arch linux|freebsd|"
    r"openbsd|android|ios|ipados|chrome|chromium|firefox|safari|edge|internet explorer|ie11|opera|"
    r"node\.?js|deno|bun|electron|cpython|pypy|jython|jvm|openjdk|graalvm|docker|kubernetes|wsl2?|cygwin|"
    r"mingw|msys2?|x86_64|amd64|arm64|aarch64|apple silicon|m1|raspberry pi|aws lambda|webkit|jsdom|"
    r"react native"
    r")(?![\w-])",
    re.IGNORECASE,
)
_HEADING = re.compile(r"#{2,4}[ \t]{1,8}(\S.{0,300})$")
_NO_RESPONSE = ("_No response_", "*No response*", "No response")


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a text names; without repeats, in order of appearance, a hundred of a kind at the most."""

    paths: tuple[str, ...] = ()
    """Files and folders with forward slashes, without line numbers."""
    lines: tuple[tuple[str, int, int], ...] = ()
    """(path, first, last): the 1-based inclusive lines that were named with a path."""
    symbols: tuple[str, ...] = ()
    """Identifiers that look like code, without their call's parentheses."""
    modules: tuple[str, ...] = ()
    """Dotted or path-like, as an import would write them."""
    errors: tuple[str, ...] = ()
    """Messages: what follows ``XError:`` or ``error:``, and quoted phrases of three words or more."""
    versions: tuple[str, ...] = ()
    """With the name they belong to where one is stated: ``Django 3.2``."""
    platforms: tuple[str, ...] = ()
    """Systems, browsers and runtimes, in lower case."""
    code_blocks: tuple[str, ...] = ()
    """The content of fenced and of indented blocks."""
    urls: tuple[str, ...] = ()


def find_mentions(text: str) -> Mentions:
    """Everything that a text names, for ranking and for asking what is missing."""
    text = without_comments(text[:MAX_TEXT])
    prose, blocks = _split(text)
    code = "\n".join(blocks)
    urls = _first(url.rstrip(".,;:!?*_") for line in _lines(text) for url in _URL.findall(line))
    places = list(_places(text))
    return Mentions(
        paths=_first(path for path, _, _ in places),
        lines=_first_places(places),
        symbols=_first(_symbols(prose, code)),
        modules=_first(_modules(text)),
        errors=_first(_errors(text, prose)),
        versions=_first(_versions(prose)),
        platforms=_first(found.lower() for line in _lines(prose) for found in _PLATFORMS.findall(line)),
        code_blocks=_first((*blocks, *_indented(prose))),
        urls=urls,
    )


def split_fields(text: str) -> tuple[str, str]:
    """The prose of a text and the content of its fenced code blocks; template hints are dropped."""
    prose, blocks = _split(without_comments(text[:MAX_TEXT]))
    return prose, "\n".join(blocks)


def form_fields(text: str) -> tuple[tuple[str, str], ...]:
    """The (heading, content) pairs of a body that a GitHub issue form wrote; no response is an empty content."""
    fields: list[tuple[str, list[str]]] = []
    fence = ""
    for line in without_comments(text[:MAX_TEXT]).split("\n"):
        fence = _fence_after(line, fence)
        heading = None if fence else _HEADING.match(line.rstrip()[:_MAX_LINE])
        if heading:
            fields.append((heading[1].strip(" #"), []))
        elif fields:
            fields[-1][1].append(line)
    return tuple((name, _answer("\n".join(content))) for name, content in fields[:MAX_EACH])


def without_comments(text: str) -> str:
    """The text without its HTML comments, which are hints of an issue template; lines keep their numbers."""
    kept: list[str] = []
    at = 0
    while (start := text.find(_COMMENT_OPEN, at)) >= 0:
        stop = text.find(_COMMENT_CLOSE, start + len(_COMMENT_OPEN))
        if stop < 0:
            break
        stop += len(_COMMENT_CLOSE)
        kept += (text[at:start], "\n" * text.count("\n", start, stop))
        at = stop
    return "".join((*kept, text[at:])).replace("\r\n", "\n")


def _answer(content: str) -> str:
    content = content.strip()
    return "" if content in _NO_RESPONSE else content


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open once the line is read: empty outside any block."""
    mark = _FENCE.match(line[:_MAX_LINE])
    if not mark:
        return fence
    if not fence:
        # A line with the whole block on it opens nothing.
        return "" if mark[1] in line[mark.end() :] else mark[1]
    return "" if mark[1].startswith(fence) else fence


def _split(text: str) -> tuple[str, list[str]]:
    prose: list[str] = []
    blocks: list[list[str]] = []
    fence = ""
    for line in text.split("\n"):
        was, fence = fence, _fence_after(line, fence)
        if was and fence:
            blocks[-1].append(line)
        elif fence:
            blocks.append([])
        elif not was:
            prose.append(line)
    return "\n".join(prose), ["\n".join(block) for block in blocks]


def _indented(prose: str) -> Iterator[str]:
    block: list[str] = []
    blank_above = True
    for line in (*prose.split("\n"), ""):
        if line.startswith(("    ", "\t")) and (block or blank_above):
            block.append(line[1:] if line[0] == "\t" else line[4:])
        elif line.strip() and block:
            yield "\n".join(block).rstrip()
            block = []
        elif block:
            block.append("")
        blank_above = not line.strip()
    if block:
        yield "\n".join(block).rstrip()


def _lines(text: str) -> Iterator[str]:
    return (line[:_MAX_LINE] for line in text.split("\n") if line)


def _first(found: Iterable[str]) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    for item in found:
        if item:
            kept.setdefault(item)
        if len(kept) >= MAX_EACH:
            break
    return tuple(kept)


def _first_places(places: Iterable[tuple[str, int, int]]) -> tuple[tuple[str, int, int], ...]:
    return tuple(dict.fromkeys(place for place in places if place[1]))[:MAX_EACH]


def _places(text: str) -> Iterator[tuple[str, int, int]]:
    """(path, first, last); the lines are 0 where none is named."""
    for line in _lines(text):
        found = [*_linked_places(line), *_plain_places(_URL.sub(_blank, line))]
        yield from (place for _, place in sorted(found, key=itemgetter(0)))


def _blank(found: re.Match[str]) -> str:
    """As many spaces, so that what follows keeps its column."""
    return " " * len(found[0])


def _linked_places(line: str) -> Iterator[tuple[int, tuple[str, int, int]]]:
    for blob in _BLOB.finditer(line):
        first = int(blob[2] or 0)
        yield blob.start(), (blob[1].rstrip(").,"), first, int(blob[3] or first))


def _plain_places(line: str) -> Iterator[tuple[int, tuple[str, int, int]]]:
    for found in _PATH.finditer(line):
        path, _, number = found[0].partition(":") if found[0][1:2] != ":" else (found[0], "", "")
        path = path.rstrip(".,-").replace("\\", "/")
        if _is_path(path):
            yield found.start(), (path.removeprefix("./"), int(number or 0), int(number or 0))


def _is_path(path: str) -> bool:
    name = path.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if name in _BARE_NAMES:
        return True
    if not (dot and stem.strip(".")) or (suffix.lower() if "/" in path else suffix) not in _SUFFIX:
        return False
    # "Node.js" and "Vue.js" are products; a lone "a.b.c" or "x.h" inside code is an attribute.
    return "/" in path or (len(suffix) > 1 and not (suffix == "js" and stem[:1].isupper())) or suffix in {"c", "h"}


def _symbols(prose: str, code: str) -> Iterator[str]:
    for line in _lines(prose):
        for span in _INLINE.findall(line):
            yield from (word for word, _ in _words(span) if word not in _KEYWORDS)
        yield from (word for word, called in _words(_URL.sub(" ", line)) if _looks_like_code(word, called=called))
    for line in _lines(code):
        yield from (word for word, called in _words(line) if _looks_like_code(word, called=called))


def _words(line: str) -> Iterator[tuple[str, bool]]:
    for found in _WORD.finditer(line):
        called = bool(found[1])
        word = found[0][:-1] if called else found[0].rstrip("!?")
        if len(word) > 1 and not _is_path(word):
            yield word, called


def _looks_like_code(word: str, *, called: bool) -> bool:
    if word in _ORDINARY or word in _KEYWORDS:
        return False
    if called or "_" in word.strip("_") or "::" in word or "->" in word or "#" in word:
        return True
    return "." in word or bool(_CAMEL.search(word))


def _modules(text: str) -> Iterator[str]:
    for raw in _lines(text):
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


def _errors(text: str, prose: str) -> Iterator[str]:
    for raw in _lines(text):
        line = raw.strip()
        said = _ERROR.match(line) or _SAYS.search(line)
        if said:
            yield said[1].strip(" `*\"'")[:_MAX_MESSAGE]
    for line in _lines(prose):
        for groups in _PHRASE.findall(line):
            phrase = "".join(groups).strip()
            if len(phrase.split()) >= 3:
                yield phrase


def _versions(prose: str) -> Iterator[str]:
    for raw in _lines(prose):
        line = _URL.sub(" ", raw)
        for found in _VERSION.finditer(line):
            before = line[max(0, found.start() - 80) : found.start()]
            yield f"{_version_name(before)} {found[1]}".strip()


def _version_name(before: str) -> str:
    name = _VERSION_NAME.search(before.replace("`", "").replace("*", ""))
    if not name:
        return ""
    words = [word for word in name[1].strip(":-= ").split() if word.lower() not in _NAMELESS]
    return " ".join(words)
