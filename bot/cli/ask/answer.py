"""Answer a question about one commit of a repository, from the search engine or the operator's tools."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bot.cli.ask.route import Question, understand
from bot.report.words import count as counted
from bot.runs.sources import Sources
from nodes.evidence import Evidence
from nodes.search.engine import Engine
from nodes.search.facts import Fact
from nodes.search.history.types import History, SuspectCommit, spots_of
from nodes.search.reading.lookups import stems_of
from nodes.search.tokens import WORD, terms_of
from nodes.search.types import Location, Passage, Query, Ranking, Reason

PLACES = 5
LEAST_SURE = 0.4
"""Confidence of the search from which its places are shown; below it, the first one is more often wrong than right."""
_OF_A_FILE = 0.5
"""Smallest contribution of a ``file`` reason that counts as a match; smaller ones come from the kind of file alone."""
_FEW = 4
"""Maximum number of words by which definitions and headings are found; all of them have to match."""
_NOTHING = "I found nothing in this commit that matches. Name a function, a file or an error, or paste a stack trace."


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file, verbatim."""

    path: str
    start_line: int
    """1-based."""
    end_line: int
    """1-based, inclusive."""
    quote: str
    symbol: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a question."""

    route: str
    """The source of the answer: where, owner, changes, trace, general, sources, model or fallback."""
    text: str
    places: tuple[Place, ...] = ()
    people: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    results: tuple[Evidence, ...] = ()
    """Results of tools and web searches."""
    judged_by: str = "rules"
    notes: tuple[str, ...] = field(default=())
    """Sources that gave no answer, with the reason."""
    candidates: tuple[Place, ...] = ()
    """Places that are too uncertain to be shown; a model may still find the answer in one of them."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not (self.places or self.people or self.changes or self.results) and self.judged_by == "rules"


