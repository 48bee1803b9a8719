"""The statement of a report about the code: facts decide, and the ranking only proposes (SPEC section 5a)."""

from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from nodes.agents.writing.places import FactBasis, from_lead, is_single_line, suspect_of
from nodes.context.brain import Case
from nodes.context.ports import CodePort, Context
from nodes.issue.asked import Asked, answers
from nodes.report import Kind, Statement, Suspect, TriageReport
from nodes.search.facts import Fact
from nodes.search.facts.names.read_here import FLAG
from nodes.search.facts.places.bounds import SAYS as NOT_ALLOWED
from nodes.search.facts.places.expressions import FAILED, REQUEST
from nodes.search.facts.places.required import SAYS as REQUIRED
from nodes.search.facts.types import NOT_RANKED, OF_CHANGES
from nodes.search.history.claims import names_a_range
from nodes.search.issue.mentions.found import ANNOUNCED
from nodes.search.sentences import say
from nodes.search.tokens import plain_words
from nodes.search.types import Query, Survey
from nodes.state import CORRECTION

PLACES = 5
"""Number of files in a report; facts about other files are not shown."""
TOO_THIN = say(
    "The report has no code and no message, and names no file or function; so no place in the code is named."
)
_ATTACHED = (".log", ".txt", ".png", ".jpg", ".jpeg", ".gif", ".zip", ".pdf", ".mp4", ".mov")
"""Ends of paths of attached files, which do not belong to a program."""
THIN, LONGEST_THIN = 30, 4_000
"""Maximum words of prose of an issue that names no part of the program and is therefore too short to search by, and
maximum characters of it that are read for an option, a request or a command that failed."""

_NO_LINE = say("No checked fact ties this report to a line of the code.")
_NO_PLACE = say("No checked fact decides on one place in the code.")

_POINTERS: dict[Kind, tuple[str, ...]] = {
    "question": ("documented_here", "defined_once", "built_here", "read_here", "default_here"),
    "feature": ("linked_here", "named_here"),
    "docs": ("documented_here", "linked_here", "defined_once"),
}
"""Kinds of facts that can answer a report that requests no fix of the code, best first."""


def reporter_query(case: Case, limit: int) -> Query:
    """Return what people wrote: the issue, answers and where to search; nothing that a critic or a model requested."""
    extra = (*case.state.redirect_instructions, *case.state.answers)
    return Query(case.title, case.body, extra=extra, limit=limit)


def is_thin(case: Case) -> bool:
    """Return whether an issue names no part of the program and no range of versions, in few words."""
    facts, body = case.facts, case.body[:LONGEST_THIN]
    files = [path for path in facts.paths if not path.lower().endswith(_ATTACHED)]
    names = (facts.traces, facts.errors, facts.code_blocks, facts.symbols, facts.modules, files)
    text = f"{case.title}\n{body}"
    named = any(pattern.search(text) for pattern in (FLAG, REQUEST, ANNOUNCED))
    named = named or any(FAILED.match(line) for line in body.splitlines())
    return facts.words <= THIN and not named and not any(names) and not names_a_range(case.title, case.body)


def is_excluded(fact: Fact) -> bool:
    """Return whether a fact says that a manifest does not allow a version of the report."""
    return NOT_ALLOWED.match(fact.says) is not None


def is_of_version(fact: Fact) -> bool:
    """Return whether a fact is the line of a manifest about a version that the report names."""
    return is_excluded(fact) or REQUIRED.match(fact.says) is not None


def is_refuted(case: Case, report: TriageReport) -> bool:
    """Return whether a person called a report wrong without naming its first place."""
    first = next(iter(report.suspects), None)
    named = set(plain_words(f"{first.symbol or ''} {PurePosixPath(first.path).stem}")) if first else set[str]()
    corrections = (text for text in case.state.redirect_instructions if first and text.startswith(CORRECTION))
    return any(not named & set(plain_words(text.removeprefix(CORRECTION))) for text in corrections)


