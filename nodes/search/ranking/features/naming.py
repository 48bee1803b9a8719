"""Features of files whose path, module or stem occurs in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.issue.query import FIELDS
from nodes.search.paths.suffixes import PACKAGE_FILES, PathIndex, module_parts
from nodes.search.ranking.features.table import set_at_least
from nodes.search.tokens import STOPWORDS, WORD

if TYPE_CHECKING:
    import numpy.typing as npt

    from nodes.search.issue.query import Parsed
    from nodes.search.ranking.features.table import Features

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]


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
        features.files[f"stem_{name}"] = stem_scores(names, parsed.texts[name], ranked)


def stem_scores(names: PathIndex, text: str, ranked: Flags) -> Floats:
    """Return scores for files whose stem is a word of the text; files that share a stem share the score."""
    scores = np.zeros(len(names.paths))
    for word in {word.lower() for word in WORD.findall(text)} - STOPWORDS:
        found = [number for number in names.by_stem.get(word, ()) if ranked[number]]
        if len(word) > 2 and word not in PACKAGE_FILES:
            for number in found:
                set_at_least(scores, number, 1 / len(found))
    return scores
