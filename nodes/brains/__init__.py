"""Brains: a model, and the rules."""
