"""Read the words of an issue's pictures with a model."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Model
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.calls.sending import NO_IMAGES
from nodes.brains.calls.structured import ask_structured
from nodes.brains.fence import fence
from nodes.context import Case, Judged, ModelError, Picture
from nodes.judgements import PictureTexts
from prompts import build_picture_prompt


async def read_pictures(
    model: Model, budget: ModelBudget, case: Case, pictures: Sequence[Picture]
) -> Judged[PictureTexts]:
    """Copy the words of each picture.

    Raises:
        ModelError: the model gave no answer, or takes no images.
    """
    if not model.abilities.images:
        raise ModelError(NO_IMAGES)
    asked = f"## Title of the issue\n{fence('title', case.title[:300])}\n\nThe pictures follow: {len(pictures)}."
    try:
        answer = await ask_structured(
            model,
            PictureTexts,
            (("system", build_picture_prompt()), ("human", asked)),
            budget=budget,
            images=tuple(picture.data_url for picture in pictures),
        )
    except InvalidOutput as invalid:
        raise ModelError(f"{model.name} gave two invalid answers about pictures: {invalid}", invalid.usage) from invalid
    return Judged(answer.value, judged_by=model.name, usage=answer.usage)
