"""Check that every reader of untrusted text takes processor time in proportion to a megabyte of it."""

from __future__ import annotations

import argparse

from tests.test_linear import READERS, assert_reads_in_proportion


def main() -> None:
    """Print one line per reader; a reader that is slower ends the program with an error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=1_000_000)
    given = parser.parse_args()
    for reader in READERS:
        assert_reads_in_proportion(reader, given.characters)
        print(f"{reader}: linear", flush=True)


if __name__ == "__main__":
    main()
