"""The Chromium that looks at pages: finding it, describing it, and one context manager that starts and ends it.

The system's browser comes first, because it is there without a download; Playwright drives it either way.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arrowproof.errors import MissingEnvironmentError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM_VARIABLE = "ARROWPROOF_CHROMIUM"
"""The environment variable that names the browser to use, before any that is found."""

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = "python -m playwright install --with-deps chromium"

QUIET_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    # No name is ever looked up: what a page asks of the network does not leave this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)

_VERSION_DEADLINE = 30.0
_DOWNLOADS = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium-*/chrome-win*/chrome.exe",
)


@dataclass(frozen=True)
class ChromiumInfo:
    """A browser on this machine: the path of its executable, and its version such as ``156.0.8078.108``."""

    path: Path
    version: str


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


def _first_line(text: str) -> str:
    """The first line of a long message that says something, without its drawing."""
    lines = (line.strip(" ═╔╗╚╝║") for line in text.splitlines())
    return next((line for line in lines if line), "no reason given")
