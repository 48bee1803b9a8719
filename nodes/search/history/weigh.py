"""Score a change as the cause of a fault, by shared words and other signals; the reasons add up to the score."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodes.search.history.types import Basis, Commit, Spot, SuspectCommit, Touched
from nodes.search.tokens import LISTS, STOPWORDS, WORD, terms_of
from nodes.search.types import Reason

EACH_WORD, MAX_WORDS = 0.12, 3
# Words that most commit messages contain, whatever they change.
SAYS_LITTLE = STOPWORDS | LISTS["of commits"]
# Only the order matters: named by the issue; in the range and on the lines; in the range and nearby; recent.
BLAMED, MENTIONED = 2.0, 0.5
IN_RANGE = 0.5
TOUCHES, OF_FOCUS, OF_PLACE = 0.4, 0.4, 0.2
REPLACED = 0.5
ELSEWHERE = 0.15
RECENT, YEAR = 0.3, 31_557_600
SWEEP, MASS = -0.6, 50
"""A commit with this many files is a mass edit, not a change of behaviour."""
NO_BEHAVIOUR = -0.6
NO_BEHAVIOUR_WORDS = re.compile(
    r"^\W{0,3}(?:docs?|style|chore|typos?|lint|format|black|isort|ruff|prettier|whitespace|cosmetic|flake8|pep ?8|"
    r"pyupgrade|bump|release|changelog|copyright|licen[cs]e|spelling|comments?)\b|\bwarnings?\W*$|"
    r"\b(?:docs|documentation|reformat\w{0,4}|whitespace|typos?|docstrings?|spelling|line endings|code style|"
    r"type (?:hints|annotations)|(?:licen[cs]e|copyright) headers?|"
    r"renam(?:e|ed|es|ing) (?:the )?(?:file|folder|director|package|module)\w{0,4}|"
    r"(?:run|apply|use) (?:black|isort|ruff|prettier|clang-format|gofmt|rustfmt))\b",
    re.IGNORECASE,
)
"""The subject of a change of formatting, documents or headers."""


@dataclass(frozen=True, slots=True)
class ScoringData:
    """The data by which all changes of one query are scored."""

    touched: Sequence[Touched]
    words: Mapping[str, float]
    """Terms of the issue, each with its rarity among the messages (0 to 1)."""
    spans: str
    """The range as text; empty if the issue gives none."""
    now: int
    """The time of the commit, in seconds since 1970."""


def issue_terms(title: str, body: str, messages: Sequence[str], own: frozenset[str]) -> dict[str, float]:
    """Return the weights of the issue's words, without the project's names (``own``), that few of the messages have."""
    counts = Counter(term for message in messages for term in {term for _, term in _terms(message)})
    titles, bodies = ({term for _, term in _terms(text)} for text in (title, body))
    # A word in over a quarter of the messages distinguishes none; with three messages or fewer, a share means nothing.
    max_messages = max(1.0, len(messages) / 4) if len(messages) >= 4 else len(messages)
    return {
        term: round((1.0 if term in titles or "_" in term else 0.4) / (1 + math.log(counts[term])), 6)
        for term in sorted(titles | bodies)
        if 0 < counts[term] <= max_messages and term not in own
    }


def shared_words(commit: Commit, weights: Mapping[str, float]) -> list[Reason]:
    """Return the reason that a message shares words with the issue, or an empty list."""
    found: dict[str, str] = {}
    for word, term in _terms(f"{commit.subject} {commit.body[:500]}"):
        if term in weights:
            found.setdefault(term, word.lower())
    best = sorted(found, key=lambda term: (-weights[term], term))[:MAX_WORDS]
    if not best:
        return []
    share = round(sum(EACH_WORD * weights[term] for term in best), 6)
    return [Reason("words", f"its message shares {', '.join(f'“{found[term]}”' for term in best)}", share)]


def score_change(commit: Commit, scale: ScoringData, basis: Basis, mention: str, *, in_range: bool) -> SuspectCommit:
    """Score a change with its files; ``mention`` is how the issue names it, or empty."""
    places, worth = list(_places(commit, scale.touched)), BLAMED if basis == "named" else MENTIONED
    seconds = scale.now - commit.committed
    recency = round(RECENT * 0.5 ** max(0.0, seconds / YEAR), 6)
    age = Reason("age", f"made {format_age(seconds)} before the commit read", recency)
    reasons = [
        *([Reason("named", f"the issue names {mention}", worth)] if mention else []),
        *([Reason("range", f"in the range given, {scale.spans}", IN_RANGE)] if in_range else []),
        *(reason for reason, _ in places),
        *shared_words(commit, scale.words),
        *([] if in_range or mention else [age]),
        *_doubts(commit),
    ]
    ordered = tuple(sorted(reasons, key=lambda reason: (-reason.contribution, reason.kind, reason.text)))
    touches = tuple(where for _, where in places if where)
    return SuspectCommit(commit, sum(reason.contribution for reason in ordered), basis, ordered, touches)


def format_lines(numbers: Iterable[int]) -> str:
    """Format lines as ``L3-L5, L9``; of many runs, only the first ones."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [f"L{run[0]}" if len(run) == 1 else f"L{run[0]}-L{run[-1]}" for run in runs[:3]]
    return ", ".join(shown) + (" …" if len(runs) > 3 else "")


