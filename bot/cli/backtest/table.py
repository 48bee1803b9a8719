"""Output of a backtest: one table for people, by rules and with a model if there is one; a document for programs."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from bot.cli.backtest.run import BacktestResult, Judge, PastCase
from bot.report.words import count
from bot.runs.promise import LEAST, Threshold, fifths, recommend
from nodes.agents.writing.acceptance import LOW_CONFIDENCE

_PLACES = (1, 3, 5, 10)
_ROWS: tuple[tuple[str, Callable[[PastCase], bool]], ...] = (
    ("A fixed file is in first place", lambda case: case.right),
    *((f"… among the first {k}", lambda case, k=k: 0 < case.rank <= k) for k in _PLACES[1:]),
    ("A changed line is in first place", lambda case: case.place_rank == 1),
    ("… among the first 5", lambda case: 0 < case.place_rank <= 5),
    ("A cause was claimed", lambda case: case.claims),
    ("… and the file named was fixed", lambda case: case.claims and case.right),
    ("… and it was not", lambda case: case.claims and not case.right),
)


def as_document(found: BacktestResult, target: float) -> dict[str, Any]:
    """Return all results as plain values: those of the model if there is one, and those of the rules as ``rules``."""
    judge, pairs = found.judges[-1], _pairs(found)
    threshold = recommend(pairs, target)
    return {
        **{name: getattr(found, name) for name in ("repository", "tip", "texts")},
        "target": target,
        "judge": judge.name,
        "issues": len(judge.cases),
        "left_out": dict(sorted(found.left_out.items())),
        **figures(judge),
        **({"rules": figures(found.judges[0])} if len(found.judges) > 1 else {}),
        "calibration": [asdict(fifth) for fifth in fifths(pairs)],
        "threshold": asdict(threshold) if threshold else None,
        "cases": [case.model_dump(mode="json") for case in judge.cases],
    }


def as_text(found: BacktestResult, target: float) -> str:
    """Return the results as a table with a column for each judge, and the threshold for a target precision."""
    cases = found.judges[-1].cases
    left_out = [f"Left out:    {number} where {why}." for why, number in sorted(found.left_out.items())]
    if not cases:
        return "\n".join(("No past fix could be scored.", *left_out))
    corrections = sum(case.by_people for case in cases)
    head = f"{len(cases) - corrections} past fixes, each triaged at the commit before it"
    if corrections:
        head += f"; {count(corrections, 'correction')} by people, at the commit of the report"
    lines = (
        f"{head}; issue texts {found.texts}",
        "",
        f"{'':<34}" + "".join(f"{judge.name[-14:]:>15}" for judge in found.judges),
        *(f"{title:<34}" + "".join(_share(has, judge.cases) for judge in found.judges) for title, has in _ROWS),
        *by_kind([(case.lead, case.right) for case in cases if case.claims]),
        "",
        f"Threshold:   {_advice(recommend(_pairs(found), target), target, len(cases))}",
        _cost(found.judges[-1]),
        *left_out,
    )
    return "\n".join(lines)


def figures(judge: Judge) -> dict[str, Any]:
    """Return a judge's hits, claims and cost."""
    cases = judge.cases
    claims = [(case.lead, case.right) for case in cases if case.claims]
    return {
        "hits": _hits([case.rank for case in cases]),
        "place_hits": _hits([case.place_rank for case in cases]),
        "claims": {
            "made": len(claims),
            "right": sum(right for _, right in claims),
            "by_kind": {kind: {"made": made, "right": right} for kind, made, right in _kinds(claims)},
        },
        "cost": {
            "seconds_an_issue": round(sum(case.seconds for case in cases) / max(len(cases), 1), 3),
            "calls": sum(case.calls for case in cases),
            "tokens": sum(case.tokens for case in cases),
            "dollars": sum(case.cost for case in cases) / 1_000_000,
            "fell_back": sum(case.fell_back for case in cases),
        },
    }


def by_kind(claims: Sequence[tuple[str, bool]]) -> list[str]:
    """Return lines that say how often claims were right, by the kind of the fact that leads them."""
    rows = [f"  {kind:<32}{made:>7}{right / made:>8.0%}" for kind, made, right in _kinds(claims)]
    return ["", f"{'Claims by the fact that leads them':<34}  made   right", *rows] if rows else []


def _pairs(found: BacktestResult) -> list[tuple[float, bool]]:
    return [(case.confidence, case.right) for case in found.judges[-1].cases]


def _kinds(claims: Sequence[tuple[str, bool]]) -> list[tuple[str, int, int]]:
    """Return kind, claims and right claims, the most frequent first."""
    made = Counter(kind for kind, _ in claims)
    right = Counter(kind for kind, is_right in claims if is_right)
    return [(kind or "without a fact", number, right[kind]) for kind, number in made.most_common()]


def _hits(ranks: Sequence[int]) -> dict[str, float]:
    return {str(k): round(sum(0 < rank <= k for rank in ranks) / max(len(ranks), 1), 4) for k in _PLACES}


def _share(has: Callable[[PastCase], bool], cases: Sequence[PastCase]) -> str:
    part = sum(map(has, cases))
    return f"{f'{part} ({part / len(cases):.0%})':>15}"


def _advice(threshold: Threshold | None, target: float, cases: int) -> str:
    if threshold is None:
        few = f" (a threshold needs {LEAST} cases)" if cases < 2 * LEAST else ""
        return f"no confidence reaches {target:.0%} right first files here{few}."
    applied = f"As `limits: {{claim_from: {round(threshold.confidence, 4):g}}}` in .github/triage.yml, it applies here."
    # A repository can require more confidence than the gate, never less.
    if threshold.confidence <= LOW_CONFIDENCE:
        applied = f"The default threshold is {LOW_CONFIDENCE}, so no setting is needed."
    return (
        f"confidence {threshold.confidence:.2f}: {threshold.precision:.0%} of first files are right there "
        f"(target {target:.0%}), in {threshold.coverage:.0%} of issues ({threshold.cases}).\n             {applied}"
    )


def _cost(judge: Judge) -> str:
    cost = figures(judge)["cost"]
    price = f", ${cost['dollars']:.2f}" if cost["dollars"] else ""
    model = f"{cost['calls']} model calls, {cost['tokens']} tokens{price}" if cost["calls"] else "no model, no tokens"
    line = f"Cost:        {cost['seconds_an_issue']:.2f} s an issue; judged by {judge.name}: {model}."
    if cost["fell_back"]:
        line += f" In {cost['fell_back']} issues rules judged part of the run, because the model failed."
    return line
