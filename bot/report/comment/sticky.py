"""All variants of an issue's sticky comment, and the comments next to it: questions, reminders, replies and alerts."""

from collections.abc import Sequence
from dataclasses import replace

from bot.ports import AskedQuestion
from bot.report.comment.folds import fold
from bot.report.comment.known_failure import known
from bot.report.comment.markdown import MarkdownRenderer, fitting, join, most_words
from bot.report.comment.thread import Thread, marker, news, open_questions, reasons, settled_questions, with_time
from bot.report.difference import is_other_finding
from bot.report.links import Links
from bot.report.sanitise import code
from bot.report.words import FOLLOWS, SECURITY, WAITING
from nodes.report import TriageReport
from nodes.search.sentences import say
from nodes.state import BugTriageState

_ISSUES = 10
"""Maximum number of issues that an alert names."""


def report_comment(report: TriageReport, thread: Thread) -> str:
    """Render a finished run: a cause, no finding, a known failure, a duplicate, or a security report."""
    if report.kind == "security":
        return fixed_comment(SECURITY, thread)
    ours, theirs = thread.to_maintainers(report.messages), thread.to_reporter(report.messages)
    renderer = MarkdownRenderer(server_url=thread.server_url, repository=thread.repository, record=thread.record)
    shown = renderer.sections(report, ours, theirs)
    settled = settled_questions(thread)
    links = Links(thread.server_url, thread.repository, report.commit)
    follows = ours(FOLLOWS) if thread.follows else ""
    known_already = known(report, links, ours, thread.base)
    head = (thread.marker, known_already, follows, shown.headline, shown.link, news(thread, ours))
    room = most_words(report) + len(thread.marker.split()) - thread.words(with_time(thread.footer, "2026-01-01 10:02"))
    visible = fitting((*head, shown.facts, settled, "" if settled else shown.reporter), room, thread.words)
    for_them = "\n\n".join(filter(None, (_config(thread), shown.maintainers)))
    return join((*visible, for_them), (shown.about, thread.footer), fallback=visible)


def waiting_comment(state: BugTriageState, thread: Thread) -> str:
    """Render a run that waits for an answer: the question, without a cause."""
    write = thread.to_reporter()
    visible = (thread.marker, write(WAITING), open_questions(thread), news(thread, write), settled_questions(thread))
    for_them = fold("For maintainers: why it is asked", reasons(thread.questions))
    commit = f"- Commit read: {code(state.sha)}\n" if state.sha else ""
    about = fold("About this report", f"{commit}- Nothing is claimed while this waits.")
    return join((*visible, _config(thread), for_them), (about, thread.footer), fallback=visible)


def fixed_comment(text: str, thread: Thread) -> str:
    """Render a comment with a fixed text."""
    return f"{thread.marker}\n\n{thread.to_reporter()(text)}\n\n{thread.footer}\n"


def question_reply(thread: Thread, question_id: str, sticky_url: str) -> str:
    """Render a separate comment for a question, since an edit notifies no one; it mentions no one again."""
    asked, write = open_questions(replace(thread, reporter="")), thread.to_reporter()
    is_known = sticky_url.startswith(f"{thread.base}/issues/")
    link = write(say("It is in [the report]({url}) as well.", url=sticky_url)) if is_known else ""
    return "\n\n".join(filter(None, (marker("question", question_id), write(WAITING), asked, link))) + "\n"


def reminder(thread: Thread, question: AskedQuestion, asked_url: str) -> str:
    """Render the reminder of a question, with its address if known; it mentions no one: a comment notifies anyway."""
    asked, write = open_questions(replace(thread, reporter="", questions=(question,))), thread.to_reporter()
    named = write(say("This question"))
    is_known = asked_url.startswith(f"{thread.base}/issues/")
    says = say(
        "{question} is still open. If no answer comes, the report is written without it; nothing is closed.",
        question=f"[{named}]({asked_url})" if is_known else named,
    )
    return "\n\n".join((marker("reminder", question.question_id), write(says), asked)) + "\n"


def _config(thread: Thread) -> str:
    """Return what maintainers can fix: their configuration, and limits that they or the operator can raise."""
    note = f"> For maintainers: {thread.config_note}" if thread.config_note else ""
    met = fold("For maintainers: limits reached here today", "\n".join(f"- {limit}" for limit in thread.limited))
    return "\n\n".join(filter(None, (note, met)))


def alert_comment(fingerprint: str, reporters: int, others: Sequence[int]) -> str:
    """Return the comment on a crash with its number of different reporters and the numbers of their other issues."""
    # In code spans, because live references would write into the other issues' histories.
    named = ", ".join(code(f"#{number}") for number in others[:_ISSUES])
    more = f" and {len(others) - _ISSUES} more" if len(others) > _ISSUES else ""
    says = f"**{reporters} people reported this crash within 24 hours.** Other reports: {named}{more}."
    note = "<sub>For maintainers; written once per crash.</sub>"
    return f"{marker('alert', fingerprint)}\n\n{says}\n\n{note}\n"


def answer_reply(
    before: TriageReport | None, after: TriageReport, thread: Thread, question_id: str, sticky_url: str
) -> str:
    """Return a sentence on what the report ``after`` an answer newly finds, with a link; empty if as ``before``."""
    finding = _finding(after, sticky_url)
    # While a question is open the comment claims nothing, so without an earlier report any finding is a change.
    changed = is_other_finding(before, after) if before is not None else bool(finding)
    if not changed or after.kind == "security" or not sticky_url.startswith(f"{thread.base}/issues/"):
        return ""
    says = finding or say("With it, [the report]({url}) no longer names a place.", url=sticky_url)
    reply = thread.to_reporter()(say("Thank you, the answer was read. {finding}", finding=says))
    return f"{marker('answered', question_id)}\n\n{reply}\n"


def _finding(report: TriageReport, url: str) -> str:
    """Return what the report names, as a sentence with its address; empty if it names nothing."""
    same = next((other for other in report.related if other.relation != "related"), None)
    if same is not None:
        # In a code span, because a live reference would write into the other issue's history.
        name = code(same.reference)
        if same.relation == "duplicate":
            return say("With it, [the report]({url}) names an issue that may be the same: {name}.", url=url, name=name)
        return say("With it, [the report]({url}) names what may have fixed it: {name}.", url=url, name=name)
    if report.statement in ("claim", "facts", "first_place") and report.suspects:
        name = code(report.suspects[0].path)
        return say("With it, [the report]({url}) names a place to look at: {name}.", url=url, name=name)
    return ""
