"""The SQL transition matrix: what the statements found can do, held against the model.

*Written* says which transitions have a statement; *possible* sneak paths are what a statement can do and the model does
not have. The matrix holds only when every transition is written, no sneak path is possible unless its owner accepts it,
and nothing is undecided or dynamic. What the sources do not show (a table made elsewhere, triggers in other files) is
not judged; that no CREATE TABLE was found is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from arrowproof.conformance.changes import Change, Opaque, Verb, classify
from arrowproof.conformance.columns import ForeignKey
from arrowproof.conformance.display import VALUE_LIMIT, one_line
from arrowproof.conformance.effects import Effects, Move, Subject, effects_of, removal_of_all
from arrowproof.conformance.extraction import extract_statements
from arrowproof.conformance.names import fold
from arrowproof.conformance.near_states import near_state
from arrowproof.conformance.sources import Source, read_sources
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tables import (
    Table,
    read_added_column,
    read_foreign_keys,
    read_replacing_tables,
    read_table,
)
from arrowproof.errors import InputError
from arrowproof.model.evidence import DynamicTarget, Place, SneakPath, SourceFile, Statement, Undecided
from arrowproof.model.lifecycle import Binding, Lifecycle, State
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition, derive_transitions

MAX_SQL = 4_000
"""Characters of a statement that are kept as evidence; a dump of rows is cut."""
MAX_NAMES = 12
"""Names of tables or columns that one message lists."""
MAX_NOTES = 20
"""Misspelt values that are noted; the first ones show the mistake."""
MAX_VALUES = 200
"""Values of one statement that are held against the states to find a misspelt one."""


@record
class Finding:
    """A statement that changes the bound table, and what it can do."""

    statement: Statement
    effects: Effects


@record
class Scan:
    """What the sources hold: files, statements on the bound table, what is undecided, and notes for a person."""

    sources: tuple[SourceFile, ...]
    findings: tuple[Finding, ...]
    undecided: tuple[Undecided, ...] = ()
    notes: tuple[str, ...] = ()


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


def scan(lifecycle: Lifecycle, paths: Sequence[Path] = ()) -> Scan:
    """Read the sources of a lifecycle (or ``paths`` in their stead) and find what their statements can do.

    Raises:
        InputError: the lifecycle has no binding, or a source cannot be read.
    """
    binding = lifecycle.binding
    if binding is None:
        raise InputError(f'the lifecycle {lifecycle.id} has no binding: add "binding" with table, key and state')
    sources = read_sources(lifecycle, paths)
    values = [state.value for state in lifecycle.stored_states]
    extraction = extract_statements(sources, binding, values, lifecycle.dialect)
    statements = extraction.statements
    if binding.state is None:
        return _scan_of_derived_state(lifecycle, binding, sources, statements)
    scanner = _Scanner(_subject_of(lifecycle, binding, binding.state, statements), statements)
    scanner.run()
    files = tuple(_count(source, scanner.answers) for source in sources)
    notes = (*extraction.notes, *scanner.notes)
    return Scan(files, tuple(scanner.findings), tuple(scanner.undecided), notes)


def build_matrix(lifecycle: Lifecycle, scan: Scan) -> Matrix:
    """Hold what a scan found against the model's transitions, in the model's and the sources' order.

    Raises:
        ModelError: the transitions of the lifecycle cannot be derived.
    """
    transitions = derive_transitions(lifecycle)
    made: dict[Move, list[Statement]] = {}
    for finding in scan.findings:
        for move in finding.effects.moves:
            made.setdefault(move, []).append(finding.statement)
    written = {each.pair: tuple(made.pop(Move(*each.pair), ())) for each in transitions}
    reasons = {(path.source, path.target): path.reason for path in lifecycle.accepted_sneak_paths}
    sneak_paths = tuple(
        SneakPath(
            move.source,
            move.target,
            possible=tuple(made[move]),
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


class _Scanner:
    """Goes through the statements of all sources with the facts that only all of them together give."""

    def __init__(self, subject: Subject, statements: Sequence[SqlStatement]) -> None:
        self.subject = subject
        self.statements = statements
        self.answers = [classify(statement, subject.table.name) for statement in statements]
        self.changes = [answer for answer in self.answers if isinstance(answer, Change)]
        self.findings: list[Finding] = []
        self.undecided: list[Undecided] = []
        self.notes: list[str] = []
        keys = read_foreign_keys(statements)
        self.removing_tables = _ancestors(subject.table, keys)
        self.replacing_tables = read_replacing_tables(statements)
        self.rewritten_tables = _descendants(self._rewritten(), keys)
        refers_back = any(
            key.parent == subject.table.name and (key.on_delete or key.on_update)
            for found in keys.values()
            for key in found
        )
        triggers = {each.trigger.table for each in statements if each.trigger is not None}
        # A trigger that runs inside a statement on the bound table can change a row between its WHERE and its write.
        self.is_reentrant = refers_back or any(name is None or fold(name) == subject.table.name for name in triggers)
        # The resolution of the statement that fires a trigger takes the place of the one in the trigger's body.
        self.replaces_in_triggers = any(change.resolution == "REPLACE" for change in self.changes)

    def _rewritten(self) -> Iterator[str]:
        """The tables with rows that a statement may update, remove or replace."""
        for change in self.changes:
            only_inserts = change.verb is Verb.INSERT and not (change.resolution or change.is_upsert)
            if not only_inserts or change.table in self.replacing_tables:
                yield change.table
        for statement in self.statements:
            if (statement.word(0), statement.word(1)) == ("DROP", "TABLE"):
                yield from (fold(token.name or "") for token in statement.tokens[2:])

    def run(self) -> None:
        """Judge the declaration of the table, then each statement in order."""
        self._judge_table()
        for statement, answer in zip(self.statements, self.answers, strict=True):
            if isinstance(answer, Opaque):
                self._call_undecided(statement, answer.reason)
            elif isinstance(answer, Change):
                self._judge_change(answer)
            else:
                self._judge_definition(statement)
        self._judge_binding()

    def _judge_binding(self) -> None:
        """Where the sources write other tables alone, the binding may name the wrong one."""
        name, written = self.subject.table.name, sorted({change.table for change in self.changes})
        if written and name not in written:
            said = "no statement writes" if self.subject.table.statement is not None else "no statement names"
            more = f" and {len(written) - MAX_NAMES} more" if len(written) > MAX_NAMES else ""
            self.notes.append(f"{said} {name}; the sources write {', '.join(written[:MAX_NAMES])}{more}")

    def _judge_change(self, change: Change) -> None:
        name = self.subject.table.name
        in_trigger = change.statement.trigger is not None
        replaces = change.resolution == "REPLACE" or (in_trigger and self.replaces_in_triggers)
        if change.table != name:
            removes = change.verb is Verb.DELETE or replaces or change.table in self.replacing_tables
            if change.table in self.removing_tables and removes:
                self._find(change, removal_of_all(self.subject))
            return
        effects = effects_of(change, self.subject, replaces)
        self._find(change, effects)
        if effects.undecided is not None:
            self._call_undecided(change.statement, effects.undecided)
        if name in self.removing_tables and any(move.target is None for move in effects.moves):
            self._find(change, removal_of_all(self.subject))
        if in_trigger and self.is_reentrant:
            self._call_undecided(
                change.statement,
                f"this trigger can run while another statement changes {name}, whose WHERE then no longer holds",
            )

    def _judge_table(self) -> None:
        table, column = self.subject.table, self.subject.table.column(self.subject.state_column)
        statement = table.statement
        if statement is None:
            self.notes.append(
                f"no CREATE TABLE {table.name} in the sources: its keys, default and types are taken as not known"
            )
            return
        if not table.is_known:
            self.notes.append(f"the sources create {table.name} in several ways: its columns are taken as not known")
        elif not column.name:
            columns = ", ".join(each.name for each in table.columns[:MAX_NAMES])
            more = f" and {len(table.columns) - MAX_NAMES} more" if len(table.columns) > MAX_NAMES else ""
            wanted = f"the table has no column {self.subject.state_column}, in which the binding looks for the state"
            self._call_undecided(statement, f"{wanted}: it has {columns}{more}")
        if column.is_generated:
            self._call_undecided(statement, "the state is a generated column: what changes it is not followed")
        for state in self.subject.states:
            held = column.affinity.store(state.value) if state.value is not None else {None}
            if state.value not in held:
                kept = ", ".join(sorted(map(repr, held)))
                self._call_undecided(statement, f"the state column holds {kept} for the value of {state.id}")
        self._judge_foreign_keys(statement)

    def _judge_foreign_keys(self, statement: SqlStatement) -> None:
        """A foreign key on the state column, or on the key, may itself change it when the parent's rows change."""
        followed = {self.subject.state_column: "state", **dict.fromkeys(self.subject.key, "key")}
        for key in self.subject.table.foreign_keys:
            changed = sorted({followed[column] for column in key.columns if column in followed}, reverse=True)
            if changed and key.changes_child and key.parent in self.rewritten_tables:
                what = " and the ".join(changed)
                self._call_undecided(statement, f"the foreign key to {key.parent} changes the {what} with its parent")

    def _judge_definition(self, statement: SqlStatement) -> None:
        """An ALTER TABLE that adds the state, or a DROP TABLE that takes rows of the bound table along."""
        altered, column = read_added_column(statement)
        if altered == self.subject.table.name and column is not None and column.name == self.subject.state_column:
            self._call_undecided(statement, "it adds the state column: what its rows held before is not followed")
        dropped = {fold(token.name or "") for token in statement.tokens} & self.removing_tables
        if statement.word(0) == "DROP" and statement.word(1) == "TABLE" and dropped:
            self._call_undecided(statement, f"dropping {min(dropped)} removes the rows that refer to it")

    def _find(self, change: Change, effects: Effects) -> None:
        self.findings.append(Finding(_evidence_of(change.statement), effects))

    def _call_undecided(self, statement: SqlStatement, reason: str) -> None:
        self.undecided.append(Undecided(_evidence_of(statement), reason))


