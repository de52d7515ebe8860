"""What holds for every test."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A check of a commit answers the same each time; at home every run looks at new examples.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

# A suite that is started in the background inherits an ignored SIGINT, and so would every process that it starts;
# what Ctrl-C does could not be tested then.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONG = tuple(
    f"tests/render/test_{name}.py" for name in ("concession", "page_overview", "page_scenes", "scenes", "page_weight")
)
"""Modules that keep a core busy for long. A run begins with them, so that none of them is left to end it alone."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long modules first, in the order in which they would come, and leave the others as they are."""
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONG))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a real PostgreSQL server; it is started once, by the first test that asks for it."""
    from tests.service.engines import running_postgresql

    with running_postgresql() as url:
        yield url


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests say they tried and found, whether they passed or not."""
    lines = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == "found"
    ]
    if lines:
        terminalreporter.section("tried and found")
        for line in sorted(lines):
            terminalreporter.write_line(line)
