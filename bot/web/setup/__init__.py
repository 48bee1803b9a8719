"""The first start: a page that has GitHub make the App, for whoever holds the token in the log."""

from bot.web.setup.app import SetUp, setup_app

__all__ = ["SetUp", "setup_app"]
