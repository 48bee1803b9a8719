"""The code port of a repository that holds nothing to read: it is empty, or larger than we take."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.search.fingerprint import Fingerprint
from nodes.search.forms import IssueForm
from nodes.search.history.types import History, Spot
from nodes.search.survey import Survey
from nodes.search.types import Lookup, Query, Ranking


class NoCode:
    """Finds nothing, which is an answer."""

    sha = ""

    async def find(self, query: Query) -> Ranking:  # noqa: ARG002  the port's signature
        """Nothing."""
        return Ranking("")

    async def survey(self, query: Query) -> Survey:  # noqa: ARG002  as above
        """Return an empty survey."""
        return Survey()

    async def read(self, path: str, start_line: int, end_line: int) -> str | None:  # noqa: ARG002  as above
        """Nothing."""
        return None

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:  # noqa: ARG002  as above
        """Nothing."""
        return History()

    async def fingerprints(self, text: str) -> tuple[Fingerprint, ...]:  # noqa: ARG002  as above
        """Nothing: whose a frame is cannot be told."""
        return ()

    async def subject(self, change: str) -> str | None:  # noqa: ARG002  as above
        """Nothing."""
        return None

    async def forms(self) -> tuple[IssueForm, ...]:
        """None."""
        return ()

    async def text(self, path: str) -> str | None:  # noqa: ARG002  as above
        """Nothing."""
        return None

    async def lines(self, path: str, start_line: int, end_line: int) -> Lookup | None:  # noqa: ARG002  as above
        """Nothing."""
        return None

    async def definitions(self, name: str) -> Lookup:  # noqa: ARG002  as above
        """Nothing."""
        return Lookup()

    async def references(self, name: str) -> Lookup:  # noqa: ARG002  as above
        """Nothing."""
        return Lookup()

    async def words(self, text: str) -> Lookup:  # noqa: ARG002  as above
        """Nothing."""
        return Lookup()
