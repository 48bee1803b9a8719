"""The abilities of a model's server: assumed at first, learnt from refusals, and stored for later runs."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from nodes.search.tokens import load_patterns

if TYPE_CHECKING:
    from openai import APIError

Method = Literal["json_schema", "function_calling", "json_mode", "prompt"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode", "prompt")
"""Methods to request JSON, best first; the last one only asks for it in words."""
Reading = Literal["tools", "actions", "stages"]
"""Ways of reading code: native tool calls, one JSON object a turn, or a choice of files and then of functions."""
LimitName = Literal["max_tokens", "max_completion_tokens"]
_FORGET = 7 * 86_400.0
"""Seconds. Servers are updated, so what was refused is tried again after this time."""
Part = Literal["thinking", "bounds", "temperature", "limit", "system", "method"]
_PARTS: tuple[Part, ...] = get_args(Part)
"""The parts of a request that an error message may name, the most specific first."""
SAYS = load_patterns(Path(__file__).with_name("refusals.toml"))
"""What an error message says."""
_RAW = 2_000


@dataclass(frozen=True, slots=True)
class Abilities:
    """The request features that a model at an endpoint accepts. Each is assumed to work until the server refuses it."""

    method: Method = "json_schema"
    """The best method that was not refused."""
    temperature: bool = True
    limit_name: LimitName = "max_completion_tokens"
    system: bool = True
    longer: bool = False
    """Whether an answer was cut off at the usual limit."""
    bounds: bool = True
    """Whether a schema may bound its lists and close its objects."""
    thinking: bool = True
    """Whether the model may think before it answers; some servers forbid it for an answer that is not streamed."""
    most_output: int | None = None
    """The highest output limit that the server accepts."""
    window: int | None = None
    """Tokens of prompt and answer together, learnt from a prompt that was too long; None if every prompt fitted."""
    reading: Reading = "tools"
    """The best way of reading code that was not refused and did not fail."""
    counts: bool = True
    """Whether the reported tokens of a prompt measure it; some servers report only what was not cached."""


class LearntRefusals:
    """The abilities of models by endpoint and name; with no file, nothing is stored."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def load(self, key: str) -> Abilities | None:
        """Return what is known under this key; None if nothing is, or if it is old or malformed."""
        entry = self._entries().get(key)
        if not isinstance(entry, dict):
            return None
        learnt = entry.pop("learnt", 0)
        if not isinstance(learnt, int) or not 0 <= time.time() - learnt < _FORGET:
            return None
        # A release with other fields may have stored them; then they are learnt again.
        sound = set(entry) == {f.name for f in fields(Abilities)} and entry["method"] in METHODS
        return Abilities(**entry) if sound else None

    def save(self, key: str, abilities: Abilities) -> None:
        """Store what is known. A file that cannot be written costs only a few refused requests later."""
        if self._file is None:
            return
        entries = {**self._entries(), key: {**asdict(abilities), "learnt": int(time.time())}}
        # Written to a temporary file and renamed, so that another process never reads half a file.
        part = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(entries, indent=1), encoding="utf-8")
            part.replace(self._file)

    def _entries(self) -> dict[str, Any]:
        try:
            read = json.loads(self._file.read_text(encoding="utf-8")) if self._file is not None else {}
        except (OSError, ValueError):
            return {}
        return read if isinstance(read, dict) else {}


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A failed request: its text, and its HTTP status, which may be in the body of a response with status 200."""

    status: int | None
    text: str
    param: str = ""

    @classmethod
    def of(cls, error: APIError) -> FailedRequest:
        """Read the fault of an exception of the client."""
        metadata = error.body.get("metadata") if isinstance(error.body, dict) else None
        # Routers put the message of their provider here.
        raw = str(metadata.get("raw") or "")[:_RAW] if isinstance(metadata, dict) else ""
        return cls(getattr(error, "status_code", None), f"{error} {raw}".strip(), str(error.param or ""))

    @classmethod
    def in_body(cls, content: Any) -> FailedRequest:
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
        return self.status in {400, 413, 422, 500} and bool(SAYS["context"].search(self.text))

    @property
    def is_certain(self) -> bool:
        """Whether the message says that the server does not take a part of the request, so that it refuses it again.

        Any other refusal may not recur: some servers answer 400 if a model's output does not follow the schema.
        """
        return bool(self.param or SAYS["certain"].search(self.text))

    @property
    def window(self) -> int | None:
        """The size of the context window in tokens, if the message states it."""
        found = SAYS["window"].search(self.text)
        return int(found[1].replace(",", "")) if found else None

    @property
    def is_filter(self) -> bool:
        """Whether a content filter stopped the prompt."""
        return self.status in {400, 403, 422} and bool(SAYS["filter"].search(self.text))

    @property
    def is_credit(self) -> bool:
        """Whether the account cannot pay."""
        return self.status == 402 or (self.status in {403, 429} and bool(SAYS["credit"].search(self.text)))

    @property
    def is_temporary(self) -> bool:
        """Whether a retry may succeed."""
        busy = self.status is None or self.status in {408, 409, 429} or self.status >= 500
        return busy and not (self.is_credit or self.is_context)

    @property
    def is_refusal(self) -> bool:
        """Whether another form of the request may be accepted."""
        if self.is_context or self.is_filter or self.is_credit or SAYS["no_model"].search(self.text):
            return False
        if self.status in {400, 422}:
            return True
        # Routers answer 404 if no provider takes the parameters; llama.cpp answers 500 to a schema it cannot compile.
        return self.status in {404, 500, 501} and bool(self.parts or "parameter" in self.text.lower())

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the request that the message names; if the server names a field, only that field counts."""
        for text in (self.param, self.text):
            named = tuple(part for part in _PARTS if text and SAYS[part].search(text))
            if named:
                return named
        return ()


def instead(fault: FailedRequest, sent: Abilities) -> Iterator[Abilities]:
    """Return what to try after a refusal, best first: the named part, else each part alone, at last all of them."""
    order: Sequence[Part] = fault.parts or ("temperature", "limit", "method", "system")
    text = fault.text if fault.parts else ""
    changed = [other for part in order if (other := without(part, sent, text)) is not None]
    # Of named parts only the most specific: changing several at once would give up parts that the server accepts.
    yield from changed[:1] if fault.parts else changed
    if not fault.parts:
        words = replace(sent, method="prompt")
        yield from (words, replace(words, temperature=False, system=False))


def without(part: Part, sent: Abilities, text: str = "") -> Abilities | None:
    """Return the abilities without the refused part, or with the named maximum of output; None if it was not sent."""
    if part == "limit":
        most = SAYS["at_most"].search(text)
        if most and (sent.most_output is None or int(most[1]) < sent.most_output):
            return replace(sent, most_output=int(most[1]))
        return replace(sent, limit_name="max_completion_tokens" if sent.limit_name == "max_tokens" else "max_tokens")
    if part == "method":
        later = METHODS[METHODS.index(sent.method) + 1 :]
        return replace(sent, method=later[0]) if later else None
    flag: dict[str, Any] = {part: False}
    return replace(sent, **flag) if getattr(sent, part) else None
