"""``absent``: a name that occurs nowhere at this commit but is requested in the title or existed in a release."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.facts.changes.named_change import short
from nodes.search.facts.changes.releases import last_to_change, releases_named
from nodes.search.facts.code import hash_of
from nodes.search.facts.names import BUILT_IN, names
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.history.mainline import containing
from nodes.search.history.printed import is_sha
from nodes.search.issue.mentions.places import URL, find_places
from nodes.search.languages import language_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.facts.changes.releases import NamedRelease
    from nodes.search.facts.code import Code
    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.git import Repository

MAX_ABSENT, MAX_RELEASES = 3, 2
MAX_WALKED = 1_500
"""Maximum number of commits whose changes are searched for a name."""
_ASKS = re.compile(
    r"\b(?:add|adds|adding|support\w*|implement\w*|missing|provide|introduce|allow|expose|feature request|proposal"
    r"|wish|undefined|would be (?:nice|great|useful|good)|no such|not found|unknown|does ?n.t exist|no longer exists"
    r"|has no attribute|lacks?|need)\b",
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"(?<![\w.])([A-Za-z_]\w{5,60})\(\)")
"""A function as prose writes it."""
_NUMBERED = re.compile(r"\bline \d|:\d")
_CODE = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield paths and names that occur nowhere: those that the report has of the project, asks for, or had before."""
    witness = Witness(inquiry.code.repository, inquiry.code.sha, "")
    yield from _places(inquiry, witness)
    # Of 26 absent names that were read, about five stated something; the rest were names of other products, of the
    # reporter's code, and plurals. So a name must be asked for in the title, or a release must have had it.
    asks = _ASKS.search(inquiry.issue.title)
    marked = [name for name in names(inquiry.issue) if (name.in_title or name.marked) and _CODE.search(name.last)]
    candidates = {name.last: name.in_title for name in marked if name.last not in BUILT_IN}
    releases = _releases(inquiry) if candidates else []
    for name, in_title in list(candidates.items())[: 2 * MAX_ABSENT] if asks or releases else ():
        # The index costs no process, so git is asked only about names that the index does not have.
        if not _is_absent(inquiry, witness, name):
            continue
        if once := _existed(inquiry, name, releases):
            yield once
        elif asks and in_title:
            yield Fact("absent", f"`{name}` occurs nowhere at this commit.", name, count=0)


def _places(inquiry: FinderInput, witness: Witness) -> Iterator[Fact]:
    """Yield the paths in folders of the project that no file has, each with the functions that the line names."""
    issue, code, stated = inquiry.issue, inquiry.code, 0
    for text in (issue.title, *issue.prose):
        plain = URL.sub(" ", text)
        for path in _lost_paths(code, plain) if "/" in plain and stated < MAX_ABSENT else ():
            # A path without a line or a function is often one of the reporter's own project.
            beside = [name for name in dict.fromkeys(_FUNCTION.findall(plain)) if not code.definitions(name)]
            if path not in issue.title and not beside and not _NUMBERED.search(plain):
                continue
            stated += 1
            for words in (path, *beside[:1]):
                if _is_absent(inquiry, witness, words):
                    yield Fact("absent", f"`{words}` occurs nowhere at this commit.", words, count=0, strong=True)


def _lost_paths(code: Code, text: str) -> list[str]:
    """Return the paths of a text whose first folder contains own code and of which no end is the path of a file."""
    found = dict.fromkeys(path for path, _, _ in find_places(text) if "/" in path and language_of(path))
    ours = [path for path in found if path.partition("/")[0] in code.top_folders]
    return [path for path in ours if not any(code.ending(end) for end in _ends(path))]


def _ends(path: str) -> list[str]:
    """Return a path and its ends, down to the last folder and the file's name, also without emphasis by Markdown."""
    folders, _, name = path.rpartition("/")
    # Markdown shows `__init__.py` outside code as `init.py`.
    emphasised = f"{folders}/__{name.replace('.', '__.', 1)}"
    parts = [item.split("/") for item in (path, emphasised)]
    return ["/".join(part[at:]) for part in parts for at in range(len(part) - 1)]


def _releases(inquiry: FinderInput) -> list[NamedRelease]:
    """Return the repository's releases that the report names, newest first."""
    found = {named.release: named for named, _ in releases_named(inquiry)}
    return sorted(found.values(), key=lambda named: named.release.version, reverse=True)[:MAX_RELEASES]


def _existed(inquiry: FinderInput, name: str, releases: Sequence[NamedRelease]) -> Fact | None:
    """Return the fact that a release had a name, with the commit that removed it if the pickaxe search finds one."""
    code = inquiry.code
    named = next((item for item in releases if _held(code.repository, item.release.commit, name)), None)
    if named is None:
        return None
    release = named.release
    says = f"`{name}` occurs nowhere at this commit; it did in {release.version}"
    between = inquiry.log.between(release.commit, code.sha)
    span = (release.commit, code.sha)
    # The pickaxe compares the files of every commit in the range, so a long range is not searched.
    removal = last_to_change(code.repository, name, *span) if len(between) <= MAX_WALKED else None
    removal = removal if removal and _removes(code.repository, removal, name) else None
    change = next(iter(inquiry.log.details([removal])), None) if removal else None
    if change is None:
        return Fact("absent", f"{says}.", name, count=0, sha=release.commit, strong=True)
    later = containing(inquiry.log, change.sha, named.made, release)
    where = f"; {later.version} contains that change" if later else ""
    says = f"{says}, until `{change.sha[:10]}` “{short(change.subject)}”{where}."
    return Fact("absent", says, name, count=0, sha=release.commit, change=change.sha, strong=True)


def _held(repository: Repository, sha: str, name: str) -> bool:
    command = ("grep", "-I", "-l", "-w", "-F", "-z", "--max-count=1", "-e", name, sha, "--")
    return is_sha(sha) and bool(repository.cached_output("--no-pager", *command))


def _removes(repository: Repository, change: str, name: str) -> bool:
    """Return whether a name occurs before a commit and not in it; the pickaxe also counts parts of longer names."""
    return _held(repository, repository.resolve(f"{change}~1"), name) and not _held(repository, change, name)


def _is_absent(inquiry: FinderInput, witness: Witness, name: str) -> bool:
    """Return whether no text of the commit contains a name of the report or its singular."""
    # A report may use the plural of a name that code has in the singular.
    forms = sorted({name, name.removesuffix("s")})
    # The index costs no process, so git is asked only about names that the index does not have.
    if hash_of(name) is None or any(inquiry.code.holding(form) for form in forms) or not inquiry.issue.holds(name):
        return False
    return not any(witness.grep(form) for form in forms)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that no text of the commit contains the name."""
    if not fact.words:
        return "it names nothing"
    if witness.grep(fact.words):
        return "it does occur"
    if fact.sha is not None and not _held(witness.repository, fact.sha, fact.words):
        return "the release does not contain the name either"
    if fact.change is not None and not _removes(witness.repository, fact.change, fact.words):
        return "the change did not remove it"
    return None
