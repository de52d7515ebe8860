"""The nursery: a process that has loaded worker or server once and forks one from itself whenever it is asked to.

Hundreds of them are killed here, and most of their short lives would be spent on imports. What is forked is a worker
or server like any other: a process of its own, with its own arguments, environment, output and connections.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


class Nursery:
    """Brings up one ``worker`` or ``server`` at a time, with its output in two files in ``folder``."""

    def __init__(self, folder: Path, module: str = "worker"):
        self._stdout = folder / f"nursery-{id(self)}.stdout"
        self._stderr = folder / f"nursery-{id(self)}.stderr"
        self._child: int | None = None
        self._process = subprocess.Popen(
            [sys.executable, __file__, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, *arguments: str, hold: str = "") -> int:
        """Start one; its process id."""
        for file in (self._stdout, self._stderr):
            file.write_text("")
        asked = {"arguments": arguments, "hold": hold, "output": [str(self._stdout), str(self._stderr)]}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        self._child = self._answer()
        return self._child

    def wait(self) -> int:
        """Wait until it has ended: its exit status, or the signal that killed it as a negative number."""
        status = self._answer()
        self._child = None
        return status

    def run(self, *arguments: str) -> dict[str, Any]:
        """Let a worker run to its end; its last line."""
        self.start(*arguments)
        status = self.wait()
        assert status == 0, self.stderr
        last: dict[str, Any] = json.loads(self.stdout.splitlines()[-1])
        return last

    @property
    def stdout(self) -> str:
        """What the last one printed."""
        return self._stdout.read_text()

    @property
    def stderr(self) -> str:
        """What the last one told."""
        return self._stderr.read_text()

    def _answer(self) -> int:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery has died"
        return int(line)

    def close(self) -> None:
        """End the nursery, and first the one that it has brought up last, if a failed test has left it alive."""
        if self._child is not None:
            # Dead or alive, it has its number until the nursery is asked for the next one.
            os.kill(self._child, signal.SIGKILL)
            self.wait()
        self._process.kill()
        self._process.communicate()


def _tend(module: str) -> None:
    # All that server and worker load late, but for what would start a thread.
    needed = ["postgresql", "sqlite", *(["app", "web"] if module == "server" else []), module]
    main = [import_module(f"arrowproof.service.{name}") for name in needed][-1].main
    ended: list[int] = []
    for line in sys.stdin:
        while ended:
            os.waitpid(ended.pop(), 0)
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            # The default, which a process that was started in the background may not have inherited.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number, file in enumerate((os.devnull, *asked["output"])):
                os.dup2(os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
            os.environ["NOTES_HOLD"] = asked["hold"]
            status = 70
            try:
                status = main(asked["arguments"])
                sys.stdout.flush()
            finally:
                sys.stderr.flush()
                os._exit(status)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        came_to = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        assert came_to is not None
        status = came_to.si_status if came_to.si_code == os.CLD_EXITED else -came_to.si_status
        ended.append(child)
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _tend(sys.argv[1])
