"""``python -m arrowproof`` and the ``arrowproof`` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its status."""
    from arrowproof.cli.main import run

    run()


if __name__ == "__main__":
    main()
