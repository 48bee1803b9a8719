"""The prompts of models."""
