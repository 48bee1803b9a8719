"""The App, or a given token: identity, installations and deliveries, and the client for each repository."""

from collections import OrderedDict
from dataclasses import replace
from urllib.parse import quote

import jwt

from bot.errors import BotError, GoneError, UserError
from bot.github.channel import Channel, ResponseCache
from bot.github.repository import RepositoryClient
from bot.github.responses import UndecodableError, expect_shape
from bot.github.session import Session
from bot.github.tokens import READ_CODE, Tokens, find_installation
from bot.github.values import FailedDelivery, InstallationSeen, Json, by_bot, delivery_of, text
from bot.limits.writes import Writes
from bot.ports import RepositoryRef

_PAGE = 100
_RENAMED = 1_000
"""Number of renamed repositories in the cache."""
WORKFLOW = "github-actions[bot]"
"""The login under which a workflow's own token writes."""


class GitHub:
    """One App on one GitHub, shared by the whole process. Close it with ``aclose``."""

    outlives_store = False
    """Whether our comments are all that is left of earlier runs, because the store ends with the process."""

    def __init__(
        self,
        *,
        app_id: str,
        private_key: str,
        writes: Writes,
        api_url: str = "https://api.github.com",
        server_url: str = "https://github.com",
        timeout: float = 10.0,
    ) -> None:
        self._session = Session(app_id=app_id, private_key=private_key, api_url=api_url, timeout=timeout)
        self.tokens = Tokens(self._session)
        self._app_id = app_id
        self._server_url = server_url
        self._logins: set[str] = set()
        """Logins of the App. Only Apps can have a login ``…[bot]``."""
        self._renamed: OrderedDict[str, RepositoryRef] = OrderedDict()
        """Repositories whose name on GitHub differs from that in a delivery."""
        self._writes = writes
        self._cache = ResponseCache()

    def for_repository(self, repository: RepositoryRef) -> RepositoryClient:
        """Return the client for one repository only, under its current name."""
        # GitHub answers a write under an old name with a redirect, which must not be followed with a POST.
        named = self._renamed.get(repository.key)
        if named is not None:
            repository = replace(repository, owner=named.owner, name=named.name, clone_url=named.clone_url)
        channel = Channel(self._session, self.tokens, self._writes, repository, self._cache)
        return RepositoryClient(channel, repository, app=self, server_url=self._server_url)

    @property
    def fault(self) -> str:
        """Why GitHub does not accept the App at present; empty if it does, or was not asked yet."""
        return self._session.app_fault

    async def check_key(self) -> None:
        """Check the private key by signing something, without a request; UserError if it is not a private key."""
        try:
            await self._session.app_authorization()
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise UserError("GITHUB_PRIVATE_KEY: not a private key; use the file that GitHub generated") from error

    async def failed_deliveries(self, since: str) -> list[FailedDelivery]:
        """Return the deliveries since a time whose last attempt failed, oldest first."""
        latest: dict[str, Json] = {}
        deliveries = await self._deliveries(since)
        with expect_shape("a list of deliveries"):
            for delivery in deliveries:
                # GitHub lists the newest first, and a redelivery has the same guid: the first entry of a guid is its
                # last attempt.
                latest.setdefault(text(delivery["guid"]), delivery)
            failed = [d for d in latest.values() if not 200 <= int(d.get("status_code") or 0) < 300]
            return sorted(map(delivery_of, failed), key=lambda delivery: delivery.delivered_at)

    async def redeliver(self, delivery_id: int) -> None:
        """Ask GitHub to send a delivery again."""
        authorization = await self._session.app_authorization()
        await self._session.send("POST", f"/app/hook/deliveries/{delivery_id}/attempts", authorization=authorization)

    async def installation(self, number: int) -> InstallationSeen | None:
        """Return an installation by its id; None if it does not exist."""
        return await find_installation(self._session, f"/app/installations/{number}")

    async def installation_of(self, repository: RepositoryRef) -> InstallationSeen | None:
        """Return the current installation of a repository; None if there is none."""
        owner, name = quote(repository.owner, safe=""), quote(repository.name, safe="")
        return await find_installation(self._session, f"/repos/{owner}/{name}/installation")

    async def load_identity(self) -> None:
        """Ask GitHub once for the App's login, by which its own comments are recognized."""
        if self._logins:
            return
        authorization = await self._session.app_authorization()
        response = (await self._session.send("GET", "/app", authorization=authorization)).object()
        # Without the login our own comments would look like a stranger's, and be posted again.
        if not response.get("slug"):
            raise UndecodableError("GitHub's response is not an App: it has no slug")
        self._app_id = text(response.get("id")) or self._app_id
        self._logins.add(f"{text(response['slug'])}[bot]")

    def learn_identity(self, comment: Json) -> None:
        """Learn the App's login as an author from a comment that it just posted."""
        user = comment.get("user") or {}
        if by_bot(user):
            self._logins.add(text(user.get("login")))

    def record_rename(self, repository: RepositoryRef) -> None:
        """Cache a repository's current name: GitHub redirects calls under the old one, and redirected writes fail."""
        self._renamed[repository.key] = repository
        self._renamed.move_to_end(repository.key)
        while len(self._renamed) > _RENAMED:
            self._renamed.popitem(last=False)

    def is_own_comment(self, comment: Json) -> bool:
        """Return whether a comment is ours, judged by its author and never by its text."""
        via = comment.get("performed_via_github_app") or {}
        user = comment.get("user") or {}
        # Some answers lack ``performed_via_github_app``, so the login counts too. `by_bot` excludes a person of the
        # same name.
        known = text(user.get("login")) in self._logins or str(via.get("id")) == self._app_id
        return known and by_bot(user)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.aclose()

    async def _deliveries(self, since: str) -> list[Json]:
        """Return the deliveries since a time, newest first as GitHub lists them, of at most 50 pages."""
        authorization = await self._session.app_authorization()
        found: list[Json] = []
        cursor: dict[str, str | int] = {}
        # At most 5,000 deliveries, so that a long outage cannot keep this request busy forever.
        for _ in range(50):
            response = await self._session.send(
                "GET", "/app/hook/deliveries", authorization=authorization, params={"per_page": _PAGE, **cursor}
            )
            page = response.objects()
            found += [delivery for delivery in page if text(delivery.get("delivered_at")) >= since]
            next_url = response.next_url
            if not next_url or len(page) == 0 or text(page[-1].get("delivered_at")) < since:
                break
            cursor = {"cursor": next_url.rpartition("cursor=")[2].partition("&")[0]}
        return found


