"""The sentence about a frame: what its line did, or how the error of the trace passes through it."""

import re

from nodes.search.facts.output.frame_lines import MappedFrame, called
from nodes.search.facts.output.frame_text import last_part
from nodes.search.facts.output.happened import Happened
from nodes.search.lazy import lazy
from nodes.search.sentences import say

MAX_PANIC = 60
"""Maximum number of characters of a panic's message that names it."""
_RAISES_ITSELF = lazy(r"\s{0,200}(?:raise|throw)\b")
_RAISES_ELSE = lazy(
    r"(?:[=-]>|\?\?|\?:|\|\||\b(?:else|or))\s{0,9}\(?(?:raise|throw)\s{1,9}(?:new\s{1,9})?\\?([\w.\\]{1,200})"
)
"""The end of an expression that raises if its other operand has no value."""
_IS_LEVEL = lazy(r"[Ww]arning|[Nn]otice|[Dd]eprecated|[\w ]{1,20} error")
"""What a language prints in place of an error's name."""
_ANY = frozenset({"panic", "Error", "Exception"})
"""What every error of a language may be called."""


def _raised(mapped: MappedFrame, where: str, text: str) -> str | None:
    """Return the sentence that a line raises the error, or a call on it, as far as the inner frames show."""
    trace = mapped.trace
    depth = trace.frames.index(mapped.frame)
    other = _RAISES_ELSE.search(text) if depth == 0 and trace.error else None
    is_same = other and re.split(r"[.\\]", other[1])[-1] == re.split(r"[.\\]", trace.error or "")[-1]
    if depth == 0 and trace.error and (is_same or _RAISES_ITSELF.match(text)):
        return say("`{place}` raises `{error}` on this line.", place=where, error=trace.error)
    name = last_part(trace.frames[depth - 1].function) if depth else None
    if name and re.search(called(name, trace.frames[0]), text):
        values = {"place": where, "name": name, "error": f"`{trace.error}`" if trace.error else say("the error")}
        return say("`{place}` calls `{name}` on this line; {error} comes from inside that call.", **values)
    return None


def says_of(mapped: MappedFrame, event: Happened | None, path: str, text: str) -> str:
    """Return what the line of a frame did when its error occurred, or else that the error passed through it."""
    # Without the frame's own text or function, only its number says where it is, and numbers change with each version.
    called_so = mapped.trace.language != "lua" or (mapped.symbol or "").rpartition(".")[2] == mapped.name
    is_named = mapped.exact or event is not None or (mapped.name and called_so)
    where = mapped.symbol if mapped.symbol and is_named else path
    if event is not None:
        return event.at(where, is_known=mapped.is_known)
    end = (
        mapped.gone
        or (mapped.in_program and say("; the frames inside it are in a program that the project calls"))
        or (mapped.lost_inner and say("; a frame inside it cannot be placed at this commit"))
    )
    if end:
        return passes(mapped, where, end)
    reported = say("`{place}` reports the error on this line.", place=where) if mapped.reports else None
    if more := reported or (_raised(mapped, where, text) if mapped.exact else None):
        return more
    if mapped.is_known:
        end = say("; this line is its innermost frame in the project's own code{moved}", moved=mapped.moved or "")
        return passes(mapped, where, end)
    if mapped.frame.line is None:
        return passes(mapped, where, say(", its innermost frame in the project's own code; the trace gives no line"))
    return passes(mapped, where, say(", its innermost frame in the project's own code; the line may have moved"))


def passes(mapped: MappedFrame, place: str, end: str) -> str:
    """Return the sentence that the error of a trace passes through a place, with what is known about the frame."""
    error, message = mapped.trace.error or "", (mapped.trace.message or "").partition("\n")[0]
    # A panic and a fatal error have no class of their own, so the message names them.
    is_short = 0 < len(message) <= MAX_PANIC and "`" not in message
    if is_short and (error in _ANY or error.startswith("Fatal ")):
        error = f"`{error}: {message}`" if error in _ANY else f"`{message}`"
    else:
        error = f"`{error}`" if error and not _IS_LEVEL.fullmatch(error) else say("The error")
    return say("{error} passes through `{place}`{end}.", error=error, place=place, end=end)
