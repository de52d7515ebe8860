"""The guard: what a database must let through of a bound table, told to it as SQL in two dialects.

:mod:`arrowproof.conformance.sqlite_guard` and :mod:`arrowproof.conformance.postgresql_guard` write the SQL, and
:mod:`arrowproof.conformance.guard_check` tries whether a database has one that holds.

A guard lets through the transitions of the model, touches (DESIGN, section 1), and the sneak paths that the owner of
the lifecycle accepts: a database that refused those would break what the lifecycle says is done. All else is refused.
An update of the key is a removal under the old key and a creation under the new one, as the journal has it.
"""

from __future__ import annotations

from collections.abc import Mapping

from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding, Lifecycle, StateValue
from arrowproof.model.record import record
from arrowproof.model.transitions import derive_transitions

PREFIX = "arrowproof_guard"
"""Every object of a guard has a name that begins with it."""

MAX_STATES = 500
"""The states of a guarded lifecycle; more would make a trigger that SQLite's parser has no stack for."""


@record
class Allowed:
    """The values that a state column may take, and from which to which it may go.

    ``targets`` has every value of a stored state, in file order, and where a row may go from it, itself included where
    the model has that self-transition.
    """

    model_id: str
    binding: Binding
    created: tuple[StateValue, ...]
    removed: tuple[StateValue, ...]
    targets: Mapping[StateValue, tuple[StateValue, ...]]

    @property
    def states(self) -> tuple[StateValue, ...]:
        """Every value that a row may have."""
        return tuple(self.targets)

    @property
    def ways(self) -> tuple[tuple[tuple[StateValue, ...], tuple[StateValue, ...]], ...]:
        """Sources and the targets that each of them may go to; those with the same targets stand together."""
        sources: dict[tuple[StateValue, ...], list[StateValue]] = {}
        for source, targets in self.targets.items():
            if targets:
                sources.setdefault(targets, []).append(source)
        return tuple((tuple(each), targets) for targets, each in sources.items())

    def lets(self, source: StateValue, target: StateValue) -> bool:
        """Whether a row may go from one value to the other. Neither creation nor removal is a value."""
        return target in self.targets.get(source, ())


def read_allowed(lifecycle: Lifecycle) -> Allowed:
    """What a guard of this lifecycle lets through.

    Raises:
        InputError: the lifecycle has no binding, or more states than a guard can hold.
        ModelError: its transitions cannot be derived.
    """
    binding = lifecycle.binding
    if binding is None:
        raise InputError(
            f"lifecycle {lifecycle.id!r} names no table to guard. Add a binding, such as "
            '"binding": {"table": "jobs", "key": ["id"], "state": "status"}'
        )
    if len(lifecycle.stored_states) > MAX_STATES:
        raise InputError(
            f"a guard holds at most {MAX_STATES} states; this lifecycle has {len(lifecycle.stored_states)}"
        )
    pairs = [transition.pair for transition in derive_transitions(lifecycle)]
    pairs += [(path.source, path.target) for path in lifecycle.accepted_sneak_paths]
    value = {state.id: state.value for state in lifecycle.stored_states}
    targets: dict[StateValue, list[StateValue]] = {state: [] for state in value.values()}
    for source, target in dict.fromkeys(pairs):
        if source in value and target in value:
            targets[value[source]].append(value[target])
    return Allowed(
        lifecycle.id,
        binding,
        created=tuple(each for state, each in value.items() if (None, state) in pairs),
        removed=tuple(each for state, each in value.items() if (state, None) in pairs),
        targets={state: tuple(each) for state, each in targets.items()},
    )


def text_literal(text: str) -> str:
    """An SQL string that means ``text``, in either dialect.

    Raises:
        InputError: the text holds a NUL, which no SQL text can carry.
    """
    if "\0" in text:
        raise InputError(f"{text!r} holds a NUL character, which no guard can write; change the lifecycle.")
    return "'" + text.replace("'", "''") + "'"
