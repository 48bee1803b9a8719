"""Mirrors of target repositories: bare, limited in size, and without secrets on disk or in process arguments."""

from bot.runs.mirrors.git import ForbiddenError, MirrorLimits, TooLargeToFetchError
from bot.runs.mirrors.mirrors import Mirror, Mirrors

__all__ = ["ForbiddenError", "Mirror", "MirrorLimits", "Mirrors", "TooLargeToFetchError"]
