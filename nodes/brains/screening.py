"""The cheapest level: a model finds search terms and chooses among many paths, in two calls; rules do the rest."""

from collections import Counter
from collections.abc import Sequence

from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Models
from nodes.brains.conversation import choose_files
from nodes.brains.fence import estimate
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.context.brain import Case, Judged, ToolPort
from nodes.evidence import NumberedEvidence
from nodes.judgements import FILES, CodeReading

ISSUE = 3_000
"""Maximum characters of the issue's text."""
PATHS, TOKENS = 60, 900
"""Paths of the search that a model chooses from, and their maximum tokens."""
_COSTLY = 400
"""Characters that a folder must take in a list before it is written only once."""


def brain_of(models: Models, budget: ModelBudget | None = None) -> LLMBrain:
    """Return the brain of the level that the models' settings name."""
    return (ScreeningBrain if models.settings.level == "low" else LLMBrain)(models, budget)


class ScreeningBrain(RulesBrain, LLMBrain):
    """Asks a model for search terms and for files; rules decide, refute and write."""

    name = LLMBrain.name
    investigate = LLMBrain.investigate

    @property
    def compress_from(self) -> int:
        """Characters of an issue's text above which the model gets it without its middle, in both calls."""
        return ISSUE

    async def read_code(self, case: Case, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        """Choose five files by their paths; the best place of each is the search's."""
        if case.tools is None:
            return await super().read_code(case, candidates)
        before = case.state.readings
        if case.looked_up is not None and before:
            # A draft was rejected; the same list of paths would be answered in the same way.
            again = await _chosen(before[-1].relevant_files, case.tools, before[-1].confidence)
            return Judged(again, judged_by=before[-1].judged_by)
        model = self._models.get(self._model_name("files", case.state))
        ranked = await case.tools.ranked(PATHS)
        folder = _shared_folder(ranked)
        known = _that_fit(ranked, folder)
        listed = "\n".join(f"{name} {_shown(path, folder)}" for name, path in known.items())
        listed = f"…/ stands for {folder}\n{listed}" if folder else listed
        answer, paths = await choose_files(
            model, self._paying(case.state), case, case.tools, listed=listed, known=known
        )
        return answer.of(await _chosen(paths, case.tools, answer.value.confidence))


def _shared_folder(paths: Sequence[str]) -> str:
    """Return the folder whose name costs most in a list of paths, with a slash at its end; empty if none costs much."""
    counts = Counter(path[: at + 1] for path in paths for at, letter in enumerate(path) if letter == "/")
    folder = max(counts, key=lambda folder: (counts[folder] - 1) * len(folder), default="")
    return folder if counts[folder] * len(folder) > _COSTLY else ""


def _shown(path: str, folder: str) -> str:
    return f"…/{path.removeprefix(folder)}" if folder and path.startswith(folder) else path


def _that_fit(paths: Sequence[str], folder: str) -> dict[str, str]:
    """Return the first paths by their ids in the list, as many as fit."""
    known, room = dict[str, str](), TOKENS
    for number, path in enumerate(paths, 1):
        room -= estimate(_shown(path, folder)) + 3
        if room < 0:
            break
        known[f"F{number}"] = path
    return known


async def _chosen(paths: Sequence[str], tools: ToolPort, confidence: float) -> CodeReading:
    """Return the best place of each of the first five files that have one."""
    found = list[NumberedEvidence]()
    for path in paths[: 2 * FILES]:
        sketches = await tools.sketched((path,))
        shown = [tools.show(place) for sketch in sketches for place in sketch.places[:1]]
        found += [item for item in shown if item is not None]
        if len(found) == FILES:
            break
    named = ", ".join(str(item.evidence.locator.path) for item in found)
    suspects = tuple(item.id for item in found)
    return CodeReading(summary=f"Chosen by paths: {named}."[:300], details="", suspects=suspects, confidence=confidence)
