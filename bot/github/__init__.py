"""The GitHub client: login and the dozen calls we make, in our own types."""

from bot.github.app import GitHub

__all__ = ["GitHub"]
