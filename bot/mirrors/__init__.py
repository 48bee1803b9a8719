"""Mirrors of target repositories: bare, bounded, and without a secret on disk or in arguments."""

from bot.mirrors.git import ForbiddenError, MirrorLimits, TooLargeToFetchError
from bot.mirrors.mirrors import Mirror, Mirrors

__all__ = ["ForbiddenError", "Mirror", "MirrorLimits", "Mirrors", "TooLargeToFetchError"]
