"""Lifecycle files, in the format ``arrowproof.lifecycle/1``: bytes in, a :class:`Lifecycle` out.

One UTF-8 JSON file of at most 1 MiB, described by ``lifecycle.schema.json`` beside this module. What the schema
refuses is reported together with everything that lint can still say about the rest, so that one run shows all.

History of the format:

- ``arrowproof.lifecycle/1``: the first.
"""

from __future__ import annotations

import hashlib
import os
import select
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from arrowproof.errors import InputError, ModelError
from arrowproof.model.document import MAX_BYTES, Document, read_document
from arrowproof.model.lifecycle import (
    AcceptedSneakPath,
    Arrow,
    Binding,
    Dialect,
    Kind,
    Lifecycle,
    Origin,
    Panel,
    State,
    StateValue,
    View,
)
from arrowproof.model.linter import errors_of, lint
from arrowproof.model.schema import check_schema

PIPE_DEADLINE = 10.0
"""How long a pipe may keep its reader waiting for the first byte, in seconds."""

_STILL_READABLE = {
    "duplicate-key",
    "unknown-field",
    "wrong-format",
    "too-short",
    "too-long",
    "unreadable-text",
    "repeated-entry",
    "arrow-without-ends",
    "empty-view",
    "state-column",
    "passing-value",
}
"""Problems that leave a lifecycle which lint can judge, although the file must not be used."""


def load_lifecycle(path: Path) -> Lifecycle:
    """The lifecycle in the file ``path``, free of schema and lint errors (warnings may remain).

    Raises:
        InputError: there is no such file, or it cannot be read.
        ModelError: the file is no lifecycle, or lint found an error.
    """
    lifecycle = read_lifecycle(path)
    errors = errors_of(lint(lifecycle))
    if errors:
        raise ModelError(str(path), errors)
    return lifecycle


def read_lifecycle(path: Path) -> Lifecycle:
    """The lifecycle in the file ``path`` as the schema allows it; lint has not spoken yet.

    Raises:
        InputError: there is no such file, or it cannot be read.
        ModelError: the file is no lifecycle; lint errors are listed too where it could still be judged.
    """
    return parse_lifecycle(read_bytes(path), source=str(path), path=path)


def parse_lifecycle(data: bytes, *, source: str, path: Path | None = None) -> Lifecycle:
    """The lifecycle in ``data``; ``source`` names it in messages, ``path`` is the file, if there is one.

    Raises:
        ModelError: as for :func:`read_lifecycle`.
    """
    document = read_document(data, source)
    problems = [*document.problems, *check_schema(document, "lifecycle")]
    if not problems:
        return _lifecycle(document, data, path)
    if {problem.rule for problem in problems} <= _STILL_READABLE and document.data["states"]:
        problems += errors_of(lint(_lifecycle(document, data, path)))
    raise ModelError(source, sorted(problems, key=lambda problem: (problem.line, problem.column)))


def read_bytes(path: Path, *, limit: int = MAX_BYTES, maker: str = "`arrowproof init` for a starter") -> bytes:
    """The bytes of a file, at most one more than ``limit``, so that a caller sees that there are too many.

    ``maker`` is the command that makes such a file, for the message that says that there is none.

    Raises:
        InputError: there is no such file, it is a folder, it cannot be read, or it is a pipe that nobody writes to.
    """
    try:
        with _open(path) as file:
            return file.read(limit + 1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist. Run {maker}, or name another file.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder. Name a file in it.") from None
    except PermissionError:
        raise InputError(f"{path} may not be read by this user. Change its permissions (`chmod u+r`).") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}. Name another file.") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{str(path)!r} is no file name: {error}. Name another file.") from None


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    """The file, opened for reading; a pipe without a writer is waited for a while only."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    kind = os.fstat(handle).st_mode
    if stat.S_ISDIR(kind):
        os.close(handle)
        raise IsADirectoryError
    with os.fdopen(handle, "rb") as file:
        if stat.S_ISFIFO(kind):
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            if not poll.poll(PIPE_DEADLINE * 1000):
                raise InputError(f"{path} is a pipe that nothing came out of for {PIPE_DEADLINE:g} s. Name a file.")
        os.set_blocking(handle, True)
        yield file


def _lifecycle(document: Document, data: bytes, path: Path | None) -> Lifecycle:
    """The record, from data that the schema allows (or refuses only in what is STILL_READABLE)."""
    plain: Mapping[str, Any] = document.data
    origin = Origin(path, hashlib.sha256(data).hexdigest(), MappingProxyType(document.positions()))
    return Lifecycle(
        id=plain["id"],
        title=_text(plain, "title") or plain["id"],
        states=tuple(_state(state) for state in plain["states"]),
        arrows=tuple(_arrow(arrow) for arrow in plain["arrows"]),
        summary=_text(plain, "summary") or "",
        binding=_binding(plain["binding"]) if "binding" in plain else None,
        panels=tuple(Panel(panel["title"], tuple(panel["lines"])) for panel in plain.get("panels", ())),
        views=tuple(_view(view) for view in plain.get("views", ())),
        accepted_sneak_paths=tuple(
            AcceptedSneakPath(accepted.get("from"), accepted.get("to"), accepted["reason"])
            for accepted in plain.get("accepted_sneak_paths", ())
        ),
        sources=tuple(plain.get("sources", ())),
        dialect=Dialect(plain.get("dialect", Dialect.SQLITE)),
        driver=plain.get("driver"),
        origin=origin,
    )


def _state(plain: Mapping[str, Any]) -> State:
    kind = Kind(plain["kind"])
    return State(
        id=plain["id"],
        kind=kind,
        label=_text(plain, "label") or plain["id"],
        value=None if kind is Kind.PASSING else _value(plain.get("value", plain["id"])),
        note=_text(plain, "note"),
        group=_text(plain, "group"),
        terminal=plain.get("terminal"),
    )


def _text(plain: Mapping[str, Any], field: str) -> str | None:
    """A text that people read, as written; None when it is left out or holds nothing but white space."""
    text: str = plain.get(field, "")
    return text if text.strip() else None


def _value(value: Any) -> StateValue:
    """What the column holds; JSON Schema takes 1.0 for an integer, and so do we."""
    if isinstance(value, float):
        return int(value)
    checked: StateValue = value
    return checked


def _arrow(plain: Mapping[str, Any]) -> Arrow:
    return Arrow(
        id=plain["id"],
        source=plain.get("from"),
        target=plain.get("to"),
        event=_text(plain, "event"),
        guard=_text(plain, "guard"),
        effect=_text(plain, "effect"),
    )


def _binding(plain: Mapping[str, Any]) -> Binding:
    return Binding(
        table=plain["table"],
        key=tuple(plain["key"]),
        state=plain.get("state"),
        state_sql=plain.get("state_sql"),
        watch=tuple(plain.get("watch", ())),
    )


def _view(plain: Mapping[str, Any]) -> View:
    states, arrows = tuple(plain.get("states", ())), tuple(plain.get("arrows", ()))
    return View(plain["id"], _text(plain, "title") or plain["id"], states, arrows, plain.get("note"))
