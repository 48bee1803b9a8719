"""Publishes the outcome of a run on GitHub: the comment first, then labels and reactions, which matter less."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from bot.github.repository import RepositoryClient
from bot.limits.ceilings import describe_limit
from bot.limits.writes import FIRST_REPORTS, REPLIES, WHOLE, WriteBudget
from bot.ports import AskedQuestion, Issue, IssueRef, Outcome, OwnerCheck, Relation, RepositoryRef, Withheld
from bot.report.comment.known_failure import apply_corrections
from bot.report.comment.notices import answer_reply
from bot.report.comment.state import CommentState, with_state
from bot.report.comment.sticky import fixed_comment, question_reply, report_comment, waiting_comment
from bot.report.comment.thread import REPORT_MARKER, Thread, marker
from bot.report.languages.detect import language_of
from bot.report.record import Record
from bot.report.words import LEAKED
from bot.settings.repository import RepositoryConfig
from bot.settings.repository_file import FoundConfig
from bot.store.effects import Effects
from bot.worker.publish.labels import Lacks, ReportLabels, log_missing
from bot.worker.publish.poster import ConfigFaults, Poster, Reactions, utc_now
from bot.worker.publish.wanted import Wanted, answers_question, is_worth_a_comment, reason_to_skip, shown_labels
from nodes.report import TriageReport
from nodes.search.sentences import say
from nodes.state import Finished, Waiting

Why = Literal["opened", "reopened", "edited", "answer", "expired", "redirect", "command", "backfill", "restart"]
_UPDATE_REASONS: Final[dict[Why, str]] = {
    "reopened": say("Updated because the issue was reopened."),
    "edited": say("Updated because the issue was edited."),
    "answer": say("Updated after an answer."),
    "expired": say("Updated without an answer."),
    "redirect": say("Updated after a redirect."),
}
_SERVER = re.compile(r"(https?://[\w.:-]{1,255})/")
_CARRIED = "carried by the report"


@dataclass(frozen=True, slots=True)
class Publication:
    """The data that one step of a run publishes."""

    ref: IssueRef
    run: int
    outcome: Outcome
    found: FoundConfig
    questions: tuple[AskedQuestion, ...] = ()
    """All questions that were asked on the issue, the open one included."""
    touched: Iterable[str] = ()
    typed: bool = False
    why: Why = "opened"
    relations: tuple[Relation, ...] = ()
    """Duplicates that people confirmed or denied."""
    record: Record | None = None
    """Calibration of confidences by the repository's outcomes; None if too few are known."""
    commanded: bool = False
    """A person's command started the run, so a comment of ours that a person deleted is posted again."""
    limited: tuple[str, ...] = ()
    """Codes of limits that were reached in the repository today, if this comment reports them."""
    before: TriageReport | None = None
    """The issue's report before this run; None if there was none."""
    text_hash: str = ""
    """Hash of the title and body that the run read."""
    first: bool = False
    """A report by rules that a model's report will replace: only the comment is written, no labels or reactions."""


@dataclass(frozen=True, slots=True)
class Published:
    """The result of publishing."""

    state: Literal["posted", "labelled", "dry-run", "quiet", "moved"]
    reason: str = ""
    """The reason why nothing was written."""
    comment: str = ""
    """The comment's text, even if it was not posted."""
    comment_id: int | None = None
    moved_to: IssueRef | None = None


