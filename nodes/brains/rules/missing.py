"""Determine what an issue lacks, compared with the repository's own forms and with what a search can use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from nodes.context import Case
from nodes.issue.facts import IssueFacts, is_english
from nodes.report import Kind
from nodes.search.history.claims import names_a_range
from nodes.search.issue.forms import FormField, IssueForm, with_headings
from nodes.search.issue.mentions import form_fields
from nodes.search.tokens import comparable
from nodes.search.types import StackTrace

MAX_ITEMS = 4
MAX_WORDS = 20_000
"""Maximum number of characters in which a sentence with an action and its result is looked for."""
SHORT = 60
"""Maximum words of prose of an issue without code and names that is asked for steps or the expected result."""
LONG = 150
"""Minimum words of prose that describe an error well enough without a quotation."""
FEW_WORDS = 3
"""Minimum number of words of an answer to a heading of a form."""
ENOUGH = 12
"""Number of words of prose that count as a description."""
_STEPS = re.compile(
    r"^\s{0,3}(?:\d{1,2}[.)]|[-*]) \S|\bsteps\b|\b(?:when|whenever|if|once) (?:i|you|we|(?:the |a )?users?)\b"
    r"|\b(?:when|whenever|while|after|by|if|once|upon) (?:\w{1,20}ly )?"
    r"(?!\w{0,5}thing\b|being\b|string\b)[a-z]{2,20}ing \w"
    r"|\bon (?!an? )(?:\w{1,20} )?"
    r"(?:load|start(?:up)?|launch|open|close|exit|save|click|restart|reload|boot|login|submit)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Steps in a list, or an action with its object in a sentence: "when splitting documents by words", "on app load"."""
