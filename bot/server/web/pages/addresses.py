"""Find the repository and the run that the address of a page names, if the viewer may see them."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request

from bot.server.web.auth.sessions import must_see
from bot.server.web.site import site_of
from bot.store.pages.repositories import RepositoryRow
from bot.store.pages.rows import RunRow
from bot.store.pages.runs import FullRun

# Above any run's number, and small enough to be compared by both databases.
_LARGEST = 2**31


async def repository_of(request: Request) -> RepositoryRow:
    """Return the repository that the path names, if the viewer may see it.

    Raises:
        HTTPException: 404, it does not exist or the viewer may not see it.
    """
    owner, name = request.path_params["owner"], request.path_params["name"]
    found = await site_of(request).store.pages.repositories.named(owner, name)
    if found is None:
        raise HTTPException(404)
    must_see(request, found.key)
    return found


async def run_of(request: Request) -> RunRow:
    """Return the run that the path names, if the viewer may see it.

    Raises:
        HTTPException: 404, it does not exist or the viewer may not see it.
    """
    return (await full_run(request)).row


async def full_run(request: Request) -> FullRun:
    """Return the run that the path names with its result, if the viewer may see it.

    Raises:
        HTTPException: 404, it does not exist or the viewer may not see it.
    """
    repository = await repository_of(request)
    issue, number = request.path_params["issue"], request.path_params["run"]
    if max(issue, number) >= _LARGEST:
        raise HTTPException(404)
    found = await site_of(request).store.pages.runs.full(f"{repository.key}#{issue}", number)
    if found is None:
        raise HTTPException(404)
    return found
