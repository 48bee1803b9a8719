"""The choice of files by a model: the first stage of small models, and all that the cheapest level asks for."""

from __future__ import annotations

from collections.abc import Mapping

from nodes.brains.briefing import later_messages
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Model
from nodes.brains.calls.structured import Structured, ask_structured
from nodes.brains.fence import fence
from nodes.brains.shared import build_conversation, join_sections, read_before
from nodes.context import Case, ToolPort
from nodes.judgements import FILES, FileStep


async def choose_files(
    model: Model, budget: ModelBudget, case: Case, tools: ToolPort, *, listed: str, known: Mapping[str, str]
) -> tuple[Structured[FileStep], tuple[str, ...]]:
    """Return the answer, and paths: the chosen ones, a file that the list lacks, then the list.

    Args:
        model: the model to ask.
        budget: pays for the request.
        case: the run.
        tools: looks up the files that the list lacks.
        listed: the files as the model sees them, the search's best first.
        known: their paths by the ids in the list.

    Raises:
        ModelError: no usable answer arrived.
    """
    sections = (
        ("What was read from it", read_before(case)),
        ("Said since", later_messages(case)),
        ("Files", fence("files", listed)),
    )
    answer = await ask_structured(
        model, FileStep, build_conversation(case, "files", join_sections(sections)), budget=budget
    )
    step = answer.value
    named = [known[name] for file in step.files if (name := file.strip(" []()`").upper()) in known]
    missing = [sketch.path for sketch in await tools.sketched(step.not_listed)]
    # Five files are read further, and what a model names from its own knowledge is one of them.
    return answer, tuple(dict.fromkeys((*named[: FILES - 1], *missing[:1], *named[FILES - 1 :], *known.values())))
