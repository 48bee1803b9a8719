"""Runs jobs: what each kind does, and how they are dispatched."""
