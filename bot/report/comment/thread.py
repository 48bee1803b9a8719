"""The parts of a comment about its thread: the marker, questions, answers and the footer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from bot.ports import AskedQuestion
from bot.report.languages.catalogue import LANGUAGES, catalogue
from bot.report.languages.translate import known_language, translate
from bot.report.record import Record
from bot.report.sanitise import prose
from bot.report.words import all_words, cut, spaced_words

REPORT_MARKER = "<!-- triage:report"
"""The beginning of the sticky comment; no other comment of the App begins with it."""
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_COMMENT = re.compile(r"[0-9]{1,19}(?:#issuecomment-[0-9]{1,19})?")
_FOOTERS = tuple(catalogue(language).sentences["reporter.footer_time"].text for language in LANGUAGES)
_UPDATED = re.compile(
    rf"(?:{'|'.join(re.escape(text.rpartition('`')[2].partition('{')[0]) for text in _FOOTERS)})"
    r"\d{4}-\d\d-\d\d \d\d:\d\d UTC</sub>$",
    re.MULTILINE,
)
_QUESTION_WORDS, _OPTION_WORDS, _ANSWER_WORDS = 28, 16, 10


@dataclass(frozen=True, slots=True)
class Thread:
    """The issue that a comment is for, and its questions and answers."""

    number: int
    run: int
    server_url: str
    repository: str
    """The current ``owner/name``."""
    reporter: str
    """The login that may be mentioned once; empty if no one may be mentioned."""
    questions: tuple[AskedQuestion, ...] = ()
    update_reason: str = ""
    """The reason why the comment was rewritten, in the App's own words; empty for the first version."""
    config_note: str = ""
    """The faults of the repository's configuration, in the App's own words."""
    limited: tuple[str, ...] = ()
    """The limits that were reached today, in the App's own words."""
    follows: bool = False
    """Whether a model's report will replace this one."""
    record: Record | None = None
    """The adjustment of confidences in this repository; None if there are too few outcomes."""
    language: str = "en"
    """The language of what is written for maintainers."""
    reporter_language: str = ""
    """The language of what is written for the reporter; empty for the same."""

    def to_maintainers(self, text: str) -> str:
        """Return a part of the comment in the maintainers' language."""
        return translate(text, self.language)

    def to_reporter(self, text: str) -> str:
        """Return a part of the comment in the reporter's language."""
        return translate(text, self.reporter_language or self.language)

    @property
    def words(self) -> Callable[[str], int]:
        """Return how words are counted: by characters if either language is written without spaces."""
        languages = {known_language(code) for code in (self.language, self.reporter_language or self.language)}
        return spaced_words if all(catalogue(language).has_spaces for language in languages) else all_words

    @property
    def footer(self) -> str:
        """Return the last line of the comment, without a time."""
        return self.to_reporter(footer())

    @property
    def marker(self) -> str:
        """Return the line by which the App finds its own comment."""
        return f"{REPORT_MARKER} v1 issue={self.number} run={self.run} -->"

    @property
    def base(self) -> str:
        """Return the URL of the repository's page."""
        return f"{self.server_url.rstrip('/')}/{self.repository}"


def question_marker(question_id: str) -> str:
    """Return the line by which a separate question is found; an id consists of letters, digits and dashes."""
    return f"<!-- triage:question id={re.sub(r'[^A-Za-z0-9_.-]', '-', question_id)[:80]} -->"


def footer(updated: str = "") -> str:
    """Return how to reply to the App, and when the comment was written (to the minute, UTC)."""
    when = f" — updated {updated} UTC" if updated else ""
    return (
        "<sub>Automated first read; a maintainer decides. `/triage help` · wrong? `/triage wrong <why>` · "
        f"`/triage stop`{when}</sub>"
    )


def with_time(body: str, updated: str) -> str:
    """Return the comment with the time at which it is sent."""
    for language in LANGUAGES:
        without = _footer_without_time(language)
        if without in body:
            body = body.replace(without, translate(footer(updated), language))
    return body


@cache
def _footer_without_time(language: str) -> str:
    return translate(footer(), language)


def without_time(body: str) -> str:
    """Return the comment without a time, for comparisons."""
    return _UPDATED.sub("</sub>", body.replace("\r\n", "\n"))


def mention(login: str) -> str:
    """Return the only active mention in the comment; empty if the text is not a valid login."""
    return f"@{login}" if _LOGIN.fullmatch(login) else ""


def open_questions(thread: Thread) -> str:
    """Return the questions to the reporter as check boxes, with the answers to choose from."""
    waiting = [question for question in thread.questions if question.state == "open"]
    who = mention(thread.reporter)
    lines = [f"> {f'**{who}** — ' if who else ''}reply here in your own words; no command is needed."]
    for question in waiting:
        lines.append(f"> - [ ] **Q{question.slot}** {prose(cut(question.text, _QUESTION_WORDS))}")
        options = filter(None, (prose(cut(option, _OPTION_WORDS)) for option in question.options[:3]))
        lines += [f">   - {option}" for option in options]  # a dash alone would make the line above a heading
    return "\n".join(lines)


def settled_questions(thread: Thread) -> str:
    """Return the settled questions with their answers; unanswered ones are listed as missing information."""
    settled = [question for question in thread.questions if question.state != "open"]
    return "\n".join(_settled(question, thread) for question in settled)


def reasons(questions: Sequence[AskedQuestion]) -> str:
    """Return the reason for each open question, for maintainers."""
    listed = [f"- **Q{q.slot}**: {prose(q.reason)}" for q in questions if q.state == "open" and q.reason]
    return "\n".join(("**Why it is asked:**", *listed)) if listed else ""


def answered_news(thread: Thread) -> str:
    """Return one line on why the comment was rewritten."""
    return f"*Updated {thread.update_reason}.*" if thread.update_reason else ""


def without_mention(thread: Thread) -> Thread:
    """Return the thread without a mention."""
    return replace(thread, reporter="")


def _settled(question: AskedQuestion, thread: Thread) -> str:
    text = prose(cut(question.text, _QUESTION_WORDS))
    if question.state == "answered":
        answer = prose(cut(question.answer or "", _ANSWER_WORDS))
        return f"- [x] **Q{question.slot}** {text} — {_where(question, thread)}: {answer}"
    why = "withdrawn" if question.state == "withdrawn" else "no answer in 14 days"
    return f"- [ ] **Q{question.slot}** {text} — {why}"


def _where(question: AskedQuestion, thread: Thread) -> str:
    """Return a link to the answer if it points to this repository's issues."""
    url = question.answer_url or ""
    if url.startswith(f"{thread.base}/issues/") and _COMMENT.fullmatch(url.removeprefix(f"{thread.base}/issues/")):
        return f"[answered]({url})"
    return "answered"
