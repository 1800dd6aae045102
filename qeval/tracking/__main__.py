"""`python -m qeval.tracking`: the process that holds MLflow, so that qeval's own need not."""

import sys

from qeval.tracking.worker import main

if __name__ == "__main__":
    sys.exit(main())
