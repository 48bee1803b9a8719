"""Finds the environment: versions with the names they belong to, systems, browsers and runtimes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.search.issue.mentions.markdown import lines
from nodes.search.issue.mentions.places import URL

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
_DECIMAL = re.compile(r"\d{1,4}\.\d{3,6}")
"""A number that is rather a value than a version if it is the whole content of quotation marks."""
_NAMELESS = frozenset(
    """
    version versions v ver release since in on at from to with and or than until before after is using use the
    latest upgrade by of about python_requires anything everything any all both
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


def find_platforms(prose: str) -> Iterator[str]:
    """Return each system, browser or runtime, in lower case."""
    return (found.lower() for line in lines(prose) for found in _PLATFORMS.findall(line))


def find_versions(prose: str) -> Iterator[str]:
    """Yield each version, with its name if the text states one."""
    for raw in lines(prose):
        line = URL.sub(" ", raw)
        for found in _VERSION.finditer(line):
            # A window, because the search for a name that ends here would take quadratic time over a whole line.
            before = line[max(0, found.start() - 80) : found.start()]
            name = _version_name(before)
            after = line[found.end() : found.end() + 1]
            if name or not (_DECIMAL.fullmatch(found[1]) and after in ('"', "'") and before.endswith(after)):
                yield f"{name} {found[1]}".strip()


def _version_name(before: str) -> str:
    name = _VERSION_NAME.search(before.replace("`", "").replace("*", ""))
    if not name:
        return ""
    words = [word for word in name[1].strip(":-= ").split() if word.lower() not in _NAMELESS]
    return " ".join(words)
