"""Decide which of the versions that a report compares worked and which failed, in any language.

A version's clause says by stems of words whether it is good or bad, and a negation turns the nearest stem around. Where
the clauses of two versions differ, the one without such a word gets the opposite role; the good one is always older,
because a report compares versions to say that something broke.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from nodes.search.history.signs import NEAR, SAYS, WORDINGS, says, sign_of
from nodes.search.history.types import Mark

_OTHERS = frozenset(("day", *WORDINGS["names"]["others"].split()))
"""Products whose versions are not the project's; days are compared with each other."""
_STEM = 5
"""Characters that forms of one word share."""
_WORD = re.compile(r"[^\W\d_]{4,40}")
_LISTED = 22
"""Maximum number of characters between two versions of a list."""
_JOINED = re.compile(r"\s*[/&+、]")
"""What joins a version to the one before it: “1.2 / 1.3”."""
_OR = re.compile(r"\s*(?:[/&+、,]|(?:or|and|oder|und|ou|et|y|e)\b|[或和])\s*v?", re.IGNORECASE)
"""What joins a version to another one of the same role."""
Role = Literal["good", "last", "bad", "until", "affected"]
"""good: it worked there; last: it worked there, and not in the next version; bad: it broke there; until: it broke near
there; affected: it happens there, with no statement about earlier versions."""
WORKED: tuple[Role, ...] = ("good", "last")


@dataclass(frozen=True, slots=True)
class _Judged:
    sentence: int
    mark: Mark
    clause: str
    sign: int
    """1 for good, -1 for bad, 0 if the clause does not say."""
    also: bool


def roles_of(sentences: Sequence[tuple[str, Sequence[Mark]]]) -> dict[tuple[int, int], Role]:
    """Return the roles of each sentence's versions, by sentence and offset: as compared, else as their clause says."""
    roles: dict[tuple[int, int], Role] = {}
    for number, (text, marks) in enumerate(sentences):
        stepped = _steps(text, marks)
        for at, (before, after) in enumerate(_clauses(text, marks)):
            sign = stepped.get(at, 0)
            role = ("good" if sign > 0 else "bad") if sign else _alone(before, after, is_named=marks[at].is_named)
            # "Upgrading numpy from 1.2 to 1.3 breaks kettle 2.3": the fault is new in the other product.
            role = "affected" if stepped and not sign and role == "bad" else role
            roles |= {(number, marks[at].start): role} if role else {}
    roles |= _compared(sentences)
    last = ((number, mark.start) for number, (text, marks) in enumerate(sentences) for mark in _last(text, marks))
    return roles | dict.fromkeys(last, "last")


def _last(text: str, marks: Sequence[Mark]) -> Iterator[Mark]:
    """Yield the version after which nothing works: "1.2 works, newer versions do not", "any after 1.2 fails"."""
    for later in SAYS["later"].finditer(text):
        older, newer = ([mark for mark in marks if (mark.end <= later.start()) == side] for side in (True, False))
        if newer and re.fullmatch(r"\W*(?:version )?v?", text[later.end() : newer[0].start]):
            yield from newer[:1] if sign_of(text[: later.start()], text[newer[0].end :]) < 0 else ()
        elif older:
            before, between = text[: older[-1].start], text[older[-1].end : later.start()]
            fails = SAYS["not"].search(between) or _denies(text[later.end() :])
            yield from older[-1:] if fails and sign_of(before, SAYS["cut"].split(between)[0]) > 0 else ()


def _denies(text: str) -> bool:
    return sign_of("", text) < 0 or (not says(text) and SAYS["not"].search(text) is not None)


def _alone(before: str, after: str, *, is_named: bool) -> Role | None:
    """Return the role of a version by the words next to it, else by those of its whole clause."""
    if is_named:
        before = f"{before.rstrip().rpartition(' ')[0]} "
    near_before, near_after = SAYS["cut"].split(f" {before}")[-1], SAYS["cut"].split(after, maxsplit=1)[0]
    role = _stated(near_before, near_after)
    # A colon or a bracket may be between a version and the words about it.
    if role is None and not says(near_before + near_after):
        role = _stated(before[-NEAR:], after[:NEAR])
    if role or not (is_named or SAYS["used"].search(before)) or SAYS["fixed"].search(near_before):
        return role
    return None if SAYS["neutral"].search(f"{near_before} {near_after}") else "affected"