async def state_facts(report: TriageReport, survey: Survey, code: CodePort, *, ordered: bool) -> TriageReport:
    """Return the report with its facts, its files and what it states about them.

    The files are in the order of the search after those that a maintainer named, or, if not ``ordered``, a model's.
    """
    named = [suspect.path for suspect in report.suspects if not ordered or suspect.pointed]
    paths = tuple(dict.fromkeys((*named, *(survey.paths if ordered else ()))))[:PLACES]
    basis = FactBasis.of(survey, paths)
    # A fact complements a model's place and reason; it replaces neither.
    kept = () if ordered else tuple(map(basis.with_facts, report.suspects))
    others = [path for path in basis.paths if path not in [place.path for place in kept]]
    added = [suspect for path in others if (suspect := await suspect_of(path, report, survey, basis, code))]
    suspects = (*kept, *added)[: max(PLACES, len(added))]
    update: dict[str, object] = {"facts": basis.facts, "suspects": suspects, "headline": basis.headline}
    if not ordered and report.root_cause:
        return report.model_copy(update={**update, "statement": "claim"})
    # A model's own headline is only shown above a checked cause. Rules that write with files that a model ordered claim
    # what they would claim alone, if the first is the same.
    may_claim = ordered or (report.written_by == "rules" and survey.paths[:1] == paths[:1])
    statement, cause = basis.statement, _cause(report.kind, basis, suspects) if may_claim else None
    update |= {"statement": statement, "verdict": verdict(basis), "root_cause": cause}
    if not ordered:
        return report.model_copy(update=update)
    # A report with a fact that quotes the error's message has what would be asked for.
    has_message = any(fact.kind in ("built_here", "raised_here") and fact.words for fact in basis.facts)
    open_request = statement in ("ranked", "nothing", "first_place") and not has_message
    update["missing"] = report.missing[:1] if open_request else ()
    if statement != "claim" and suspects and suspects[0].pointed:
        pointed = say("A maintainer said to look at `{path}`.", path=suspects[0].path)
        update |= {"statement": "facts", "verdict": pointed[:300]}
    return report.model_copy(update={**update, "how_to_confirm": ""})


def state_changes(report: TriageReport, survey: Survey) -> TriageReport:
    """Return a report that names no place, with the facts about changes and releases that people named."""
    facts = tuple(fact for fact in survey.facts if fact.kind in OF_CHANGES | {"older_release"} and not fact.unclaimed)
    lead = next((number for number, fact in enumerate(facts) if fact.strong and fact.kind in NOT_RANKED), None)
    update: dict[str, object] = {"facts": facts, "headline": lead}
    if lead is not None:
        update |= {"statement": "facts", "verdict": facts[lead].says[:300]}
    return report.model_copy(update=update)


def verdict(basis: FactBasis) -> str:
    """Return the first sentence of the report."""
    if basis.headline is not None:
        return basis.facts[basis.headline].says[:300]
    if basis.statement == "first_place":
        return say("The search ranks `{path}` first; no checked fact supports this.", path=basis.paths[0])[:300]
    return _without_place(basis.facts)


def without_claim(report: TriageReport, because: str = "") -> TriageReport:
    """Return a report without the claimed cause; its facts stay, without order.

    A model's checked sentences stay too, as not confirmed, with the reason unless a doubt of the report says it.
    """
    if report.statement != "claim":
        return report.model_copy(update={"root_cause": None})
    statement: Statement = "facts" if report.headline is not None else "ranked"
    update: dict[str, object] = {"root_cause": None, "statement": statement}
    if report.is_explained:
        update |= {"unconfirmed": report.root_cause, "unconfirmed_because": because[:300]}
        not_confirmed = say("Not confirmed: {verdict}", verdict=report.verdict)
        return report.model_copy(update={**update, "verdict": not_confirmed[:300]})
    verdict = _without_place(report.facts) if report.lead is None else report.lead.says[:300]
    return report.model_copy(update={**update, "verdict": verdict})


def _without_place(facts: Sequence[Fact]) -> str:
    """Return the sentence of a report that names no place; it depends on whether facts relate words to lines."""
    return _NO_PLACE if any(fact.line for fact in facts) else _NO_LINE


def without_facts(report: TriageReport, dropped: Collection[int]) -> TriageReport:
    """Return a report without some of its facts, given by position; without its leading fact it claims nothing."""
    if not dropped:
        return report
    if report.headline in dropped:
        report = without_claim(report.model_copy(update={"headline": None, "how_to_confirm": ""}))
        others = [fact for number, fact in enumerate(report.facts) if number not in dropped]
        report = report.model_copy(update={"statement": "ranked", "verdict": _without_place(others)})
    kept = [number for number in range(len(report.facts)) if number not in dropped]
    new = {old: number for number, old in enumerate(kept)}

    def left(place: Suspect) -> Suspect:
        removed = {report.facts[number].says[:300] for number in place.facts if number not in new}
        facts = tuple(new[number] for number in place.facts if number in new)
        return place.model_copy(update={"facts": facts, "why": "" if place.why in removed else place.why})

    headline = None if report.headline is None else new[report.headline]
    facts, suspects = tuple(report.facts[number] for number in kept), tuple(map(left, report.suspects))
    return report.model_copy(update={"facts": facts, "suspects": suspects, "headline": headline})


