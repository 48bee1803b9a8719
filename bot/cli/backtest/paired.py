"""Compare a model with the rules on the same issues: what it fixed and broke, and how likely chance alone does that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from bot.cli.backtest.run import Found
from bot.cli.backtest.score import Scored, described, hits
from bot.cli.backtest.summary import Parameters, left_out, spent

_AMONG = 5
_SURE = 0.05
"""The usual significance level; a difference with a smaller probability is not attributed to chance."""
_LISTED = 40
"""Issues that a list of the table names."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One property of the same issues, by rules and with the model."""

    name: str
    engine: int
    model: int
    only_model: tuple[int, ...]
    """Numbers of the issues that have it only with the model."""
    only_engine: tuple[int, ...]
    """Numbers of the issues that have it only by rules."""

    @property
    def chance(self) -> float:
        """The probability of a difference at least as large if the model made none."""
        return by_chance(len(self.only_model), len(self.only_engine))

    def document(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {
            "engine": self.engine,
            "model": self.model,
            "only_model": list(self.only_model),
            "only_engine": list(self.only_engine),
            "chance": round(self.chance, 6),
        }


def by_chance(only_model: int, only_engine: int) -> float:
    """Return the two-sided probability of the exact sign test (McNemar's test in its exact form).

    Only issues on which the two differ contain information. If the model made no difference, each of them would be as
    likely to be better as worse with the model, like a toss of a coin.
    """
    count = only_model + only_engine
    tail = sum(comb(count, k) for k in range(min(only_model, only_engine) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**count)))


def compare(engine: Sequence[Scored], model: Sequence[Scored]) -> tuple[Compared, ...]:
    """Compare the results of both for the same issues, in the same order."""
    properties: tuple[tuple[str, Callable[[Scored], bool]], ...] = (
        ("first_place", lambda case: case.right),
        ("first_five", lambda case: 0 < case.rank <= _AMONG),
        ("claims", lambda case: case.claims),
        ("right_claims", lambda case: case.claims and case.right),
        ("wrong_claims", lambda case: case.claims and not case.right),
    )
    pairs = list(zip(engine, model, strict=True))
    return tuple(
        Compared(
            name,
            sum(has(one) for one in engine),
            sum(has(one) for one in model),
            tuple(two.number for one, two in pairs if has(two) and not has(one)),
            tuple(two.number for one, two in pairs if has(one) and not has(two)),
        )
        for name, has in properties
    )


def as_document(engine: Found, model: Found, about: Parameters) -> dict[str, Any]:
    """Return the comparison as plain values, the same ones for each replay of a recording."""
    return {
        **about.plain,
        "issues": len(model.cases),
        "left_out": dict(sorted(model.left_out.items())),
        "compared": {one.name: one.document() for one in compare(engine.cases, model.cases)},
        "hits": {"engine": _hits(engine.cases), "model": _hits(model.cases)},
        "cost": {**_spent(model.cases, about.prices), "fell_back": sum(case.fell_back for case in model.cases)},
        "pairs": [_pair(one, two) for one, two in zip(engine.cases, model.cases, strict=True)],
    }


def as_text(engine: Found, model: Found, about: Parameters) -> str:
    """Return the comparison as a table."""
    if not model.cases:
        return "\n".join(("No past fix could be scored.", *left_out(model)))
    issues, rows = len(model.cases), compare(engine.cases, model.cases)
    first, five, claims, right, wrong = rows
    return "\n".join(
        (
            f"{described(model.cases, 'twice ')}; issue texts {about.texts}",
            f"engine: rules alone; model: {about.judge}",
            "",
            f"{'':<37}{'engine':>13}{'model':>13}{'only model':>12}{'only engine':>13}{'chance':>9}",
            _row("A fixed file is in first place", first, issues),
            _row("… is among the first five", five, issues),
            _row("A cause was claimed", claims, issues),
            _row("… and the file named was fixed", right, claims.engine, claims.model),
            _row("… and it was not", wrong, claims.engine, claims.model),
            "",
            "only model, only engine: issues of which the line is true with one of them alone. chance: how often at",
            "least such a difference would occur if the model made none (exact sign test on these issues).",
            _verdict(first),
            "",
            *_listed("First place fixed", first.only_model, engine.cases, model.cases),
            *_listed("First place broken", first.only_engine, engine.cases, model.cases),
            _cost(model, about),
            *about.fitted,
            *left_out(model),
        )
    )