def _stated(before: str, after: str) -> Role | None:
    if SAYS["until"].search(before):
        return "until"
    if SAYS["from"].search(before) or (SAYS["as"].search(before) and SAYS["not"].search(before)):
        return "good"
    clause, sign = f"{before} \0 {after}", sign_of(before, after)
    # The words directly around a version say that something changed there.
    has_changed = any(
        (
            SAYS["since"].search(before),
            SAYS["prior"].search(before),
            SAYS["onwards"].match(after),
            SAYS["or_later"].match(after),
            SAYS["new"].match(after.lstrip()),
        )
    )
    if not has_changed:
        if sign > 0 and not (SAYS["updated"].search(before) and SAYS["bad"].search(after)):
            return "good"
        if not sign:
            return None
        # "2.1 does not work": a word for what works, turned around, says that it worked before.
        near = f"{before[-NEAR * 2 // 3 :]} \0 {after[: NEAR // 2]}"
        is_new = SAYS["new"].search(near) or not SAYS["bad"].search(clause)
    else:
        is_new = True
    works = sign > 0 and SAYS["or_later"].match(after)
    if works or SAYS["not_tried"].search(before) or any(SAYS[name].search(clause) for name in ("fixed", "neutral")):
        return None
    return "bad" if is_new else "affected"


def _compared(sentences: Sequence[tuple[str, Sequence[Mark]]]) -> dict[tuple[int, int], Role]:
    """Return the roles of the versions of which one is good and a later one bad."""
    judged = [version for number, (text, marks) in enumerate(sentences) for version in _judged(number, text, marks)]
    roles: dict[tuple[int, int], Role] = {}
    products = dict.fromkeys(version.mark.product for version in judged)
    # "kettle==1.2 works, with 1.3 it does not": a version without a name belongs to the only name.
    joined = {*products} if len(products) == 2 and "" in products and _OTHERS.isdisjoint(products) else set()
    for product in dict.fromkeys("" if product in joined else product for product in products):
        group = _completed([version for version in judged if version.mark.product in joined | {product}])
        group = group if any(version.sign for version in group) else _denied(group)
        good, bad = ({version.mark for version in group if version.sign == sign} for sign in (1, -1))
        older, newer = ([version for mark in marks if (version := mark.version)] for marks in (good, bad))
        is_both = not {mark.text for mark in good}.isdisjoint(mark.text for mark in bad)
        if not is_both and older and newer and min(older) < max(newer):
            signed = (version for version in group if version.sign)
            roles |= {(at.sentence, at.mark.start): "good" if at.sign > 0 else "bad" for at in signed}
    return roles


def role_of_last(sentence: str) -> Role | None:
    """Return the role of the last release in a sentence that does not give its number."""
    if SAYS["latest"].search(sentence) and not SAYS["fixed"].search(sentence):
        return "bad"
    found = SAYS["last"].search(sentence)
    if found is None:
        return None
    before = sentence[max(0, found.start() - 2 * NEAR) : found.start()]
    after = SAYS["cut"].split(sentence[found.end() : found.end() + 2 * NEAR], maxsplit=1)[0]
    return "good" if sign_of(before, after) > 0 else None


def _completed(group: Sequence[_Judged]) -> list[_Judged]:
    """Give a version without a role the opposite role of its neighbour, in the same or the next sentence."""
    found = list(group)
    decided = [version for version in group if version.sign]
    versions = {version.mark.text for version in group}
    for at, one in enumerate(group):
        near = [other for other in decided if not other.also and abs(other.sentence - one.sentence) <= 1]
        # A third version may belong to either side.
        if one.sign or one.also or len(versions) != 2 or not near or near[0].mark.text == one.mark.text:
            continue
        mine, other = one.mark.version, near[0].mark.version
        if mine and other and mine != other and (mine < other) == (near[0].sign < 0):
            found[at] = replace(one, sign=-near[0].sign)
    return found


