"""The code port for a repository whose code cannot be read: it is empty, too large, or the server refuses access."""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import BotError, GoneError
from bot.mirrors import ForbiddenError, TooLargeToFetchError
from nodes.search.errors import CodeNotReadable
from nodes.search.fingerprint import Fingerprint
from nodes.search.forms import IssueForm
from nodes.search.history.types import History, Spot
from nodes.search.survey import Survey
from nodes.search.types import Lookup, Query, Ranking


class NoCode:
    """Return empty results, and refuse to search so that no report claims that code was searched."""

    sha = ""

    def __init__(self, reason: str = "it does not exist") -> None:
        """Represent code that cannot be read.

        Args:
            reason: a clause for the report, without text from a server.
        """
        self._reason = reason

    @classmethod
    def because(cls, error: BotError) -> NoCode:
        """Represent code that a mirror could not fetch."""
        if isinstance(error, GoneError):
            return cls("the repository has no commit yet")
        if isinstance(error, TooLargeToFetchError):
            return cls(str(error))
        if isinstance(error, ForbiddenError):
            return cls("the server does not allow it")
        return cls("the server says that it does not exist")

    @property
    def reason(self) -> str:
        """Why there is no code, as a clause for the report."""
        return self._reason

    async def find(self, query: Query) -> Ranking:  # noqa: ARG002  the port's signature
        """Refuse to search.

        Raises:
            CodeNotReadable: always.
        """
        raise CodeNotReadable(self._reason)

    async def survey(self, query: Query) -> Survey:  # noqa: ARG002  as above
        """Return an empty survey."""
        return Survey()

    async def read(self, path: str, start_line: int, end_line: int) -> str | None:  # noqa: ARG002  as above
        """Return None."""
        return None

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:  # noqa: ARG002  as above
        """Return an empty history."""
        return History()

    async def fingerprints(self, text: str) -> tuple[Fingerprint, ...]:  # noqa: ARG002  as above
        """Return no fingerprints: without code the owner of a frame is unknown."""
        return ()

    async def subject(self, change: str) -> str | None:  # noqa: ARG002  as above
        """Return None."""
        return None

    async def forms(self) -> tuple[IssueForm, ...]:
        """Return no forms."""
        return ()

    async def text(self, path: str) -> str | None:  # noqa: ARG002  as above
        """Return None."""
        return None

    async def lines(self, path: str, start_line: int, end_line: int) -> Lookup | None:  # noqa: ARG002  as above
        """Return None."""
        return None

    async def definitions(self, name: str) -> Lookup:  # noqa: ARG002  as above
        """Return an empty lookup."""
        return Lookup()

    async def references(self, name: str) -> Lookup:  # noqa: ARG002  as above
        """Return an empty lookup."""
        return Lookup()

    async def words(self, text: str) -> Lookup:  # noqa: ARG002  as above
        """Return an empty lookup."""
        return Lookup()