class TokenGitHub(GitHub):
    """Reads and writes as the owner of the token."""

    outlives_store = True

    def __init__(self, token: str, *, api_url: str, server_url: str, writes: Writes | None = None) -> None:
        """Open a session; without ``writes`` every write is refused."""
        writes = writes or Writes()
        super().__init__(app_id="", private_key="", writes=writes, api_url=api_url, server_url=server_url)
        self.tokens = Tokens(self._session, fixed=token)
        self._token = token

    async def check_key(self) -> None:
        """Do nothing: there is no key."""

    async def load_identity(self) -> None:
        """Ask GitHub once for the token's owner. GitHub refuses a workflow's token, so its login is `WORKFLOW`."""
        if self._logins:
            return
        try:
            response = (await self._session.send("GET", "/user", authorization=f"Bearer {self._token}")).object()
            self._logins.add(text(response.get("login")) or WORKFLOW)
        except BotError:
            self._logins.add(WORKFLOW)

    def learn_identity(self, comment: Json) -> None:
        """Learn our login as an author from a comment that was just posted."""
        self._logins.add(text((comment.get("user") or {}).get("login")))

    def is_own_comment(self, comment: Json) -> bool:
        """Return whether a comment is ours, judged by its author and never by its text."""
        login = text((comment.get("user") or {}).get("login"))
        return bool(login) and login in self._logins

    async def failed_deliveries(self, since: str) -> list[FailedDelivery]:  # noqa: ARG002  as above
        """Return an empty list: a token has no deliveries."""
        return []

    async def installation(self, number: int) -> InstallationSeen | None:
        """Return an active installation: a token belongs to none, so it cannot be suspended."""
        return InstallationSeen(number, suspended=False, permissions={})


async def installation_token(full_name: str, *, app_id: str, private_key: str, api_url: str) -> str:
    """Return a token of the App for one repository that it is installed in, to read code and issues.

    Raises:
        GoneError: The App is not installed there.
        BotError: GitHub cannot be reached, or refuses access.
    """
    owner, _, name = full_name.partition("/")
    github = GitHub(app_id=app_id, private_key=private_key, api_url=api_url, writes=Writes())
    try:
        found = await github.installation_of(RepositoryRef("", 0, 0, owner, name))
        if found is None:
            raise GoneError(f"the App is not installed in {full_name}")
        return await github.tokens.get(found.id, (name,), {**READ_CODE, "issues": "read"})
    finally:
        await github.aclose()
