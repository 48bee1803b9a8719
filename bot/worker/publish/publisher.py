"""Publishes the outcome of a run on GitHub: the comment first, then labels and reactions, which matter less."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from bot.limits.ceilings import describe_limit
from bot.limits.writes import FIRST_REPORTS, REPLIES, WHOLE
from bot.ports import Issue, IssueRef, Outcome, Withheld, report_of
from bot.report.comment.known_failure import apply_corrections
from bot.report.comment.state import CommentState, with_state
from bot.report.comment.sticky import answer_reply, fixed_comment, question_reply, report_comment, waiting_comment
from bot.report.comment.thread import REPORT_MARKER, Thread
from bot.report.languages.detect import language_of
from bot.report.record import Record
from bot.report.words import LEAKED
from bot.settings.repository import RepositoryConfig
from bot.store.tables import ReportInputs
from bot.worker.publish.labels import ReportLabels
from bot.worker.publish.target import Target
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
_CARRIED = "carried by the report"


@dataclass(frozen=True, slots=True)
class Published:
    """The result of publishing."""

    state: Literal["posted", "labelled", "dry-run", "quiet", "moved"]
    reason: str = ""
    comment: str = ""
    """The comment's text, even if it was not posted."""
    comment_id: int | None = None
    moved_to: IssueRef | None = None


