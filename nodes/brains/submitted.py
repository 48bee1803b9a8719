"""Turn what a model submits about the code into a reading: only evidence and files that were shown to it remain."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nodes.context import ToolPort
from nodes.evidence import NumberedEvidence
from nodes.judgements import CauseSentence, CodeReading, Submission, Submit, SubmittedPlace

_CITATION = re.compile(r"\s?\[(E\d{1,6}(?::[\d \-]{1,20})?)\]")
_CITED = re.compile(r"\bE\d{1,6}\b")
_PATH = re.compile(r"(?<![\w./-])[\w@.-]{1,80}(?:/[\w@.-]{1,80}){1,20}")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,9}$")


class Concluded:
    """Turns a submission into a reading with confirmed evidence only."""

    def __init__(self, tools: ToolPort, issue: str) -> None:
        self._tools = tools
        self._paths, self._issue = tools.paths, issue
        self._read_first: bool | None = None
        self.dropped = 0
        """References that name nothing that was shown, and sentences that name or cite nothing else."""

    async def reading(self, submit: Submit) -> CodeReading:
        """Return the reading that the submission is worth."""
        cause = [await self._sentence(item) for item in submit.cause]
        places = [place for item in submit.places if (place := await self._place(item)) is not None]
        rival = await self._place(submit.rival) if submit.rival and submit.rival.evidence else None
        against = (await self._cited(submit.against) if submit.against and rival else None) or ""
        submitted = Submission(
            cause=tuple(filter(None, cause)),
            verdict=verdict if self._holds(verdict := _CITATION.sub("", submit.verdict).strip()) else "",
            places=tuple({place.evidence: place for place in places}.values()),
            rival=rival,
            against=against,
            confirm=submit.confirm if self._holds(submit.confirm) else "",
        )
        suspects = tuple(place.evidence for place in submitted.places)
        texts = [" ".join((item.text, *(f"[{name}]" for name in item.evidence))) for item in submitted.cause]
        summary = texts[0] if texts else "None of the places that were read explains the issue."
        return CodeReading(
            summary=summary[:300],
            details=" ".join(texts[1:])[:600],
            suspects=suspects,
            confidence=submit.confidence if suspects else 0.0,
            submitted=submitted,
            has_read_first=self._read_first if suspects else None,
        )

    async def _sentence(self, one: CauseSentence) -> CauseSentence | None:
        """Return the sentence with what it may cite; None if it names or cites what was not shown."""
        text = _CITATION.sub("", one.text)
        references = (*one.evidence, *_CITATION.findall(one.text))
        ids = [name for reference in references if (name := await self._cited(reference)) is not None]
        if (references and not ids) or not self._holds(text):
            self.dropped += 1
            return None
        return CauseSentence(text=text.strip(), evidence=tuple(dict.fromkeys(ids))[:4])

    async def _place(self, one: SubmittedPlace) -> SubmittedPlace | None:
        found, why = await self._tools.cite(one.evidence), _CITATION.sub("", one.why).strip()
        # A commit or an answer without matches may support a sentence and is no place.
        if found is None or found.evidence.kind != "code":
            self.dropped += 1
            return None
        if self._read_first is None:
            self._read_first = self._tools.was_read(found.evidence)
        return SubmittedPlace(evidence=found.id, why=why if self._holds(why) else "")

    async def _cited(self, reference: str) -> str | None:
        found: NumberedEvidence | None = await self._tools.cite(reference)
        self.dropped += found is None
        return None if found is None else found.id

    def _holds(self, sentence: str) -> bool:
        """Return whether a sentence cites nothing, and names only files that were shown or that the issue names."""
        paths: Iterable[str] = (path.rstrip(".") for path in _PATH.findall(sentence))
        named = [path for path in paths if _EXTENSION.search(path)]
        return not _CITED.search(sentence) and all(map(self._is_known, named))

    def _is_known(self, path: str) -> bool:
        return path in self._issue or any(known == path or known.endswith(f"/{path}") for known in self._paths)
