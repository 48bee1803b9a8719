"""Propose a ``.github/triage.yml`` and a workflow from what a repository has: labels, types, forms, tags, owners."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from bot.release import released, schema_address
from bot.report.words import count
from bot.settings.repository import Labels
from bot.settings.yaml_file import ConfigError, compose, values_of
from nodes.search.git import Repository
from nodes.search.git.objects import decode
from nodes.search.history.owners import read_rules
from nodes.search.history.versions import main_releases, read_releases
from nodes.search.issue.forms import MAX_BYTES, MAX_FORMS, PLACES

_MEANINGS = {
    "bug": r"bugs?|bug reports?|defects?",
    "feature": r"enhancements?|features?|(?:new )?feature requests?|new features?|improvements?",
    "question": r"questions?|support|support requests?|usage questions?",
    "docs": r"docs?|documentation",
    "needs-answer": r"(?:needs?|require[sd]?|waiting|awaiting|more|missing)(?: \w+){0,3} (?:info|information|details"
    r"|feedback|response|answers?|author|reporter|clarification)|info(?:rmation)? needed",
    "duplicate": r"duplicates?",
}
"""The names of labels, types and forms that mean a kind of issue or a state."""
_AREA = re.compile(r"(areas?|components?|modules?|packages?|pkg|topics?|scopes?)(\s{0,3}[:/]\s{0,3})(\S.{0,80})", re.I)
_LISTED = 8
"""Labels of one list in the file."""
_HEAD = """\
# What Tracehound does in this repository. Each key that is not here has its default.
# yaml-language-server: $schema={schema}
# {sources}

# `comment` comments and sets labels, `label` only sets labels, `dry-run` writes nothing on GitHub.
mode: comment
# The kinds of issues that get a comment: bug, feature, question, docs.
comment_on: [bug]
"""
_WORKFLOW = resources.files(__package__).joinpath("workflow.yml")
WORKFLOW = _WORKFLOW.read_text(encoding="utf-8").replace("RELEASE", released())
"""The workflow of docs/action.md."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form or template for issues."""

    name: str
    labels: tuple[str, ...]
    type: str


@dataclass(frozen=True, slots=True)
class Held:
    """The contents of a commit that a configuration can name."""

    forms: tuple[Form, ...]
    tags: int
    newest: str
    """The tag of the newest release; empty without one."""
    codeowners: str
    """The path of the CODEOWNERS file; empty without one."""


def read_held(repository: Repository, commit: str, now: int) -> Held:
    """Read a commit without forms that GitHub would refuse and tags later than ``now`` (seconds since 1970)."""
    entries = [entry for entry in repository.under(commit, *PLACES) if 0 <= entry.size <= MAX_BYTES][:MAX_FORMS]
    contents = dict(repository.read([entry.blob for entry in entries]))
    forms = (_form(entry.path, decode(contents.get(entry.blob, b""))) for entry in entries)
    releases = main_releases(read_releases(repository, now)).all
    file, _ = read_rules(repository, commit)
    found = tuple(form for form in forms if form is not None)
    return Held(found, len(releases), releases[-1].tag if releases else "", file)


def _form(path: str, text: str) -> Form | None:
    """Read a form, or the lines before a template's text; None if it sets nothing."""
    if path.endswith(".md"):
        text = text.replace("\r\n", "\n").removeprefix("---\n").partition("\n---")[0] if text[:3] == "---" else ""
    try:
        root = compose(text)
        values = values_of(root, []) if isinstance(root, yaml.MappingNode) else {}
    except ConfigError:
        return None
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return None if stem == "config" else Form(stem, _words(values.get("labels")), str(values.get("type") or ""))


def _words(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, tuple) else ()
    return tuple(str(part).strip() for part in parts if str(part).strip())


def meaning_of(name: str) -> str:
    """Return the kind or state that a name means: ``Type: Bug``, ``kind/bug`` and ``C-bug`` mean ``bug``."""
    words = re.sub(r"[^a-z]+", " ", re.split(r"[:/]", name[:100].lower())[-1]).strip()
    words = re.sub(r"^[a-z] ", "", words)
    return next((kind for kind, pattern in _MEANINGS.items() if re.fullmatch(pattern, words)), "")


def label_map(forms: Sequence[Form], labels: Iterable[str]) -> dict[str, str]:
    """Return the label of each kind and state: what its form sets, else the label of the same name."""
    existing = sorted(set(labels), key=lambda label: (len(label), label))
    found: dict[str, str] = {}
    for form in forms:
        kind = meaning_of(form.name)
        named = [label for label in form.labels if meaning_of(label) == kind] or list(form.labels[:1])
        if kind and named and named[0].lower() in {label.lower() for label in existing}:
            found.setdefault(kind, named[0])
    for label in existing:
        found.setdefault(meaning_of(label), label)
    return {kind: found[kind] for kind in _MEANINGS if kind in found}


def type_map(forms: Sequence[Form], types: Iterable[str]) -> dict[str, str]:
    """Return the issue type of each kind of issues."""
    named = {meaning_of(name): name for name in sorted({*types, *(form.type for form in forms if form.type)})}
    return {kind: named[kind] for kind in ("bug", "feature", "question", "docs") if kind in named}


def configuration(held: Held, labels: Sequence[str], types: Sequence[str], sources: str) -> str:
    """Return ``.github/triage.yml`` with labels that exist or that forms name; ``sources`` says where they are from."""
    named = label_map(held.forms, labels)
    prefixes = sorted({found[1] + found[2] + "*" for label in labels if (found := _AREA.fullmatch(label))})
    existing = {label.lower() for label in labels}
    usual = [label for label in Labels().allowed if label in existing]
    defaults = {"bug": "bug", "feature": "enhancement", "question": "question", "docs": "documentation"}
    mapped = {kind: label for kind, label in named.items() if defaults.get(kind) != label}
    kinds = type_map(held.forms, types)
    return "\n".join(
        [
            *_HEAD.format(schema=schema_address("triage.yml"), sources=" ".join(sources.split())).splitlines(),
            "labels:",
            "  # Only these may be set, and those below. A label is never created; `*` stands for any text.",
            f"  allowed: [{', '.join(map(_scalar, [*usual, *prefixes][:_LISTED] if labels else Labels().allowed))}]",
            *_mapping("map", mapped, "This repository's label for a kind of issues or a state."),
            *(
                ("types:", *_mapping("map", kinds, "The issue type for a kind; set instead of a label."))
                if kinds
                else ()
            ),
            *_tail(held),
            "",
        ]
    )


def _tail(held: Held) -> Iterator[str]:
    yield "# Files that are never named as the place of a fault."
    yield '# ignore_paths: ["vendor/**"]'
    yield "# The share of claims that must be right; `triage backtest` measures it here."
    yield "# precision: 0.9"
    if held.tags:
        tags, newest = count(held.tags, "tag"), json.dumps(held.newest)
        yield f"# A version in an issue is looked up in {tags}; the newest is {newest}."
    if held.codeowners:
        yield f"# {held.codeowners} is read for owners; nothing has to be set."


def _mapping(key: str, values: Mapping[str, str], comment: str) -> Iterator[str]:
    if values:
        yield f"  # {comment}"
        yield f"  {key}:"
        yield from (f"    {_scalar(name)}: {_scalar(value)}" for name, value in list(values.items())[: 3 * _LISTED])


def _scalar(value: str) -> str:
    words = "yes no on off true false null".split()
    plain = re.fullmatch(r"[a-z][a-z0-9/_-]*", value) and value not in words
    return value if plain else json.dumps(value, ensure_ascii=False)
