"""The SQL transition matrix: what the statements found can do, held against the model.

*Written* says which transitions have a statement; *possible* sneak paths are what a statement can do and the model does
not have. The matrix holds only when every transition is written, no sneak path is possible unless its owner accepts it,
and nothing is undecided or dynamic. What the sources do not show (a table made elsewhere, triggers in other files) is
not judged; that no CREATE TABLE was found is noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from arrowproof.conformance.changes import Change
from arrowproof.conformance.display import VALUE_LIMIT, one_line
from arrowproof.conformance.effects import Move, Subject
from arrowproof.conformance.extraction import Extraction, extract_statements
from arrowproof.conformance.findings import Finding, Scan, Scanner, cut
from arrowproof.conformance.names import fold
from arrowproof.conformance.near_states import near_state
from arrowproof.conformance.sources import Source, read_sources
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tables import read_table
from arrowproof.conformance.writes import Answer, changes_of
from arrowproof.errors import InputError
from arrowproof.model.evidence import DynamicTarget, Place, SneakPath, SourceFile, Statement, Undecided
from arrowproof.model.lifecycle import Binding, Lifecycle, State
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition, derive_transitions

MAX_NOTES = 20
"""Misspelt values that are noted; the first ones show the mistake."""
MAX_VALUES = 200
"""Values of one statement that are held against the states to find a misspelt one."""


@record
class Matrix:
    """The SQL transition matrix of a lifecycle.

    ``written`` has the statements of each transition of the model, none for the ``missing`` ones. ``idle`` are
    statements that can do nothing in any state of the model, often because of a misspelt value; ``pinned`` are those in
    which naming source states would rule nothing more out.
    """

    sources: tuple[SourceFile, ...]
    written: Mapping[Pair, tuple[Statement, ...]]
    missing: tuple[Transition, ...]
    sneak_paths: tuple[SneakPath, ...]
    undecided: tuple[Undecided, ...]
    dynamic: tuple[DynamicTarget, ...]
    idle: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
    pinned: tuple[Statement, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the SQL can make every transition of the model and nothing else, beyond doubt."""
        is_clean = all(path.accepted is not None for path in self.sneak_paths)
        return is_clean and not (self.missing or self.undecided or self.dynamic)


def scan(lifecycle: Lifecycle, paths: Sequence[Path] = (), triggers: Sequence[Source] = ()) -> Scan:
    """Read the sources of a lifecycle (or ``paths`` in their stead) and find what their statements can do.

    ``triggers`` are those of a database that stand in no source; they are read besides, and are no sources of the scan.

    Raises:
        InputError: the lifecycle has no binding, or a source cannot be read.
    """
    binding = lifecycle.binding
    if binding is None:
        raise InputError(f'the lifecycle {lifecycle.id} has no binding: add "binding" with table, key and state')
    sources = read_sources(lifecycle, paths)
    values = [state.value for state in lifecycle.stored_states]
    extraction = extract_statements((*sources, *triggers), binding, values, lifecycle.dialect)
    statements = extraction.statements
    if binding.state is None:
        return _scan_of_derived_state(lifecycle, binding, sources, statements)
    scanner = Scanner(_subject_of(lifecycle, binding, binding.state, extraction), statements)
    scanner.run()
    files = _counted(sources, scanner.answers)
    notes = (*extraction.notes, *scanner.notes)
    return Scan(files, tuple(scanner.findings), tuple(scanner.undecided), notes)


def build_matrix(lifecycle: Lifecycle, scan: Scan) -> Matrix:
    """Hold what a scan found against the model's transitions, in the model's and the sources' order.

    Raises:
        ModelError: the transitions of the lifecycle cannot be derived.
    """
    transitions = derive_transitions(lifecycle)
    made: dict[Move, list[Statement]] = {}
    raced: dict[Move, list[Statement]] = {}
    for finding in scan.findings:
        for found, moves in ((made, finding.effects.moves), (raced, finding.effects.race)):
            for move in moves:
                found.setdefault(move, []).append(finding.statement)
    written = {each.pair: tuple(dict.fromkeys(made.pop(Move(*each.pair), ()))) for each in transitions}
    only_raced = raced.keys() - made.keys() - {Move(*each.pair) for each in transitions}
    for move in {each: None for each in raced if each in made or each in only_raced}:
        made.setdefault(move, []).extend(raced[move])
    reasons = {(path.source, path.target): path.reason for path in lifecycle.accepted_sneak_paths}
    sneak_paths = tuple(
        SneakPath(
            move.source,
            move.target,
            possible=tuple(dict.fromkeys(made[move])),
            only_in_race=move in only_raced,
            accepted=None if move.is_undeclared else reasons.get((move.source, move.target)),
        )
        for move in sorted(made, key=_model_order(lifecycle))
    )
    wide = {each.statement for each in scan.findings if not each.effects.is_pinned}
    return Matrix(
        scan.sources,
        MappingProxyType(written),
        tuple(each for each in transitions if not written[each.pair]),
        sneak_paths,
        scan.undecided,
        tuple(map(_dynamic_target, (each for each in scan.findings if each.effects.dynamic))),
        tuple(each.statement for each in scan.findings if each.effects.is_idle),
        (*scan.notes, *_misspelt(scan.findings, lifecycle.stored_states)),
        tuple(dict.fromkeys(each.statement for each in scan.findings if each.statement not in wide)),
    )


