"""Let a model phrase the search results. Its answer is used only if it cites a place that it received."""

from dataclasses import replace

from pydantic import BaseModel, Field

from bot.cli.answers import Reply
from bot.runs.model import model_settings
from bot.settings import Settings
from nodes.brains.calls.asking import ask_structured
from nodes.brains.calls.models import Models
from nodes.brains.calls.request import Message
from nodes.brains.fence import fence
from nodes.context.brain import ModelError
from nodes.trust.secrets import mask
from prompts import build_role_prompt

_CALLS = 8
"""Maximum model calls per question: the call, its correction, and calls that reveal unsupported options."""


class _Answer(BaseModel):
    """The requested answer."""

    text: str = Field(max_length=1_200)
    uses: list[str] = Field(max_length=10)


async def in_words(question: str, reply: Reply, settings: Settings) -> Reply:
    """Return the reply in a model's words, or unchanged, with a note if the model gave no usable answer."""
    shown = {f"E{number}": place for number, place in enumerate(reply.places or reply.candidates, 1)}
    # The other routes are lookups.
    if reply.route not in ("general", "trace") or not shown:
        return reply
    code = "\n\n".join(
        f"{name}: {place.path}, lines {place.start_line} to {place.end_line}\n{fence('code', place.quote)}"
        for name, place in shown.items()
    )
    prompt = f"{fence('question', question[:8_000])}\n\nPlaces:\n\n{code}"
    messages: list[Message] = [("system", build_role_prompt("ask")), ("human", prompt)]
    models = Models(model_settings(settings))
    model = models.get(models.settings.default)
    try:
        answer = (await ask_structured(model, _Answer, messages, budget=models.budget(_CALLS))).value
    except ModelError as error:
        return replace(reply, notes=(*reply.notes, f"{model.name} gave no answer: {error}"[:200]))
    finally:
        await models.aclose()
    used = [shown[name] for name in dict.fromkeys(answer.uses) if name in shown]
    if not used:
        return replace(reply, notes=(*reply.notes, f"{model.name} found no answer in these places"))
    return replace(reply, text=mask(answer.text.strip()), places=tuple(used), judged_by=model.name)
