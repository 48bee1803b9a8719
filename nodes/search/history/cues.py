"""Determine the role of a version in the description of a fault from the words around it."""

from __future__ import annotations

import re
from typing import Literal

Part = Literal["good", "bad", "until", "affected"]
"""good: it worked there; bad: it broke there; until: it broke near there; affected: it happens there, with no statement
about earlier versions."""
NEAR = 60
"""The maximum number of characters between such words and the version."""

_WORDS_BEFORE: tuple[tuple[Part | None, str], ...] = (
    ("good", r"work(?:s|ed|ing)?|fine|okay|ok|passe[sd]|correct(?:ly)?|as expected|unlike|pin(?:ned|ning)"),
    (
        "good",
        r"last (?:known )?(?:good|working)|downgrad\w{1,4}|roll\w{0,4} ?back|(?:go|going|went|switch\w{0,4}) back",
    ),
    ("good", r"revert\w{0,4} (?:back|to)|used to \w{1,20}|regress\w{1,4} from|compared (?:to|with)"),
    (
        "good",
        r"(?:is|was|are|were|does|did)(?:n'?t| not) (?:happen|occur|fail|crash|break|broken|affect|present)\w{0,4}",
    ),
    ("good", r"(?:is|was|are|were)(?:n'?t| not) (?:reproducible|the case|an? (?:issue|problem|bug))"),
    ("good", r"(?:can(?:'?t|not| not)|could(?:n'?t| not)) reproduce|not (?:reproducible|affected|present)"),
    ("good", r"no (?:error|problem|issue|crash|warning|such)\w{0,3}|(?:newer|later|greater|higher) than|after"),
    ("good", r"(?:upgrad|updat|migrat|bump|switch|mov)\w{1,4} from"),
    ("until", r"until|till"),
    ("bad", r"before|prior to|previous to|since|as of|start(?:s|ed|ing)?|beginning|any ?more|caused by|due to"),
    ("bad", r"stopp?(?:ed|s)? working|no longer(?: \w{1,20}){0,2}|first (?:bad|broken|failing|affected)|culprit"),
    ("bad", r"regress\w{0,4}|broke(?:n)?|introduced|upgrad\w{1,4}|updat\w{1,4}|migrat\w{1,4}|bump\w{0,4}"),
    ("bad", r"(?:switch|mov)\w{0,4} to|appear(?:s|ed)? in|chang(?:e|es|ed)|not (?:in|with|on|working)|bisect\w{0,4}"),
    ("bad", r"(?:does|do|did|is|was|are)(?:n'?t| not) work\w{0,4}"),
    ("affected", r"fail\w{0,4}|crash\w{0,3}|error\w{0,2}|bug|happen\w{0,3}|occur\w{0,5}|reproduc\w{1,5}|problem"),
    ("affected", r"us(?:e|es|ed|ing)|run\w{0,4}|install\w{0,3}|affect\w{0,3}|test\w{0,3}|broken? on|still|issue"),
    (None, r"(?:fix|solv|resolv|repair)\w{0,3}|deprecat\w{1,3}|remov\w{1,3}|require\w{0,3}|releas\w{1,3}"),
    (None, r"add(?:ed|s|ing)|support\w{0,4}(?: \w{1,20}){0,2}|compatible|milestone|yanked|document\w{0,4}|plan\w{0,4}"),
    (
        None,
        r"(?:available|required|supported|deprecated|implemented|version|added)(?: \w{1,20}){0,2} since|drop\w{0,4}",
    ),
    (None, r"(?:fixed|solved|resolved) (?:by|when|with|after) (?:upgrad|updat)\w{1,4}|minimum(?: \w{1,20}){0,2} since"),
)
_WORDS_AFTER: tuple[tuple[Part | None, str], ...] = (
    (None, r"(?:is|has|was|does|will|supports?|requires?) (?:the |a |now |only )?(?:lts|latest|required|min|fix)"),
    ("good", r"(?:it |that |this |everything |all |still )?work(?:s|ed)(?! (?:with|in|on|under|for) ?$)"),
    ("good", r"(?:is|was) (?:fine|ok|good|not affected)|(?:does|did)(?:n'?t| not) (?:have|show|fail|crash|happen)"),
    ("bad", r"(?:and|or|&)? ?(?:later|above|newer|up|higher|onwards?|upwards?)\b|(?<!\s)\+(?!\w)|regress"),
    ("bad", r"upgrade|update|broke|introduced|stopped|breaks|(?:it |this |that )?no longer"),
    ("affected", r"(?:it |that |this |they |now )?(?:fail|crash|is broken|raise|throw|(?:does|do|is)(?:n'?t| not))"),
)
_BEFORE = tuple((part, re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE)) for part, words in _WORDS_BEFORE)
_AFTER = tuple((part, re.compile(rf"[\s)]{{0,2}}(?:{words})", re.IGNORECASE)) for part, words in _WORDS_AFTER)
_PLAINLY_GOOD = re.compile(r"work|fine|ok|pass|correct|as expected", re.IGNORECASE)
_NOT = re.compile(r"(?:n'?t|\bnot|\bnever|\bno longer|\bstop\w{0,4}|\bnor)(?: \w{1,20}){0,2} ?$", re.IGNORECASE)
_STATED = re.compile(r"\bversions?(?: (?:is|used|number|installed))?[\s:=]{0,4}[vV]?$", re.IGNORECASE)
_BLAMED = re.compile(
    r"\b(?:regress|introduc|since|bisect|broke|caus|culprit|prior to|before|after|due to|result of|because of|via|"
    r"start|stopped|first bad)\w{0,4}\b",
    re.IGNORECASE,
)
_REFERRED = re.compile(r"\b(?:see|cf|similar|relat|like|same|duplicat|fix|solv|refs?)\w{0,4}\b", re.IGNORECASE)
_BLAMED_AFTER = re.compile(
    r"\W{0,3}(?:\w{1,20} ){0,3}(?:first bad|culprit|introduced|broke|caused|regress)", re.IGNORECASE
)
_WORD = re.compile(r"[^\s:=@<>~^(),]+|==")
_NAME = re.compile(r"[A-Za-z@][\w.+#/@-]{0,60}")
_SKIPPED = frozenset({"==", "version", "versions", "ver", "v", "release", "releases", "series", "is", "was"})
_GLUE = frozenset(  # a paragraph of words is easier to read and to extend
    """a about above after and as at back be before below between both but by current currently either even ever fine
    for from good have i if in installed into is it latest least me my new newer not now of ok old on only onto or
    previous properly reproduced running since still than that the then there this through till to under until up
    upgrade upgraded upgrading used using was we well when where while with within work worked working works yet
    you""".split()  # noqa: SIM905
)
OTHERS = frozenset(
    """python python2 python3 cpython pypy jython ipython jupyter conda anaconda pip setuptools node nodejs npm yarn
    pnpm deno bun java jdk jre openjdk jvm kotlin scala gradle maven android ios macos osx linux ubuntu debian fedora
    centos rhel alpine arch windows win chrome chromium firefox safari edge opera go golang rust rustc cargo ruby php
    perl gcc g++ clang llvm msvc cmake docker kubernetes kernel glibc openssl typescript javascript react vue angular
    svelte webpack babel vite electron numpy scipy pandas matplotlib cython numba sqlite postgres postgresql mysql
    mariadb oracle redis mongodb qt pyqt tk cuda opengl latex""".split()  # noqa: SIM905
)
"""Software whose versions most issues state although the issue is not about it."""


