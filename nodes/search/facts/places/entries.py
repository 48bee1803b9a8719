"""``named_here`` for packages: the line of a manifest with the path of a file that an error of the report misses."""

import re
from collections.abc import Iterator
from itertools import islice

from nodes.search.facts.inquiry import MAX_LINE, FinderInput
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness
from nodes.search.history.names import plain
from nodes.search.paths.roles import role_of
from nodes.search.sentences import say

MAX_PATHS, MAX_MANIFESTS, MAX_LINES, MAX_WIDTH, FEW = 8, 20, 2_000, 400, 3
"""Maximum numbers of paths of a report, of manifests, of their lines and characters, and of lines with one path."""
_MISSES = re.compile(
    r"(?i)not found|no such file|not exist|missing|\bENOENT\b|\brequires?\b.{1,80}\bentry\b"
    r"|(?:n.t|cannot|unable to|failed to|could not) (?:find|resolve|open|load|exist)"
)
"""What a line of output says of a file."""
_PATH = re.compile(r"(?<![\w@.:/-])(?:\.{0,2}/)?(?:[\w@.+-]{1,60}/){0,12}[\w.+-]{1,60}\.[A-Za-z]{1,5}(?![\w/-]|\.\w)")
_INSTALLED = re.compile(r".*\bnode_modules/((?:@[\w.-]{1,60}/)?[\w.-]{1,60})/(.{3,200})")
_MANIFESTS = re.compile(
    r"(?:.*/)?(?:package\.json|composer\.json|pyproject\.toml|Cargo\.toml|setup\.(?:cfg|py)|tsconfig[\w.]*\.json"
    r"|manifest[\w.]*\.json|Dockerfile|(?:docker-)?compose[\w.]*\.ya?ml|Procfile|Makefile)"
)
SAYS = re.compile(r"The error names `([^`]{1,300})`, as this line does(; the commit has no such file)?\.")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines of manifests with the first path of an error that they have, if no line places the report."""
    if inquiry.is_placed or any(fact.is_named_line for fact in inquiry.found):
        return
    for words, path in islice(_missed(inquiry), MAX_PATHS):
        hits = naming(inquiry.witness, words, path)
        if 0 < len(hits) <= FEW and inquiry.issue.holds(words):
            for hit in hits:
                says = _says(inquiry.witness, words, path)
                yield hit.fact("named_here", says, words, count=len(hits), strong=True, unclaimed=True)
            return


def _missed(inquiry: FinderInput) -> Iterator[tuple[str, str]]:
    """Yield each path of a line that misses a file, as it is written and as a manifest of the project would have it."""
    own = inquiry.code.names
    for line in (line[:MAX_LINE] for line in inquiry.issue.lines if _MISSES.search(line[:MAX_LINE])):
        for words in _PATH.findall(line):
            installed = _INSTALLED.fullmatch(words)
            if installed and plain(installed[1].rpartition("/")[2]) in own:
                yield installed[2], installed[2]
            elif words.startswith("./"):
                yield words, words.removeprefix("./")


def naming(witness: Witness, words: str, path: str) -> list[Hit]:
    """Return the lines of the outermost manifests with a path as it is written, or those with or without ``./``."""
    manifests = [name for name in witness.files() if _MANIFESTS.fullmatch(name) and role_of(name) != "test"]
    whole = re.compile(rf"(?<![\w/.-])\.?/?{re.escape(path)}(?![\w/-]|\.\w)")
    found = list[Hit]()
    for name in sorted(manifests, key=lambda name: (name.count("/"), name))[:MAX_MANIFESTS]:
        lines = enumerate(witness.lines(name, 1, MAX_LINES), 1)
        found += [Hit(name, at, text) for at, text in lines if len(text) <= MAX_WIDTH and whole.search(text)]
    return [hit for hit in found if words in hit.text] or found


def _says(witness: Witness, words: str, path: str) -> str:
    if path in witness.files():
        return say("The error names `{path}`, as this line does.", path=words)
    return say("The error names `{path}`, as this line does; the commit has no such file.", path=words)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that a line of the report misses the file, and that no more lines of manifests have it than stated."""
    words = fact.words or ""
    path = words.removeprefix("./")
    lines = (line[:MAX_LINE] for line in witness.issue_text.split("\n") if words in line)
    if not any(map(_MISSES.search, lines)) or fact.says != _says(witness, words, path):
        return "the report misses no such file, or the commit has it"
    held = [(hit.path, hit.line) for hit in naming(witness, words, path)]
    return None if (fact.path, fact.line) in held and len(held) <= FEW else "the line does not name it, or others do"
