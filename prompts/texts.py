"""The prompts of models: one file per role, completed by plain functions."""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Literal

Role = Literal["investigator", "reading", "files", "web_search", "critic", "writer"]

DECIDED = "Submit if these lines decide."
"""The end of an answer to calls; before the first call there are no lines that decide."""
LAST_TURN = "This is the last turn: submit now what the lines that you have read support."
"""The request to submit now."""


@cache
def _load(name: str) -> str:
    return resources.files("prompts").joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


TURN_EXAMPLE = _load("turn_example")
"""An example of two turns, for models that call no tools natively; these are mostly small."""
OBJECTION = _load("objection")
"""The request to answer an objection to a submission."""


def build_supervisor_system_prompt(language: str = "en", tools: Sequence[tuple[str, str]] = ()) -> str:
    """Return section 3 of the PRD without the state, which is in the human message (SPEC section 13).

    ``tools`` has the names that ``also`` may contain, each with the operator's description.
    """
    return f"{_load('supervisor')}{_tools(tools)}{_in_language(language)}"


def build_shared_prompt(language: str = "en") -> str:
    """Return the first message to every specialist, the same bytes in every request of a run."""
    return f"{_load('shared')}\n\n{_load('rules')}{_in_language(language)}"


def build_task_prompt(role: Role) -> str:
    """Return the task of one specialist, which follows the message to all of them."""
    return _load(role)


def build_supervisor_correction(error: str) -> str:
    """Return the message that follows an invalid decision, verbatim from PRD section 2."""
    nodes = "investigator, codebase_search, web_search, critic, human_input, writer, end"
    return f"{build_correction(error)}\nThe next_node field must be one of: {nodes}."


def build_correction(error: str) -> str:
    """Return the message that follows any other invalid answer."""
    return (
        f"Your previous response was invalid. Error: {error}\n"
        "Please respond again with valid JSON matching the schema exactly."
    )


def build_turns_left(turns: int, tokens: int) -> str:
    """State what is left of a conversation about the code."""
    return f"{turns} turns and {tokens:,} tokens of answers are left."


def build_schema_request(schema: str) -> str:
    """Return a request for JSON of this schema, for servers that cannot enforce it."""
    return f"Answer with one JSON object and nothing else. It must match this JSON schema:\n{schema}"


def _tools(tools: Sequence[tuple[str, str]]) -> str:
    lines = "".join(f"\n- **{name}**: {description}" for name, description in tools)
    return f"\n\n{_load('tools')}{lines}" if tools else ""


def _in_language(code: str) -> str:
    """Return the instruction to write in this language; empty for English, the language of the prompts."""
    return "" if code == "en" else f"\n\n{_load('language').format(code=code)}"
