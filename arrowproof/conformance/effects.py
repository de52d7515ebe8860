"""Effects: the transitions that one statement can make, for every source state of the model.

*Possible* is an upper bound: a source state is ruled out only when the predicate cannot come out true for it. A target
is a constant, each constant that a CASE can reach, or dynamic. An UPDATE that leaves the state as it was is a
self-transition only by the rule of the design: it names the state column, and either the model has that
self-transition or it sets a watched column as well; otherwise it is a touch.

The sources are the states of the model. A value that is no state of the model cannot be a source, since every statement
that could store one is itself reported, with that value as its target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from arrowproof.conformance.changes import Change, Verb
from arrowproof.conformance.display import one_line
from arrowproof.conformance.names import fold
from arrowproof.conformance.predicate import Evaluator, Row
from arrowproof.conformance.scopes import RowSource, Scope, SourceKind, add_sources, columns_of, union_branches
from arrowproof.conformance.strain import find_strain
from arrowproof.conformance.syntax import MisreadError, parse_change, target_of
from arrowproof.conformance.tables import ROWID_NAMES, Table
from arrowproof.conformance.values import ANYTHING, Constant, Values
from arrowproof.model.lifecycle import State
from arrowproof.model.record import record


@record
class Move:
    """A transition that a statement can make, by state ids; None is creation or removal.

    Where ``is_undeclared``, no state of the model has the value that is stored: ``target`` is the value as text.
    """

    source: str | None
    target: str | None
    is_undeclared: bool = False


@record
class Effects:
    """What a statement can do. ``dynamic`` are the sources from which the target is not a constant (None: it inserts).

    ``is_idle`` says that it names the state, or deletes, and can do so in no state of the model. ``undecided`` is the
    reason why all this says too little, None when it does not. ``dynamic_reason`` is why a target is no constant where
    the text of the statement does not show it, and ``is_pinned`` that naming source states in it would not help: it
    names some already, or has no predicate that could. ``compared`` are the strings that it holds the state against.
    """

    moves: tuple[Move, ...] = ()
    dynamic: tuple[str | None, ...] = ()
    is_idle: bool = False
    undecided: str | None = None
    dynamic_reason: str | None = None
    is_pinned: bool = False
    compared: tuple[str, ...] = ()


@record
class Subject:
    """The bound table as effects are judged: its facts, key, state column, watched columns, states, and the model's
    self-transitions (by state id)."""

    table: Table
    key: tuple[str, ...]
    state_column: str
    watched: frozenset[str]
    states: tuple[State, ...]
    self_transitions: frozenset[str]


def effects_of(change: Change, subject: Subject, replaces: bool = False) -> Effects:
    """What a change of the bound table can do. ``replaces``: it may remove rows in its way without saying so."""
    strain = find_strain(change)
    if strain is not None:
        return Effects(undecided=strain)
    reader = _Reader(change, subject, replaces or change.resolution == "REPLACE" or subject.table.replaces_rows)
    try:
        reader.read(parse_change(change))
    except MisreadError as misread:
        return Effects(undecided=str(misread))
    except RecursionError:
        return Effects(undecided="it is nested too deeply to be followed")
    return reader.effects()


def removal_of_all(subject: Subject) -> Effects:
    """What a statement does that can remove rows of the bound table in any state, as a foreign key's cascade does."""
    return Effects(tuple(Move(state.id, None) for state in subject.states), is_pinned=True)


