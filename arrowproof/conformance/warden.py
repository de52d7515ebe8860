"""The warden: a small process that outlives a proof which is killed, and ends what that has started.

A proof ends the processes of its service in any case but one: SIGKILL leaves it no time for that, and a server would go
on listening. So the warden is told the process groups as they are started, one number a line on its stdin. When that
ends without the word that all is done, whoever was to say it is gone, and the warden kills them.

It is run as a file by itself, without the package and its imports, and so is there within some hundredths of a second.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

_DONE = "done"


class Warden:
    """Starts a warden. In a session of its own, so that nothing that ends the proof ends it as well."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def watch(self, group: int) -> None:
        """Have a process group killed when this process is."""
        self._say(str(group))

    def dismiss(self) -> None:
        """All of them have ended, and so does the warden."""
        self._say(_DONE)
        with suppress(BrokenPipeError):
            self._process.communicate()

    def _say(self, line: str) -> None:
        # A proof does not fail because somebody has ended its warden.
        with suppress(BrokenPipeError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()


def main() -> None:
    """Listen until the end, and kill what is left to be killed."""
    told = sys.stdin.read().split()
    if _DONE in told:
        return
    for group in told:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(int(group), signal.SIGKILL)


if __name__ == "__main__":
    main()
