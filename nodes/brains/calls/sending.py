"""Send one question to a model until its server accepts it: learn from refusals, retry if busy, count all costs."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nodes.brains.calls.abilities import METHODS, Abilities, FailedRequest, Method, instead
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import ChatModel
from nodes.brains.calls.replies import BusyError, InvalidOutput, describe, fault_in, fault_of, usage_of
from nodes.brains.calls.request import SMALLEST, Message, Request, counted
from nodes.brains.fence import estimate
from nodes.context.brain import ModelError
from nodes.state import Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_REFUSALS = 10
"""Forms of one request that are tried. A server that refuses more than these is not asked again."""
_CUT = 0.6
"""The share of our estimate below which the reported tokens mean that the server cut the prompt."""
_WINDOWS = (2_048, 4_096, 8_192, 16_384)
_FULL, _SURE, _CLEAR = 0.9, 0.95, 0.85
"""The same share for a prompt that fills a usual window; shares of the model's usual one, for short and long ones."""
_LEAST_USUAL = 0.75
"""The lowest share that a vocabulary explains; our estimate prefers too many tokens."""
_LEAST_REPORTED, _LEAST_SENT = 1_000, 1_800
"""Tokens below which nothing is concluded: some servers report only what was not cached."""


class _LostError(ModelError):
    """The request was sent and no answer came, so its cost is unknown."""


class _RefusedError(Exception):
    """The server refused the form of the request."""

    def __init__(self, fault: FailedRequest) -> None:
        super().__init__(fault.text[:200])
        self.fault = fault


