"""Findings: what the statements of all sources can do to the bound table, and what of it is undecided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from arrowproof.conformance.changes import Assignment, Change, Opaque, Verb
from arrowproof.conformance.columns import ForeignKey
from arrowproof.conformance.effects import Effects, Subject, effects_of, removal_of_all
from arrowproof.conformance.names import fold
from arrowproof.conformance.stand_ins import read_stand_ins, read_trigger_uses
from arrowproof.conformance.statements import SqlStatement
from arrowproof.conformance.tables import Table, read_added_column, read_foreign_keys, read_replacing_tables
from arrowproof.conformance.tokens import read_name
from arrowproof.conformance.writes import assigned_changes, changes_of
from arrowproof.model.evidence import SourceFile, Statement, Undecided
from arrowproof.model.record import record

MAX_SQL = 4_000
"""Characters of a statement that are kept as evidence; a dump of rows is cut."""
MAX_NAMES = 12
"""Names of tables or columns that one message lists."""

MAX_DIFFERENT = 5_000
"""Statements on the bound table that are worked out; of a dump with more of them the rest is called undecided."""


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


class Scanner:
    """Goes through the statements of all sources with the facts that only all of them together give."""

    def __init__(self, subject: Subject, statements: Sequence[SqlStatement]) -> None:
        self.subject = subject
        self.statements = statements
        columns = {*subject.key, subject.state_column}
        self.answers = [changes_of(statement, subject.table.name, columns) for statement in statements]
        self.changes = [each for answers in self.answers for each in answers if isinstance(each, Change)]
        self.findings: list[Finding] = []
        self.undecided: list[Undecided] = []
        self.notes: list[str] = []
        keys = read_foreign_keys(statements)
        self.removing_tables = _ancestors(subject.table, keys)
        self.truncating_tables = _ancestors(subject.table, keys, by_truncate=True)
        self.stand_ins = read_stand_ins(statements, subject.table.name)
        self.trigger_uses = read_trigger_uses(statements)
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
        self.worked_out: dict[tuple[object, ...], Effects] = {}
        self.left_out: list[SqlStatement] = []
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
        for statement, answers in zip(self.statements, self.answers, strict=True):
            for answer in answers:
                match answer:
                    case Opaque():
                        self._call_undecided(statement, answer.reason)
                    case Change():
                        self._judge_change(answer)
                    case Assignment():
                        self._judge_assignment(answer)
            if not answers:
                self._judge_definition(statement)
        if self.left_out:
            reason = f"more than {MAX_DIFFERENT} different statements change {self.subject.table.name}: "
            self._call_undecided(self.left_out[0], f"{reason}from here on {len(self.left_out)} are not looked into")
        self._judge_binding()
        untried = {each.grammar.title for each in self.statements if not each.grammar.is_tried}
        self.notes += [f"{title} is read by rules that were never held against a server" for title in sorted(untried)]

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
            self._judge_other_change(change, replaces)
            return
        effects = self._effects(change, replaces)
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

    def _effects(self, change: Change, replaces: bool) -> Effects:
        """What a change can do. The same text in several places is worked out once, unless lines are told."""
        statement = change.statement
        key = (statement.sql, change.sql, change.part, statement.trigger, statement.routine, replaces)
        effects = self.worked_out.get(key)
        if effects is None:
            if len(self.worked_out) >= MAX_DIFFERENT:
                self.left_out.append(statement)
                return Effects()
            effects = effects_of(change, self.subject, replaces)
            if effects.undecided is None:
                self.worked_out[key] = effects
        return effects

    def _judge_other_change(self, change: Change, replaces: bool) -> None:
        """A change of another table, which may take rows of the bound table along, or show them under its name."""
        removes = change.verb in (Verb.DELETE, Verb.MERGE) or replaces or change.table in self.replacing_tables
        cascades = change.verb is Verb.TRUNCATE and any(token.word == "CASCADE" for token in change.statement.tokens)
        if (change.table in self.removing_tables and removes) or (change.table in self.truncating_tables and cascades):
            self._find(change, removal_of_all(self.subject))
        kind = self.stand_ins.get(change.table)
        if kind is not None:
            reason = f"it writes {change.table}, {kind} {self.subject.table.name}: write the table itself"
            self._call_undecided(change.statement, reason)

    def _judge_assignment(self, assignment: Assignment) -> None:
        """What a trigger function gives the row that is written: every write of the table can end in that state."""
        routine, subject = assignment.statement.routine, self.subject
        function = fold(routine.name or "") if routine is not None else ""
        uses = [use for use in self.trigger_uses if use.function == function]
        own = [use for use in uses if use.table == subject.table.name and use.is_before]
        if uses and not own:
            return
        events = frozenset({"INSERT", "UPDATE"}) if not own else frozenset().union(*(use.events for use in own))
        if assignment.column is None:
            self._call_undecided(assignment.statement, "this trigger function puts another row in the place of NEW")
        elif assignment.column in subject.key:
            reason = f"it changes {assignment.column}, the key by which a row is followed"
            self._call_undecided(assignment.statement, reason)
        elif assignment.column == subject.state_column:
            for change in assigned_changes(assignment, subject.table.name, events):
                effects = effects_of(change, subject)
                self._find(change, effects)
                if effects.undecided is not None:
                    self._call_undecided(change.statement, effects.undecided)

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
        words = [token.word for token in statement.tokens]
        enum = self.subject.table.column(self.subject.state_column).enum
        if words[:2] == ["ALTER", "TYPE"] and "RENAME" in words and fold(_altered_type(statement)) == enum != "":
            self._call_undecided(statement, f"it renames {enum}, the type of the state, or one of its values")
        dropped = {fold(token.name or "") for token in statement.tokens} & self.removing_tables
        if statement.word(0) == "DROP" and statement.word(1) == "TABLE" and dropped:
            self._call_undecided(statement, f"dropping {min(dropped)} removes the rows that refer to it")

    def _find(self, change: Change, effects: Effects) -> None:
        self.findings.append(Finding(evidence_of(change.statement), effects))

    def _call_undecided(self, statement: SqlStatement, reason: str) -> None:
        self.undecided.append(Undecided(evidence_of(statement), reason))


def _altered_type(statement: SqlStatement) -> str:
    """The type that an ALTER TYPE alters."""
    return read_name(statement.tokens, 2)[1] or ""


def _ancestors(table: Table, keys: Mapping[str, Sequence[ForeignKey]], by_truncate: bool = False) -> frozenset[str]:
    """The tables whose deleted rows take rows of ``table`` along, through ON DELETE CASCADE; ``by_truncate``: those
    which, emptied by TRUNCATE … CASCADE, have it emptied with them."""
    found: set[str] = set()
    todo = [table.name]
    while todo:
        parents = {key.parent for key in keys.get(todo.pop(), ()) if by_truncate or key.on_delete == "CASCADE"}
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


def evidence_of(statement: SqlStatement) -> Statement:
    """A statement as evidence, cut to a bearable length."""
    return Statement(statement.place, cut(statement.sql))


def cut(sql: str) -> str:
    """SQL cut to the length at which it is kept."""
    return sql if len(sql) <= MAX_SQL else f"{sql[:MAX_SQL]} … ({len(sql) - MAX_SQL} characters more)"
