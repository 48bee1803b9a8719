"""The configuration of a target repository, ``.github/triage.yml``: what it may set, and which file is in force."""

import hashlib
import re
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, Field, StringConstraints

from bot.errors import UnreadableFileError
from bot.settings.plain import IGNORED_PATH, LANGUAGE, STARS
from bot.settings.retired import REPOSITORY_KEYS
from bot.settings.yaml_file import SECTION, ConfigError, ConfigFault, file_schema, read_yaml
from nodes.report import Kind
from nodes.search.paths.globs import name_matches

PATH = ".github/triage.yml"
_SWITCHED_OFF = re.compile(
    r"""(?:^|[,{])[ \t{]{0,9}["']?(?:enabled["']?[ \t]{0,9}:\s{0,99}["']?(?:false|no|off|n|0)\b"""
    r"""|mode["']?[ \t]{0,9}:\s{0,99}["']?(?!comment\b)\w)""",
    re.IGNORECASE | re.MULTILINE,
)
"""Matches a key that turns comments off, in a text that need not be valid YAML."""
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
    "right",
    "wrong",
    "duplicate",
    "not-duplicate",
    "label",
    "unlabel",
]
StateName = Literal["needs-answer", "no-answer", "cause-found", "no-cause", "duplicate", "fixed"]
LabelName = Literal[Kind, StateName]
Label = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Glob = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=STARS)]
PathGlob = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=IGNORED_PATH)]
__all__ = ["CommandRole", "ConfigError", "ConfigFault", "Mode", "RepositoryConfig", "read_config"]
MAX_PATH = 300


class Section(BaseModel):
    """A section of the file; an unknown key is an error."""

    model_config = SECTION


class Types(Section):
    """The issue types that may be set. They belong to the organisation and are never created."""

    map: Annotated[dict[Kind, Label], Field(max_length=10)] = {"bug": "Bug", "feature": "Feature"}
    """The organisation's issue type for a kind (``bug``, ``feature``, ``question``, ``docs``). Where it exists, it is
    set instead of the kind's default label, unless a person or a form has chosen a type. ``{}`` sets none."""
    suggest: bool = False
    """``true`` sends the type as a suggestion that a person accepts or declines, with a confidence and, if there is
    one, a checked sentence. This is a preview of GitHub; elsewhere the type or the label is set."""


class Limits(Section):
    """Limits on the work in this repository; the operator's limits apply as well."""

    questions: Annotated[int, Field(ge=0, le=2)] = 2
    """Questions to the reporter of one issue, across all its runs."""
    claim_from: Annotated[float, Field(ge=0.3, le=1)] = 0.65
    """Confidence (with a model: support) below which a report claims no cause and only suggests where to start reading.
    ``triage backtest`` recommends a value for this repository."""


def path_inside(written: str) -> str | None:
    """Return a path below the root of a repository without a slash at its end; None if it is not such a path."""
    path = written.strip().removeprefix("./").rstrip("/")
    parts = path.split("/")
    outside = not path or len(path) > MAX_PATH or "\\" in path or not path.isprintable()
    return None if outside or any(part in ("", ".", "..") for part in parts) else path


def is_below(path: str, folder: str) -> bool:
    """Return whether a file is the path or below it."""
    return path == folder or path.startswith(f"{folder}/")


class Labels(Section):
    """The labels that may be set. Labels are never created: those that do not exist in the repository are left out."""

    allowed: Annotated[tuple[Glob, ...], Field(max_length=100)] = ("bug", "enhancement", "question", "documentation")
    """Labels that may be set as proposed; ``*`` matches any text, as in ``area: *``."""
    map: Annotated[dict[LabelName, Label], Field(max_length=50)] = {}
    """This repository's label for a kind (``bug``, ``feature``, ``question``, ``docs``, ``spam``, ``security``) or a
    state (``needs-answer``, ``no-answer``, ``cause-found``, ``no-cause``, ``duplicate``, ``fixed``). Labels named here
    are allowed. A state without an entry has no label."""

    def allows(self, label: str) -> bool:
        """Return whether this label may be set."""
        return label in self.map.values() or any(name_matches(label, pattern) for pattern in self.allowed)


