"""The evidence of one proof: what was found, walked, killed and seen. Format ``arrowproof.evidence/2``.

Plain frozen records, so that a page can draw them and a report can print them without knowing how they were made.
States are ids of the model; None is creation (as a source) or removal (as a target). Times are UTC RFC 3339.
Files are relative to the folder of the lifecycle file, with forward slashes.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from arrowproof.model.log import Log
from arrowproof.model.record import record

EVIDENCE_FORMAT = "arrowproof.evidence/2"

SINCE_2 = {"since": 2}
"""What a field bears that came with version 2 of the format: it is left out of the file while it holds its default."""

Scalar = str | int | float | bool | None
Row = tuple[tuple[str, Scalar], ...]
"""A row as (column, value) pairs in column order. Blobs are given as ``x'…'`` text."""


class Verdict(StrEnum):
    """What a proof came to, by the rules of DESIGN section 5."""

    PROVEN = "proven"
    WALKED = "walked"
    NOT_PROVEN = "not proven"


@record
class Place:
    """Where a statement stands: file, line (from 1) and, for a named query, its name."""

    file: str
    line: int
    name: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@record
class Statement:
    """A data-changing statement on the bound table, as written in the source."""

    place: Place
    sql: str


@record
class Undecided:
    """A statement of which the scan cannot say what it does, and why. It keeps a lifecycle from being proven."""

    statement: Statement
    reason: str


@record
class DynamicTarget:
    """A statement whose target state is a parameter; ``sources`` are the states it may leave (None: it inserts)."""

    statement: Statement
    sources: tuple[str | None, ...]
    reason: str


class JournalKind(StrEnum):
    """What a journal row witnesses: a change of state, a state named and unchanged, or a touch."""

    CHANGED = "changed"
    NAMED = "named"
    TOUCHED = "touched"


@record
class JournalRow:
    """One row of the journal. ``old_state`` and ``new_state`` are column values, not state ids.

    ``query`` is what the client sent, where the database tells: all of its statements, cut where it is long.
    ``written`` is where the statement stands in the sources, when one of them reads the same.
    """

    order: int
    operation: str
    kind: JournalKind
    key: Row
    old_state: Scalar
    new_state: Scalar
    old_watched: Row
    new_watched: Row
    query: str | None = field(default=None, metadata=SINCE_2)
    written: Place | None = field(default=None, metadata=SINCE_2)


@record
class Process:
    """A process that took part: its role (``server``, ``worker``), process id, and how it ended."""

    role: str
    pid: int
    ended: str


@record
class Walk:
    """One walk of one transition: the row by SELECT before and after, the processes, and what the journal held.

    ``path`` is the arrow path taken; ``problem`` says in words why the walk does not count, None when it does.
    """

    source: str | None
    target: str | None
    path: tuple[str, ...]
    key: Row
    processes: tuple[Process, ...]
    before: Row | None
    after: Row | None
    journal: tuple[JournalRow, ...]
    problem: str | None = None


class Side(StrEnum):
    """On which side of the commit a process was killed."""

    BEFORE = "before commit"
    AFTER = "after commit"


class Blow(StrEnum):
    """What befell a process in the middle of a transition: it was killed, or it lost its connection to the database."""

    KILLED = "process killed"
    CUT = "connection lost"
    LATE = "connection lost, commit late"
    ENDED = "connection ended by the server"


@record
class Kill:
    """One blow on one side of the commit of one transition, a SIGKILL but for the ``blow``, and what stood afterwards.

    ``before`` is the row ahead of the killed walk, ``found`` the row after the blow, ``restarted`` the row after the
    restart. ``point`` is where it struck: for a SIGKILL the hold point at which the process waited for its death.
    """

    source: str | None
    target: str | None
    side: Side
    point: str
    key: Row | None
    processes: tuple[Process, ...]
    before: Row | None
    found: Row | None
    restarted: Row | None
    journal: tuple[JournalRow, ...]
    problem: str | None = None
    blow: Blow = field(default=Blow.KILLED, metadata=SINCE_2)


class Moment(StrEnum):
    """Where the first of several workers on one row waits while the others begin and come as far as they can."""

    READ = "after its read"
    WRITTEN = "before its commit"


@record
class Interleaving:
    """Several workers on one row at once, and what the journal held when all had ended.

    The first was set off to make ``source`` to ``target`` and waited at the ``moment``. The others, ``rivals`` in
    number, were set off meanwhile to make ``source`` to ``rival``; ``waited`` is how many of them came to wait for a
    lock of the first, and the rest had ended before it went on, but for those ``unseen``: what they had come to then
    nobody could tell. A target of None is removal.
    """

    source: str
    target: str | None
    rival: str | None
    rivals: int
    moment: Moment
    waited: int
    key: Row
    processes: tuple[Process, ...]
    before: Row | None
    after: Row | None
    journal: tuple[JournalRow, ...]
    problem: str | None = None
    unseen: int = field(default=0, metadata=SINCE_2)


@record
class TransitionEvidence:
    """All that is known of one transition of the model."""

    source: str | None
    target: str | None
    paths: tuple[tuple[str, ...], ...]
    written: tuple[Statement, ...] = ()
    walks: tuple[Walk, ...] = ()
    kills: tuple[Kill, ...] = ()

    @property
    def is_written(self) -> bool:
        """Whether a statement can make it."""
        return bool(self.written)

    @property
    def is_walked(self) -> bool:
        """Whether at least one walk was made and none went wrong."""
        return bool(self.walks) and all(walk.problem is None for walk in self.walks)

    @property
    def is_survived(self) -> bool:
        """Whether it was killed on both sides of its commit and every restart ended right."""
        sides = {kill.side for kill in self.kills}
        return sides == set(Side) and all(kill.problem is None for kill in self.kills)


@record
class SneakPath:
    """A transition that the model does not have. ``possible``: statements that can make it; ``happened``: journal rows.

    A value that is no state of the model stands as its own text in ``source`` or ``target``. ``only_in_race`` says that
    its statements make it only where another session changes the row between their look at it and their write.
    """

    source: str | None
    target: str | None
    possible: tuple[Statement, ...] = ()
    happened: tuple[JournalRow, ...] = ()
    accepted: str | None = None
    only_in_race: bool = field(default=False, metadata=SINCE_2)


@record
class SourceFile:
    """A source that the scan read, with the SHA-256 of its bytes and how many data-changing statements it holds."""

    file: str
    sha256: str
    statements: int


@record
class Environment:
    """Where the proof ran.

    ``database`` and ``database_version`` are the library that Arrowproof read the rows with, and ``wal_reset`` says
    whether that one is ``affected`` or ``not affected`` by SQLite's WAL-reset bug. A service brings its own library,
    which is not known here. ``journal_mode`` is that of the service's file.
    """

    arrowproof: str
    python: str
    platform: str
    database: str
    database_version: str
    journal_mode: str | None = None
    wal_reset: str | None = None


@record
class Share:
    """A count out of a total."""

    covered: int
    total: int

    def __str__(self) -> str:
        return f"{self.covered} of {self.total}"


@record
class Coverage:
    """Transition coverage, and beside it state, arrow and transition-pair (1-switch) coverage and kills survived."""

    transitions: Share
    states: Share
    arrows: Share
    pairs: Share
    kills: Share
    events: Share | None = field(default=None, metadata=SINCE_2)
    """Illegal events that changed nothing, of all that the model does not have; None where none was fired."""


@record
class IllegalEvent:
    """An event that was fired at a row in a state in which the model does not have it, and what came of it.

    ``answer`` is what the service said. ``problem`` says in words what changed, None when nothing did.
    """

    event: str
    state: str
    answer: str
    key: Row
    before: Row | None
    after: Row | None
    journal: tuple[JournalRow, ...]
    problem: str | None = None


@record
class RandomWalks:
    """Random walks: how many were asked for and made, their steps in all, and the seed that gives the same again.

    ``failed`` are the steps of the shortest walk that failed, transitions by name and events that were fired, of which
    the last went wrong, and ``problem`` says how; nothing when none failed.
    """

    asked: int
    seed: int
    walks: int
    steps: int
    failed: tuple[str, ...] = ()
    problem: str | None = None


@record
class Detour:
    """A step that went otherwise than asked on a longer way than it need be, within the model: no fault of the service.

    ``steps`` are transitions by name, from creation on, of which the last went otherwise; ``problem`` says how. The
    shortest way to it was walked besides.
    """

    steps: tuple[str, ...]
    problem: str


@record
class Guard:
    """A guard that the service's own schema makes: undeclared writes that were tried, and those it refused."""

    tried: int
    refused: int

    @property
    def holds(self) -> bool:
        """Whether undeclared writes were tried and every one was refused."""
        return self.refused == self.tried > 0


