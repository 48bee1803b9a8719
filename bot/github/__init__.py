"""The GitHub client: authentication and the dozen calls that the bot makes, in its own types."""

from bot.github.app import GitHub

__all__ = ["GitHub"]
