"""Finds issues about the same failure: a search by hashes of words over all issues, then a comparison of each pair."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from nodes.search.issue.fingerprint import FRAMES, Fingerprint, plain_error, plain_function, plain_message
from nodes.search.issue.mentions.markdown import MAX_TEXT, lines, without_comments
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS, WORD, hashes_of, term_hash

VERSION = 2
"""Version of the stored words; words of another version are computed again."""
MAX_WORDS = 800
"""Maximum number of distinct words of a body, the most frequent first; a body with more is a log."""

WORDS: Any = np.dtype([("term", "<u4"), ("count", "u1")])
FEW_OF_MESSAGE, FEW_ISSUES = 4, 3
"""Minimum words of a message that identifies a failure, and maximum number of earlier issues that have it."""
_ERROR = re.compile(r"(?<![\w$])([A-Z]\w{0,80}(?:Error|Exception|Fault|Failure|Panic))(?:\[\w{1,20}\])?: (\S.{0,500})")
_FORM_LINE = re.compile(r" {0,3}(?:#{1,6}[ \t]|[-*+][ \t]\[[ xX]\][ \t])|_?No response_?$|```")

Words = NDArray[Any]
BUCKETS = 1 << 18
"""Number of hash buckets; two words that share a bucket weigh slightly too little."""
SATURATION = 1.2
"""BM25's k1, which limits the weight of a repeated word."""
TITLE, BODY, CRASH = 0.4, 0.6, 0.5
"""Weights of the fields in the search score; title and body have the same weights in the likeness."""

NEAR = 0.15
"""Minimum score. Below it no rule relates two issues, so the other issue need not be read again."""

Floats = NDArray[np.float32]

SAME_TITLE, SAME_BODY = 0.85, 0.6
"""Minimum similarities for two texts that report the same; docs/accuracy.md has the pairs they were set by."""
LIKE_TITLE, LIKE_TEXT = 0.5, 0.5
"""Minimum similarities for two texts to confirm a crash whose fingerprint alone is not sure enough."""
CLOSE_TITLE, CLOSE = 0.3, 0.25
"""Minimum similarities for related issues. If the titles share nothing, the similar words come from a template."""
MANY_FRAMES = 3
"""With this number of equal frames, an equal call path is not a coincidence, even if the messages differ."""
FEW_TITLE_WORDS, FEW_WORDS = 2, 5
"""Two texts that share fewer words never count as duplicates."""

_QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|“[^”\n]{0,200}”")
_NUMBER = re.compile(r"\d+(?:\.\d+){0,5}")


@dataclass(frozen=True, slots=True)
class IssueWords:
    """Three fields of an issue, each the packed hashes of its terms with their counts (``WORDS``)."""

    title: bytes
    body: bytes
    crash: bytes
    """The error and the innermost functions of its stack traces, without paths, lines and addresses."""


def words_of(title: str, body: str) -> IssueWords:
    """Return the stored representation of an issue."""
    crash = Counter(term_hash(name) for name in crash_names(body))
    # Hints, headings and check boxes are a template's text.
    own = "\n".join(line for line in lines(without_comments(body[:MAX_TEXT])) if not _FORM_LINE.match(line))
    return IssueWords(_packed(_terms(title)), _packed(_terms(own)), _packed(crash))


def crash_names(body: str) -> list[str]:
    """Return names that a crash has in any version and on any machine; they do not depend on the repository's files."""
    names = [f"message {message}" for message in sorted(error_messages(body))]
    for trace in find_traces(body[:MAX_TEXT]):
        error = plain_error(trace.error)
        names += [f"error {error}"] if error else []
        # Twice as many frames as a fingerprint has: it skips those of libraries, which cannot be recognised without the
        # files.
        names += [f"frame {plain_function(frame.function or '')}" for frame in trace.frames[: 2 * FRAMES]]
    return [name for name in names if name not in ("frame ", "frame ~")]


def error_messages(body: str) -> frozenset[str]:
    """Return each error of a text as its class and its whole message, without values that vary between occurrences.

    A message of few words, or mostly of values, is of many failures and is left out.
    """
    pairs = [(trace.error or "", trace.message or "") for trace in find_traces(body[:MAX_TEXT])]
    pairs += [(found[1], found[2]) for line in lines(body[:MAX_TEXT]) if (found := _ERROR.search(line))]
    plain = {(plain_error(error), plain_message(message.strip(" `*"))) for error, message in pairs if error and message}
    lengths = {text: (len(text.split()), sum("~" in word for word in text.split())) for _, text in plain}
    identifying = {
        text for text, (all_, values) in lengths.items() if all_ - values >= FEW_OF_MESSAGE and 4 * values <= all_
    }
    return frozenset(f"{error}: {message}" for error, message in plain if message in identifying)


