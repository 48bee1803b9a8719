"""Settings from the environment: read once, frozen, with all faults reported together."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, DotEnvSettingsSource, SettingsConfigDict

from bot.errors import UserError
from bot.files import find_env_file
from bot.settings.plain import LANGUAGE, URL, explain
from bot.settings.retired import MOVED, moved_values, warn_of_retired

MAX_SECRET = 65_536
"""Bytes of a secret; a private key has some thousand."""
BrainChoice = Literal["auto", "llm", "rules"]
JOB_SECONDS = 900.0
"""Seconds after which an attempt at a job is ended and retried; one that was ended twice reads no code."""


def _data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "tracehound"


class Settings(BaseSettings):
    """All settings, each explained by its description; ``triage doctor`` prints them."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True)

    triage_brain: BrainChoice = "auto"
    """auto = llm if a key or a base URL is set, else rules."""
    triage_data_dir: Path = Field(default_factory=_data_dir)
    """The directory for checkpoints, evidence and parsed files."""
    database_url: SecretStr | None = Field(None, examples=["postgresql://user:password@host/name"])
    """A Postgres database instead of files in TRIAGE_DATA_DIR; `triage migrate` creates its tables."""
    triage_config: Path | None = None
    """The operator's YAML file: limits, prices, tools and web search providers."""
    triage_language: str = Field("en", pattern=LANGUAGE)
    """Language of comments in a repository whose .github/triage.yml names none."""
    openai_api_key: SecretStr | None = None
    """Key of the model endpoint."""
    openai_base_url: str | None = Field(None, pattern=URL, examples=["http://localhost:11434/v1"])
    """An OpenAI-compatible endpoint; unset means OpenAI's own."""
    triage_supervisor_model: str = Field("gpt-4o", min_length=1)
    """Model that routes, at temperature 0 if it accepts one."""
    triage_critic_model: str | None = None
    """Model that audits; unset means TRIAGE_MODEL."""
    triage_model: str = Field("gpt-4o", min_length=1)
    """Model for everything else."""
    triage_model_simple: str | None = None
    """Model for simple issues; unset means TRIAGE_MODEL."""
    triage_model_medium: str | None = None
    """Model for medium issues; unset means TRIAGE_MODEL."""
    triage_model_complex: str | None = None
    """Model for complex issues; unset means TRIAGE_MODEL."""
    github_app_id: int | None = Field(None, gt=0)
    """The App's id, for `triage serve`."""
    github_private_key: SecretStr | None = None
    """The App's private key, as PEM."""
    github_private_key_path: Path | None = None
    """A file with the App's private key."""
    github_webhook_secret: SecretStr | None = None
    """The secret that signs deliveries; two, comma-separated, during a rotation."""
    github_api_url: str = Field("https://api.github.com", pattern=URL, examples=["https://github.example.org/api/v3"])
    """GitHub's API."""
    github_server_url: str = Field("https://github.com", pattern=URL, examples=["https://github.example.org"])
    """The address of GitHub's pages, if a delivery does not contain it."""
    github_token: SecretStr | None = None
    """A person's token, for `triage run owner/repo#n` and `backtest --github`, or a workflow's for `triage action`;
    without one, only public issues can be read."""
    github_client_id: str | None = Field(None, min_length=1)
    """The App's client id: people log in to the pages with their GitHub account."""
    github_client_secret: SecretStr | None = None
    """The App's client secret, needed with the client id."""
    triage_public_url: str | None = Field(None, pattern=URL, examples=["https://triage.example.org"])
    """The address at which GitHub and browsers reach this server."""
    triage_admin_token: SecretStr | None = Field(None, min_length=16)
    """The operator's token, 16 characters or more: for the login to the pages, and as a bearer token for the API."""
    triage_session_secret: SecretStr | None = Field(None, min_length=16)
    """The secret that signs sessions, the same for all servers of a database; unset: generated in TRIAGE_DATA_DIR."""
    triage_api_token: SecretStr | None = Field(None, min_length=16)
    """A token for the HTTP API alone; the operator's token works too."""
    triage_metrics_token: SecretStr | None = Field(None, min_length=16)
    """A token for `/metrics` alone, for Prometheus; the operator's token works too."""
    otel_exporter_otlp_endpoint: str | None = Field(None, pattern=URL, examples=["http://localhost:4318"])
    """The endpoint for OpenTelemetry spans, over OTLP/HTTP; needs the extra `otel`. Unset: none are sent."""
    triage_trace_text: bool = False
    """Whether traces contain the text of issues, code and models, with secrets masked."""
    triage_model_calls_per_minute: float = Field(10, ge=0.1, le=100_000)
    """Maximum model calls per minute of all servers and workers together."""
    triage_model_timeout: float = Field(600, gt=0, le=7_200)
    """Seconds that one response of a model may take; a small model on a CPU takes minutes."""
    triage_effort: Literal["low", "normal", "high"] = "normal"
    """How much a model does: `low` finds search terms and chooses files, in two calls; `normal` reads the code in a
    conversation; `high` reads longer."""
    triage_free_mb: int = Field(1_000, ge=0, le=1_000_000_000)
    """Megabytes that stay free on the disk of TRIAGE_DATA_DIR: below it no repository is fetched and `/readyz` says
    so."""
    host: str = Field("0.0.0.0", min_length=1)  # noqa: S104  a server in a container must be reachable from outside
    """The address `triage serve` listens on."""
    port: int = Field(3000, ge=0, le=65535)
    """The port it listens on; 0 takes a free one."""

    # The variables of before, which the operator's file replaces (``retired.MOVED``).
    triage_limits_run: str | None = None
    triage_limits_repository: str | None = None
    triage_limits_installation: str | None = None
    triage_limits_all: str | None = None
    triage_limits_author: str | None = None
    triage_prices: str | None = None

    @field_validator(*MOVED)
    @classmethod
    def _compact(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.field_name is not None:
            moved_values(info.field_name, value)
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
        """Seconds of one attempt at a job; a slow model gets time for a whole run."""
        return JOB_SECONDS if self.brain == "rules" else max(JOB_SECONDS, 4 * self.triage_model_timeout)

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

    pydantic-settings ranks what is given ``otherwise`` above the environment: pass only settings that are not set.
    Raises a ``SettingsError`` that names all malformed settings.
    """
    file = find_env_file(repository)
    given_here = variables_of(file)
    warn_of_retired(given_here)
    given, faults = read_secret_files(given_here)
    given |= otherwise
    try:
        settings = Settings(_env_file=file, **given)
    except ValidationError as error:
        faults |= {str(fault["loc"][0]): _fault(str(fault["loc"][0]), explain(fault)) for fault in error.errors()}
        fields = Settings.model_fields
        defaults = {name: fields[name].get_default(call_default_factory=True) for name in faults}
        settings = Settings(_env_file=file, **(given | defaults))
    if faults:
        raise SettingsError(faults, settings)
    return settings


def _fault(name: str, message: str) -> str:
    """Describe the fault with a valid example, never with the value, which may be a secret."""
    examples = Settings.model_fields[name].examples
    return f"{message}, for example {examples[0]}" if examples else message


def variables_of(env_file: Path | None) -> dict[str, str]:
    """Return the variables of the ``.env`` and of the environment, which comes first, by their names in upper case."""
    in_file = DotEnvSettingsSource(BaseSettings, env_file=env_file).env_vars if env_file else {}
    return {name.upper(): value for name, value in (*in_file.items(), *os.environ.items()) if value is not None}


def read_secret_files(given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the files that variables name; return contents and faults, by setting.

    Docker, Kubernetes and systemd hand secrets to a process as files: no child inherits them, no process list has them.
    """
    values: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name in SECRETS:
        variable = f"{name.upper()}_FILE"
        path = given.get(variable)
        if path and given.get(name.upper()):
            faults[name] = f"set either {name.upper()} or {variable}, not both"
        elif path:
            try:
                values[name] = _read_secret(Path(path).expanduser())
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                faults[name] = f"the file {path} of {variable} cannot be used: {reason}"
    return values, faults


def _read_secret(path: Path) -> str:
    """Return a file's text without its last line end; ValueError if it is empty, too large or not text."""
    with path.open("rb") as stream:
        raw = stream.read(MAX_SECRET + 1)
    if len(raw) > MAX_SECRET:
        raise ValueError(f"larger than {MAX_SECRET:,} bytes")
    try:
        text = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError("not text in UTF-8") from None
    if not text.strip():
        raise ValueError("empty")
    return text
