"""Mark text from strangers as data, estimate the tokens of a text, and limit its size."""

import functools
import hashlib
import math
import re

from nodes.trust.secrets import mask

_LONG = 40
_PIECE = re.compile(r"[A-Za-z0-9+/=]{40,}|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|\s+|[^\x00-\x7f]+|[^A-Za-z0-9\s]+")
_SIGNS = re.compile(r"[^A-Za-z0-9+/=]|[+/=]+$")
_MARKER = re.compile(r"<<\s{0,8}(?=DATA\b)|(?<=\bDATA)(?=[^\S\n]+[0-9a-f]{1,64}>>)", re.IGNORECASE)


# A conversation counts all of its messages again before each request.
@functools.lru_cache(maxsize=32)
def estimate(text: str) -> int:
    """Estimate the tokens of a text, preferring too many over too few.

    The weights were fitted on 360 issues and on code. For 19 of 20 texts the estimate is above the count of OpenAI's
    two newest vocabularies, by an eighth on average; it is never more than a seventh below.
    """
    pieces = _PIECE.findall(text)
    # Texts repeat their words, and a prompt is counted again for each part that may be omitted.
    weights = {piece: _weight(piece) for piece in set(pieces)}
    return math.ceil(sum(map(weights.__getitem__, pieces)))


def _weight(piece: str) -> float:
    size, first = len(piece), piece[0]
    if not first.isascii():
        return sum(map(_weight_of_letter, piece))
    if size >= _LONG and not _SIGNS.match(piece):
        # Random letters (keys, hashes, base64) have hardly any letters per token; paths consist of words.
        return size / 3 if "/" in piece and sum(map(str.isdigit, piece)) <= 2 else size / 1.35
    if first.isalpha():
        return _weight_of_word(piece, size)
    if first.isdigit():
        return math.ceil(size / 2)
    if first.isspace():
        return 0.1 if piece == " " else 0.9
    return 0.75 * size


def _weight_of_word(word: str, size: int) -> float:
    if word.isupper():
        return size / 1.4 if size > 6 else max(1.0, size / 2.2)
    # Most English words of up to six letters are one token.
    if size <= 6:
        return 1.0
    return size / 1.7 if size > 20 else size / 6


def _weight_of_letter(letter: str) -> float:
    """Return the weight of a non-ASCII letter: European and Semitic scripts, CJK, symbols, or emoji."""
    if letter < "\u0800":
        return 0.6
    if letter > "\uffff":
        return 3.0
    return 1.0 if "\u3000" <= letter <= "\ud7af" or letter >= "\uf900" else 2.0


def fence(name: str, text: str) -> str:
    """Put text between markers that the text cannot close, because their token is a hash of the text."""
    # The text's own markers are broken up first, so that it cannot imitate a fence.
    inside = _MARKER.sub("·", mask(text))
    token = hashlib.sha256(inside.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"<<<DATA {name} {token}\n{inside}\nDATA {token}>>>"


def squeeze(text: str, tokens: int) -> str:
    """Compress a text until its estimated size is at most this number of tokens."""
    limit = len(text)
    while (counted := estimate(compress(text, limit))) > tokens and limit > 0:
        # Proportional steps need few estimates; ``limit - 1`` guarantees progress.
        limit = min(limit - 1, limit * tokens // counted)
    return compress(text, limit)


def compress(text: str, limit: int) -> str:
    """Return the two ends of a long text, where most issues state the problem, and the number of omitted characters."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"
