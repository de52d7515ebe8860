"""Effects: the transitions that one statement can make, for every source state of the model.

*Possible* is an upper bound: a source state is ruled out only when the predicate cannot come out true for it. A target
is a constant, each constant that a CASE can reach, or dynamic. An UPDATE that leaves the state as it was is a
self-transition only by the rule of the design: it names the state column, and either the model has that
self-transition or it sets a watched column as well; otherwise it is a touch.

The sources are the states of the model. A value that is no state of the model cannot be a source, since every statement
that could store one is itself reported, with that value as its target.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from arrowproof.conformance.assignments import Assignments, is_default
from arrowproof.conformance.changed_row import Row
from arrowproof.conformance.changes import Change, Verb
from arrowproof.conformance.display import one_line
from arrowproof.conformance.names import fold
from arrowproof.conformance.predicate import Evaluator
from arrowproof.conformance.proposals import proposed_state, unnamed_reason
from arrowproof.conformance.scopes import RowSource, Scope, SourceKind, add_sources
from arrowproof.conformance.strain import find_strain
from arrowproof.conformance.syntax import MisreadError, Parsed, parse_change, target_of
from arrowproof.conformance.tables import Table
from arrowproof.conformance.values import ANYTHING, TRUE, Constant, Values
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

    ``race`` are the moves that it can make only where another session changes the row between the statement's look at
    it and its write, as a sub-select without a lock lets it happen; ``moves`` are all others.
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
    race: tuple[Move, ...] = ()


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
    if change.verb is Verb.TRUNCATE:
        return removal_of_all(subject)
    strain = find_strain(change)
    if strain is not None:
        return Effects(undecided=strain)
    main = change.statement.grammar.main_schema
    schemas = frozenset({change.schema or ""} if main is None else {"", main})
    subject = replace(subject, table=replace(subject.table, schemas=schemas))
    replaces = replaces or change.resolution == "REPLACE" or subject.table.replaces_rows
    try:
        parsed = parse_change(change)
        found = _read(change, parsed, subject, replaces, in_race=False)
        if change.statement.grammar.has_races:
            found = _with_race(found, _read(change, parsed, subject, replaces, in_race=True))
    except MisreadError as misread:
        return Effects(undecided=str(misread))
    except RecursionError:
        return Effects(undecided="it is nested too deeply to be followed")
    return found


def _read(change: Change, parsed: Parsed, subject: Subject, replaces: bool, in_race: bool) -> Effects:
    reader = _Reader(change, subject, replaces, parsed, in_race)
    reader.read(parsed.tree)
    return reader.effects()


def _with_race(found: Effects, raced: Effects) -> Effects:
    """What a statement can do alone, and beside it what it can do only in a race."""
    return replace(
        found,
        dynamic=raced.dynamic,
        is_idle=raced.is_idle,
        is_pinned=raced.is_pinned,
        race=tuple(move for move in raced.moves if move not in found.moves),
    )


def removal_of_all(subject: Subject) -> Effects:
    """What a statement does that can remove rows of the bound table in any state, as a foreign key's cascade does."""
    return Effects(tuple(Move(state.id, None) for state in subject.states), is_pinned=True)


