"""`python -m qeval`: the same as the `qeval` command."""

import sys

from qeval.app import main

if __name__ == "__main__":
    sys.exit(main())