@dataclass(frozen=True, slots=True)
class Publication:
    """The publication of one step of a run."""

    target: Target
    run: int
    outcome: Outcome
    inputs: ReportInputs
    why: Why = "opened"
    record: Record | None = None
    """Calibration of confidences by the repository's outcomes; None if too few are known."""
    commanded: bool = False
    """A person's command started the run, so a comment of ours that a person deleted is posted again."""
    limited: tuple[str, ...] = ()
    """Codes of limits that were reached in the repository today, if this comment reports them."""
    before: TriageReport | None = None
    """The issue's report before this run; None if there was none."""
    text_hash: str = ""
    first: bool = False
    """A report by rules that a model's report will replace: only the comment is written, no labels or reactions."""

    async def publish(self) -> Published:
        """Read the issue again, then update comment, labels and reactions to match the outcome.

        Raises ``StoppedError``, also if a person deleted our comment; ``JobTakenOverError``; ``RetryableError``, also
        at GitHub's limits; ``RefusedError`` if GitHub refuses the write permanently.
        """
        # Read again, because a run may take minutes: the issue may be closed, locked or moved by now.
        issue = await self.target.github.issue(self.target.ref.number)
        skip_reason = reason_to_skip(issue, self.target.found.config)
        if skip_reason is not None or issue is None:
            return Published("quiet", skip_reason or "")
        if issue.ref.key != self.target.ref.key:
            return Published("moved", moved_to=issue.ref)
        outcome = apply_corrections(self.outcome, self.inputs.relations)
        # The repository may have another name now.
        return await replace(self, outcome=outcome, target=replace(self.target, ref=issue.ref))._write(issue)

    async def _write(self, issue: Issue) -> Published:
        target, mode, report = self.target, self.target.found.config.mode, report_of(self.outcome)
        # Saves one request for most reports, which propose no labels.
        existing = await target.github.repository_labels() if report is not None and report.labels else None
        body = await self._body(issue, existing)
        if mode == "dry-run":
            await target.post_config_faults()
            return Published("dry-run", comment=body)
        posted = await self._comment(issue, body) if mode == "comment" and await self._needs_comment(issue) else None
        # The model's report sets labels and reactions, so that none has to be removed later.
        if self.first:
            return Published("posted", comment=body, comment_id=posted)
        labels = ReportLabels(target, issue, self.inputs.touched, self.inputs.typed, existing)
        await labels.put(Wanted.by(self.outcome, target.found.config, self.inputs.questions))
        if mode == "label":
            return Published("labelled", comment=body)
        if isinstance(self.outcome, Finished):
            await target.want_reaction("rocket")
        await target.add_reactions()
        return Published("posted", comment=body, comment_id=posted)

    async def _needs_comment(self, issue: Issue) -> bool:
        """Return whether the result is worth a comment. An existing comment is always updated."""
        asked, found = self.why in ("command", "redirect", "answer"), self.target.found
        return (
            is_worth_a_comment(self.outcome, found.config, asked=asked or bool(found.faults))
            or (found.config.answer_questions and answers_question(self.outcome, issue))
            or await self.target.effects.comment_id("sticky") is not None
        )

    async def _comment(self, issue: Issue, body: str) -> int:
        target, budget = self.target, FIRST_REPORTS if self.first else WHOLE
        separate = await self._asks_separately()
        # A transferred issue brings its comments along, so search for ours, unless the issue has no comments.
        adopt = issue.comments != 0
        sticky = await target.put(
            "sticky", "", body, begins=REPORT_MARKER, adopt=adopt, repost=self.commanded, budget=budget
        )
        url = f"{issue.url}#issuecomment-{sticky}"
        if separate:
            reply = question_reply(self._thread(issue), separate, url)
            await target.put("question", separate, reply, budget=budget)
        await self._reply_to_answer(issue, url)
        # Recorded after the comment was posted: after a crash in between the next attempt reports the faults again.
        await target.record_faults_reported()
        return sticky

    async def _reply_to_answer(self, issue: Issue, url: str) -> None:
        """Post one reply if an answer changed the finding; the comment that asked was edited, which notifies no one."""
        report = report_of(self.outcome)
        answered = [question.question_id for question in self.inputs.questions if question.state == "answered"]
        if self.why != "answer" or self.first or report is None or not answered:
            return
        reply = answer_reply(self.before, report, self._thread(issue), answered[-1], url)
        if reply:
            await self.target.put("answered", answered[-1], reply, budget=REPLIES)

    async def _asks_separately(self) -> str | None:
        """Return the id of a question that needs its own comment, because GitHub does not notify of an edit; else None.

        A question in a new sticky comment is stored as carried by it before the comment is posted. After a crash in
        between, the next attempt must not mistake that sticky comment for an older one, or it would post the question
        twice.
        """
        if not isinstance(self.outcome, Waiting):
            return None
        effects, question = self.target.effects, self.outcome.exchange.question_id
        known = await effects.get("question", question)
        if known is None and await effects.comment_id("sticky") is None:
            await effects.set_wanted("question", question, _CARRIED, "")
            await effects.record_done("question", question, _CARRIED)
            return None
        return None if known is not None and known.wanted_hash == _CARRIED else question

    async def _body(self, issue: Issue, existing: frozenset[str] | None) -> str:
        thread, report = self._thread(issue, await self.target.config_note()), report_of(self.outcome)
        if isinstance(self.outcome, Waiting):
            return with_state(waiting_comment(self.outcome.state, thread), self._state(None))
        if isinstance(self.outcome, Withheld):
            return fixed_comment(LEAKED, thread)
        if report is None:
            raise ValueError("a finished run has a report")
        body = report_comment(shown_labels(report, self.target.found.config, existing or ()), thread)
        return body if report.kind == "security" else with_state(body, self._state(report))

    def _state(self, report: TriageReport | None) -> CommentState:
        commit = self.outcome.state.sha if isinstance(self.outcome, Waiting | Finished) else ""
        return CommentState.of(report, self.inputs.questions, text_hash=self.text_hash, commit=commit)

    def _thread(self, issue: Issue, config_note: str = "") -> Thread:
        return replace(
            thread_of(issue, self.target.found.config, self.run),
            questions=self.inputs.questions,
            update_reason=_UPDATE_REASONS.get(self.why, ""),
            config_note=config_note,
            limited=tuple(dict.fromkeys(map(describe_limit, self.limited))),
            record=self.record,
            follows=self.first,
        )


def thread_of(issue: Issue, config: RepositoryConfig, run: int = 0) -> Thread:
    """Return the thread of an issue, without questions."""
    reporter_language = language_of(issue.title, issue.body) if config.reporter_language else None
    return Thread(
        number=issue.ref.number,
        run=run,
        server_url=issue.server_url,
        repository=f"{issue.ref.owner}/{issue.ref.name}",
        reporter="" if issue.author_is_bot else issue.author,
        language=config.language,
        reporter_language=reporter_language or "",
    )
