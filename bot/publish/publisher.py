"""What a run came to is put on GitHub: the comment first, then what is less."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from bot.ceilings import explained
from bot.limits import FIRST_REPORTS, WHOLE
from bot.ports import (
    AskedQuestion,
    EffectsPort,
    Finished,
    GitHubPort,
    Issue,
    IssueRef,
    Outcome,
    OwnerCheck,
    Relation,
    RepositoryRef,
    Stopped,
    Waiting,
    Withheld,
)
from bot.publish.labels import shown_labels, wanted_labels
from bot.publish.later import Lacks, ReportLabels, log_missing
from bot.publish.once import Poster, utc_now
from bot.publish.quiet import reason_to_be_quiet
from bot.publish.reactions import Reactions
from bot.publish.relations import as_people_say
from bot.publish.worth import is_worth_a_comment
from bot.repo_config import PATH, FoundConfig
from bot.report.record import Record
from bot.report.sanitise import prose
from bot.report.sticky import question_reply, report_comment, waiting_comment, withheld_comment
from bot.report.thread import REPORT_MARKER, Thread, question_marker

Why = Literal["opened", "reopened", "edited", "answer", "expired", "redirect", "command", "backfill", "restart"]
_NEWS: Final[dict[Why, str]] = {
    "reopened": "since the issue was opened again",
    "edited": "since the issue was edited",
    "answer": "after an answer",
    "expired": "without an answer",
    "redirect": "after a redirect",
}
_SERVER = re.compile(r"(https?://[\w.:-]{1,255})/")


@dataclass(frozen=True, slots=True)
class Publication:
    """What one step of a run wants to be seen."""

    ref: IssueRef
    run: int
    outcome: Outcome
    found: FoundConfig
    questions: tuple[AskedQuestion, ...] = ()
    """All that were put on the issue, the waiting one among them."""
    touched: Iterable[str] = ()
    """Labels that a person put on or took off."""
    why: Why = "opened"
    relations: tuple[Relation, ...] = ()
    """Duplicates that people named or denied."""
    record: Record | None = None
    """What confidences were worth in the repository; None where too little is known."""
    commanded: bool = False
    """A person's command asks for it: a comment of ours that was deleted is posted anew."""
    limited: tuple[str, ...] = ()
    """Limits that were met in the repository today, by code, where this comment is to tell of them."""
    first: bool = False
    """A report by rules that a model's report will replace: only the comment is written."""


@dataclass(frozen=True, slots=True)
class Published:
    """What became of it."""

    state: Literal["posted", "labelled", "dry-run", "quiet", "moved"]
    reason: str = ""
    """Why nothing was said."""
    comment: str = ""
    """The text, also where it was not posted."""
    comment_id: int | None = None
    moved_to: IssueRef | None = None


