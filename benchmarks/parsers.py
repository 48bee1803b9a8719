"""Parse a megabyte of every token with every grammar: each file must end within its deadline, parsed or as plain text.

python -m benchmarks.parsers [--size 1000000] [language …]    all of them: up to an hour on two cores
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nodes.search.git import Repository
from nodes.search.languages.pool import Pool
from nodes.search.languages.protocol import BlobToParse, deadline
from nodes.search.languages.table import LANGUAGES
from tests.support.repositories import git

MEGABYTE = 1_000_000
START = 1.0
"""Seconds of processor time to start a helper and to load a grammar."""
OWN = 6.0
"""Seconds of processor time to count the words of a megabyte, in the process that triages."""
TOKENS = (
    *("(", ")", "[", "]", "{", "}", "<", ">", "()", "[]", "{}", "<>", "(((", "[[[", "{{{", "<<<", "([{", "({", "[("),
    *("||", "|", "&&", "&", "-", "--", "->", "~", "!", "?", "??", "?.", ":", "::", "=", "==", "=>", "+", "*", "**"),
    *("/", "//", "/*", "*/", "#", "#{", "#if\n", "%", "%w(", "^", "@", "@a ", "$", "${", "\\", ";", ",", ".", ".."),
    *('"', "'", "`", '"""', "'''", '"${', "`${", "f'{", 'r#"', "<<A\n", "<?php ", "?>", "<a>", "</a>", "0", "a ", "a."),
    *("a(", "a<", "a[", "a?", "if ", "if(", "else ", "case 1:", "do ", "end ", "def a", "fn a(", "func a(", "class A{"),
    *("let a=", "async ", "await ", "new ", "return ", "import a\n", "x=>", "a:b,", "{a:", "template<", "operator"),
    *("static ", "where ", "in ", "switch(a){", "try{", "-> ", "|a| ", "&mut ", "'a ", "é", "\t", "\n", "  \n", "\r"),
    *("begin\n", "match a {", "yield ", "lambda:", "a=b ", "@[", "namespace ", "enum A{", "unless "),
)
SLOWEST = {
    "java": ["(", "{"],
    "rust": ["<", "|a| "],
    "go": ["(", "func a("],
    "csharp": ["(", "a<"],
    "kotlin": ["-", "a<"],
    "swift": ["||", "~"],
    "typescript": ["case 1:"],
    "tsx": ["<a>"],
    "ruby": ["%w("],
}
"""Tokens on which a grammar is slowest; all other grammars are slowest on an open parenthesis."""


@dataclass(frozen=True, slots=True)
class Read:
    """The result of reading one file."""

    language: str
    token: str
    parsed: bool
    helper: float
    """Seconds of processor time of child processes."""
    own: float
    """Seconds of processor time of this process."""
    size: int

    @property
    def in_time(self) -> bool:
        """Return whether the file was read within its deadline."""
        return self.helper < deadline(self.size) + START and self.own < OWN


def source(token: str, size: int) -> bytes:
    """Return repetitions of a token, in lines short enough not to count as minified code."""
    line = (token * 20 + "\n").encode()
    return (line * (size // len(line) + 1))[:size]


def read(folder: Path, language: str, ending: str, tokens: Sequence[str], size: int) -> Iterator[Read]:
    """Index one file for each token, each separately."""
    git(folder, "init", "--quiet")
    repository = Repository.open(folder)
    for token in tokens:
        content = source(token, size)
        blob = git(folder, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
        pool = Pool(repository, [BlobToParse(blob, f"a{ending}", blob, len(content))])
        children, own = _children(), time.process_time()
        built = list(pool.build())
        assert pool.complete, built
        own, children = time.process_time() - own, _children() - children
        yield Read(language, token, not pool.unparsed, children, own, len(content))


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print slow files, and one line for each language."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("languages", nargs="*", help="the languages to parse; default: all")
    options.add_argument("--size", type=int, default=MEGABYTE)
    given = options.parse_args()
    broken = []
    for language in LANGUAGES:
        name = language.name + language.endings[0]
        if given.languages and language.name not in given.languages:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = list(read(Path(folder), name, language.endings[0], TOKENS, given.size))
        broken += [one for one in found if not one.in_time]
        missed = [one.token for one in found if not one.parsed]
        slowest = max(found, key=lambda one: one.helper)
        print(
            f"{name:<16} {len(found)} tokens, {len(missed)} missed the deadline of {deadline(given.size):.1f} s;"
            f" slowest {slowest.helper:.1f} s ({slowest.token!r}),"
            f" words {max(one.own for one in found):.1f} s; missed: {' '.join(map(repr, missed))}",
            flush=True,
        )
    raise SystemExit(f"beyond the deadline: {broken}" if broken else 0)


if __name__ == "__main__":
    main()