_RESULT = re.compile(
    r"\b(?:returns?|shows?|displays?|gives?|produces?|prints?|becomes?|remains?|stays?|vanish\w{0,3}|disappears?"
    r"|freezes?|hangs?|ignores?|resets?|loses?|drops?|duplicates?|overwrites?|can ?not|never|no longer|nothing"
    r"|wrong(?:ly)?|empty|blank|missing|instead"
    r"|(?:is|are|was|were|gets?|got) (?:\w{1,20}ly |not )?(?:\w{2,20}ed|reset|lost|gone|cut|shown))\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""Words that state what happened, other than that there was an error."""
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
_EXPECTED = re.compile(
    r"\b(?:expect|should|instead|actual|supposed to|but (?:it|i|we|get|got)|missing|lacks?\b)"
    r"|\b(?:is|are|was|were|gets?|got) (?:\w{1,20}ly )?(?:lost|ignored|skipped|dropped|duplicated|truncated|cut off)\b"
    r"|, not (?:the|an?|in|as|to|by)\b",
    re.IGNORECASE,
)
"""Words that state what was expected, or a result that implies it: what is missing was expected to be there."""
_IS = re.compile(
    r"^\W{0,9}(?:current|actual|got|output|now|result)\b[\w ]{0,20}:\W{0,9}\w", re.IGNORECASE | re.MULTILINE
)
_SHALL_BE = re.compile(
    r"^\W{0,9}(?:expected|desired|wanted|should be)\b[\w ]{0,20}:\W{0,9}\w", re.IGNORECASE | re.MULTILINE
)
"""Lines that show a result and the one that was expected."""
_TEST = re.compile(
    r"^[ \t]{0,40}(?:assert\b|(?:\w{1,40}\.)?assert(?:[A-Z]\w{1,30}|_\w{1,30})!?\s?\(|assert!\(|(?:await )?expect\s?\("
    r"|(?:REQUIRE|CHECK|EXPECT|ASSERT)(?:_[A-Z]{1,20}){0,3}\s?\(|t\.(?:Error|Fatal)f?\(|(?:require|assert)\.[A-Z]\w"
    r"|with pytest\.raises|\w{1,40}\.should\b)",
    re.MULTILINE,
)
"""A line of a test that states what is expected."""
_SAYS_ERROR = re.compile(
    r"\b(?:crash(?:es|ed)?|traceback|(?<!can )(?<!may )(?<!could )(?<!might )(?<!would )fails?|failed|raises?|throws?"
    r"|(?:an?|the|this|that|these|following|same|some|get|gets|got|getting|gives?|see|shows?)\s{1,3}"
    r"(?:\w{1,30}\s{1,3})?(?:errors?|exceptions?)(?!\s{1,3}(?:numbers?|counts?|rates?|bars?|margins?|metrics?|values?"
    r"|types?|class(?:es)?|codes?|pages?|handl\w{1,6}|boundar\w{1,3}|estimates?|propagation)\b)"
    r"|(?:errors?|exceptions?)\s{1,3}(?:occurs?|occurred|is|are|was|were|appears?|when|while|after|in|on|messages?)"
    r")\b",
    re.IGNORECASE,
)
"""Words that state that an error occurred; an issue may also be about errors as a subject, or about what may fail."""
_WORKED = re.compile(
    r"\b(?:regress(?:ed|es|ions?|ing)?|used to work|no longer works|stopped working"
    r"|work(?:ed|s) (?:fine |well |correctly )?(?:before|until|in (?:the )?(?:old|previous|earlier))"
    r"|(?:since|after) (?:the |an? )?(?:last |latest |recent )?(?:updat|upgrad)(?:e|ing))\b",
    re.IGNORECASE,
)
"""Words that state that an earlier version did not have the fault; then the version points to a change."""
_ERROR_NAME = re.compile(r"\b(?:[A-Z]\w{0,60}(?:Error|Exception|Warning)|NPE|[A-Z]{1,4}\d{3,5})\b")
"""A class or code of an error, which is as useful as its message."""
_DOTTED_NUMBER = re.compile(r"\bv?\d{1,6}\.\d{1,6}\b")
"""A number that may be a version, even if nothing says so."""
_COMMIT = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}(?![0-9A-Za-z])")
_PROPOSES = re.compile(
    r"\s{0,9}(?:\[[^\]]{1,30}\]\s{0,9}|\w{1,20}:\s{0,9})?"
    r"(?:add|adds|adding|support|allow|implement|introduce|provide|expose|rename|refactor|improve|consider"
    r"|(?:remove|replace|make|prevent|avoid|raise|extend|ensure|handle)(?!\s{1,3}(?:fail|crash|rais|thr[eo]w|does|is|are)))\b",
    re.IGNORECASE,
)
"""A title that requests a change; its errors did not occur."""
_SILENT = re.compile(
    r"\b(?:fail(?:s|ed|ing)?\s{1,3}silently|silent(?:ly)?\s{1,3}fail\w{0,4}"
    r"|no\s{1,3}(?:errors?|exceptions?)\s{1,3}(?:(?:is|are|was|were)\s{1,3})?(?:shown|raised|thrown|reported|logged))\b",
    re.IGNORECASE,
)
"""Words that state that no error is shown."""
Need = Literal["error", "lines", "steps", "expected", "version"]
_NEEDS: dict[Need, str] = {
    "error": "The whole error message or stack trace",
    "lines": "The lines of the stack trace that lead to the error",
    "steps": "The steps, or the shortest code that shows it",
    "expected": "What was expected and what happened instead",
    "version": "The version it happens with",
}
"""Information that a search for a cause can use, most useful first."""
_LABELS = (
    ("error", re.compile(r"\b(error|log|logs|output|trace|traceback|stack|message)\b")),
    ("steps", re.compile(r"\b(steps|reproduc\w*|repro|sample|snippet|example code|minimal)\b")),
    ("expected", re.compile(r"\b(expect\w*|actual|happened|happens|behaviou?r|result)\b")),
    ("version", re.compile(r"\b(version|release|commit)\b")),
    ("platform", re.compile(r"\b(os|platform|operating system|browser|environment|system|architecture)\b")),
    ("what", re.compile(r"\b(describe|description|summary|details|problem|bug|issue|about)\b")),
)
"""Labels of a form that ask for the same information."""
_BUG = re.compile(r"\b(bug|defect|crash|problem|issue.?report|broken)", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:docs?|documentation|docstrings?|pages?|readme|guide|tutorial|changelog|sections?|chapter|man page)\s{1,3}"
    r"(?:for|of|on|about|titled|called|named)\s{1,3}\S",
    re.IGNORECASE,
)
"""Words that name the page or the subject of a document."""
_PLACEHOLDER = re.compile(r"(n/?a|none|no|nothing|-+|\.+|\?+|todo|tbd|_no response_)?", re.IGNORECASE)


