"""Extract what an issue says about when it broke: versions, days, commits and numbers, and the role of each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from nodes.search.history.contrast import Role, role_of_last, roles_of
from nodes.search.history.signs import NEAR, SAYS, WORDINGS, is_cue
from nodes.search.history.types import Mark, MarkKind
from nodes.search.issue.mentions.found import form_fields, split_fields
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections

_SENTENCE = 400
_MAX_LINE = 2_000
_FORMS = load_sections(Path(__file__).with_name("claims.txt"))
_OTHER_ADDRESS, _MARK, _ADDRESS, _IN_PATH, _ITEM, _VERSIONED, _END, _WORD, _NAME = (
    lazy("".join(_FORMS[name])) for name in "other_address mark address in_path item versioned end word name".split()
)
_FILE_NAME, _BLAMED, _REFERRED, _IN_USE, _FIXED, _BLAMED_AFTER = (
    lazy("".join(_FORMS[name]), re.IGNORECASE) for name in "file_name blamed referred in_use fixed blamed_after".split()
)
_FROM_TO, _OF_DAYS, _HEADING = (
    lazy("".join(_FORMS[name]), re.IGNORECASE) for name in ("from_to", "of_days", "heading")
)
_KINDS: tuple[MarkKind, ...] = ("day", "version", "number", "sha")
_DAY_FORMS = (("%Y-%m-%d", 10), ("%Y%m%d", 10), ("%d %b %Y", 10), ("%b %d %Y", 10), ("%b %Y", 7))
"""Formats of written days, and how many characters of ``2024-01-31`` they determine."""
_EMPHASIS = str.maketrans("", "", "`*\"“”'’‘\u200b")  # noqa: RUF001
_SKIPPED = frozenset(("==", *"version versions ver v release releases rel tag series is was".split()))
_GLUE = frozenset(WORDINGS["names"]["glue"].split())
OTHERS = frozenset(WORDINGS["names"]["others"].split())
"""Software whose versions most issues state although the issue is not about it."""
# As much as the ranker reads; a body on GitHub has at most 65,536 characters.
MAX_TEXT = 60_000
MAX_CLAIMS, MAX_SENTENCES = 160, 1_500
_FORM_LINES = 20
_ASKS_VERSION = lazy("".join(WORDINGS["asks_version"]), re.IGNORECASE)


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
class NamedChange:
    """A commit or the number of a change that the issue names."""

    text: str
    """The beginning of a SHA, digits, or a key such as ``CORE-12``."""
    blamed: bool
    """Whether the issue says that this change broke something."""
    in_use: bool = False
    """Whether it is the commit that the reporter uses, as others give a version."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Everything that an issue says about when it broke, in order of appearance."""

    versions: tuple[Claim, ...] = ()
    days: tuple[Claim, ...] = ()
    commits: tuple[NamedChange, ...] = ()
    numbers: tuple[NamedChange, ...] = ()
    """Numbers of issues and pull requests."""
    last: Role | None = None
    """The role of the last release, if the issue does not give its number."""


def find_marks(sentence: str) -> list[Mark]:
    """Find everything in a sentence that may state when something broke."""
    marks: list[Mark] = []
    for found in _MARK.finditer(sentence):
        kind = next(kind for kind in _KINDS if found[kind])
        text = parse_day(found[0]) if kind == "day" else found[f"{kind}_text"] or found["ticket_text"]
        in_path = _IN_PATH.search(sentence, max(0, found.start() - 120), found.start())
        if text and not in_path and not _ADDRESS.fullmatch(text):
            file = _FILE_NAME.match(sentence, found.end()) if kind == "version" and found.start() else None
            is_file = file is not None and not sentence[found.start() - 1].isspace()
            between = sentence[marks[-1].end if marks else 0 : found.start()]
            name, certain = name_before(between, is_file=is_file)
            if marks and not name and _FROM_TO.fullmatch(between):  # "numpy 1.2 to 1.3": both are of numpy
                name, certain = marks[-1].name, marks[-1].certain
            end = file.end() if file and is_file else found.end()
            marks.append(Mark(kind, text, found.start(), end, name, certain))
    return marks


