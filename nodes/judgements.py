"""The judgements that a brain returns, one model per question. The program checks them and fills in the rest."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, model_validator

from nodes.messages import Kept, Part
from nodes.report import Kind, Severity
from nodes.search.types import ToolName

EvidenceId = Annotated[str, StringConstraints(pattern=r"^E\d{1,4}$")]
Sentence = Annotated[str, StringConstraints(max_length=300), Kept]
Paragraph = Annotated[str, StringConstraints(max_length=1_200)]

Reference = Annotated[str, StringConstraints(max_length=160)]
NodeName = Literal["investigator", "codebase_search", "web_search", "critic", "human_input", "writer", "end"]
Specialist = Literal["codebase_search", "web_search"]
"""Nodes that may be a next node and run in parallel. Configured tools only run in parallel with one of these."""
SourceName = Annotated[str, StringConstraints(max_length=40)]

TOOLS: tuple[ToolName, ...] = get_args(ToolName)
CALLS, MOST_CALLS = 6, 10
"""Tool calls of one turn that are answered, and those that are read; the rest get a refusal."""
FILES = 5
"""Files that a model chooses to read."""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> int:
    """Return a line number, or 0, which no file has."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0


class Judgement(Part):
    """A brain's answer; every string is bounded, every number has its range."""


class Investigation(Judgement):
    """The content of the issue."""

    problem: Sentence
    """The fault in one sentence, in the program's own words."""
    hypothesis: Sentence
    """Which part of the code is probably responsible; empty if nothing points anywhere."""
    missing: tuple[Sentence, ...] = Field(default=(), max_length=4)
    """Information that would help and that the issue lacks."""
    kind: Kind = "bug"
    severity_reason: Sentence = ""
    severity: Severity = "unknown"
    search_terms: tuple[Sentence, ...] = Field(default=(), max_length=8)
    """Names and messages to grep for, also from knowledge of the project; the issue's own are searched anyway."""
    confidence: float = Field(default=0.0, ge=0, le=1)


class CauseSentence(Judgement):
    """One sentence about the cause, and the evidence that it rests on."""

    text: Sentence
    """Without its citations."""
    evidence: tuple[Reference, ...] = Field(default=(), max_length=4)
    """Lines that were shown, such as E7:41-43."""


class SubmittedPlace(Judgement):
    """Lines that a model read, and its reason to name them."""

    evidence: Reference
    why: Sentence = ""


class Submission(Judgement):
    """The end of a model's conversation about the code. A program has confirmed only that its evidence was shown.

    Evidence is named by its short number in a brain's answer, and by its content key in the state.
    """

    cause: tuple[CauseSentence, ...] = Field(default=(), max_length=4)
    verdict: Sentence = ""
    """One sentence that a maintainer can stop after."""
    places: tuple[SubmittedPlace, ...] = Field(default=(), max_length=5)
    """Where the change probably belongs, most likely first; a file may have several."""
    rival: SubmittedPlace | None = None
    """The strongest other place, and what speaks against it."""
    against: Reference = ""
    """The lines that speak against the rival; empty if the model cited none."""
    confirm: Sentence = ""
    """How to confirm the cause."""

    @property
    def cited(self) -> tuple[str, ...]:
        """The evidence that it rests on, in its order, without the places."""
        cause = (name for sentence in self.cause for name in sentence.evidence)
        rival = (self.rival.evidence,) if self.rival is not None else ()
        return tuple(dict.fromkeys(filter(None, (*cause, *rival, self.against))))


class Submit(Submission):
    """The conclusion, which ends the conversation."""

    confidence: float = Field(default=0.0, ge=0, le=1)
    """How sure you are that the first place must change."""