def missing_from(case: Case, kind: Kind) -> tuple[str, ...]:
    """Return what the issue lacks for its kind, most useful first."""
    facts = case.facts
    if kind == "docs":
        named = facts.paths or facts.symbols or facts.modules or "http" in case.body
        clear = named or _SUBJECT.search(_own_words(case)) or not is_english(case.title, case.body)
        return () if clear else ("Which page or docstring it is about",)
    if kind != "bug":
        return ()
    if says_nothing(facts):
        return ("What was done, what happened, and what was expected instead",)
    if _acts(_own_words(case)):
        return ()
    form = used_form(case)
    needs = needs_worth_asking(case)
    unanswered = _unanswered(case, form) if form else []
    words = {need_of(field.label) for field in unanswered}
    # A need that a field of the form asks for is named once, in the form's words.
    plain = [_NEEDS[name] for name in needs if name not in words]
    return (*plain, *(_as_gap(field) for field in unanswered))[:MAX_ITEMS]


def says_nothing(facts: IssueFacts) -> bool:
    """Return whether the issue contains neither words nor names to search for."""
    return not (facts.words or facts.code_blocks or facts.traces or facts.symbols or facts.paths)


def needs_worth_asking(case: Case) -> tuple[Need, ...]:
    """Return the open needs whose answer could change the report."""
    words = _own_words(case)
    needs = tuple(need for need in _open_needs(case, words) if _is_worth_asking(need, case.facts, words))
    # Changes between two versions lead to a place without steps.
    return () if needs and names_a_range(case.title, case.body) else needs


def _is_worth_asking(need: Need, facts: IssueFacts, words: str) -> bool:
    """Return whether an answer could identify a place that the issue does not identify yet."""
    named = facts.symbols or facts.paths or facts.modules
    if need == "error":
        return not facts.code_blocks and facts.words < LONG and not _ERROR_NAME.search(words)
    if need == "version":
        # A version is verifiably missing only if no number can be one.
        return bool(_WORKED.search(words)) and not (_COMMIT.search(words) or _DOTTED_NUMBER.search(words))
    return need != "lines" and not facts.code_blocks and not named and facts.words < SHORT


def form_of(case: Case) -> IssueForm | None:
    """Return the form that the issue was written with, else the repository's form for bugs."""
    used = used_form(case)
    if used is not None:
        return used
    return next((form for form in case.forms if _BUG.search(f"{form.name} {form.path}")), None)


def used_form(case: Case) -> IssueForm | None:
    """Return the form that the issue was written with."""
    # Most repositories have no forms, and headings of a long issue take time to read.
    filled = {comparable(heading) for heading, _ in _answers_to_form(case)} if case.forms else set()
    used = max(case.forms, key=lambda form: _overlap(form, filled), default=None)
    return used if used is not None and _overlap(used, filled) >= 1 / 3 else None


def need_of(label: str) -> str:
    """Return the need that a form's label asks for, or the label if it asks for something else."""
    return next((need for need, pattern in _LABELS if pattern.search(label.lower())), label)


def _overlap(form: IssueForm, headings: set[str]) -> float:
    return sum(comparable(field.label) in headings for field in form.fields) / len(form.fields)


def _unanswered(case: Case, form: IssueForm) -> list[FormField]:
    """Return required fields that are empty, and sections of a template that the reporter did not fill in.

    GitHub writes every field of a form, so if a heading is not the form's, a field without one was added later.
    """
    given = _answers_to_form(case)
    answers = _by_label(given, form)
    older = len(given) > len(answers)
    return [
        field
        for field in form.fields
        if (comparable(field.label) in answers or (field.required and not older))
        and (field.required or not _is_form(form))
        and _is_empty(answers.get(comparable(field.label), ""), field)
        and not _is_answered_elsewhere(case, field)
    ]


def _by_label(answers: Iterable[tuple[str, str]], form: IssueForm) -> dict[str, str]:
    """Map the form's labels to their answers; a heading that is no label belongs to the answer that it is in."""
    labels = {comparable(field.label) for field in form.fields}
    found: dict[str, str] = {}
    label = ""
    for heading, content in answers:
        if comparable(heading) in labels:
            label = comparable(heading)
            found[label] = content
        elif label and found[label]:
            found[label] = f"{found[label]}\n{heading}\n{content}"
    return found