@dataclass(frozen=True, slots=True)
class Publisher:
    """Writes for one job. The owner check precedes every write.

    Every operation may be repeated from its start, after any failure and by another process.
    """

    github_for: Callable[[RepositoryRef], RepositoryClient]
    effects: Effects
    owner_check: OwnerCheck
    now: Callable[[], datetime] = field(default=utc_now)
    lacks: Lacks = log_missing

    async def publish(self, publication: Publication) -> Published:
        """Read the issue again, then update comment, labels and reactions to match the outcome.

        Raises:
            StoppedError: A person stopped triage, or deleted our comment.
            JobTakenOverError: Another attempt owns the job.
            RetryableError: GitHub cannot be reached, or its limits ask to wait.
            RefusedError: GitHub refuses the write permanently.
        """
        # Read again, because a run may take minutes: the issue may be closed, locked or moved by now.
        issue = await self.github_for(publication.ref.repository).issue(publication.ref.number)
        skip_reason = reason_to_skip(issue, publication.found.config)
        if skip_reason is not None or issue is None:
            return Published("quiet", skip_reason or "")
        if issue.ref.key != publication.ref.key:
            return Published("moved", moved_to=issue.ref)
        return await self._write(publication, issue)

    def poster(self, ref: IssueRef, budget: WriteBudget = WHOLE) -> Poster:
        """Return the comments on an issue."""
        return Poster(self.github_for(ref.repository), self.effects, ref, self.owner_check, self.now, budget)

    def reactions(self, ref: IssueRef, found: FoundConfig) -> Reactions:
        """Return the reactions on an issue and its comments."""
        allowed = found.config.mode == "comment" and found.config.enabled
        return Reactions(self.github_for(ref.repository), self.effects, ref, self.owner_check, allowed=allowed)

    async def _write(self, publication: Publication, issue: Issue) -> Published:
        mode, github = publication.found.config.mode, self.github_for(issue.ref.repository)
        publication = replace(publication, outcome=apply_corrections(publication.outcome, publication.relations))
        report = publication.outcome.state.report if isinstance(publication.outcome, Finished) else None
        # Saves one request for most reports, which propose no labels.
        existing = await github.repository_labels() if report is not None and report.labels else None
        body = await self._body(publication, issue, existing)
        if mode == "dry-run":
            await self._config_faults(publication).post(self.poster(issue.ref))
            return Published("dry-run", comment=body)
        has_comment = mode == "comment" and await self._needs_comment(publication, issue)
        posted = await self._comment(publication, issue, body) if has_comment else None
        # The model's report sets labels and reactions, so that none has to be removed later.
        if publication.first:
            return Published("posted", comment=body, comment_id=posted)
        labels = ReportLabels(github, self.effects, self.owner_check, self.lacks)
        await labels.put(
            Wanted.by(publication.outcome, publication.found.config, publication.questions),
            issue,
            publication.touched,
            existing,
            typed=publication.typed,
        )
        if mode == "label":
            return Published("labelled", comment=body)
        reactions = self.reactions(issue.ref, publication.found)
        if isinstance(publication.outcome, Finished):
            await reactions.react("rocket")
        await reactions.catch_up()
        return Published("posted", comment=body, comment_id=posted)

    async def _needs_comment(self, publication: Publication, issue: Issue) -> bool:
        """Return whether the result is worth a comment. An existing comment is always updated."""
        asked, config = publication.why in ("command", "redirect", "answer"), publication.found.config
        if is_worth_a_comment(publication.outcome, config, asked=asked or bool(publication.found.faults)):
            return True
        if config.answer_questions and answers_question(publication.outcome, issue):
            return True
        sticky = await self.effects.get(publication.ref.key, "sticky")
        return sticky is not None and sticky.github_id is not None

    async def _comment(self, publication: Publication, issue: Issue, body: str) -> int:
        poster = self.poster(issue.ref, FIRST_REPORTS if publication.first else WHOLE)
        separate = await self._asks_separately(publication)
        # A transferred issue brings its comments along, so search for ours, unless the issue has no comments.
        sticky = await poster.put(
            "sticky", "", REPORT_MARKER, body, adopt=issue.comments != 0, repost=publication.commanded
        )
        if separate:
            reply = question_reply(_thread(publication, issue), separate, f"{issue.url}#issuecomment-{sticky}")
            await poster.put("question", separate, marker("question", separate), reply)
        await self._reply_to_answer(publication, issue, poster, f"{issue.url}#issuecomment-{sticky}")
        # Recorded after the comment was posted: after a crash in between the next attempt reports the faults again.
        await self._config_faults(publication).record_reported()
        return sticky

    def _config_faults(self, publication: Publication) -> ConfigFaults:
        return ConfigFaults(self.effects, publication.ref, publication.found)

    async def _reply_to_answer(self, publication: Publication, issue: Issue, poster: Poster, url: str) -> None:
        """Post one reply if an answer changed the finding; the comment that asked was edited, which notifies no one."""
        state = publication.outcome.state if isinstance(publication.outcome, Finished) else None
        answered = [question for question in publication.questions if question.state == "answered"]
        if publication.why != "answer" or publication.first or state is None or state.report is None or not answered:
            return
        asked = answered[-1].question_id
        reply = answer_reply(publication.before, state.report, _thread(publication, issue), asked, url)
        if reply:
            await replace(poster, budget=REPLIES).put("answered", asked, marker("answered", asked), reply)

    async def _asks_separately(self, publication: Publication) -> str | None:
        """Return the id of a question that needs its own comment, because GitHub does not notify of an edit; else None.

        A question in a new sticky comment is stored as carried by it before the comment is posted. After a crash in
        between, the next attempt must not mistake that sticky comment for an older one, or it would post the question
        twice.
        """
        if not isinstance(publication.outcome, Waiting):
            return None
        key, question = publication.ref.key, publication.outcome.exchange.question_id
        known, sticky = await self.effects.get(key, "question", question), await self.effects.get(key, "sticky")
        if known is None and (sticky is None or sticky.github_id is None):
            await self.effects.set_wanted(key, "question", question, _CARRIED, "")
            await self.effects.record_done(key, "question", question, _CARRIED)
            return None
        return None if known is not None and known.wanted_hash == _CARRIED else question

    async def _body(self, publication: Publication, issue: Issue, existing: frozenset[str] | None) -> str:
        thread = _thread(publication, issue, await self._config_faults(publication).note())
        outcome = publication.outcome
        if isinstance(outcome, Waiting):
            return with_state(waiting_comment(outcome.state, thread), _state(publication, None))
        if isinstance(outcome, Withheld):
            return fixed_comment(LEAKED, thread)
        if not isinstance(outcome, Finished) or outcome.state.report is None:
            raise ValueError("a finished run has a report")
        report = outcome.state.report
        body = report_comment(shown_labels(report, publication.found.config, existing or ()), thread)
        return body if report.kind == "security" else with_state(body, _state(publication, report))