class Call(Judgement):
    """One call of a tool."""

    # Any value is parsed as a call and answered with a note, so a mistake costs that call alone.
    tool: Annotated[str, BeforeValidator(_text)] = Field(default="", json_schema_extra={"enum": list(TOOLS)})
    what: Annotated[str, StringConstraints(max_length=300), BeforeValidator(_text)] = ""
    """grep: the expression; function and callers: the name; log: a string."""
    path: Annotated[str, StringConstraints(max_length=300), BeforeValidator(_text)] = ""
    start_line: Annotated[int, BeforeValidator(_whole)] = 0
    end_line: Annotated[int, BeforeValidator(_whole)] = 0

    @model_validator(mode="before")
    @classmethod
    def _anything(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {}


class Turn(Judgement):
    """Calls to make now, or what you submit at the end."""

    calls: tuple[Call, ...] = Field(default=(), max_length=MOST_CALLS)
    submit: Submit | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.calls and self.submit is None:
            raise ValueError("call a tool or submit")
        return self


class CodeReading(Judgement):
    """The cause according to the candidates."""

    summary: Sentence
    details: Annotated[str, StringConstraints(max_length=600)]
    suspects: tuple[EvidenceId, ...] = Field(default=(), max_length=10)
    """Most likely first."""
    confidence: float = Field(default=0.0, ge=0, le=1)
    submitted: Submission | None = None
    """The end of a conversation about the code; None if the code was read in another way."""
    has_read_first: bool | None = None
    """Whether a model read the lines of its first place before it named them; None if it could not."""


class FileStep(Judgement):
    """The files in which the fault most likely is."""

    analysis: Annotated[str, StringConstraints(max_length=600)]
    """What goes wrong, in which step of the program, and what kind of code decides it."""
    files: tuple[Annotated[str, StringConstraints(max_length=40)], ...] = Field(max_length=FILES)
    """Ids of files such as F3, most likely first."""
    not_listed: tuple[Annotated[str, StringConstraints(max_length=120)], ...] = Field(default=(), max_length=4)
    """Paths of files, or names of classes and functions, that should be on the list and are not; mostly empty."""
    confidence: float = Field(default=0.0, ge=0, le=1)
    """How sure you are that the first file must change."""


class WebReading(Judgement):
    """The results from outside the repository, and whether they are about this fault."""

    summary: Sentence
    details: Annotated[str, StringConstraints(max_length=600)]
    relevant: tuple[EvidenceId, ...] = Field(default=(), max_length=10)
    confidence: float = Field(default=0.0, ge=0, le=1)


class Objections(Judgement):
    """The objections of a second reading to the first."""

    gaps: tuple[Sentence, ...] = Field(default=(), max_length=4)
    required_evidence: tuple[Sentence, ...] = Field(default=(), max_length=4)
    contradictions: tuple[Sentence, ...] = Field(default=(), max_length=4)
    better_place: Sentence = ""
    """An evidence id, a path or a name whose code explains the issue better; empty if there is none."""


class Audit(Objections):
    """A second reading that tries to refute the first."""

    # Reasons come before the verdict, because a model writes the fields in this order.
    approved: bool
    confidence: float = Field(default=0.0, ge=0, le=1)


class DraftSuspect(Judgement):
    """A suspect by its evidence; path, lines and quote are the program's."""

    evidence: EvidenceId
    why: Sentence


class Draft(Judgement):
    """The report as a brain proposes it."""

    root_cause: Paragraph
    """The hypothesis; every sentence cites evidence as [E1]. Empty where no cause can be claimed."""
    verdict: Sentence
    """One sentence a maintainer can stop after."""
    suspects: tuple[DraftSuspect, ...] = Field(default=(), max_length=5)
    """Most likely first."""
    missing: tuple[Sentence, ...] = Field(default=(), max_length=4)
    ruled_out: tuple[Sentence, ...] = Field(default=(), max_length=4)
    how_to_confirm: Paragraph = ""
    labels: tuple[Annotated[str, StringConstraints(max_length=50)], ...] = Field(default=(), max_length=5)
    kind: Kind = "bug"
    severity_reason: Sentence = ""
    severity: Severity = "unknown"
    confidence: float = Field(default=0.0, ge=0, le=1)


class SupervisorDecision(BaseModel):
    """The supervisor's next step (PRD section 5)."""

    next_node: NodeName
    reasoning: str = Field(max_length=600)
    question: Annotated[str, Kept] | None = Field(max_length=300)
    question_context: str | None = Field(max_length=600)
    confidence: float = Field(ge=0, le=1)
    question_options: tuple[Annotated[str, Kept], ...] = Field(default=(), max_length=3)
    also: tuple[SourceName, ...] = Field(default=(), max_length=8)

    @classmethod
    def to(cls, node: NodeName, reasoning: str, confidence: float = 0.0) -> Self:
        """Return a decision of the program, which asks nothing."""
        return cls(next_node=node, reasoning=reasoning, question=None, question_context=None, confidence=confidence)