class Answerer:
    """Answers questions independently: no question affects the next one's answer."""

    def __init__(self, engine: Engine, sha: str, sources: Sources) -> None:
        self._engine = engine
        self._sha = sha
        self._sources = sources
        self._routes: dict[str, Callable[[Question], Reply]] = {
            "where": self._where,
            "owner": self._owner,
            "changes": self._changes,
            "trace": self._trace,
            "general": self._general,
        }

    async def answer(self, text: str) -> Reply:
        """Answer a question. A harmful request gets a fixed sentence and reaches no tool, search or model."""
        outside = await self._sources.answer(text)
        notes = (outside.message,) if outside.message else ()
        if outside.route == "fallback":
            return Reply("fallback", outside.message)
        if outside.found:
            message = f"{', '.join(outside.sources)} answered; the results below were not checked."
            return Reply("sources", message, results=outside.found, notes=notes)
        question = understand(text)
        reply = self._routes[question.kind](question)
        return replace(reply, notes=notes)

    def _where(self, question: Question) -> Reply:
        """Answer by name. A marked name is never replaced by a guess; a plain word is a name if it is defined."""
        names = (*question.names, *self._defined(question))
        for name in names:
            reply = self._calls(name) if question.calls else self._uses(name) if question.uses else self._defines(name)
            if reply is not None:
                return reply
        # A plain word with capitals that no ordinary word has is a name too.
        names = names or tuple(name for name in question.plain if name != name.lower())
        if not names:
            return self._general(question)
        named = " and ".join(f"`{name}`" for name in names)
        verb = "calls" if question.calls else "uses" if question.uses else "defines"
        return Reply("where", f"I found nothing in this commit that {verb} {named}.{self._definitions(question)}")

    def _defined(self, question: Question) -> tuple[str, ...]:
        """Return the plain words of a question that are names in this commit."""
        definitions = self._engine.tools(self._sha).definitions
        return tuple(name for name in question.plain if definitions(name).passages)

    def _defines(self, name: str) -> Reply | None:
        found = self._engine.tools(self._sha).definitions(name)
        if not found.passages:
            return None
        fact = self._engine.definition(name, self._sha)
        text = fact.says if fact else f"`{name}` is defined in {counted(found.total, 'place')}."
        places = sorted(found.passages, key=lambda item: fact is not None and item.path != fact.path)
        return Reply("where", text, tuple(map(_of_passage, places[:PLACES])))

    def _calls(self, name: str) -> Reply | None:
        last = re.split(r"\.|::|#", name)[-1]
        calls, every = self._engine.calls(last, self._sha)
        if not calls:
            return self._uses(name, f"No call of `{name}` is known in the project's own code, tests aside; the name")
        named = f"`{name}`" if last == name else f"A function called `{last}`"
        least = "" if every else "at least "
        text = f"{named} is called on {least}{counted(len(calls), 'line')} of the project's own code, tests aside."
        return Reply("where", text, tuple(map(_of_fact, calls[:PLACES])))

    def _uses(self, name: str, subject: str = "") -> Reply | None:
        found = self._engine.tools(self._sha).references(name)
        if not found.passages:
            return None
        text = f"{subject or f'`{name}`'} is used in {counted(found.total, 'place')}."
        return Reply("where", text, tuple(map(_of_passage, found.passages[:PLACES])))

    def _named(self, name: str) -> Reply | None:
        """Answer a question that only mentions a name: where it is defined, or else where it is used."""
        return self._defines(name) or self._uses(name)

    def _definitions(self, question: Question) -> str:
        """Return where a name without calls or uses is defined."""
        if not question.uses:
            return ""
        facts = (self._engine.definition(name, self._sha) for name in question.names)
        return "".join(f" {fact.says}" for fact in facts if fact)

    def _general(self, question: Question) -> Reply:
        """Answer by a name that the question mentions, otherwise by a search that is sure enough."""
        for name in question.names:
            reply = self._named(name)
            if reply is not None:
                return reply
        if (reply := self._by_words(question)) is not None:
            return reply
        found = self._found(question)
        if not found.locations or found.confidence < LEAST_SURE:
            return Reply("general", _NOTHING, candidates=_places(found))
        # A place without a word of the question is only a neighbour in the ranking.
        places = tuple(place for place in _places(found) if place.why)
        if not places:
            return Reply("general", _NOTHING, candidates=_places(found))
        text = f"The closest match is in `{places[0].path}`; only words tie it to the question."
        return Reply("general", text, places)

    def _by_words(self, question: Question) -> Reply | None:
        """Answer with definitions and sections of the documentation whose names have the words of the question."""
        stems = stems_of(question.text)
        if not 0 < len(stems) <= _FEW:
            return None
        lookups = self._engine.tools(self._sha)
        named, sections = lookups.definitions_with(stems), lookups.sections_with(stems)
        if not named.total + sections.total:
            return None
        parts = [f"the names of {counted(named.total, 'definition')}"] if named.total else []
        parts += [f"{counted(sections.total, 'heading')} of the documentation"] if sections.total else []
        places = tuple(map(_of_passage, (*named.passages[: PLACES - 2], *sections.passages[:2])))
        return Reply("general", f"The words of the question are in {' and in '.join(parts)}.", places)

    def _owner(self, question: Question) -> Reply:
        history, found = self._past(question)
        if not found.locations:
            return Reply("owner", _NOTHING)
        people = tuple(
            f"{owner.name}: {'; '.join(reason.text for reason in owner.reasons[:2])}" for owner in history.owners
        )
        if not people:
            return Reply(
                "owner", "No owner is known: these lines have neither a CODEOWNERS rule nor a history.", _places(found)
            )
        return Reply("owner", f"{history.owners[0].name} knows this best.", _places(found)[:2], people[:PLACES])

    def _changes(self, question: Question) -> Reply:
        history, found = self._past(question)
        if not found.locations:
            return Reply("changes", _NOTHING)
        known = history.suspicion.changes or history.suspicion.recent
        if not known:
            return Reply("changes", f"No change is known: {history.suspicion.explanation or 'nothing was found'}.")
        text = "Suspect changes, not bisected." if history.suspicion.changes else "The latest changes of these lines."
        return Reply("changes", text, _places(found)[:2], changes=tuple(map(_change, known[:PLACES])))

    def _trace(self, question: Question) -> Reply:
        found = self._found(question)
        if not found.locations:
            return Reply("trace", "None of the trace's frames is in this commit.")
        best = found.locations[0]
        where = f"`{best.symbol}` in `{best.path}`" if best.symbol else f"`{best.path}`"
        return Reply("trace", f"The trace leads to {where}, line {best.quote_start}.", _places(found))

    def _found(self, question: Question) -> Ranking:
        """Search, and drop places that do not match the question and are ranked by the search's priors alone."""
        title, _, body = question.text.strip().partition("\n")
        found = self._engine.find(Query(title, body, limit=PLACES), self._sha)
        shared = [_with_reasons(place, question.text) for place in found.locations if _shares(place)]
        return replace(found, locations=tuple(shared))

    def _past(self, question: Question) -> tuple[History, Ranking]:
        found = self._found(question)
        # A question that names a file is about that file alone.
        of = [place for place in found.locations if f"/{place.path}".endswith(tuple(f"/{it}" for it in question.names))]
        found = replace(found, locations=tuple(of) or found.locations)
        query = Query(question.text)
        return self._engine.history(query, spots_of(found.locations), self._sha), found


def _shares(place: Location) -> bool:
    least = {"prior": math.inf, "file": _OF_A_FILE}
    return any(reason.contribution > least.get(reason.kind, 0.0) for reason in place.reasons)


def _with_reasons(place: Location, question: str) -> Location:
    """Name the words of the question that a place contains, and leave out reasons that have nothing to do with it."""
    has = {term for word in WORD.findall(f"{place.symbol or ''} {place.quote}") for term in terms_of(word)}
    words = dict.fromkeys(word.lower() for word in WORD.findall(question) if stems_of(word) & has)
    kept = [reason for reason in place.reasons if reason.kind == "trace"]
    if words:
        kept.append(
            Reason("words", f"has {', '.join(f'`{word}`' for word in list(words)[:_FEW])} of the question", 0.0)
        )
    return replace(place, reasons=tuple(kept))


def _places(found: Ranking) -> tuple[Place, ...]:
    return tuple(map(_of_location, found.locations[:PLACES]))


def _of_location(one: Location) -> Place:
    why = "; ".join(reason.text for reason in one.reasons[:2])
    return Place(one.path, one.quote_start, one.quote_end, one.quote, one.symbol, why)


def _of_passage(one: Passage) -> Place:
    return Place(one.path, one.start_line, one.end_line, one.quote, one.symbol)


def _of_fact(fact: Fact) -> Place:
    line = fact.line or 1
    return Place(fact.path or "", line, line, fact.text or "", fact.symbol, fact.says)


def _change(one: SuspectCommit) -> str:
    why = "; ".join(reason.text for reason in one.reasons[:1])
    return f"{one.commit.sha[:10]} {one.commit.subject} ({one.commit.author}{f'; {why}' if why else ''})"
