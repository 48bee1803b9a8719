"""Which configuration holds: the repository's, else its organisation's, else the defaults; never two merged."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

from bot.errors import UnreadableFileError
from bot.repo_config.model import RepositoryConfig
from bot.repo_config.read import ConfigError, ConfigFault, read_config, wants_comments

PATH = ".github/triage.yml"


class Files(Protocol):
    """Where configurations are read."""

    async def file(self, path: str) -> str | None:
        """A file on the default branch."""

    async def organisation_file(self, path: str) -> str | None:
        """A file of the organisation's ``.github`` repository."""


@dataclass(frozen=True, slots=True)
class FoundConfig:
    """The configuration that holds, and what is wrong with the one that does not."""

    config: RepositoryConfig
    text: str
    """Of the configuration that holds; keep it as the last valid one."""
    digest: str
    """Names the text that was found, valid or not; empty where there is none."""
    faults: tuple[ConfigFault, ...] = ()
    from_organisation: bool = False
    may_tell: bool = False
    """May a comment tell of the faults, where they keep everything else from being written?"""


async def find_config(files: Files, last_valid: str | None = None) -> FoundConfig:
    """Read the configuration; an invalid or unreadable one leaves the last valid one in force, else a dry run.

    Args:
        files: read with the default branch's and the organisation's own tokens.
        last_valid: the text kept from the last ``FoundConfig``.

    Raises:
        RetryableError: it cannot be read now.
    """
    from_organisation = False
    try:
        text = await files.file(PATH)
        if text is None:
            from_organisation = True
            text = await files.organisation_file(PATH)
    except UnreadableFileError as error:
        fault = ConfigFault(error.line, f"the file cannot be read: {error.reason}")
        return _invalid(error.glimpse, error.digest, (fault,), last_valid, from_organisation=from_organisation)
    if text is None:
        return FoundConfig(RepositoryConfig(), "", "")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    try:
        return FoundConfig(read_config(text), text, digest, from_organisation=from_organisation)
    except ConfigError as error:
        return _invalid(text, digest, error.faults, last_valid, from_organisation=from_organisation)


def _invalid(
    text: str, digest: str, faults: tuple[ConfigFault, ...], last_valid: str | None, *, from_organisation: bool
) -> FoundConfig:
    """The last valid configuration with the faults of the present one; without a last valid one, a dry run."""
    kept = _kept(last_valid)
    may_tell = kept.mode == "dry-run" and last_valid is None and wants_comments(text)
    return FoundConfig(kept, last_valid or "", digest, faults, from_organisation, may_tell)


def _kept(last_valid: str | None) -> RepositoryConfig:
    if last_valid is not None:
        try:
            return read_config(last_valid)
        except ConfigError:
            pass  # an older version of ours took it
    return RepositoryConfig(mode="dry-run")
