"""Access to the repository's code for a run: open its commit, and verify facts before they are published."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing

from bot import errors
from bot.observability.measures import REACHED_LIMITS
from bot.ports import Issue, Outcome, report_of
from bot.report.comment.markdown import MarkdownRenderer
from bot.runs.code import EngineCode, NoCode
from bot.runs.fetching import ForbiddenError
from bot.store.runs.rows import ListedRun
from bot.worker.issue_job import CurrentIssue, IssueJob
from nodes.agents.writing.statement import without_facts
from nodes.context.ports import CodePort
from nodes.state import Finished

_TRIES_TO_READ = 5
"""Attempts, over half a minute, before a repository that refuses access is reported on without its code."""
_MAX_LATE_ATTEMPTS = 2
"""Attempts that exceeded the deadline, after which the next one reports without reading the code."""


@asynccontextmanager
async def open_code(issue_job: IssueJob, seen: CurrentIssue, run: ListedRun) -> AsyncIterator[CodePort]:
    """Open the repository at the run's commit; if it cannot be read, yield `NoCode`, so that a report is still written.

    Raises:
        SuspendedError: The installation is suspended.
        ForbiddenError: GitHub refuses access, and too few attempts were made to give up.
        RetryableError: git finds no commit although GitHub has some.
    """
    config = seen.found.config
    if issue_job.job.late >= _MAX_LATE_ATTEMPTS:
        issue_job.log("code_not_readable", "reading the code timed out twice")
        yield NoCode()
        return
    async with AsyncExitStack() as stack:
        try:
            mirrors, repository = issue_job.tools.mirrors, issue_job.ref.repository
            mirror = await stack.enter_async_context(mirrors.ready(repository, issue_job.github))
        except errors.SuspendedError:
            raise
        except (errors.RefusedError, ForbiddenError) as error:
            # GitHub answers git with 403 for a limit as well as for a refusal, so only a repeated one counts.
            if isinstance(error, ForbiddenError) and issue_job.job.tried < _TRIES_TO_READ:
                raise
            # git mistakes a proxy's page for an empty repository, so GitHub's API is asked too.
            if isinstance(error, errors.GoneError) and not await issue_job.github.is_empty():
                raise errors.RetryableError("git found no commit, but GitHub has some") from error
            issue_job.log("code_not_readable", str(error))
            if isinstance(error, errors.MissingPermissionError):
                await issue_job.record_missing_permission(error)
            yield NoCode.because(error)
            return
        # A force push leaves the old object in the mirror for a while, so the branch must reach the commit.
        sha = run.sha if run.sha and await mirror.contains(run.sha) else mirror.sha
        engine = issue_job.tools.engines.of(mirror.directory)
        yield stack.enter_context(closing(EngineCode(engine, sha, config.ignore_paths)))


async def recheck_facts(
    issue_job: IssueJob, seen: CurrentIssue, outcome: Outcome, code: CodePort, body: str
) -> Outcome:
    """Drop facts that no longer hold, since a run may wait for days; ``body`` includes attached logs."""
    report = report_of(outcome)
    if not isinstance(outcome, Finished) or report is None or not report.facts or not isinstance(code, EngineCode):
        return outcome
    # The text must be the one in which the run searched for facts: the issue with redirects and answers.
    state = outcome.state
    answers = (exchange.answer or "" for exchange in state.human_exchanges)
    text = "\n".join((seen.issue.title, body, *state.redirect_instructions, *answers))
    invalid = await code.invalid_facts(report.facts, text)
    if not invalid:
        return outcome
    issue_job.log("facts_dropped", f"{len(invalid)} of {len(report.facts)} facts no longer hold")
    plain = without_facts(report, invalid)
    renderer = renderer_for(seen.issue)
    drafts = {"github_comment": renderer.comment(plain, seen.found.config.language), "ticket": renderer.ticket(plain)}
    return Finished(state.model_copy(update={"report": plain.model_copy(update=drafts)}))


async def note_shortfalls(issue_job: IssueJob, code: CodePort) -> None:
    """Record which limits left files unread because the repository is too large; a later report states it once."""
    for limit in code.unreported_limits() if isinstance(code, EngineCode) else ():
        REACHED_LIMITS.labels(limit).inc()
        await issue_job.store.repository.limited.note(limit)


def renderer_for(issue: Issue) -> MarkdownRenderer:
    """Build the renderer of the comment and the ticket, with links to the issue's own server and repository."""
    return MarkdownRenderer(server_url=issue.server_url, repository=f"{issue.ref.owner}/{issue.ref.name}")
