"""The rivals of one note job: workers, retentions and requests that are set off at once, each in a process of its own.

A request is sent to one of two servers that are there for this alone: the one that is held at the moment in question
when it comes first, else the other one.
"""

from __future__ import annotations

from arrowproof.conformance.notes_deeds import Deed
from arrowproof.conformance.notes_service import Hold, NotesService
from arrowproof.conformance.rivals import HeldRival, ProcessRival, RequestRival, Rival
from arrowproof.model.evidence import Moment

OUT_OF_REACH = 600.0
"""Seconds until the next attempt at a job, so that nobody takes it up before its tour has ended.

No longer than that: a service that takes a job up too early by an hour, by another time zone say, is to be found out.
"""

KEEP_NOTHING = "0"
"""Seconds for which a retention keeps a finished job that it is to remove at once."""

_OTHER = {Moment.READ: Moment.WRITTEN, Moment.WRITTEN: Moment.READ}


class NotesRivals:
    """Sets rivals off, on the processes of one service."""

    def __init__(self, service: NotesService) -> None:
        self._service = service
        self._held_server: Moment | None = None

    def start_servers(self) -> None:
        """Start both servers, and wait until they are ready: while a worker is held, a client waits for few seconds."""
        for moment in Moment:
            self._service.rival_server(moment)

    def set_off(self, deed: Deed, job_id: int) -> Rival:
        """Start what does this deed to the job."""
        if deed in (Deed.RETRY, Deed.CANCEL):
            moment = _OTHER[self._held_server or Moment.WRITTEN]
            # On a server nobody is held there, and the next one to ask asks the other.
            self._held_server = moment if self._held_server is None else self._held_server
            return self._ask(deed, job_id, *self._service.rival_server(moment), is_held=False)
        return ProcessRival(self._service.launch(*_command(deed), *self._service.impatience))

    def set_off_held(self, deed: Deed, job_id: int, moment: Moment) -> HeldRival:
        """The same, held at this moment."""
        self._held_server = None
        if deed in (Deed.RETRY, Deed.CANCEL):
            url, hold = self._service.rival_server(moment)
            hold.arm()
            self._held_server = moment
            return self._ask(deed, job_id, url, hold, is_held=True)
        role, *options = _command(deed)
        hold = self._service.hold(role, moment, *options, *self._service.impatience)
        return ProcessRival(hold.process, held=hold.held, release=hold.release)

    def _ask(self, deed: Deed, job_id: int, url: str, hold: Hold, *, is_held: bool) -> RequestRival:
        # Imported when it is needed: httpx takes its time.
        from arrowproof.conformance.notes_api import NotesApi

        def ask() -> None:
            with NotesApi(url) as api:
                api.ask_for(str(deed), job_id)

        files = {"held": hold.held, "release": hold.release} if is_held else {}
        return RequestRival(ask, hold.process, **files)


def _command(deed: Deed) -> tuple[str, ...]:
    if deed is Deed.REMOVE:
        return "retention", "--keep-finished", KEEP_NOTHING
    return "worker", "--max-polls", "1", "--retry-delay", str(OUT_OF_REACH)
