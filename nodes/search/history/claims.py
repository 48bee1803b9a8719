"""Extract what an issue says about when it broke (versions, dates and commits), and find the commits that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from nodes.search.git.errors import SearchError
from nodes.search.history.contrast import Mention, compared, worked_before
from nodes.search.history.cues import (
    NEAR,
    Part,
    find_marks,
    is_blamed,
    is_in_use,
    name_before,
    part_of,
    sentences,
    unmarked,
)
from nodes.search.history.versions import parse_version
from nodes.search.issue.mentions import form_fields, split_fields
from nodes.search.issue.stacktraces import find_traces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nodes.search.history.cues import Mark
    from nodes.search.history.log import Log

# As much as the ranker reads; a body on GitHub has at most 65,536 characters.
MAX_TEXT = 60_000
MAX_CLAIMS, MAX_SENTENCES = 160, 1_500
MAX_NAMED = 5
"""Maximum number of SHAs, and of numbers, of one issue that are looked up in the history."""
_FORM_LINES = 20
_FROM_TO = re.compile(
    r"\W{0,3}(?:to|->|→|=>|until|and|through)\W{0,3}(?:[A-Za-z][\w.-]{0,30} ){0,2}[vV]?\W{0,2}", re.IGNORECASE
)
_ARROW = re.compile(r"->|→|=>")
_FORTH = re.compile(
    r"\b(?:upgrad|updat|migrat|mov|bump|switch|chang|between|going|went|jump|from)\w{0,4}\b", re.IGNORECASE
)
_BACK = re.compile(r"\b(?:downgrad|revert|roll\w{0,3} ?back|going back|went back)\w{0,4}\b", re.IGNORECASE)
_OF_DAYS = re.compile(r"\b(?:regress|broke|work|nightl|stopp|since|fail|start)\w{0,4}\b", re.IGNORECASE)
_HEADINGS: tuple[tuple[Part, str], ...] = (
    ("good", r"\b(?:last|latest|previous).{0,20}\b(?:work|good|ok)|\bwork(?:ed|s|ing) (?:in|version)"),
    ("bad", r"\bfirst.{0,20}\b(?:bad|broken|affected)|\bbroken (?:in|since)|\bregress"),
    ("affected", r"\bversion|\benvironment|\brelease\b"),
)
_FORM = tuple((part, re.compile(heading, re.IGNORECASE)) for part, heading in _HEADINGS)


@dataclass(frozen=True, slots=True)
class Claim:
    """A version or a day, and its role."""

    part: Part
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
    last_worked: bool = False
    """Whether the issue says that the release before worked, without its number."""


def read_claims(title: str, body: str) -> Claims:
    """Extract what an issue says about when it broke; code and stack traces are ignored."""
    body = body[:MAX_TEXT]
    # Removed from the end, so that the offsets of earlier traces stay valid.
    for trace in sorted(find_traces(body), key=lambda trace: -trace.start):
        body = f"{body[: trace.start]}\n\n{body[trace.end :]}"
    prose, _code = split_fields(body)
    written = [
        (sentence, list(find_marks(sentence)))
        for sentence in islice(sentences(f"{title[:1_000]}\n\n{prose}"), MAX_SENTENCES)
    ]
    roles = compared([(text, _mentions(text, marks)) for text, marks in written])
    in_prose = (found for at, (text, marks) in enumerate(written) for found in _read(text, marks, at, roles))
    # The text of a form is also read as prose, so most of its claims are found twice; ``fromkeys`` drops the second.
    found = dict.fromkeys((*islice(in_prose, MAX_CLAIMS), *islice(_read_form(body), MAX_CLAIMS)))
    claims = {kind: tuple(item for of, item in found if of == kind) for kind in ("version", "day", "sha", "number")}
    last = any(worked_before(text) for text, marks in written if not any(mark.kind == "version" for mark in marks))
    return Claims(claims["version"], claims["day"], claims["sha"], claims["number"], last)  # type: ignore[arg-type]


def names_a_range(title: str, body: str) -> bool:
    """Return whether an issue says that one version worked and a later one failed."""
    roles = {claim.part for claim in read_claims(title, body).versions}
    return "good" in roles and not roles.isdisjoint({"bad", "affected"})


def names_history(title: str, body: str) -> bool:
    """Return whether an issue names a version, a commit, an issue or a pull request."""
    claims = read_claims(title, body)
    return bool(claims.versions or claims.commits or claims.numbers)


def _mentions(sentence: str, marks: Sequence[Mark]) -> list[Mention]:
    """Return the versions and days among marks, each with the name of the product if it must be one."""
    found = []
    for mark, (name, certain) in zip(marks, _names(sentence, marks), strict=True):
        if mark.kind == "version":
            found.append(Mention(mark.text, mark.start, mark.end, name.lower() if certain else ""))
        elif mark.kind == "day":
            found.append(Mention(mark.text.replace("-", "."), mark.start, mark.end, "day"))
    return found


def _names(sentence: str, marks: Sequence[Mark]) -> list[tuple[str, bool]]:
    """Return the word that may name the product of each mark, and whether it must be a name."""
    names: list[tuple[str, bool]] = []
    left = 0
    for mark in marks:
        name = name_before(sentence[left : mark.start], is_file=mark.is_file)
        # "numpy 1.2 to 1.3": both are of numpy.
        follows = bool(names) and not name[0] and _FROM_TO.fullmatch(sentence[left : mark.start])
        names.append(names[-1] if follows else name)
        left = mark.end
    return names


def _read(
    sentence: str, marks: Sequence[Mark], place: int, roles: Mapping[tuple[int, int], Part]
) -> Iterator[tuple[str, Claim | Named]]:
    names = _names(sentence, marks)
    pairs = _pairs(sentence, marks)
    mention = -1
    for number, mark in enumerate(marks):
        mention += mark.kind in ("version", "day")
        left = marks[number - 1].end if number else 0
        right = marks[number + 1].start if number + 1 < len(marks) else len(sentence)
        before, after = sentence[left : mark.start], sentence[mark.end : right]
        if mark.kind in ("sha", "number"):
            lead = sentence[: mark.start]
            blamed = is_blamed(lead, after)
            yield mark.kind, Named(mark.text, blamed, in_use=mark.kind == "sha" and not blamed and is_in_use(lead))
            continue
        role = roles.get((place, mention))
        part = role or pairs.get(number) or part_of(before, after)
        if part is not None and mark.kind == "version":
            yield mark.kind, Claim(part, mark.text, *names[number])
        # A day in a sentence without such a word is mostly a log's, a release's or a build's date.
        elif part is not None and (role or _OF_DAYS.search(sentence)):
            yield mark.kind, Claim(part, mark.text)


def _pairs(sentence: str, marks: Sequence[Mark]) -> dict[int, Part]:
    """Return the roles in ``from X to Y`` and ``between X and Y``, by index of the mark."""
    parts: dict[int, Part] = {}
    for number, (one, other) in enumerate(pairwise(marks)):
        between = sentence[one.end : other.start]
        if one.kind != other.kind or not _FROM_TO.fullmatch(between):
            continue
        lead = sentence[max(0, one.start - NEAR) : one.start]
        # "Downgraded from 3 to 2" turns the roles around: 3 is the bad version.
        back = bool(_BACK.search(lead)) or ("between" in lead.lower() and _is_later(one.text, other.text))
        if back or _FORTH.search(lead) or _ARROW.search(between):
            parts |= {number: "bad", number + 1: "good"} if back else {number: "good", number + 1: "bad"}
    return parts


def _is_later(one: str, other: str) -> bool:
    """Compare two marks, because people also write the later version first: between 5.4.2 and 5.4.1."""
    left, right = parse_version(one), parse_version(other)
    return left > right if left and right else one > other


def _read_form(body: str) -> Iterator[tuple[str, Claim | Named]]:
    """Extract versions under the headings of an issue form."""
    for heading, content in form_fields(body):
        part = next((part for part, pattern in _FORM if pattern.search(heading)), None)
        for raw in content.split("\n")[:_FORM_LINES] if part else ():
            line = unmarked(raw[:200])
            for mark in find_marks(line):
                before = line[: mark.start]
                alone = not re.search(r"[A-Za-z]{3}", before.lower().replace("version", ""))
                if part and mark.kind == "version" and (alone or part == "affected"):
                    yield "version", Claim(part, mark.text, *(("", False) if alone else name_before(before)))


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