@dataclass
class _Reader:
    """Gathers what one statement can do, state by state."""

    change: Change
    subject: Subject
    replaces: bool
    moves: dict[Move, None] = field(default_factory=dict)
    dynamic: dict[str | None, None] = field(default_factory=dict)
    is_touch: bool = False
    undecided: str | None = None
    dynamic_reason: str | None = None
    reached: set[str] = field(default_factory=set)
    compared: tuple[str, ...] = ()

    def effects(self) -> Effects:
        is_idle = not (self.moves or self.dynamic or self.is_touch or self.undecided)
        is_pinned = len(self.reached) < len(self.subject.states)
        return Effects(
            tuple(self.moves),
            tuple(self.dynamic),
            is_idle,
            self.undecided,
            self.dynamic_reason,
            is_pinned,
            self.compared,
        )

    def read(self, tree: exp.Expr) -> None:
        self.compared = tuple(_compared_strings(tree, self.subject.state_column))
        if self.change.schema not in (None, "main"):
            self.undecided = f"it names the table in the schema {self.change.schema}, not in main"
        match self.change.verb:
            case Verb.UPDATE:
                self._read_update(tree)
            case Verb.DELETE:
                self._read_delete(tree)
            case Verb.INSERT:
                self._read_insert(tree)

    # UPDATE and DELETE

    def _read_update(self, tree: exp.Expr) -> None:
        assignments = _Assignments(tree.expressions)
        self._judge_key(assignments)
        names_state = assignments.sets(self.subject.state_column)
        self.is_touch = not names_state
        scope = self._row_scope(tree)
        for state in self.subject.states:
            evaluator = self._evaluator(state)
            if not self._may_change(tree, state, scope):
                continue
            self.reached.add(state.id)
            if self.replaces:
                self._remove_all()
            if names_state:
                self._store(state, self._assigned(assignments, evaluator, scope), assignments)

    def _read_delete(self, tree: exp.Expr) -> None:
        scope = self._row_scope(tree)
        for state in self.subject.states:
            if self._may_change(tree, state, scope):
                self.reached.add(state.id)
                self._move(Move(state.id, None))

    def _may_change(self, tree: exp.Expr, state: State, scope: Scope) -> bool:
        return self._evaluator(state, ties_subselects=True).may_change(tree.args.get("where"), scope)

    def _row_scope(self, tree: exp.Expr) -> Scope:
        """The scope of an UPDATE or DELETE: the changed row, then the tables of its FROM clause."""
        target = target_of(tree)
        assert target is not None
        alias = fold(target.alias_or_name)
        row = RowSource(SourceKind.ROW, alias, self.subject.table)
        scope = Scope(sources={alias: row}).with_expressions(tree)
        return add_sources(scope, tree.args.get("from_"), (), self.subject.table)

    def _evaluator(self, state: State | None, ties_subselects: bool = False, proposed: Values = ANYTHING) -> Evaluator:
        value = Values.of(state.value) if state is not None else None
        strings = self.change.double_quoted & {str(each.value) for each in self.subject.states}
        return Evaluator(Row(self.subject.table, self.subject.state_column, value, ties_subselects, proposed, strings))

    def _assigned(self, assignments: _Assignments, evaluator: Evaluator, scope: Scope) -> Values:
        expression = assignments.value_of(self.subject.state_column)
        return ANYTHING if expression is None else evaluator.value(expression, scope)

    def _judge_key(self, assignments: _Assignments) -> None:
        key = [name for name in (*self.subject.key, *sorted(ROWID_NAMES)) if assignments.sets(name)]
        if key:
            self.undecided = f"it changes {key[0]}, the key by which a row is followed"

    def _store(self, state: State, values: Values, assignments: _Assignments | None) -> None:
        """Note the targets of one source state. ``assignments`` is None when all columns are set anew."""
        for value in self._storable(values):
            sets_watched = assignments is None or any(assignments.sets(name) for name in self.subject.watched)
            sets_watched = sets_watched and bool(self.subject.watched)
            move = self._move_to(state.id, value)
            if move.target != state.id or sets_watched or state.id in self.subject.self_transitions:
                self._move(move)
            else:
                self.is_touch = True
        if values.open:
            self.dynamic[state.id] = None

    # INSERT and its conflicts

    def _read_insert(self, tree: exp.Expr) -> None:
        proposed = self._proposed(tree)
        for value in self._storable(proposed):
            self._move(self._move_to(None, value))
        if proposed.open:
            self.dynamic[None] = None
            self.dynamic_reason = self._unnamed(tree)
        if self.replaces:
            self._remove_all()
            for state in self.subject.states:
                self._store(state, proposed, None)
        conflict = tree.args.get("conflict")
        if conflict is not None and conflict.expressions:
            self._read_upsert(tree, conflict, proposed)

    def _proposed(self, tree: exp.Expr) -> Values:
        """What the rows to be inserted hold in the state column."""
        column = self.subject.table.column(self.subject.state_column)
        if tree.args.get("default"):
            return column.default
        source = tree.args.get("expression")
        if not isinstance(source, exp.Values | exp.Query):
            raise MisreadError("the parser does not see what it inserts")
        places, width = self._places(tree.this)
        if not places:
            return column.default if places is not None else ANYTHING
        scope = Scope().with_expressions(tree)
        evaluator = self._evaluator(None)
        found: list[Values] = []
        for row, inner in _rows_of(source, scope):
            if row is None or (width is not None and len(row) != width):
                return ANYTHING
            found += [evaluator.value(row[place], inner) for place in places]
        constants = frozenset[Constant]().union(*(each.constants for each in found))
        return Values(constants, any(each.open for each in found))

    def _unnamed(self, tree: exp.Expr) -> str | None:
        """Why the state of a new row is not known though no value of the statement hides it; None when one does."""
        table = self.subject.table
        places, _ = ([], None) if tree.args.get("default") else self._places(tree.this)
        unknown = "no CREATE TABLE in the sources says"
        if table.statement is not None and not table.is_known:
            unknown = "the CREATE TABLEs in the sources differ on"
        if places is None and not table.is_known:
            return f"the INSERT names no columns, and {unknown} their order"
        if places == [] and not table.is_known:
            return f"the column is not given, and {unknown} its default"
        if places == []:
            return "the column is not given, and its default is not a constant: give it as a literal"
        return None

    def _places(self, target: exp.Expr) -> tuple[list[int] | None, int | None]:
        """Where in a row to be inserted the state stands (None: not known), and how wide the row must be."""
        wanted = self.subject.state_column
        if isinstance(target, exp.Schema):
            if not all(isinstance(each, exp.Identifier) for each in target.expressions):
                raise MisreadError("a column of the INSERT is not a plain name")
            names = [fold(each.name) for each in target.expressions]
            return [place for place, name in enumerate(names) if name == wanted], len(names)
        columns = self.subject.table.columns
        if not columns or any(column.is_generated for column in columns):
            return None, None
        return [place for place, column in enumerate(columns) if column.name == wanted], len(columns)

    def _read_upsert(self, tree: exp.Expr, conflict: exp.Expr, proposed: Values) -> None:
        """DO UPDATE: the row in conflict may be in any state that its WHERE lets through."""
        target = target_of(tree)
        assert target is not None
        alias = fold(target.alias_or_name)
        table = self.subject.table
        excluded = Scope(sources={"excluded": RowSource(SourceKind.EXCLUDED, "excluded", table)})
        scope = Scope(sources={alias: RowSource(SourceKind.ROW, alias, table)}, parent=excluded)
        scope = scope.with_expressions(tree)
        assignments = _Assignments(conflict.expressions)
        self._judge_key(assignments)
        stored = Values(frozenset(self._storable(proposed)), proposed.open)
        for state in self.subject.states:
            evaluator = self._evaluator(state, proposed=stored)
            where = conflict.args.get("where")
            may_hold = True in evaluator.truth(where.this if where is not None else None, scope)
            if may_hold:
                self.reached.add(state.id)
            if may_hold and assignments.sets(self.subject.state_column):
                self._store(state, self._assigned(assignments, evaluator, scope), assignments)

    # What is stored, and how it is noted

    def _storable(self, values: Values) -> list[Constant]:
        """The constants as the state column holds them. A NOT NULL column refuses null, or takes its default for it."""
        column = self.subject.table.column(self.subject.state_column)
        constants = set[Constant]()
        for constant in values.constants:
            if constant is not None or not column.is_not_null:
                constants |= column.affinity.store(constant) if constant is not None else {None}
            elif self.replaces:
                constants |= column.default.without_null().constants
        return sorted(
            constants, key=lambda each: (each is not None, isinstance(each, str), each if each is not None else 0)
        )

    def _move_to(self, source: str | None, value: Constant) -> Move:
        for state in self.subject.states:
            if state.value == value and isinstance(state.value, str) == isinstance(value, str):
                return Move(source, state.id)
        text = "NULL" if value is None else one_line(str(value))
        is_taken = any(state.id == text for state in self.subject.states)
        return Move(source, f"{text} (a value of no state)" if is_taken else text, is_undeclared=True)

    def _remove_all(self) -> None:
        for state in self.subject.states:
            self._move(Move(state.id, None))

    def _move(self, move: Move) -> None:
        self.moves[move] = None