def format_age(seconds: int) -> str:
    """Format a time span as text."""
    days = max(0, seconds) // 86_400
    for size, unit in ((365, "year"), (30, "month"), (7, "week"), (1, "day")):
        if days >= size:
            return f"{days // size} {unit}{'s' if days >= 2 * size else ''}"
    return "less than a day"


def is_mechanical(commit: Commit) -> bool:
    """Return whether a commit rewrites much of the repository, or its message says that no behaviour changes."""
    return is_sweep(commit) or bool(NO_BEHAVIOUR_WORDS.search(commit.subject))


def _terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words that may distinguish changes, each with its term; an identifier is one term."""
    for word in WORD.findall(text[:20_000]):
        if len(word) > 3 and word.lower() not in SAYS_LITTLE and not word.isdigit():
            # The last term is the whole identifier, or the stem of a plain word.
            yield from ((word, term) for term in terms_of(word)[-1:])


def _places(commit: Commit, touched: Sequence[Touched]) -> Iterator[tuple[Reason, str]]:
    """Yield a reason per place that the change touched, with the place as text; later places count less."""
    seen: set[tuple[str, int]] = set()
    others: dict[str, list[tuple[float, Touched]]] = {}
    for number, place in enumerate(touched):
        spot = place.spot
        weight = spot.weight / (1 + number / 2)
        # Places may overlap (a method and its class); each line counts once.
        own_lines = [n for n, sha in place.lines.items() if sha == commit.sha and (spot.path, n) not in seen]
        if own_lines:
            seen.update((spot.path, line) for line in own_lines)
            where = f"{format_lines(own_lines)} of {_name(spot)}"
            yield Reason("lines", f"touches {where}", round(weight * _share(own_lines, spot), 6)), where
        others.setdefault(spot.path, []).append((weight, place))
    for path, places in others.items():
        if path not in {of for of, _ in seen}:
            yield from _without_lines(commit, path, places)


def _without_lines(commit: Commit, path: str, places: Sequence[tuple[float, Touched]]) -> Iterator[tuple[Reason, str]]:
    """Yield a reason for a file that the commit changed although it wrote none of the current lines at the places."""
    weight, first = places[0]
    if commit.sha in (first.changed or ()):
        where = _name(first.spot) if len(places) == 1 else f"the places found in `{path}`"
        text = f"changed {where}; its lines were changed again or removed"
        yield Reason("replaced", text, round(weight * REPLACED, 6)), where
    elif set(first.paths) & set(commit.files):
        where = "" if first.changed is None else " elsewhere"
        yield Reason("file", f"changes `{path}`{where}", round(weight * ELSEWHERE, 6)), ""


def _name(spot: Spot) -> str:
    return f"`{spot.symbol or spot.path}`"


def _share(lines: Sequence[int], spot: Spot) -> float:
    focus = sum(spot.focus[0] <= line <= spot.focus[1] for line in lines)
    of_focus = focus / (spot.focus[1] - spot.focus[0] + 1)
    return TOUCHES + OF_FOCUS * of_focus + OF_PLACE * len(lines) / (spot.end_line - spot.start_line + 1)


def _doubts(commit: Commit) -> Iterator[Reason]:
    if is_sweep(commit):
        yield Reason("sweep", f"touches {len(commit.files) + len(commit.renamed)} files at once", SWEEP)
    if NO_BEHAVIOUR_WORDS.search(commit.subject):
        yield Reason("no_behaviour", "its message is about formatting, not behaviour", NO_BEHAVIOUR)


def is_sweep(commit: Commit) -> bool:
    """Return whether a commit changes so many files that it is a mass edit."""
    return len(commit.files) + len(commit.renamed) > MASS