@dataclass
class _Reader:
    """Gathers what one statement can do, state by state."""

    change: Change
    subject: Subject
    replaces: bool
    parsed: Parsed
    in_race: bool
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
        main = self.change.statement.grammar.main_schema
        if main is not None and self.change.schema not in (None, main):
            self.undecided = f"it names the table in the schema {self.change.schema}, not in {main}"
        match self.change.verb:
            case Verb.UPDATE:
                self._read_update(tree)
            case Verb.DELETE:
                self._read_delete(tree)
            case Verb.INSERT:
                self._read_insert(tree)
            case Verb.MERGE:
                self._read_merge(tree)

    # UPDATE and DELETE

    def _read_update(self, tree: exp.Expr) -> None:
        assignments = Assignments(tree.expressions)
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
        scope = self._row_scope_of(tree)
        clauses = [tree.args.get("from_"), *(tree.args.get("using") or ())]
        for clause in clauses:
            scope = add_sources(scope, clause, (), self.subject.table)
        return scope

    def _with_expressions(self, scope: Scope, tree: exp.Expr) -> Scope:
        """The scope with the table expressions of the whole statement, then with those of this part of it."""
        scope = scope.with_expressions(self.parsed.whole)
        return scope if tree is self.parsed.whole else scope.with_expressions(tree)

    def _evaluator(self, state: State | None, ties_subselects: bool = False, proposed: Values = ANYTHING) -> Evaluator:
        value = Values.of(state.value) if state is not None else None
        grammar = self.change.statement.grammar
        values = {str(each.value) for each in self.subject.states} if grammar.quotes_names else set()
        strings = self.change.double_quoted & values
        table, column = self.subject.table, self.subject.state_column
        return Evaluator(Row(table, column, value, ties_subselects, proposed, strings, grammar, self.in_race))

    def _assigned(self, assignments: Assignments, evaluator: Evaluator, scope: Scope) -> Values:
        expression = assignments.value_of(self.subject.state_column)
        if is_default(expression):
            return self.subject.table.column(self.subject.state_column).default
        return ANYTHING if expression is None else evaluator.value(expression, scope)

    def _judge_key(self, assignments: Assignments) -> None:
        key = [name for name in (*self.subject.key, *sorted(self.subject.table.row_names)) if assignments.sets(name)]
        if key:
            self.undecided = f"it changes {key[0]}, the key by which a row is followed"

    def _store(self, state: State, values: Values, assignments: Assignments | None) -> None:
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
        proposed = proposed_state(tree, self._evaluator(None))
        for value in self._storable(proposed):
            self._move(self._move_to(None, value))
        if proposed.open:
            self.dynamic[None] = None
            self.dynamic_reason = unnamed_reason(tree, self.subject.table, self.subject.state_column)
        if self.replaces:
            self._remove_all()
            for state in self.subject.states:
                self._store(state, proposed, None)
        conflict = tree.args.get("conflict")
        if conflict is not None and conflict.expressions:
            self._read_upsert(tree, conflict, proposed)

    def _read_upsert(self, tree: exp.Expr, conflict: exp.Expr, proposed: Values) -> None:
        """DO UPDATE: the row in conflict may be in any state that its WHERE lets through."""
        target = target_of(tree)
        assert target is not None
        alias = fold(target.alias_or_name)
        table = self.subject.table
        excluded = Scope(sources={"excluded": RowSource(SourceKind.EXCLUDED, "excluded", table)})
        scope = Scope(sources={alias: RowSource(SourceKind.ROW, alias, table)}, parent=excluded)
        scope = self._with_expressions(scope, tree)
        assignments = Assignments(conflict.expressions)
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

    # MERGE

    def _read_merge(self, tree: exp.Expr) -> None:
        """Each WHEN by itself, in their order: a branch that is taken for certain ends the search of a row."""
        scope = add_sources(self._row_scope_of(tree), tree.args["using"], (), self.subject.table)
        whens = tree.args["whens"].expressions
        for when in whens:
            if not when.args.get("matched") and not when.args.get("source"):
                self._insert_merged(when.args["then"])
        for state in self.subject.states:
            for by_source in (False, True):
                self._read_whens(tree, [w for w in whens if bool(w.args.get("source")) is by_source], state, scope)

    def _read_whens(self, tree: exp.Expr, whens: Iterable[exp.Expr], state: State, scope: Scope) -> None:
        evaluator = self._evaluator(state, ties_subselects=True)
        for when in whens:
            by_source, condition = bool(when.args.get("source")), when.args.get("condition")
            if not when.args.get("matched") and not by_source:
                continue
            wanted = [each.copy() for each in (None if by_source else tree.args["on"], condition) if each is not None]
            where = exp.Where(this=exp.and_(*wanted)) if wanted else None
            if evaluator.may_change(where, scope):
                self.reached.add(state.id)
                self._take_branch(when.args["then"], state, scope)
            if condition is None or evaluator.truth(condition, scope) == TRUE:
                return

    def _take_branch(self, then: exp.Expr, state: State, scope: Scope) -> None:
        if isinstance(then, exp.Update):
            assignments = Assignments(then.expressions)
            self._judge_key(assignments)
            if assignments.sets(self.subject.state_column):
                self._store(state, self._assigned(assignments, self._evaluator(state), scope), assignments)
            else:
                self.is_touch = True
        elif then.name.upper() == "DELETE":
            self._move(Move(state.id, None))
        else:
            self.is_touch = True

    def _insert_merged(self, then: exp.Expr) -> None:
        if isinstance(then, exp.Insert):
            values = then.args.get("expression")
            has_defaults = values is None and isinstance(then.this, exp.Tuple)
            proposed = ANYTHING if has_defaults else proposed_state(then, self._evaluator(None))
            for value in self._storable(proposed):
                self._move(self._move_to(None, value))
            if proposed.open:
                self.dynamic[None] = None

    def _row_scope_of(self, tree: exp.Expr) -> Scope:
        target = target_of(tree)
        assert target is not None
        alias = fold(target.alias_or_name)
        scope = Scope(sources={alias: RowSource(SourceKind.ROW, alias, self.subject.table)})
        return self._with_expressions(scope, tree)

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


def _compared_strings(tree: exp.Expr, state_column: str) -> Iterable[str]:
    """The string literals that a statement holds its state column against: ``s = 'a'``, ``s IN ('a', 'b')``."""
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.Is, exp.In, exp.Case):
        if isinstance(node.parent, exp.Update | exp.OnConflict) and node.arg_key == "expressions":
            continue  # an assignment of the SET list
        parts = [node.this, node.args.get("expression"), *node.expressions]
        parts += [when.this for when in node.args.get("ifs") or ()]
        if any(isinstance(part, exp.Column) and fold(part.name) == state_column for part in parts):
            yield from (part.name for part in parts if isinstance(part, exp.Literal) and part.is_string)
