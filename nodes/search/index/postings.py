"""Count the terms of many texts at once, with arrays: of chunks of files, and of the messages of earlier commits."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from zlib import crc32

import numpy as np

from nodes.search.git import Repository
from nodes.search.index.columns import Array, Ints, starts
from nodes.search.tokens import LONGEST_WORD, PART, WORD, WORD_BYTES, hashes_of, stem_hash

BETWEEN = b"\0"
"""A separate word between two chunks. As a word's first byte it marks a name that must not be split."""
_PIECE = re.compile(PART.pattern + "|\n")
_END, _NO_TERM = -1, -2
COMMITS = 3_000
"""Number of commits that are read. It is a count, so that the result does not depend on the machine or the date."""
MESSAGE = 800  # characters of a message that are read; the rest is mostly trailers and lists


@dataclass(frozen=True, slots=True)
class Postings:
    """Occurrences of terms, ordered by chunk, then by the hash of the term."""

    hashes: Array
    counts: Array
    distinct: Array
    """For each chunk, how many of the rows above belong to it."""
    lengths: Array
    """For each chunk, the total number of its terms."""


def count_postings(
    vocabulary: "Vocabulary", chunks: Sequence[bytes], named: Iterable[tuple[int, str]], weight: int
) -> Postings:
    """Count the terms of chunks: text in UTF-8, translated by ``WORD_BYTES``; the vocabulary grows.

    Each (chunk, name) in ``named`` counts as ``weight`` additional mentions in that chunk.
    """
    # One split for all chunks: a commit has tens of thousands, and a call for each is slow.
    text = b" \0 ".join(chunks).split()
    # ``map`` over a bound method runs in C; ``__missing__`` is called for new words only.
    words = np.fromiter(map(vocabulary.__getitem__, text), np.int64, len(text))
    names = np.array([(chunk, vocabulary[_as_word(name)]) for chunk, name in named], np.int64).reshape(-1, 2)
    vocabulary.learn()
    # The separator is word 0, so the count of separators is the number of the chunk.
    chunk = np.concatenate([np.cumsum(words == 0), np.repeat(names[:, 0], weight)])
    words = np.concatenate([words, np.repeat(names[:, 1], weight)])
    return _counted(*vocabulary.expand(words, chunk), len(chunks))


class Vocabulary(dict[bytes, int]):
    """Numbers of the words seen so far, and the hashes of their terms."""

    def __init__(self) -> None:
        super().__init__({BETWEEN: 0})
        self._first = np.zeros(2, np.int64)
        self._hashes = np.zeros(0, np.uint32)
        self._of_part = _Parts()

    def __missing__(self, word: bytes) -> int:
        """Assign the next number to a new word."""
        number = self[word] = len(self)
        return number

    def learn(self) -> None:
        """Compute the terms of every word added since the last call."""
        # A dict iterates in the order of insertion, so the new words are at its end.
        new = list(islice(self, len(self._first) - 1, None))
        found = [self._plain_terms(new)]
        for number, word in enumerate(new):
            if not word.isascii() or word[:1] == BETWEEN:
                terms = np.array(_hashes_of_word(word), np.uint32)
                found.append((np.full(len(terms), number), terms))
        owner, hashes = (np.concatenate([pair[side] for pair in found]) for side in (0, 1))
        first = starts(np.bincount(owner, minlength=len(new)))
        self._first = np.concatenate([self._first, self._first[-1] + first[1:]])
        self._hashes = np.concatenate([self._hashes, hashes[np.argsort(owner, kind="stable")]])

    def expand(self, words: Array, chunk: Array) -> tuple[Array, Array]:
        """Replace words by their terms; return the chunk and the hash of each term."""
        counts = self._first[words + 1] - self._first[words]
        ends = np.cumsum(counts)
        place = np.repeat(self._first[words] - (ends - counts), counts) + np.arange(counts.sum())
        return np.repeat(chunk, counts), self._hashes[place]

    def _plain_terms(self, new: list[bytes]) -> tuple[Array, Array]:
        """Return (number of the word, hash) for each term of the ASCII words, split as in ``terms_of``."""
        words = [word if len(word) <= LONGEST_WORD and word.isascii() and word[:1] != BETWEEN else b"" for word in new]
        # One call of the pattern for all words; the line feeds mark where each word ends.
        parts = _PIECE.findall(b"\n".join([*words, b""]).decode("ascii"))
        number = np.fromiter(map(self._of_part.__getitem__, parts), np.int64, len(parts))
        ends = number == _END
        owner, number = np.cumsum(ends)[~ends], number[~ends]
        # A word of several parts is also a term as a whole, as in ``terms_of``.
        compound = np.flatnonzero(np.bincount(owner, minlength=len(words)) > 1)
        whole = [crc32(words[word].strip(b"_").lower()) for word in compound.tolist()]
        kept = number >= 0
        return np.append(owner[kept], compound), np.append(number[kept], whole).astype(np.uint32)


