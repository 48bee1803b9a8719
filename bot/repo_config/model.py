"""The keys of ``.github/triage.yml`` and their meaning."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nodes.report import Kind
from nodes.search.globs import name_matches, path_matches

Mode = Literal["dry-run", "label", "comment"]
CommandRole = Literal["author", "maintainer", "nobody"]
CommandName = Literal[
    "triage",
    "help",
    "status",
    "why",
    "redirect",
    "answer",
    "stop",
    "resume",
    "wrong",
    "duplicate",
    "not-duplicate",
    "label",
    "unlabel",
]
StateName = Literal["needs-answer", "cause-found", "no-cause", "duplicate", "fixed"]
LabelName = Literal[Kind, StateName]
Label = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Glob = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^*]*(\*{1,2}[^*]*){0,4}$")]
# In .gitignore "!" negates a pattern and "#" starts a comment; neither is supported here.
PathGlob = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^!#]")]


class Section(BaseModel):
    """A section of the file; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, strict=True)


class Labels(Section):
    """Which labels may be set. Labels are never created: those that do not exist in the repository are left out."""

    allowed: Annotated[tuple[Glob, ...], Field(max_length=100)] = ("bug", "enhancement", "question", "documentation")
    """Labels that may be set as proposed; ``*`` matches any text, as in ``area: *``."""
    map: Annotated[dict[LabelName, Label], Field(max_length=50)] = {}
    """This repository's label for a kind (``bug``, ``feature``, ``question``, ``docs``, ``spam``, ``security``) or a
    state (``needs-answer``, ``cause-found``, ``no-cause``, ``duplicate``, ``fixed``). Labels named here are allowed.
    A state without an entry has no label."""

    def allows(self, label: str) -> bool:
        """Return whether this label may be set."""
        return label in self.map.values() or any(name_matches(label, pattern) for pattern in self.allowed)


class Limits(Section):
    """Limits on the work in this repository; the operator's limits apply as well."""

    runs_per_day: Annotated[int, Field(ge=0, le=10_000)] = 10_000
    """Triages per day in this repository; ``over`` decides what happens to further issues."""
    over: Literal["wait", "skip"] = "wait"
    """Issues over the daily limit ``wait`` for the next day or are ignored (``skip``; ``/triage`` is
    answered that the limit is reached)."""
    issues_per_author: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Triages per day of one author's issues here; further ones are ignored. Users with triage permission have no
    limit."""
    model_calls_per_day: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """Model calls per day in this repository; after that, rules judge."""
    model_tokens_per_day: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    """Model tokens per day in this repository; after that, rules judge."""
    questions_per_day: Annotated[int, Field(ge=0, le=10_000)] | None = None
    """Questions per day in this repository, across all issues; after that, reports are written without asking."""
    questions: Annotated[int, Field(ge=0, le=2)] = 2
    """Questions to the reporter of one issue, across all its runs."""
    suspects: Annotated[int, Field(ge=1, le=3)] = 3
    """Suspect locations shown before the folded sections."""
    claim_from: Annotated[float, Field(ge=0.3, le=1)] = 0.65
    """Confidence below which a report claims no cause and only suggests where to start reading. ``triage backtest``
    recommends a value for this repository."""


class RepositoryConfig(Section):
    """The maintainers' configuration of triage in their repository."""

    enabled: bool = True
    """``false`` turns triage off: every issue is ignored."""
    mode: Mode = "comment"
    """``dry-run`` writes nothing, ``label`` sets labels, ``comment`` also comments and reacts."""
    comment_on: Annotated[tuple[Kind, ...], Field(max_length=6)] = ("bug",)
    """Kinds of issues that get a comment: ``bug``, ``feature``, ``question``, ``docs``. Kinds other than bugs get one
    only if a verified code location answers them. Security problems, leaked secrets and commands always get a reply."""
    brain: Literal["auto", "rules"] = "auto"
    """``rules`` sends no issue text to a model; ``auto`` uses the operator's setting."""
    labels: Labels = Labels()
    ignore_paths: Annotated[tuple[PathGlob, ...], Field(max_length=100)] = ()
    """Files that are never reported as suspects, such as ``vendor/**``: ``.gitignore`` patterns, without ``!``."""
    limits: Limits = Limits()
    earlier_issues: bool = True
    """``false`` reports no duplicates or related issues and does not read earlier issues."""
    outside: bool = True
    """``false`` sends no issue text to web searches or tools: no source outside the repository is queried."""
    opt_out_label: Label = "triage: skip"
    """An issue with this label is ignored."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[A-Z]{2})?$")] = "en"
    """Language of the text that a model writes. Fixed sentences are in English."""
    commands: dict[CommandName, CommandRole] = {}
    """Restricts who may give a command: ``author`` (the issue's author and maintainers), ``maintainer`` or
    ``nobody``. It cannot allow more people than the default."""
    bots: Annotated[tuple[Label, ...], Field(max_length=50)] = ()
    """Logins of bots whose issues are triaged like a person's, such as ``sentry-io[bot]``."""

    def ignores(self, path: str) -> bool:
        """Return whether a file must never be reported."""
        return path_matches(path, self.ignore_paths)


def config_schema() -> dict[str, Any]:
    """Return the file's JSON Schema."""
    schema = RepositoryConfig.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Tracehound: .github/triage.yml",
    }
