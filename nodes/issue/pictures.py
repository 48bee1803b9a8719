"""Read the pictures of an issue and of answers once, as untrusted text for the search and for prompts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from nodes.brains import is_model_asked
from nodes.context import Case, Context, ModelError, PictureReader, Pictures
from nodes.evidence import MAX_QUOTE, Evidence, Locator
from nodes.judgements import PictureTexts
from nodes.sources.results import clean
from nodes.state import Metrics, TraceEntry
from nodes.trust.secrets import mask

NODE = "pictures"
"""The name of the trace entry; it is part of the investigator's step."""


@dataclass(frozen=True, slots=True)
class PicturesRead:
    """The words that were read from the pictures of an issue."""

    evidence: tuple[Evidence, ...] = ()
    trace: tuple[TraceEntry, ...] = ()
    """One entry if the issue has pictures."""
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def words(self) -> str:
        """All words of the pictures."""
        return "\n\n".join(item.quote for item in self.evidence)


async def read_pictures(case: Case, context: Context, answer: str | None = None) -> PicturesRead:
    """Fetch and read the pictures, unless this run has done so or is not allowed to.

    If a picture is refused or the model fails, the trace records it and the run continues without the words.

    Args:
        case: the run.
        context: what the run may call.
        answer: an answer that has just arrived; None for the issue itself.
    """
    reader, port = context.brain, context.pictures
    before = [entry for entry in case.state.trace if entry.node == NODE]
    done = bool(before) and answer is None
    if port is None or done or not is_model_asked(context, case.state) or not isinstance(reader, PictureReader):
        return PicturesRead()
    started = time.perf_counter()
    context.listener("investigator" if answer is None else "human_input", "reading pictures")
    earlier = sum(entry.counts.get("pictures", 0) for entry in before)
    pictures = await port.fetch(context.body if answer is None else answer, earlier)
    if not pictures.fetched:
        return PicturesRead(trace=(_entry(case, pictures, (), started),)) if pictures.refused else PicturesRead()
    try:
        judged = await reader.read_pictures(case, pictures.fetched)
    except ModelError as failure:
        entry = _entry(case, pictures, (), started, error=str(failure))
        return PicturesRead(trace=(entry,), metrics=Metrics(usage=failure.usage))
    evidence = _evidence(pictures, judged.value, judged.judged_by)
    await context.evidence.put(evidence)
    entry = _entry(case, pictures, evidence, started, judged_by=judged.judged_by)
    return PicturesRead(evidence, (entry,), Metrics(usage=judged.usage))


def _evidence(pictures: Pictures, texts: PictureTexts, judged_by: str) -> tuple[Evidence, ...]:
    """Return the words of each picture that has some; a model may answer with fewer or more entries than pictures."""
    pairs = zip(pictures.fetched, texts.pictures, strict=False)
    return tuple(
        Evidence(
            kind="picture",
            locator=Locator(url=picture.url.partition("?")[0]),  # a query may contain a login
            quote=words,
            score=0.5,
            reasons=(f"words in a picture of the issue, read by {judged_by}",),
        )
        for picture, text in pairs
        if (words := _plain(text.text))
    )


def _plain(text: str) -> str:
    """Return words without secrets, invisible characters and openings of HTML comments, which mark our own comments."""
    return clean(mask(text)).replace("<!--", "<! --").strip()[:MAX_QUOTE]


def _entry(
    case: Case,
    pictures: Pictures,
    evidence: tuple[Evidence, ...],
    started: float,
    *,
    judged_by: str = "rules",
    error: str | None = None,
) -> TraceEntry:
    refused = "; ".join(dict.fromkeys(pictures.refused))
    return TraceEntry(
        node=NODE,
        decision="read" if evidence else "nothing read",
        reason=f"Not fetched: {refused}."[:300] if refused else "",
        counts={
            "pictures": len(pictures.fetched) + len(pictures.refused),
            "read": len(evidence),
            "refused": len(pictures.refused),
        },
        judged_by=judged_by,
        error=error[:300] if error else None,
        iteration=case.state.iterations,
        duration_ms=round((time.perf_counter() - started) * 1000),
    )
