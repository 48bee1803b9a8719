"""One step of a run: advance it from its checkpoint until it waits or ends, publish the outcome, settle the job."""

from __future__ import annotations

from bot.observability.logs import add_log_context
from bot.ports import Issue, Withheld
from bot.store.runs import Origin, Run
from bot.worker.issue_job import CurrentIssue, IssueJob, body_hash
from bot.worker.past import start_learning
from bot.worker.runs.code import note_shortfalls, open_code, recheck_facts
from bot.worker.runs.conclude import conclude
from bot.worker.runs.graph import UnresumableError, run_graph
from nodes.context import CodePort
from nodes.trust.secrets import holds_token, mask

STORED_TEXT = 20_000
"""Characters of an issue's text that are stored for the page of its run."""


async def step(issue_job: IssueJob, seen: CurrentIssue, run: Run) -> None:
    """Advance a run until it waits or ends, publish the outcome and settle the job."""
    add_log_context(run=run.number)
    # Before the code is opened and a model is called: nothing may quote the secret.
    if holds_token(f"{seen.issue.title}\n{seen.issue.body}"):
        await _withhold(issue_job, seen, run)
        return
    await start_learning(issue_job, seen.found.config)
    async with open_code(issue_job, seen, run) as code:
        try:
            run = await _pin(issue_job, seen, run, code)
            outcome = await run_graph(issue_job, seen, run, code)
        except UnresumableError as error:
            issue_job.log("run_begun_anew", str(error))
            # Once only: if the new run cannot be resumed either, the job fails and is retried.
            run = await _pin(issue_job, seen, await issue_job.store.runs.give_up(run.number), code)
            outcome = await run_graph(issue_job, seen, run, code)
        outcome = await recheck_facts(issue_job, seen, outcome, code)
        await note_shortfalls(issue_job, code)
    await conclude(issue_job, seen, run, outcome)


async def _withhold(issue_job: IssueJob, seen: CurrentIssue, run: Run) -> None:
    """End the run without analysis, because the issue shows a secret. An edit of the issue starts triage again."""
    await issue_job.store.runs.pin(
        run.number, sha="", brain="rules", config_hash="", body_hash=body_hash(seen.issue), title=_title(seen.issue)
    )
    await conclude(issue_job, seen, run, Withheld())


async def _pin(issue_job: IssueJob, seen: CurrentIssue, run: Run, code: CodePort) -> Run:
    """Record the commit, the brain and the configuration that the run uses.

    Raises:
        UnresumableError: The commit that the run began with is gone.
    """
    if run.sha and run.sha != code.sha:
        raise UnresumableError(f"commit {run.sha[:12]} is gone")
    await issue_job.store.runs.pin(
        run.number,
        sha=code.sha,
        brain=issue_job.tools.brains.for_run(seen.found.config).name,
        config_hash=seen.found.digest,
        body_hash=body_hash(seen.issue),
        title=_title(seen.issue),
        origin=_origin(seen),
    )
    return run


def _origin(seen: CurrentIssue) -> Origin:
    """Return the issue's text for the page of the run, and what began the run."""
    return Origin(mask(seen.issue.body)[:STORED_TEXT], seen.issue.author, seen.why, seen.asked_by, seen.asked_in)


def _title(issue: Issue) -> str:
    """Return the title for pages and their search: secrets masked, at most 300 characters."""
    return " ".join(mask(issue.title).split())[:300]