class _Parts(dict[str, int]):
    """The hash of the term that a part of a word becomes, computed once per part."""

    def __init__(self) -> None:
        super().__init__({"\n": _END})

    def __missing__(self, part: str) -> int:
        value = self[part] = _NO_TERM if len(part) < 2 or part.isdigit() else stem_hash(part)
        return value


@dataclass(frozen=True, slots=True)
class Changes:
    """The commits up to the searched one, newest first, without merges and root commits."""

    words: Ints
    """For each commit, the number of words in its message."""
    term_commit: Ints
    """For each term of a message, the number of its commit."""
    term_hash: Array
    term_count: Ints
    width: Ints
    """For each commit, the number of files it changed."""
    file_commit: Ints
    """For each changed file that still exists, the number of the commit."""
    file: Ints
    """The number of the changed file in the index."""

    def __len__(self) -> int:
        """Return the number of commits."""
        return len(self.words)


def read_log(repository: Repository, commit: str, count: int = COMMITS) -> bytes | None:
    """Return the newest ``count`` commits up to a commit, without merges and root commits.

    The files of a root commit, or of the last commit of a shallow clone, were not changed together.

    Returns:
        For each commit ``\\x01 message \\x02 \\0 \\n path \\0 path …``; None if the history cannot be read, as in
        a clone without trees.
    """
    which = (f"--max-count={count}", "--min-parents=1", "--max-parents=1")
    # These options override settings of the repository's configuration that would change the output.
    shape = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-show-signature", "--format=%x01%B%x02")
    with repository.start(
        "log", *which, *shape, "--end-of-options", commit, "--", most=repository.limits.output
    ) as git:
        printed = git.out.read()
        code = git.finish()
        if git.cut is None:
            return printed if code == 0 else None
        complete = printed[: max(0, printed.rfind(b"\x01"))]  # the last commit may be incomplete
        commits = complete.count(b"\x01")
        repository.record_shortfall("history", f"only the latest {commits:,} commits are searched", git.cut)
        return complete


def read_changes(log: bytes, number_of: Mapping[str, int]) -> Changes:
    """Parse the output of ``read_log``; skip what does not parse."""
    messages: list[str] = []
    files: list[tuple[int, int]] = []
    width: list[int] = []
    for number, part in enumerate(log.split(b"\x01")[1:]):
        message, _, names = part.partition(b"\x02")
        paths = [name.lstrip(b"\n") for name in names.split(b"\0")]
        written = [path.decode("utf-8", "surrogateescape") for path in paths if path]
        files.extend((number, number_of[path]) for path in written if path in number_of)
        width.append(len(written))
        # A character has at most four bytes in UTF-8.
        messages.append(message[: 4 * MESSAGE].decode("utf-8", "replace")[:MESSAGE])
    found = count_postings(Vocabulary(), [text.encode().translate(WORD_BYTES) for text in messages], (), 0)
    commit, file = np.array(files, np.int32).reshape(-1, 2).T
    return Changes(
        # Words, not terms: the length of a message in BM25 counts what was written, before identifiers are split.
        words=np.array([len(WORD.findall(text)) for text in messages], np.int32),
        term_commit=np.repeat(np.arange(len(messages), dtype=np.int32), found.distinct),
        term_hash=found.hashes,
        term_count=found.counts.astype(np.int32),
        width=np.array(width, np.int32),
        file_commit=commit,
        file=file,
    )


# The parts of dotted names repeat: each method's name starts with that of its class.
@lru_cache(maxsize=1 << 14)
def _as_word(name: str) -> bytes:
    plain = name.isascii() and name.replace("_", "a").isalnum()
    return name.encode() if plain else BETWEEN + name.encode("utf-8", "surrogatepass")


def _counted(chunk: Array, hashes: Array, chunks: int) -> Postings:
    # Chunk and hash in one number: a single sort of integers replaces a sort by two keys.
    keys = np.sort(chunk.astype(np.uint64) << np.uint64(32) | hashes)
    first = np.flatnonzero(np.concatenate([np.ones(min(1, len(keys)), bool), keys[1:] != keys[:-1]]))
    distinct = keys[first]
    return Postings(
        hashes=(distinct & np.uint64(0xFFFFFFFF)).astype(np.uint32),
        counts=np.diff(first, append=len(keys)),
        distinct=np.bincount((distinct >> np.uint64(32)).astype(np.int64), minlength=chunks),
        lengths=np.bincount(chunk, minlength=chunks),
    )


def _hashes_of_word(word: bytes) -> list[int]:
    """Return the hashes of the terms of a word that is not plain ASCII."""
    if word[:1] == BETWEEN:
        return list(hashes_of(word[1:].decode("utf-8", "surrogatepass")))
    return [value for part in WORD.findall(word.decode("utf-8")) for value in hashes_of(part)]
