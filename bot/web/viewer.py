"""The logged-in viewer and their permissions."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Viewer:
    """A logged-in user."""

    name: str
    """Displayed only to the user."""
    repositories: frozenset[str] | None
    """Keys of the repositories that GitHub lets the user see; None for the operator, who sees all."""

    @property
    def is_operator(self) -> bool:
        """Whether the viewer is the operator, who may see and replay everything."""
        return self.repositories is None

    def may_see(self, repository_key: str) -> bool:
        """Whether the viewer may see a repository and everything that belongs to it."""
        return self.repositories is None or repository_key in self.repositories


def viewer_of(request: Request) -> Viewer:
    """Return the viewer of a request. Behind the login there always is one.

    Raises:
        HTTPException: 401, the request is not authenticated.
    """
    viewer: Viewer | None = getattr(request.state, "viewer", None)
    if viewer is None:
        raise HTTPException(401)
    return viewer


def must_see(request: Request, repository_key: str) -> None:
    """Require that the viewer may see the repository.

    Raises:
        HTTPException: 404, as if the repository did not exist.
    """
    if not viewer_of(request).may_see(repository_key):
        raise HTTPException(404)


def must_operate(request: Request) -> None:
    """Require that the viewer is the operator.

    Raises:
        HTTPException: 404, as if the page did not exist.
    """
    if not viewer_of(request).is_operator:
        raise HTTPException(404)
