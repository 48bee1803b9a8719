"""Extract what an issue says about when it broke (versions, dates and commits), and find the commits that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from nodes.search.git.errors import SearchError
from nodes.search.history.contrast import WORDINGS, Role, role_of_last, roles_of
from nodes.search.history.marks import find_marks, is_blamed, is_in_use, sentences, unmarked
from nodes.search.issue.mentions import form_fields, split_fields
from nodes.search.issue.stacktraces import find_traces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nodes.search.history.log import Log
    from nodes.search.history.marks import Mark

# As much as the ranker reads; a body on GitHub has at most 65,536 characters.
MAX_TEXT = 60_000
MAX_CLAIMS, MAX_SENTENCES = 160, 1_500
MAX_NAMED = 5
"""Maximum number of SHAs, and of numbers, of one issue that are looked up in the history."""
_FORM_LINES = 20
_OF_DAYS = re.compile(r"\b(?:regress|broke|work|nightl|stopp|since|fail|start)\w{0,4}\b", re.IGNORECASE)
_HEADING = re.compile(r"version|environment|release|work|broke|regress|affected", re.IGNORECASE)
"""A heading of a form under which a version has a role."""
_ASKS_VERSION = re.compile("".join(WORDINGS["asks_version"]), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """A version or a day, and its role."""

    part: Role
    text: str
    """The version as written, the day as ``2024-01-31``, or the month as ``2024-01``."""
    name: str = ""
    """The word before it, which may name the product of the version; empty for a function word."""
    certain: bool = False
    """Whether that word must be a name."""


@dataclass(frozen=True, slots=True)
class Named:
    """A commit or the number of a change that the issue names."""

    text: str
    """The beginning of a SHA, or digits."""
    blamed: bool
    """Whether the issue says that this change broke something."""
    in_use: bool = False
    """Whether it is the commit that the reporter uses, as others give a version."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Everything that an issue says about when it broke, in order of appearance."""

    versions: tuple[Claim, ...] = ()
    days: tuple[Claim, ...] = ()
    commits: tuple[Named, ...] = ()
    numbers: tuple[Named, ...] = ()
    """Numbers of issues and pull requests."""
    last: Role | None = None
    """The role of the last release, if the issue does not give its number."""


@lru_cache(maxsize=2)  # each finder and each check of a fact reads the same report
def read_claims(title: str, body: str) -> Claims:
    """Extract what an issue says about when it broke; code and stack traces are ignored."""
    body = body[:MAX_TEXT]
    # Removed from the end, so that the offsets of earlier traces stay valid.
    for trace in sorted(find_traces(body), key=lambda trace: -trace.start):
        body = f"{body[: trace.start]}\n\n{body[trace.end :]}"
    prose, _code = split_fields(body)
    # The text of a form is also read as prose, so most of its claims are found twice; ``fromkeys`` drops the second.
    answers = dict(_answers(body))
    # An answer says what its question asks: "Did it work before?", and then only "Yes, in 1.2".
    alone = (text for text in sentences(f"{title[:1_000]}\n\n{prose}") if text not in answers.values())
    texts = islice(chain(alone, answers), MAX_SENTENCES)
    written = [(sentence, find_marks(sentence)) for sentence in texts]
    roles = roles_of([(text, [mark for mark in marks if mark.kind in ("version", "day")]) for text, marks in written])
    in_text = (found for at, (text, marks) in enumerate(written) for found in _read(text, marks, at, roles))
    found = dict.fromkeys(islice(in_text, MAX_CLAIMS))
    claims = {kind: tuple(item for of, item in found if of == kind) for kind in ("version", "day", "sha", "number")}
    unnumbered = (text for text, marks in written if not any(mark.kind == "version" for mark in marks))
    last = next(filter(None, map(role_of_last, unnumbered)), None)
    return Claims(claims["version"], claims["day"], claims["sha"], claims["number"], last)  # type: ignore[arg-type]


def names_a_range(title: str, body: str) -> bool:
    """Return whether an issue says that one version worked and a later one failed."""
    roles = {claim.part for claim in read_claims(title, body).versions}
    return "good" in roles and not roles.isdisjoint({"bad", "affected"})


def names_history(title: str, body: str) -> bool:
    """Return whether an issue names a version, a commit, an issue or a pull request."""
    claims = read_claims(title, body)
    return bool(claims.versions or claims.commits or claims.numbers)


def _read(
    sentence: str, marks: Sequence[Mark], number: int, roles: Mapping[tuple[int, int], Role]
) -> Iterator[tuple[str, Claim | Named]]:
    ends = (*(mark.start for mark in marks[1:]), len(sentence))
    for mark, end in zip(marks, ends, strict=False):
        part = roles.get((number, mark.start))
        if mark.kind in ("sha", "number"):
            lead = sentence[: mark.start]
            blamed = is_blamed(lead, sentence[mark.end : end])
            yield mark.kind, Named(mark.text, blamed, in_use=mark.kind == "sha" and not blamed and is_in_use(lead))
        elif part is not None and mark.kind == "version":
            yield mark.kind, Claim(part, mark.text, mark.name, mark.certain)
        # A day in a sentence without such a word is mostly a log's, a release's or a build's date.
        elif part is not None and _OF_DAYS.search(sentence):
            yield mark.kind, Claim(part, mark.text)


def _answers(body: str) -> Iterator[tuple[str, str]]:
    """Yield the lines under the headings of an issue form that ask for versions, with their heading, and alone."""
    for heading, content in form_fields(body):
        asked = "version" if _ASKS_VERSION.search(heading) else heading.strip(" :")
        if _HEADING.search(asked):
            answers = (unmarked(line[:200]).strip() for line in content.split("\n")[:_FORM_LINES])
            yield from ((f"{asked}: {answer}", answer) for answer in answers)


def named_commits(log: Log, claims: Claims) -> dict[str, tuple[str, bool]]:
    """Map each commit of this history that the issue names to the way it is named, and to whether the issue blames it.

    A number is looked up only if the issue blames it, because most numbers are cross-references.
    """
    found: dict[str, tuple[str, bool]] = {}
    changes = (named for named in claims.commits if not named.in_use)
    for named in sorted(changes, key=lambda named: not named.blamed)[:MAX_NAMED]:
        sha = _resolved(log, named.text)
        if sha is not None:
            found.setdefault(sha, (f"`{named.text[:12]}`", named.blamed))
    for sha, number, by_own_message in _numbered(
        log, [named.text for named in claims.numbers if named.blamed][:MAX_NAMED]
    ):
        found.setdefault(
            sha,
            (f"#{number}, which its message names" if by_own_message else f"#{number}, which it was merged by", True),
        )
    return found


def _numbered(log: Log, numbers: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield (commit, number, whether its own message names it); a merge yields the commits that it added."""
    for commit in log.mentioning(numbers) if numbers else ():
        number = next((n for n in numbers if re.search(rf"(?<![\w&])#{n}(?!\d)", commit.subject)), None)
        if number is None or commit.subject.startswith("Revert "):
            continue
        if commit.files:
            yield commit.sha, number, True
        else:
            yield from ((sha, number, False) for sha in log.merged(commit.sha))


def _resolved(log: Log, prefix: str) -> str | None:
    try:
        sha = log.repository.resolve(prefix)
    except SearchError:
        return None
    # A branch or tag may have a name that looks like a SHA.
    return sha if sha.startswith(prefix) and log.is_ancestor(sha) else None
