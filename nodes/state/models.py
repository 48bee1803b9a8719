"""The state of one triage run: typed, frozen, bounded, with a default for every field."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from nodes.judgements import Investigation, NodeName, SourceName, Submission
from nodes.limits import MAX_ITERATIONS, MAX_RETRIES
from nodes.messages import Kept, Message
from nodes.report import CitationAudit, Evaluation, TriageReport
from nodes.state.reducers import add, append, shorten_old_entries, shorten_old_findings

CURRENT_SCHEMA_VERSION = 1
CORRECTION = "The last report was wrong: "
"""The prefix of an instruction that states what is wrong instead of where to search."""
Tier = Literal["simple", "medium", "complex"]

Short = Annotated[str, StringConstraints(max_length=300), Kept]
Long = Annotated[str, StringConstraints(max_length=600)]


class Value(BaseModel):
    """A frozen part of the state."""

    model_config = ConfigDict(frozen=True, defer_build=True)


class AgentFinding(Value):
    """The conclusion of one node, and its evidence."""

    agent_name: str
    summary: Short = ""
    details: Long = ""
    confidence: float = Field(default=0.0, ge=0, le=1)
    relevant_files: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """Content keys (nodes.evidence.Evidence.key)."""
    judged_by: str = "rules"
    submitted: Submission | None = Field(default=None, exclude_if=lambda value: value is None)
    """The end of a model's conversation about the code, by content keys of evidence; None for every other finding."""


class HumanExchange(Value):
    """A question to a person, and its answer once one exists."""

    question: Short = ""
    context: Long = ""
    answer: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    question_id: str = ""
    reason: Short = ""
    options: tuple[Short, ...] = ()
    answered_by: str | None = None
    answer_url: str | None = None
    withdrawn: bool = False
    """No answer will come: the question expired, or a redirect or an edit made it irrelevant."""
    messages: dict[str, Message] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """The texts and values of the question and its options, by the English sentence, for other languages."""


class Answer(Value):
    """The answer to a pending question, from a person or from the time limit."""

    text: Annotated[str, StringConstraints(max_length=1_000)] | None = None
    """None withdraws the question."""
    answered_by: str | None = None
    url: str | None = None


class Progress(Value):
    """Counts of a run's inputs so far. Two equal values mean that nothing new arrived."""

    evidence: int = 0
    answers: int = 0
    redirects: int = 0
    retries: int = 0


class CriticVerdict(Value):
    """The critic's binary verdict (PRD section 6), and the state of progress it refers to."""

    verdict: Literal["APPROVED", "REJECTED"]
    gaps: tuple[Short, ...] = ()
    required_evidence: tuple[Short, ...] = ()
    contradictions: tuple[Short, ...] = ()
    better_place: Short = Field(default="", exclude_if=lambda value: not value)
    """Where the critic would look instead; empty if it names no place."""
    confidence: float = Field(default=0.0, ge=0, le=1)
    on_evidence: Progress | None = None
    """The progress of the run when the critic judged. Newer input allows another verdict."""


class Timing(Value):
    """When something ran; never part of a comparison."""

    started: float
    """Seconds since 1970."""
    ended: float


class TraceEntry(Value):
    """The record of one node in one round."""

    node: str
    decision: str = ""
    confidence: float | None = None
    reason: Short = ""
    guard: str | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    scores: dict[str, float] = Field(default_factory=dict, exclude_if=lambda value: not value)
    """Fractions, such as the mean score of what a search kept; not serialised if there are none."""
    looks: tuple[Annotated[str, StringConstraints(max_length=120)], ...] = ()
    """The model's calls while it read code, each with its answer in short."""
    judged_by: str = "rules"
    error: Short | None = None
    iteration: int = 0
    duration_ms: int = 0
    """Wall time; never part of a comparison."""
    timing: Timing | None = Field(default=None, exclude_if=lambda value: value is None)
    """Set for nodes that ran in parallel."""


class RetryReason(Value):
    """The reason why the quality gate rejected a draft."""

    iteration: int
    confidence: float
    reason: Literal["quality_issue_detected", "conflicting_evidence_attempting_resolution"]
    citation_issue: bool
    hallucination: bool


class Usage(Value):
    """The cost of model calls."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = Field(default=0, exclude_if=lambda value: not value)
    """Input tokens that the provider took from its prompt cache; not serialised if there were none."""

    def __add__(self, other: "Usage") -> "Usage":
        """Sum the counters."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class Metrics(Value):
    """Measurements that are part of every result."""

    confidence_history: tuple[float, ...] = ()
    retry_reasons: tuple[RetryReason, ...] = ()
    evaluation: Evaluation | None = None
    last_citation_audit: CitationAudit | None = None
    usage: Usage = Usage()
    claims_dropped: int = 0
    """Claims removed because the program could not confirm them."""
    fallbacks: tuple[Short, ...] = ()
    """The reason of each case in which the model could not judge. After two, rules judge the rest of the run."""
    remarks: tuple[Short, ...] = ()
    """Limitations of the model's judgements, such as that it takes no temperature."""


