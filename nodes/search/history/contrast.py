"""Decide which of the versions that a report compares worked and which failed, in any language.

A version's clause says by stems of words whether it is good or bad, and a negation turns the nearest stem around. Where
the clauses of two versions differ, the one without such a word gets the opposite role; the good one is always older,
because a report compares versions to say that something broke.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from nodes.search.history.cues import NEAR, WORDINGS
from nodes.search.history.versions import parse_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LISTED = 22
"""Maximum number of characters between two versions of a list."""
_GOOD, _BAD, _FIXED, _ALSO, _UPDATED, _REVERTED = (
    re.compile(rf"\b(?:{''.join(row['words'])})|{row['unspaced']}", re.IGNORECASE)
    for row in (WORDINGS["stems"][name] for name in ("good", "bad", "fixed", "also", "updated", "reverted"))
)
_NOT, _SINCE, _ONWARDS, _CUT, _LAST, _CONTRAST = (
    re.compile("".join(WORDINGS["patterns"][name])) for name in ("not", "since", "onwards", "cut", "last", "contrast")
)
_ARROW = re.compile(r"->|→|=>|➜|➔")
_JOINED = re.compile(r"\s?[぀-ヿ一-鿿가-힣]")
"""A language that puts words after a version: Japanese, Chinese, Korean."""
Role = Literal["good", "bad"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A version in a sentence."""

    text: str
    start: int
    end: int
    product: str = ""
    """The name of another product; empty if the version may be the project's."""


@dataclass(frozen=True, slots=True)
class _Judged:
    place: tuple[int, int]
    """The sentence and the position of the version in it."""
    mention: Mention
    sign: int
    """1 for good, -1 for bad, 0 if the clause does not say."""
    also: bool = False


def compared(sentences: Sequence[tuple[str, Sequence[Mention]]]) -> dict[tuple[int, int], Role]:
    """Return the roles of the versions that a text compares, by sentence and position, if one is good and one bad.

    Args:
        sentences: each sentence with its versions.
    """
    judged = [
        judgement for number, (text, mentions) in enumerate(sentences) for judgement in _judged(number, text, mentions)
    ]
    roles: dict[tuple[int, int], Role] = {}
    for product in dict.fromkeys(judgement.mention.product for judgement in judged):
        group = [judgement for judgement in judged if judgement.mention.product == product]
        group = _completed(group)
        if _is_regression(group):
            roles |= {judgement.place: "good" if judgement.sign > 0 else "bad" for judgement in group if judgement.sign}
    return roles


def worked_before(sentence: str) -> bool:
    """Return whether a sentence says that the release before worked, without its number."""
    found = _LAST.search(sentence)
    if found is None:
        return False
    ((before, after),) = _clauses(sentence, [Mention("", found.start(), found.end())])
    cut = _CUT.search(after)
    return _sign(before, after[: cut.start()] if cut else after) > 0


def _is_regression(group: Sequence[_Judged]) -> bool:
    """Return whether a version is good and a later one bad, and no version is both."""
    signs: dict[str, set[int]] = {}
    for judgement in group:
        signs.setdefault(judgement.mention.text, set()).add(judgement.sign)
    good = [
        version for text, found in signs.items() if found <= {0, 1} and 1 in found and (version := parse_version(text))
    ]
    bad = [
        version
        for text, found in signs.items()
        if found <= {0, -1} and -1 in found and (version := parse_version(text))
    ]
    mixed = any({1, -1} <= found for found in signs.values())
    return bool(good and bad) and not mixed and min(good) < max(bad)


def _completed(group: Sequence[_Judged]) -> list[_Judged]:
    """Give a version without a role the opposite one of its neighbour, in the same or the next sentence."""
    found = list(group)
    decided = [judgement for judgement in group if judgement.sign]
    versions = {judgement.mention.text for judgement in group}
    for at, one in enumerate(group):
        near = [other for other in decided if not other.also and abs(other.place[0] - one.place[0]) <= 1]
        # A third version may belong to either side.
        if one.sign or one.also or len(versions) != 2 or not near or near[0].mention.text == one.mention.text:
            continue
        mine, other = parse_version(one.mention.text), parse_version(near[0].mention.text)
        if mine and other and mine != other and (mine < other) == (near[0].sign < 0):
            found[at] = replace(one, sign=-near[0].sign)
    return found


