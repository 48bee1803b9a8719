"""Text cut to a number of words."""

from __future__ import annotations


def cut(text: str, words: int) -> str:
    """The first words of a text; a cut that would leave a code span open takes it out."""
    kept = text.split()
    if len(kept) <= words:
        return " ".join(kept)
    short = " ".join(kept[:words])
    if short.count("`") % 2:
        short = short.rpartition("`")[0].rstrip()
    return f"{short} …"
