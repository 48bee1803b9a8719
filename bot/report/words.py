"""The fixed sentences of a report, the words for its numbers and durations, and truncation to a number of words."""

from typing import Final

from nodes.search.lazy import lazy
from nodes.search.sentences import say

_UNSPACED = lazy(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
SECURITY: Final = say(
    "**This may describe a security problem.** Please do not add details here. Report it "
    "privately, as the repository's security policy says if there is one; a maintainer can then hide this issue."
)
LEAKED: Final = say(
    "**This issue shows what looks like a secret: a token, a key or a password.** "
    "Please revoke it first, wherever it is valid: assume it is compromised. Then edit the issue and remove it; "
    "its history still contains the old text, which a maintainer can delete. Nothing was analysed. "
    "Once the text no longer contains it, triage continues automatically."
)
WAITING: Final = say("**One question before a place can be named.**")
FOLLOWS: Final = say("*A first report by rules; a model's report will replace it here.*")


def footer(commands: str = "") -> str:
    """Return the last line of a comment."""
    return say("<sub>Automated first read; a maintainer decides.{commands}</sub>", commands=commands)


def spaced_words(text: str) -> int:
    """Return the number of words between spaces."""
    return len(text.split())


def all_words(text: str) -> int:
    """Return the number of words; three characters of Chinese or Japanese count as one word."""
    characters = len(_UNSPACED.findall(text))
    return spaced_words(_UNSPACED.sub(" ", text)) + (characters + 2) // 3


def cut(text: str, words: int) -> str:
    """Return the first words of a text; if the cut leaves a code span open, remove that span."""
    kept = text.split()
    if len(kept) <= words:
        return " ".join(kept)
    short = " ".join(kept[:words])
    if short.count("`") % 2:
        short = short.rpartition("`")[0].rstrip()
    return f"{short} …"


def percent(share: float | None) -> str:
    """Format a fraction as a percentage, such as 78%; empty for None."""
    return "" if share is None else f"{share:.0%}"


def span(seconds: float) -> str:
    """Format a duration in seconds with the unit that fits."""
    # From 0.9995 s on, milliseconds would be rounded to 1000 ms.
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 99.5:
        return f"{seconds:.1f} s"
    for unit, size in (("min", 60), ("h", 3600), ("days", 86_400)):
        if seconds / size < (100 if unit != "h" else 48) or unit == "days":
            return f"{seconds / size:.0f} {unit}"
    raise AssertionError("days fit")


def count(number: int, one: str, more: str = "") -> str:
    """Format a count with its noun, such as 1 run, 1 204 runs."""
    return f"{number:,} {one if number == 1 else more or one + 's'}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def confidence_word(confidence: float) -> str:
    """Return a word for a calibrated probability; the steps are the graph's thresholds (PRD section 7)."""
    return say("high") if confidence >= 0.85 else say("medium") if confidence >= 0.65 else say("low")