def _row(title: str, row: Compared, whole: int, of_model: int | None = None) -> str:
    own = whole if of_model is None else of_model
    counts = f"{_part(row.engine, whole):>13}{_part(row.model, own):>13}"
    return f"{title:<37}{counts}{len(row.only_model):>12}{len(row.only_engine):>13}{_percent(row.chance):>9}"


def _part(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else str(part)


def _percent(chance: float) -> str:
    return "< 0.1 %" if chance < 0.001 else f"{100 * chance:.{1 if chance < _SURE else 0}f} %"


def _verdict(first: Compared) -> str:
    gain = len(first.only_model) - len(first.only_engine)
    if not first.only_model and not first.only_engine:
        return "The first places are the same with and without the model."
    if first.chance >= _SURE:
        return f"First places right with the model: {gain:+d}. Chance alone may explain this; measure more issues."
    return f"First places right with the model: {gain:+d}. Chance alone hardly explains this."


def _listed(title: str, numbers: Sequence[int], engine: Sequence[Scored], model: Sequence[Scored]) -> list[str]:
    """Name issues, each with the rank of the first fixed file without and with the model."""
    if not numbers:
        return []
    ranks = {one.number: (one.rank, two.rank) for one, two in zip(engine, model, strict=True)}
    named = [f"#{n} ({_rank(ranks[n][0])} → {_rank(ranks[n][1])})" for n in numbers[:_LISTED]]
    more = f", and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else ""
    return [f"{title}: {', '.join(named)}{more}"]


def _rank(rank: int) -> str:
    return str(rank) if rank else "none"


def _cost(model: Found, about: Parameters) -> str:
    paid, issues = spent(model.cases, about.prices), len(model.cases)
    dollars = (
        f", ${paid.dollars:.2f} (${paid.dollars / issues:.4f} an issue)"
        if paid.dollars is not None
        else "; set TRIAGE_PRICES for their cost"
    )
    fell_back = sum(case.fell_back for case in model.cases)
    instead = f"\nIn {fell_back} issues rules judged part of the run, because the model failed." if fell_back else ""
    return (
        f"Cost: {paid.calls:,} calls ({paid.calls / issues:.1f} an issue), {paid.input_tokens:,} input and "
        f"{paid.output_tokens:,} output tokens ({paid.input_tokens / issues:,.0f} and "
        f"{paid.output_tokens / issues:,.0f} an issue){dollars}; waited {paid.seconds / issues:.1f} s an issue."
        f"{instead}"
    )


def _hits(cases: Sequence[Scored]) -> dict[str, float]:
    return {str(k): round(share, 4) for k, share in hits([case.rank for case in cases]).items()}


def _spent(cases: Sequence[Scored], prices: str) -> dict[str, Any]:
    paid = spent(cases, prices)
    return {"calls": paid.calls, **paid.document()}


def _pair(engine: Scored, model: Scored) -> dict[str, Any]:
    """Return one issue as plain values, with what a table of confidence is fitted to."""
    return {
        "number": model.number,
        "fix": model.fix,
        "base": model.base,
        "title": model.title,
        "gold": list(model.gold),
        "engine": _side(engine),
        "model": {
            **_side(model),
            "own_confidence": model.model_confidence,
            "fell_back": model.fell_back,
            "used": [one._asdict() for one in model.used],
            "seconds": model.model_seconds,
        },
        "opinions": model.opinions,
        "engine_probability": model.engine_confidence,
        "agree": bool(model.ranked) and model.ranked[0] == model.engine_first,
    }


def _side(case: Scored) -> dict[str, Any]:
    return {
        "rank": case.rank,
        "place_rank": case.place_rank,
        "claims": case.claims,
        "confidence": case.confidence,
        "ranked": list(case.ranked),
    }
