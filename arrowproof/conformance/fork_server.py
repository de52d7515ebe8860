"""The fork server: a process that has loaded a service's code, and forks a process of the service when one is wanted.

Usage: ``python -P fork_server.py NAME MODULE [MODULE ...]``, with a socket as its stdin

To load its code is most of what a short command does. The fork server does that once and then waits: it has loaded code
and nothing else, opens no database, and starts no thread. For each order, the fork is at that moment what
``python -P -m MODULE ARGUMENTS`` is once it has loaded its code: MODULE runs as the main module, with streams,
environment, time zone, folder and session of its own, and nothing of it ran before. One thing all forks share: the seed
of Python's hashes, by which a set is ordered. NAME says to who lists processes whose fork server this is.

It alone signals what it has forked, when it is asked to, and so no process that ended and whose number may be another's
by now. When its socket closes, whoever started it has gone or needs it no more: it kills what still runs, and ends.

It is run as a file by itself, without the package that it is a part of: the one that it loads may be another.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

ORPHANED = 256
"""In place of the exit status of a process whose fork server is gone, which alone could see it. No status is that."""

_NUMBER = struct.Struct("=i")
_FILES = 4
"""What comes with an order: stdin, stdout, stderr, and the channel of the process."""
_LOADED = b"\n"


class ForkedProcess:
    """A forked process, with what :class:`subprocess.Popen` has of the same names.

    Its channel is a socket to the fork server: signals go there, and its exit status comes from there.
    """

    def __init__(self, pid: int, channel: socket.socket, stdin: IO[bytes] | None) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin = stdin
        self._channel = channel
        self._hearing = threading.Lock()

    def poll(self) -> int | None:
        """Its exit status once it has ended, negative for a signal."""
        return self._hear(socket.MSG_DONTWAIT)

    def wait(self) -> int | None:
        """Wait for its exit status."""
        return self._hear(0)

    def signal_group(self, number: signal.Signals) -> None:
        """Signal its process group. Nothing happens when it has ended."""
        if self.poll() is None:
            # It may end right now.
            with suppress(ConnectionError):
                self._channel.send(bytes([number]))

    def _hear(self, flags: int) -> int | None:
        with self._hearing:
            if self.returncode is None:
                try:
                    said = self._channel.recv(_NUMBER.size, flags)
                except BlockingIOError:
                    return None
                except ConnectionError:
                    said = b""
                self._channel.close()
                self.returncode = _NUMBER.unpack(said)[0] if said else self._orphaned()
            return self.returncode

    def _orphaned(self) -> int:
        """Nobody sees its end any more, and nobody else would end it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        return ORPHANED


