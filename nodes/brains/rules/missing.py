"""Determine what an issue lacks, compared with the repository's own forms and with what a search can use."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from nodes.context.brain import Case
from nodes.issue.facts import IssueFacts, is_english
from nodes.report import Kind
from nodes.search.history.claims import names_a_range
from nodes.search.issue.forms import FormField, IssueForm, with_headings
from nodes.search.issue.mentions.found import ANNOUNCED, form_fields
from nodes.search.issue.normal.report import UNKNOWN, log_lines
from nodes.search.sentences import say
from nodes.search.tokens import comparable, load_patterns
from nodes.search.types import StackTrace

MAX_ITEMS, MAX_WORDS = 4, 20_000
"""Maximum number of requests, and of characters that are searched for a sentence with an action and its result."""
SHORT, LONG = 60, 150
"""Maximum words of prose of an issue without code and names that is asked for steps or the expected result; minimum
words that describe an error well enough without a quotation."""
FEW_WORDS, ENOUGH, ENOUGH_STEPS = 3, 12, 3
"""Minimum words of an answer to a heading of a form; words of prose that count as a description; steps of a list."""
SAYS = load_patterns(Path(__file__).with_name("wordings.toml"))
"""Patterns of the words of a report, by what they state."""
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\n\d\.)(?<!\n\d\d\.)\s|\n")
"""The end of a sentence; the full stop after the number of a step does not end one."""
Need = Literal["error", "lines", "steps", "expected", "version"]
_NEEDS: dict[Need, str] = {
    "error": say("The whole error message or stack trace"),
    "lines": say("The lines of the stack trace that lead to the error"),
    "steps": say("The steps, or the shortest code that shows it"),
    "expected": say("What was expected and what happened instead"),
    "version": say("The version it happens with"),
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


def missing_from(case: Case, kind: Kind) -> tuple[str, ...]:
    """Return what the issue lacks for its kind, most useful first."""
    facts = case.facts
    if kind == "docs":
        named = facts.paths or facts.symbols or facts.modules or "http" in case.body
        clear = named or SAYS["subject"].search(own_words(case)) or not is_english(case.title, case.body)
        return () if clear else (say("Which page or docstring it is about"),)
    if kind != "bug":
        return ()
    if not (facts.words or facts.code_blocks or facts.traces or facts.symbols or facts.paths):
        return (say("What was done, what happened, and what was expected instead"),)
    if tells_how(case):
        return ()
    form = used_form(case)
    unanswered = _unanswered(case, form) if form else []
    words = {need_of(field.label) for field in unanswered}
    # A need that a field of the form asks for is named once, in the form's words.
    plain = [_NEEDS[name] for name in needs_worth_asking(case) if name not in words]
    asked = (say("“{label}”, which the issue form asks for", label=field.label) for field in unanswered)
    return (*plain, *asked)[:MAX_ITEMS]


def tells_how(case: Case) -> bool:
    """Return whether one sentence has an action and its result, or a list of steps, or it proposes a fix."""
    words = own_words(case)
    sentences = _SENTENCE.split(words[:MAX_WORDS])
    tells = [item for item in sentences if SAYS["result"].search(item)]
    listed = sum(SAYS["step"].match(item) is not None for item in sentences)
    is_listed = listed >= ENOUGH_STEPS and (bool(tells) or _says_expected(case, words))
    return is_listed or any(map(SAYS["steps"].search, tells)) or SAYS["fixes"].search(words) is not None


def needs_worth_asking(case: Case) -> tuple[Need, ...]:
    """Return the open needs whose answer could identify a place that the issue does not identify yet."""
    facts, words = case.facts, own_words(case)
    is_named = facts.symbols or facts.paths or facts.modules or facts.code_blocks
    # A version is verifiably missing only if no number can be one.
    no_number = not (SAYS["commit"].search(words) or SAYS["dotted_number"].search(words))
    worth = {
        "error": not facts.code_blocks and facts.words < LONG and not SAYS["error_name"].search(words),
        "version": no_number and SAYS["worked"].search(words),
        "lines": False,
    }
    needs = tuple(need for need in open_needs(case, words) if worth.get(need, not is_named and facts.words < SHORT))
    # Changes between two versions lead to a place without steps.
    return () if needs and names_a_range(case.title, case.body) else needs


def form_of(case: Case) -> IssueForm | None:
    """Return the form that the issue was written with, else the repository's form for bugs."""
    others = (form for form in case.forms if SAYS["bug"].search(f"{form.name} {form.path}"))
    return used_form(case) or next(others, None)


def used_form(case: Case) -> IssueForm | None:
    """Return the form of which the issue has the most headings, at least a third."""
    # Most repositories have no forms, and headings of a long issue take time to read.
    filled = {comparable(heading) for heading, _ in _answers_to_form(case)} if case.forms else set()

    def overlap(form: IssueForm) -> float:
        return sum(comparable(field.label) in filled for field in form.fields) / len(form.fields)

    used = max(case.forms, key=overlap, default=None)
    return used if used is not None and overlap(used) >= 1 / 3 else None


