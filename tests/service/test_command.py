"""What ends a command is one line on stderr and an exit status, never a traceback."""

from __future__ import annotations

import pytest

from arrowproof.service.attempt import UnrecordedError
from arrowproof.service.beginning import Terminated
from arrowproof.service.command import exit_status
from arrowproof.service.database import BusyError, DatabaseError
from arrowproof.service.refusal import RefusedError


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (RefusedError("'x' is no y"), 2, "worker: 'x' is no y\n"),
        (DatabaseError("FullError: full"), 1, "worker: the database failed: FullError: full\n"),
        (BusyError("BusyError: locked"), 1, "worker: the database failed: BusyError: locked\n"),
        (UnrecordedError(7, "no"), 1, "worker: the database failed: the attempt at job 7 is on no record: no\n"),
        (KeyboardInterrupt(), 130, ""),
        (Terminated(), 143, ""),
    ],
)
def test_what_ended_a_command_is_said_in_one_line_and_has_a_status(capsys, error, status, said):
    def run():
        raise error

    assert exit_status("worker", run) == status
    assert capsys.readouterr() == ("", said)


def test_a_command_that_ends_by_itself_says_nothing_of_its_own(capsys):
    assert exit_status("worker", lambda: None) == 0
    assert capsys.readouterr() == ("", "")


def test_a_bug_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        exit_status("worker", lambda: 1 / 0)
