"""What can go wrong, by who can mend it."""

from __future__ import annotations


class BotError(Exception):
    """Something of ours."""


class UserError(BotError):
    """The person's to mend; the message is shown to them as it is, on one line."""


class RetryableError(BotError):
    """Later, a counted number of times."""
