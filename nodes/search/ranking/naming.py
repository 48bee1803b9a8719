"""Features of what the text names: files, modules, definitions, quoted messages and the frames of stack traces."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from nodes.search.index.columns import Array, Flags, Floats, grouped
from nodes.search.index.index import Index, lookup
from nodes.search.issue.query import FIELDS, Parsed
from nodes.search.paths.project import PACKAGE_FILES, SEPARATORS, PathIndex, common_tail, is_of_package, module_parts
from nodes.search.ranking.features import Features, best_of_file, of_definitions, set_at_least
from nodes.search.tokens import STOPWORDS, WORD, term_hash
from nodes.search.types import Frame

ENOUGH_SHINGLES = 3.0  # the rarity of three unique runs of three words means a message quoted in full
COMMON = 12  # definitions of the same name; if there are more, the name identifies none
_STANDARD = ("Stdlib.", "Stdlib__", "CamlinternalOO", "CamlinternalLazy")
"""The modules of OCaml's standard library, whose frames have bare names of files."""
_SCOPES = re.compile(r"[.:#>]+")
FRAMES = 12  # frames further out are the program's entry, not its fault


def add_names(features: Features, names: PathIndex, parsed: Parsed, ranked: Flags) -> None:
    """Add features for files whose path, module or stem occurs in the text."""
    size = len(names.paths)
    path, module = np.zeros(size), np.zeros(size)
    for written in parsed.paths:
        found = names.with_suffix(written) if "." in written else []
        for number, shared in found:
            set_at_least(path, number, (1.0 if shared > 1 else 0.7) / len(found) ** 0.5)
    for dotted in parsed.dotted:
        found = names.of_module(dotted)
        for number, used in found:
            # A package's own file (``__init__``) matches every dotted name below it, so it counts less.
            package = module_parts(names.paths[number])[-1] != names.paths[number].rpartition("/")[2].partition(".")[0]
            # A module found by two parts may be a coincidence; by three it hardly is.
            set_at_least(module, number, (0.3 if package else 1.0) * min(1.0, used / 3) / len(found))
    features.files["path"], features.files["module"] = path, module
    for name in FIELDS:
        # Files that share a stem share the score.
        scores = features.files[f"stem_{name}"] = np.zeros(size)
        for word in {word.lower() for word in WORD.findall(parsed.texts[name])} - STOPWORDS - PACKAGE_FILES:
            sharing = [number for number in names.by_stem.get(word, ()) if ranked[number]]
            for number in sharing if len(word) > 2 else ():
                set_at_least(scores, number, 1 / len(sharing))


def add_phrases(features: Features, index: Index, parsed: Parsed, ranked: Flags) -> None:
    """Add features for files with string literals that share three consecutive words with the text: error messages."""
    query = np.asarray(sorted(parsed.shingles), np.uint32)
    place, exact = lookup(query, index.string_hash)
    rows = np.flatnonzero(exact & ranked[index.string_file])
    keys, _ = grouped(index.string_file[rows].astype(np.int64) << 32 | place[rows])
    files_with = np.bincount(keys & 0xFFFFFFFF, minlength=len(query))
    total = np.bincount(keys >> 32, 1 / np.maximum(1, files_with[keys & 0xFFFFFFFF]), len(index.paths))
    features.files["phrase"] = np.minimum(1.0, total / ENOUGH_SHINGLES)
    chunks = np.zeros(len(index.chunk_file))
    # A message that many files contain identifies no place.
    for row in rows[files_with[place[rows]] <= 3]:
        number, line = index.string_file[row], index.string_line[row]
        chunks[(index.chunk_file == number) & (index.chunk_start <= line) & (line <= index.chunk_end)] += 1
    features.chunks["phrase"] = np.minimum(1.0, chunks / ENOUGH_SHINGLES)


def add_symbols(features: Features, index: Index, parsed: Parsed, ranked: Flags) -> None:
    """Add features for definitions whose exact name is in the text, weighted by how few share the name."""
    hashes = {term_hash(word): word for word in parsed.identifiers}
    strength = {value: parsed.identifiers[word] for value, word in hashes.items()}
    definition, value = definitions_named(index.def_last, list(hashes), index, ranked)
    strong = np.zeros(len(index.def_last))
    weak = np.zeros(len(index.def_last))
    # Separate features, so that training gives a word that merely equals a name a weight of its own.
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
        features.chunks[name] = of_definitions(index, scores)


def add_title_symbols(features: Features, index: Index, parsed: Parsed, ranked: Flags) -> None:
    """Add features for definitions named in the title. Plain words count too, because a title is short and chosen."""
    title = {term_hash(word): 1.0 for word in WORD.findall(parsed.texts["title"]) if word in parsed.identifiers}
    scores = np.zeros(len(index.def_last))
    definition, value = definitions_named(index.def_last, list(title), index, ranked)
    for number, rarity in zip(definition, rarities(value), strict=True):
        scores[number] = rarity
    features.files["symbol_title"] = best_of_file(len(index.paths), index.def_file, scores)


def definitions_named(names: Array, hashes: list[int], index: Index, ranked: Flags) -> tuple[list[int], list[int]]:
    """Return (definition, hash) for the definitions in ranked files whose name has one of the hashes."""
    place, exact = lookup(np.asarray(hashes, np.uint32), names)
    rows = np.flatnonzero(exact & (ranked & index.compared)[index.def_file])
    return rows.tolist(), [hashes[number] for number in place[rows]]


