"""What is measured of each file, and of each chunk, for one query: every feature is about 0 to 1, 0 where absent."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.index import lookup
from nodes.search.paths import PACKAGE_FILES, PathIndex, module_parts
from nodes.search.query import FIELDS
from nodes.search.tokens import STOPWORDS, WORD, term_hash
from nodes.search.words import Words, best_chunk, score_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from nodes.search.index import Index
    from nodes.search.query import Parsed
    from nodes.search.types import Frame

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

ROLES = ("test", "docs", "example", "config", "generated", "vendored", "data", "minified")
ENOUGH_SHINGLES = 3.0  # as much rarity as three unique three-word runs is a message quoted in full
FRAMES = 12  # frames further out than this are the program's entry, not its fault
COMMON = 12  # definitions of the same name: more than this and the name says nothing


@dataclass(slots=True)
class Features:
    """Feature values by name."""

    files: dict[str, Floats] = field(default_factory=dict)
    chunks: dict[str, Floats] = field(default_factory=dict)
    notes: dict[tuple[str, int], str] = field(default_factory=dict)
    """What the reason of (feature, file) should name."""


def measure(index: Index, parsed: Parsed) -> Features:
    """Measure every file and chunk of a commit against a query."""
    source = np.array([role == "source" for role in index.roles], bool)
    ranked = source if source.any() else np.ones(len(index.paths), bool)
    features = Features()
    add_words(features, index, score_words(index, parsed, ranked), ranked)
    add_symbols(features, index, parsed, ranked)
    names = PathIndex(index.paths)
    add_names(features, names, parsed, ranked)
    add_trace(features, index, names, parsed)
    add_phrases(features, index, parsed, ranked)
    add_priors(features, index)
    return features


def add_words(features: Features, index: Index, words: Words, ranked: Flags) -> None:
    """BM25 of files, of their best chunk, and of their paths."""
    every = np.asarray(sum(words.chunks.values(), np.zeros(len(index.chunk_file))))
    in_ranked = ranked[index.chunk_file]
    for name in FIELDS:
        features.files[f"{name}_file"] = scaled(words.files[name], ranked)
        features.files[f"{name}_chunk"] = scaled(best_chunk(index, words.chunks[name]), ranked)
        features.chunks[f"{name}_words"] = scaled(words.chunks[name], in_ranked)
    features.files["words_chunk"] = scaled(best_chunk(index, every), ranked)
    features.chunks["words"] = scaled(every, in_ranked)
    features.files["path_title"] = scaled(words.paths["title"], ranked)
    features.files["path_body"] = scaled(words.paths["prose"] + words.paths["code"], ranked)


def add_symbols(features: Features, index: Index, parsed: Parsed, ranked: Flags) -> None:
    """Definitions whose name the text says exactly, weighed by how few there are."""
    hashes = {term_hash(word): word for word in parsed.identifiers}
    strength = {value: parsed.identifiers[word] for value, word in hashes.items()}
    definition, value = definitions_named(index.def_last, list(hashes), index, ranked)
    strong = np.zeros(len(index.def_last))
    weak = np.zeros(len(index.def_last))
    for number, key, rarity in zip(definition, value, rarities(value), strict=True):
        (strong if strength[key] >= 1 else weak)[number] = strength[key] * rarity
        features.notes["symbol", int(index.def_file[number])] = hashes[key]
    dotted = np.zeros(len(index.def_last))
    tails = {term_hash(tail): tail for name in parsed.dotted for tail in tails_of(name)}
    definition, value = definitions_named(index.def_dotted, list(tails), index, ranked)
    for number, key, rarity in zip(definition, value, rarities(value), strict=True):
        dotted[number] = rarity
        features.notes["symbol_dotted", int(index.def_file[number])] = tails[key]
    for name, scores in (("symbol", strong), ("symbol_word", weak), ("symbol_dotted", dotted)):
        features.files[name] = total_of_distinct(index, scores)
        features.chunks[name] = (
            np.where(index.chunk_def >= 0, scores[index.chunk_def], 0) if len(scores) else zeros_of(index)
        )


def definitions_named(
    names: npt.NDArray[np.uint32], wanted: list[int], index: Index, ranked: Flags
) -> tuple[list[int], list[int]]:
    """Return (definition, hash) for the definitions in ranked files that go by one of the hashes."""
    place, exact = lookup(np.asarray(wanted, np.uint32), names)
    rows = np.flatnonzero(exact & ranked[index.def_file])
    return rows.tolist(), [wanted[number] for number in place[rows]]


def rarities(values: Sequence[int]) -> list[float]:
    """Weigh each value by how often it occurs: 1 for once, little for often."""
    counts: dict[int, int] = defaultdict(int)
    for value in values:
        counts[value] += 1
    return [1 / counts[value] ** 0.5 if counts[value] <= COMMON else 0.3 / counts[value] ** 0.5 for value in values]


def total_of_distinct(index: Index, scores: Floats) -> Floats:
    """Add up a file's definitions, with diminishing returns, so that a facade does not win by number."""
    total = np.bincount(index.def_file, scores, len(index.paths)) if len(scores) else np.zeros(len(index.paths))
    best = np.zeros(len(index.paths))
    np.maximum.at(best, index.def_file, scores)
    return np.asarray(0.6 * best + 0.4 * total / (1 + total))


def tails_of(dotted: str) -> list[str]:
    """``a.B.c`` may be the definition ``B.c``."""
    parts = dotted.split(".")
    return [".".join(parts[start:]) for start in range(max(0, len(parts) - 3), len(parts) - 1)]


