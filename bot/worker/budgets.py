"""Who pays for what: the operator's ceilings and a repository's, as scopes in which something is counted."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ceilings import (
    AuthorCeiling,
    Ceiling,
    Prices,
    Scope,
    day_of,
    hour_of,
    read_author_ceiling,
    read_ceiling,
    read_prices,
)
from bot.limits import installation_key
from bot.ports import Issue, RepositoryRef
from bot.repo_config import RepositoryConfig
from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class Budgets:
    """What the operator allows."""

    run: Ceiling
    repository: Ceiling
    installation: Ceiling
    everything: Ceiling
    author: AuthorCeiling
    prices: Prices

    @classmethod
    def of(cls, settings: Settings) -> Budgets:
        """As the settings say."""
        return cls(
            run=read_ceiling(settings.triage_limits_run),
            repository=read_ceiling(settings.triage_limits_repository),
            installation=read_ceiling(settings.triage_limits_installation),
            everything=read_ceiling(settings.triage_limits_all),
            author=read_author_ceiling(settings.triage_limits_author),
            prices=read_prices(settings.triage_prices),
        )

    def day(self, ref: RepositoryRef, config: RepositoryConfig, now: float) -> tuple[Scope, ...]:
        """What a day's spending in a repository is counted in; where nothing is limited, in the repository alone."""
        today = day_of(now)
        scopes = (
            Scope("repository", ref.key, today, self.repository.lowered(_of(config))),
            Scope("installation", installation_key(ref.host, ref.installation_id), today, self.installation),
            Scope("all", "", today, self.everything),
        )
        return tuple(scope for scope in scopes if scope.ceiling or scope.kind == "repository")

    def writer(self, issue: Issue, config: RepositoryConfig, now: float) -> tuple[Scope, ...]:
        """What a look at an issue is counted in for whoever wrote it."""
        if issue.author_id is None:
            return ()
        day = Ceiling(issues=self.author.day).lowered(Ceiling(issues=config.limits.issues_per_author))
        periods = ((hour_of(now), Ceiling(issues=self.author.hour)), (day_of(now), day))
        key = author_key(issue.ref.repository, issue.author_id)
        return tuple(Scope("author", key, period, ceiling) for period, ceiling in periods if ceiling)

    def answered(self, ref: RepositoryRef, config: RepositoryConfig, person: int, now: float) -> tuple[Scope, ...]:
        """The scopes of an answer to a person's commands."""
        hour = Scope("author", author_key(ref, person), hour_of(now), Ceiling(answers=self.author.answers))
        return (*((hour,) if hour.ceiling else ()), *self.day(ref, config, now))


def run_scope(thread: str, ceiling: Ceiling) -> Scope:
    """A run, however many days it takes."""
    return Scope("run", thread, "run", ceiling)


def author_key(ref: RepositoryRef, author_id: int) -> str:
    """What an author is called where something is counted for them in a repository."""
    return f"{ref.key}@{author_id}"


def _of(config: RepositoryConfig) -> Ceiling:
    limits = config.limits
    return Ceiling(
        issues=limits.runs_per_day,
        questions=limits.questions_per_day,
        calls=limits.model_calls_per_day,
        tokens=limits.model_tokens_per_day,
    )