def rarities(values: Sequence[int]) -> list[float]:
    """Weight each value by how often it occurs: 1 for a unique one, little for a frequent one."""
    counts = Counter(values)
    return [1 / counts[value] ** 0.5 if counts[value] <= COMMON else 0.3 / counts[value] ** 0.5 for value in values]


def total_of_distinct(index: Index, scores: Floats) -> Floats:
    """Sum the scores of a file's definitions with diminishing returns, so that a facade does not win by number."""
    total = np.bincount(index.def_file, scores, len(index.paths)) if len(scores) else np.zeros(len(index.paths))
    best = best_of_file(len(index.paths), index.def_file, scores)
    return np.asarray(0.6 * best + 0.4 * total / (1 + total))


def tails_of(dotted: str) -> list[str]:
    """Return the tails of a dotted name, since ``a.B.c`` may be the definition ``B.c``."""
    parts = dotted.split(".")
    # Tails of two and three parts: a single part is what ``symbol`` covers, and definitions rarely nest deeper.
    return [".".join(parts[start:]) for start in range(max(0, len(parts) - 3), len(parts) - 1)]


def add_trace(features: Features, index: Index, parsed: Parsed) -> None:
    """Add features for files and functions on a stack trace; the repository's innermost frame weighs most."""
    size = len(index.paths)
    first, any_frame, chunk_frame = np.zeros(size), np.zeros(size), np.zeros(len(index.chunk_file))
    for trace in parsed.traces:
        depth = 0
        for frame in trace.frames:
            files = [n for n in files_of_frame(index, frame) if index.roles[n] in {"source", "generated"}]
            for number in files:
                set_at_least(first if depth == 0 else any_frame, number, 1.0 if depth == 0 else 1 - depth / FRAMES)
                mark_frame(chunk_frame, index, number, frame, 1 - depth / FRAMES)
            # Frames of libraries do not count as depth: the innermost own frame is the one that matters.
            depth += bool(files)
            if depth >= FRAMES:
                break
    features.files["trace_first"], features.files["trace"] = first, any_frame
    features.chunks["trace"] = chunk_frame


def files_of_frame(index: Index, frame: Frame) -> list[int]:
    """Return the files of a frame: by its path, else by its class or module; none for code of others."""
    module = (frame.module or "").partition("$")[0]
    if frame.path:
        is_foreign = index.project.is_foreign(frame.path) or (frame.function or "").startswith(_STANDARD)
        found = [] if is_foreign else index.names.with_suffix(frame.path)
        # With a bare file name, the JVM's traces give the class, whose package the folder has to agree with.
        if "/" not in frame.path and "." in module:
            found = [(number, shared) for number, shared in found if is_of_package(module, index.paths[number])]
            found = found if len(found) == 1 else index.names.of_module(module)
        # A bare file name identifies a file only if it is unique.
        alike = [number for number, _ in found]
        one = _meant(index, frame, alike) if len(found) > 1 else alike
        return one if len(one) == 1 else [number for number, shared in found if shared > 1]
    if not module:
        return []
    return [number for number, _ in index.names.of_module(module)] or _files_of_class(index, frame)


def _meant(index: Index, frame: Frame, alike: list[int]) -> list[int]:
    """Return which of several files with the end of a frame's path is meant, as far as path, function and role tell."""
    # A whole path of the repository is meant; that of a file at the top is one below a folder with the project's name.
    folders = frame.path.removeprefix("../").split("/")
    last = len(folders) - 1
    starts = (at for at in range(len(folders)) if at < max(last, 1) or index.project.is_named(folders[at - 1]))
    exact = [n for at in starts if (n := index.number_of.get("/".join(folders[at:]))) is not None]
    name = np.uint32(term_hash(_SCOPES.split(frame.function or "")[-1]))
    defining = [n for n in alike if np.any(index.def_last[index.first_def[n] : index.first_def[n + 1]] == name)]
    found = exact[:1] or defining or alike
    return [number for number in found if index.roles[number] == "source"] or found


def mark_frame(chunks: Floats, index: Index, number: int, frame: Frame, worth: float) -> None:
    """Mark the function of a frame, by name first, because line numbers differ between versions."""
    in_file = np.flatnonzero(index.chunk_file == number)
    owners = index.chunk_def[in_file]
    if frame.function and len(in_file):
        name = np.uint32(term_hash(frame.function.rpartition(".")[2]))
        named = in_file[(owners >= 0) & (index.def_last[owners] == name)] if len(index.def_last) else in_file[:0]
        if len(named):
            chunks[named] = np.maximum(chunks[named], worth)
            return
    if frame.line is not None:
        around = in_file[(index.chunk_start[in_file] <= frame.line) & (frame.line <= index.chunk_end[in_file])]
        # Half, because the reporter's version may have other code on this line.
        chunks[around] = np.maximum(chunks[around], worth / 2)


def _files_of_class(index: Index, frame: Frame) -> list[int]:
    """Return the files that are named like the frame's class, in a folder like its namespace, and have the function.

    The folder of a .NET project is often not called like its root namespace, so only the last part has to agree. The
    function excludes classes of libraries that have the name of an own one.
    """
    parts = [part for part in SEPARATORS.split(frame.module or "") if part]
    names, function = index.names, np.uint32(term_hash((frame.function or "").rpartition(".")[2]))
    return [
        number
        for number in names.by_module_tail.get(parts[-1] if parts else "", ())
        if common_tail(parts, names.modules[number]) > 1
        and np.any(index.def_last[index.first_def[number] : index.first_def[number + 1]] == function)
    ]