def _subject_of(
    lifecycle: Lifecycle, binding: Binding, state_column: str, statements: Sequence[SqlStatement]
) -> Subject:
    self_transitions = {each.source for each in derive_transitions(lifecycle) if each.source == each.target}
    return Subject(
        read_table(statements, binding.table, (*binding.key, *binding.watch, state_column)),
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
    undecided = Undecided(Statement(Place(file, line), _cut(binding.state_sql or "")), reason)
    answers = [classify(statement, binding.table) for statement in statements]
    return Scan(tuple(_count(source, answers) for source in sources), (), (undecided,))


def _count(source: Source, answers: Iterable[Change | Opaque | None]) -> SourceFile:
    changes = [each for each in answers if isinstance(each, Change) and each.statement.place.file == source.file]
    return SourceFile(source.file, source.sha256, len(changes))


def _ancestors(table: Table, keys: Mapping[str, Sequence[ForeignKey]]) -> frozenset[str]:
    """The tables whose deleted rows take rows of ``table`` along, through ON DELETE CASCADE."""
    found: set[str] = set()
    todo = [table.name]
    while todo:
        parents = {key.parent for key in keys.get(todo.pop(), ()) if key.on_delete == "CASCADE"}
        todo += parents - found
        found |= parents
    return frozenset(found)


def _descendants(tables: Iterable[str], keys: Mapping[str, Sequence[ForeignKey]]) -> frozenset[str]:
    """These tables, and those whose rows an action of a foreign key changes along with theirs."""
    found = set(tables)
    while True:
        more = {
            child for child, each in keys.items() if any(key.has_action and key.parent in found for key in each)
        } - found
        if not more:
            return frozenset(found)
        found |= more


def _evidence_of(statement: SqlStatement) -> Statement:
    return Statement(statement.place, _cut(statement.sql))


def _cut(sql: str) -> str:
    return sql if len(sql) <= MAX_SQL else f"{sql[:MAX_SQL]} … ({len(sql) - MAX_SQL} characters more)"


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
