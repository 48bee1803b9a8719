"""Check the ``.github/triage.yml`` that a pull request proposes, in a GitHub Actions workflow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.cli.action import workflow_command
from bot.cli.doctor.github import FULL_NAME, missing_labels, opened
from bot.errors import BotError, UnreadableFileError, UserError
from bot.github.repository import RepositoryClient
from bot.settings import Settings
from bot.settings.repository import RepositoryConfig, read_config
from bot.settings.repository_file import PATH
from bot.settings.yaml_file import ConfigError, ConfigFault

_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """The repository of a pull request, and its newest commit."""

    full_name: str
    commit: str

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Proposal:
        """Read it from the event's file.

        Raises:
            UserError: the file is not that of a pull request's event.
        """
        file = environ.get("GITHUB_EVENT_PATH", "")
        try:
            payload: dict[str, Any] = json.loads(Path(file).read_bytes())
            name, commit = payload["repository"]["full_name"], payload["pull_request"]["head"]["sha"]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UserError(f"GITHUB_EVENT_PATH: {file} cannot be read as a pull request's event") from error
        if not (isinstance(name, str) and FULL_NAME.fullmatch(name)):
            raise UserError(f"GITHUB_EVENT_PATH: {file} contains no repository")
        if not (isinstance(commit, str) and _SHA.fullmatch(commit)):
            raise UserError(f"GITHUB_EVENT_PATH: {file} contains no commit")
        return cls(name, commit)


@dataclass(frozen=True, slots=True)
class ProposalResult:
    """The findings in the file, as GitHub shows them."""

    commands: tuple[str, ...]
    """Workflow commands, one per finding; GitHub shows them at the lines of the pull request."""
    summary: str
    """One line of Markdown for the job's summary."""
    faulty: bool = False
    """Whether the file is invalid, so that the check has to fail."""


async def check_proposal(proposal: Proposal, settings: Settings, token: str) -> ProposalResult:
    """Validate the file as the pull request leaves it; nothing is written and no code is fetched.

    Raises:
        UserError: GitHub cannot be reached, or the token may not read the file or the labels.
    """
    try:
        async with opened(proposal.full_name, settings, token) as client:
            # A fork's commit is readable through the repository that the pull request goes to.
            return await _checked(client, await client.file(PATH, commit=proposal.commit))
    except UnreadableFileError as error:
        return _invalid((ConfigFault(error.line, f"the file cannot be read: {error.reason}"),))
    except ConfigError as error:
        return _invalid(error.faults)
    except BotError as error:
        needed = "the workflow needs `contents: read` and `issues: read`"
        raise UserError(f"{proposal.full_name} cannot be read: {error}; {needed}") from error


async def _checked(client: RepositoryClient, text: str | None) -> ProposalResult:
    if text is None:
        return ProposalResult((), f"`{PATH}` does not exist in this pull request; the defaults apply.")
    config = read_config(text)
    # Labels that only the defaults name do not concern this pull request.
    own = config if "allowed" in config.labels.model_fields_set else _without_allowed(config)
    warnings = tuple(
        # Only a warning, because the label may be created after the merge.
        workflow_command("warning", PATH, 1, f"the label {label!r} does not exist, so it is never set")
        for label in await missing_labels(client, own)
    )
    return ProposalResult(warnings, f"`{PATH}` is valid; mode {config.mode}.")


def _without_allowed(config: RepositoryConfig) -> RepositoryConfig:
    return config.model_copy(update={"labels": config.labels.model_copy(update={"allowed": ()})})


def _invalid(faults: tuple[ConfigFault, ...]) -> ProposalResult:
    commands = tuple(workflow_command("error", PATH, fault.line, fault.message) for fault in faults)
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return ProposalResult(commands, f"`{PATH}` is invalid: {count}.", faulty=True)
