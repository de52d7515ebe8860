"""Proof data: the panels of a page as plain lists, from which the script builds the one that is chosen.

As markup they would be twice as large, and a page holds one for each transition. Everything in here is text, and the
script puts it into the page as text. Keys are short, and what is empty is left out:

=====  ====================================================================
key    what
=====  ====================================================================
``a``  the ends as an address names them
``h``  the heading: both ends as people read them
``l``  label
``i``  ids of arrows
``t``  tone
``r``  rungs: word, fact, sign, tone
``p``  problem of the walk
``x``  way out of a sneak path
``s``  statement: place, lines (number, then text and role in turn, without an
       empty role at the end), notes (text and whether it is bad)
``w``  row: headings, lines (changed, then name, before, after; a cut one as a pair with the whole), more
``k``  kills: heading, lines, problem
``o``  processes: role, id, ending
``m``  more processes
=====  ====================================================================

Panels of one run say much the same: the same processes, kills and rungs, and the names of states again and again. A
list or a text that stands there several times is kept once, in ``same``, and ``-n`` stands for its n-th one: no other
number in here is below zero.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from arrowproof.render.proof_column import ArrowHead
from arrowproof.render.proof_panel import ProofPanel, StatementTexts
from arrowproof.render.row_table import RowTable, Value
from arrowproof.render.sql_lines import SqlLine

_REFERENCE = len("-100")


def proof_data(
    heads: Iterable[ArrowHead], panels: Iterable[ProofPanel], most_whole: int | None = None
) -> dict[str, object]:
    """The heads by the id of their arrow, and the panels in their order.

    Of a value that is cut in its table, at most ``most_whole`` characters are kept; with 0 none beyond what is shown.
    """
    shown = panels if most_whole is None else (_within(panel, most_whole) for panel in panels)
    return {"heads": {head.arrow: _head(head) for head in heads}, "panels": [_panel(panel) for panel in shown]}


def _within(panel: ProofPanel, most_whole: int) -> ProofPanel:
    return panel if panel.row is None else replace(panel, row=panel.row.within(most_whole))


def said_once(data: Mapping[str, object]) -> dict[str, object]:
    """These heads and panels, with ``same`` holding once what stands in the panels so often that this is shorter."""
    counts = Counter(chain.from_iterable(map(_parts, _inside(data["panels"]))))
    numbers: dict[str, int] = {}
    panels = _referred(data["panels"], counts, numbers)
    return {**data, "panels": panels, "same": [json.loads(text) for text in numbers]}


def _parts(value: object) -> Iterator[str]:
    """The lists and texts in a value, the outer before the inner, as JSON; none that is shorter than a reference."""
    if isinstance(value, list | tuple | str) and len(text := json.dumps(value)) > _REFERENCE:
        yield text
    yield from chain.from_iterable(map(_parts, _inside(value)))


def _pays(text: str, count: int) -> bool:
    """Whether so many references to it with what they refer to are shorter than itself as often."""
    return count * (len(text) - _REFERENCE) > len(text)


def _inside(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _referred(value: object, counts: Counter[str], numbers: dict[str, int]) -> object:
    """A value in which references stand for the outermost lists and texts that are there often, numbered as met."""
    if isinstance(value, Mapping):
        return {key: _referred(each, counts, numbers) for key, each in value.items()}
    if not isinstance(value, list | tuple | str):
        return value
    text = json.dumps(value)
    if _pays(text, counts[text]):
        return -numbers.setdefault(text, len(numbers) + 1)
    return value if isinstance(value, str) else [_referred(each, counts, numbers) for each in value]


def _head(head: ArrowHead) -> dict[str, object]:
    choices = [[*address, name] for address, name in head.choices]
    return _without_empty({"h": head.title, "l": head.label, "i": head.id, "c": choices, "m": head.more})


def _panel(panel: ProofPanel) -> dict[str, object]:
    return _without_empty(
        {
            "a": panel.address,
            "h": panel.title,
            "l": panel.label,
            "i": panel.arrows,
            "t": panel.tone,
            "r": [[rung.word, rung.fact, rung.sign, rung.tone] for rung in panel.rungs],
            "p": panel.problem,
            "x": panel.way_out,
            "s": _statement(panel.statement, panel.no_statement),
            "w": None if panel.row is None else _row(panel.row),
            "k": [[side.heading, side.lines, side.problem] for side in panel.kills],
            "o": panel.processes,
            "m": panel.more_processes,
        }
    )


def _without_empty(data: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in data.items() if value}


def _statement(statement: StatementTexts | None, without: str) -> list[object]:
    if statement is None:
        return ["", [], [[without, 0]]]
    lines = [_line(line) for line in statement.lines]
    notes = [[statement.more, 0], [statement.warning, 1], [statement.others, 0]]
    return [statement.place, lines, [note for note in notes if note[0]]]


def _line(line: SqlLine) -> list[object]:
    parts: list[object] = [line.number, *chain.from_iterable((span.text, span.role) for span in line.spans)]
    return parts[:-1] if parts[-1] == "" else parts


def _row(row: RowTable) -> list[object]:
    lines = [
        [int(line.is_changed), *(_value(value) for value in (line.name, line.before, line.after))] for line in row.lines
    ]
    return [[row.heading, row.before, row.after], lines, row.more]


def _value(value: Value) -> object:
    return [value.text, value.whole] if value.whole else value.text
