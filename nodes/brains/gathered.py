"""Remove the parts of a model's code reading that name evidence or files that were not gathered."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nodes.context import Case
from nodes.evidence import NumberedEvidence
from nodes.judgements import CodeReading, CodeStep

_CITED = re.compile(r"\bE\d{1,6}\b")
_PATH = re.compile(r"(?<![\w./-])[\w@.-]{1,80}(?:/[\w@.-]{1,80}){1,20}")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,9}$")
_SENTENCE_END = re.compile(r"(?<=[.!?\]])\s+(?=[A-Z`\"'(\[])")


def drop_unknown(step: CodeStep, shown: Mapping[str, NumberedEvidence], case: Case) -> tuple[CodeReading, int]:
    """Return the reading, and how many names and sentences were removed from it."""
    named = [name.strip(" []()`").upper() for name in step.suspects]
    suspects = tuple(dict.fromkeys(name for name in named if name in shown))
    known = _Known(shown, f"{case.title}\n{case.body}")
    summary, dropped_there = known.only(step.summary)
    details, dropped_here = known.only(step.details)
    reading = CodeReading(
        summary=summary or _in_short(suspects, shown),
        details=details,
        suspects=suspects,
        confidence=step.confidence,
    )
    return reading, sum(name not in shown for name in named) + dropped_there + dropped_here


class _Known:
    """What the model may name: the evidence shown to it, the files of that evidence, and files that the issue names."""

    def __init__(self, shown: Mapping[str, NumberedEvidence], issue: str) -> None:
        self._ids = frozenset(shown)
        self._paths = frozenset(str(item.evidence.locator.path) for item in shown.values())
        self._issue = issue

    def only(self, text: str) -> tuple[str, int]:
        sentences = [part for part in _SENTENCE_END.split(text.strip()) if part]
        kept = [sentence for sentence in sentences if self._holds(sentence)]
        return " ".join(kept), len(sentences) - len(kept)

    def _holds(self, sentence: str) -> bool:
        paths = (path.rstrip(".") for path in _PATH.findall(sentence))
        named = [path for path in paths if _EXTENSION.search(path)]
        return set(_CITED.findall(sentence)) <= self._ids and all(map(self._is_known, named))

    def _is_known(self, path: str) -> bool:
        return path in self._issue or any(known == path or known.endswith(f"/{path}") for known in self._paths)


def _in_short(suspects: tuple[str, ...], shown: Mapping[str, NumberedEvidence]) -> str:
    if not suspects:
        return "None of the places that were read explains the issue."
    first = shown[suspects[0]].evidence
    return f"Top suspect: `{first.symbol or first.locator.path}` [{suspects[0]}]."[:300]
