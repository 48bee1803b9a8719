"""The digest as Markdown, bounded in length; titles and messages of other people have no effect in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.ports import UnansweredQuestion
from bot.report.digest import Basis, ChangeBugs, Digest, DuplicateIssue, OpenBug, PlaceBugs
from bot.report.links import Links
from bot.report.sanitise import code, prose
from bot.report.words import count
from nodes.report import SuspectChange

_PLACES, _OF_PLACE, _CHANGES, _QUESTIONS, _DUPLICATES, _NUMBERS = 15, 5, 10, 15, 15, 20
"""Maximum number of entries of each list; the rest is counted."""
_TITLE, _QUESTION, _PATH = 90, 200, 150
"""Maximum number of characters; escaping may triple them."""
_BASIS: dict[Basis, str] = {"claim": "", "facts": "facts, no claim", "first_place": "where to start reading"}
READ_AGAIN = "Each open issue listed here was read again before this was written."
BY_DELIVERIES = "Issues count as open by the last delivery about them."


def digest_marker(week: str) -> str:
    """Return the line by which the digest of a week is found; the week is named by its first day."""
    return f"<!-- triage:digest week={week} -->"


def render_digest(digest: Digest, server_url: str, note: str) -> str:
    """Return the digest.

    Args:
        digest: its content.
        server_url: the server of the links; issues are linked on github.com only.
        note: how it is known which issues are open.
    """
    page = _Page(server_url.rstrip("/"), digest.repository)
    parts = (
        f"**{f'Open bugs, {digest.since} to {digest.until}'}**",
        " ".join(filter(None, _summary(digest))),
        page.section("By place", map(page.place, digest.places), _PLACES),
        page.without_place(digest.without_place),
        page.section("Suspect changes", map(page.change, digest.changes), _CHANGES),
        page.section("Unanswered questions", map(page.question, digest.questions), _QUESTIONS),
        page.section("The same failure", map(page.duplicate, digest.duplicates), _DUPLICATES),
        f"<sub>From automated reports; a maintainer decides. {note}</sub>",
    )
    return "\n\n".join(filter(None, parts)) + "\n"


def _summary(digest: Digest) -> tuple[str, ...]:
    have = (
        f"{count(digest.bugs, 'open bug has', 'open bugs have')} a report, {digest.new} of them since {digest.since}."
    )
    closed = f"Closed since then: {count(digest.closed, 'issue')} with a report." if digest.closed else ""
    older = f"{count(digest.not_read, 'older report is', 'older reports are')} not listed." if digest.not_read else ""
    return have, closed, older


class _Page:
    """The lines of the lists, for one repository; no colon follows a title, which may end like half an emoji code."""

    def __init__(self, server_url: str, repository: str) -> None:
        self._server_url = server_url
        self._repository = repository

    def section(self, title: str, lines: Iterable[str], most: int) -> str:
        listed = list(lines)
        if not listed:
            return ""
        more = [f"- {len(listed) - most} more"] if len(listed) > most else []
        return "\n".join((f"**{title}**", "", *listed[:most], *more))

    def place(self, place: PlaceBugs) -> str:
        shown = code(_tail(place.path))
        links = Links(self._server_url, self._repository, place.commit)
        # A longer path would make the address longer than all else together.
        short = len(place.path) <= _PATH
        address = links.lines(place.path, place.line, place.end_line, place.commit) if short else None
        symbol = f" {code(place.symbol[:_TITLE])}" if place.symbol else ""
        bugs = [f"  - {self._bug(bug)}" for bug in place.bugs[:_OF_PLACE]]
        more = [f"  - {len(place.bugs) - _OF_PLACE} more"] if len(place.bugs) > _OF_PLACE else []
        return "\n".join((f"- {f'[{shown}]({address})' if address else shown}{symbol}", *bugs, *more))

    def without_place(self, bugs: Sequence[OpenBug]) -> str:
        return f"No place is stated for {self._numbers([bug.number for bug in bugs])}." if bugs else ""

    def change(self, change: ChangeBugs) -> str:
        link = Links(self._server_url, self._repository, change.sha).change(SuspectChange(sha=change.sha, title=""))
        day = f", {prose(change.day)}" if change.day else ""
        suspected = f"suspected in {self._numbers(change.bugs)}"
        return f"- {link} {prose(change.title[:_TITLE])}{day}; {suspected}"

    def question(self, waiting: UnansweredQuestion) -> str:
        since = count(waiting.days, "day") if waiting.days else "less than a day"
        without = ", report written without an answer" if waiting.expired else ""
        title, asked = prose(waiting.title[:_TITLE]), prose(waiting.question[:_QUESTION])
        return f"- {self._issue(waiting.number)} {title} — {asked} (*{since}{without}*)"

    def duplicate(self, one: DuplicateIssue) -> str:
        how = "is the same, as a maintainer said" if one.confirmed else "may be the same"
        relation = f"{self._issue(one.of)} {how}"
        return f"- {self._issue(one.number)} {prose(one.title[:_TITLE])} — {relation}"

    def _bug(self, bug: OpenBug) -> str:
        named = ("new report" if bug.new else "", _BASIS[bug.basis or "claim"])
        notes = ", ".join(filter(None, named))
        return f"{self._issue(bug.number)} {prose(bug.title[:_TITLE])}{f' (*{notes}*)' if notes else ''}"

    def _numbers(self, numbers: Sequence[int]) -> str:
        more = f" and {len(numbers) - _NUMBERS} more" if len(numbers) > _NUMBERS else ""
        return ", ".join(map(self._issue, numbers[:_NUMBERS])) + more

    def _issue(self, number: int) -> str:
        """Return an issue; a live reference would write into its history each week."""
        # GitHub documents this host for links without a reference back; other servers have no such host.
        if self._server_url == "https://github.com":
            return f"[{code(f'#{number}')}](https://redirect.github.com/{self._repository}/issues/{number})"
        return code(f"#{number}")


def _tail(path: str) -> str:
    """Return the end of a long path, which is more specific than its beginning."""
    return path if len(path) <= _PATH else f"…{path[-_PATH:]}"
