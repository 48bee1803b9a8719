"""The effective configuration of a repository: its file, the organisation's, the last valid one, or a dry run."""

import hashlib
import re
from dataclasses import dataclass
from typing import Protocol

from bot.errors import UnreadableFileError
from bot.settings.repository import RepositoryConfig, read_config
from bot.settings.yaml_file import ConfigError, ConfigFault

PATH = ".github/triage.yml"
_SWITCHED_OFF = re.compile(
    r"""(?:^|[,{])[ \t{]{0,9}["']?(?:enabled["']?[ \t]{0,9}:\s{0,99}["']?(?:false|no|off|n|0)\b"""
    r"""|mode["']?[ \t]{0,9}:\s{0,99}["']?(?!comment\b)\w)""",
    re.IGNORECASE | re.MULTILINE,
)
"""Matches a key that turns comments off, in a text that need not be valid YAML."""


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
    """Read the configuration; if it is invalid or unreadable, use the last valid one, else a dry run.

    Raises:
        RetryableError: the file cannot be read at the moment.
    """
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
