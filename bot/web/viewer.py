"""Who looks, and what they may see."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who logged in."""

    name: str
    """Shown to themselves."""
    repositories: frozenset[str] | None
    """Keys of the repositories that GitHub lets them see; None is the operator, who sees all."""

    @property
    def is_operator(self) -> bool:
        """Whether they may see, and try again, everything."""
        return self.repositories is None

    def may_see(self, repository_key: str) -> bool:
        """Whether a repository, and whatever is of it, may be shown to them."""
        return self.repositories is None or repository_key in self.repositories


def viewer_of(request: Request) -> Viewer:
    """Who asks; on a path behind the login there is always somebody.

    Raises:
        HTTPException: 401, nobody is logged in.
    """
    viewer: Viewer | None = getattr(request.state, "viewer", None)
    if viewer is None:
        raise HTTPException(401)
    return viewer


def must_see(request: Request, repository_key: str) -> None:
    """Go on only where the repository may be shown.

    Raises:
        HTTPException: 404, as if there were none.
    """
    if not viewer_of(request).may_see(repository_key):
        raise HTTPException(404)


def must_operate(request: Request) -> None:
    """Go on only for the operator.

    Raises:
        HTTPException: 404, as if there were nothing.
    """
    if not viewer_of(request).is_operator:
        raise HTTPException(404)
