"""The command line under the name that its installation gives it."""

import sys

from bot.__main__ import main

if __name__ == "__main__":
    sys.argv[0] = "triage"
    main()
