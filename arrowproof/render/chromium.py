"""The Chromium that looks at pages: finding it, describing it, and starting and ending it.

The system's browser comes first, because it is there without a download. :func:`run_chromium` is for the fit check,
which speaks to the browser itself (:mod:`arrowproof.render.devtools`); :func:`open_browser` has Playwright drive it.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.errors import MissingEnvironmentError
from arrowproof.model.interrupts import interrupts_held
from arrowproof.model.record import record
from arrowproof.render.devtools import DevTools, DevToolsError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM_VARIABLE = "ARROWPROOF_CHROMIUM"
"""The environment variable that names the browser to use, before any that is found."""

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = "python -m playwright install --with-deps chromium"
ROOM_REMEDY = "free some room there, or let TMPDIR name a folder that has it"
SANDBOX_REMEDY = f"where pages are trusted, let {CHROMIUM_VARIABLE} name a script that runs Chromium with --no-sandbox"

PROFILE_ROOM = 16 * 2**20
"""The bytes that the folder for temporary files must have free: what a profile takes for a page, and some to spare."""

QUIET_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    # No name is ever looked up: what a page asks of the network does not leave this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
HEADLESS_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",  # a window that nobody asked for costs as much as a page
    "--hide-scrollbars",
    "--disable-blink-features=AutomationControlled",  # nor is a page told that a program looks at it
    "--force-prefers-reduced-motion",  # its own window moves nothing either, while pages open and load
    "--mute-audio",
    "--force-color-profile=srgb",
    # A page is drawn at once and always, whatever else is before it, and never from a memory of itself.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-back-forward-cache",
    "--disable-features=PaintHolding,HttpsUpgrades,MediaRouter,OptimizationHints,PreconnectToSearch,Translate",
    "--enable-features=CDPScreenshotNewSurface",  # screenshots in five sixths of the time
    "--disable-hang-monitor",
    "--disable-popup-blocking",  # a window that a page opens is told, not kept from it
    "--disable-prompt-on-repost",
    # Nothing of a person's browser: no first steps, no keyring, no reports, no extensions.
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-breakpad",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
)

_VERSION_DEADLINE = 30.0
_LOG = "stderr.log"
_SHARED_MEMORY, _ROOMY = "/dev/shm", 512 * 1024 * 1024
_LONGEST_FOLDER = 40
"""In bytes: the path of a socket has at most 104, and the browser adds some 60 of its own."""
_START_DEADLINE = 60.0
_TO_CHROMIUM, _FROM_CHROMIUM = 3, 4
"""The file descriptors over which a browser that is started with a debugging pipe listens and speaks."""
_DOWNLOADS = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium-*/chrome-win*/chrome.exe",
)


@record
class ChromiumInfo:
    """A browser on this machine: the path of its executable, and its version such as ``156.0.8078.108``."""

    path: Path
    version: str


@record
class RunningChromium:
    """A browser that was started: its main process, and the connection to it, which answers once it is up."""

    path: Path
    pid: int
    tools: DevTools
    profile: Path
    described: Future[dict[str, str]]

    def version(self) -> str:
        """Wait until the browser is up, and give its version.

        Raises:
            MissingEnvironmentError: it did not start.
        """
        try:
            return self.described.result(_START_DEADLINE)["product"].partition("/")[2]
        except (DevToolsError, TimeoutError) as error:
            words = _last_words(self.profile)
            remedy = SANDBOX_REMEDY if "sandbox" in words else REMEDY
            raise MissingEnvironmentError(f"{self.path} does not start: {words}", remedy) from error

    def agent(self) -> str:
        """How it introduces itself to a page: as it does before a reader, so that both get the same page."""
        return self.described.result(_START_DEADLINE)["userAgent"].replace("Headless", "")

    def kill(self) -> None:
        """End it at once; a browser that has ended stays ended."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


def find_chromium() -> Path:
    """The executable of the Chromium to use: the named one, else one on PATH, else Playwright's own download.

    Raises:
        MissingEnvironmentError: there is none, or ``ARROWPROOF_CHROMIUM`` names something that cannot be run.
    """
    if named := os.environ.get(CHROMIUM_VARIABLE):
        if found := shutil.which(named):
            return Path(found)
        raise MissingEnvironmentError(
            f"{CHROMIUM_VARIABLE} names {named!r}, which cannot be run", f"unset {CHROMIUM_VARIABLE}"
        )
    for command in COMMANDS:
        if found := shutil.which(command):
            return Path(found)
    if downloaded := _newest_download(_downloads_folder()):
        return downloaded
    raise MissingEnvironmentError(f"No Chromium found: none of {', '.join(COMMANDS)} is on PATH", REMEDY)


