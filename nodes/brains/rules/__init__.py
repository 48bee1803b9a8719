"""Judgements by rules: they need no key and no network, and are deterministic."""

from nodes.brains.rules.brain import RulesBrain

__all__ = ["RulesBrain"]
