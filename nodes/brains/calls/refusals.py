"""Determine which part of a request a server refused, and what to send instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from nodes.brains.calls.abilities import METHODS, Abilities, LimitName

if TYPE_CHECKING:
    from openai import APIError

Part = Literal["thinking", "effort", "bounds", "temperature", "limit", "system", "method"]
_PARTS: tuple[tuple[Part, re.Pattern[str]], ...] = (
    ("thinking", re.compile(r"enable_thinking", re.IGNORECASE)),
    ("effort", re.compile(r"reasoning|effort", re.IGNORECASE)),
    ("bounds", re.compile(r"max_?items|additional_?properties", re.IGNORECASE)),
    ("temperature", re.compile(r"temperature|sampling|top_p", re.IGNORECASE)),
    ("limit", re.compile(r"max_(?:completion_|output_|new_)?tokens", re.IGNORECASE)),
    (
        "system",
        re.compile(r"(?:system|developer)[ _`'\"]{0,3}(?:role|message|prompt|instruction)|roles? ", re.IGNORECASE),
    ),
    (
        "method",
        re.compile(
            r"response_?format|json_?schema|json_?object|json[ _](?:mode|output)"
            r"|structured|tool|function|schema|strict|grammar",
            re.IGNORECASE,
        ),
    ),
)
"""Words of an error message that name a part of the request, the most specific first."""
_CONTEXT = re.compile(
    r"context[ _-]?(?:length|size|window|limit)|n_ctx|(?:prompt|input|request)s? (?:is|are) too (?:long|large)"
    r"|too many (?:input |prompt )?tokens|request too large|reduce (?:your|the) (?:message|prompt|input|length)"
    r"|(?:input|prompt)[^.]{0,40}exceeds?[^.]{0,60}tokens|inputs`? tokens \+|tokens > \d",
    re.IGNORECASE,
)
"""Not the word alone: servers written in Go answer "context deadline exceeded" when they are busy."""
_WINDOW = re.compile(
    r"(?:(?:context|n_ctx)[^0-9]{0,80}|\blimit:? |tokens > |tokens[^0-9<]{0,60}<= |maximum (?:number )?of )"
    r"(\d[\d,]{2,9})",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:at most|less than or equal to|<=|maximum(?: value)? (?:is|of)|up to|range[^\[]{0,60}\[\d{1,7},)"
    r"\s{0,3}(\d{2,7})",
    re.IGNORECASE,
)
_RAW = 2_000
_CERTAIN = re.compile(
    r"(?:not|n't|un)[ -]?(?:be |currently |yet )?(?:support|allow|permit|enabl|accept|available|recogni[sz]|compatib)"
    r"|unknown|unexpected|invalid|extra (?:fields|inputs)|must|should be|at most|cannot find|no endpoints|only \w+"
    r"|deprecated|grammar|refus",
    re.IGNORECASE,
)
_IMAGES = re.compile(
    r"image|vision|multi-?modal|picture|content (?:part|type|block)|"
    r"content['\"`]?:? (?:must|should) be|(?:valid|expected) (?:a )?string",
    re.IGNORECASE,
)
"""Messages of servers whose model takes no images; older servers only state that the content must be a string."""
_FILTER = re.compile(r"content[_ ](?:filter|management|policy)|responsibleai|safety system|moderation", re.IGNORECASE)
_CREDIT = re.compile(r"insufficient_quota|insufficient credits|exceeded your current quota|billing", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"(?:invalid|unknown|no such|not a valid) model|model[^.]{0,60}(?:not exist|not found|unavailable)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed request: its text, and its HTTP status, which may be in the body of a response with status 200."""

    status: int | None
    text: str
    param: str = ""

    @classmethod
    def of(cls, error: APIError) -> Fault:
        """Read the fault of an exception of the client."""
        status = getattr(error, "status_code", None)
        body = getattr(error, "body", None)
        metadata = body.get("metadata") if isinstance(body, dict) else None
        # Routers put the message of the provider behind them here.
        raw = str(metadata.get("raw") or "")[:_RAW] if isinstance(metadata, dict) else ""
        return cls(status, f"{error} {raw}".strip(), str(getattr(error, "param", None) or ""))

    @classmethod
    def in_body(cls, content: Any) -> Fault:
        """Read the error object of a response with status 200."""
        if not isinstance(content, dict):
            return cls(None, str(content))
        code = content.get("code") or content.get("status")
        numbered = int(str(code)) if str(code).isdecimal() else None
        return cls(numbered, str(content), str(content.get("param") or ""))

    @property
    def is_context(self) -> bool:
        """Whether the prompt was too long."""
        # Some local servers answer 500 to a prompt that is too long.
        return self.status in {400, 413, 422, 500} and bool(_CONTEXT.search(self.text))

    @property
    def is_certain(self) -> bool:
        """Whether the message says that the server does not take a part of the request, so that it refuses it again.

        Any other refusal may be a chance: some servers answer 400 if a model's output does not follow the schema.
        """
        return bool(self.param or _CERTAIN.search(self.text))

    @property
    def window(self) -> int | None:
        """The size of the context window in tokens, if the message states it."""
        found = _WINDOW.search(self.text)
        return int(found[1].replace(",", "")) if found else None

    @property
    def is_filter(self) -> bool:
        """Whether a content filter stopped the prompt."""
        return self.status in {400, 403, 422} and bool(_FILTER.search(self.text))

    @property
    def is_credit(self) -> bool:
        """Whether the account cannot pay."""
        return self.status == 402 or (self.status in {403, 429} and bool(_CREDIT.search(self.text)))

    @property
    def is_refusal(self) -> bool:
        """Whether another form of the request may be accepted."""
        if self.is_context or self.is_filter or self.is_credit or _NO_MODEL.search(self.text):
            return False
        if self.status in {400, 422}:
            return True
        # Routers answer 404 if no provider takes the parameters; llama.cpp answers 500 to a schema it cannot compile.
        return self.status in {404, 500, 501} and bool(self.parts or "parameter" in self.text.lower())

    @property
    def is_images(self) -> bool:
        """Whether the message may be about an image; only meaningful for a request with an image."""
        return self.status in {400, 404, 415, 422, 500, 501} and bool(_IMAGES.search(self.text))

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the request that the message names; if the server names a field, only that field counts."""
        for text in (self.param, self.text):
            named = tuple(part for part, pattern in _PARTS if text and pattern.search(text))
            if named:
                return named
        return ()


def instead(fault: Fault, sent: Abilities) -> Iterator[Abilities]:
    """Return what to try after a refusal, best first.

    A fault that names a part changes that part. If it names none, each part is changed alone, and at last all of them.
    """
    named = [changed for part in fault.parts if (changed := without(part, sent, fault.text)) is not None]
    if fault.parts:
        # Only the most specific part: changing several at once would give up parts that the server accepts.
        yield from named[:1]
        return
    order: Sequence[Part] = ("temperature", "limit", "method", "system")
    yield from (changed for part in order if (changed := without(part, sent)) is not None)
    words = replace(sent, method="prompt")
    yield from (words, replace(words, temperature=False, system=False))


def without(part: Part, sent: Abilities, text: str = "") -> Abilities | None:
    """Return the abilities without the refused part; None if the request did not have it."""
    if part == "limit":
        return _with_limit(sent, text)
    if part == "method":
        later = METHODS[METHODS.index(sent.method) + 1 :]
        return replace(sent, method=later[0]) if later else None
    flag: dict[str, Any] = {part: False}
    return replace(sent, **flag) if getattr(sent, part) else None


def _with_limit(sent: Abilities, text: str) -> Abilities | None:
    """Lower the output limit to the named maximum, or use its other name."""
    most = _AT_MOST.search(text)
    if most and (sent.most_output is None or int(most[1]) < sent.most_output):
        return replace(sent, most_output=int(most[1]))
    other: LimitName = "max_completion_tokens" if sent.limit_name == "max_tokens" else "max_tokens"
    return replace(sent, limit_name=other)
