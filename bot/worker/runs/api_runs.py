"""Runs that were requested over HTTP: their result goes only into the store, never to GitHub."""

from contextlib import AsyncExitStack, closing

from bot.errors import RateLimitedError, RefusedError
from bot.github.repository import RepositoryClient
from bot.jobs import ApiRun, Job
from bot.observability.logs import add_log_context
from bot.observability.measures import REACHED_LIMITS
from bot.ports import RepositoryRef
from bot.report.comment.markdown import MarkdownRenderer
from bot.report.document import Result, build_result
from bot.runs.code import EngineCode
from bot.runs.context import InMemoryEvidence, configured, run_to_completion
from bot.server.api.models import IssueRun, RunRequest, read_request
from bot.settings.repository import find_config
from bot.worker.tools import Tools
from nodes.brains.calls.budget import PostponedError
from nodes.context.ports import Context, ExternalSources
from nodes.run import initial_state


async def api_run(job: Job, work: ApiRun, ref: RepositoryRef, tools: Tools) -> None:
    """Do a run and store its result; only its row has to be deleted later, because steps stay in memory."""
    add_log_context(run=work.id)
    stored = await tools.store.api_runs.get(work.id)
    if stored is None:
        return await tools.store.jobs.settle(job, "no longer needed")
    try:
        sha, result = await _result(work.id, read_request.validate_json(stored.request), ref, tools)
    except PostponedError as postponed:
        raise RateLimitedError(str(postponed), after=postponed.after, limit="model") from postponed
    return await tools.store.api_runs.settle(work.id, job, sha=sha, result=result.model_dump_json(), fault=None)


async def refuse(job: Job, work: ApiRun, why: str, tools: Tools) -> None:
    """End a run that cannot be done, with the reason."""
    await tools.store.api_runs.settle(work.id, job, result=None, fault=why[:500])


async def _result(number: str, request: RunRequest, ref: RepositoryRef, tools: Tools) -> tuple[str, Result]:
    github = tools.github.for_repository(ref)
    found = await find_config(github, await tools.store.for_repository(ref).config.last_valid())
    if not found.config.enabled:
        raise RefusedError("triage is switched off in the repository's .github/triage.yml")
    (title, body), evidence = await _text(request, github), InMemoryEvidence()
    read = await tools.sources.logs.read(body, allowed=isinstance(request, IssueRun) and found.config.logs)
    async with AsyncExitStack() as stack:
        mirror = await stack.enter_async_context(tools.mirrors.ready(ref, github))
        engine = tools.engines.of(mirror.directory)
        code = stack.enter_context(closing(EngineCode(engine, mirror.sha, found.config.ignore_paths)))
        parts = Context(
            title=title,
            body=read.body,
            code=code,
            evidence=evidence,
            brain=tools.brains.for_run(found.config, tools.budget(f"api:{number}", ref, _count)),
            rules=tools.brains.rules,
            renderer=MarkdownRenderer(server_url=f"https://{ref.host}", repository=f"{ref.owner}/{ref.name}"),
            outside=tools.sources.outside(github.search_issues) if found.config.outside else ExternalSources(),
            attached=read.attached,
        )
        context = configured(parts, found.config)
        name = f"{ref.owner}/{ref.name}"
        sha, outside = mirror.sha, context.outside
        start = initial_state(title, read.body, repository=name, sha=sha, outside=outside, notes=read.notes)
        if request.max_retries is not None:
            start = start.model_copy(update={"max_retries": request.max_retries})
        state = await run_to_completion(context, start)
        result = build_result(state, language=found.config.language)
        return mirror.sha, result.model_copy(update={"gathered": result.numbered(evidence.items)})


async def _count(code: str, _meaning: str) -> None:
    """Count a limit that was reached; no report of the repository shows those that a client of the API reached."""
    REACHED_LIMITS.labels(code).inc()


async def _text(request: RunRequest, github: RepositoryClient) -> tuple[str, str]:
    """Return the title and the body."""
    if not isinstance(request, IssueRun):
        return request.title, request.body
    issue = await github.issue(request.issue)
    if issue is None or issue.is_pull_request:
        raise RefusedError(f"there is no issue #{request.issue}")
    return issue.title, issue.body