class _Assignments:
    """A SET list. Of a column that is set twice, SQLite takes the last assignment."""

    def __init__(self, assignments: Sequence[exp.Expr]) -> None:
        self.expressions: dict[str, exp.Expr | None] = {}
        for each in assignments:
            if not isinstance(each, exp.EQ):
                raise MisreadError("the parser does not see an assignment in the SET list")
            self.expressions.update(_assigned_columns(each.this, each.expression))

    def sets(self, column: str) -> bool:
        """Whether the list names a column."""
        return fold(column) in self.expressions

    def value_of(self, column: str) -> exp.Expr | None:
        """The expression that a column is set to, None when a sub-select sets several columns at once."""
        return self.expressions[fold(column)]


def _compared_strings(tree: exp.Expr, state_column: str) -> Iterable[str]:
    """The string literals that a statement holds its state column against: ``s = 'a'``, ``s IN ('a', 'b')``."""
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.Is, exp.In, exp.Case):
        if isinstance(node.parent, exp.Update | exp.OnConflict) and node.arg_key == "expressions":
            continue  # an assignment of the SET list
        parts = [node.this, node.args.get("expression"), *node.expressions]
        parts += [when.this for when in node.args.get("ifs") or ()]
        if any(isinstance(part, exp.Column) and fold(part.name) == state_column for part in parts):
            yield from (part.name for part in parts if isinstance(part, exp.Literal) and part.is_string)