def function_of(report: TriageReport) -> str | None:
    """Return the function that a claim may name: that of the leading fact, or of another strong fact in its file.

    It must also be the function of the report's first place, which the search may have found elsewhere in the file. A
    model that explains the fault names the function itself.
    """
    if report.is_explained and report.suspects:
        return report.suspects[0].symbol
    lead = report.lead
    if lead is None or not report.suspects:
        return None
    strong = (fact for fact in report.facts if fact.strong and fact.path == lead.path and not is_single_line(fact))
    named = next((fact.symbol for fact in (lead, *strong) if _names_function(fact)), None)
    return named if named == report.suspects[0].symbol else None


def _names_function(fact: Fact) -> bool:
    """Return whether a claim may name a fact's function: what happened there, or what the report shows of it."""
    is_firm = fact.strong and not fact.unclaimed and bool(fact.symbol and fact.line)
    return is_firm and fact.kind not in ("default_here", "named_here", "quoted_here", "read_here")


async def with_pointer(
    report: TriageReport, survey: Survey, code: CodePort, asked: Sequence[Asked] = ()
) -> TriageReport:
    """Return a question, a request or a documentation report with the one checked place that may answer it.

    A fact that answers one of the given questions precedes all others, then a version that a manifest excludes. The
    search's files are listed without a claim, as places where work may start. A request names the place of its change
    where facts would claim the place of a fix.
    """
    if report.kind == "feature" and report.written_by == "rules":
        placed = await state_facts(report, survey, code, ordered=True)
        if placed.statement == "claim":
            # A request has no fault to confirm with a breakpoint, and its missing details are for its author to decide.
            own = {"how_to_confirm": "", "missing": report.missing, "confidence": survey.confidence}
            return placed.model_copy(update=own)
    wanted = _POINTERS.get(report.kind, ())
    pointing = [fact for fact in survey.facts if fact.kind in wanted]
    # A page never supports a claim about a fault but may be shown as an answer.
    found = [fact for fact in pointing if fact.strong or fact.kind == "documented_here" or answers(fact, asked)]
    best = min(found, key=lambda fact: (not answers(fact, asked), wanted.index(fact.kind)), default=None)
    if best is None or not answers(best, asked):
        best = next(filter(is_excluded, survey.facts), best)
    listed = [from_lead(lead, survey.leads[0].score) for lead in survey.leads[:PLACES]]
    places = [spot for spot in listed if await code.read(spot.path, spot.quote_start, spot.quote_end) == spot.quote]
    by_rules = report.written_by == "rules"
    update: dict[str, object] = {}
    if places and (by_rules or not report.suspects):
        update = {"suspects": tuple(places), "statement": "ranked", "confidence": survey.confidence}
    if report.kind == "docs" and by_rules:
        update["verdict"] = say("This is probably a report on the documentation.")
    if best is not None:
        update |= {"facts": (best,), "headline": 0, "statement": "facts", "verdict": best.says[:300], "missing": ()}
    return report.model_copy(update=update)


def _cause(kind: Kind, basis: FactBasis, suspects: Sequence[Suspect]) -> str | None:
    """Return the claim as text: the leading fact, and the file that it makes likely."""
    if basis.statement != "claim" or basis.headline is None or not suspects:
        return None
    fact = basis.facts[basis.headline]
    cited = f" [{suspects[0].evidence}]" if suspects[0].evidence else ""
    named = _names_function(fact) and fact.symbol == suspects[0].symbol
    inside = f", in `{fact.symbol}`" if named else ""
    # A request has no fault that could be fixed.
    probably = "The change probably belongs in" if kind == "feature" else "The fix is probably in"
    return f"{fact.says} {probably} `{fact.path}`{inside}{cited}."[:1_200]


def naming_attached(report: TriageReport, context: Context) -> TriageReport:
    """Return the report with the names of the files that have the words of its facts, if only they have them."""
    if not context.attached:
        return report
    own = f"{context.title}\n{context.body}"
    for file in context.attached:
        own = own.replace(file.text, "")
    words = [fact.words for fact in report.facts if fact.words and fact.words not in own]
    names = tuple(file.name for file in context.attached if any(word in file.text for word in words))
    return report.model_copy(update={"attached": names}) if names else report