def add_names(features: Features, names: PathIndex, parsed: Parsed, ranked: Flags) -> None:
    """Files whose path, module or stem the text says."""
    size = len(names.paths)
    path, module = np.zeros(size), np.zeros(size)
    for written in parsed.paths:
        found = names.with_suffix(written) if "." in written else []
        for number, shared in found:
            raise_to(path, number, (1.0 if shared > 1 else 0.7) / len(found) ** 0.5)
    for dotted in parsed.dotted:
        found = names.of_module(dotted)
        for number, used in found:
            package = module_parts(names.paths[number])[-1] != names.paths[number].rpartition("/")[2].partition(".")[0]
            raise_to(module, number, (0.3 if package else 1.0) * min(1.0, used / 3) / len(found))
    features.files["path"], features.files["module"] = path, module
    for name in FIELDS:
        features.files[f"stem_{name}"] = stem_scores(names, parsed.texts[name], ranked)


def stem_scores(names: PathIndex, text: str, ranked: Flags) -> Floats:
    """Files whose stem is a word of the text."""
    scores = np.zeros(len(names.paths))
    for word in {word.lower() for word in WORD.findall(text)} - STOPWORDS:
        found = [number for number in names.by_stem.get(word, ()) if ranked[number]]
        if len(word) > 2 and word not in PACKAGE_FILES:
            for number in found:
                raise_to(scores, number, 1 / len(found))
    return scores


def add_trace(features: Features, index: Index, names: PathIndex, parsed: Parsed) -> None:
    """Files, and functions, on a stack trace; the innermost frame of the repository counts most."""
    size = len(index.paths)
    first, any_frame, chunk_frame = np.zeros(size), np.zeros(size), zeros_of(index)
    for trace in parsed.traces:
        depth = 0
        for frame in trace.frames:
            files = files_of_frame(names, frame)
            files = [number for number in files if index.roles[number] in {"source", "generated"}]
            for number in files:
                raise_to(first if depth == 0 else any_frame, number, 1.0 if depth == 0 else 1 - depth / FRAMES)
                mark_frame(chunk_frame, index, number, frame, 1 - depth / FRAMES)
            depth += bool(files)
            if depth >= FRAMES:
                break
    features.files["trace_first"], features.files["trace"] = first, any_frame
    features.chunks["trace"] = chunk_frame


def files_of_frame(names: PathIndex, frame: Frame) -> list[int]:
    """Map a frame to files: by its path, else by its class or module."""
    if frame.path:
        found = names.with_suffix(frame.path)
        return [number for number, shared in found if shared > 1 or len(found) == 1]
    return [number for number, _ in names.of_module(frame.module)] if frame.module else []


def mark_frame(chunks: Floats, index: Index, number: int, frame: Frame, worth: float) -> None:
    """Mark the function a frame is in: by name first, since line numbers move between versions."""
    mine = np.flatnonzero(index.chunk_file == number)
    owners = index.chunk_def[mine]
    if frame.function and len(mine):
        name = np.uint32(term_hash(frame.function.rpartition(".")[2]))
        named = mine[(owners >= 0) & (index.def_last[owners] == name)] if len(index.def_last) else mine[:0]
        if len(named):
            chunks[named] = np.maximum(chunks[named], worth)
            return
    if frame.line is not None:
        around = mine[(index.chunk_start[mine] <= frame.line) & (frame.line <= index.chunk_end[mine])]
        chunks[around] = np.maximum(chunks[around], worth / 2)


def add_phrases(features: Features, index: Index, parsed: Parsed, ranked: Flags) -> None:
    """Files with string literals that share three words in a row with the text: error messages."""
    wanted = np.asarray(sorted(parsed.shingles), np.uint32)
    place, exact = lookup(wanted, index.string_hash)
    rows = np.flatnonzero(exact & ranked[index.string_file])
    keys = np.unique(index.string_file[rows].astype(np.int64) << 32 | place[rows])
    files_with = np.bincount(keys & 0xFFFFFFFF, minlength=len(wanted))
    total = np.bincount(keys >> 32, 1 / np.maximum(1, files_with[keys & 0xFFFFFFFF]), len(index.paths))
    features.files["phrase"] = np.minimum(1.0, total / ENOUGH_SHINGLES)
    chunks = zeros_of(index)
    for row in rows[files_with[place[rows]] <= 3]:
        number, line = index.string_file[row], index.string_line[row]
        chunks[(index.chunk_file == number) & (index.chunk_start <= line) & (line <= index.chunk_end)] += 1
    features.chunks["phrase"] = np.minimum(1.0, chunks / ENOUGH_SHINGLES)


def add_priors(features: Features, index: Index) -> None:
    """What is rarely the fault, whatever it says."""
    for role in ROLES:
        features.files[f"role_{role}"] = np.array([float(mine == role) for mine in index.roles])
    stems = [path.rpartition("/")[2].partition(".")[0] for path in index.paths]
    features.files["package_file"] = np.array([float(stem in PACKAGE_FILES) for stem in stems])
    defined = np.bincount(index.def_file, minlength=len(index.paths)) > 0
    features.files["no_definitions"] = (~defined).astype(float)
    features.chunks["outside"] = (index.chunk_def < 0).astype(float)


def scaled(scores: Floats, ranked: Iterable[bool] | Flags) -> Floats:
    """Divide by the best score of what is ranked; more than that is cut off."""
    best = float(np.max(scores, where=np.asarray(ranked, bool), initial=0.0))
    return np.minimum(1.0, scores / best) if best > 0 else np.zeros(len(scores))


def raise_to(scores: Floats, number: int, value: float) -> None:
    """Set a score unless it is higher already."""
    scores[number] = max(float(scores[number]), value)


def zeros_of(index: Index) -> Floats:
    """No score for any chunk."""
    return np.zeros(len(index.chunk_file))
