"""Every sentence outside the folds of a comment can be translated; the sources are read, not a list of sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.catalogues import sentences

ROOT = Path(__file__).parents[2]
SOURCES = (
    "bot/report/comment/explained.py",
    "bot/report/comment/known_failure.py",
    "bot/report/comment/markdown.py",
    "bot/report/comment/sticky.py",
    "bot/report/comment/thread.py",
    "bot/report/words.py",
    "nodes/agents/writing/statement.py",
    "nodes/brains/rules/missing.py",
    "nodes/brains/rules/decide.py",
    "nodes/brains/rules/write.py",
)
"""The modules whose sentences may be outside the folded sections of a comment, or in a question. Facts have their own
tests of every kind."""
_RECORDED = re.compile(
    r"logger\..*|.*\.(?:log|settle|split|set_wanted)|re\.compile|_sign|.*(?:listener|limited|count_limit_reached)|_step"
    r"|(?:errors\.)?(?:Value|Runtime|Retryable|OutcomeUnknown|RateLimited)Error|ModelError|PostponedError"
    r"|Refused|LookupResult|AgentFinding|CodeReading"
)
"""Calls whose texts go to a log, a job's record, a model or another node."""
_MARK_UP = re.compile(
    r"[*`>\n\[\]()|·“”\\]|</?\w+>|<!--.*|\{\w*\}|^- | — |https?://\S+|/triage [^`]*|(?:triage:\w+ .*)"
)
_WORDS = re.compile(r"[a-z]{2,} \S*[a-z]{2,}")
ELSEWHERE = {
    "bot/report/comment/markdown.py": ("Possible security problem",),
    "bot/report/comment/known_failure.py": ("a maintainer said so",),
    "bot/report/comment/sticky.py": (
        "About this report", "For maintainers", "Nothing is claimed while",
        "people reported this crash", "Other reports",
    ),
    "bot/report/comment/thread.py": ("Why it is asked",),
    "bot/report/words.py": (
        "no code in this commit", "the evidence is too weak", "several places match", "what was claimed did not",
        "this does not report", "the text is too short", "the search and the model disagree", "the code was not",
        "nothing was searched", "days fit",
    ),
    "nodes/brains/rules/decide.py": (
        "Two places fit", "scores within", "and they are code", "one in", "and one in", "The report is too short",
        "The report mentions",
        "Without a name", "get set run", "with the and", "method call",
        "No further step", "The first place is", "The issue was read",
    ),
    "nodes/brains/rules/write.py": ("a test, example", "not on the stack trace"),
}  # fmt: skip
"""Beginnings of texts that are folded or for maintainers, which are in English, or in no comment."""


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a module that are neither documentation nor recorded."""
    tree, skipped = ast.parse(path.read_text(encoding="utf-8")), set[int]()
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                skipped.add(id(statement.value))
        if isinstance(node, ast.Call) and _RECORDED.fullmatch(ast.unparse(node.func)):
            skipped.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def sentences_of(text: str) -> Iterator[str]:
    """Yield the parts of a text between mark-up and placeholders that are words of a sentence."""
    for piece in _MARK_UP.split(text):
        words = piece.strip(" ,;:.?")
        if _WORDS.search(words):
            yield words


def known_words() -> str:
    """Return the sentences that the catalogues can have."""
    return "\x01".join(sentences())


def modules() -> list[str]:
    return sorted({str(path.relative_to(ROOT)) for pattern in SOURCES for path in ROOT.glob(pattern)})


@pytest.mark.parametrize("module", modules())
def test_every_sentence_of_a_module_that_posts_can_be_translated(module: str) -> None:
    known, elsewhere = known_words(), ELSEWHERE.get(module, ())
    found = {words for text in texts_of(ROOT / module) for words in sentences_of(text)}
    missing = {one for one in found if one not in known and one[:1].lower() + one[1:] not in known}
    assert {one for one in missing if not one.startswith(elsewhere)} == set()
