"""Drop sentences of a model that name evidence or files which it was not shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_CITED = re.compile(r"\bE\d{1,6}\b")
_PATH = re.compile(r"(?<![\w./-])[\w@.-]{1,80}(?:/[\w@.-]{1,80}){1,20}")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,9}$")
_SENTENCE_END = re.compile(r"(?<=[.!?\]])\s+(?=[A-Z`\"'(\[])")


class Known:
    """The references that a model may use: evidence and files that were shown to it, files in the issue."""

    def __init__(self, ids: Collection[str], paths: Iterable[str], issue: str) -> None:
        self._ids = frozenset(ids)
        self._paths = frozenset(paths)
        self._issue = issue

    def only(self, text: str) -> tuple[str, int]:
        """Return the text without the sentences that use others, and how many these were."""
        sentences = [part for part in _SENTENCE_END.split(text.strip()) if part]
        confirmed = [sentence for sentence in sentences if self.holds(sentence)]
        return " ".join(confirmed), len(sentences) - len(confirmed)

    def holds(self, sentence: str) -> bool:
        """Return whether a sentence uses no other references."""
        paths = (path.rstrip(".") for path in _PATH.findall(sentence))
        named = [path for path in paths if _EXTENSION.search(path)]
        return set(_CITED.findall(sentence)) <= self._ids and all(map(self._is_known, named))

    def _is_known(self, path: str) -> bool:
        return path in self._issue or any(known == path or known.endswith(f"/{path}") for known in self._paths)
