"""The folded sections of a comment: the evidence for maintainers and the explanation of the report."""

import re
from collections.abc import Iterable, Sequence, Set

from bot.report.comment.facts import is_elsewhere
from bot.report.languages.catalogue import Translator
from bot.report.languages.codes import ENGLISH
from bot.report.links import Links
from bot.report.record import Record
from bot.report.sanitise import block, code, prose
from bot.report.words import cut, spaced_words
from nodes.agents.writing.acceptance import READ_THE_LIST
from nodes.report import OutsideSource, RelatedChange, RelatedIssue, Suspect, SuspectChange, TriageReport
from nodes.search.facts import Fact
from nodes.search.facts.levels import is_stated
from nodes.search.facts.output.refusals import is_raising
from nodes.search.sentences import say

_REASON_WORDS = 16
_TITLE_WORDS = 16
_QUOTED, _MORE, _CHANGES = 1, 3, 1
"""Maximum number of quoted places in the fold, and of facts and changes listed there."""

WORDS, LEAST_FOLDED = 170, 60
"""Maximum number of words of a comment with its folds, and the number that the first fold may have in any case."""
_AROUND = 50
"""Words of the titles of the folds, of the last one and of the footer."""
_NAME = re.compile(r"`([^`]{1,300})`")
IN_ENGLISH = Translator(ENGLISH)
_FAILED = re.compile(r"could not|no answer")
"""Marks the steps of a run that failed; the others are in the record of the run."""


def maintainers(report: TriageReport, links: Links, facts: Sequence[Fact] = (), visible: int = 0) -> str:
    """Return further facts and places, the history, the owner and the next step, as far as there is room.

    ``facts`` are those that the comment does not show, and ``visible`` is the number of words that it shows.
    """
    placed = [suspect for suspect in report.suspects if suspect.facts or report.statement == "first_place"]
    # The lines of a place whose own line is gone are unrelated to the report.
    lines = [fact for fact in report.facts if fact.line]
    unrelated = {fact.path for fact in lines if is_elsewhere(fact)}
    unrelated -= {fact.path for fact in lines if not is_elsewhere(fact)}
    shown = [suspect for suspect in placed if suspect.path not in unrelated]
    quoted = sorted(shown, key=lambda suspect: report.lead is not None and suspect.path != report.lead.path)
    # Next to a line that the report names, other places are guesses.
    named = report.statement == "claim" or any(fact.is_named_line and is_stated(fact) for fact in report.facts)
    ranked = [] if named else [suspect for suspect in report.suspects if suspect not in placed]
    mine, all_names = ({name for it in some for name in (it.path, it.symbol)} for some in (placed, report.suspects))
    others = all_names - mine
    review = "" if report.review_message.endswith(READ_THE_LIST) else report.review_message
    parts = [
        *((1, _quote(suspect)) for suspect in quoted[:_QUOTED]),
        (2, bullets("More facts", (_fact_line(fact, links) for fact in facts[:_MORE]))),
        (6, bullets(ranked_by(report), (links.place(suspect) for suspect in ranked))),
        *zip((1, 3), _changes(report, links, others), strict=True),
        (9, affected(report)),
        (5, sentence("Bug or intended", intent_of(report))),
        (4, sentence("How to confirm", report.how_to_confirm)),
        (8, sentence("Severity", report.severity_reason) if report.severity != "unknown" else ""),
        (4, sentence("For review", review)),
        (0, bullets("Related", map(_related, report.related))),
        (0, bullets("Pull requests and commits", (_related_change(change, links) for change in report.changes))),
        (6, bullets("Outside this repository, not checked", map(_outside, report.outside))),
        (1, _owner(report, others)),
    ]
    room = max(LEAST_FOLDED, WORDS - visible - _AROUND)
    return fold("For maintainers: evidence, further places, history", "\n\n".join(_chosen(parts, room)))


