"""The Markdown of a comment and of a draft for an issue tracker."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bot.report.comment.explained import cause, facts_beside, objections, places, probable_place
from bot.report.comment.facts import FACTS, folded_facts, is_echo, is_elsewhere, leads_with_fact, shown_facts
from bot.report.comment.folds import IN_ENGLISH, about, maintainers, sentence, sentence_without_path
from bot.report.comment.known_failure import known
from bot.report.languages.catalogue import Translator, translator
from bot.report.languages.codes import ENGLISH
from bot.report.links import Links
from bot.report.record import Record
from bot.report.sanitise import code, plain, prose
from bot.report.words import SECURITY, all_words, confidence_word, footer, spaced_words
from nodes.agents.writing.statement import function_of
from nodes.report import Suspect, Ticket, TriageReport
from nodes.search.facts import Fact
from nodes.search.facts.types import OF_CHANGES
from nodes.search.sentences import say
from nodes.trust.statements import uncited

MAX_COMMENT = 65_536
"""GitHub's limit, in characters."""
VISIBLE_WORDS = 90
"""Maximum number of words outside folded sections (SPEC section 5a)."""
EXPLAINED_WORDS = 170
"""The same for a comment in which a model explains the fault."""
_SHOWN_LINES = 8
_NO_VERDICT = say("No verdict.")
_MAX_SHARE = 0.95
"""The highest share that a comment states: fixes of dozens of issues cannot support a higher one."""


class Sections(NamedTuple):
    """The parts of a comment, each sanitised Markdown."""

    headline: str
    link: str
    facts: str
    reporter: str
    maintainers: str
    about: str

    @property
    def visible(self) -> tuple[str, ...]:
        """Return the parts outside folded sections, in order."""
        return (self.headline, self.link, self.facts, self.reporter)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownRenderer:
    """Renders reports with links into a repository; without an address, places are plain paths."""

    server_url: str = "https://github.com"
    repository: str | None = None
    record: Record | None = None
    """Adjusts confidences to the repository's outcomes."""

    def comment(self, report: TriageReport, language: str = ENGLISH) -> str:
        """Render the headline, permalink, facts and one line for the reporter; everything else is folded."""
        write = translator(language, report.messages)
        last = write(footer())
        if report.kind == "security":
            return f"{write(SECURITY)}\n\n{last}\n"
        shown = self.sections(report, write, write)
        room = most_words(report) - len(footer().split())
        count = spaced_words if write.has_spaces else all_words
        visible = fitting((known(report, self._links(report), write), *shown.visible), room, count)
        return join((*visible, shown.maintainers), (shown.about, last), fallback=visible)

    def sections(
        self, report: TriageReport, ours: Translator = IN_ENGLISH, theirs: Translator = IN_ENGLISH
    ) -> Sections:
        """Return a comment's parts in order, some empty, in two languages; what is folded is English."""
        links = self._links(report)
        shown = facts_beside(report) if report.is_explained else shown_facts(report)
        # Not the words of a translation, so that the folded parts are the same in all languages.
        words = sum(map(spaced_words, self._visible(report, links, shown, IN_ENGLISH, IN_ENGLISH)))
        return Sections(
            *self._visible(report, links, shown, ours, theirs),
            maintainers=maintainers(report, links, folded_facts(report, shown), words),
            about=about(report, self.record),
        )

    def _visible(
        self, report: TriageReport, links: Links, shown: Sequence[Fact], ours: Translator, theirs: Translator
    ) -> tuple[str, str, str, str]:
        """Return the headline, the link, the lines below them, and what is for the reporter."""
        if report.is_explained:  # by a model, claimed or not
            headline, link = f"**{prose(ours(report.verdict)) or ours(_NO_VERDICT)}**", ""
            claims = (*cause(report, links), places(report, links, ours), *objections(report, ours))
            linked = None
        else:
            headline, link = _headline(report, links, ours, self.record), _permalink(report, links)
            claimed = "" if _claims_in_headline(report) else _bullet(_claim(report, ours, self.record))
            claims = (claimed, *(f"- {prose(ours(doubt))}" for doubt in report.doubts))
            linked = _linked_path(report)
        facts = (_fact(fact, links, ours, linked) for fact in shown)
        lines = "\n".join(filter(None, (*claims, *facts, _attached(report, ours))))
        return headline, link, lines, _reporter(report, theirs)

    def ticket(self, report: TriageReport) -> Ticket:
        """Render the report for an issue tracker: a title, a body and fields."""
        fields: dict[str, str] = {"type": report.kind, "severity": report.severity}
        if report.kind == "security":
            return Ticket(title="Possible security problem: see the repository's security policy", fields=fields)
        links = self._links(report)
        facts = "\n".join(_fact(fact, links, IN_ENGLISH) for fact in report.facts[:FACTS])
        # A tracker does not show the evidence that numbers such as E1 name.
        because = uncited(report.root_cause or report.unconfirmed)
        verdict = "" if because.startswith(report.verdict) else prose(report.verdict)
        parts = [verdict, prose(because), facts, sentence("To confirm", uncited(report.how_to_confirm))]
        if report.statement in ("claim", "first_place") and report.suspects:
            fields["component"] = report.suspects[0].path
        if report.labels:
            fields["labels"] = ", ".join(report.labels)
        # Not escaped, because trackers show titles without mark-up; it opens no HTML comment.
        title = plain(report.verdict.replace("`", "").replace("<!--", "< !--"))[:140]
        return Ticket(title=title, body=_whole_parts(parts, 3_000), fields=fields)

    def _links(self, report: TriageReport) -> Links:
        return Links(self.server_url, self.repository or report.repository, report.commit)


