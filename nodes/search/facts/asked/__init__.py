"""Facts that only an issue's own question needs: who owns a file, when it changed last, who calls a function."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.facts.code import whole_word
from nodes.search.facts.names import names
from nodes.search.facts.names.defined_once import definition_of
from nodes.search.issue.mentions.places import find_places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput

OWNER = re.compile(
    r"\bwho\b.{0,60}\b(?:owns?|maintains?|responsible|reviews?|in\s{1,3}charge)\b"
    r"|\b(?:who|what)\s{1,3}(?:is|are)\s{1,3}the\s{1,3}(?:code\s{0,3})?(?:owners?|maintainers?)\s{1,3}(?:of|for)\b"
    r"|\bcode\s{0,3}owners?\s{1,3}(?:of|for)\b",
    re.IGNORECASE,
)
CHANGE = re.compile(
    r"\b(?:when|what|which|who)\b.{0,120}\blast\s{1,3}(?:changed?|modified|touched|updated?|edited)\b"
    r"|\bwhen\s{1,3}(?:was|were|did|has|have)\b.{0,100}\b(?:changed?|modified|touched|updated|edited)\b"
    r"|\bwh(?:at|en|ich)\b.{0,60}\b(?:last|latest|most\s{1,3}recent)\s{1,3}(?:change|commit)\s{1,3}(?:to|of|in|on|for)\b",
    re.IGNORECASE,
)
CALLS = re.compile(
    r"\b(?:who|what)\s{1,3}(?:else\s{1,3})?calls\b|\bwhich\b.{0,40}\bcalls?\b|\bcallers\s{1,3}of\b"
    r"|\bwhere(?:\s{1,3}(?:is|are|do|does)|'s)\b.{0,100}\b(?:called|used|invoked)\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"\W{0,9}(?:who|when|what|where|which)\b", re.IGNORECASE)
MAX_SUBJECTS = 3
"""Maximum number of subjects of one issue."""
_MAX_SENTENCES = 40
_LONGEST = 400
_ENDS = re.compile(r"(?<=[?!.])\s")


def sentences(inquiry: FinderInput, pattern: re.Pattern[str]) -> list[str]:
    """Return the questions of an issue that match a pattern; a title that begins like one needs no question mark."""
    title = inquiry.issue.title.strip()
    asked = [title] if title.endswith("?") or _BEGINS.match(title) else []
    for line in inquiry.issue.prose:
        if "?" in line and len(asked) < _MAX_SENTENCES:
            asked += [part for part in _ENDS.split(line) if part.rstrip().endswith("?")]
    return [one for one in asked[:_MAX_SENTENCES] if len(one) <= _LONGEST and pattern.search(one)]


def files_in(inquiry: FinderInput, asked: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the files that questions name by a path or name that only one file has, as written, with their numbers."""
    found = dict.fromkeys(path for one in asked for path, _, _ in find_places(one))
    for words in list(found)[:MAX_SUBJECTS]:
        numbers = inquiry.code.ending(words)
        # Of several files with this ending the reporter means one, and nothing says which.
        if len(numbers) == 1 and inquiry.issue.holds(words):
            yield words, numbers[0]


def functions_in(inquiry: FinderInput, asked: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the names in questions that have one definition, as written, with the rows of the definitions."""
    named = [name for name in names(inquiry.issue) if any(whole_word(name.words).search(one) for one in asked)]
    for name in named[:MAX_SUBJECTS]:
        row = definition_of(inquiry.code, name)
        if row is not None and inquiry.issue.holds(name.words):
            yield name.words, row