def _state(publication: Publication, report: TriageReport | None) -> CommentState:
    outcome = publication.outcome
    commit = outcome.state.sha if isinstance(outcome, Waiting | Finished) else ""
    return CommentState.of(report, publication.questions, text_hash=publication.text_hash, commit=commit)


def thread_of(issue: Issue, config: RepositoryConfig, run: int = 0) -> Thread:
    """Return the thread of an issue, without questions."""
    server = _SERVER.match(issue.url)
    reporter_language = language_of(issue.title, issue.body) if config.reporter_language else None
    return Thread(
        number=issue.ref.number,
        run=run,
        server_url=server[1] if server else f"https://{issue.ref.host}",
        repository=f"{issue.ref.owner}/{issue.ref.name}",
        reporter="" if issue.author_is_bot else issue.author,
        language=config.language,
        reporter_language=reporter_language or "",
    )


def _thread(publication: Publication, issue: Issue, config_note: str = "") -> Thread:
    return replace(
        thread_of(issue, publication.found.config, publication.run),
        questions=publication.questions,
        update_reason=_UPDATE_REASONS.get(publication.why, ""),
        config_note=config_note,
        limited=tuple(dict.fromkeys(map(describe_limit, publication.limited))),
        record=publication.record,
        follows=publication.first,
    )
