"""The command line with an index that is stored after each few files."""

import sys

from bot.cli.group import cli
from nodes.search.languages import pool

if __name__ == "__main__":
    pool.BATCH_BYTES, pool.WORTH_A_PROCESS = 5_000, 40_000
    cli(sys.argv[1:])
