"""This release: its version, which only pyproject.toml states, and the addresses of its files."""

from importlib.metadata import version

PROJECT = "https://github.com/tracehound/tracehound"


def released() -> str:
    """Return the version of the installed package."""
    return version("tracehound")


def schema_address(name: str) -> str:
    """Return the address of a schema, ``triage.yml`` for example, among the files of this release."""
    return f"{PROJECT}/releases/download/v{released()}/{name}.json"
