"""The policy on whose events count: those of people, and of the bots that the operator names."""

from __future__ import annotations

from dataclasses import dataclass

from bot.server.webhook.payload import CommentPart, IssuePart, User


@dataclass(frozen=True, slots=True)
class Policy:
    """Decides whose events count."""

    app_id: int = 0
    """Our own App's id. Nothing that the App writes starts work, whatever else is allowed."""
    bots: frozenset[str] = frozenset()
    """Logins of bots that are treated as people, in lower case."""

    def accepts(self, who: User | None) -> bool:
        """Return whether the user is a person or a bot that counts as one; a deleted account (None) is a person."""
        return who is None or not who.is_bot or who.login.lower() in self.bots

    def is_own(self, part: IssuePart | CommentPart) -> bool:
        """Return whether this App wrote the issue or comment."""
        app = part.performed_via_github_app
        # What a person writes with a token of the App names the App too, so the author must be a bot.
        bot = part.user is not None and part.user.is_bot
        return bot and app is not None and self.app_id != 0 and app.id == self.app_id
