"""The supervisor's decision about a run's next step, and the nodes that it can name."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, StringConstraints

from nodes.messages import Kept

NodeName = Literal["investigator", "codebase_search", "web_search", "critic", "human_input", "writer", "end"]
Specialist = Literal["codebase_search", "web_search"]
"""Nodes that may be a next node and run in parallel. Configured tools only run in parallel with one of these."""
ToolName = Annotated[str, StringConstraints(max_length=40)]


class SupervisorDecision(BaseModel):
    """The supervisor's next step (PRD section 5)."""

    next_node: NodeName
    reasoning: str = Field(max_length=600)
    question: Annotated[str, Kept] | None = Field(max_length=300)
    question_context: str | None = Field(max_length=600)
    confidence: float = Field(ge=0, le=1)
    question_options: tuple[Annotated[str, Kept], ...] = Field(default=(), max_length=3)
    also: tuple[ToolName, ...] = Field(default=(), max_length=8)

    @classmethod
    def to(cls, node: NodeName, reasoning: str, confidence: float = 0.0) -> Self:
        """Return a decision of the program, which asks nothing."""
        return cls(next_node=node, reasoning=reasoning, question=None, question_context=None, confidence=confidence)
