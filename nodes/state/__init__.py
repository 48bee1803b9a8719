"""The state of one triage run, and the checkpoints that store it."""

from nodes.state.models import *  # noqa: F403  every part of the state is imported from here
