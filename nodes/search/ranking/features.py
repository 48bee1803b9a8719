"""The feature values of one query, how they are distributed over files and chunks, and those that no word decides."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from nodes.search.index.columns import Flags, Floats, Ints
from nodes.search.index.index import Index
from nodes.search.issue.query import Parsed
from nodes.search.paths.project import PACKAGE_FILES, PathIndex
from nodes.search.tokens import term_hash

LOGIC = tuple(map(term_hash, "return els switch case catch except new null none nil".split()))
"""Words of code that decides something, as the index has them; few sentences of comments contain them."""
ENOUGH = 32
"""Number of such words above which more make no difference."""
ROLES = ("test", "docs", "example", "config", "generated", "vendored", "data", "minified")
TAGGED = r"^\W{0,3}(%s)\W{0,3}[:\]]"  # "docs: …", "[Docs] …"
SUBJECT = {
    "test": re.compile(rf"\bflaky\b|{TAGGED % 'tests?'}", re.IGNORECASE),
    "docs": re.compile(rf"\b(typos?|readme|changelog)\b|{TAGGED % 'docs?|documentation'}", re.IGNORECASE),
    "example": re.compile(TAGGED % "examples?|tutorials?|demos?", re.IGNORECASE),
}
"""Titles about tests, documents or examples. The word alone does not count: some projects are about documents."""


def candidate_files(index: Index, parsed: Parsed) -> Flags:
    """Mark the files that may be at fault: source, and files that the title is about or names by path."""
    roles = {"source", *(role for role, pattern in SUBJECT.items() if pattern.search(parsed.texts["title"]))}
    marked = np.array([role in roles for role in index.roles], bool) | named_in_title(index.names, parsed)
    # A repository without source files (documents, configuration) ranks everything.
    return marked if marked.any() else np.ones(len(index.paths), bool)


def reads_other_roles(index: Index, parsed: Parsed) -> bool:
    """Return whether files that are not source may be at fault, so that their content counts too."""
    source = np.array([role == "source" for role in index.roles], bool)
    return bool((candidate_files(index, parsed) & ~source).any())


def add_priors(features: "Features", index: Index, ranked: Flags) -> None:
    """Add features of files that are rarely at fault, unless ``ranked`` marks them."""
    for role in ROLES:
        features.files[f"role_{role}"] = np.array([float(role == other) for other in index.roles]) * ~ranked
    stems = [path.rpartition("/")[2].partition(".")[0] for path in index.paths]
    features.files["package_file"] = np.array([float(stem in PACKAGE_FILES) for stem in stems])
    code = np.array([role == "source" for role in index.roles], bool) | ~ranked
    features.files["no_definitions"] = (~index.compared & code).astype(float)
    features.files["little_logic"] = little_logic(index) * code
    # The logarithm and the divisor bring sizes to about 0 to 1, as all features are.
    features.files["size"] = np.log1p(index.file_length) / 10
    features.chunks["outside"] = _outside(index).astype(float)
    features.chunks["size"] = np.log1p(index.chunk_length) / 10


def little_logic(index: Index) -> Floats:
    """Return how much each file lacks code that can be at fault, as interfaces and lists of constants do; 0 to 1."""
    matches = index.match(LOGIC)
    words = np.bincount(index.chunk_file[matches.chunk], matches.counts, len(index.paths))
    return np.asarray(np.maximum(0.0, 1 - np.log1p(words) / np.log1p(ENOUGH)))


def _outside(index: Index) -> Flags:
    """Mark the chunks outside definitions, unless the file was cut without regard to its definitions."""
    inside = index.chunk_def >= 0
    plain = np.bincount(index.def_file, minlength=len(index.paths)) > 0
    plain[index.chunk_file[inside]] = False
    return np.asarray(~inside & ~plain[index.chunk_file])


def named_in_title(names: PathIndex, parsed: Parsed) -> Flags:
    """Mark the files whose path is in the title. A path in the body is often a template's link or part of the steps."""
    named = np.zeros(len(names.paths), bool)
    for written in parsed.paths:
        if "." in written and written in parsed.texts["title"]:
            for number, shared in names.with_suffix(written):
                named[number] |= shared > 1 or written == names.paths[number]
    return named


@dataclass(slots=True)
class Features:
    """Feature values by name."""

    files: dict[str, Floats] = field(default_factory=dict)
    chunks: dict[str, Floats] = field(default_factory=dict)
    notes: dict[tuple[str, int], str] = field(default_factory=dict)
    """The name to show in the reason for (feature, file)."""


def scaled(scores: Floats, ranked: Iterable[bool] | Flags) -> Floats:
    """Divide by the best score of the ranked items; cap the result at 1."""
    best = float(np.max(scores, where=np.asarray(ranked, bool), initial=0.0))
    return np.minimum(1.0, scores / best) if best > 0 else np.zeros(len(scores))


def set_at_least(scores: Floats, number: int, value: float) -> None:
    """Set a score unless it is already higher."""
    scores[number] = max(float(scores[number]), value)


def best_of_file(files: int, owner: Ints, scores: Floats) -> Floats:
    """Give each of ``files`` files the best score of its parts, whose file numbers are ``owner``; at least 0."""
    best = np.zeros(files)
    np.maximum.at(best, owner, scores)
    return best


def of_definitions(index: Index, scores: Floats) -> Floats:
    """Give each chunk the score of its definition."""
    # numpy evaluates both sides: -1 reads the last definition, which ``where`` then discards.
    return (
        np.where(index.chunk_def >= 0, scores[index.chunk_def], 0.0) if len(scores) else np.zeros(len(index.chunk_def))
    )


def divided_by_best(scores: Floats) -> Floats:
    """Divide scores by the best one."""
    best = float(scores.max(initial=0.0))
    return scores / best if best > 0 else scores
