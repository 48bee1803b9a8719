"""Pages of the first start: GitHub registers the App for the person who has the setup token from the log."""

from bot.web.setup.app import SetUp, setup_app

__all__ = ["SetUp", "setup_app"]