def sentences(text: str) -> Iterator[str]:
    """Split a text into sentences without mark-up. List items and headings are separate; wrapped lines are joined."""
    pending: list[str] = []
    for line in (*text.split("\n"), ""):
        # The empty line appended above ends the last sentence.
        is_item = _ITEM.match(line) or (pending and _VERSIONED.match(line) and _VERSIONED.match(pending[-1]))
        if pending and (not line.strip() or is_item):
            yield from (sentence[:_SENTENCE] for sentence in _END.split(unmarked(" ".join(pending))))
            pending = []
        if line.strip():
            pending.append(line.strip()[:_MAX_LINE])


def unmarked(text: str) -> str:
    """Remove quotes and emphasis, which people put around versions, and URLs of other pages."""
    return _OTHER_ADDRESS.sub(" ", text.translate(_EMPHASIS))


def parse_day(text: str) -> str | None:
    """Read a day as ``2024-01-31``, or a month as ``2024-01``."""
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|[.,]", "", text)
    words = " ".join(word[:3] if word.isalpha() else word for word in plain.split())
    for form, day_format in _DAY_FORMS:
        try:
            return datetime.strptime(words, form).replace(tzinfo=UTC).date().isoformat()[:day_format]
        except ValueError:
            continue
    return None


def is_blamed(before: str, after: str) -> bool:
    """Return whether the words around a commit say that it broke something."""
    if _BLAMED_AFTER.match(after[:NEAR]):
        return True
    nearby = before[-2 * NEAR :]
    # "The zones are joined (since #7)" blames nothing.
    is_aside = re.search(r"\(since \W*$", nearby) and not SAYS["bad"].search(nearby)
    blames = (found.end() for found in _BLAMED.finditer(nearby) if not is_aside)
    return max(blames, default=-1) > max((found.start() for found in _REFERRED.finditer(nearby)), default=-1)


def name_before(before: str, *, is_file: bool = False) -> tuple[str, bool]:
    """Return the word before a version, unless it is a function word, and whether that word must be a name.

    In the name of a file (``tool-server-1.2.3.jar``) it is the file's, whose project only the tags can tell.
    """
    words = _WORD.findall(before[-NEAR:])
    exact = bool(words) and words[-1] == "=="
    while words and words[-1].lower().strip("._-") in _SKIPPED:
        words.pop()
    # The tag of an image, whose last part is the program's name.
    if words and before.endswith((":", ":v")) and not words[-1].startswith("@"):
        is_file, words[-1] = True, words[-1].rpartition("/")[2]
    # "upgraded numpy from 1.2"
    if len(words) > 1 and words[-1].lower() == "from" and words[-2].lower() in OTHERS:
        return words[-2], True
    word = words[-1].strip(".,;!?-_/[]") if words else ""
    plain = word.lower()
    if plain in _GLUE or not _NAME.fullmatch(word) or is_cue(word):
        return "", False
    # The first word of a sentence is capitalised whether it is a name or not.
    begins = len(words) == 1 and word.istitle()
    if is_file:
        return word, plain in OTHERS
    return word, plain in OTHERS or exact or not (begins or (word.islower() and word.isalpha()))


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
    """Return whether an issue says that one version worked and a later one failed, or that going back to one helps."""
    roles = {claim.part for claim in read_claims(title, body).versions}
    fails = not roles.isdisjoint({"bad", "affected"}) or SAYS["reverted"].search(f"{title}\n{body[:MAX_TEXT]}")
    return "last" in roles or ("good" in roles and bool(fails))


def is_mentioned(text: str, message: str) -> bool:
    """Return whether a commit's message names a number (``#12``), or begins a line with a ticket's key, as its own."""
    word = r"(?:jira|issue|bug|fix|clos|resolv|refs?)\w{0,3}\W{1,3}"
    own = rf"(?<![\w&])#{text}" if text.isdigit() else rf"(?im)^\W{{0,3}}(?:{word}){{0,2}}{text}"
    return bool(re.search(rf"{own}(?!\w)", message))


def _read(
    sentence: str, marks: Sequence[Mark], number: int, roles: Mapping[tuple[int, int], Role]
) -> Iterator[tuple[str, Claim | NamedChange]]:
    ends = (*(mark.start for mark in marks[1:]), len(sentence))
    for mark, end in zip(marks, ends, strict=False):
        part = roles.get((number, mark.start))
        if mark.kind in ("sha", "number"):
            lead = sentence[: mark.start]
            blamed = is_blamed(lead, sentence[mark.end : end])
            near = lead[-NEAR:]
            in_use = mark.kind == "sha" and not blamed and bool(_IN_USE.search(near)) and not _FIXED.search(near)
            yield mark.kind, NamedChange(mark.text, blamed, in_use)
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
