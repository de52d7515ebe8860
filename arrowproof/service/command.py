"""The command: how server, worker and retention answer for what ended them: a line on stderr and an exit status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from arrowproof.service.beginning import INTERRUPTED, TERMINATED, Terminated, end_of_beginning
from arrowproof.service.database import DatabaseError
from arrowproof.service.log_line import readable
from arrowproof.service.refusal import RefusedError
from arrowproof.service.streams import complain

DATABASE_FAILED: Final = 1
BAD_USAGE: Final = 2


def exit_status(command: str, run: Callable[[], None]) -> int:
    """Run a command and give its exit status.

    0 it ended by itself; 1 the database failed; 2 it was refused; 130 interrupted; 143 ended at once by SIGTERM.
    It says what became of the work, not whether anybody could be told; see :mod:`arrowproof.service.streams`.
    """
    try:
        end_of_beginning()
        run()
    except RefusedError as error:
        return _complain(f"{command}: {error}", BAD_USAGE)
    except DatabaseError as error:
        return _complain(f"{command}: the database failed: {error}", DATABASE_FAILED)
    except Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _complain(message: str, status: int) -> int:
    complain(readable(message))
    return status
