"""Leave out repositories that are held back for evaluation, and issues that are in development sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

REPOSITORIES = frozenset(
    """jsoup gin ripgrep tokio bytes clap vite black structlog click fzf yaml detekt ktlint jackson-core gson mockito
    github-readme-stats dubbo axios jackson-dataformat-xml fmt jib jq json rayon serde bat tracing go-zero ncnn
    tensorflow.net octobot cortex netron albumentations gpytorch kornia tianshou sqlflow coco-annotator pyro torchio
    photoprism tfjs kubeflow""".split()
)
"""Names of repositories held back for evaluation, lower case, without owner, since forks have the same history."""
SHARED_WORDS = 0.5
"""Jaccard similarity of word 5-grams from which two texts count as the same."""


class HeldBack:
    """Decides whether a row may be trained on."""

    def __init__(self, development: Iterable[Mapping[str, Any]]) -> None:
        """Remember the issues of development sets.

        Args:
            development: rows with ``repo``, ``base_commit``, ``id`` and ``issue``.
        """
        rows = list(development)
        self.repositories = REPOSITORIES | {_name(row["repo"]) for row in rows}
        self._commits = {row["base_commit"] for row in rows}
        self._grams = [grams(row["issue"]) for row in rows]
        self._of_gram: dict[str, set[int]] = {}
        for number, found in enumerate(self._grams):
            for gram in found:
                self._of_gram.setdefault(gram, set()).add(number)
        self._seen: set[str] = set()

    def reason(
        self, repository: str, number: str, base: str, files: Iterable[str], *, fix: str = "", text: str = ""
    ) -> str | None:
        """Return why a row is left out, or None.

        A text, a number or the files of a fix from an earlier call count as a duplicate.

        Args:
            repository: owner/name.
            number: of the report.
            base: the commit before the fix.
            files: the fixed files.
            fix: the commit of the fix, if known.
            text: of the report, if known.
        """
        if _name(repository) in self.repositories:
            return "repository held back"
        if not self._commits.isdisjoint((base, fix)):
            return "in a development set"
        keys = {f"{_name(repository)}#{number}", "|".join((base, *files))}
        if text:
            keys.add(sha256(" ".join(re.findall(r"\w+", text.lower())).encode()).hexdigest())
        if not self._seen.isdisjoint(keys):
            return "duplicate"
        self._seen |= keys
        return "text in a development set" if self._is_near(text) else None

    def _is_near(self, text: str) -> bool:
        own = grams(text)
        near: dict[int, int] = {}
        for gram in own:
            for number in self._of_gram.get(gram, ()):
                near[number] = near.get(number, 0) + 1
        return any(
            shared / (len(own) + len(self._grams[number]) - shared) >= SHARED_WORDS for number, shared in near.items()
        )


def _name(repository: str) -> str:
    return repository.rpartition("/")[2].lower()


def grams(text: str) -> frozenset[str]:
    """Return the word 5-grams of a text."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(" ".join(words[at : at + 5]) for at in range(len(words) - 4))