class ForkServer:
    """Starts a fork server for the commands that are ``modules``; what else they load late may be among these.

    ``environment`` is added to that of this process, and ``log`` is the file of its stderr. That the server is gone,
    fails or does not answer is an OSError, whose message says what it is.
    """

    def __init__(self, name: str, modules: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        self._is_loaded = False
        self._asking = threading.Lock()
        self._orders, orders = socket.socketpair()
        with orders, log.open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, name, *modules],
                stdin=orders.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env={**os.environ, **environment},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def await_loaded(self, deadline: float) -> None:
        """Wait, so many seconds at most, until it has loaded its code."""
        with self._asking:
            if not self._is_loaded:
                self._orders.settimeout(deadline)
                self._is_loaded = bool(self._heard(self._orders, len(_LOADED)))

    def fork(
        self,
        command: Sequence[str],
        streams: tuple[IO[bytes], IO[bytes]],
        environment: Mapping[str, str],
        deadline: float,
        *,
        waits: bool = False,
    ) -> ForkedProcess:
        """Have a process forked that runs a module with arguments; ``streams`` are its stdout and stderr.

        ``environment`` is all that it has. One that ``waits`` has a pipe as its stdin, others find theirs empty.
        """
        arguments = [*command]
        order = {"command": arguments, "environment": dict(environment), "folder": str(Path.cwd())}
        told = json.dumps(order).encode() + b"\n"
        if waits:
            read, write = os.pipe()
            stdin: IO[bytes] | None = os.fdopen(write, "wb")
        else:
            read, stdin = os.open(os.devnull, os.O_RDONLY), None
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._asking:
                self._orders.settimeout(deadline)
                ours.settimeout(deadline)
                try:
                    files = [read, *(stream.fileno() for stream in streams), theirs.fileno()]
                    sent = socket.send_fds(self._orders, [told], files)
                    self._orders.sendall(told[sent:])
                except ConnectionError as error:
                    raise self._gone() from error
                finally:
                    os.close(read)
            pid = _NUMBER.unpack(self._heard(ours, _NUMBER.size))[0]
        except BaseException:
            ours.close()
            if stdin is not None:
                stdin.close()
            raise
        ours.settimeout(None)
        return ForkedProcess(pid, ours, stdin)

    def stop(self, deadline: float) -> None:
        """End it, and with it all that it has forked. It is killed when it takes longer than so many seconds."""
        self._orders.close()
        try:
            self._process.wait(deadline)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _heard(self, channel: socket.socket, size: int) -> bytes:
        try:
            said = channel.recv(size)
        except TimeoutError as error:
            raise TimeoutError(f"the fork server (process {self.pid}) does not answer") from error
        except ConnectionError:
            said = b""
        if not said:
            raise self._gone()
        return said

    def _gone(self) -> ChildProcessError:
        """The fork server is no more: what it said last."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").split("\n")
        said = next((line.strip()[:240] for line in reversed(lines) if line.strip()), "")
        return ChildProcessError(
            f"the fork server (process {self.pid}) is gone" + (f"; its stderr: {said}" if said else "")
        )


class _Forks:
    """What was forked and has not ended, by process id, with its channel; and all else that a fork must not keep."""

    def __init__(self) -> None:
        self._orders = socket.socket(fileno=os.dup(0))
        self._ended, self._wakeup = socket.socketpair()
        self._ended.setblocking(False)
        self._wakeup.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._orders, selectors.EVENT_READ)
        self._selector.register(self._ended, selectors.EVENT_READ)
        self._channels: dict[int, socket.socket] = {}
        # A handler of Python's own, or the wakeup would hear of nothing.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup.fileno())

    def serve(self) -> Sequence[str]:
        """Serve until the socket closes, and give nothing then; in each process that is forked, give its command."""
        try:
            # Nobody may be there any more.
            with suppress(ConnectionError):
                self._orders.sendall(_LOADED)
            while True:
                for key, _ in self._selector.select():
                    if key.fileobj is self._ended:
                        self._reap()
                    elif key.fileobj is not self._orders:
                        self._signal(key.data)
                    elif not (order := self._order()):
                        return ()
                    elif command := self._fork(*order):
                        return command
        finally:
            # A fork has none.
            for pid in self._channels:
                self._kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def _order(self) -> tuple[dict[str, Any], list[int]] | None:
        """The next order and its files; None at the end."""
        try:
            told, files, _, _ = socket.recv_fds(self._orders, 65_536, _FILES)
            while told and not told.endswith(b"\n"):
                more = self._orders.recv(65_536)
                told = told + more if more else b""
        except ConnectionError:
            return None
        return (json.loads(told), files) if told else None

    def _fork(self, order: dict[str, Any], files: list[int]) -> Sequence[str]:
        *streams, channel_file = files
        channel = socket.socket(fileno=channel_file)
        ready, is_ready = os.pipe()
        pid = os.fork()
        if not pid:
            os.setsid()
            os.close(ready)
            os.close(is_ready)
            channel.close()
            self._forget()
            return _become(order, streams)
        for file in (is_ready, *streams):
            os.close(file)
        # A signal to its group finds one only once it has a session of its own.
        os.read(ready, 1)
        os.close(ready)
        self._channels[pid] = channel
        self._selector.register(channel, selectors.EVENT_READ, pid)
        with suppress(ConnectionError):
            channel.sendall(_NUMBER.pack(pid))
        return ()

    def _forget(self) -> None:
        """In a fork: nothing of the fork server stays, neither its files nor what it does at a signal."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for each in (self._orders, self._ended, self._wakeup, *self._channels.values()):
            each.close()
        self._channels.clear()

    def _reap(self) -> None:
        """Tell how each ended that has ended."""
        with suppress(BlockingIOError):
            while self._ended.recv(4096):
                pass
        for pid in list(self._channels):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                channel = self._channels.pop(pid)
                with suppress(KeyError):
                    self._selector.unregister(channel)
                with channel, suppress(ConnectionError):
                    channel.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(status)))

    def _signal(self, pid: int) -> None:
        """Do what its channel asks for, if it has not ended in the meantime."""
        if pid not in self._channels:
            return
        try:
            asked = self._channels[pid].recv(4096)
        except ConnectionError:
            asked = b""
        if not asked:
            self._selector.unregister(self._channels[pid])
        for number in asked:
            self._kill(pid, number)

    def _kill(self, pid: int, number: int) -> None:
        # On macOS there is no permission for one that has ended.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)


def _become(order: Mapping[str, Any], streams: Sequence[int]) -> Sequence[str]:
    """Have the streams, the folder and the environment of an order; its command."""
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    return tuple(order["command"])


def _leave(ended: SystemExit) -> NoReturn:
    """End this process as the interpreter does at a :func:`sys.exit`, but without taking apart what was loaded.

    That would touch, and so copy, all that forks share, and the kernel takes it back in any case. Threads are waited
    for, what was registered for the end is done, and what was printed is written.
    """
    if ended.code is not None and not isinstance(ended.code, int):
        raise ended  # a message, which the interpreter prints
    threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing does
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        raise ended from None  # the interpreter has a status for that
    os._exit((ended.code or 0) & 0xFF)


def main() -> None:
    """Load, fork; in a fork run."""
    for name in sys.argv[2:]:
        importlib.import_module(name)
    # Forks share what was loaded for as long as nobody touches it, and need not look through it at their end.
    gc.collect()
    gc.freeze()
    if command := _Forks().serve():
        module, *sys.argv[1:] = command
        # It is to be run as the main module, and not to be found as one that was loaded.
        del sys.modules[module]
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            _leave(ended)


if __name__ == "__main__":
    main()