def _judged(number: int, text: str, mentions: Sequence[Mention]) -> Iterator[_Judged]:
    """Yield what a sentence says of each of its versions."""
    clauses = list(_clauses(text, mentions))
    stepped = _steps(text, mentions)
    signs = [stepped.get(at, _sign(before, after)) for at, (before, after) in enumerate(clauses)]
    also = [bool(_ALSO.search(before) or _ALSO.search(after)) for before, after in clauses]
    for at, (one, other) in enumerate(pairwise(mentions)):
        # "2.1 and 2.2 fail": the versions of a list have one role.
        differ = signs[at] * signs[at + 1] < 0
        if differ or at in stepped or at + 1 in stepped or not _is_list(text[one.end : other.start]):
            continue
        signs[at] = signs[at + 1] = signs[at] or signs[at + 1]
        also[at] = also[at + 1] = True
    for at, mention in enumerate(mentions):
        if not _FIXED.search(" ".join(clauses[at])) or signs[at] > 0:
            yield _Judged((number, at), mention, signs[at], also[at])


def _is_list(between: str) -> bool:
    if len(between) > _LISTED or re.search(r"[.!?;。|]", between):
        return False
    return not any(pattern.search(between) for pattern in (_GOOD, _BAD, _NOT, _SINCE, _CONTRAST, _ARROW))


def _steps(text: str, mentions: Sequence[Mention]) -> dict[int, int]:
    """Return the signs in ``upgraded from X to Y`` and ``X -> Y``, by position."""
    signs: dict[int, int] = {}
    for at, (one, other) in enumerate(pairwise(mentions)):
        between = text[one.end : other.start]
        lead, rest = text[max(0, one.start - NEAR) : one.start], text[other.end : other.end + NEAR]
        if len(between) > _LISTED + len(other.product) or _CUT.search(between.replace(":", " ")):
            continue
        if _ARROW.search(between) or _UPDATED.search(f"{lead} {between} {rest}") or _REVERTED.search(lead):
            back = bool(_REVERTED.search(f"{lead} {between}"))
            signs |= {at: -1 if back else 1, at + 1: 1 if back else -1}
    return signs


def _clauses(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[str, str]]:
    """Yield the words of each version's clause before and after it."""
    bounds = [0]
    first, last = (text[: mentions[0].start], text[mentions[-1].end :]) if mentions else ("", "")
    behind = not _is_cue(first) and _is_cue(last)
    for one, other in pairwise(mentions):
        between = text[one.end : other.start]
        cuts = list(_CUT.finditer(between))
        if cuts:
            bounds += [one.end + cuts[-1].start()]
        else:
            bounds += [other.start if behind or _JOINED.match(between) else one.end]
    bounds.append(len(text))
    for at, mention in enumerate(mentions):
        before = text[max(bounds[at], mention.start - 2 * NEAR) : mention.start]
        yield before, text[mention.end : min(bounds[at + 1], mention.end + 2 * NEAR)]


def _is_cue(text: str) -> bool:
    return bool(_GOOD.search(text) or _BAD.search(text))


def _sign(before: str, after: str) -> int:
    """Return what the words of a clause say of its version."""
    if (back := _REVERTED.search(before)) and not _NOT.search(before, back.end()):
        return 1
    if _REVERTED.match(after.lstrip(" 版本にへ으로에")) or re.match(
        r"(?:に|으로|로)?\s?(?:戻|ダウングレード|되돌|다운그레이드)", after
    ):
        return 1
    clause = f"{before} \0 {after}"
    hits = _merged(
        [(*found.span(), 1) for found in _GOOD.finditer(clause)]
        + [(*found.span(), -1) for found in _BAD.finditer(clause)]
    )
    if hits:
        turned = {min(range(len(hits)), key=lambda at: _gap(hits[at], found.span())) for found in _NOT.finditer(clause)}
        total = sum(-sign if at in turned else sign for at, (_, _, sign) in enumerate(hits))
        if total:
            return 1 if total > 0 else -1
    if _SINCE.search(before) or _ONWARDS.match(after) or (_UPDATED.search(before) and not hits):
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


def _gap(hit: tuple[int, int, int], word: tuple[int, int]) -> int:
    return max(hit[0] - word[1], word[0] - hit[1], 0)
