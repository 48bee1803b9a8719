"""Triage an issue against a local clone: the whole graph in one process, resumable after any interruption."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, nullcontext
from functools import partial
from typing import Required, TypedDict, Unpack

from bot.observability.tracing_switch import langsmith_is_on
from bot.report.document import build_result
from bot.report.explain import Account
from bot.report.languages.codes import ENGLISH
from bot.runs.context import configured, withdraw
from bot.runs.logs import LogReader, ReadIssueText
from bot.runs.model import model_settings
from bot.runs.sources import Sources
from bot.settings.environment import Settings
from bot.settings.operator import OperatorConfig
from bot.settings.repository import RepositoryConfig
from bot.store.databases.checkpoints import open_checkpoints
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.runs.rows import LocalRuns
from nodes.brains.calls.models import Models
from nodes.brains.rules import RulesBrain
from nodes.brains.screening import brain_of
from nodes.context.brain import Brain, IssueOrigin
from nodes.context.ports import CodePort, Context, ExternalSources, Listener, PastPort, Renderer
from nodes.graph import build_graph
from nodes.run import Ask, advance, initial_state
from nodes.state import BugTriageState
from nodes.state.checkpoints import SqliteCheckpoints, serializer


class ContextParts(TypedDict, total=False):
    """Parts of the context of a run that a caller may add."""

    renderer: Required[Renderer]
    origin: IssueOrigin | None
    past: PastPort | None
    listener: Listener


async def triage(
    code: CodePort,
    repository: str,
    *,
    title: str,
    body: str,
    settings: Settings,
    operator: OperatorConfig,
    ask: Ask = withdraw,
    language: str = ENGLISH,
    logs: LogReader | None = None,
    **parts: Unpack[ContextParts],
) -> Account:
    """Run the graph to its end and put its questions to the caller; ``Context`` describes the parts of the run.

    An interrupted run resumes after its last finished node; the same repository, commit, issue and brain identify the
    same run. A finished run starts over. ``repository`` identifies the clone: its path, or the repository that it would
    have been cloned from. The data directory of ``settings`` stores the run. ``language`` is that of the comment, and
    of the text that a model writes.
    """
    key = _issue_key(repository, code.sha, title, body, settings.brain, language=language)
    rules = RulesBrain()
    text = await logs.read(body) if logs is not None else ReadIssueText(body)
    given = partial(Context, title=title, body=text.body, attached=text.attached, code=code, **parts)
    async with (
        _open_run(settings, key) as (number, runs, saver),
        open_brain(settings) as brain,
        _outside(settings, operator) as outside,
    ):
        thread = f"{key}:{number}"
        whole = given(evidence=runs.evidence(thread), brain=brain or rules, rules=rules, outside=outside)
        context = configured(whole, RepositoryConfig(language=language, answer_questions=True))
        start = initial_state(title, text.body, repository="", sha=code.sha, outside=outside, notes=text.notes)
        with _tracing(settings):
            state = (await advance(build_graph(saver), context, thread, start, ask)).state
        # After the last checkpoint: a kill before this line resumes the run, and its result is only printed again.
        await runs.finish(key, number)
        await saver.adelete_thread(thread)
        return await _account(number, state, context, settings)


async def _account(number: int, state: BugTriageState, context: Context, settings: Settings) -> Account:
    result = build_result(state, language=context.language)
    gathered = result.numbered(await context.evidence.get(state.evidence))
    return Account(number, context.code.sha, context.brain.name, settings_hash(settings), result, gathered)


def _tracing(settings: Settings) -> AbstractContextManager[object]:
    """Trace the run if a destination is configured. The counters of this process are shown nowhere."""
    if settings.otel_exporter_otlp_endpoint is None and not langsmith_is_on():
        return nullcontext()
    from bot.observability.observer import tracing  # noqa: PLC0415  it imports Prometheus' client, 5 % of a run

    return tracing(settings)


@asynccontextmanager
async def _open_run(settings: Settings, key: str) -> AsyncIterator[tuple[int, LocalRuns, SqliteCheckpoints]]:
    """Open the stores of the data directory, and in them the unfinished run of a key or a new one, by its number."""
    async with aclosing(LocalRuns(SqliteDatabase(settings.triage_data_dir / "store.db"))) as runs:
        number = await runs.open(key)
        async with open_checkpoints(settings.triage_data_dir / "checkpoints.db") as connection:
            yield number, runs, SqliteCheckpoints(connection, serde=serializer())


def _issue_key(repository: str, sha: str, title: str, body: str, brain: str, *, language: str) -> str:
    # English is left out, so that a run which an earlier release began still resumes.
    text = "\x00".join((repository, sha, title, body, brain, *([language] if language != ENGLISH else [])))
    # The prefix separates local runs from the keys of issues on GitHub, which begin with a host.
    return "cli:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def settings_hash(settings: Settings) -> str:
    """Return a hash of the settings that change judgements: the brain, its models and their endpoint."""
    models = (settings.triage_supervisor_model, settings.triage_critic_model, settings.triage_model)
    tiers = (settings.triage_model_simple, settings.triage_model_medium, settings.triage_model_complex)
    # The place of a former setting: without it, stored runs would not be found again.
    of_models = (*models, *tiers, None, settings.openai_base_url) if settings.brain == "llm" else ()
    return hashlib.sha256("\x00".join(map(str, (settings.brain, *of_models))).encode()).hexdigest()[:12]


@asynccontextmanager
async def open_brain(settings: Settings) -> AsyncIterator[Brain | None]:
    """Open the brain of the configured models; None if rules judge."""
    if settings.brain == "rules":
        yield None
        return
    async with aclosing(Models(model_settings(settings))) as models:
        yield brain_of(models)


@asynccontextmanager
async def _outside(settings: Settings, operator: OperatorConfig) -> AsyncIterator[ExternalSources]:
    """Open the outside sources of a local run; GitHub's search needs GITHUB_TOKEN and is left out without it."""
    sources = Sources(operator)
    if settings.github_token is None or not operator.web.github_issues:
        yield sources.outside()
        return
    from bot.runs.remote import opened  # noqa: PLC0415  the import takes half a second and few runs need it

    async with opened("", settings, settings.github_token.get_secret_value()) as client:
        yield sources.outside(client.search_issues)
