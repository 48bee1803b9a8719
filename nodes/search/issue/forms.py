"""Reads a repository's issue forms and templates at a commit: what they ask a reporter for, and the lines they add."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nodes.search.git import Repository
from nodes.search.git.errors import GitFailed
from nodes.search.git.objects import decode, is_text
from nodes.search.issue.mentions.found import form_fields

PLACES = (
    ".github/ISSUE_TEMPLATE",
    ".github/ISSUE_TEMPLATE.md",
    ".github/issue_template.md",
    "ISSUE_TEMPLATE",
    "ISSUE_TEMPLATE.md",
    "docs/ISSUE_TEMPLATE",
    "docs/ISSUE_TEMPLATE.md",
)
"""Paths of files or folders where GitHub looks for templates."""
# Far above any real form; they bound the time that a hostile repository can cost.
MAX_FORMS, MAX_BYTES, MAX_FIELDS, MAX_LABEL = 20, 40_000, 40, 120
_MAX_EVENTS, _MAX_DEPTH = 4_000, 12
_INPUT_TYPES = ("input", "textarea", "dropdown")
"""Fields that a reporter fills in; check boxes and Markdown elements contain no answer."""
_KEY_OF_FORM = re.compile(r"-?\s{0,4}(?:label|description|placeholder|value|about|title|name):\s{0,4}")
_BOLD = re.compile(rf"\*\*(?:[^*]|\*(?!\*)){{1,{MAX_LABEL - 4}}}\*\*:?")
_FRONT_MATTER = re.compile(r"\s{0,9}---[ \t]{0,9}\n")


@dataclass(frozen=True, slots=True)
class FormField:
    """One field that a form asks for."""

    label: str
    required: bool = False
    preset: str = ""
    """The field's content before the reporter edits it."""


@dataclass(frozen=True, slots=True)
class IssueForm:
    """An issue form (YAML) or template (Markdown)."""

    path: str
    name: str
    fields: tuple[FormField, ...]


def read_forms(repository: Repository, commit: str) -> tuple[IssueForm, ...]:
    """Read every form of a commit, ordered by path; skip a form that cannot be read, whatever the cause."""
    texts = _texts(repository, commit, (".yml", ".yaml", ".md"))
    return tuple(form for form in (read_form(path, text) for path, text in texts) if form is not None)


def template_lines(repository: Repository, commit: str) -> frozenset[str]:
    """Return the lines that a commit's issue templates add to an issue, which the reporter did not write."""
    lines = (line.strip() for _, text in _texts(repository, commit) for line in text.split("\n"))
    plain = (_KEY_OF_FORM.sub("", line).strip("\"'") for line in lines)
    # Shorter lines, such as "Version:", also occur in what a reporter writes.
    return frozenset(line for line in plain if len(line.split()) >= 3)


def _texts(repository: Repository, commit: str, endings: tuple[str, ...] = ("",)) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each template of a commit, at most as many as are read."""
    try:
        entries = repository.under(commit, *PLACES)
    except GitFailed:
        return
    wanted = {file.blob: file.path for file in entries if 0 <= file.size <= MAX_BYTES and file.path.endswith(endings)}
    chosen = dict(list(wanted.items())[:MAX_FORMS])
    yield from ((chosen[blob], decode(content)) for blob, content in repository.read(chosen) if is_text(content))


def read_form(path: str, text: str) -> IssueForm | None:
    """Read one form; None if the text asks for nothing."""
    if path.endswith(".md"):
        name, fields = path.rpartition("/")[2].removesuffix(".md"), _of_template(text)
    else:
        form = _mapping(_plain(text[:MAX_BYTES]))
        name, fields = _line(form.get("name")), _of_form(form.get("body"))
    found = tuple(fields)[:MAX_FIELDS]
    return IssueForm(path, name, found) if found else None


def _of_form(body: Any) -> Iterator[FormField]:
    for element in map(_mapping, body if isinstance(body, list) else ()):
        attributes = _mapping(element.get("attributes"))
        label, value = _line(attributes.get("label")), attributes.get("value")
        if label and element.get("type") in _INPUT_TYPES:
            # Some forms quote the value, which makes it a text.
            required = _mapping(element.get("validations")).get("required") in (True, "true")
            yield FormField(label, required=required, preset=value.strip() if isinstance(value, str) else "")


def _of_template(text: str) -> Iterator[FormField]:
    """Yield a template's headings; the text below a heading is only a hint."""
    if _FRONT_MATTER.match(text):
        # The front matter has GitHub's own keys (name, labels, assignees), which ask the reporter for nothing.
        _, _, text = text.partition("---")[2].partition("\n---")
    for heading, preset in form_fields(with_headings(text)):
        if label := _line(heading.strip(" *:")):
            yield FormField(label, preset=preset)


def with_headings(text: str) -> str:
    """Return the text with lines that are all bold as headings: older templates use them that way."""
    return "\n".join(f"### {line.strip(' *:')}" if _BOLD.fullmatch(line.strip()) else line for line in text.split("\n"))


def _plain(text: str) -> Any:
    """Return the plain values of a YAML text; None if it is invalid, has aliases or is deeper than any form."""
    import yaml  # noqa: PLC0415  a ranking reads the lines of templates alone, which needs no parser

    # The loader in C is many times faster, but a build of PyYAML without libyaml lacks it.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Aliases are refused before loading: nested ones would expand to a value of any size.
        depth = 0
        for number, event in enumerate(yaml.parse(text, Loader=loader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > _MAX_DEPTH or number > _MAX_EVENTS:
                return None
        return yaml.load(text, Loader=loader)  # noqa: S506  a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _mapping(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _line(value: Any) -> str:
    """Return a text on one line, cut to the length of a label."""
    return " ".join(value.split())[:MAX_LABEL] if isinstance(value, str) else ""
