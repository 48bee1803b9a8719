"""A clock that jumps: Python imports this module at its start and adds the offset in a file to the time."""

import os
import time

_real = time.time


def _shifted_time() -> float:
    try:
        with open(os.environ["CLOCK_AHEAD"], encoding="ascii") as file:
            return _real() + float(file.read() or 0)
    except OSError:
        return _real()


time.time = _shifted_time