def part_of(before: str, after: str) -> Part | None:
    """Return the role of a version: the words directly after it decide, else the nearest words before it."""
    for part, pattern in _AFTER:
        if pattern.match(after[:NEAR]):
            return part
    near = before[-2 * NEAR :]
    end, start, match = _nearest(near)
    if match == "good" and _PLAINLY_GOOD.match(near, start) and _NOT.search(near[:start]):
        return "bad"
    if end < 0 and (_STATED.search(before) or name_before(before)[0]):
        return "affected"
    return match


def is_blamed(before: str, after: str) -> bool:
    """Return whether the words around a commit say that it broke something."""
    if _BLAMED_AFTER.match(after[:NEAR]):
        return True
    near = before[-2 * NEAR :]
    match = max((found.end() for found in _BLAMED.finditer(near)), default=-1)
    return match > max((found.start() for found in _REFERRED.finditer(near)), default=-1)


def name_before(before: str) -> tuple[str, bool]:
    """Return the word before a version, unless it is a function word, and whether that word must be a name."""
    words = _WORD.findall(before[-NEAR:])
    exact = bool(words) and words[-1] == "=="
    while words and words[-1].lower().strip(".") in _SKIPPED:
        words.pop()
    word = words[-1].strip(".,;!?-[]") if words else ""
    plain = word.lower()
    if plain in _GLUE or not _NAME.fullmatch(word) or any(pattern.fullmatch(word) for _, pattern in _BEFORE):
        return "", False
    begins = len(words) == 1 and word.istitle()
    return word, plain in OTHERS or exact or not (begins or (word.islower() and word.isalpha()))


def _nearest(text: str) -> tuple[int, int, Part | None]:
    """Return the end, start and role of the last words that give a role; if two end together, the longer ones."""
    best: tuple[int, int] = (-1, 0)
    match: Part | None = None
    for part, pattern in _BEFORE:
        for found in pattern.finditer(text):
            place = (found.end(), -found.start())
            if len(text) - found.end() <= NEAR and place > best:
                best, match = place, part
    return best[0], -best[1], match