def _is_form(form: IssueForm) -> bool:
    """Return whether it is a YAML form, which states what is required; in a template, every empty section counts."""
    return not form.path.endswith(".md")


def _is_empty(answer: str, field: FormField) -> bool:
    """Return whether an answer is empty, the form's own text, or a placeholder such as "n/a"."""
    words = " ".join(answer.split())
    return words == " ".join(field.preset.split()) or _PLACEHOLDER.fullmatch(words) is not None


def _is_answered_elsewhere(case: Case, field: FormField) -> bool:
    """Return whether the text outside a field contains what the field asks for."""
    facts, need = case.facts, need_of(field.label)
    present = {
        "error": bool(facts.traces or facts.errors),
        "steps": bool(facts.code_blocks),
        "version": bool(facts.versions),
        "platform": bool(facts.platforms),
        "what": facts.words >= ENOUGH,
        "expected": bool(facts.traces) or _says_expected(case, _own_words(case)),
    }
    return present.get(need, False) or (need not in present and not field.required)


def _shows_both(words: str) -> bool:
    """Return whether the report shows what is produced and what is expected, each behind its label."""
    return bool(_IS.search(words)) and bool(_SHALL_BE.search(words))


def _acts(words: str) -> bool:
    """Return whether one sentence has an action and its result, which is enough to try it."""
    return any(_STEPS.search(item) and _RESULT.search(item) for item in _SENTENCE.split(words[:MAX_WORDS]))


def _says_expected(case: Case, words: str) -> bool:
    """Return whether the reporter's words, or a test in the issue, state what was expected."""
    return bool(_EXPECTED.search(words)) or any(_TEST.search(block) for block in case.facts.code_blocks)


def _as_gap(field: FormField) -> str:
    return f"“{field.label}”, which the issue form asks for"


def open_needs(case: Case) -> tuple[Need, ...]:
    """Return the needs that the issue does not meet; a version is needed unless the form does not ask for it."""
    return _open_needs(case, _own_words(case))


def _open_needs(case: Case, words: str) -> tuple[Need, ...]:
    facts, form = case.facts, form_of(case)
    # Of a text in another language, only the structure says what is missing.
    if not is_english(case.title, case.body):
        return ("lines",) if facts.traces and main_trace(facts) is None else ()
    asks = {need_of(field.label) for field in form.fields} if form else {"version"}
    needs: dict[Need, bool] = {
        "error": bool(_SAYS_ERROR.search(words))
        and not _PROPOSES.match(case.title)
        and not _SILENT.search(words)
        and not (facts.traces or facts.errors),
        "lines": bool(facts.traces) and main_trace(facts) is None,
        "steps": not (facts.code_blocks or _STEPS.search(words) or _shows_both(words)),
        "expected": not (facts.traces or facts.errors or _says_expected(case, words)),
        "version": "version" in asks and not facts.versions,
    }
    # A heading that asks for something, in any language, and has an answer.
    given = {need_of(heading) for heading, content in _answers_to_form(case) if len(content.split()) >= FEW_WORDS}
    return tuple(need for need, is_open in needs.items() if is_open and need not in given - {"error"})


def _own_words(case: Case) -> str:
    """Return title, body and answers without the lines of the repository's forms."""
    template = set(_template_lines(case.forms))
    lines = case.body.split("\n")
    own_lines = [line for line in lines if comparable(line) not in template] if template else lines
    answers = (exchange.answer or "" for exchange in case.state.human_exchanges)
    return "\n".join((case.title, *own_lines, *answers))


def _template_lines(forms: Iterable[IssueForm]) -> Iterable[str]:
    for form in forms:
        for field in form.fields:
            yield comparable(field.label)
            yield from filter(None, map(comparable, field.preset.split("\n")))


def _answers_to_form(case: Case) -> tuple[tuple[str, str], ...]:
    """Return the headings of the issue with their content."""
    return case.facts.form or form_fields(with_headings(case.body))


def main_trace(facts: IssueFacts) -> StackTrace | None:
    """Return the last trace with frames, which ended the program; None if there is none."""
    with_frames = [trace for trace in facts.traces if trace.frames]
    return with_frames[-1] if with_frames else None
