"""``absent``: a name that occurs nowhere at this commit but is requested in the title, or that an error misses."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from nodes.search.facts.changes.named_change import short
from nodes.search.facts.changes.releases import changes, releases_of, since_release
from nodes.search.facts.code import Code, hash_of
from nodes.search.facts.inquiry import MAX_LINE, FinderInput
from nodes.search.facts.names.named import BUILT_IN, names
from nodes.search.facts.output.error_form import errors
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.git import Repository
from nodes.search.git.errors import SearchError
from nodes.search.issue.mentions.places import URL, find_places
from nodes.search.languages.table import language_of
from nodes.search.sentences import say
from nodes.search.tokens import load_sections

MAX_ABSENT, MAX_MISSED, SHORTEST = 3, 4, 5
_FORMS = load_sections(Path(__file__).with_name("absent.txt"))
_ASKS, _MISSING, _LACKS, _IMPORT, _FUNCTION, _NUMBERED = (
    re.compile("".join(_FORMS[name])) for name in "asks missing lacks import function numbered".split()
)
_OF_ALL = BUILT_IN | {"getClass", "hashCode", "toString", "valueOf"}
"""Names that every object of a language has, or that it has itself."""
MAX_BACK = 2_000
"""Maximum number of commits in which the one that removed a name is looked for."""
_CODE = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield paths and names that occur nowhere: paths in folders of the project, and names that are asked for."""
    yield from _places(inquiry)
    # What an error names and no file has is code of another program; of a null value, its trace tells more.
    traced = any(trace.frames for trace in inquiry.issue.traces)
    missed = [shape.name for shape in errors(inquiry) if not traced or _MISSING.search(shape.words)]
    missed += [name for line in inquiry.issue.lines for name in _LACKS.findall(line[:MAX_LINE])]
    for name in list(dict.fromkeys(missed))[:MAX_MISSED]:
        if len(name) >= SHORTEST and name not in _OF_ALL and _CODE.search(name) and _is_absent(inquiry, name):
            yield _missed(inquiry, name)
    imports = (found[0] for line in inquiry.issue.lines if (found := _IMPORT.search(line[:MAX_LINE])))
    for words in list(dict.fromkeys(imports))[:MAX_MISSED]:
        fact = None if inquiry.is_placed or inquiry.witness.grep(_text(words)) else _missed(inquiry, words)
        if fact and fact.change:  # else the import may be on several lines, or another program's
            yield fact
    # Of 26 absent names that were read, about five stated something; the rest were names of other products, of the
    # reporter's code, and plurals. So a name must be asked for in the title.
    if not _ASKS.search(inquiry.issue.title):
        return
    titled = [name.last for name in names(inquiry.issue) if name.in_title and _CODE.search(name.last)]
    # The class of an error before its message is not asked for.
    asked = (name for name in dict.fromkeys(titled) if name not in BUILT_IN and f"{name}: " not in inquiry.issue.title)
    for name in list(asked)[: 2 * MAX_ABSENT]:
        if _is_absent(inquiry, name):
            yield Fact("absent", _says(name), name, count=0)


def _text(words: str) -> str:
    """Return what the code has for the words of an error: the line that imports a name, or the words."""
    found = _IMPORT.fullmatch(words)
    return f"from {found[2]} import {found[1]}" if found else words


def _missed(inquiry: FinderInput, words: str) -> Fact:
    """Return the fact about a name that an error misses, with the change that removed its last use, if one did."""
    code, name = inquiry.code, _text(words)
    since = [f"^{horizon}"] if (horizon := code.log.horizon(MAX_BACK)) else []
    found = changes(code.repository, "--max-count=1", f"-S{name}", code.sha, *since)
    if not found or not _is_removed(code.repository, found[0], name):
        return Fact("absent", _says(name), words, count=0, strong=True)
    (change,) = code.log.details(found)
    released = since_release(code.repository, change.sha, releases_of(code))
    values = {"name": name, "sha": change.sha[:10], "title": short(change.subject), "released": released}
    says = say("`{name}` occurs nowhere at this commit; `{sha}` “{title}” removed it{released}.", **values)
    return Fact("absent", says, words, count=0, strong=True, change=change.sha)


def _is_removed(repository: Repository, change: str, name: str) -> bool:
    """Return whether texts have a name before a change and none has it after it."""
    with suppress(SearchError):  # the first commit has none before it
        before, after = (Witness(repository, sha, "").grep(name) for sha in (repository.resolve(f"{change}~1"), change))
        return bool(before) and not after
    return False


def _says(name: str) -> str:
    return say("`{name}` occurs nowhere at this commit.", name=name)


def _places(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the paths in folders of the project that no file has, each with the functions that the line names."""
    issue, code, stated = inquiry.issue, inquiry.code, 0
    for text in (issue.title, *issue.prose):
        plain = URL.sub(" ", text)
        for path in _lost_paths(code, plain) if "/" in plain and stated < MAX_ABSENT else ():
            # A path without a line or a function is often one of the reporter's own project.
            functions = [name for name in dict.fromkeys(_FUNCTION.findall(plain)) if not code.definitions(name)]
            if path not in issue.title and not functions and not _NUMBERED.search(plain):
                continue
            stated += 1
            for words in (path, *functions[:1]):
                if _is_absent(inquiry, words):
                    yield Fact("absent", _says(words), words, count=0, strong=True)


def _lost_paths(code: Code, text: str) -> list[str]:
    """Return the paths of a text whose first folder contains own code and of which no end is the path of a file."""
    found = dict.fromkeys(path for path, _, _ in find_places(text) if "/" in path and language_of(path))
    ours = [path for path in found if path.partition("/")[0] in code.top_folders]
    return [path for path in ours if not any(code.ending(end) for end in _ends(path))]


def _ends(path: str) -> list[str]:
    """Return a path and its ends, down to the last folder and the file's name, also as Markdown shows them."""
    folders, _, name = path.rpartition("/")
    # Markdown shows `__init__.py` outside code as `init.py`.
    parts = [item.split("/") for item in (path, f"{folders}/__{name.replace('.', '__.', 1)}")]
    return ["/".join(part[at:]) for part in parts for at in range(len(part) - 1)]


def _is_absent(inquiry: FinderInput, name: str) -> bool:
    """Return whether no text of the commit contains a name of the report or its singular."""
    # A report may use the plural of a name that code has in the singular.
    forms = sorted({name, name.removesuffix("s")})
    # The index costs no process, so git is asked only about names that the index does not have.
    if hash_of(name) is None or any(inquiry.code.holding(form) for form in forms) or not inquiry.issue.holds(name):
        return False
    return not any(inquiry.witness.grep(form) for form in forms)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that no text of the commit contains the name."""
    name = _text(fact.words or "")
    if fact.change and not _is_removed(witness.repository, fact.change, name):
        return "the change did not remove it"
    return "it does occur" if witness.grep(name) else None
