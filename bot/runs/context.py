"""Build what one run may call, the same way for the worker, the API, the command line and backtests."""

from __future__ import annotations

from bot.report.comment.markdown import MarkdownRenderer
from bot.runs.ephemeral import NoSignals
from bot.settings.repository import RepositoryConfig
from nodes.agreement import load_fitted
from nodes.brains.llm import LLMBrain
from nodes.context import (
    COMPRESS_FROM,
    Brain,
    CodePort,
    Context,
    EvidencePort,
    ExternalSources,
    IssueOrigin,
    LabelReader,
    Listener,
    PastPort,
    PicturePort,
    PullReader,
    Renderer,
    SignalPort,
    ignore_progress,
)
from nodes.issue.facts import read_facts


def build_context(
    title: str,
    body: str,
    *,
    code: CodePort,
    evidence: EvidencePort,
    brain: Brain,
    rules: Brain,
    config: RepositoryConfig | None = None,
    signals: SignalPort | None = None,
    renderer: Renderer | None = None,
    outside: ExternalSources | None = None,
    past: PastPort | None = None,
    pictures: PicturePort | None = None,
    labels: LabelReader | None = None,
    origin: IssueOrigin | None = None,
    pulls: PullReader | None = None,
    listener: Listener = ignore_progress,
) -> Context:
    """Build the context of a run; ``Context`` describes its parts.

    Without ``config`` the defaults of a repository apply, without ``signals`` the run belongs to no issue, without
    ``renderer`` the comment has no links. ``config`` can disable the pictures that the operator enabled.
    """
    config = config or RepositoryConfig()
    return Context(
        title=title,
        body=body,
        code=code,
        evidence=evidence,
        brain=brain,
        rules=rules,
        signals=signals or NoSignals(),
        renderer=renderer or MarkdownRenderer(),
        outside=outside or ExternalSources(),
        past=past,
        pictures=pictures if config.pictures else None,
        listener=listener,
        facts=read_facts(title, body),
        labels=labels,
        origin=origin,
        pulls=pulls,
        language=config.language,
        compress_from=brain.compress_from if isinstance(brain, LLMBrain) else COMPRESS_FROM,
        agreement=load_fitted(brain.agreement_file, brain.name) if isinstance(brain, LLMBrain) else None,
        claim_from=config.limits.claim_from,
        answers_questions=config.answer_questions,
    )
