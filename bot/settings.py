"""The environment, read once and frozen; everything wrong with it is said at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.errors import UserError

BrainChoice = Literal["auto", "llm", "rules"]


def _data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "tracehound"


class Settings(BaseSettings):
    """Every setting that is read, each explained by its description; ``triage doctor`` prints them."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", frozen=True, env_ignore_empty=True)

    triage_brain: BrainChoice = Field("auto", description="auto = llm when a key or a base URL is set, else rules.")
    triage_data_dir: Path = Field(
        default_factory=_data_dir, description="Where checkpoints, evidence and parsed files are kept."
    )
    openai_api_key: SecretStr | None = Field(None, description="Key of the model endpoint.")
    openai_base_url: str | None = Field(
        None, pattern=r"^https?://[^/\s]", description="Any OpenAI-compatible endpoint; unset means OpenAI's own."
    )
    triage_supervisor_model: str = Field("gpt-4o", min_length=1, description="Model that routes, at temperature 0.")
    triage_critic_model: str | None = Field(None, description="Model that audits; unset means TRIAGE_MODEL.")
    triage_model: str = Field("gpt-4o", min_length=1, description="Model for everything else.")
    triage_model_simple: str | None = Field(None, description="Model for simple issues; unset means TRIAGE_MODEL.")
    triage_model_medium: str | None = Field(None, description="Model for medium issues; unset means TRIAGE_MODEL.")
    triage_model_complex: str | None = Field(None, description="Model for complex issues; unset means TRIAGE_MODEL.")

    @property
    def brain(self) -> Literal["llm", "rules"]:
        """Which brain runs, with auto resolved."""
        if self.triage_brain != "auto":
            return self.triage_brain
        return "llm" if self.openai_api_key or self.openai_base_url else "rules"


def load_settings() -> Settings:
    """Read the environment and the current directory's ``.env``, never a checked repository's.

    Raises:
        UserError: settings are malformed; the message names all of them.
    """
    try:
        return Settings()
    except ValidationError as error:
        faults = (f"{str(fault['loc'][0]).upper()}: {fault['msg']}" for fault in error.errors())
        raise UserError("; ".join(faults)) from error
