"""The ``triage`` command, also ``python -m bot``."""

import atexit
import gc
import os
import sys
from collections.abc import Sequence

from bot.cli.group import cli
from bot.files import UMASK
from bot.packages import LatePackages

_STAYING = frozenset({"serve", "worker", "mcp"})
"""Commands that run until they are stopped."""


def main() -> None:
    """Run the command line; only the owner can read the files it creates."""
    os.umask(UMASK)
    # A caller may have closed them, as a supervisor of services does.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    sys.meta_path.insert(0, LatePackages)
    status = [1]
    # The collector's passes over what imports create, none of it garbage, took a tenth of a local run. A process that
    # stays keeps Python's own threshold, so that its memory does.
    if not _STAYING & set(sys.argv[1:]):
        gc.set_threshold(1_000_000)
        # Registered first, so that it runs after everything else that is to be done at exit.
        atexit.register(_end, status)
    try:
        cli(prog_name="triage" if sys.argv[0].endswith("triage") else "python -m bot")
    except SystemExit as ended:
        status[0] = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        raise


def _end(status: Sequence[int]) -> None:
    """End the process; freeing its memory object by object took a tenth of a local run."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status[0])


if __name__ == "__main__":
    main()
