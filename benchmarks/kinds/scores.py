"""Quality of the classification of kinds: F1 for each kind of each source, and calibration of confidences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodes.issue.kinds.model import LEARNT


@dataclass(frozen=True, slots=True)
class Guess:
    """The classification of an issue, and its true kind."""

    source: str
    kind: str
    judged: str
    confidence: float
    odds: float = 0.5
    """The probability of a bug if it is a bug or a feature."""


def f1(guesses: Sequence[Guess], kind: str) -> float:
    """Return the harmonic mean of precision and recall; 0 if the kind was neither predicted nor present."""
    right = sum(guess.judged == guess.kind == kind for guess in guesses)
    there = sum((guess.judged == kind) + (guess.kind == kind) for guess in guesses)
    return 2 * right / there if there else 0.0


def macro_f1(guesses: Sequence[Guess]) -> float:
    """Return the mean over the kinds."""
    return sum(f1(guesses, kind) for kind in LEARNT) / len(LEARNT)


def by_source(guesses: Sequence[Guess]) -> dict[str, list[Guess]]:
    """Return the guesses of each source, ordered by name."""
    names = sorted({guess.source for guess in guesses})
    return {name: [guess for guess in guesses if guess.source == name] for name in names}


def mean_macro_f1(guesses: Sequence[Guess]) -> float:
    """Return the mean over the sources with equal weights."""
    apart = by_source(guesses)
    return sum(map(macro_f1, apart.values())) / len(apart)


def table(title: str, guesses: Sequence[Guess]) -> str:
    """Return one line per source with F1 for each kind; the mean is last."""
    apart = by_source(guesses)
    lines = [f"{title:<28}" + "".join(f"{kind:>10}" for kind in LEARNT) + f"{'macro-F1':>10}"]
    rows: Mapping[str, list[list[Guess]]] = {**{name: [own] for name, own in apart.items()}, "mean": [*apart.values()]}
    for name, groups in rows.items():
        each = [sum(f1(group, kind) for group in groups) / len(groups) for kind in LEARNT]
        macro = sum(map(macro_f1, groups)) / len(groups)
        lines.append(f"  {name:<26}" + "".join(f"{value:>10.3f}" for value in (*each, macro)))
    return "\n".join(lines)


def reliability(guesses: Sequence[Guess], parts: int = 5) -> str:
    """Return the mean confidence and the share of correct guesses, from the most to the least confident."""
    ordered = sorted(guesses, key=lambda guess: -guess.confidence)
    lines = ["confidence      right"]
    for number in range(parts):
        own = ordered[number * len(ordered) // parts : (number + 1) * len(ordered) // parts]
        if own:
            sure = sum(guess.confidence for guess in own) / len(own)
            right = sum(guess.judged == guess.kind for guess in own) / len(own)
            lines.append(f"  {sure:>8.1%}  {right:>8.1%}")
    return "\n".join(lines)


def acted_on(guesses: Sequence[Guess], bugs: float = 0.93) -> str:
    """Return which odds a share of the bugs reaches, and the share of features that reaches them too; by source."""
    lines = [f"{f'odds of {bugs:.0%} of bugs':<28}{'odds':>10}{'features':>10}"]
    for name, own in by_source(guesses).items():
        reached = sorted(guess.odds for guess in own if guess.kind == "bug")
        features = [guess.odds for guess in own if guess.kind == "feature"]
        if reached and features:
            least = reached[int((1 - bugs) * len(reached))]
            share = sum(odds >= least for odds in features) / len(features)
            lines.append(f"  {name[:26]:<26}{least:>10.2f}{share:>10.1%}")
    return "\n".join(lines)
