"""Who is listened to: people, and the bots that the operator names."""

from __future__ import annotations

from dataclasses import dataclass

from bot.payload import CommentPart, IssuePart, User


@dataclass(frozen=True, slots=True)
class Policy:
    """Whom to listen to."""

    app_id: int = 0
    """Our own; nothing we write starts anything, whatever else is allowed."""
    bots: frozenset[str] = frozenset()
    """Logins of bots that are treated as people, in lower case."""

    def hears(self, who: User | None) -> bool:
        """Whether somebody is a person, or a bot that counts as one; an account that is gone was one."""
        return who is None or not who.is_bot or who.login.lower() in self.bots

    def wrote(self, part: IssuePart | CommentPart) -> bool:
        """Whether this App made it."""
        app = part.performed_via_github_app
        bot = part.user is not None and part.user.is_bot
        return bot and app is not None and self.app_id != 0 and app.id == self.app_id