@record
class Evidence:
    """One proof of one lifecycle. ``log`` and ``guard`` are None where no log was read and no guard was tried."""

    model_id: str
    model_title: str
    model_sha256: str
    sources: tuple[SourceFile, ...]
    started: str
    seconds: float
    environment: Environment
    transitions: tuple[TransitionEvidence, ...]
    sneak_paths: tuple[SneakPath, ...]
    undecided: tuple[Undecided, ...]
    dynamic: tuple[DynamicTarget, ...]
    coverage: Coverage
    verdict: Verdict
    reasons: tuple[str, ...]
    """Why the verdict is not better, one sentence each; empty when proven."""
    log: Log | None = None
    guard: Guard | None = None
    interleavings: tuple[Interleaving, ...] = field(default=(), metadata=SINCE_2)
    events: tuple[IllegalEvent, ...] = field(default=(), metadata=SINCE_2)
    random_walks: RandomWalks | None = field(default=None, metadata=SINCE_2)
    detours: tuple[Detour, ...] = field(default=(), metadata=SINCE_2)
    left_out: tuple[str, ...] = field(default=(), metadata=SINCE_2)
    """What was not tried, and why, one sentence each. It says nothing against the service."""

    @property
    def is_guarded(self) -> bool:
        """Whether a guard was tried and refused everything."""
        return self.guard is not None and self.guard.holds

    @property
    def has_kills(self) -> bool:
        """Whether crash checks were made; none were where the driver can make none."""
        return any(transition.kills for transition in self.transitions)
