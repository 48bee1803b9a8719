"""The visible part of a comment in which a model explains the fault (SPEC section 5a, "The comment with a model")."""

from collections.abc import Iterator

from bot.report.comment.facts import shown_facts
from bot.report.languages.catalogue import Translator
from bot.report.links import Links
from bot.report.sanitise import code, prose
from nodes.report import Citation, Kind, TriageReport
from nodes.search.facts import Fact
from nodes.search.sentences import Sentence, say
from nodes.trust.prose import split
from nodes.trust.statements import cited_in, uncited

FACTS = 2
"""Facts shown with a cause that does not cite them."""
PLACES = 3
"""Places to change that are shown; further ones are folded."""


def cause(report: TriageReport, links: Links) -> Iterator[str]:
    """Yield each checked sentence as a list item with the links of its evidence."""
    known = {citation.evidence: citation for citation in report.citations}
    for sentence in split(report.root_cause or report.unconfirmed):
        cited = [known[name] for name in dict.fromkeys(cited_in(sentence)) if name in known]
        # An answer without matches has no address.
        where = " ".join(dict.fromkeys(filter(None, (_link(citation, links) for citation in cited))))
        yield f"- {prose(uncited(sentence)).rstrip('.')}{f' {where}' if where else ''}."


def places(report: TriageReport, links: Links, write: Translator) -> str:
    """Return the places to change, with their functions."""
    suspects = report.suspects[:PLACES]
    named = (_place(suspect.path, suspect.start_line, suspect.end_line, suspect.symbol, links) for suspect in suspects)
    shown = ", ".join(dict.fromkeys(named))
    if not shown:
        return ""
    if report.statement != "claim":
        says = say("Places that it names: {places}.", places=shown)
    else:
        # The confidence is about the search's order of files and says nothing about what the model explains.
        says = probable_place(report.kind, shown)
    return f"- {write(says)}"


def probable_place(kind: Kind, place: str, inside: str = "", share: str = "") -> Sentence:
    """Return the sentence that claims a file; a request has no fault that could be fixed."""
    if kind == "feature":
        return say("The change probably belongs in {place}{inside}{share}.", place=place, inside=inside, share=share)
    return say("The fix is probably in {place}{inside}{share}.", place=place, inside=inside, share=share)


def objections(report: TriageReport, write: Translator) -> tuple[str, ...]:
    """Return what speaks against the cause, and why it is not claimed."""
    reasons = (*report.doubts, report.unconfirmed_because)
    return tuple(f"- {prose(write(reason))}" for reason in reasons if reason)


def facts_beside(report: TriageReport) -> tuple[Fact, ...]:
    """Return the checked facts about lines that the cause does not cite, the leading one first."""
    lead = (report.lead,) if report.lead is not None else ()
    candidates = dict.fromkeys((*lead, *(fact for fact in report.facts if fact.strong), *shown_facts(report)))
    return tuple(fact for fact in candidates if not _is_cited(fact, report))[:FACTS]


def _is_cited(fact: Fact, report: TriageReport) -> bool:
    if fact.line is None or fact.sha:
        return False
    of_file = (citation for citation in report.citations if citation.path == fact.path)
    return any(citation.start_line <= fact.line <= citation.end_line for citation in of_file)


def _link(citation: Citation, links: Links) -> str:
    """Return the lines of a citation or its commit; empty for evidence that has no address in the repository."""
    if citation.change:
        return links.change_of(citation.change)
    return _place(citation.path, citation.start_line, citation.end_line, None, links) if citation.path else ""


def _place(path: str, start: int, end: int, symbol: str | None, links: Links) -> str:
    address, name = links.lines(path, start, end, links.commit), path.rsplit("/", 1)[-1]
    lines = f"{start}-{end}" if end != start else f"{start}"
    place = f"[{code(f'{name}:{lines}')}]({address})" if address else code(f"{path}:{lines}")
    return f"{place} {code(symbol)}" if symbol else place
