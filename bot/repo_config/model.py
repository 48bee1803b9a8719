"""The keys of ``.github/triage.yml``, each with what it means."""

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
# As in .gitignore, where "!" takes a path back and "#" begins a comment; neither is supported.
PathGlob = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^!#]")]


class Section(BaseModel):
    """A part of the file; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, strict=True)


class Labels(Section):
    """Which labels may be set. Labels are never made up: those that do not exist are left out."""

    allowed: Annotated[tuple[Glob, ...], Field(max_length=100)] = ("bug", "enhancement", "question", "documentation")
    """Labels that may be set as they are proposed; ``*`` stands for anything, as in ``area: *``."""
    map: Annotated[dict[LabelName, Label], Field(max_length=50)] = {}
    """What this repository calls a kind or a state: ``bug``, ``feature``, ``question``, ``docs``, ``spam``,
    ``security``; ``needs-answer``, ``cause-found``, ``no-cause``, ``duplicate``, ``fixed``. What is named here is
    allowed. Without an entry a state has no label."""

    def allows(self, label: str) -> bool:
        """May this label be set?"""
        return label in self.map.values() or any(name_matches(label, pattern) for pattern in self.allowed)


class Limits(Section):
    """How much is done; the operator's own limits hold beside these."""

    runs_per_day: Annotated[int, Field(ge=0, le=10_000)] = 10_000
    """Triages a day in this repository; what becomes of further issues says ``over``."""
    over: Literal["wait", "skip"] = "wait"
    """Issues over the day's limit ``wait`` for the next day, or are left alone (``skip``; ``/triage`` still works)."""
    issues_per_author: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Triages a day of one author's issues here; further ones are left alone. Who may triage is not limited."""
    model_calls_per_day: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    """Calls of models a day in this repository; rules judge after that."""
    model_tokens_per_day: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    """Tokens of models a day in this repository; rules judge after that."""
    questions_per_day: Annotated[int, Field(ge=0, le=10_000)] | None = None
    """Questions a day in this repository, over all its issues; after that reports are written without asking."""
    questions: Annotated[int, Field(ge=0, le=2)] = 2
    """Questions put to the reporter of one issue, over all its runs."""
    suspects: Annotated[int, Field(ge=1, le=3)] = 3
    """Places shown without unfolding anything."""
    claim_from: Annotated[float, Field(ge=0.3, le=1)] = 0.65
    """Confidence below which a report claims no cause and only says where to start reading; ``triage backtest``
    says which one leaves enough of them right here."""


class RepositoryConfig(Section):
    """What a repository's maintainers say about triage in it."""

    enabled: bool = True
    """``false`` leaves every issue alone."""
    mode: Mode = "comment"
    """``dry-run`` writes nothing, ``label`` sets labels, ``comment`` also comments and reacts."""
    comment_on: Annotated[tuple[Kind, ...], Field(max_length=6)] = ("bug",)
    """Kinds of issues that get a comment: ``bug``, ``feature``, ``question``, ``docs``. All but bugs get one only where
    a checked place answers them. Security problems, leaked secrets and commands always get their answer."""
    brain: Literal["auto", "rules"] = "auto"
    """``rules`` keeps issue texts from any model; ``auto`` is what the operator has set."""
    labels: Labels = Labels()
    ignore_paths: Annotated[tuple[PathGlob, ...], Field(max_length=100)] = ()
    """Files that are never named as suspects, such as ``vendor/**``: patterns as in ``.gitignore``, without ``!``."""
    limits: Limits = Limits()
    earlier_issues: bool = True
    """``false`` names no duplicates and no related issues, and nothing is learnt of earlier ones."""
    outside: bool = True
    """``false`` keeps issue texts from web searches and tools: nothing outside the repository is asked."""
    opt_out_label: Label = "triage: skip"
    """An issue with this label is left alone."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[A-Z]{2})?$")] = "en"
    """The language of what a model writes. Fixed sentences are English."""
    commands: dict[CommandName, CommandRole] = {}
    """Who may give a command, where that is to be fewer people than by default: ``author`` (of the issue, and
    maintainers), ``maintainer``, ``nobody``."""
    bots: Annotated[tuple[Label, ...], Field(max_length=50)] = ()
    """Bots whose issues are triaged like a person's, by login, such as ``sentry-io[bot]``."""

    def ignores(self, path: str) -> bool:
        """Is a file never to be named?"""
        return path_matches(path, self.ignore_paths)


def config_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    schema = RepositoryConfig.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Tracehound: .github/triage.yml",
    }
