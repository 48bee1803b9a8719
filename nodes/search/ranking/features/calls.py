"""The call neighbourhood of the likeliest functions: their callees and their callers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.tokens import term_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from nodes.search.index import Index

    Floats = npt.NDArray[np.float64]

AROUND = 30
"""Number of chunks whose calls are followed."""
TEMPERATURE = 2.0  # how quickly the weight drops with the score
COMMON = 60  # chunks that contain a name; if there are more, it does not identify calls of this function


def likely_chunks(scores: Floats, count: int = AROUND) -> dict[int, float]:
    """Return the best chunks with their shares of likelihood, which add up to 1; empty if no score is positive."""
    rows = np.flatnonzero(scores > 0)
    if not len(rows):
        return {}
    top = rows[np.lexsort((rows, -np.round(scores[rows], 9)))][:count]
    # A softmax; the best score is subtracted so that ``exp`` cannot overflow.
    share = np.exp(TEMPERATURE * (scores[top] - scores[top[0]]))
    return dict(zip(top.tolist(), (share / share.sum()).tolist(), strict=True))


def called(index: Index, likely: Mapping[int, float], mentions: Mapping[int, Mapping[int, float]]) -> Floats:
    """Give each definition the likelihood of the chunks that name it."""
    found = np.zeros(len(index.def_last))
    for chunk, share in likely.items():
        own = int(index.chunk_def[chunk])
        for definition, rarity in mentions.get(chunk, {}).items():
            if definition != own:
                found[definition] += share * rarity
    return found


def callers(index: Index, likely: Mapping[int, float]) -> Floats:
    """Give each chunk the likelihood of the definitions whose compound name it contains."""
    likelihood: dict[int, float] = {}
    owners: dict[int, set[int]] = {}
    for chunk, share in likely.items():
        definition = int(index.chunk_def[chunk])
        if definition >= 0:
            name = index.name_of(definition).rpartition(".")[2].strip("_")
            # A plain word such as ``get`` occurs everywhere; only a compound name is a term that identifies calls.
            if "_" in name or name.lower() != name:
                # The index has the whole identifier as a lowercased term, without surrounding underscores.
                key = term_hash(name.lower())
                likelihood[key] = likelihood.get(key, 0.0) + share
                owners.setdefault(key, set()).add(definition)
    found = np.zeros(len(index.chunk_file))
    hashes = sorted(likelihood)
    matches = index.match(hashes)
    for place, key in enumerate(hashes):
        rows = matches.chunk[matches.term == place]
        rows = rows[~np.isin(index.chunk_def[rows], list(owners[key]))]
        if 0 < len(rows) <= COMMON:
            # Few callers say more than many.
            found[rows] += likelihood[key] / len(rows) ** 0.5
    return found
