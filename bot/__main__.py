"""The ``triage`` command, also ``python -m bot``."""

from __future__ import annotations

import sys

from bot.cli import cli


def main() -> None:
    """Run the command line."""
    cli(prog_name="triage" if sys.argv[0].endswith("triage") else "python -m bot")


if __name__ == "__main__":
    main()
