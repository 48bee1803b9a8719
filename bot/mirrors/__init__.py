"""Mirrors of target repositories: bare, limited in size, and without secrets on disk or in process arguments."""

from bot.mirrors.git import ForbiddenError, MirrorLimits, TooLargeToFetchError
from bot.mirrors.mirrors import Mirror, Mirrors

__all__ = ["ForbiddenError", "Mirror", "MirrorLimits", "Mirrors", "TooLargeToFetchError"]
