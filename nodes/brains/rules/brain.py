"""Judgements by rules: they need no key and no network, and are deterministic."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from nodes.brains.rules import audit as audits
from nodes.brains.rules import decide as decisions
from nodes.brains.rules import investigate as investigations
from nodes.brains.rules import write as drafts
from nodes.context.brain import Judged

__all__ = ["RulesBrain"]
J = TypeVar("J")


def _judged(rule: Callable[..., J]) -> Callable[..., Coroutine[Any, Any, Judged[J]]]:
    """Return a rule as a method of the brain."""

    async def judge(_brain: "RulesBrain", *asked: object) -> Judged[J]:
        return Judged(rule(*asked))

    return judge


class RulesBrain:
    """Judges by rules. This is the default without a model, and the fallback if a model fails."""

    name = "rules"
    decide = _judged(decisions.decide)
    investigate = _judged(investigations.investigate)
    read_code = _judged(audits.read_code)
    read_web = _judged(audits.read_web)
    audit = _judged(audits.audit)
    write = _judged(drafts.write)
