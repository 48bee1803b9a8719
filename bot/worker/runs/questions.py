"""The open question of an issue, and what settles it: a person's comment, or an edit of the issue; one reminder.

Rules decide whether a text is an answer: it has content, and the content fits the question.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import Stemmer  # type: ignore[import-not-found]  # a C extension without stubs

from bot.limits.writes import REPLIES
from bot.ports import AskedQuestion, Comment, Issue
from bot.report.comment.sticky import reminder
from bot.settings.repository import FoundConfig
from bot.worker.issue_job import IssueJob
from bot.worker.publish.publisher import thread_of
from nodes.issue.facts import IssueFacts, read_facts
from nodes.search.issue.mentions.markdown import without_comments
from nodes.search.tokens import load_words

MAX_ANSWER = 1_000
"""Maximum length of a stored answer, in characters."""
_MAX_READ = 20_000
_WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_stemmer = Stemmer.Stemmer("english")
_WORDS = load_words(Path(__file__).with_name("comments.txt"))
_ASKS_ERROR = re.compile(r"\b(print|prints|error|message|trace|traceback|log)\b", re.IGNORECASE)
_ASKS_STEPS = re.compile(r"\b(steps?|code|reproduce|example|command)\b", re.IGNORECASE)
_ASKS_VERSION = re.compile(r"\bversions?\b|\brelease\b", re.IGNORECASE)
_ASKS_PLATFORM = re.compile(r"\b(platform|operating system|os|browser|environment)\b", re.IGNORECASE)
_STATEMENT = 8
"""Minimum number of content words for another person's comment to be an answer without a link to the question."""


async def settle_by_edit(issue_job: IssueJob, issue: Issue, question: AskedQuestion) -> None:
    """Settle the open question: answered if the new text contains the answer, else withdrawn as outdated."""
    answer = answer_in_body(issue, question)
    given = (answer, issue.author, issue.url) if answer else ()
    await issue_job.store.questions.settle(question.question_id, "answered" if answer else "withdrawn", *given)


async def settle_by_comment(issue_job: IssueJob, issue: Issue, question: AskedQuestion, comment: Comment) -> bool:
    """Store the answer if the comment came after the question and answers it. Returns whether it does."""
    if not await _is_newer(issue_job, question, comment):
        return False
    by_reporter = comment.author_id is not None and comment.author_id == issue.author_id
    answer = answer_in(comment, question, by_reporter=by_reporter)
    if answer is None:
        return False
    await issue_job.store.questions.settle(question.question_id, "answered", answer, comment.author, comment.url)
    return True


async def _is_newer(issue_job: IssueJob, question: AskedQuestion, comment: Comment) -> bool:
    """Return whether a comment is newer than the question, by time or by id: GitHub's ids grow with time."""
    if comment.created_at >= question.asked_at:
        return True
    asked_in = await _carrier(issue_job, question)
    if asked_in is None:
        # The posted question is stored under the issue's old key; a comment here was written after the issue was moved.
        return await issue_job.store.row.was_moved_here()
    return comment.id > asked_in


async def _carrier(issue_job: IssueJob, question: AskedQuestion) -> int | None:
    """Return the id of the comment with the question: its own, or the sticky one."""
    effects = issue_job.store.effects
    return await effects.comment_id("question", question.question_id) or await effects.comment_id("sticky")


def answer_in(comment: Comment, question: AskedQuestion, *, by_reporter: bool) -> str | None:
    """Return the answer in a person's comment, or None for thanks, votes, nudges and unrelated discussion."""
    if comment.author_is_bot or comment.ours:
        return None
    text = own_words(comment.body)
    text_words = _words(text)
    if all(word in _WORDS["empty"] for word in text_words):
        return None
    speaks = _matches_question(text, text_words, question)
    # A counter-question answers nothing, even if it is long enough.
    if speaks or (not text.rstrip().endswith("?") and _counts_as_answer(text, text_words, by_reporter=by_reporter)):
        # Cut here, since a longer answer would not fit into the state of the run.
        return text[:MAX_ANSWER]
    return None


def answer_in_body(issue: Issue, question: AskedQuestion) -> str | None:
    """Return what an edited issue contains of what a question asked for: it lacked that when it was asked."""
    found = _facts_for(question.text, read_facts(issue.title, issue.body[:_MAX_READ]))
    return found[0][:MAX_ANSWER] if found else None


def own_words(body: str) -> str:
    """Return the author's own text, without quotes, hidden HTML comments and commands."""
    text = without_comments(body[:_MAX_READ])
    lines = [line for line in text.split("\n") if not line.lstrip().startswith((">", "/triage"))]
    return "\n".join(lines).strip()


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _matches_question(text: str, text_words: list[str], question: AskedQuestion) -> bool:
    """Return whether the text names an option or the question, shares its words, or contains a fact it asks for."""
    if f"q{question.slot}" in text_words or (text_words and text_words[0] in _WORDS["choices"]):
        return True
    if _facts_for(question.text, read_facts("", text)):
        return True
    # A counter-question usually repeats words of the question.
    if text.rstrip().endswith("?"):
        return False
    own = {word for option in (question.text, *question.options) for word in _words(option)}
    own -= _WORDS["stop"] | _WORDS["empty"]
    return not _stems(own).isdisjoint(_stems(text_words))


def _stems(words: Iterable[str]) -> set[str]:
    return set(_stemmer.stemWords(list(words)))


def _facts_for(question: str, facts: IssueFacts) -> tuple[str, ...]:
    """Return the facts of the kinds that a question asks for."""
    asked: list[str] = []
    if _ASKS_ERROR.search(question):
        asked += [*facts.errors, *(trace.error for trace in facts.traces if trace.error)]
    if _ASKS_STEPS.search(question):
        asked += [*facts.code_blocks, *(text for name, text in facts.form if "step" in name.lower() and text)]
    if _ASKS_VERSION.search(question):
        asked += facts.versions
    if _ASKS_PLATFORM.search(question):
        asked += facts.platforms
    return tuple(filter(None, asked))


def _counts_as_answer(text: str, text_words: list[str], *, by_reporter: bool) -> bool:
    """Return whether a text that does not match the question still counts as an answer.

    Any statement of the reporter counts, since the reporter was asked, unless it starts with a mention. Other people
    may be talking to each other, so their comment needs a fact or at least `_STATEMENT` content words; if it starts
    with a mention, only an error, a trace, a code block, a version or a platform counts.
    """
    content = [word for word in text_words if word not in _WORDS["empty"]]
    if by_reporter:
        return bool(content) and not text.startswith("@")
    facts = read_facts("", text)
    if facts.traces or facts.errors or facts.code_blocks or facts.versions or facts.platforms:
        return True
    if facts.symbols or facts.paths:
        return not text.startswith("@")
    return len(content) >= _STATEMENT and not text.startswith("@")


async def post_reminder(issue_job: IssueJob, issue: Issue, question: AskedQuestion, found: FoundConfig) -> None:
    """Post the reminder; a repeated attempt finds it by its marker."""
    asked_in = await _carrier(issue_job, question)
    url = f"{issue.url}#issuecomment-{asked_in}" if asked_in else ""
    body = reminder(thread_of(issue, found.config), question, url)
    target = issue_job.target(found, ref=issue.ref)
    await target.put("reminder", question.question_id, body, budget=REPLIES)
