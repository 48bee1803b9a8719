"""A clock that jumps: Python reads this at its start where it is on the path, and adds what a file says to the time."""

import os
import time

_real = time.time


def _jumping() -> float:
    try:
        with open(os.environ["CLOCK_AHEAD"], encoding="ascii") as file:
            return _real() + float(file.read() or 0)
    except OSError:
        return _real()


time.time = _jumping