def most_words(report: TriageReport) -> int:
    """Return the maximum number of words outside folded sections."""
    return EXPLAINED_WORDS if report.is_explained else VISIBLE_WORDS


def fitting(parts: Sequence[str], most: int, count: Callable[[str], int] = spaced_words) -> tuple[str, ...]:
    """Return the first lines that fit into a number of words, without cutting a sentence."""
    kept: list[str] = []
    left = most
    for part in filter(None, parts):
        lines: list[str] = []
        for line in part.split("\n"):
            words = count(line)
            if words <= left:
                lines.append(line)
                left -= words
        kept += ["\n".join(lines)] if lines else []
    return tuple(kept)


def join(parts: Iterable[str], always: Iterable[str], *, fallback: Iterable[str]) -> str:
    """Join the parts into one comment within GitHub's limit; if they are too long, use the fallback instead."""
    last = tuple(always)
    whole = "\n\n".join(filter(None, (*parts, *last)))
    if len(whole) >= MAX_COMMENT:
        whole = "\n\n".join(filter(None, (*fallback, *last)))
    return whole + "\n"


def _whole_parts(parts: list[str], most: int) -> str:
    """Return as many whole parts as fit, because a part of a table is not a valid table."""
    kept = ""
    for part in filter(None, parts):
        longer = f"{kept}\n\n{part}" if kept else part
        kept = longer if len(longer) <= most else kept
    return kept


def _claims_in_headline(report: TriageReport) -> bool:
    """Return whether the claim is the headline: the leading fact only says where a name of the report is."""
    lead = report.lead
    if report.statement != "claim" or lead is None or not report.suspects or not leads_with_fact(report):
        return False
    return is_echo(lead) and report.suspects[0].path == lead.path


def _attached(report: TriageReport, write: Translator) -> str:
    """Return where the words are that the facts are about, if they are not in the issue itself."""
    names = ", ".join(code(name) for name in report.attached[:2])
    return _bullet(write(say("These words are from the attached {names}.", names=names)) if names else "")


def _bullet(text: str) -> str:
    return f"- {text}" if text else ""


def _headline(report: TriageReport, links: Links, write: Translator, record: Record | None = None) -> str:
    if _claims_in_headline(report) and (claimed := _claim(report, write, record)):
        return f"**{claimed}**"
    is_found = report.statement not in ("ranked", "nothing") or report.not_found == "code_not_readable"
    if not is_found and (_reporter(report, write) or shown_facts(report)):
        return ""  # a sentence without a finding is not useful to readers; the request or a fact is
    headline = prose(write(report.verdict))
    if report.lead is not None and leads_with_fact(report) and _permalink(report, links):
        headline = _with_change(prose(sentence_without_path(report.lead, write)), report.lead, links)
    # Two pairs of asterisks with nothing between them render as a horizontal rule.
    return f"**{headline or write(_NO_VERDICT)}**"