def _denied(group: Sequence[_Judged]) -> list[_Judged]:
    """Judge two versions by a negation in one of their clauses: "1.2 prints it, 1.3 does not"."""
    versions = {judged.mark.text: version for judged in group if (version := judged.mark.version)}
    if len(group) != 2 or len(versions) != 2:
        return list(group)
    older, newer = sorted(group, key=lambda one: versions[one.mark.text])
    denials = sum(bool(SAYS["not"].search(version.clause)) for version in group)
    one, other = ({word[:_STEM].lower() for word in _WORD.findall(judged.clause)} for judged in group)
    # Versions of other software have a name, and no word in common.
    is_pair = not one.isdisjoint(other) or not (older.mark.is_named or newer.mark.is_named)
    is_joined = any(_JOINED.match(judged.clause) for judged in group)
    if (
        denials != 1
        or not is_pair
        or is_joined
        or abs(older.sentence - newer.sentence) > 1
        or SAYS["untried"].search(f"{older.clause} {newer.clause}")
    ):
        return list(group)
    return [replace(older, sign=1), replace(newer, sign=-1)]


def _judged(number: int, text: str, marks: Sequence[Mark]) -> Iterator[_Judged]:
    """Yield what a sentence says about each of its versions."""
    clauses = list(_clauses(text, marks))
    stepped = _steps(text, marks)
    signs = [stepped.get(at, sign_of(before, after)) for at, (before, after) in enumerate(clauses)]
    for at, mark in enumerate(marks):
        # A label of a form: "Expected (2.1.0)".
        before = text[: mark.start]
        is_good = SAYS["expected"].match(before) or SAYS["helps"].match(clauses[at][1])
        signs[at] = 1 if is_good else -1 if SAYS["actual"].match(before) else signs[at]
    also = [bool(SAYS["also"].search(before) or SAYS["also"].search(after)) for before, after in clauses]
    for at, (one, other) in enumerate(pairwise(marks)):
        # "2.1 and 2.2 fail": the versions of a list have one role.
        differ = signs[at] * signs[at + 1] < 0
        if differ or at in stepped or at + 1 in stepped or not _is_list(text[one.end : other.start]):
            continue
        signs[at] = signs[at + 1] = signs[at] or signs[at + 1]
        also[at] = also[at + 1] = True
    for at, mark in enumerate(marks):
        clause = " ".join(clauses[at])
        if not SAYS["fixed"].search(clause) or signs[at] > 0:
            yield _Judged(number, mark, clause, signs[at], also[at])


def _is_list(between: str) -> bool:
    if len(between) > _LISTED or re.search(r"[.!?;。|]", between):
        return False
    return not any(SAYS[name].search(between) for name in ("good", "bad", "not", "since", "contrast", "arrow"))


def _steps(text: str, marks: Sequence[Mark]) -> dict[int, int]:
    """Return the signs in ``upgraded from X to Y`` and ``X -> Y``, by position."""
    signs: dict[int, int] = {}
    for at, (one, other) in enumerate(pairwise(marks)):
        between = text[one.end : other.start]
        lead, rest = text[max(0, one.start - NEAR) : one.start], text[other.end : other.end + NEAR]
        is_far = len(between) > _LISTED + len(other.product)
        if one.product != other.product or is_far or SAYS["cut"].search(between.replace(":", " ")):
            continue
        is_step = SAYS["between"].search(lead) or SAYS["arrow"].search(between) or SAYS["reverted"].search(lead)
        # "After the update to 1.2 and 1.3": both are after the step.
        is_list = _OR.fullmatch(between)
        left, right = one.version, other.version
        if at in signs and is_list:  # "from 1.2 to 1.3 or 1.4": both are after the step
            signs[at + 1] = signs[at]
        elif left and right and (is_step or (not is_list and SAYS["updated"].search(f"{lead} {between} {rest}"))):
            # "Downgraded from 3 to 2" turns the order around; the older one is good.
            signs |= {at: 1 if left < right else -1, at + 1: -1 if left < right else 1}
    return signs


def _clauses(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, str]]:
    """Yield the words of each version's clause before and after it."""
    bounds = [0]
    first, last = (text[: marks[0].start], text[marks[-1].end :]) if marks else ("", "")
    behind = not says(first) and says(last)
    for one, other in pairwise(marks):
        between = text[one.end : other.start]
        # A colon or a bracket directly before a version belongs to the words before it.
        cuts = [cut for cut in SAYS["cut"].finditer(between) if cut[0] not in ":(" or between[cut.end() :].strip(" v")]
        if cuts:
            bounds += [one.end + cuts[-1].start()]
        else:
            bounds += [other.start if behind or SAYS["joined"].match(between) else one.end]
    bounds.append(len(text))
    for at, mark in enumerate(marks):
        before = text[max(bounds[at], mark.start - 2 * NEAR) : mark.start]
        yield before, text[mark.end : min(bounds[at + 1], mark.end + 2 * NEAR)]
