"""The power cut: what a disk may hold when the power goes, after any of the operations that SQLite asked of it.

A file keeps for certain what it held when it was last synced. A folder keeps the entries that it had when it was last
synced: a file that was made since may be gone, with all that was synced into it, and one that was deleted may be back.
Of everything later the disk keeps what the manner of the cut says:

=========  ===========================================================================================
none       nothing
all        everything
prefix     what was asked first, up to some operation
sectors    each sector of 512 bytes, each change of length and each entry of a folder, or not, by chance
torn       some of these in any order, the last one in part, with rubbish in the rest of its sector
=========  ===========================================================================================

A write never harms bytes beside those that it writes, which is what SQLite takes for granted (powersafe overwrite).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from tests.service.crash.watched_vfs import Operation, Perform

MANNERS = ("none", "all", "prefix", "sectors", "torn")
SECTOR = 512

Files = dict[str, bytes]
"""The files of a folder, by name."""


@dataclass
class Recorder:
    """A watcher that lets every operation pass and keeps it, in order; ``told`` counts what was told to clients."""

    operations: list[Operation] = field(default_factory=list)
    told: int = 0
    told_before: list[int] = field(default_factory=list)

    def __call__(self, operation: Operation, perform: Perform) -> None:
        perform(operation)
        self.operations.append(operation)
        self.told_before.append(self.told)


@dataclass(frozen=True)
class _Piece:
    """Something that the disk may or may not have kept: an operation, or a sector of it."""

    order: int
    file: int
    operation: Operation


@dataclass
class Disk:
    """The state of a disk after some operations: what is certain, and what is not."""

    certain: dict[int, bytes] = field(default_factory=dict)
    certain_entries: dict[str, int] = field(default_factory=dict)
    pending: list[_Piece] = field(default_factory=list)
    _entries: dict[str, int] = field(default_factory=dict)
    _order: int = 0

    def apply(self, operation: Operation) -> None:
        """Take one more operation."""
        self._order += 1
        if operation.kind == "create":
            file = len(self.certain)
            self.certain[file] = b""
            self._entries[operation.name] = file
            self.pending.append(_Piece(self._order, file, operation))
        elif operation.kind == "delete":
            self.pending.append(_Piece(self._order, self._entries.pop(operation.name), operation))
        elif operation.kind == "sync":
            self._settle(self._entries[operation.name])
        else:
            self.pending.append(_Piece(self._order, self._entries[operation.name], operation))
        if operation.syncs_folder:
            self.certain_entries = dict(self._entries)
            self.pending = [piece for piece in self.pending if piece.operation.kind not in ("create", "delete")]

    def _settle(self, file: int) -> None:
        content = bytearray(self.certain[file])
        for piece in self.pending:
            if piece.file == file:
                _change(content, piece.operation)
        self.certain[file] = bytes(content)
        self.pending = [p for p in self.pending if p.file != file or p.operation.kind in ("create", "delete")]

    def cut(self, manner: str, random: Random) -> Files:
        """The files that are found when the power is back."""
        contents = {file: bytearray(content) for file, content in self.certain.items()}
        entries = dict(self.certain_entries)
        for piece in self._kept(manner, random):
            if piece.operation.kind == "create":
                entries[piece.operation.name] = piece.file
            elif piece.operation.kind == "delete":
                if entries.get(piece.operation.name) == piece.file:
                    del entries[piece.operation.name]
            else:
                _change(contents[piece.file], piece.operation)
        return {name: bytes(contents[file]) for name, file in entries.items()}

    def _kept(self, manner: str, random: Random) -> list[_Piece]:
        if manner in ("none", "all"):
            return self.pending if manner == "all" else []
        if manner == "prefix":
            return self.pending[: random.randint(0, len(self.pending))]
        pieces = [sector for piece in self.pending for sector in _sectors(piece)]
        if manner == "sectors":
            return [piece for piece in pieces if random.random() < 0.5]
        random.shuffle(pieces)
        kept = pieces[: random.randint(0, len(pieces))]
        return [*kept[:-1], *(_torn(piece, random) for piece in kept[-1:])]


def _change(content: bytearray, operation: Operation) -> None:
    if operation.kind == "write":
        end = operation.at + len(operation.data)
        content.extend(bytes(max(0, end - len(content))))
        content[operation.at : end] = operation.data
    elif operation.kind == "truncate":
        del content[operation.at :]
        content.extend(bytes(operation.at - len(content)))


def _sectors(piece: _Piece) -> list[_Piece]:
    whole = piece.operation
    if whole.kind != "write":
        return [piece]
    end = whole.at + len(whole.data)
    edges = [whole.at, *range((whole.at // SECTOR + 1) * SECTOR, end, SECTOR), end]
    return [
        replace(piece, operation=replace(whole, at=start, data=whole.data[start - whole.at : stop - whole.at]))
        for start, stop in pairwise(edges)
    ]


def _torn(piece: _Piece, random: Random) -> _Piece:
    data = piece.operation.data
    if not data:
        return piece
    whole = random.randint(0, len(data))
    return replace(piece, operation=replace(piece.operation, data=data[:whole] + random.randbytes(len(data) - whole)))
