# ruff: noqa: RUF001 - words of other scripts are meant
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

from nodes.search.history.versions import parse_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEAR = 60
"""Maximum number of characters between a word and the version that it is about."""
_LISTED = 22
"""Maximum number of characters between two versions of a list."""


def _stems(words: str, joined: str) -> re.Pattern[str]:
    """Return a pattern of the beginnings of words, and of words of languages that write none apart."""
    return re.compile(rf"\b(?:{words})|{joined}", re.IGNORECASE)


_GOOD = _stems(
    r"work|fine\b|ok\b|okay|good\b|correct|pass(?:e[sd])?\b|succe|as (?:it should|expected)|proper|normal|unlike\b"
    r"|funktionier|klapp|ging(?:en)?\b|lief\b|läuft|geht\b|einwandfrei|korrekt|richtig|march(?:e|ait|aient)\b|fonctionn"
    r"|bien\b|funcion|corret|bem\b|funzion|bene\b|dział|poprawn|работа|нормальн|корректн|правильн|werkt|goed\b|fungera"
    r"|fungova|çalış|працю",
    r"正常|没事|好了|能用|動い|動き|動作し|正しく|잘 |정상",
)
_BAD = _stems(
    r"fail|crash|error|broke|break|bug|problem|issue|regress|wrong|affect|happen|occur|reproduc|appear|unusable|hang"
    r"|freez|missing|empty|blank|disappear|vanish|gone\b|lost\b|fehl|kaputt|tritt\b|auftr|absturz|stürz|leer|erreur"
    r"|souci|plant|cass|vide|fall[aóo]|error|roto|desaparec|falh|quebr|sumi|rott[oai]\b|błąd|błęd|psuj|pust|ошибк|слом"
    r"|пада|пропа|проблем|fout|kapot|fel\b|помилк|chyb|hata",
    r"坏|错误|问题|問題|失败|崩溃|报错|出现|异常|壊|エラー|発生|失敗|不具合|起き|오류|문제|실패|발생",
)
_NOT = re.compile(
    r"\b(?:(?:do|does|did|is|was|are|were|ca|could|wo|would|has|have|had)n['’]?t|not|cannot|no|never|without|none|nothing|stop\w{0,4}|nicht|kein\w{0,2}|ohne|nichts|ne|pas|plus"
    r"|aucune?|sans|rien|sin|nunca|nada|não|sem|parou|deixou|non|senza|mai|nie|bez|przesta\w{0,4}|не|нет|без|перестал\w?"
    r"|ничего|niet|geen|inte|utan|değil|ne(?=fung)|není)\b|[mç][ıiuü]yor|\bne(?=fung)|\bn['’](?=\w)"
    r"|[不没沒無无]|ない|ません|なく|(?<!\w)[안못] |않|없",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:since|starting (?:with|from|in)|as of|seit|ab|depuis|dès|à partir d[eu]|desde|a partir d[eao]|dall?a?|od"
    r"|со?|начиная со?|sinds|vanaf|sedan|з)(?: (?:the|la|version|versión|versão|wersji|версии|der|l[ae])){0,2} ?v?$",
    re.IGNORECASE,
)
_ONWARDS = re.compile(
    r"\s?(?:版本|版|バージョン|버전)?\s?(?:から|以降|以后|以後|之后|开始|開始|起|부터|이후|(?:and|or) (?:later|newer))"
)
_FIXED = _stems(
    r"fix|solv|resolv|behoben|corrig|résolu|resuelt|risolt|naprawi|исправл|opgelost", r"修复|修正|解决|고쳐"
)
_ALSO = _stems(
    r"also|too\b|both|still|even\b|all\b|every|alle\b|tous\b|tutt|tod[ao]s|все\b|auch|beide|aussi|tambi|também|anche|też|także|тоже|также|ook\b|också",
    r"[也都も]|所有|すべて|모든",
)
_UPDATED = _stems(
    r"upgrad|updat|mov(?:ed|ing)\b|migrat|bump|switch|went|aktualisier|umstieg|wechsel|mise à jour|mis à jour"
    r"|pass(?:é|ant|age)|actuali[zs]|atuali[zs]|l?aggiorn|passa(?:to|ndo|ggio)|zaktualiz|aktualiz|обнов|перех|переш|bijwerk|uppdater|güncel|онов",
    r"升级|升級|更新|アップ|업데이트|업그레이드",
)
_REVERTED = _stems(
    r"downgrad|roll\w{0,4} ?back|revert|(?:go|going|goes|went|switch\w{0,4}) back|pin(?:ned|ning)?\b|zurück|rétrograd"
    r"|reven[iau]|retour|volv|volt[ae]|torna|wróc|powr|cofn|откат|верну|terug|nedgrad",
    r"退回|回退|降级|降級|回滚|戻|ダウングレード|되돌|다운그레이드",
)
_ARROW = re.compile(r"->|→|=>|➜|➔")
_CUT = re.compile(
    r"[,;:()|、，；。]|\s[-–—]\s"
    r"|\b(?:but|yet|while|whereas|however|aber|jedoch|während|mais|alors|tandis|pero|mientras|mas|porém|enquanto|ma"
    r"|mentre|però|ale|natomiast|но|а|зато|maar|terwijl|men|ama|але)\b|[但而]"
)
_JOINED = re.compile(r"\s?[぀-ヿ一-鿿가-힣]")
"""A language that puts words after a version: Japanese, Chinese, Korean."""

_LAST = re.compile(
    r"\b(?:last|previous|prior|earlier|older) (?:stable )?(?:releases?|versions?)"
    r"|(?:letzt|vorig|vorherig|älter)\w{0,2} (?:version|release)|(?:dernière|ancienne) version"
    r"|version (?:précéd|antéri)\w{3,5}|(?:última|ultima) versi\w{1,3}"
    r"|(?:versi\w{1,3}|versão) (?:anterior|preced)\w{0,4}|(?:poprzedni|ostatni|starsz)\w{0,3} wers"
    r"|(?:предыдущ|прошл|стар)\w{2,3} верси|(?:vorige|laatste) versie"
    r"|förra versionen|上一?个?(?:正式)?版本?|以前的?版本?|旧版本?|(?:前|以前|旧)の?バージョン|(?:이전|지난) 버전",
    re.IGNORECASE,
)

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
    judged = [one for number, (text, mentions) in enumerate(sentences) for one in _judged(number, text, mentions)]
    roles: dict[tuple[int, int], Role] = {}
    for product in dict.fromkeys(one.mention.product for one in judged):
        group = [one for one in judged if one.mention.product == product]
        group = _completed(group)
        if _is_regression(group):
            roles |= {one.place: "good" if one.sign > 0 else "bad" for one in group if one.sign}
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
    for one in group:
        signs.setdefault(one.mention.text, set()).add(one.sign)
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
    decided = [one for one in group if one.sign]
    versions = {one.mention.text for one in group}
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


_CONTRAST = re.compile(
    r"\b(?:but|yet|while|whereas|aber|mais|alors|pero|mas|ma|ale|но|а|maar|men|ama|але|since|seit|ab|depuis|desde|sinds|od)\b"
    r"|[但而]|から|부터|\w{4}"
)


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
