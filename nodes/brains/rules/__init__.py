"""Judgements by rules."""
