"""Settings from the environment: read once, frozen, with all faults reported together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.errors import UserError
from bot.files import find_env_file
from bot.limits.ceilings import read_author_ceiling, read_ceiling, read_prices
from bot.settings.plain import LANGUAGE, SLUG, URL, explain
from bot.settings.secret_files import read_secret_files

BrainChoice = Literal["auto", "llm", "rules"]


def _data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "tracehound"


class Settings(BaseSettings):
    """All settings, each explained by its description; ``triage doctor`` prints them."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True)

    triage_brain: BrainChoice = Field("auto", description="auto = llm if a key or a base URL is set, else rules.")
    triage_data_dir: Path = Field(
        default_factory=_data_dir, description="The directory for checkpoints, evidence and parsed files."
    )
    database_url: SecretStr | None = Field(
        None,
        description="A Postgres database instead of files in TRIAGE_DATA_DIR; `triage migrate` creates its tables.",
        examples=["postgresql://user:password@host/name"],
    )
    triage_config: Path | None = Field(
        None, description="The operator's YAML file: tools, web search providers and their limits (docs/tools.md)."
    )
    triage_language: str = Field(
        "en",
        pattern=LANGUAGE,
        description="Language of what is posted in a repository whose .github/triage.yml names none.",
    )
    triage_cache_mb: int = Field(
        512,
        ge=1,
        description="Megabytes of parsed files cached for each repository; the least recently used are evicted first.",
    )
    openai_api_key: SecretStr | None = Field(None, description="Key of the model endpoint.")
    openai_base_url: str | None = Field(
        None,
        pattern=URL,
        description="An OpenAI-compatible endpoint; unset means OpenAI's own.",
        examples=["http://localhost:11434/v1"],
    )
    triage_supervisor_model: str = Field(
        "gpt-4o", min_length=1, description="Model that routes, at temperature 0 if it accepts one."
    )
    triage_critic_model: str | None = Field(None, description="Model that audits; unset means TRIAGE_MODEL.")
    triage_model: str = Field("gpt-4o", min_length=1, description="Model for everything else.")
    triage_model_simple: str | None = Field(None, description="Model for simple issues; unset means TRIAGE_MODEL.")
    triage_model_medium: str | None = Field(None, description="Model for medium issues; unset means TRIAGE_MODEL.")
    triage_model_complex: str | None = Field(None, description="Model for complex issues; unset means TRIAGE_MODEL.")
    triage_picture_model: str | None = Field(
        None, description="Model that reads pictures in issues, if TRIAGE_CONFIG enables it; unset means TRIAGE_MODEL."
    )
    github_app_id: int | None = Field(None, gt=0, description="The App's id, for `triage serve`.")
    github_app_slug: str | None = Field(
        None, pattern=SLUG, description="The App's name in addresses; pages link to where it is installed."
    )
    github_private_key: SecretStr | None = Field(None, description="The App's private key, as PEM.")
    github_private_key_path: Path | None = Field(None, description="A file with the App's private key.")
    github_webhook_secret: SecretStr | None = Field(
        None, description="The secret that signs deliveries; two, comma-separated, during a rotation."
    )
    github_api_url: str = Field(
        "https://api.github.com",
        pattern=URL,
        description="GitHub's API.",
        examples=["https://github.example.org/api/v3"],
    )
    github_server_url: str = Field(
        "https://github.com",
        pattern=URL,
        description="The address of GitHub's pages, if a delivery does not contain it.",
        examples=["https://github.example.org"],
    )
    github_token: SecretStr | None = Field(
        None,
        description="A person's token, for `run --issue owner/repo#n` and `backtest --github`, or a workflow's for "
        "`triage action`; without one, only public issues can be read. "
        "`triage run` searches GitHub's issues with it if TRIAGE_CONFIG configures that.",
    )
    github_client_id: str | None = Field(
        None, min_length=1, description="The App's client id: people log in to the pages with their GitHub account."
    )
    github_client_secret: SecretStr | None = Field(
        None, description="The App's client secret, needed with the client id."
    )
    triage_public_url: str | None = Field(
        None,
        pattern=URL,
        description="The address at which GitHub and browsers reach this server.",
        examples=["https://triage.example.org"],
    )
    triage_admin_token: SecretStr | None = Field(
        None,
        min_length=16,
        description=(
            "The operator's token, 16 characters or more: for the login to the pages, and as a "
            "bearer token for the API."
        ),
    )
    triage_session_secret: SecretStr | None = Field(
        None,
        min_length=16,
        description=(
            "The secret that signs sessions, the same for all servers of a database; unset: "
            "generated in TRIAGE_DATA_DIR."
        ),
    )
    triage_api_token: SecretStr | None = Field(
        None,
        min_length=16,
        description="A token for the HTTP API alone; the operator's token works too.",
    )
    triage_metrics_token: SecretStr | None = Field(
        None,
        min_length=16,
        description="A token for `/metrics` alone, for Prometheus; the operator's token works too.",
    )
    triage_alert_url: str | None = Field(
        None,
        pattern=URL,
        description="The address that receives a POST when three people report one crash within 24 hours, and notices "
        "of what waits for a person: that of a webhook of Slack, Teams or Discord, or any other with "
        "TRIAGE_ALERT_SECRET.",
        examples=["https://alerts.example.org/tracehound"],
    )
    triage_alert_secret: SecretStr | None = Field(
        None,
        min_length=16,
        description="The secret that signs these requests, except to chat services: `X-Tracehound-Signature-256` is "
        "`sha256=` and the HMAC-SHA-256 of the body in hexadecimal digits.",
    )
    otel_exporter_otlp_endpoint: str | None = Field(
        None,
        pattern=URL,
        description=(
            "The endpoint for OpenTelemetry spans, over OTLP/HTTP; needs the extra `otel`. Unset: none are sent."
        ),
        examples=["http://localhost:4318"],
    )
    triage_trace_text: bool = Field(
        default=False,
        description=(
            "Whether traces to OpenTelemetry and LangSmith contain the text of issues, code and "
            "models, with secrets masked."
        ),
    )
    triage_model_calls_per_minute: float = Field(
        10, ge=0.1, le=100_000, description="Maximum model calls per minute of all servers and workers together."
    )
    triage_model_timeout: float = Field(
        600,
        gt=0,
        le=7_200,
        description="Seconds that one response of a model may take; a small model on a CPU takes minutes.",
    )
    triage_model_output_tokens: int = Field(
        3_000,
        ge=300,
        le=100_000,
        description="Maximum tokens of one response; three times as many after a response was cut off at this limit, "
        "usually by a model that reasons before it answers.",
    )
    triage_context_chars: int = Field(
        6_000,
        ge=500,
        le=200_000,
        description="Maximum length of an issue's text in a request to a model, in characters; a text above this or "
        "1,500 tokens loses template comments, the environment and library frames first, then its middle.",
    )
    triage_effort: Literal["low", "normal", "high"] = Field(
        "normal",
        description="How much a model does: `low` finds search terms and chooses files, in two calls; `normal` reads "
        "the code in a conversation; `high` reads longer and has a second critic.",
    )
    triage_reading_turns: int | None = Field(
        None, ge=2, le=100, description="Maximum turns of the conversation about the code; unset: by `TRIAGE_EFFORT`."
    )
    triage_reading_tokens: int | None = Field(
        None,
        ge=1_000,
        le=200_000,
        description="Maximum tokens of code that the conversation shows; unset: by `TRIAGE_EFFORT`.",
    )
    triage_model_effort: Literal["none", "minimal", "low", "medium", "high"] | None = Field(
        None, description="Reasoning effort to request from models that have one; unset leaves it to the model."
    )
    triage_prices: str = Field(
        "",
        description="Prices of models, in dollars per million input and output tokens, and per million cached input "
        "tokens if they cost less; a limit on `cost` needs them.",
        examples=["gpt-4o=2.50/10/1.25 gpt-4o-mini=0.15/0.60"],
    )
    triage_limits_run: str | None = Field(
        None,
        description="Maximum model `calls`, `tokens`, `cost` and `questions` of one run; after that, rules judge. "
        "Unset: `calls=8`, `calls=40` or `calls=80` for the levels of `TRIAGE_EFFORT`.",
        examples=["calls=40 tokens=200000 cost=0.50"],
    )
    triage_limits_repository: str = Field(
        "issues=10000",
        description="The maximum of `issues`, `questions`, `calls`, `tokens` and `cost` in one repository per day.",
        examples=["issues=500 questions=100 tokens=2000000"],
    )
    triage_limits_installation: str = Field(
        "none",
        description="The same maximums for all repositories of one account per day, together.",
        examples=["calls=5000 cost=20"],
    )
    triage_limits_all: str = Field(
        "none", description="The same maximums for the whole App per day.", examples=["cost=100"]
    )
    triage_limits_author: str = Field(
        "hour=300 day=1000 answers=20",
        description="Limits for one author in one repository: issues triaged per `hour` and per `day`, and comments "
        "with commands answered per hour (`answers`); users with triage permission there are not limited.",
        examples=["hour=30 day=100 answers=20"],
    )
    triage_keep_deliveries_days: int = Field(
        7, ge=4, description="Days for which deliveries and finished jobs are retained; GitHub redelivers for three."
    )
    triage_keep_closed_days: int = Field(
        90, ge=1, description="Days for which the evidence of a closed issue's runs is retained."
    )
    triage_keep_gone_days: int = Field(
        30, ge=1, description="Days after the App is removed from a repository until all its data is deleted."
    )
    triage_keep_mirrors_days: int = Field(30, ge=1, description="Days for which an unused mirror is retained.")
    triage_allowed_bots: str = Field(
        "", description="Logins of bots, comma-separated, whose issues and comments count like a person's."
    )
    triage_concurrency: int = Field(4, ge=1, le=64, description="The number of issues processed at the same time.")
    triage_job_minutes: float = Field(
        15,
        gt=0,
        le=1_440,
        description="Minutes after which an attempt at a job is ended and retried; "
        "a run that was ended twice reports without reading the code. If unset and a model is used: four times "
        "TRIAGE_MODEL_TIMEOUT, if that is longer.",
    )
    triage_free_mb: int = Field(
        1_000,
        ge=0,
        le=1_000_000_000,
        description="Megabytes that stay free on the disk of TRIAGE_DATA_DIR: below it no repository is fetched and "
        "`/readyz` names the fault.",
    )
    triage_index_mb: int = Field(
        64,
        ge=1,
        le=10_000,
        description="Megabytes of text of one commit that are indexed, source first; "
        "further files are found by path only.",
    )
    host: str = Field("0.0.0.0", min_length=1, description="The address `triage serve` listens on.")  # noqa: S104  a server in a container must be reachable from outside
    port: int = Field(3000, ge=0, le=65535, description="The port it listens on; 0 takes a free one.")

    @field_validator("triage_limits_repository", "triage_limits_installation", "triage_limits_all")
    @classmethod
    def _ceiling(cls, value: str) -> str:
        read_ceiling(value)
        return value

    @field_validator("triage_limits_run")
    @classmethod
    def _ceiling_of_run(cls, value: str | None) -> str | None:
        read_ceiling(value or "", of_run=True)
        return value

    @property
    def limits_run(self) -> str:
        """The limits of one run: those that are set, else those of the level."""
        calls = {"low": 8, "normal": 40, "high": 80}[self.triage_effort]
        return f"calls={calls}" if self.triage_limits_run is None else self.triage_limits_run

    @field_validator("triage_limits_author")
    @classmethod
    def _author_ceiling(cls, value: str) -> str:
        read_author_ceiling(value)
        return value

    @field_validator("triage_prices")
    @classmethod
    def _prices(cls, value: str) -> str:
        read_prices(value)
        return value

    @field_validator("triage_data_dir", "github_private_key_path", "triage_config")
    @classmethod
    def _home(cls, value: Path | None) -> Path | None:
        """Expand ``~``, since no shell expands the values of a ``.env``."""
        return value.expanduser() if value is not None else None

    @property
    def server(self) -> str:
        """Host of GitHub's pages, used if a delivery names none."""
        return urlsplit(self.github_server_url).netloc

    @property
    def job_seconds(self) -> float:
        """Seconds of one attempt at a job; unless the operator set them, a slow model gets time for a whole run."""
        own = self.triage_job_minutes * 60
        if self.brain == "rules" or "triage_job_minutes" in self.model_fields_set:
            return own
        return max(own, 4 * self.triage_model_timeout)

    @property
    def bots(self) -> frozenset[str]:
        """Logins, in lower case, of bots that are treated like people."""
        named = self.triage_allowed_bots.split(",")
        return frozenset(name.strip().lower() for name in named if name.strip())

    @property
    def brain(self) -> Literal["llm", "rules"]:
        """The brain that runs, with ``auto`` resolved."""
        if self.triage_brain != "auto":
            return self.triage_brain
        return "llm" if self.openai_api_key or self.openai_base_url else "rules"


