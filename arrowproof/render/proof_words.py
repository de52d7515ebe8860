"""Proof words: how the states, places and processes of an evidence read, cleaned and bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from arrowproof.model.evidence import Process, Row, Statement
from arrowproof.model.lifecycle import Binding, Lifecycle
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair
from arrowproof.render.language import Language
from arrowproof.render.names import distinct_names, listed_names, pair_address, state_name
from arrowproof.render.row_table import shown_value
from arrowproof.render.text import clean_text

MAX_PHRASE = 60
"""Characters of the name of a file, a process or a state."""

MAX_SENTENCE = 240
"""Characters of a sentence that evidence brings along, such as a reason or what went wrong."""


@record
class ProofWords:
    """The words for what an evidence holds of one lifecycle.

    ``names`` is how many places, processes or sneak paths one sentence lists, before it says how many others there are,
    and ``phrase`` how many characters one of them may have.
    """

    lifecycle: Lifecycle
    language: Language
    names: int = 3
    phrase: int = MAX_PHRASE

    @property
    def binding(self) -> Binding:
        """Where the lifecycle lives; of nothing when the model does not say."""
        return self.lifecycle.binding or Binding("", ())

    @cached_property
    def listed_names(self) -> dict[str, str]:
        """How a list calls each state."""
        return listed_names(self.lifecycle)

    @cached_property
    def _state_names(self) -> dict[str, str]:
        return distinct_names(state.id for state in self.lifecycle.states)

    def address(self, pair: Pair) -> tuple[str, str]:
        """Both ends of a pair as an address names them."""
        return pair_address(pair, self._state_names)

    def ends(self, pair: Pair) -> tuple[str, str]:
        """Both ends of a pair as people read them."""
        source, target = pair
        return (self._end(source, "end.created"), self._end(target, "end.removed"))

    def listed_ends(self, pair: Pair) -> tuple[str, str]:
        """Both ends as the list of a page without evidence has them; a value of no state stands as it is."""
        created, removed = self.ends((None, None))
        ends = zip(pair, (created, removed), strict=True)
        source, target = (
            end if id is None else self.bounded(self.listed_names.get(id, id)) or '""' for id, end in ends
        )
        return (source, target)

    def _end(self, state_id: str | None, without: str) -> str:
        if state_id is None:
            return self.language(without)
        state = self.lifecycle.states_by_id.get(state_id)
        return self.bounded(state_id if state is None else state_name(state)) or '""'

    def state_in(self, row: Row) -> str:
        """The name of the state that a row is in, or its value when no state has it; empty when that is not known."""
        values = dict(row)
        if self.binding.state is None or self.binding.state not in values:
            return ""
        value = values[self.binding.state]
        state = self.lifecycle.state_of_value(value)
        return shown_value(value).text if state is None else self.bounded(state_name(state))

    def listed(self, names: Sequence[str]) -> str:
        """The first names in one phrase, and how many others there are."""
        shown = self.language("proof.list").join(names[: self.names])
        more = len(names) - self.names
        return self.language("proof.list_more", listed=shown, number=more) if more > 0 else shown

    def places(self, statements: Iterable[Statement]) -> str:
        """Where statements stand, each place once."""
        return self.listed(list(dict.fromkeys(self.place(statement) for statement in statements)))

    def place(self, statement: Statement) -> str:
        """Where a statement stands. Of a long name of a file the end is shown, since that tells files apart."""
        place = clean_text(str(statement.place)[-4 * self.phrase :])
        return place if len(place) <= self.phrase else f"…{place[1 - self.phrase :]}"

    def process(self, process: Process) -> str:
        """The role of a process and its id."""
        return self.bounded(f"{process.role} {process.pid or ''}")

    def bounded(self, text: str) -> str:
        """A text as long as one of the names in a sentence."""
        return bounded(text, self.phrase)

    def processes(self, processes: Iterable[Process]) -> str:
        """Processes by their role, each role with the ids of its processes."""
        pids: dict[str, dict[str, None]] = {}
        for process in processes:
            known = pids.setdefault(self.bounded(process.role), {})
            if process.pid:
                known[str(process.pid)] = None
        return self.listed([f"{role} {self.listed(list(known))}".rstrip() for role, known in pids.items()])

    def more(self, key: str, number: int, **values: object) -> str:
        """The words for what is left out; nothing when nothing is."""
        return self.language.count(key, number, **values) if number > 0 else ""


def bounded(text: str, limit: int) -> str:
    """A text on one line, cut with an ellipsis where it is longer than ``limit`` characters."""
    cleaned = clean_text(text[: 4 * limit])
    return cleaned if len(cleaned) <= limit else f"{cleaned[: limit - 1].rstrip()}…"
