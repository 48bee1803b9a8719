"""Check the settings that a server needs before it starts, and report all faults together."""

import base64
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import UserError
from bot.server.registration import read_registration
from bot.settings.environment import Settings, SettingsError, load_settings
from bot.settings.operator import OperatorConfig, load_operator_config


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The checked settings of a server."""

    settings: Settings
    app_id: int
    private_key: str
    secrets: tuple[bytes, ...]
    """The valid webhook secrets; a delivery may be signed with any of them."""
    operator: OperatorConfig = field(default_factory=OperatorConfig)
    """The content of the operator's file (TRIAGE_CONFIG)."""
    token: str = ""
    """In a workflow, the token used for reads and writes instead of the App's."""

    @property
    def data_dir(self) -> Path:
        """The directory where all data is stored."""
        return self.settings.triage_data_dir


class NoAppError(SettingsError):
    """No App is configured and nothing else is wrong, as on the first start."""


def load_server_settings() -> ServerSettings:
    """Read the settings of ``triage serve`` and its child processes.

    Raises:
        SettingsError: settings are missing or malformed; the error names all of them.
        NoAppError: exactly the App's settings are missing, and no other setting is wrong.
    """
    faults: dict[str, str] = {}
    try:
        settings = load_with_app()
    except SettingsError as error:
        faults.update(error.faults)
        settings = error.sound
    key, secrets = read_app(settings, faults)
    try:
        operator = load_operator_config(settings)
    except UserError as error:
        faults["triage_config"] = str(error).removeprefix("TRIAGE_CONFIG: ")
        operator = OperatorConfig()
    if faults or settings.github_app_id is None:
        raise (NoAppError if is_without_app(settings, faults) else SettingsError)(faults, settings)
    return ServerSettings(settings, settings.github_app_id, key, secrets, operator)


def load_with_app(repository: str | None = None) -> Settings:
    """Load the settings, completed with the App that ``/setup`` or ``triage app create`` stored.

    The environment takes precedence for each setting. If it names another App, none of the stored settings is used.

    The ``.env`` of the analysed repository is not read, because it is not the operator's.

    Raises:
        SettingsError: settings are malformed.
        UserError: the stored App cannot be read.
    """
    settings = load_settings(repository)
    kept = read_registration(settings.triage_data_dir)
    # Another App's id with the stored key or secrets would not work.
    if settings.github_app_id is not None and str(settings.github_app_id) != kept.get("github_app_id"):
        return settings
    if settings.github_private_key_path is not None:
        kept.pop("github_private_key", None)
    others = {name: value for name, value in kept.items() if name not in settings.model_fields_set}
    return load_settings(repository, **others)


def app_key(settings: Settings) -> str | None:
    """Return the App's private key; None if it is missing or unreadable."""
    faults: dict[str, str] = {}
    key = _private_key(settings, faults)
    return None if faults else key


def read_app(settings: Settings, faults: dict[str, str]) -> tuple[str, tuple[bytes, ...]]:
    """Return the App's key and webhook secrets; name what the App lacks among the faults."""
    found = _private_key(settings, faults), _secrets(settings, faults)
    if settings.github_app_id is None:
        faults.setdefault("github_app_id", "missing; it is on the App's settings page")
    return found


def is_without_app(settings: Settings, faults: Mapping[str, str]) -> bool:
    """Return whether nothing of an App is set, and nothing else is wrong."""
    named = (settings.github_app_id, settings.github_private_key, settings.github_private_key_path)
    others = faults.keys() - {"github_app_id", "github_private_key", "github_webhook_secret"}
    return named == (None, None, None) and settings.github_webhook_secret is None and not others


def _private_key(settings: Settings, faults: dict[str, str]) -> str:
    """Return the key's text; in environment variables its line ends are often written as ``\\n``."""
    if settings.github_private_key is not None:
        text = settings.github_private_key.get_secret_value().replace("\\n", "\n")
        return _pem(text, "github_private_key", faults)
    path = settings.github_private_key_path
    if path is None:
        faults.setdefault("github_private_key", "missing; or name its file with GITHUB_PRIVATE_KEY_PATH")
        return ""
    try:
        return _pem(path.read_text(encoding="utf-8"), "github_private_key_path", faults)
    except (OSError, UnicodeDecodeError) as error:
        faults["github_private_key_path"] = f"cannot be read ({type(error).__name__})"
        return ""


def _pem(text: str, name: str, faults: dict[str, str]) -> str:
    # Probot and hosts that allow only one line take the file as base64.
    with contextlib.suppress(ValueError):
        text = base64.b64decode("".join(text.split()), validate=True).decode()
    if "PRIVATE KEY-----" not in text:
        faults[name] = "is not a private key in PEM form, -----BEGIN … PRIVATE KEY-----, nor that as base64"
    return text


def _secrets(settings: Settings, faults: dict[str, str]) -> tuple[bytes, ...]:
    given = settings.github_webhook_secret
    parts = given.get_secret_value().split(",") if given else []
    found = tuple(part.strip().encode() for part in parts if part.strip())
    if not found:
        faults.setdefault("github_webhook_secret", "missing; it is the secret that signs the App's webhook")
    return found