def _subject_of(lifecycle: Lifecycle, binding: Binding, state_column: str, extraction: Extraction) -> Subject:
    self_transitions = {each.source for each in derive_transitions(lifecycle) if each.source == each.target}
    return Subject(
        read_table(
            extraction.statements,
            binding.table,
            (*binding.key, *binding.watch, state_column),
            drops_index=extraction.drops_index,
        ),
        tuple(fold(name) for name in binding.key),
        fold(state_column),
        frozenset(fold(name) for name in binding.watch),
        lifecycle.stored_states,
        frozenset(each for each in self_transitions if each is not None),
    )


def _scan_of_derived_state(
    lifecycle: Lifecycle,
    binding: Binding,
    sources: Sequence[Source],
    statements: Sequence[SqlStatement],
) -> Scan:
    """A state that is an expression over the row is not followed: the one answer is that it is undecided."""
    line, _ = lifecycle.origin.position("$.binding.state_sql")
    file = lifecycle.origin.path.name if lifecycle.origin.path is not None else lifecycle.id
    reason = "the state is an expression (state_sql), which the scan cannot follow: bind a state column"
    undecided = Undecided(Statement(Place(file, line), cut(binding.state_sql or "")), reason)
    answers = [changes_of(statement, binding.table) for statement in statements]
    return Scan(_counted(sources, answers), (), (undecided,))


def _counted(sources: Iterable[Source], answers: Iterable[Sequence[Answer]]) -> tuple[SourceFile, ...]:
    """The sources, each with the number of its statements that change rows."""
    changes = (each for each in answers if any(isinstance(answer, Change) for answer in each))
    counts = Counter(each[0].statement.place.file for each in changes)
    return tuple(SourceFile(source.file, source.sha256, counts[source.file]) for source in sources)


def _misspelt(findings: Iterable[Finding], states: Sequence[State]) -> Iterator[str]:
    """A note for each value that a statement stores or asks for, and that is nearly a state's."""
    return islice(_misspelt_values(findings, states), MAX_NOTES)


def _misspelt_values(findings: Iterable[Finding], states: Sequence[State]) -> Iterator[str]:
    for finding in findings:
        stored = dict.fromkeys(move.target or "" for move in finding.effects.moves if move.is_undeclared)
        for does, values in (("stores", stored), ("asks for", dict.fromkeys(finding.effects.compared))):
            for value in islice(values, MAX_VALUES):
                near = near_state(states, value)
                if near is not None:
                    shown, meant = one_line(value, VALUE_LIMIT), one_line(near, VALUE_LIMIT)
                    place = finding.statement.place
                    yield f"{place}: it {does} '{shown}', and no state has this value; did you mean {meant}?"


def _dynamic_target(finding: Finding) -> DynamicTarget:
    reason = (
        "the target state is not a constant in the statement:"
        " write the target as a literal: one statement for each target, or CASE with literals"
    )
    return DynamicTarget(finding.statement, finding.effects.dynamic, finding.effects.dynamic_reason or reason)


def _model_order(lifecycle: Lifecycle) -> Callable[[Move], tuple[int, int, bool, str]]:
    """Sneak paths in the order of their states: creation first, removal last, values that are no state behind it."""
    order = {state.id: place for place, state in enumerate(lifecycle.states)}

    def key(move: Move) -> tuple[int, int, bool, str]:
        source = -1 if move.source is None else order[move.source]
        target = order.get(move.target or "", len(order))
        return source, target, move.is_undeclared, move.target or ""

    return key
