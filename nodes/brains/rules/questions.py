"""Choose questions to the reporter: only those whose answer can change the ranking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from nodes.brains.rules.investigate import acting_kind
from nodes.brains.rules.missing import Need, needs_worth_asking
from nodes.brains.rules.places import EQUAL, leading, plain_words, reason_kinds, rival
from nodes.context import Case
from nodes.evidence import Evidence
from nodes.guards import may_ask
from nodes.search.tokens import comparable

_SYSTEMS = {
    **dict.fromkeys(("windows", "win32", "win64", "winapi", "msvc", "mingw"), "Windows"),
    **dict.fromkeys(("darwin", "macos", "osx", "cocoa"), "macOS"),
    **dict.fromkeys(("linux", "x11", "wayland", "gtk", "epoll", "inotify"), "Linux"),
    **dict.fromkeys(("posix", "unix"), "Linux or macOS"),
    "freebsd": "FreeBSD",
    "android": "Android",
    "ios": "iOS",
    "chrome": "Chrome",
    "chromium": "Chrome",
    "firefox": "Firefox",
    "safari": "Safari",
    "nodejs": "Node.js",
    "deno": "Deno",
}
"""Words in paths and symbols that indicate code of one system, with the system's name."""
_GENERATION = re.compile(r"v\d{1,2}")
_NEITHER = "Both, or I cannot tell"
_EQUALLY = f"Two places fit the report equally well (scores within {round(100 * (1 - EQUAL))} %)"


@dataclass(frozen=True, slots=True)
class Question:
    """A question for the reporter, and the reason for the maintainer."""

    text: str
    reason: str
    options: tuple[str, ...]
    context: str = ""


def distinguishing_question(case: Case, first: Evidence, second: Evidence) -> Question | None:
    """Return a question that decides between two suspects; None if there is none or the issue answers it."""
    if _systems_of(first) != _systems_of(second):
        return _by_system(case, _systems_of(first), _systems_of(second))
    generations = _generation_of(first), _generation_of(second)
    if all(generations) and len(set(generations)) == 2:
        return _by_generation(case, *generations)
    return None


def _by_system(case: Case, left: frozenset[str], right: frozenset[str]) -> Question | None:
    """Ask for the system if the places are code of different systems."""
    # The issue already names its platform, or a place belongs to several.
    if len(left) > 1 or len(right) > 1 or case.facts.platforms:
        return None
    one, two = next(iter(left), "another system"), next(iter(right), "another system")
    return Question(
        text="On which operating system or browser does it fail?",
        reason=f"{_EQUALLY}, and they are code for different systems.",
        options=(f"Only on {one}", f"Only on {two}", "On all that I tried"),
    )


def _systems_of(place: Evidence) -> frozenset[str]:
    words = plain_words(f"{place.locator.path or ''} {place.symbol or ''}")
    return frozenset(_SYSTEMS[word] for word in words if word in _SYSTEMS)


def _by_generation(case: Case, one: str, two: str) -> Question | None:
    """Ask for the version of an interface if the places differ in it, such as `api/v1` and `api/v2`."""
    words = {word.casefold() for word in re.findall(r"\w{2,3}", f"{case.title} {case.body[:20_000]}")}
    if words & {one, two}:
        return None
    return Question(
        text=f"Which version of the interface do you use, {one} or {two}?",
        reason=f"{_EQUALLY}, one in {one} and one in {two}.",
        options=(one, two, _NEITHER),
    )


def _generation_of(place: Evidence) -> str:
    folders = PurePosixPath(place.locator.path or "").parts[:-1]
    return next((part.lower() for part in reversed(folders) if _GENERATION.fullmatch(part.lower())), "")


WEAK = 0.35
"""Confidence below which the first place is little more than a guess."""
THIN = 12
"""Number of words below which prose alone is not enough for a search."""


def next_question(case: Case) -> Question | None:
    """Return the first useful question that was not asked before; None if no question may be asked."""
    exchanges = case.state.human_exchanges
    if not may_ask(case.state) or case.state.redirect_instructions or any(item.withdrawn for item in exchanges):
        return None  # after a redirect, the maintainer decides what to ask
    asked = {comparable(exchange.question) for exchange in exchanges}
    return next((question for question in _candidates(case) if comparable(question.text) not in asked), None)


def is_thin(case: Case) -> bool:
    """Return whether the issue contains only a few words and nothing else to search for."""
    facts = case.facts
    return facts.words < THIN and not (
        facts.traces or facts.errors or facts.code_blocks or facts.symbols or facts.paths or facts.modules
    )


def is_guess(case: Case) -> bool:
    """Return whether no reason supports the first place of a short issue.

    The number of places does not matter, although a small one makes each of them more probable.
    """
    found = leading(case)
    return is_thin(case) and not (found and reason_kinds(case, found[0].evidence))


def _candidates(case: Case) -> Iterator[Question]:
    found = leading(case)
    weak = not found or case.state.search_confidence < WEAK
    likelier = acting_kind(case.title, case.body, case.facts).rather
    other = rival(found)
    # Of few words that fit two places equally well, no answer about the places helps as much as what happened.
    if likelier != "feature" and (is_guess(case) or (is_thin(case) and (weak or other is not None))):
        yield _WHAT_HAPPENED
    between = distinguishing_question(case, found[0].evidence, other.evidence) if other is not None else None
    if between is not None:
        yield between
    if weak:
        needs = needs_worth_asking(case)
        yield from (question for need, question in _FOR_NEED if need in needs)


_WHAT_HAPPENED = Question(
    text="What did you do just before it went wrong, and what did the program do then?",
    reason="The report is too short to search the code by.",
    options=(
        "It stops with an error message (please paste all of it)",
        "It finishes, but the result is wrong (please show the input and the result)",
        "It hangs, or takes far too long",
    ),
)
_FOR_NEED: tuple[tuple[Need, Question], ...] = (
    (
        "error",
        Question(
            text="What exactly does the program print when it fails? Please paste the whole message.",
            reason="The report mentions an error without quoting it, and nothing else leads to one place in the code.",
            options=(
                "An error with a stack trace (please paste it)",
                "A single line (please paste it)",
                "Nothing at all",
            ),
        ),
    ),
    (
        "steps",
        Question(
            text="What are the steps, or the shortest piece of code, that show the problem?",
            reason="Without a name of a function, command or page the search has no place to start.",
            options=("I can paste code that shows it", "I can list the steps", "It happens only sometimes"),
        ),
    ),
)