def _assigned_columns(target: exp.Expr, value: exp.Expr) -> Iterable[tuple[str, exp.Expr | None]]:
    """The columns that one assignment sets, with their expressions."""
    if isinstance(target, exp.Column) and not target.table:
        yield fold(target.name), value
    elif isinstance(target, exp.Tuple | exp.Paren):
        columns = target.expressions if isinstance(target, exp.Tuple) else [target.this]
        values = value.expressions if isinstance(value, exp.Tuple) and len(value.expressions) == len(columns) else None
        for place, column in enumerate(columns):
            if not isinstance(column, exp.Column):
                raise MisreadError("a column of the SET list is not a plain name")
            yield fold(column.name), values[place] if values is not None else None
    else:
        raise MisreadError("a column of the SET list is not a plain name")


def _rows_of(source: exp.Expr, scope: Scope) -> Iterable[tuple[Sequence[exp.Expr] | None, Scope]]:
    """The rows that an INSERT takes from VALUES or a query, as expressions; None for a row that cannot be seen."""
    if isinstance(source, exp.Values):
        for row in source.expressions:
            yield (row.expressions if isinstance(row, exp.Tuple) else [row]), scope
        return
    for branch in union_branches(source):
        columns = columns_of(branch) if isinstance(branch, exp.Select) else None
        # Any column of a query may hold anything: no scope is known in which it could mean the changed row.
        yield columns, Scope(is_select=True)
