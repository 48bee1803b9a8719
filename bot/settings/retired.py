"""Settings of earlier releases: for one release they are accepted with a warning."""

import logging
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MOVED: Mapping[str, str] = {
    "triage_limits_run": "limits.run",
    "triage_limits_repository": "limits.repository",
    "triage_limits_installation": "limits.installation",
    "triage_limits_all": "limits.all",
    "triage_limits_author": "limits.author",
    "triage_prices": "prices",
}
"""Variables that still have an effect, and the key of the operator's file that replaces each."""
_FILE = Path(__file__).with_name("retired.toml")
_INSTEAD: Mapping[str, Mapping[str, str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
VARIABLES, OPERATOR_KEYS, REPOSITORY_KEYS = (_INSTEAD[name] for name in ("variables", "operator", "repository"))
"""Variables, keys of the operator's file and of ``.github/triage.yml``, without effect, and what applies instead."""
_AMOUNT = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
_PRICE = re.compile(rf"{_AMOUNT.pattern}(?:/{_AMOUNT.pattern}){{1,2}}")
_warned = set[str]()
logger = logging.getLogger(__name__)


def moved_values(name: str, text: str) -> dict[str, Any]:
    """Return the value of one of the variables in ``MOVED`` in the form of the operator's file.

    ``calls=40 cost=1.50`` limits, ``none`` does not, and ``model=2.50/10/1.25`` has the prices of input, output and
    cached input.

    Raises:
        ValueError: the text has another form.
    """
    found: dict[str, Any] = {}
    for part in text.replace(",", " ").split():
        key, _, value = part.rpartition("=")
        form = _PRICE if name == "triage_prices" else _AMOUNT
        if part.lower() == "none":
            continue
        if not key or not form.fullmatch(value):
            raise ValueError(f"“{part}” is not understood: write `{MOVED[name]}` in the operator's file instead")
        prices = dict(zip(("input", "output", "cached"), map(float, value.split("/")), strict=False))
        found |= {key: prices} if form is _PRICE else {key.lower(): float(value)}
    return found


def warn_of_retired(variables: Iterable[str]) -> None:
    """Log a warning about each retired variable, once per process."""
    for name in variables:
        if name in VARIABLES:
            warn_once(f"{name} has no effect any more: {VARIABLES[name]}")
        elif name.lower() in MOVED:
            warn_once(
                f"{name} is read in this release for the last time: write `{MOVED[name.lower()]}` in TRIAGE_CONFIG"
            )


def remove_retired(values: dict[str, Any], table: Mapping[str, str]) -> None:
    """Remove the retired keys from a file's values, and each entry with ``enabled: false``."""
    for path in list(retired_keys(values, table)):
        parent: Any = values
        for part in path[:-1]:
            parent = parent.get(part, {})
        if parent.pop(path[-1], None) is False and path[-1] == "enabled":
            values[path[0]].pop(path[1])


def retired_keys(values: Any, table: Mapping[str, str], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each retired key in a file's values."""
    for key, value in values.items() if isinstance(values, dict) else ():
        path = (*before, key)
        if instead_of(path, table) is not None:
            yield path
        else:
            yield from retired_keys(value, table, path)


def instead_of(path: Sequence[str], table: Mapping[str, str]) -> str | None:
    """Return what applies instead of a retired key; None if the key is in use."""
    return table.get(".".join(path)) or (table.get(f"{path[0]}.*.{path[2]}") if len(path) == 3 else None)


def warn_once(message: str) -> None:
    """Log a warning, once per process."""
    if message not in _warned:
        _warned.add(message)
        logger.warning("%s", message, extra={"action": "setting_retired"})