def need_of(label: str) -> str:
    """Return the need that a form's label asks for, or the label if it asks for something else."""
    return next((need for need, pattern in _LABELS if pattern.search(label.lower())), label)


def _unanswered(case: Case, form: IssueForm) -> list[FormField]:
    """Return required fields that are empty, and sections of a template that the reporter did not fill in.

    GitHub writes every field of a form, so if a heading is not the form's, a field without one was added later.
    """
    given = _answers_to_form(case)
    answers = _by_label(given, form)
    older = len(given) > len(answers)
    # A YAML form states what is required; in a template, every empty section counts.
    is_template = form.path.endswith(".md")

    def is_empty(field: FormField) -> bool:
        # The form's own text and a placeholder are not answers; "no" answers a question, and "n/a" no known need.
        words = " ".join(answers.get(comparable(field.label), "").split())
        is_no = words.lower().startswith("no") and field.label.rstrip().endswith("?")
        is_no = is_no or (words.lower() in ("n/a", "na") and need_of(field.label) not in _NEEDS)
        return words == " ".join(field.preset.split()) or bool(SAYS["placeholder"].fullmatch(words) and not is_no)

    return [
        field
        for field in form.fields
        if (comparable(field.label) in answers or (field.required and not older))
        and (field.required or is_template)
        and is_empty(field)
        and not _is_answered_elsewhere(case, field)
    ]


def _by_label(answers: Iterable[tuple[str, str]], form: IssueForm) -> dict[str, str]:
    """Map the form's labels to their answers; a heading that is not a label belongs to the answer that it is in."""
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


def _is_answered_elsewhere(case: Case, field: FormField) -> bool:
    """Return whether the text outside a field contains what the field asks for."""
    facts, need = case.facts, need_of(field.label)
    present = {
        "error": bool(facts.traces or facts.errors),
        "steps": bool(facts.code_blocks),
        "version": bool(facts.versions),
        "platform": bool(facts.platforms),
        "what": facts.words >= ENOUGH,
        "expected": bool(facts.traces) or _says_expected(case, own_words(case)),
    }
    return present.get(need, False) or (need not in present and not field.required)


def _says_expected(case: Case, words: str) -> bool:
    """Return whether the reporter's words, or a test in the issue, state what was expected."""
    return bool(SAYS["expected"].search(words)) or any(SAYS["test"].search(block) for block in case.facts.code_blocks)


def open_needs(case: Case, words: str) -> tuple[Need, ...]:
    """Return the needs that the issue does not meet; a version is needed unless the form does not ask for it."""
    facts, form = case.facts, form_of(case)
    # In a text in another language, only the structure shows what is missing.
    if not is_english(case.title, case.body):
        return ("lines",) if facts.traces and main_trace(facts) is None else ()
    shows_both = SAYS["is"].search(words) and SAYS["shall_be"].search(words)
    asks = {need_of(field.label) for field in form.fields} if form else {"version"}
    # A reporter who proposes a change has nothing to reproduce.
    proposes = SAYS["proposes"].match(case.title) is not None
    expected = _says_expected(case, words)
    tells = expected and facts.words >= 2 * ENOUGH
    # A wrong result, or what should have happened, explains "fails"; the latter tells more than steps would.
    explains = tells or SAYS["wrong"].search(words) is not None
    errors = (found[0] for found in SAYS["says_error"].finditer(SAYS["template_step"].sub("", words)))
    needs: dict[Need, bool] = {
        "error": any(not (explains and item.lower().startswith("fail")) for item in errors)
        and not proposes
        and not SAYS["silent"].search(words)
        and not (facts.traces or facts.errors or ANNOUNCED.search(words))
        and not any(line.rank < UNKNOWN for line in log_lines(case.body)),
        "lines": bool(facts.traces) and main_trace(facts) is None,
        "steps": not (facts.code_blocks or SAYS["steps"].search(words) or shows_both or proposes or tells),
        "expected": not (facts.traces or facts.errors or expected or proposes),
        "version": "version" in asks and not facts.versions,
    }
    # A heading that asks for something, in any language, and has an answer.
    given = {need_of(heading) for heading, content in _answers_to_form(case) if len(content.split()) >= FEW_WORDS}
    return tuple(need for need, is_open in needs.items() if is_open and need not in given - {"error"})


def own_words(case: Case) -> str:
    """Return title, body and answers without the lines of the repository's forms."""
    fields = [field for form in case.forms for field in form.fields]
    template = {comparable(line) for field in fields for line in (field.label, *field.preset.split("\n"))} - {""}
    lines = case.body.split("\n")
    own_lines = [line for line in lines if comparable(line) not in template] if template else lines
    answers = (exchange.answer or "" for exchange in case.state.human_exchanges)
    return "\n".join((case.title, *own_lines, *answers))


def _answers_to_form(case: Case) -> tuple[tuple[str, str], ...]:
    """Return the headings of the issue with their content."""
    return case.facts.form or form_fields(with_headings(case.body))


def main_trace(facts: IssueFacts) -> StackTrace | None:
    """Return the last trace with frames, which ended the program; None if there is none."""
    with_frames = [trace for trace in facts.traces if trace.frames]
    return with_frames[-1] if with_frames else None