class Marks(Value):
    """Counters that only the supervisor writes and the guards read."""

    searches: int = 0
    """Code searches that started without new information."""
    after_search: Progress | None = None
    """The progress of the run when the last code search was joined."""
    at_critic: Progress | None = None
    """The progress of the run when the critic was last called, with or without a verdict."""
    at_investigator: Progress | None = None
    """The progress of the run when the issue was last read."""


class BugTriageState(Value):
    """Everything a run needs to resume from a checkpoint; ids and short strings, never bodies or code."""

    issue_title: Short = ""
    # Bounded because LangGraph writes the state at each step.
    issue_body: Annotated[str, StringConstraints(max_length=4_000)] = ""
    """The beginning of the body; the context has the whole body."""
    repository: str = ""
    sha: str = ""
    iterations: int = 0
    max_iterations: int = MAX_ITERATIONS
    findings: Annotated[tuple[AgentFinding, ...], shorten_old_findings] = ()
    evidence: tuple[str, ...] = ()
    """Content keys in the order of their short numbers: the first is E1."""
    human_exchanges: Annotated[tuple[HumanExchange, ...], append] = ()
    pending_exchange: HumanExchange | None = None
    awaiting_human: bool = False
    redirect_instructions: tuple[Long, ...] = ()
    critic_feedback: CriticVerdict | None = None
    report: TriageReport | None = None
    best_draft: TriageReport | None = None
    next_node: NodeName | None = None
    also: tuple[str, ...] = ()
    """Specialists and tools that run in parallel with ``next_node``."""
    branch: str = ""
    """The specialist or tool of this branch, in the state passed to the branch; empty everywhere else."""
    supervisor_reasoning: Long = ""
    supervisor_confidence: float = 0.0
    retry_count: int = 0
    max_retries: Annotated[int, BeforeValidator(lambda value: MAX_RETRIES if value is None else value)] = MAX_RETRIES
    reading: Investigation | None = None
    """The investigator's last judgement of the issue; None before it ran."""
    notes: tuple[Short, ...] = ()
    """Notes from before the run that the report must contain."""
    search_confidence: float = 0.0
    """The engine's calibrated probability that its first file is right, from the last search."""
    search_support: float | None = Field(default=None, exclude_if=lambda value: value is None)
    """How far search and model together support the first place; None if no model read the code."""
    search_prefers: Short = ""
    """The first file of the search, if a model that read the code prefers another one; empty if they agree."""
    retry_pending: bool = False
    """The quality gate rejected a draft, and the wider search has not started."""
    requires_human_review: bool = False
    clarification_question: Short = ""
    tier: Tier = "medium"
    last_signal: int = 0
    trace: Annotated[tuple[TraceEntry, ...], shorten_old_entries] = ()
    metrics: Annotated[Metrics, add] = Metrics()
    marks: Marks = Marks()
    web_configured: bool = False
    tools: tuple[SourceName, ...] = ()
    schema_version: int = CURRENT_SCHEMA_VERSION

    @property
    def submitted(self) -> Submission | None:
        """The end of a model's last reading of the code, by content keys; None if there was none."""
        return next((finding.submitted for finding in reversed(self.findings) if finding.submitted is not None), None)

    @property
    def answers(self) -> tuple[str, ...]:
        """What people answered so far."""
        return tuple(exchange.answer for exchange in self.human_exchanges if exchange.answer)

    @property
    def searches(self) -> tuple[AgentFinding, ...]:
        """The findings of the code search."""
        return tuple(finding for finding in self.findings if finding.agent_name == "codebase_search")

    @property
    def readings(self) -> tuple[AgentFinding, ...]:
        """Those by a model."""
        return tuple(finding for finding in self.searches if finding.judged_by != "rules")


class Update(TypedDict, total=False):
    """The return value of a node. LangGraph drops unknown keys silently; mypy does not."""

    iterations: int
    max_iterations: int
    findings: tuple[AgentFinding, ...]
    evidence: tuple[str, ...]
    human_exchanges: tuple[HumanExchange, ...]
    pending_exchange: HumanExchange | None
    awaiting_human: bool
    redirect_instructions: tuple[str, ...]
    critic_feedback: CriticVerdict | None
    report: TriageReport | None
    best_draft: TriageReport | None
    next_node: NodeName
    also: tuple[str, ...]
    supervisor_reasoning: str
    supervisor_confidence: float
    retry_count: int
    retry_pending: bool
    search_confidence: float
    search_support: float | None
    search_prefers: str
    reading: Investigation | None
    requires_human_review: bool
    clarification_question: str
    tier: Tier
    last_signal: int
    trace: tuple[TraceEntry, ...]
    metrics: Metrics
    marks: Marks


@dataclass(frozen=True, slots=True)
class Waiting:
    """The run asked a person. It resumes when ``advance`` is called with an answer to this question."""

    exchange: HumanExchange
    state: BugTriageState
    """The state of the run while it waits."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The run ended; ``state.report`` is set."""

    state: BugTriageState
