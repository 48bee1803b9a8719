"""Read secrets from files: ``NAME_FILE`` names the file with the value of the setting ``NAME``.

Docker, Kubernetes and systemd hand secrets to a process as files, which no child inherits and no process list shows.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings, DotEnvSettingsSource

MAX_SECRET = 65_536
"""Bytes of a secret; a private key has some thousand."""
_SUFFIX = "_FILE"


def variables_of(env_file: Path | None) -> dict[str, str]:
    """Return the variables of the ``.env`` and of the environment, which comes first, by their names in upper case."""
    in_file = DotEnvSettingsSource(BaseSettings, env_file=env_file).env_vars if env_file else {}
    return {name.upper(): value for name, value in (*in_file.items(), *os.environ.items()) if value is not None}


def read_secret_files(names: Collection[str], given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the files that variables name; return contents and faults, by setting."""
    values: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name in names:
        variable = name.upper() + _SUFFIX
        path = given.get(variable)
        if path and given.get(name.upper()):
            faults[name] = f"set either {name.upper()} or {variable}, not both"
        elif path:
            try:
                values[name] = _read(Path(path).expanduser())
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                faults[name] = f"the file {path} of {variable} cannot be used: {reason}"
    return values, faults


def _read(path: Path) -> str:
    """Return a file's text without the line end that editors add.

    Raises:
        ValueError: the file is empty, too large or not text.
    """
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