def _chosen(parts: Sequence[tuple[int, str]], room: int) -> list[str]:
    """Return, in their order, the texts that fit into a number of words; those with a low number are preferred."""
    kept = dict[int, str]()
    for at in sorted(range(len(parts)), key=lambda at: parts[at][0]):
        importance, text = parts[at]
        # What others reported or changed is news, so no other text is a reason to leave it out.
        kept[at] = text if importance == 0 else _shortened(text, room)
        room -= spaced_words(kept[at])
    return [kept[at] for at in sorted(kept) if kept[at]]


def _shortened(text: str, room: int) -> str:
    """Return a text that fits into a number of words, a list without its last items if need be, or nothing."""
    lines = text.split("\n")
    while spaced_words("\n".join(lines)) > room and len(lines) > 2 and lines[-1].startswith("- "):
        lines.pop()
    fitting = "\n".join(lines)
    return fitting if spaced_words(fitting) <= room else ""


def _fact_line(fact: Fact, links: Links) -> str:
    if not (fact.path and fact.line) or is_elsewhere(fact):
        return prose(fact.says)
    address = links.lines(fact.path, fact.line, fact.line, fact.sha or links.commit)
    where = f"{code(fact.path.rsplit('/', 1)[-1])} L{fact.line}"
    return f"{prose(sentence_without_path(fact))} [{where}]({address})" if address else f"{prose(fact.says)} {where}"


def sentence_without_path(fact: Fact, write: Translator = IN_ENGLISH) -> str:
    """Return the sentence of a fact without the file's name, for use next to a link to its line."""
    path, says = code(fact.path or ""), write(fact.says)
    if not (fact.path and fact.line):
        return says
    if says == fact.says:
        short = says.replace(f", {path}.", ".").replace(f" in {path}, under", " under")
        short = short.replace(f" this line of {path}.", " this line.").replace(f"test file {path}", "test file")
    else:
        short = says.replace(write(say(" of `{place}`", place=fact.path)), "")
    without = short.replace(path, "this file" if says == fact.says else write(say("this file")))
    return without[:1].upper() + without[1:]


def affected(report: TriageReport) -> str:
    """Return the versions and platforms that the issue states."""
    versions, platforms = (", ".join(map(code, names)) for names in (report.affected_versions, report.platforms))
    notes = [f"**Versions named:** {versions}" if versions else "", f"**Platforms:** {platforms}" if platforms else ""]
    return " · ".join(filter(None, notes))


def ranked_by(report: TriageReport) -> str:
    """Return the title of the places without a checked fact."""
    return "Ranked by the model" if report.is_in_models_order else "Ranked by the search"


def about(report: TriageReport, record: Record | None = None) -> str:
    """Return the commit, the brain, the basis of the confidence, and what the checks removed."""
    audit = report.citation_audit
    lines = [
        f"- Commit read: {code(report.commit)}" if report.commit else "",
        f"- Written by: {code(report.written_by)}",
        # That of the search says nothing about a model's explanation.
        f"- Confidence: {_measured(report, record)}" if report.root_cause and not report.is_explained else "",
        f"- Crash: {', '.join(map(code, report.fingerprints))}" if report.fingerprints else "",
        f"- Citations checked: {audit.citations}; claims dropped in checking: {len(audit.dropped)}",
        *(f"- {prose(note)}" for note in report.notes),
        *(f"- {prose(step)}" for step in report.tried if _FAILED.search(step)),
    ]
    return fold("About this report", "\n".join(filter(None, lines)))


def _measured(report: TriageReport, record: Record | None) -> str:
    """Return the basis of the confidence; code that was only read, not run, gives no certainty."""
    shipped = f"{min(report.confidence, 0.99):.0%}"
    if record is None:
        return f"{shipped} (shipped calibration)"
    adjusted = f"{min(record.confidence(report.confidence), 0.99):.0%}"
    return f"{adjusted} by {record.basis} of this repository ({shipped} as shipped)"


