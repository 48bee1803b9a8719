"""The basis of a report: the facts that it shows, the places that it names, and what they allow it to state."""

from dataclasses import dataclass
from typing import Self

from nodes.context.ports import CodePort
from nodes.report import Statement, Suspect, TriageReport
from nodes.search.facts import Fact, levels
from nodes.search.facts.places.moved import is_gone
from nodes.search.facts.types import ANYWHERE, OTHER_ROLES
from nodes.search.types import Location, Lookup, Survey

AROUND = 2
"""Number of lines quoted before and after the line of a fact."""
POINTING = frozenset({"pasted_here", "defined_once", "default_here"})
"""Kinds that show a line, while the search names the function. Where both named different functions, pasted code and a
definition that the report names were the fixed function less often; a declared option is rarely at fault."""
OTHERS = 3
"""Maximum number of files besides the first ones whose lines the report names."""
SPREAD = 2
"""Maximum number of lines of a fact without a function that may be the place of a file."""

_STATEMENTS: dict[levels.Level, Statement] = {
    "claimed": "claim",
    "stated": "facts",
    "ranked": "first_place",
    "none": "ranked",
}


@dataclass(frozen=True, slots=True)
class FactBasis:
    """The facts that a report shows, and what they allow it to state."""

    facts: tuple[Fact, ...]
    """The facts about the report's files, and those about no file."""
    paths: tuple[str, ...]
    """The report's files, in order."""
    stated: levels.Statement
    confidence: float

    @classmethod
    def of(cls, survey: Survey, paths: tuple[str, ...]) -> Self:
        """Return what a survey allows a report to state, whose files are these and those of the lines that it names."""
        stated = levels.statement(survey.facts, paths, survey.confidence)
        placed = [fact.path for fact in stated.stated if fact.path and fact.kind not in OTHER_ROLES]
        others = dict.fromkeys(path for path in placed if path not in paths)
        paths = (*paths, *list(others)[:OTHERS])
        shown = tuple(fact for fact in survey.facts if fact.path in (None, *paths) or fact.kind in ANYWHERE)
        return cls(shown, paths, stated, survey.confidence)

    @property
    def headline(self) -> int | None:
        """Return the index of the leading fact."""
        return self.facts.index(self.stated.headline) if self.stated.headline is not None else None

    @property
    def statement(self) -> Statement:
        """Return how much the report may state."""
        return _STATEMENTS[self.stated.level] if self.paths else "nothing"

    def with_facts(self, place: Suspect) -> Suspect:
        """Return a model's place with the facts about its file."""
        on_path = tuple(number for number, fact in enumerate(self.facts) if fact.path == place.path)
        return place.model_copy(update={"facts": on_path})


async def suspect_of(
    path: str, report: TriageReport, survey: Survey, basis: FactBasis, code: CodePort
) -> Suspect | None:
    """Return the place of a file: around its leading fact, else where the brain or the search found it."""
    facts, lead_fact = basis.facts, basis.stated.headline
    on_path = tuple(number for number, fact in enumerate(facts) if fact.path == path)
    shown = on_path if any(facts[number] in (lead_fact, *basis.stated.stated) for number in on_path) else ()
    known = next((suspect for suspect in report.suspects if suspect.path == path), None)
    lead = next((item for item in survey.leads if item.path == path), None)
    stated = [fact for fact in (lead_fact, *basis.stated.stated) if fact is not None and fact.path == path]
    placing = (fact for fact in stated if fact is lead_fact or not is_single_line(fact))
    chosen = next((fact for fact in placing if fact.line and not fact.sha and not _is_spread(fact)), None)
    base = known or (
        from_lead(lead, survey.leads[0].score) if lead is not None else Suspect(path=path, start_line=0, end_line=0)
    )
    why = facts[shown[0]].says[:300] if shown else ""
    if chosen is not None and chosen.line is not None:
        found = await _around(chosen, base, code)
        if found is not None:
            return found.model_copy(update={"facts": shown, "why": why})
    unread = known is None and await code.read(path, base.quote_start, base.quote_end) != base.quote
    if unread or not base.quote:
        return None
    return base.model_copy(update={"facts": shown, "why": why or (base.why if known is not None else "")})


def is_single_line(fact: Fact) -> bool:
    """Return whether a fact is one pasted line: often shown for comparison, and not in the function with the fault."""
    return fact.kind == "pasted_here" and fact.count == 1


def _is_spread(fact: Fact) -> bool:
    """Return whether a fact is about a whole file or many of its lines, so that the line it cites is not the place."""
    many = fact.kind == "read_here" and (fact.count or 0) > SPREAD
    return (fact.symbol is None and (many or is_gone(fact))) or (fact.kind == "named_here" and not fact.is_named_line)


async def _around(fact: Fact, base: Suspect, code: CodePort) -> Suspect | None:
    """Return the place of a fact: its definition if the search found it, with the lines around the fact quoted."""
    line = fact.line or 1
    for before, after in ((AROUND, AROUND), (AROUND, 0), (0, 0)):
        start, end = max(1, line - before), line + after
        quote = await code.read(base.path, start, end)
        while quote is not None and start < line and not quote.partition("\n")[0].strip():
            start, quote = start + 1, quote.partition("\n")[2]
        if quote is not None and len(quote) <= 1_000:
            break
    else:
        return None
    inside = base.start_line <= line <= base.end_line
    span: dict[str, object] = {} if inside else {"evidence": ""}
    if not (inside and base.symbol == fact.symbol) and (
        base.symbol is None or (fact.symbol and fact.kind not in POINTING)
    ):
        defined = (await code.definitions(fact.symbol.rpartition(".")[2])) if fact.symbol and fact.line else Lookup()
        first, last = defined.span(str(fact.path), line) or (start, end)
        span = {"start_line": first, "end_line": last, "symbol": fact.symbol, "evidence": ""}
    return base.model_copy(update={**span, "quote": quote, "quote_start": start, "quote_end": end, "checked": True})


def from_lead(lead: Location, best: float) -> Suspect:
    """Return a place of the search; the best score of the search is the measure."""
    return Suspect(
        path=lead.path,
        score=round(min(max(lead.score / best, 0.0), 1.0), 4) if best > 0 else 0.0,
        start_line=lead.start_line,
        end_line=lead.end_line,
        symbol=lead.symbol,
        quote=lead.quote[:1_000],
        quote_start=lead.quote_start,
        quote_end=lead.quote_end,
        checked=True,
    )
