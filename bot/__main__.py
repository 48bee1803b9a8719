"""The ``triage`` command, also ``python -m bot``."""

import atexit
import gc
import os
import sys

from bot.cli import cli
from bot.files import UMASK
from bot.packages import LatePackages

_STAYING = frozenset({"serve", "worker", "mcp"})
"""Commands that run until they are stopped."""


def main() -> None:
    """Run the command line; only the owner can read the files it creates."""
    os.umask(UMASK)
    sys.meta_path.insert(0, LatePackages)
    # The collector's passes over what imports create, none of it garbage, took a tenth of a local run. A process that
    # stays keeps Python's own threshold, so that its memory does.
    if not _STAYING & set(sys.argv[1:]):
        gc.set_threshold(1_000_000)
        # A thread that reads what git prints should not wait for one that imports.
        sys.setswitchinterval(0.0005)
        # The collection at exit took another tenth, for memory that the system frees with the process.
        atexit.register(gc.freeze)
    cli(prog_name="triage" if sys.argv[0].endswith("triage") else "python -m bot")


if __name__ == "__main__":
    main()