def _terms(text: str) -> Counter[int]:
    words = (word for word in WORD.findall(text) if word.lower() not in STOPWORDS)
    return Counter(term for word in words for term in hashes_of(word))


def _packed(counts: Counter[int]) -> bytes:
    most_frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_WORDS]
    # A count is one byte; beyond a few occurrences saturation makes it irrelevant anyway.
    return np.array([(term, min(count, 255)) for term, count in sorted(most_frequent)], WORDS).tobytes()


class _Field:
    """One field of all issues: a sparse matrix with normalised rows."""

    def __init__(self, rows: Sequence[bytes]) -> None:
        self._rows = len(rows)
        joined: Words = np.frombuffer(b"".join(rows), WORDS)
        ends = np.cumsum([len(row) // WORDS.itemsize for row in rows], dtype=np.int64)
        self._starts = np.concatenate((np.zeros(1, np.int64), ends))
        # Hashed into a fixed number of buckets, so that no vocabulary of all issues has to be stored.
        buckets = (joined["term"] & (BUCKETS - 1)).astype(np.int32)
        frequency = np.bincount(buckets, minlength=BUCKETS).astype(np.float32)
        # BM25's rarity. The floor keeps a positive weight for words of every issue if there are only a few issues.
        self.rarity: Floats = np.log1p((self._rows - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        np.maximum(self.rarity, 0.01, out=self.rarity)
        self._frequency = frequency
        self._buckets = buckets
        self._weights: Floats = self.rarity[buckets] * _saturated(joined["count"])

    def cosines(self, query: bytes) -> Floats:
        """Return the similarity of each row with a query, 0..1."""
        query_words: Words = np.frombuffer(query, WORDS)
        if not self._rows or not len(query_words):
            return np.zeros(self._rows, np.float32)
        dense = np.zeros(BUCKETS, np.float32)
        np.add.at(dense, query_words["term"] & (BUCKETS - 1), self.weighted(query_words))
        length = float(np.linalg.norm(self.weighted(query_words)))
        dots = self._sums(self._weights * dense[self._buckets])
        lengths = np.sqrt(self._sums(self._weights**2))
        return np.divide(dots, lengths * length, out=np.zeros_like(dots), where=lengths > 0)

    def count(self, term: int) -> int:
        """Return the number of rows with a term, or with another term of its bucket."""
        return int(self._frequency[term & (BUCKETS - 1)])

    def weighted(self, words: Words) -> Floats:
        """Return the weights of a row's words."""
        weights: Floats = self.rarity[words["term"] & (BUCKETS - 1)] * _saturated(words["count"])
        return weights

    def _sums(self, values: Floats) -> Floats:
        """Return the sum of each row's values, 0 for an empty row; ``reduceat`` gives a wrong sum for an empty row."""
        running = np.concatenate((np.zeros(1), np.cumsum(values, dtype=np.float64)))
        sums: Floats = (running[self._starts[1:]] - running[self._starts[:-1]]).astype(np.float32)
        return sums


class PastIndex:
    """The issues of one repository by their words."""

    def __init__(self, issues: Sequence[tuple[int, IssueWords]]) -> None:
        self.numbers = np.array([number for number, _ in issues], np.int64)
        self._title = _Field([words.title for _, words in issues])
        self._body = _Field([words.body for _, words in issues])
        self._crash = _Field([words.crash for _, words in issues])

    def __len__(self) -> int:
        """Return the number of issues."""
        return len(self.numbers)

    def nearest(self, query: IssueWords, limit: int) -> list[int]:
        """Return the numbers of the nearest issues above the minimum score, best first; of equals, the oldest first."""
        # A cosine, unlike BM25, means the same for every pair, whatever the lengths.
        scores = TITLE * self._title.cosines(query.title) + BODY * self._body.cosines(query.body)
        scores = np.round(scores + CRASH * self._crash.cosines(query.crash), 4)
        order = np.lexsort((self.numbers, -scores))[:limit]
        return [int(self.numbers[at]) for at in order if scores[at] >= NEAR]

    def holding(self, message: str) -> int:
        """Return the approximate number of issues with an error's message, as ``error_messages`` returns it."""
        return self._crash.count(term_hash(f"message {message}"))

    def likeness(self, one: IssueWords, other: IssueWords) -> tuple[float, float]:
        """Return the similarity of two titles, and that of two bodies, 0..1, weighted by the rarity of words."""
        return _cosine(self._title, one.title, other.title), _cosine(self._body, one.body, other.body)


def shared(one: bytes, other: bytes) -> int:
    """Return the number of distinct words that two fields share."""
    return len(np.intersect1d(np.frombuffer(one, WORDS)["term"], np.frombuffer(other, WORDS)["term"]))


def _cosine(field: _Field, one: bytes, other: bytes) -> float:
    first, second = np.frombuffer(one, WORDS), np.frombuffer(other, WORDS)
    # By whole hashes, because a shared bucket must not count as a shared word here.
    left = dict(zip(first["term"].tolist(), field.weighted(first).tolist(), strict=True))
    right = dict(zip(second["term"].tolist(), field.weighted(second).tolist(), strict=True))
    dot = sum(weight * right[term] for term, weight in left.items() if term in right)
    lengths = np.linalg.norm(list(left.values())) * np.linalg.norm(list(right.values()))
    return round(float(dot / lengths), 4) if dot else 0.0


def _saturated(counts: NDArray[np.uint8]) -> Floats:
    wide = counts.astype(np.float32)
    return wide * (SATURATION + 1) / (wide + SATURATION)


@dataclass(frozen=True, slots=True)
class Report:
    """An issue in the form that is compared."""

    title: str
    words: IssueWords
    crashes: tuple[Fingerprint, ...] = ()
    errors: frozenset[str] = frozenset()
    """As ``error_messages`` returns them, with and without frames."""

    @classmethod
    def of(cls, title: str, body: str, crashes: tuple[Fingerprint, ...] = ()) -> Self:
        """Extract the words of an issue."""
        return cls(title, words_of(title, body), crashes, error_messages(body))


@dataclass(frozen=True, slots=True)
class Likeness:
    """The similarity of two issues, with the reason."""

    relation: Literal["duplicate", "related"] | None
    score: float
    """0..1; 1 for the same crash."""
    why: str = ""


def compare(one: Report, other: Report, past: PastIndex) -> Likeness:
    """Compare two issues as they are now; the repository's past ones determine how rare a word is."""
    title, body = past.likeness(one.words, other.words)
    score = round(TITLE * title + BODY * body, 4)
    same = _same_crash(one, other)
    # Crashes first: the same frames and message are the same failure, however differently people describe it.
    if same is not None and (_is_sure(same, other) or (title >= LIKE_TITLE and score >= LIKE_TEXT)):
        return Likeness("duplicate", 1.0, say("the same crash, {crash}", crash=_named(same)))
    # Short titles and untouched templates reach a high similarity with few words, so a minimum of shared words is
    # required.
    says_enough = (
        shared(one.words.title, other.words.title) >= FEW_TITLE_WORDS
        and shared(one.words.body, other.words.body) >= FEW_WORDS
    )
    # Python 3.11 is not 3.12, but terms have no numbers.
    numbers, others = (_NUMBER.findall(_QUOTED.sub(" ", text)) for text in (one.title, other.title))
    if title >= SAME_TITLE and body >= SAME_BODY and says_enough and sorted(numbers) == sorted(others):
        return Likeness("duplicate", score, say("title and text are nearly the same"))
    # Many different failures end in the same two frames, so fewer equal frames are not sufficient to relate issues.
    if same is not None and (same.basis == "message" or len(same.frames) >= MANY_FRAMES):
        why = say("the same kind of crash, {crash}", crash=_named(same))
        return Likeness("related", max(score, CLOSE), why)
    messages = sorted(error for error in one.errors & other.errors if past.holding(error) <= FEW_ISSUES)
    if messages:
        why = say("the same error with the same message, {error}", error=messages[0].partition(":")[0])
        return Likeness("related", max(score, CLOSE), why)
    if title >= CLOSE_TITLE and score >= CLOSE:
        return Likeness("related", score, say("title and text share words that are rare in issues"))
    return Likeness(None, score)


def _same_crash(one: Report, other: Report) -> Fingerprint | None:
    """Return a crash that both issues show, preferably one identified by its frames."""
    other_crashes = {crash.value for crash in other.crashes}
    same = (crash for crash in one.crashes if crash.value in other_crashes)
    return max(same, key=lambda crash: crash.basis == "frames", default=None)


def _is_sure(crash: Fingerprint, other: Report) -> bool:
    """Return whether frames and message are equal; frames alone do not suffice: different failures share them."""
    return crash.basis == "frames" and (crash.value, crash.message) in ((o.value, o.message) for o in other.crashes)


def _named(crash: Fingerprint) -> str:
    where = crash.frames[0].rpartition(":")[0] if crash.frames else ""
    return f"{crash.error or 'an error'}{f' in {where}' if where else ''}"
