"""Budgets: the operator's and the repository's ceilings, as the scopes in which usage is counted."""

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
    """The operator's ceilings and prices."""

    run: Ceiling
    repository: Ceiling
    installation: Ceiling
    everything: Ceiling
    author: AuthorCeiling
    prices: Prices

    @classmethod
    def of(cls, settings: Settings) -> Budgets:
        """Read them from the settings."""
        return cls(
            run=read_ceiling(settings.triage_limits_run),
            repository=read_ceiling(settings.triage_limits_repository),
            installation=read_ceiling(settings.triage_limits_installation),
            everything=read_ceiling(settings.triage_limits_all),
            author=read_author_ceiling(settings.triage_limits_author),
            prices=read_prices(settings.triage_prices),
        )

    def day(self, ref: RepositoryRef, config: RepositoryConfig, now: float) -> tuple[Scope, ...]:
        """The scopes of one day's usage in a repository.

        Scopes without a ceiling are left out, except that of the repository.
        """
        today = day_of(now)
        scopes = (
            Scope("repository", ref.key, today, self.repository.capped_by(_of(config))),
            Scope("installation", installation_key(ref.host, ref.installation_id), today, self.installation),
            Scope("all", "", today, self.everything),
        )
        return tuple(scope for scope in scopes if scope.ceiling or scope.kind == "repository")

    def writer(self, issue: Issue, config: RepositoryConfig, now: float) -> tuple[Scope, ...]:
        """The scopes in which a triage run counts for the issue's author; empty if the author has no id."""
        if issue.author_id is None:
            return ()
        day = Ceiling(issues=self.author.day).capped_by(Ceiling(issues=config.limits.issues_per_author))
        periods = ((hour_of(now), Ceiling(issues=self.author.hour)), (day_of(now), day))
        key = author_key(issue.ref.repository, issue.author_id)
        return tuple(Scope("author", key, period, ceiling) for period, ceiling in periods if ceiling)

    def answered(self, ref: RepositoryRef, config: RepositoryConfig, person: int, now: float) -> tuple[Scope, ...]:
        """The scopes of a reply to a person's commands."""
        hour = Scope("author", author_key(ref, person), hour_of(now), Ceiling(answers=self.author.answers))
        return (*((hour,) if hour.ceiling else ()), *self.day(ref, config, now))


def run_scope(thread: str, ceiling: Ceiling) -> Scope:
    """The scope of a run, however many days it takes."""
    return Scope("run", thread, "run", ceiling)


def author_key(ref: RepositoryRef, author_id: int) -> str:
    """The key under which an author's usage in a repository is counted."""
    return f"{ref.key}@{author_id}"


def _of(config: RepositoryConfig) -> Ceiling:
    limits = config.limits
    return Ceiling(
        issues=limits.runs_per_day,
        questions=limits.questions_per_day,
        calls=limits.model_calls_per_day,
        tokens=limits.model_tokens_per_day,
    )
