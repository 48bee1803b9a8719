"""Splits code and prose into terms: identifiers are split, lowercased and stemmed, each distinct word once."""

import re
import tomllib
from collections import Counter
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import Stemmer  # type: ignore[import-not-found]  # a C extension without stubs

from nodes.search.lazy import lazy

WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")
WORD_BYTES = bytes(byte if byte >= 0x80 or byte == ord("_") or chr(byte).isalnum() else ord(" ") for byte in range(256))
"""For ``bytes.translate``: every ASCII byte that ends a word becomes a space. Other words are handled one by one."""
# An acronym before a capitalised word, a word, an acronym, digits, or letters of a script without case.
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
LONGEST_WORD = 64  # longer words are data (base64, minified names) and only take space as terms
# Words whose terms are cached; code repeats its words so often that nearly all come from the cache.
REMEMBERED = 1 << 16
# Without the stemmer's own cache (0): ``lru_cache`` below stores whole results.
_stemmer = Stemmer.Stemmer("english", 0)


def load_patterns(file: Path) -> dict[str, re.Pattern[str]]:
    """Return the patterns of a file by name."""
    return {name: lazy("".join(lines)) for name, lines in tomllib.loads(file.read_text(encoding="utf-8")).items()}


def load_sections(file: Path) -> dict[str, list[str]]:
    """Return the patterns of a text file, one a line, by section; a name in braces stands for the part it is given."""
    named, sections = dict[str, str](), dict[str, list[str]]()
    for line in file.read_text(encoding="utf-8").splitlines():
        short, is_named, value = line.partition(" = ")
        if re.fullmatch(r"\[[A-Za-z_ ]+\]", line):
            sections[line[1:-1]] = []
        elif is_named and short.isupper():
            named[f"{{{short}}}"] = value
        elif line and not line.startswith("#"):
            for placeholder, pattern in named.items():
                line = line.replace(placeholder, pattern)  # noqa: PLW2901  the line with its names filled in
            sections[list(sections)[-1]].append(line)
    return sections


def load_words(file: Path) -> dict[str, frozenset[str]]:
    """Return the words of each section of such a file."""
    return {name: frozenset(" ".join(lines).split()) for name, lines in load_sections(file).items()}


LISTS = load_words(Path(__file__).with_name("words.txt"))
"""Lists of words, by what they are for."""
STOPWORDS = LISTS["stopwords"]


@lru_cache(maxsize=REMEMBERED)
def terms_of(word: str) -> tuple[str, ...]:
    """Return the terms of one word; a compound identifier as a whole is also a term."""
    if len(word) > LONGEST_WORD:
        return ()
    parts = [part.lower() for part in PART.findall(word)]
    # Single letters and numbers occur everywhere and distinguish nothing; with its compound word, ``utf8`` is still
    # found.
    stems = [_stemmer.stemWord(part) for part in parts if len(part) > 1 and not part.isdigit()]
    if len(parts) > 1:
        stems.append(word.strip("_").lower())
    return tuple(stems)


def indent_of(line: str) -> int:
    """Return the width of the white space at the beginning of a line."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(8))


def plain_words(text: str) -> list[str]:
    """Split identifiers into distinct lower-case words, in order."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]", " ", text)
    return list(dict.fromkeys(word.lower() for word in WORD.findall(spaced) if len(word) > 2))


@lru_cache(maxsize=REMEMBERED)
def hashes_of(word: str) -> tuple[int, ...]:
    """Return the hashes of a word's terms, as stored in the index."""
    return tuple(term_hash(term) for term in terms_of(word))


def term_hash(term: str) -> int:
    """Return a 32-bit hash of a term, the same on every machine and in every process."""
    # Not Python's ``hash``, which differs in each process; hashes are stored on disk.
    return crc32(term.encode("utf-8", "surrogatepass"))


# Separate from ``terms_of``, because indexing caches parts, not words.
def stem_hash(part: str) -> int:
    """Return the hash of the term that one part of a word becomes."""
    return term_hash(_stemmer.stemWord(part.lower()))


def query_terms(text: str) -> Counter[str]:
    """Count the terms of a query's text, except words that carry no information about a fault's location."""
    counts: Counter[str] = Counter()
    for word, times in Counter(WORD.findall(text)).items():
        if word.lower() not in STOPWORDS:
            for term in terms_of(word):
                counts[term] += times
    return counts


def shingles(text: str) -> list[int]:
    """Return a hash of every three consecutive words, to match error messages with string literals."""
    if text.isascii():  # most texts are
        words = text.lower().encode().translate(WORD_BYTES).split()
    else:
        words = [word.lower().encode("utf-8", "surrogatepass") for word in WORD.findall(text)]
    return [crc32(b"%b %b %b" % triple) for triple in zip(words, words[1:], words[2:], strict=False)]


def comparable(text: str) -> str:
    """Return the words of a text without case and marks, to compare questions, labels and headings."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def normalise_space(text: str) -> str:
    """Return a text with each run of white space replaced by one space."""
    return _SPACE.sub(" ", text).strip()


def folded(text: str) -> str:
    """Return a text in lower case with each run of white space replaced by one space."""
    return normalise_space(text).casefold()