@dataclass(frozen=True, slots=True)
class Publisher:
    """Writes for one job; every write is preceded by the owner check.

    Everything it does may be begun again from the start, after any failure and by another process.
    """

    github_for: Callable[[RepositoryRef], GitHubPort]
    effects: EffectsPort
    owner_check: OwnerCheck
    now: Callable[[], datetime] = field(default=utc_now)
    lacks: Lacks = log_missing

    async def publish(self, given: Publication) -> Published:
        """Read the issue once more, then bring comment, labels and reactions to what the outcome asks for.

        Raises:
            StoppedError: a person said stop, or deleted our comment.
            NotOursError: another attempt has the job.
            RetryableError: later.
            RefusedError: GitHub does not take it, and will not.
        """
        if isinstance(given.outcome, Stopped):
            return Published("quiet", given.outcome.reason)
        issue = await self.github_for(given.ref.repository).issue(given.ref.number)
        quiet = reason_to_be_quiet(issue, given.found.config)
        if quiet is not None or issue is None:
            return Published("quiet", quiet or "")
        if issue.ref.key != given.ref.key:
            return Published("moved", moved_to=issue.ref)
        return await self._write(given, issue)

    def reactions(self, ref: IssueRef, found: FoundConfig) -> Reactions:
        """The reactions on an issue and its comments."""
        allowed = found.config.mode == "comment" and found.config.enabled
        return Reactions(self.github_for(ref.repository), self.effects, ref, self.owner_check, allowed=allowed)

    async def _write(self, given: Publication, issue: Issue) -> Published:
        mode, github = given.found.config.mode, self.github_for(issue.ref.repository)
        given = replace(given, outcome=as_people_say(given.outcome, given.relations))
        existing = await github.repository_labels() if _proposes_labels(given) else None
        body = await self._body(given, issue, existing)
        if mode == "dry-run":
            await self._tell_faults(given, issue, github)
            return Published("dry-run", comment=body)
        speaks = mode == "comment" and await self._speaks(given)
        posted = await self._comment(given, issue, github, body) if speaks else None
        if given.first:
            return Published("posted", comment=body, comment_id=posted)
        labels = ReportLabels(github, self.effects, self.owner_check, self.lacks)
        await labels.put(wanted_labels(given.outcome, given.found.config), issue, given.touched, existing)
        if mode == "label":
            return Published("labelled", comment=body)
        reactions = self.reactions(issue.ref, given.found)
        if isinstance(given.outcome, Finished):
            await reactions.leave("rocket")
        await reactions.catch_up()
        return Published("posted", comment=body, comment_id=posted)

    async def _speaks(self, given: Publication) -> bool:
        """Whether the result is worth a comment; one that stands already is kept up to date."""
        asked = given.why in ("command", "redirect", "answer") or bool(given.found.faults)
        if is_worth_a_comment(given.outcome, given.found.config, asked=asked):
            return True
        sticky = await self.effects.get(given.ref.key, "sticky")
        return sticky is not None and sticky.github_id is not None

    async def _comment(self, given: Publication, issue: Issue, github: GitHubPort, body: str) -> int:
        share = FIRST_REPORTS if given.first else WHOLE
        poster = Poster(github, self.effects, issue.ref, self.owner_check, self.now, share)
        separate = await self._asks_separately(given)
        # Where there is no comment, none of ours is among them; a transferred issue brings its comments along.
        sticky = await poster.put("sticky", "", REPORT_MARKER, body, adopt=issue.comments != 0, anew=given.commanded)
        if separate:
            reply = question_reply(_thread(given, issue), separate, f"{issue.url}#issuecomment-{sticky}")
            await poster.put("question", separate, question_marker(separate), reply)
        if given.found.faults:
            await self.effects.done(_config_key(given), "config", given.found.digest, given.ref.key)
        return sticky

    async def _asks_separately(self, given: Publication) -> str | None:
        """The id of a question that an edit of the sticky would tell nobody of.

        A question that comes with the sticky's creation is noted as carried by it before the sticky is posted: after
        a crash in between, the sticky that is then found must not be taken for an older one.
        """
        if not isinstance(given.outcome, Waiting):
            return None
        key, question = given.ref.key, given.outcome.exchange.question_id
        known, sticky = await self.effects.get(key, "question", question), await self.effects.get(key, "sticky")
        if known is None and (sticky is None or sticky.github_id is None):
            await self.effects.want(key, "question", question, _CARRIED, "")
            await self.effects.done(key, "question", question, _CARRIED)
            return None
        return None if known is not None and known.wanted_hash == _CARRIED else question

    async def _body(self, given: Publication, issue: Issue, existing: frozenset[str] | None) -> str:
        thread = _thread(given, issue, await self._config_note(given))
        outcome = given.outcome
        if isinstance(outcome, Waiting):
            return waiting_comment(outcome.state, thread)
        if isinstance(outcome, Withheld):
            return withheld_comment(thread)
        if not isinstance(outcome, Finished) or outcome.state.report is None:
            raise ValueError("a finished run has a report")
        return report_comment(shown_labels(outcome.state.report, given.found.config, existing or ()), thread)

    async def _config_note(self, given: Publication) -> str:
        """The faults of the configuration, in the first comment after they came up and in no other."""
        if given.found.config.mode != "comment" or not await self._is_first_to_tell(given):
            return ""
        return f"{_faults(given.found)} Until it is mended the last valid version holds."

    async def _tell_faults(self, given: Publication, issue: Issue, github: GitHubPort) -> None:
        """Where nothing can be written for the faults alone, one comment in the repository says so."""
        if not given.found.may_tell or not await self._is_first_to_tell(given):
            return
        marker = f"<!-- triage:config {given.found.digest} -->"
        said = f"For maintainers: {_faults(given.found)} Until it is mended triage writes nothing else here."
        poster = Poster(github, self.effects, issue.ref, self.owner_check, self.now)
        await poster.put("config", given.found.digest, marker, f"{marker}\n\n{said}\n")
        await self.effects.done(_config_key(given), "config", given.found.digest, given.ref.key)

    async def _is_first_to_tell(self, given: Publication) -> bool:
        """Is it this issue's comment in which the faults are told?"""
        if not given.found.faults:
            return False
        told = await self.effects.claim(_config_key(given), "config", given.found.digest, given.ref.key)
        return told.payload == given.ref.key


def _proposes_labels(given: Publication) -> bool:
    report = given.outcome.state.report if isinstance(given.outcome, Finished) else None
    return report is not None and bool(report.labels)


_CARRIED = "carried by the report"


def _faults(found: FoundConfig) -> str:
    """The first few, each with its line."""
    said = "; ".join(prose(str(fault)) for fault in found.faults[:3])
    return f"`{PATH}`, {said}{'' if said.endswith('?') else '.'}"


def _config_key(given: Publication) -> str:
    """An issue that there never is stands for the repository."""
    return f"{given.ref.repository.key}#0"


def _thread(given: Publication, issue: Issue, config_note: str = "") -> Thread:
    server = _SERVER.match(issue.url)
    return Thread(
        number=issue.ref.number,
        run=given.run,
        server_url=server[1] if server else f"https://{issue.ref.host}",
        repository=f"{issue.ref.owner}/{issue.ref.name}",
        reporter="" if issue.author_is_bot else issue.author,
        questions=given.questions,
        news=_NEWS.get(given.why, ""),
        config_note=config_note,
        limited=tuple(dict.fromkeys(map(explained, given.limited))),
        suspects=given.found.config.limits.suspects,
        record=given.record,
        follows=given.first,
    )
