"""Limits on what is spent, per resource and scope: the operator's ceilings, which a repository can only lower."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Self

ScopeKind = Literal["run", "repository", "installation", "all", "author"]
_WORDS = {
    "calls": "model calls",
    "tokens": "model tokens",
    "cost": "cost of models",
    "issues": "issues",
    "questions": "questions",
    "answers": "answers to commands",
}
_WHOSE: Mapping[ScopeKind, str] = {
    "run": "this run",
    "repository": "this repository today",
    "installation": "this account's repositories today",
    "all": "all repositories today",
    "author": "one author",
}
PERMISSION = "permission"
"""Prefix of the codes of missing permissions."""
_GRANT = "the App lacks {}: an owner can grant it in the installation's settings on GitHub"
_REACHED = {
    "permission.issues": _GRANT.format("the permission Issues (write), so labels or comments are missing"),
    "permission.contents": _GRANT.format("the permission Contents (read), so the code cannot be read"),
    "permission.metadata": _GRANT.format("the permission Metadata (read)"),
    "permission.unknown": _GRANT.format("a permission that GitHub does not name"),
    "model.pace": "the rate of model calls",
    "model.busy": "the rate limit of the model's server",
    "github.writes": "the rate of writes to this account's repositories, kept below GitHub's limit",
    "github.quiet": "GitHub's own limits",
    "github.limit": "GitHub's own limits",
    "disk.full": "space on the server's disk",
    "repository.files": "the number of indexed files: this repository is too large to search completely",
    "repository.text": "the amount of indexed text: this repository has more, and further files are found by path only",
    "repository.history": "the number of indexed commits: this repository's history is too large to search completely",
}
ANSWERS_AN_HOUR = 20
"""Default number of comments per author and hour whose commands are answered."""
Prices = Mapping[str, tuple[float, ...]]
"""Dollars per million input tokens, output tokens and, if they cost less, cached input tokens, by model."""
Ceiling = dict[str, int]
"""The maximum of each resource that is limited, by its name in ``Amount``."""


@dataclass(frozen=True, slots=True)
class ReachedCeiling:
    """A ceiling that the next use would have exceeded."""

    kind: ScopeKind
    what: str
    most: int

    @property
    def code(self) -> str:
        """The name in logs and counters, stable across releases."""
        return f"{self.kind}.{self.what}"

    def __str__(self) -> str:
        """Describe the limit for a person, on one line."""
        most = f"${self.most / 1_000_000:.2f}" if self.what == "cost" else f"{self.most:,}"
        return f"the limit of {most} {_WORDS[self.what]} for {_WHOSE[self.kind]} is reached"


@dataclass(frozen=True, slots=True)
class AuthorCeiling:
    """Limits for one author in one repository: issues triaged per hour and per day, comments answered per hour."""

    hour: int | None = None
    day: int | None = None
    answers: int | None = None

    @classmethod
    def of(cls, values: Mapping[Any, float]) -> Self:
        """Build the limits; any of them implies one on answers."""
        # A limit on triages alone would leave the number of command replies unlimited.
        given = {name: int(value) for name, value in values.items()}
        return cls(**({"answers": ANSWERS_AN_HOUR} | given if given else {}))


def describe_limit(code: str) -> str:
    """Describe a limit, given by its code, for maintainers."""
    kind, _, what = code.partition(".")
    known = _REACHED.get(code)
    return known or f"{_WORDS.get(what, what)} for {next((_WHOSE[k] for k in _WHOSE if k == kind), kind)}"


def cost(prices: Prices, model: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> int:
    """Return the cost in millionths of a dollar, or 0 without a price; ``cached_tokens`` are part of the input."""
    # Dollars per million tokens equal millionths of a dollar per token.
    into, out, *of_cache = prices.get(model, (0.0, 0.0))
    cached = min(cached_tokens, input_tokens) if of_cache else 0
    return round((input_tokens - cached) * into + output_tokens * out + cached * sum(of_cache))


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of each limited resource."""

    calls: int = 0
    tokens: int = 0
    cost: int = 0
    """Millionths of a dollar."""
    issues: int = 0
    questions: int = 0
    answers: int = 0
    """The number of comments whose commands are answered."""

    def __sub__(self, other: "Amount") -> "Amount":
        """Subtract resource by resource."""
        return Amount(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(Amount)))


def ceiling_of(values: Mapping[Any, float]) -> Ceiling:
    """Return a ceiling from amounts by resource, with the cost in dollars."""
    # Money is counted in whole millionths of a dollar, because sums of floats would drift between processes.
    return {name: round(value * 1_000_000) if name == "cost" else int(value) for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class Scope:
    """A spender and the period its ceiling applies to."""

    kind: ScopeKind
    key: str
    period: str
    """A day, an hour (both UTC), or ``run``."""
    ceiling: Ceiling = field(default_factory=Ceiling)


def day_of(now: float) -> str:
    """Return the UTC day of a Unix time, as ``YYYY-MM-DD``."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")


def hour_of(now: float) -> str:
    """Return the UTC hour of a Unix time, as ``YYYY-MM-DDTHH``."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H")


def seconds_until_tomorrow(now: float) -> float:
    """Return the seconds until 00:01 UTC of the next day."""
    at = datetime.fromtimestamp(now, UTC)
    # A minute after midnight, so that clocks that differ agree on the day.
    return ((at + timedelta(days=1)).replace(hour=0, minute=1, second=0, microsecond=0) - at).total_seconds()
