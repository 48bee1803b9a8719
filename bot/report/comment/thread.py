"""The parts of a comment about its thread: the marker, questions, answers and the footer."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.ports import AskedQuestion
from bot.report.languages.catalogue import Translator, translator
from bot.report.languages.codes import LANGUAGES
from bot.report.record import Record
from bot.report.sanitise import prose
from bot.report.words import all_words, cut, footer, spaced_words
from nodes.messages import Message
from nodes.search.sentences import say

REPORT_MARKER = "<!-- triage:report"
"""The beginning of the sticky comment; no other comment of the App begins with it."""
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_COMMENT = re.compile(r"[0-9]{1,19}(?:#issuecomment-[0-9]{1,19})?")
_UPDATED = re.compile(r"(?<=`/triage stop`)[^`\n<]{1,40}\d{4}-\d\d-\d\d \d\d:\d\d UTC</sub>$", re.MULTILINE)
"""The time in the last line, in each language."""
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
    """A sentence of the App on why the comment was rewritten; empty for the first version."""
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

    def to_maintainers(self, messages: Mapping[str, Message] | None = None) -> Translator:
        """Return the translator of sentences for maintainers, such as those of a report with these messages."""
        return translator(self.language, messages)

    def to_reporter(self, messages: Mapping[str, Message] | None = None) -> Translator:
        """Return the translator of sentences for the reporter."""
        return translator(self.reporter_language or self.language, messages)

    @property
    def words(self) -> Callable[[str], int]:
        """Return how words are counted: by characters if either language is written without spaces."""
        return spaced_words if self.to_maintainers().has_spaces and self.to_reporter().has_spaces else all_words

    @property
    def footer(self) -> str:
        """Return the last line of the comment, without a time."""
        return self.to_reporter()(_last_line())

    @property
    def marker(self) -> str:
        """Return the line by which the App finds its own comment."""
        return f"{REPORT_MARKER} v1 issue={self.number} run={self.run} -->"

    @property
    def base(self) -> str:
        """Return the URL of the repository's page."""
        return f"{self.server_url.rstrip('/')}/{self.repository}"


def marker(kind: str, identity: str) -> str:
    """Return the line by which a comment is found that is not the report: a reply, a question, an alert."""
    name = {"alert": "crash", "reply": "to"}.get(kind, "id")
    return f"<!-- triage:{kind} {name}={re.sub(r'[^A-Za-z0-9_.-]', '-', identity)[:80]} -->"


def _last_line(updated: str = "") -> str:
    """Return how to reply to the App, and when the comment was written (to the minute, UTC)."""
    when = say(" — updated {time} UTC", time=updated) if updated else ""
    return footer(say(" `/triage help` · wrong? `/triage wrong <why>` · `/triage stop`{when}", when=when))


def with_time(body: str, updated: str) -> str:
    """Return the comment with the time at which it is sent."""
    for write in map(translator, LANGUAGES):
        without = write(_last_line())
        if without in body:
            return body.replace(without, write(_last_line(updated)))
    return body


def without_time(body: str) -> str:
    """Return the comment without a time, for comparisons."""
    return _UPDATED.sub("</sub>", body.replace("\r\n", "\n"))


def mention(login: str) -> str:
    """Return the only active mention in the comment; empty if the text is not a valid login."""
    return f"@{login}" if _LOGIN.fullmatch(login) else ""


def open_questions(thread: Thread) -> str:
    """Return the questions to the reporter as check boxes, with the answers to choose from."""
    waiting = [question for question in thread.questions if question.state == "open"]
    who, write = mention(thread.reporter), thread.to_reporter()
    reply = write(say("reply here in your own words; no command is needed."))
    lines = [f"> {f'**{who}** — ' if who else ''}{reply}"]
    for question in waiting:
        write = thread.to_reporter(question.messages)
        lines.append(f"> - [ ] **Q{question.slot}** {prose(cut(write(question.text), _QUESTION_WORDS))}")
        options = filter(None, (prose(cut(write(option), _OPTION_WORDS)) for option in question.options[:3]))
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


def news(thread: Thread, write: Translator) -> str:
    """Return one line on why the comment was rewritten."""
    return f"*{write(thread.update_reason)}*" if thread.update_reason else ""


def _settled(question: AskedQuestion, thread: Thread) -> str:
    write = thread.to_reporter(question.messages)
    text = prose(cut(write(question.text), _QUESTION_WORDS))
    if question.state == "answered":
        answer = prose(cut(question.answer or "", _ANSWER_WORDS))
        where = _where(question, thread, write(say("answered")))
        return f"- [x] **Q{question.slot}** {text} — {where}: {answer}"
    why = write(say("withdrawn") if question.state == "withdrawn" else say("no answer in 14 days"))
    return f"- [ ] **Q{question.slot}** {text} — {why}"


def _where(question: AskedQuestion, thread: Thread, word: str) -> str:
    """Return a word as a link to the answer if it points to this repository's issues."""
    url = question.answer_url or ""
    if url.startswith(f"{thread.base}/issues/") and _COMMENT.fullmatch(url.removeprefix(f"{thread.base}/issues/")):
        return f"[{word}]({url})"
    return word
