"""Output of a backtest: a table for people, a document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.cli.backtest.agreement import Fitted
from bot.cli.backtest.run import Found
from bot.cli.backtest.score import LEAST, Fifth, Scored, Threshold, calibration, described, fifths, hits, recommend
from bot.limits.ceilings import cost, read_prices
from nodes.trust.quality_gate import LOW_CONFIDENCE


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a backtest."""

    repository: str
    tip: str
    """The newest commit whose history was read."""
    texts: str
    """The source of the issue texts."""
    judge: str
    target: float
    seconds: float
    """Duration of this run; cases reused from an earlier run are not included."""
    prices: str = ""
    """Prices of models, as in TRIAGE_PRICES."""
    agreement: Fitted | None = None
    """The table of agreement that was fitted to the model; None if no model judged."""

    @property
    def plain(self) -> dict[str, Any]:
        """The figures that are the same in every repetition."""
        named = ("repository", "tip", "texts", "judge", "target", "prices")
        fitted = {} if self.agreement is None else {"agreement": self.agreement.document()}
        return {**{name: getattr(self, name) for name in named}, **fitted}

    @property
    def fitted(self) -> list[str]:
        """The result of fitting the table of agreement, in lines."""
        return [] if self.agreement is None else self.agreement.lines()


@dataclass(frozen=True, slots=True)
class Spent:
    """The requests to models, over all cases."""

    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """None if a model that was asked has no price."""
    seconds: float

    def document(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        dollars = None if self.dollars is None else round(self.dollars, 6)
        tokens = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        return {**tokens, "dollars": dollars, "model_seconds": round(self.seconds, 3)}


def spent(cases: Sequence[Scored], prices: str) -> Spent:
    """Add up what the models of these cases were asked, at the given prices."""
    used, known = [one for case in cases for one in case.used], read_prices(prices)
    priced = all(one.model in known for one in used)
    millionths = sum(cost(known, one.model, one.input_tokens, one.output_tokens, one.cached_tokens) for one in used)
    return Spent(
        sum(one.calls for one in used),
        sum(one.input_tokens for one in used),
        sum(one.output_tokens for one in used),
        millionths / 1_000_000 if priced else None,
        sum(case.model_seconds for case in cases),
    )


def as_document(found: Found, about: Parameters) -> dict[str, Any]:
    """Return all results as plain values."""
    pairs = calibration(found.cases)
    threshold = recommend(pairs, about.target)
    claims = [case for case in found.cases if case.claims]
    return {
        **about.plain,
        "seconds": about.seconds,
        "issues": len(found.cases),
        "left_out": dict(found.left_out),
        "hits": _rounded([case.rank for case in found.cases]),
        "place_hits": _rounded([case.place_rank for case in found.cases]),
        "claims": {"made": len(claims), "right": sum(case.right for case in claims)},
        "calibration": [asdict(fifth) for fifth in fifths(pairs)],
        "threshold": asdict(threshold) if threshold else None,
        "cost": {
            "seconds_an_issue": round(_mean([case.seconds for case in found.cases]), 3),
            "calls": sum(case.calls for case in found.cases),
            "tokens": sum(case.tokens for case in found.cases),
            "fell_back": sum(case.fell_back for case in found.cases),
            **spent(found.cases, about.prices).document(),
        },
        "cases": [case.document() for case in found.cases],
    }


def as_text(found: Found, about: Parameters) -> str:
    """Return the results as a short text."""
    cases = found.cases
    if not cases:
        return "\n".join(("No past fix could be scored.", *left_out(found)))
    claims = [case for case in cases if case.claims]
    right = sum(case.right for case in claims)
    return "\n".join(
        (
            f"{described(cases)}; issue texts {about.texts}",
            "",
            f"Fixed file among the first k:        {_shares([case.rank for case in cases])}",
            f"Changed line among the first k:      {_shares([case.place_rank for case in cases])}",
            f"A cause was claimed:                {_of(len(claims), len(cases))}; the file named was fixed: "
            f"{_of(right, len(claims))}",
            "",
            "Confidence in the first file        cases    mean   right",
            *(_line(fifth, number) for number, fifth in enumerate(fifths(calibration(cases)))),
            "",
            _advice(recommend(calibration(cases), about.target), about, len(cases)),
            _cost(found, about),
            *about.fitted,
            *left_out(found),
        )
    )


def _rounded(ranks: list[int]) -> dict[str, float]:
    return {str(k): round(share, 4) for k, share in hits(ranks).items()}


def _shares(ranks: list[int]) -> str:
    return "  ".join(f"hit@{k} {share:.0%}" for k, share in hits(ranks).items())


def _line(fifth: Fifth, number: int) -> str:
    names = ("surest fifth", "second", "third", "fourth", "least sure")
    return f"  {names[min(number, 4)]:<32}{fifth.cases:>7}{fifth.mean:>8.0%}{fifth.right / fifth.cases:>8.0%}"


def _advice(threshold: Threshold | None, about: Parameters, cases: int) -> str:
    if threshold is None:
        few = f" (a threshold needs {LEAST} cases)" if cases < 2 * LEAST else ""
        return f"Threshold:   no confidence reaches {about.target:.0%} right first files here{few}."
    return (
        f"Threshold:   confidence {threshold.confidence:.2f}: {threshold.precision:.0%} of first files are right there "
        f"(wanted {about.target:.0%}), in {threshold.coverage:.0%} of issues ({threshold.cases})."
        f"{_applied(threshold)}"
    )


def _applied(threshold: Threshold) -> str:
    """Explain how to apply the threshold. A repository can require more confidence than the gate, never less."""
    if threshold.confidence <= LOW_CONFIDENCE:
        return f"\n             The default threshold is {LOW_CONFIDENCE}, so no setting is needed."
    setting = f"limits: {{claim_from: {round(threshold.confidence, 4):g}}}"
    return f"\n             As `{setting}` in .github/triage.yml, it applies to that repository."


def _cost(found: Found, about: Parameters) -> str:
    calls, tokens = sum(case.calls for case in found.cases), sum(case.tokens for case in found.cases)
    each = _mean([case.seconds for case in found.cases])
    dollars = spent(found.cases, about.prices).dollars
    price = f", ${dollars:.2f}" if calls and dollars is not None else ""
    model = f"{calls} model calls, {tokens} tokens{price}" if calls else "no model, no tokens"
    fell_back = sum(case.fell_back for case in found.cases)
    instead = f" In {fell_back} issues rules judged part of the run, because the model failed." if fell_back else ""
    return (
        f"Cost:        {about.seconds:.0f} s in all, {each:.2f} s an issue; judged by {about.judge}: {model}.{instead}"
    )


def left_out(found: Found) -> list[str]:
    """Name the fixes that could not be scored."""
    return [f"Left out:    {count} where {why}." for why, count in sorted(found.left_out.items())]


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})" if whole else f"{part} of {whole}"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
