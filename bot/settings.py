"""The environment, read once and frozen; everything wrong with it is said at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.dotenv import find_env_file
from bot.errors import UserError

BrainChoice = Literal["auto", "llm", "rules"]


def _data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "tracehound"


class Settings(BaseSettings):
    """Every setting that is read, each explained by its description; ``triage doctor`` prints them."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True)

    triage_brain: BrainChoice = Field("auto", description="auto = llm when a key or a base URL is set, else rules.")
    triage_data_dir: Path = Field(
        default_factory=_data_dir, description="Where checkpoints, evidence and parsed files are kept."
    )
    openai_api_key: SecretStr | None = Field(None, description="Key of the model endpoint.")
    openai_base_url: str | None = Field(
        None,
        pattern=r"^https?://[^/\s]",
        description="Any OpenAI-compatible endpoint; unset means OpenAI's own.",
        examples=["http://localhost:11434/v1"],
    )
    triage_supervisor_model: str = Field("gpt-4o", min_length=1, description="Model that routes, at temperature 0.")
    triage_critic_model: str | None = Field(None, description="Model that audits; unset means TRIAGE_MODEL.")
    triage_model: str = Field("gpt-4o", min_length=1, description="Model for everything else.")
    triage_model_simple: str | None = Field(None, description="Model for simple issues; unset means TRIAGE_MODEL.")
    triage_model_medium: str | None = Field(None, description="Model for medium issues; unset means TRIAGE_MODEL.")
    triage_model_complex: str | None = Field(None, description="Model for complex issues; unset means TRIAGE_MODEL.")

    @field_validator("triage_data_dir")
    @classmethod
    def _home(cls, value: Path) -> Path:
        """No shell has seen what stands in a ``.env``."""
        return value.expanduser()

    @property
    def brain(self) -> Literal["llm", "rules"]:
        """Which brain runs, with auto resolved."""
        if self.triage_brain != "auto":
            return self.triage_brain
        return "llm" if self.openai_api_key or self.openai_base_url else "rules"


class SettingsError(UserError):
    """Settings are malformed."""

    def __init__(self, faults: Mapping[str, str], sound: Settings) -> None:
        super().__init__("; ".join(f"{name.upper()}: {says}" for name, says in faults.items()))
        self.faults = faults
        self.sound = sound
        """The settings with their defaults where they are malformed."""


def load_settings(repository: str | None = None) -> Settings:
    """Read the environment and the current folder's ``.env``, never one of the repository that is looked at.

    Raises:
        SettingsError: settings are malformed; it names all of them.
    """
    file = find_env_file(repository)
    try:
        return Settings(_env_file=file)
    except ValidationError as error:
        faults = {str(fault["loc"][0]): _fault(str(fault["loc"][0]), fault["msg"]) for fault in error.errors()}
        sound = Settings(_env_file=file, **{name: _default(name) for name in faults})
        raise SettingsError(faults, sound) from error


def _default(name: str) -> Any:
    return Settings.model_fields[name].get_default(call_default_factory=True)


def _fault(name: str, message: str) -> str:
    """What is wrong, and something that would be right; never the value, which may be a secret."""
    examples = Settings.model_fields[name].examples
    return f"{message}, for example {examples[0]}" if examples else message
