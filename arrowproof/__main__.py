"""``python -m arrowproof`` and the ``arrowproof`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its status; an interrupt while it starts or ends says no more than another."""
    try:
        from arrowproof.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