@dataclass(slots=True)
class Sender:
    """Sends the requests of one question, and counts what they cost."""

    model: ChatModel
    schema: dict[str, Any]
    budget: ModelBudget
    usage: Usage = field(default_factory=Usage)
    """All requests so far, refused and failed ones included."""
    tools: Sequence[dict[str, Any]] = ()
    """Tools that the model may call instead of answering by the schema."""

    async def send(self, messages: Sequence[Message]) -> tuple[AIMessage, Method]:
        """Return the reply, and the method that requested it; raises ``InvalidOutput``, else ``ModelError``."""
        known = self.model.abilities
        reply, used = await self._accepted(messages)
        if not self._is_cut(reply, messages, used):
            return reply, used.method
        # The server read only a part of the prompt, so its answer is about something else. Send a prompt that fits.
        self.model.learn(window=usage_of(reply).input_tokens)
        reply, used = await self._accepted(messages)
        if self._is_cut(reply, messages, used):
            self.model.learn(window=known.window, counts=False)
        return reply, used.method

    async def _accepted(self, messages: Sequence[Message]) -> tuple[AIMessage, Abilities]:
        """Send the request in the forms that remain after each refusal."""
        abilities = self.model.abilities
        others: Iterator[Abilities] | None = None
        repeated = named = False
        for _ in range(_REFUSALS):
            try:
                reply = await self._with_retries(Request(self.model, abilities, self.schema, messages, self.tools))
            except _RefusedError as refused:
                fault = refused.fault
                if fault.is_context:
                    abilities = self._narrower(abilities, messages, fault)
                    continue
                if not repeated and others is None and not fault.is_certain:
                    repeated = True
                    continue
                if self.tools and abilities.reading == "tools" and fault.parts[:1] in ((), ("method",)):
                    abilities = replace(abilities, reading="actions")
                    continue
                # A refusal that names a part starts a new list, and so does the first one after it that names none.
                if others is None or fault.parts or named:
                    others, named = instead(fault, abilities), bool(fault.parts)
                following = next(others, None)
                if following is None:
                    no_json = fault.parts[:1] == ("method",) and abilities.method == "prompt"
                    offers = "the model's server offers no way of asking for JSON"
                    raise ModelError(offers if no_json else describe(fault)) from refused
                abilities = following
                continue
            if abilities != self.model.abilities:
                # A method that another run found to be ignored is not used again.
                known = self.model.abilities
                method = max(abilities.method, known.method, key=METHODS.index)
                kept = {"longer": known.longer, "counts": known.counts, "method": method}
                self.model.learn(**{**asdict(abilities), **kept})
            return reply, abilities
        raise ModelError("the model's server refuses every form of the request")

    def _narrower(self, abilities: Abilities, messages: Sequence[Message], fault: FailedRequest) -> Abilities:
        """Return the abilities with the window that an error message names, or with half of the present prompt."""
        fitted = Request(self.model, abilities, self.schema, messages).fitted
        named, half = fault.window, counted(fitted) // 2
        window = named if named is not None and (abilities.window is None or named < abilities.window) else half
        if window < SMALLEST or (abilities.window is not None and counted(fitted) < SMALLEST):
            raise ModelError(describe(fault))
        return replace(abilities, window=window)

    def _is_cut(self, reply: AIMessage, messages: Sequence[Message], used: Abilities) -> bool:
        """Return whether the server reports much less of the prompt than was sent."""
        if not self.model.abilities.counts:
            return False
        reported = usage_of(reply).input_tokens
        sent = counted(Request(self.model, used, self.schema, messages).fitted)
        if sent < _LEAST_SENT or reported < _LEAST_REPORTED:
            return False
        # A prompt that the server cut usually fills a window of a round size.
        filled = next((size for size in _WINDOWS if 0 <= size - reported <= size // 100), None)
        # A server that read a longer prompt has a larger window.
        if self.model.most_read > (filled or reported):
            return False
        usual = self.model.usual
        # The share of long prompts varies more: they are mostly code, whose signs we count too high.
        sure = _SURE if filled == _WINDOWS[0] else _CLEAR
        expected = sent * (_FULL if usual == 1.0 else usual * sure)
        cut = (filled is not None and reported < expected) or reported < _CUT * usual * sent
        if not cut and filled is None:
            self.model.usual = min(1.0, max(_LEAST_USUAL, reported / sent))
        return cut

    async def _with_retries(self, request: Request) -> AIMessage:
        """Send the request, and retry while the server is busy; each attempt counts as a call."""
        model = request.model
        seconds_left = model.deadline
        for attempt in range(model.settings.max_retries + 1):
            started = time.monotonic()
            try:
                return await self._paid(request, seconds_left)
            except BusyError as busy:
                pause = busy.pause(attempt)
                # A wait that the server's rate limit requests does not count against the deadline.
                seconds_left -= time.monotonic() - started + (0.0 if busy.limited else pause)
                if attempt == model.settings.max_retries:
                    raise
                if seconds_left <= 0:
                    raise ModelError(f"the model gave no answer within {model.deadline:g} s") from busy
                await self.budget.pause(pause, limited=busy.limited)
        raise AssertionError("the last attempt returns or raises")

    async def _paid(self, request: Request, seconds_left: float) -> AIMessage:
        """Reserve the estimated cost of a call, send it, and settle it by the actual cost."""
        call = request.call
        settle = await self.budget.reserve(call)
        # What a lost answer cost is unknown.
        usage = Usage(calls=1, input_tokens=call.input_tokens, output_tokens=call.output_tokens)
        try:
            reply = await _send(request, seconds_left)
        except (_RefusedError, ModelError) as error:
            # A server that answers with an error charges nothing.
            if not (isinstance(error, _LostError) or (isinstance(error, BusyError) and not error.answered)):
                usage = Usage(calls=1)
            raise
        else:
            reported = usage_of(reply)
            request.model.most_read = max(request.model.most_read, reported.input_tokens)
            # The estimate of what the server does not report.
            into, out = reported.input_tokens or call.input_tokens, reported.output_tokens or estimate(reply.text)
            usage = reported.model_copy(update={"input_tokens": into, "output_tokens": out})
            return reply
        finally:
            self.usage += usage
            await settle(usage)


async def _send(request: Request, seconds_left: float) -> AIMessage:
    """Send one request and return the reply.

    Raises:
        InvalidOutput: The reply is not an answer (langchain-openai raises IndexError, TypeError, … for these).
        ModelError: No reply arrived.
    """
    import openai  # noqa: PLC0415  the import takes half a second, which only runs with a model should pay

    model, started = request.model, time.monotonic()
    lost = f"the model gave no answer within {model.deadline:g} s"
    # langchain-openai warns about servers without json_schema; the next method handles these.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"langchain_openai\.")
    try:
        async with asyncio.timeout(seconds_left):
            # langchain-openai renames and drops some settings; it sends extra_body unchanged.
            reply: AIMessage = await model.llm.ainvoke(request.conversation, extra_body=request.body)
    except TimeoutError as error:
        raise _LostError(lost) from error
    except openai.APIError as error:
        if isinstance(error, openai.APITimeoutError) and time.monotonic() - started >= seconds_left:
            raise _LostError(lost) from error
        fault = FailedRequest.of(error)
        if fault.is_refusal or fault.is_context:
            raise _RefusedError(fault) from error
        raise fault_of(error) from error
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _fault_of_reply(error) from error
    if reply.response_metadata.get("finish_reason") == "error":
        raise BusyError("the model's provider failed while it answered", after=None, limited=False)
    return reply


def _fault_of_reply(error: Exception) -> Exception:
    """Classify a response with status 200 that langchain-openai could not read."""
    content = error.args[0] if error.args else ""
    if isinstance(content, dict):
        fault = FailedRequest.in_body(content)
        return _RefusedError(fault) if fault.is_refusal or fault.is_context else fault_in(fault)
    if str(content).startswith("Unexpected response type"):
        return ModelError("the address answers with a page instead of a completion: check OPENAI_BASE_URL")
    return InvalidOutput("the server's reply contains no answer")
