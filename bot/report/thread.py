"""What a comment says of the thread it stands in: the marker, the questions, what was answered, the footer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.ports import AskedQuestion
from bot.report.record import Record
from bot.report.sanitise import prose
from bot.report.words import cut

REPORT_MARKER = "<!-- triage:report"
"""How the one sticky comment begins; nothing else of ours does."""
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_COMMENT = re.compile(r"[0-9]{1,19}(?:#issuecomment-[0-9]{1,19})?")
_UPDATED = re.compile(r" — updated \d{4}-\d\d-\d\d \d\d:\d\d UTC</sub>$", re.MULTILINE)
_QUESTION_WORDS, _OPTION_WORDS, _ANSWER_WORDS = 28, 16, 10


@dataclass(frozen=True, slots=True)
class Thread:
    """The issue a comment is for, and what was said in it."""

    number: int
    run: int
    server_url: str
    repository: str
    """``owner/name`` of today."""
    reporter: str
    """Who may be mentioned, once; empty where nobody may."""
    questions: tuple[AskedQuestion, ...] = ()
    news: str = ""
    """Why the comment was rewritten, in our own words; empty for the first one."""
    config_note: str = ""
    """What is wrong with the repository's configuration, in our own words."""
    limited: tuple[str, ...] = ()
    """Limits that were met today, in our own words."""
    suspects: int = 3
    follows: bool = False
    """A model's report will replace this one."""
    record: Record | None = None
    """What confidences were worth in this repository; None where too little is known."""

    @property
    def marker(self) -> str:
        """The line by which our own comment is found again."""
        return f"{REPORT_MARKER} v1 issue={self.number} run={self.run} -->"

    @property
    def base(self) -> str:
        """The repository's page."""
        return f"{self.server_url.rstrip('/')}/{self.repository}"


def question_marker(question_id: str) -> str:
    """The line by which a separate question is found again; an id is made of letters, digits and dashes."""
    return f"<!-- triage:question id={re.sub(r'[^A-Za-z0-9_.-]', '-', question_id)[:80]} -->"


def footer(updated: str = "") -> str:
    """How to be heard, and when this was written (minutes, UTC)."""
    when = f" — updated {updated} UTC" if updated else ""
    return (
        "<sub>Automated first read; a maintainer decides. `/triage help` · wrong? `/triage wrong <why>` · "
        f"`/triage stop`{when}</sub>"
    )


def stamped(body: str, updated: str) -> str:
    """The same comment with the time at which it is sent."""
    return body.replace(footer(), footer(updated))


def unstamped(body: str) -> str:
    """The same comment without a time, so that contents can be compared."""
    return _UPDATED.sub("</sub>", body.replace("\r\n", "\n"))


def mention(login: str) -> str:
    """The one live mention there may be; nothing where the login is not one."""
    return f"@{login}" if _LOGIN.fullmatch(login) else ""


def open_questions(thread: Thread) -> str:
    """What the reporter is asked, as boxes to be ticked off, with answers to choose from."""
    waiting = [question for question in thread.questions if question.state == "open"]
    who = mention(thread.reporter)
    lines = [f"> {f'**{who}** — ' if who else ''}reply here in your own words; no command is needed."]
    for question in waiting:
        lines.append(f"> - [ ] **Q{question.slot}** {prose(cut(question.text, _QUESTION_WORDS))}")
        options = filter(None, (prose(cut(option, _OPTION_WORDS)) for option in question.options[:3]))
        lines += [f">   - {option}" for option in options]  # a dash alone would make the line above a heading
    return "\n".join(lines)


def settled_questions(thread: Thread) -> str:
    """What was asked and is settled, with the answers; the asked and unanswered stand with the rest that is missing."""
    settled = [question for question in thread.questions if question.state != "open"]
    return "\n".join(_settled(question, thread) for question in settled)


def reasons(questions: Sequence[AskedQuestion]) -> str:
    """For maintainers: why each open question is put."""
    listed = [f"- **Q{q.slot}**: {prose(q.reason)}" for q in questions if q.state == "open" and q.reason]
    return "\n".join(("**Why it is asked:**", *listed)) if listed else ""


def answered_news(thread: Thread) -> str:
    """One line on why the comment was rewritten."""
    return f"*Updated {thread.news}.*" if thread.news else ""


def without_mention(thread: Thread) -> Thread:
    """The same thread, with nobody mentioned."""
    return replace(thread, reporter="")


def _settled(question: AskedQuestion, thread: Thread) -> str:
    text = prose(cut(question.text, _QUESTION_WORDS))
    if question.state == "answered":
        answer = prose(cut(question.answer or "", _ANSWER_WORDS))
        return f"- [x] **Q{question.slot}** {text} — {_where(question, thread)}: {answer}"
    why = "withdrawn" if question.state == "withdrawn" else "no answer in 14 days"
    return f"- [ ] **Q{question.slot}** {text} — {why}"


def _where(question: AskedQuestion, thread: Thread) -> str:
    """A link to the answer, if it is one into this repository's issues."""
    url = question.answer_url or ""
    if url.startswith(f"{thread.base}/issues/") and _COMMENT.fullmatch(url.removeprefix(f"{thread.base}/issues/")):
        return f"[answered]({url})"
    return "answered"
