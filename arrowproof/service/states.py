"""The states of a job, as they are stored; the lifecycle file draws how a job comes from one to another."""

from __future__ import annotations

from typing import Final

WAITING: Final = ("pending", "retry_wait")
FINISHED: Final = ("completed", "failed", "cancelled")
STATES: Final = (*WAITING, *FINISHED)