SECRETS = tuple(name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation))
"""Settings that may be in a file, which a variable with the suffix ``_FILE`` names."""


class SettingsError(UserError):
    """Settings are malformed."""

    def __init__(self, faults: Mapping[str, str], sound: Settings) -> None:
        super().__init__("; ".join(f"{name.upper()}: {says}" for name, says in faults.items()))
        self.faults = faults
        self.sound = sound
        """The settings, with the default for each malformed one."""


def load_settings(repository: str | None = None, **otherwise: Any) -> Settings:
    """Read the environment and the current folder's ``.env``, unless it belongs to the analysed repository.

    Args:
        repository: the analysed repository.
        otherwise: values that pydantic-settings ranks above the environment; pass only settings that are not set.

    Raises:
        SettingsError: settings are malformed; the error names all of them.
    """
    file = find_env_file(repository)
    files = read_secret_files(SECRETS, file)
    given = {**files.values, **otherwise}
    faults = dict(files.faults)
    try:
        settings = Settings(_env_file=file, **given)
    except ValidationError as error:
        faults |= {str(fault["loc"][0]): _fault(str(fault["loc"][0]), explain(fault)) for fault in error.errors()}
        settings = Settings(_env_file=file, **(given | {name: _default(name) for name in faults}))
    if faults:
        raise SettingsError(faults, settings)
    return settings


def _default(name: str) -> Any:
    return Settings.model_fields[name].get_default(call_default_factory=True)


def _fault(name: str, message: str) -> str:
    """Describe the fault with a valid example, never with the value, which may be a secret."""
    examples = Settings.model_fields[name].examples
    return f"{message}, for example {examples[0]}" if examples else message
