"""Words that say whether a version worked, in any language."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nodes.search.lazy import lazy

WORDINGS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("wordings.toml").read_text(encoding="utf-8"))
"""Words of reports in many languages."""
SAYS = {
    **{
        name: lazy(rf"\b(?:{''.join(row['words'])})|{row['unspaced']}", re.IGNORECASE)
        for name, row in WORDINGS["stems"].items()
    },
    **{name: lazy("".join(lines)) for name, lines in WORDINGS["patterns"].items()},
}
"""The words for each statement that a report makes about a version."""
NEAR = 60
"""Maximum number of characters between a word and the version that it is about."""


def is_cue(text: str) -> bool:
    """Return whether a text has a word that says whether something works."""
    cues = ("good", "bad", "new", "updated", "reverted", "fixed", "used", "neutral")
    return any(SAYS[name].search(text) for name in cues)


def says(text: str) -> bool:
    """Return whether a text has a word for what works or for what fails."""
    return bool(SAYS["good"].search(text) or SAYS["bad"].search(text))


def sign_of(before: str, after: str) -> int:
    """Return what the words of a clause say about its version."""
    if (back := SAYS["reverted"].search(before)) and not SAYS["not"].search(before, back.end()):
        return 1
    if SAYS["reverted"].match(after.lstrip(" 版本にへ으로에")) or re.match(
        r"(?:に|으로|로)?\s?(?:戻|ダウングレード|되돌|다운그레이드)", after
    ):
        return 1
    clause = f"{before} \0 {after}"
    hits = _merged(
        [(*found.span(), 1) for found in SAYS["good"].finditer(clause)]
        + [(*found.span(), -1) for found in SAYS["bad"].finditer(clause)]
    )
    if hits:
        # Of two words that are equally near, the later one: "ran without problems".
        turned = {
            min(range(len(hits)), key=lambda at: (max(hits[at][0] - found.end(), found.start() - hits[at][1], 0), -at))
            for found in SAYS["not"].finditer(clause)
        }
        total = sum(-sign if at in turned else sign for at, (_, _, sign) in enumerate(hits))
        if total:
            return 1 if total > 0 else -1
    if SAYS["since"].search(before) or SAYS["onwards"].match(after) or (SAYS["updated"].search(before) and not hits):
        return -1
    return 0


def _merged(hits: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join words of one sign that follow each other: "work correctly" is one statement."""
    merged: list[tuple[int, int, int]] = []
    for hit in sorted(hits):
        if merged and merged[-1][2] == hit[2] and hit[0] - merged[-1][1] <= 12:
            merged[-1] = (merged[-1][0], hit[1], hit[2])
        else:
            merged.append(hit)
    return merged