def fold(title: str, body: str) -> str:
    """Return a folded section, or an empty string if its body is empty."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""


def sentence(title: str, text: str) -> str:
    """Return a titled sentence of untrusted prose."""
    return f"**{title}:** {prose(text)}" if text else ""


def bullets(title: str, lines: Iterable[str]) -> str:
    """Return a titled list of lines that are already Markdown."""
    items = [f"- {line}" for line in lines if line]
    return "\n".join((f"**{title}:**", *items)) if items else ""


def change_line(change: SuspectChange, links: Links) -> str:
    """Return a change on one line: the commit, its range, and the reasons for it."""
    within = f" ({prose(change.within)})" if change.within else ""
    why = f" — {prose(change.why)}" if change.why else ""
    return f"{links.change_of(change.sha)} “{prose(cut(change.title, _TITLE_WORDS))}”{within}{why}."


def _changes(report: TriageReport, links: Links, others: Set[str | None]) -> list[str]:
    suspected = report.suspect_changes[:_CHANGES]
    about = ((change, _about(change.why, others)) for change in report.recent_changes if not suspected)
    recent = [change.model_copy(update={"why": why}) for change, why in about if why or not change.why][:_CHANGES]
    return [
        bullets("Suspect changes, not bisected", (change_line(c, links) for c in suspected)),
        bullets("Latest changes of this code", (change_line(c, links) for c in recent)),
    ]


def _about(reasons: str, others: Set[str | None]) -> str:
    """Return the reasons without those about places other than the report's; empty if no place remains."""
    named = [(reason, set(_NAME.findall(reason))) for reason in reasons.split("; ")]
    kept = [(reason, found) for reason, found in named if not found & others]
    return "; ".join(reason for reason, _ in kept) if kept == named or any(found for _, found in kept) else ""


def _owner(report: TriageReport, others: Set[str | None]) -> str:
    """Return the owner of the places in a code span, because naming someone must not notify them."""
    reason = _about(report.owner_reason, others)
    known = report.owner if reason else None
    return f"**People who know this code:** {code(known)} — {prose(reason)}; not notified" if known else ""


def _quote(suspect: Suspect) -> str:
    where = code(f"{suspect.path}:{suspect.quote_start}-{suspect.quote_end}")
    cited = f" [{suspect.evidence}]" if suspect.evidence else ""
    return f"{where}{cited}\n\n{block(suspect.quote)}"


def related_reason(issue: RelatedIssue, write: Translator) -> str:
    """Return why another issue is named, as the end of a sentence without its full stop."""
    why = prose(cut(write(issue.why), _REASON_WORDS)).rstrip(".")
    return say(": {reason}", reason=why) if why else ""


def _outside(source: OutsideSource) -> str:
    # In a code span, so that an untrusted address is not a link.
    title = f" “{prose(cut(source.title, _TITLE_WORDS))}”" if source.title else ""
    return f"{code(source.address)}{title}, by {code(source.found_by)}"


def _related_change(change: RelatedChange, links: Links) -> str:
    # A pull request's number is in a code span, as in `_related`.
    name = code(change.reference) if change.reference.startswith("#") else links.change_of(change.reference)
    title = f" “{prose(cut(change.title, _TITLE_WORDS))}”" if change.title else ""
    return f"{name} ({change.state}){title}: {prose(change.why)}"


def _related(issue: RelatedIssue) -> str:
    # In a code span, because a live reference would write into the other issue's history.
    relation = {"duplicate": "may be the same", "related": "is close", "fixed_by": "may have fixed it"}[issue.relation]
    state = f" ({issue.state})" if issue.state else ""
    title = f" “{prose(cut(issue.title, _TITLE_WORDS))}”" if issue.title else ""
    return f"{code(issue.reference)}{state}{title} {relation}{f': {prose(issue.why)}' if issue.why else ''}"


def intent_of(report: TriageReport) -> str:
    """Return what the leading fact shows about bug or intention, or an empty string."""
    lead = report.lead
    if report.kind != "bug" or lead is None:
        return ""
    if lead.refuses and lead.kind in ("raised_here", "built_here"):
        if report.statement == "claim":  # of the place of the fix
            return ""
        return "unclear, because the code raises this error deliberately."
    # In a frame whose error comes from an inner one, another line fails.
    is_inner = not (lead.by_library or " comes from inside " in lead.says or " is named in words " in lead.says)
    if lead.kind == "raised_here" and lead.exact and is_inner and not is_raising(lead.text or ""):
        return "probably a bug, because the line that fails does not raise the error deliberately."
    return ""
