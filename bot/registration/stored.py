"""The App's secrets in the data directory: one file that only its owner can read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from bot.errors import UserError

FILE = "app.json"
NAMES = (
    "github_app_id",
    "github_app_slug",
    "github_private_key",
    "github_webhook_secret",
    "github_client_id",
    "github_client_secret",
    "github_server_url",
    "github_api_url",
    "triage_public_url",
    "triage_admin_token",
)
"""Settings read from the file if the environment does not set them; all others are ignored.

Only the App's settings are read, so a data directory from a checkout cannot set a model endpoint (docs/decisions.md).
"""


def store_registration(directory: Path, app: Mapping[str, str]) -> Path:
    """Write the App's settings atomically and durably.

    Returns:
        The path of the file.

    Raises:
        UserError: the file exists already, or it cannot be written.
    """
    path, draft = directory / FILE, directory / f".{FILE}.new"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # A draft may remain after a crash. O_EXCL then creates the file with mode 600 from the start.
        draft.unlink(missing_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(dict(app), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)  # unlike a rename, a link fails if the file exists
        draft.unlink()
    except FileExistsError as error:
        raise UserError(f"an App exists already, in {path}: remove that file to use another") from error
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}; set TRIAGE_DATA_DIR") from error
    return path


def read_registration(directory: Path) -> dict[str, str]:
    """Read the stored App; empty if there is none.

    Raises:
        UserError: the file cannot be read.
    """
    path = directory / FILE
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({type(error).__name__}): fix it, or remove it") from error
    if not isinstance(read, dict):
        raise UserError(f"{path} is not a JSON object: fix it, or remove it")
    return {name: str(value) for name, value in read.items() if name in NAMES and value}