def describe_chromium() -> ChromiumInfo:
    """Path and version of the Chromium that would be used; asks the executable, and opens no page.

    Raises:
        MissingEnvironmentError: there is none, or it does not tell its version.
    """
    path = find_chromium()
    try:
        answer = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingEnvironmentError(f"{path} does not tell its version: {error}", REMEDY) from error
    version = re.search(r"\d+(?:\.\d+){3}", answer.stdout)
    if answer.returncode != 0 or version is None:
        said = (answer.stderr or answer.stdout).strip().splitlines()
        raise MissingEnvironmentError(f"{path} does not tell its version: {said[-1] if said else 'no answer'}", REMEDY)
    return ChromiumInfo(path=path, version=version.group())


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A running Chromium without a window, for as long as the block lasts; its processes end with the block.

    Only root runs it without its sandbox, which Chromium refuses to build for root.

    Raises:
        MissingEnvironmentError: there is no Chromium, or it does not start.
    """
    path = find_chromium()
    _profiles()  # Playwright makes the profile itself, and does not say that there was no room for it
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=launch_flags())
        except Error as error:
            raise MissingEnvironmentError(f"{path} does not start: {_first_line(error.message)}", REMEDY) from error
        try:
            yield browser
        except KeyboardInterrupt:
            # The interrupt ended the driver too, and asyncio would report that end after ours.
            logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
            raise
        finally:
            with suppress(Error):  # it is closed already when it was killed
                browser.close()


@contextmanager
def run_chromium() -> Iterator[RunningChromium]:
    """Start a Chromium without a window, that ends with the block; it need not be up yet when the block begins.

    It has a profile of its own, made for it and removed with it. Only root runs it without its sandbox. When this
    process is killed, the browser finds its pipe broken and ends by itself.

    Raises:
        MissingEnvironmentError: there is no Chromium, or it cannot be run.
    """
    path = find_chromium()
    with tempfile.TemporaryDirectory(prefix="arrowproof-", dir=_profiles(), ignore_cleanup_errors=True) as folder:
        profile = Path(folder)
        running: RunningChromium | None = None
        try:
            with interrupts_held():
                running = _start(path, profile)
            yield running
        finally:
            if running is not None:
                # Killed, not asked to leave: it keeps nothing, and to put itself away takes it a tenth of a second.
                running.kill()
                os.waitpid(running.pid, 0)
                running.tools.close()


def _start(path: Path, profile: Path) -> RunningChromium:
    try:
        pid, tools = _spawn(path, profile)
    except OSError as error:
        raise MissingEnvironmentError(f"{path} does not start: {error.strerror}", REMEDY) from error
    return RunningChromium(path, pid, tools, profile, tools.post("Browser.getVersion"))


def _spawn(path: Path, profile: Path) -> tuple[int, DevTools]:
    """Start the browser in a process group of its own, with a pipe in either direction."""
    its_end, writing = os.pipe()
    reading, its_other_end = os.pipe()
    # Out of the way of the numbers that the browser expects them under.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (its_end, its_other_end)]
    os.close(its_end)
    os.close(its_other_end)
    flags = [*HEADLESS_FLAGS, *launch_flags(), *_memory_flags(), f"--user-data-dir={profile}"]
    try:
        pid = os.posix_spawn(
            path,
            [str(path), *flags],
            {**os.environ, "TMPDIR": str(profile)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, str(profile / _LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_DUP2, ends[0], _TO_CHROMIUM),
                (os.POSIX_SPAWN_DUP2, ends[1], _FROM_CHROMIUM),
            ],
            setpgroup=0,
        )
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    finally:
        for end in ends:
            os.close(end)
    return pid, DevTools(reading, writing)


def _memory_flags() -> list[str]:
    """Pictures pass from process to process in shared memory, or in files where a container has too little of it."""
    try:
        is_roomy = shutil.disk_usage(_SHARED_MEMORY).free >= _ROOMY
    except OSError:
        is_roomy = False
    return [] if is_roomy else ["--disable-dev-shm-usage"]


def _profiles() -> str:
    """The folder for profiles: that for temporary files, unless its name is so long that no socket may stand in it.

    A browser without the room for a profile does not start, or ends in the midst of a page, and does not say why.

    Raises:
        MissingEnvironmentError: it has no room for a profile.
    """
    try:
        folder = tempfile.gettempdir()
    except OSError as error:  # not a byte can be written in any of the usual ones
        raise MissingEnvironmentError(f"no folder takes temporary files: {error.strerror}", ROOM_REMEDY) from error
    folder = folder if len(os.fsencode(folder)) <= _LONGEST_FOLDER else "/tmp"
    free = shutil.disk_usage(folder).free
    if free < PROFILE_ROOM:
        said = f"{folder} has {free // 2**20} MiB free, and the browser needs {PROFILE_ROOM // 2**20} MiB there"
        raise MissingEnvironmentError(said, ROOM_REMEDY)
    return folder


def launch_flags() -> list[str]:
    """The command-line flags that every browser of ours is started with."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*QUIET_FLAGS, *(["--no-sandbox"] if is_root else [])]


def browser_pid(browser: Browser) -> int:
    """The process id of the browser's main process."""
    session = browser.new_browser_cdp_session()
    try:
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    finally:
        session.detach()
    return int(next(process["id"] for process in processes if process["type"] == "browser"))


def _downloads_folder() -> Path:
    """Where Playwright keeps the browsers that it downloads."""
    if chosen := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ms-playwright"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "ms-playwright"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ms-playwright"


def _newest_download(folder: Path) -> Path | None:
    """The executable of the highest revision in Playwright's folder."""
    found = [path for pattern in _DOWNLOADS for path in folder.glob(pattern) if os.access(path, os.X_OK)]
    return max(found, key=lambda path: (_revision(path.relative_to(folder)), path), default=None)


def _revision(relative: Path) -> int:
    digits = relative.parts[0].rpartition("-")[2]
    return int(digits) if digits.isdigit() else 0


def _last_words(profile: Path) -> str:
    """The last line on the browser's standard error that says something: it may go on after what ended it."""
    lines = [line.strip() for line in (profile / _LOG).read_text(encoding="utf-8", errors="replace").splitlines()]
    fatal = [line for line in lines if "FATAL" in line]
    return next(filter(None, reversed(fatal or lines)), "it ended without a word")


def _first_line(text: str) -> str:
    """The first line of a long message that says something, without its drawing."""
    lines = (line.strip(" ═╔╗╚╝║") for line in text.splitlines())
    return next((line for line in lines if line), "no reason given")
