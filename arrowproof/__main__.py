"""``python -m arrowproof`` and the ``arrowproof`` command."""

from __future__ import annotations

import gc
import sys

GARBAGE_THRESHOLD = 100_000
"""Objects between two searches for cycles, in place of Python's 700.

A command makes tens of thousands of small objects that stand until it ends, and hardly a cycle. Looking at them again
and again took `render` 13 of 350 ms.
"""


def main() -> None:
    """Run the command line and exit with its status; an interrupt while it starts or ends says no more than another."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        from arrowproof.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # Python looks for cycles once more at its end, through all that the system is about to take back: 28 of 350 ms.
        gc.freeze()


if __name__ == "__main__":
    main()