def _permalink(report: TriageReport, links: Links) -> str:
    """Return the URL of the leading fact's lines, file or change, alone on a line: GitHub shows such lines."""
    first = report.suspects[0] if report.suspects else None
    if first is not None and first.pointed and report.statement == "facts":
        return links.lines(first.path, first.quote_start, first.quote_end, report.commit) or links.place(first)
    fact = report.lead
    if fact is None or not (report.statement == "claim" or leads_with_fact(report)):
        return ""
    if not fact.path or (fact.kind in OF_CHANGES and not (fact.sha or fact.line)):
        return links.commit_page(fact.change) or "" if fact.change else ""
    if not fact.line or is_elsewhere(fact):
        return links.file(fact.path, report.commit) or ""
    place = next((suspect for suspect in report.suspects if suspect.path == fact.path and not fact.sha), None)
    start, end = _range(fact.line, place) if place is not None else (fact.line, fact.line)
    return links.lines(fact.path, start, end, fact.sha or report.commit) or code(f"{fact.path}:{fact.line}")


def _range(line: int, place: Suspect) -> tuple[int, int]:
    """Return the lines to show around a fact: the place's quoted lines, if they contain the fact's line and are few."""
    start, end = place.quote_start, place.quote_end
    return (start, end) if start <= line <= end and end - start < _SHOWN_LINES else (line, line)


def _claim(report: TriageReport, write: Translator, record: Record | None) -> str:
    if report.statement != "claim" or not report.root_cause or not report.suspects:
        return ""
    function = function_of(report)
    inside = say(", in {function}", function=code(function)) if function else ""
    # Other repositories' fixes say little about this one, so only its own outcomes give a share.
    worth = record.confidence(report.confidence) if record else 0.0
    share = f"{min(worth, _MAX_SHARE):.0%}"
    probable = say(" ({likely}, {share})", likely=confidence_word(worth), share=share)
    return write(probable_place(report.kind, _file(report), inside, probable if record else ""))


def _file(report: TriageReport) -> str:
    """Return the path of the claimed file, unless the headline or the lines above name it."""
    path, lead = report.suspects[0].path, report.lead
    named = lead is not None and leads_with_fact(report) and lead.path == path and not _claims_in_headline(report)
    return say("this file") if named else code(path)


def _linked_path(report: TriageReport) -> str | None:
    """Return the file whose lines the comment already shows, so that further facts about it only give their lines."""
    lead = report.lead
    if lead is None or not lead.line or not (report.statement == "claim" or leads_with_fact(report)):
        return None
    return lead.path


def _fact(fact: Fact, links: Links, write: Translator, shown: str | None = None) -> str:
    """Return one fact with a link to its line or change."""
    where, is_placed = "", not is_elsewhere(fact)
    if fact.path and fact.line and is_placed:
        address = links.lines(fact.path, fact.line, fact.line, fact.sha or links.commit)
        name, path = f"{code(fact.path.rsplit('/', 1)[-1])} ", f"{code(fact.path)} "
        name, path = ("", "") if fact.path == shown or fact.kind in OF_CHANGES else (name, path)
        where = f" [{name}L{fact.line}]({address})" if address else f" {path}L{fact.line}"
    elif fact.change:
        address = links.commit_page(fact.change)
        where = f" [{code(fact.change[:7])}]({address})" if address else f" {code(fact.change[:12])}"
    is_short = fact.line and is_placed and (fact.path == shown or fact.kind not in OF_CHANGES)
    says = prose(sentence_without_path(fact, write) if is_short else write(fact.says))
    return f"- {_with_change(says, fact, links)}{where}"


def _with_change(says: str, fact: Fact, links: Links) -> str:
    """Return the sentence of a fact about a changed line with a link to the commit that it names."""
    address = links.commit_page(fact.change) if fact.line and fact.change else None
    return says.replace(name := code((fact.change or "")[:10]), f"[{name}]({address})") if address else says


def _reporter(report: TriageReport, write: Translator) -> str:
    """Return at most one request; that nothing more is needed is no program's to know."""
    if report.kind not in ("bug", "docs") or not report.missing:
        return ""
    wanted = report.missing[0]
    write = write.whole(wanted) if report.written_by == "rules" else write
    text = prose(write(wanted))
    if prose(wanted).endswith((".", "?", "!")):
        return write(say("For the reporter: {request}", request=text))
    if text == prose(wanted):
        text = f"{text[:1].lower()}{text[1:]}"
    return write(say("For the reporter: please add {need}.", need=text))