class RepositoryConfig(Section):
    """The maintainers' configuration of triage in their repository."""

    enabled: bool = True
    """``false`` turns triage off: every issue is ignored."""
    mode: Mode = "comment"
    """``dry-run`` writes nothing, ``label`` sets labels, ``comment`` also comments and reacts."""
    comment_on: Annotated[tuple[Kind, ...], Field(max_length=6)] = ("bug",)
    """Kinds of issues that get a comment: ``bug``, ``feature`` (the place where its change probably belongs),
    ``question``, ``docs``. There is no comment if the report has nothing to state: no checked place, change or related
    issue, and no missing information. Security problems, leaked secrets and commands always get a reply."""
    answer_questions: bool = False
    """``true`` comments on a question if a checked line of the documentation or the code answers it: where a name is
    defined, how an option is set, or what is documented about it."""
    brain: Literal["auto", "rules"] = "auto"
    """``rules`` sends no issue text to a model; ``auto`` uses the operator's setting."""
    labels: Labels = Labels()
    types: Types = Types()
    remind_after_days: Annotated[int, Field(ge=1, le=13)] | None = None
    """Days after which the reporter is reminded once of a question that is still open; without it there is no
    reminder. After 14 days the report is written without an answer, and the label ``labels.map.no-answer`` is set."""
    ignore_paths: Annotated[tuple[PathGlob, ...], Field(max_length=100)] = ()
    """Files that are never reported as suspects, such as ``vendor/**``: ``.gitignore`` patterns, without ``!``."""
    limits: Limits = Limits()
    precision: Annotated[float, Field(ge=0.5, le=0.99)] | None = None
    """The share of claims that must be right, such as ``0.9``; it replaces ``limits.claim_from``. From 20 known fixes
    on, the bound is the lowest confidence above which this share of the repository's own first files was right (of ten
    or more), until then the one of the shipped calibration. If none reaches the share, nothing is claimed."""
    outside: bool = True
    """``false`` sends no issue text to web searches or tools: no source outside the repository is queried."""
    logs: bool = True
    """``false`` reads no file that is attached to an issue."""
    crash_alerts: bool = True
    """``true`` posts one comment on the first of the issues in which three people report the same crash within 24
    hours."""
    opt_out_label: Label = "triage: skip"
    """An issue with this label is ignored."""
    language: Annotated[str, StringConstraints(pattern=LANGUAGE)] = "en"
    """Language of the visible part of a comment, of questions, and of a model's text. Fixed sentences exist in ``en``,
    ``de``, ``zh`` (simplified), ``es`` and ``ja``, and are in English for another language."""
    reporter_language: bool = False
    """``true`` writes questions, missing information and the last line in the language of the issue, if that is one of
    these five and the issue has enough prose to recognise it."""
    commands: dict[CommandName, CommandRole] = {}
    """Restricts who may give a command: ``author`` (the issue's author and maintainers), ``maintainer`` or
    ``nobody``. It cannot allow more people than the default."""
    bots: Annotated[tuple[Label, ...], Field(max_length=50)] = ()
    """Logins of bots whose issues are triaged like a person's, such as ``sentry-io[bot]``."""


read_config = partial(read_yaml, model=RepositoryConfig, retired=REPOSITORY_KEYS)
config_schema = partial(file_schema, RepositoryConfig, "triage.yml", ".github/triage.yml")


class Files(Protocol):
    """The port through which configuration files are read."""

    async def file(self, path: str) -> str | None:
        """Return a file of the default branch."""

    async def organisation_file(self, path: str) -> str | None:
        """Return a file of the organisation's ``.github`` repository."""


@dataclass(frozen=True, slots=True)
class FoundConfig:
    """The effective configuration, and the faults of an invalid file."""

    config: RepositoryConfig
    text: str
    """The text of the effective configuration; store it as the last valid one."""
    digest: str
    """Hash of the text that was found, valid or not; empty if there is no file."""
    faults: tuple[ConfigFault, ...] = ()
    may_tell: bool = False
    """Whether a comment may report the faults although they force a dry run, which writes nothing else."""


async def find_config(files: Files, last_valid: str | None = None) -> FoundConfig:
    """Read the configuration; if it is invalid or unreadable, use the last valid one, else a dry run."""
    try:
        text = await files.file(PATH)
        if text is None:
            text = await files.organisation_file(PATH)
    except UnreadableFileError as error:
        fault = ConfigFault(error.line, f"the file cannot be read: {error.reason}")
        return _invalid(error.glimpse, error.digest, (fault,), last_valid)
    if text is None:
        return FoundConfig(RepositoryConfig(), "", "")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    try:
        return FoundConfig(read_config(text), text, digest)
    except ConfigError as error:
        return _invalid(text, digest, error.faults, last_valid)


def _invalid(text: str, digest: str, faults: tuple[ConfigFault, ...], last_valid: str | None) -> FoundConfig:
    """Return the last valid configuration, else a dry run, with the faults of the current file."""
    kept = _kept(last_valid)
    # UTF-16 without a byte order mark reads as UTF-8 with interspersed null bytes.
    switched_off = _SWITCHED_OFF.search(text.replace("\x00", ""))
    may_tell = kept.mode == "dry-run" and last_valid is None and switched_off is None
    return FoundConfig(kept, last_valid or "", digest, faults, may_tell)


def _kept(last_valid: str | None) -> RepositoryConfig:
    if last_valid is not None:
        try:
            return read_config(last_valid)
        except ConfigError:
            pass  # an older release accepted it
    return RepositoryConfig(mode="dry-run")
