"""Answer a question about one commit of a repository, from the search engine or the operator's tools."""

import asyncio
import math
import re
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

from bot.cli.question import ClassifiedQuestion, understand
from bot.report.words import count as counted
from bot.runs.sources import Sources
from nodes.evidence import Evidence
from nodes.search.engine import Engine
from nodes.search.facts import Fact
from nodes.search.facts.around.called_from import calls_of
from nodes.search.facts.code import Code
from nodes.search.history.log import Log
from nodes.search.history.types import Commit, History, spots_of
from nodes.search.reading.lookups import stems_of
from nodes.search.reading.tools import ReadingTools
from nodes.search.tokens import WORD, terms_of
from nodes.search.types import Location, Passage, Query, Ranking, ToolCall
from nodes.sources.protocol import FALLBACK, Inquiry, SourceAnswer, SourceError, route
from nodes.sources.web import NAME

PLACES, RESULTS = 5, 5
"""The most places of an answer, and results of a source."""
LEAST_SURE = 0.4
"""Confidence of the search from which its places are shown; below it, the first one is more often wrong than right."""
_OF_A_FILE = 0.5
"""Smallest contribution of a ``file`` reason that counts as a match; smaller ones come from the kind of file alone."""
_FEW = 4
"""Maximum number of words by which definitions and headings are found; all of them have to match."""
_NOTHING = "I found nothing in this commit that matches. Name a function, a file or an error, or paste a stack trace."
_CALLS = re.compile(r"\b(?:callers?|calls?|called)\b", re.IGNORECASE)
_USES = re.compile(r"\b(?:uses?|used|usages?|callers?|calls?|called|references?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuotedLines:
    """Lines of a file, verbatim; 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int
    quote: str
    symbol: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class QuestionReply:
    """The answer to a question."""

    route: str
    """The source of the answer: where, owner, changes, trace, general, sources or fallback."""
    text: str
    places: tuple[QuotedLines, ...] = ()
    people: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    results: tuple[Evidence, ...] = ()
    """Results of tools and web searches."""
    notes: tuple[str, ...] = ()
    """Sources that gave no answer, with the reason."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not (self.places or self.people or self.changes or self.results)


class Answerer:
    """Answers questions independently: no question affects the next one's answer."""

    def __init__(self, engine: Engine, sha: str, sources: Sources) -> None:
        self._engine = engine
        self._sha = sha
        self._sources = sources

    @cached_property
    def _tools(self) -> ReadingTools:
        return ReadingTools(self._engine.repository, self._sha, self._engine.index(self._sha))

    async def answer(self, text: str) -> QuestionReply:
        """Answer a question. A harmful request gets a fixed sentence and reaches no tool, search or model."""
        outside = self._sources.outside()
        sources = {**outside.tools, **({NAME: outside.web} if outside.web else {})}
        routed = route(text, [source.info for source in sources.values()])
        if routed is None:
            return QuestionReply("fallback", FALLBACK)
        results, notes = list[Evidence](), list[str]()
        answers = (sources[name].ask(Inquiry(text), RESULTS) for name in routed)
        # One failed source must not discard the answers of the others; any other fault is a bug.
        for name, answer in zip(routed, await asyncio.gather(*map(_answered, answers)), strict=True):
            results += answer.evidence
            notes += [f"{name}: {answer.message}"] if answer.message else []
        if results:
            message = f"{', '.join(routed)} answered; the results below were not checked."
            return QuestionReply("sources", message, results=tuple(results), notes=tuple(notes))
        question = understand(text)
        by_kind = {"where": self._where, "owner": self._owner, "changes": self._changes, "trace": self._trace}
        return replace(by_kind.get(question.kind, self._general)(question), notes=tuple(notes))

    def _where(self, question: ClassifiedQuestion) -> QuestionReply:
        """Answer by name. A marked name is never replaced by a guess; a plain word is a name if it is defined."""
        calls, uses = _CALLS.search(question.text), _USES.search(question.text)
        find, verb = (self._calls, "calls") if calls else (self._uses, "uses") if uses else (self._defines, "defines")
        definitions = self._tools.definitions
        names = (*question.names, *(name for name in question.plain if definitions(name).passages))
        found = (reply for name in names if (reply := find(name)) is not None)
        if (reply := next(found, None)) is not None:
            return reply
        # A plain word with capitals that no ordinary word has is a name too.
        names = names or tuple(name for name in question.plain if name != name.lower())
        if not names:
            return self._general(question)
        facts = (self._definition(name) for name in question.names if uses)
        defined = "".join(f" {fact.says}" for fact in facts if fact)
        named = " and ".join(f"`{name}`" for name in names)
        return QuestionReply("where", f"I found nothing in this commit that {verb} {named}.{defined}")

    def _defines(self, name: str) -> QuestionReply | None:
        found = self._tools.definitions(name)
        if not found.passages:
            return None
        fact = self._definition(name)
        text = fact.says if fact else f"`{name}` is defined in {_counted(found.total, 'place')}."
        of_fact_first = sorted(found.passages, key=lambda it: fact is not None and it.path != fact.path)
        return _passages("where", text, of_fact_first)

    def _definition(self, name: str) -> Fact | None:
        """Return the verified fact that a name is defined once in the project's own code, or None."""
        named = f"`{name}`"
        facts = self._engine.facts(Query(named, ""), (), self._sha)
        found = [fact for fact in facts if fact.kind == "defined_once" and fact.words == name]
        invalid = self._engine.invalid_facts(found, named, self._sha)
        return next((fact for number, fact in enumerate(found) if number not in invalid), None)

    def _calls(self, name: str) -> QuestionReply | None:
        last = re.split(r"\.|::|#", name)[-1]
        calls, every = calls_of(Code(self._engine.repository, self._sha, self._engine.index(self._sha)), last)
        if not calls:
            return self._uses(name, f"No call of `{name}` is known in the project's own code, tests aside; the name")
        named = f"`{name}`" if last == name else f"A function called `{last}`"
        least = "" if every else "at least "
        text = f"{named} is called on {least}{_counted(len(calls), 'line')} of the project's own code, tests aside."
        lines = [(call, call.line or 1) for call in calls[:PLACES]]
        places = (QuotedLines(call.path or "", at, at, call.text or "", None, call.says) for call, at in lines)
        return QuestionReply("where", text, tuple(places))

    def _uses(self, name: str, subject: str = "") -> QuestionReply | None:
        found = self._tools.references(name)
        text = f"{subject or f'`{name}`'} is used in {_counted(found.total, 'place')}."
        return _passages("where", text, found.passages) if found.passages else None

    def _general(self, question: ClassifiedQuestion) -> QuestionReply:
        """Answer by a name that the question mentions, otherwise by a search that is sure enough."""
        named = (self._defines(name) or self._uses(name) for name in question.names)
        if (reply := next(filter(None, named), None) or self._by_words(question)) is not None:
            return reply
        found = self._found(question)
        # A place without a word of the question is only a neighbour in the ranking.
        places = tuple(place for place in _places(found, question) if place.why)
        if not places or found.confidence < LEAST_SURE:
            return QuestionReply("general", _NOTHING)
        says = f"The closest match is in `{places[0].path}`; only words tie it to the question."
        return QuestionReply("general", says, places)

    def _by_words(self, question: ClassifiedQuestion) -> QuestionReply | None:
        """Answer with definitions and sections of the documentation whose names have the words of the question."""
        stems = stems_of(question.text)
        if not 0 < len(stems) <= _FEW:
            return None
        lookups = self._tools
        named, sections = lookups.definitions_with(stems), lookups.sections_with(stems)
        parts = [f"the names of {counted(named.total, 'definition')}"] if named.total else []
        parts += [f"{counted(sections.total, 'heading')} of the documentation"] if sections.total else []
        text = f"The words of the question are in {' and in '.join(parts)}."
        return _passages("general", text, [*named.passages[: PLACES - 2], *sections.passages[:2]]) if parts else None

    def _owner(self, question: ClassifiedQuestion) -> QuestionReply:
        history, found = self._past(question)
        if not found.locations:
            return QuestionReply("owner", _NOTHING)
        first = history.owners[:PLACES]
        owners = [f"{owner.name}: {'; '.join(reason.text for reason in owner.reasons[:2])}" for owner in first]
        unknown = "No owner is known: these lines have neither a CODEOWNERS rule nor a history."
        text = f"{history.owners[0].name} knows this best." if owners else unknown
        return QuestionReply("owner", text, _places(found, question)[: 2 if owners else PLACES], tuple(owners))

    def _changes(self, question: ClassifiedQuestion) -> QuestionReply:
        """Answer with suspects of the versions that are named, otherwise with the latest changes of a file or lines."""
        history, found = self._past(question)
        if suspects := history.suspicion.changes[:PLACES]:
            lines = [_change(it.commit, *(reason.text for reason in it.reasons[:1])) for it in suspects]
            places = _places(found, question)[:2]
            return QuestionReply("changes", "Suspect changes, not bisected.", places, changes=tuple(lines))
        files = self._tools
        of_files = ((name, files.answer(ToolCall("log", path=name)).changes) for name in question.names)
        if of_file := next(((name, changes) for name, changes in of_files if changes), None):
            lines = [f"{sha[:10]} {subject} ({day})" for sha, day, subject in of_file[1][:PLACES]]
            return QuestionReply("changes", f"The latest changes of `{of_file[0]}`.", changes=tuple(lines))
        if not found.locations:
            return QuestionReply("changes", _NOTHING)
        first, log = found.locations[0], Log(self._engine.repository, self._sha)
        shas = log.of_lines(first.path, [(first.start_line, first.end_line)], log.horizon(), PLACES) or []
        lines = [_change(commit) for commit in log.details(shas) if commit.sha not in log.shallow]
        text = "The latest changes of these lines." if lines else "No change of these lines is in the recent history."
        return QuestionReply("changes", text, _places(found, question)[:1], changes=tuple(lines))

    def _trace(self, question: ClassifiedQuestion) -> QuestionReply:
        found = self._found(question)
        if not found.locations:
            return QuestionReply("trace", "None of the trace's frames is in this commit.")
        best = found.locations[0]
        where = f"`{best.symbol}` in `{best.path}`" if best.symbol else f"`{best.path}`"
        return QuestionReply("trace", f"The trace leads to {where}, line {best.quote_start}.", _places(found, question))

    def _found(self, question: ClassifiedQuestion) -> Ranking:
        """Search, and drop places that do not match the question and are ranked by the search's priors alone."""
        title, _, body = question.text.strip().partition("\n")
        found = self._engine.find(Query(title, body, limit=PLACES), self._sha)
        return replace(found, locations=tuple(place for place in found.locations if _shares(place)))

    def _past(self, question: ClassifiedQuestion) -> tuple[History, Ranking]:
        found = self._found(question)
        # A question that names a file is about that file alone.
        of = [place for place in found.locations if f"/{place.path}".endswith(tuple(f"/{it}" for it in question.names))]
        found = replace(found, locations=tuple(of) or found.locations)
        return self._engine.history(Query(question.text), spots_of(found.locations), self._sha), found


async def _answered(asking: Awaitable[SourceAnswer]) -> SourceAnswer:
    try:
        return await asking
    except SourceError as error:
        return SourceAnswer(message=str(error))


def _change(commit: Commit, *why: str) -> str:
    by = "; ".join((f"{commit.author}, {datetime.fromtimestamp(commit.committed, UTC):%Y-%m-%d}", *why))
    return f"{commit.sha[:10]} {commit.subject} ({by})"


def _counted(total: int, one: str) -> str:
    """Format a count of places, of which an answer shows the first."""
    return f"{counted(total, one)}{f' (the first {PLACES} are shown)' if total > PLACES else ''}"


def _passages(route: str, text: str, passages: Sequence[Passage]) -> QuestionReply:
    places = (QuotedLines(it.path, it.start_line, it.end_line, it.quote, it.symbol) for it in passages[:PLACES])
    return QuestionReply(route, text, tuple(places))


def _shares(place: Location) -> bool:
    least = {"prior": math.inf, "file": _OF_A_FILE}
    return any(reason.contribution > least.get(reason.kind, 0.0) for reason in place.reasons)


def _places(found: Ranking, question: ClassifiedQuestion) -> tuple[QuotedLines, ...]:
    """Return the places of a search; each names the words of the question that it contains, or its stack frame."""
    places = []
    for it in found.locations[:PLACES]:
        has = {term for word in WORD.findall(f"{it.symbol or ''} {it.quote}") for term in terms_of(word)}
        words = dict.fromkeys(word.lower() for word in WORD.findall(question.text) if stems_of(word) & has)
        why = [reason.text for reason in it.reasons if reason.kind == "trace"]
        why += [f"has {', '.join(f'`{word}`' for word in list(words)[:_FEW])} of the question"] if words else []
        places.append(QuotedLines(it.path, it.quote_start, it.quote_end, it.quote, it.symbol, "; ".join(why[:2])))
    return tuple(places)
