"""Pages of the first start: GitHub registers the App for the person who has the setup token from the log."""

from bot.web.setup.app import SetupPages, setup_app

__all__ = ["SetupPages", "setup_app"]
