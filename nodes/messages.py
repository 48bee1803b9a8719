"""The sentences of a stored report, kept so that they can be written in another language."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidatorFunctionWrapHandler, WrapValidator

from nodes.described import describe_fields
from nodes.search.sentences import Sentence


def _unchanged(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    text = validate(value)
    return value if isinstance(value, Sentence) and value == text else text


Kept = WrapValidator(_unchanged)
"""Validates a sentence without making it plain text, which is all that pydantic would leave of it."""


class Part(BaseModel):
    """A frozen piece of a report, described by its fields' docstrings."""

    model_config = ConfigDict(frozen=True, json_schema_extra=describe_fields, defer_build=True)


class Message(Part):
    """The text and the values of an English sentence, by which it can be written in another language."""

    text: str
    values: dict[str, "str | Message"] = Field(default_factory=dict)
    """The value of each placeholder; a message is a part that is translated too."""

    @classmethod
    def of(cls, sentence: Sentence) -> "Message":
        """Return the message of a sentence."""
        values = {k: cls.of(v) if isinstance(v, Sentence) else v for k, v in sentence.values.items()}
        return cls(text=sentence.text, values=values)


def messages_of(*texts: str) -> dict[str, Message]:
    """Return the messages of those texts that are sentences with values, by their English text."""
    return {str(text): Message.of(text) for text in texts if isinstance(text, Sentence) and text.values}
