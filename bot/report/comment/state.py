"""The state of a triage as one hidden line of JSON in its comment: for scripts, and for an Action without a cache."""

import json
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bot.ports import AskedQuestion, QuestionState
from bot.report.comment.markdown import MAX_COMMENT
from nodes.limits import MAX_QUESTIONS
from nodes.report import Suspect, TriageReport

_BEGINS, _ENDS = "<!-- triage:state ", " -->"
_MAX_PLACES = 3
_MAX_LINE = 12_000
"""Characters of the line; a longer one is neither written nor read."""

Text = Annotated[str, StringConstraints(max_length=2_000)]


class _Part(BaseModel):
    # Keys of later versions are ignored, because a comment may be older or newer than the program that reads it.
    model_config = ConfigDict(frozen=True, extra="ignore", from_attributes=True, defer_build=True)


class StatePlace(_Part):
    """A place that the comment shows."""

    path: Text
    start_line: int
    """1-based."""
    end_line: int
    """1-based, inclusive."""
    symbol: Text | None = None


class StateQuestion(_Part):
    """A question that the comment shows."""

    question_id: Annotated[str, StringConstraints(max_length=200)]
    text: Text
    reason: Text = ""
    options: Annotated[tuple[Text, ...], Field(max_length=10)] = ()
    state: QuestionState = "open"


class CommentState(_Part):
    """The state of a triage, limited to what the comment itself shows."""

    version: Literal[1] = 1
    status: Literal["waiting", "finished"]
    """``waiting`` for an answer to the open question, or ``finished``."""
    text_hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{0,64}$")] = ""
    """Hash of the title and body that were read; it changes if they are edited."""
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{0,64}$")] = ""
    kind: Text = ""
    statement: Text = ""
    """What the comment states about the code, as in the report: ``claim``, ``facts``, ``first_place`` and so on."""
    places: Annotated[tuple[StatePlace, ...], Field(max_length=10)] = ()
    questions: Annotated[tuple[StateQuestion, ...], Field(max_length=MAX_QUESTIONS)] = ()

    @classmethod
    def of(
        cls, report: TriageReport | None, questions: tuple[AskedQuestion, ...], *, text_hash: str, commit: str
    ) -> Self:
        """Build the state of a finished run from its report, or of a waiting one if there is none."""
        shown = {"kind": report.kind, "statement": report.statement} if report is not None else {}
        return cls(
            status="waiting" if report is None else "finished",
            text_hash=text_hash,
            commit=commit,
            places=tuple(map(StatePlace.model_validate, _shown(report))),
            questions=tuple(map(StateQuestion.model_validate, questions)),
            **shown,
        )


def _shown(report: TriageReport | None) -> tuple[Suspect, ...]:
    """Return the places that are read without unfolding the comment."""
    if report is None:
        return ()
    if report.statement == "facts":
        return tuple(place for place in report.suspects if place.facts)[:_MAX_PLACES]
    return report.suspects[:1] if report.statement in ("claim", "first_place") else ()


def with_state(body: str, state: CommentState) -> str:
    """Return the comment with its state as the last line; unchanged if that would exceed a limit."""
    data = json.dumps(state.model_dump(exclude_defaults=True) | {"version": 1}, sort_keys=True, separators=(",", ":"))
    # A text must not be able to end the HTML comment, whatever dialect of HTML reads it.
    for sign in "<>-&":
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    line = f"{_BEGINS}{data}{_ENDS}"
    if len(line) > _MAX_LINE or len(body) + len(line) + 1 >= MAX_COMMENT:
        return body
    return f"{body}{line}\n"


def read_state(body: str) -> CommentState | None:
    """Return the state in the last line of a comment of ours; None if there is none that this version understands."""
    line = body.rstrip()[-_MAX_LINE:].rpartition("\n")[2]
    if not (line.startswith(_BEGINS) and line.endswith(_ENDS)):
        return None
    try:
        return CommentState.model_validate_json(line[len(_BEGINS) : -len(_ENDS)])
    except ValidationError:
        return None
