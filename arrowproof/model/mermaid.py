"""Mermaid: a lifecycle as the text of a ``stateDiagram-v2``, for READMEs and issues whose viewer draws Mermaid.

An id can be any string, so states are ``s0``, ``s1``, … in file order, each with its label and, as a second line of its
box, its note. ``[*]`` is where rows are created and removed; a terminal state does not lead there, since its row stays.
A passing state is drawn dashed. Groups, views and panels have no counterpart and are left out.

What Mermaid 11 was found to do with a label, each pinned by a test:

- ``#`` begins a comment and ``;``, ``:``, ``"`` or a line break ends the text, so they stand as entities: ``#59;``.
- ``direction LR`` anywhere in a line turns the whole line into that instruction.
- ``<<fork>>``, ``[[choice]]`` and ``{`` inside a quoted label change what the state is.
- Labels are read as Markdown: ``*``, backticks, ``1. `` and links mean something, and ``\\n`` is a line break.
- Of several arrows from a state to itself only the last is drawn, so they stand as one arrow with a line for each.
- Entities are carried by the marks ``ﬂ°`` and ``¶ß``, and a label that holds these itself is decoded twice: the
  ligature is written as its two letters, and the other pair is parted by a character without width.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from arrowproof import __version__
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State

MARK = "%% Arrowproof "
"""How the first line of every text begins, so that it can be told from a file that must not be replaced."""

MOST_DRAWN = 50_000
"""The UTF-16 code units of the longest text that Mermaid draws where nobody has raised its ``maxTextSize``."""

PASSING_STYLE = "stroke-dasharray:2 4,font-style:italic"

_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_INNER = re.compile(r"(?<=[A-Za-z0-9])[_-](?=[A-Za-z0-9])|(?<=[0-9])\.(?=[0-9])|(?<=[A-Za-z])\.(?= |$)")
"""Signs that are plain text where they stand, so that ``next_run_at``, ``1.5`` and a sentence's end stay readable."""

_INSTRUCTION = re.compile(r"(?<=direction) (?=TB|BT|RL|LR|TD)", re.IGNORECASE)


def write_mermaid(lifecycle: Lifecycle) -> str:
    """The text of a lifecycle, one statement a line; the same lifecycle gives the same text."""
    names = {state.id: f"s{number}" for number, state in enumerate(lifecycle.states)}
    lines = [f"{MARK}{__version__}", "stateDiagram-v2"]
    for word, text in (("accTitle", lifecycle.title), ("accDescr", lifecycle.summary)):
        if written := mermaid_text(text):
            lines.append(f"  {word}: {written}")
    lines.append("  direction LR")
    for state in lifecycle.states:
        lines += _state_lines(state, names[state.id])
    lines += _arrow_lines(lifecycle, names)
    passing = ",".join(names[state.id] for state in lifecycle.states if state.kind is Kind.PASSING)
    if passing:
        lines += [f"  classDef passing {PASSING_STYLE}", f"  class {passing} passing"]
    return "".join(f"{line}\n" for line in lines)


def is_drawn(text: str) -> bool:
    """Whether Mermaid, left as it comes, draws a text of this length; of a longer one it shows an error."""
    return len(text.encode("utf-16-le")) <= 2 * MOST_DRAWN


def is_mermaid(head: bytes) -> bool:
    """Whether a file starts like a text that :func:`write_mermaid` made."""
    return head.startswith(MARK.encode())


def mermaid_text(text: str) -> str:
    """A label as Mermaid shows it unchanged: on one line, every sign with a meaning of its own as an entity.

    Control characters, and characters that turn the direction of text, become U+FFFD.
    """
    line = " ".join(text.split()).replace("ﬂ", "fl").replace("¶ß", "¶\N{ZERO WIDTH NON-JOINER}ß")
    inner = {match.start() for match in _INNER.finditer(line)}
    spaces = {match.start() for match in _INSTRUCTION.finditer(line)}
    return "".join(
        character if place in inner else _entity(character) if place in spaces else _written(character)
        for place, character in enumerate(line)
    )


def _state_lines(state: State, name: str) -> list[str]:
    label = mermaid_text(state.label) or mermaid_text(state.id)
    lines = [f'  state "{label}" as {name}' if label else f"  {name}"]
    if note := mermaid_text(state.note or ""):
        lines.append(f"  {name}: {note}")
    return lines


def _arrow_lines(lifecycle: Lifecycle, names: Mapping[str, str]) -> Iterator[str]:
    drawn: dict[str | int, list[Arrow]] = {}
    for number, arrow in enumerate(lifecycle.arrows):
        own_state = arrow.source if arrow.source == arrow.target else None
        drawn.setdefault(number if own_state is None else own_state, []).append(arrow)
    for first, *more in drawn.values():
        source, target = ("[*]" if end is None else names[end] for end in (first.source, first.target))
        label = mermaid_text(first.label)
        if more:
            label = "<br/>".join(mermaid_text(each.label) or mermaid_text(each.id) for each in (first, *more))
        yield f"  {source} --> {target}{f': {label}' if label else ''}"


def _written(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in " ,/="):
        return character
    if not character.isprintable() and character not in _JOINERS:
        return "\N{REPLACEMENT CHARACTER}"
    return _entity(character) if character.isascii() else character


def _entity(character: str) -> str:
    return f"#{ord(character)};"
