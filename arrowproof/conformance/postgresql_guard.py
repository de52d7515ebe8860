"""The guard in PostgreSQL's dialect: a function of its own for the table, and the triggers that call it.

Rules, each shown by a test:

* The triggers fire AFTER: a BEFORE trigger that comes later in the alphabet could still change the row, and after the
  wait for another's lock it is AFTER that sees the row as it was found.
* They are ENABLE ALWAYS: with ``session_replication_role = replica`` an ordinary trigger does not fire.
* ``UPDATE OF state`` fires for statements that name the state: the self-transitions are judged there.
* TRUNCATE removes without a row trigger. Its own looks at the rows while they are there, which a transaction with one
  snapshot for all its statements cannot do: there TRUNCATE is refused unless the model lets every state be removed.
* The row triggers read OLD and NEW alone: no privilege, policy or search path changes what they see. The one for
  TRUNCATE reads the table as its owner, and fails where a policy would hide rows from it.
* A column that is computed when it is read (VIRTUAL) has no value in a trigger: a guard that would look at one is not
  installed.
* Names are looked for in pg_catalog alone, so that no session puts an operator or a type of its own in their place; for
  a ``state_sql`` on the search path of the installation. Keys are compared as JSON, which every type can become, as the
  journal compares them.

Values are compared as text, byte by byte: a state is a text, an enum or a number alike. A table with partitions or
children is refused, since a row that moves between them is a removal and a creation to every row trigger.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from arrowproof.conformance.guard import PREFIX, Allowed, text_literal
from arrowproof.conformance.rows import quote
from arrowproof.errors import InputError
from arrowproof.model.lifecycle import Binding, StateValue
from arrowproof.model.record import record

_NAME_BYTES = 63
"""PostgreSQL cuts longer names."""

_SHOWN = 80
"""Characters of a key or state in a message."""

_AS_ITS_OWNER = "SECURITY DEFINER SET row_security = off"
_TO_JSON = "pg_catalog.to_jsonb"
_CREATED, _REMOVED = "'created'", "'removed'"
_EVENTS = ("insert", "update", "named", "delete", "truncate")


@record
class PostgreSQLGuard:
    """The SQL of one table's guard. The table is the one that the search path finds when it is installed."""

    allowed: Allowed

    def installation(self) -> Iterator[str]:
        """Every statement of an installation, in order; run them in one transaction. Running them again is harmless.

        Raises:
            InputError: two states are the same as text.
        """
        self._check()
        yield f"LOCK TABLE {self._table} IN SHARE ROW EXCLUSIVE MODE"
        yield from self.removal()
        yield f"DO {_quoted(self._judge_what_is_there())}"
        yield self._function("row", self._judge_row())
        yield from self._row_triggers()
        if set(self.allowed.removed) != set(self.allowed.states):
            yield self._function("truncate", self._judge_truncate(), f" {_AS_ITS_OWNER}")
            yield from self._trigger("truncate", "BEFORE TRUNCATE", "STATEMENT", "truncate")

    def removal(self) -> Iterator[str]:
        """Every statement that takes the guard away; none fails when its object is gone already."""
        for event in _EVENTS:
            yield f"DROP TRIGGER IF EXISTS {quote(f'{PREFIX}_{event}')} ON {self._table}"
        for function in ("row", "truncate"):
            yield f"DROP FUNCTION IF EXISTS {self._function_name(function)}()"

    # --- Names

    @property
    def _binding(self) -> Binding:
        return self.allowed.binding

    @property
    def _table(self) -> str:
        """The table's name as SQL; what stands before its last full stop is a schema."""
        schema, dot, name = self._binding.table.rpartition(".")
        return f"{quote(schema)}.{quote(name)}" if dot else quote(name)

    @property
    def _alias(self) -> str:
        return quote(self._binding.table.rpartition(".")[2])

    def _function_name(self, function: str) -> str:
        name = f"{PREFIX}_{function}_{self._binding.table}"
        if len(name.encode()) > _NAME_BYTES:
            name = f"{PREFIX}_{function}_{hashlib.sha256(self._binding.table.encode()).hexdigest()[:16]}"
        return quote(name)

    def _check(self) -> None:
        texts = [str(value) for value in self.allowed.states if value is not None]
        same = sorted({text for text in texts if texts.count(text) > 1})
        if same:
            raise InputError(f"two states have the value {same[0]!r}, as text and as number: one to PostgreSQL's guard")

    # --- Triggers

    def _row_triggers(self) -> Iterator[str]:
        yield from self._trigger("insert", "AFTER INSERT", "ROW", "row")
        yield from self._trigger("delete", "AFTER DELETE", "ROW", "row")
        if self._binding.state is None:  # WHEN takes no sub-select
            yield from self._trigger("update", "AFTER UPDATE", "ROW", "row")
            return
        old, new = self._state("OLD"), self._state("NEW")
        changed = f"WHEN ({old} IS DISTINCT FROM {new} OR {self._is_moved()})"
        yield from self._trigger("update", "AFTER UPDATE", "ROW", "row", changed)
        if self._binding.watch:
            watched = [_differ(f"OLD.{quote(name)}::text", f"NEW.{quote(name)}::text") for name in self._binding.watch]
            stays = f"{old} IS NOT DISTINCT FROM {new} AND NOT ({self._is_moved()})"
            event = f"AFTER UPDATE OF {quote(self._binding.state)}"
            yield from self._trigger("named", event, "ROW", "row", f"WHEN ({stays} AND ({' OR '.join(watched)}))")

    def _trigger(self, name: str, event: str, level: str, function: str, when: str = "") -> Iterator[str]:
        trigger = quote(f"{PREFIX}_{name}")
        call = f"EXECUTE FUNCTION {self._function_name(function)}({'true' if name == 'named' else ''})"
        clauses = [f"{event} ON {self._table}", f"FOR EACH {level}", *([when] if when else []), call]
        yield f"CREATE TRIGGER {trigger} {' '.join(clauses)}"
        yield f"ALTER TABLE {self._table} ENABLE ALWAYS TRIGGER {trigger}"

    def _function(self, name: str, body: Iterable[str], options: str = "") -> str:
        # Where pg_temp is not named it is looked at first for types.
        path = "= pg_catalog, pg_temp" if self._binding.state_sql is None else "FROM CURRENT"
        head = f"CREATE FUNCTION {self._function_name(name)}() RETURNS trigger LANGUAGE plpgsql{options}"
        return f"{head} SET search_path {path} AS {_quoted(body)}"

    # --- Bodies

    def _judge_row(self) -> Iterator[str]:
        yield "#variable_conflict use_column"
        yield "DECLARE"
        yield '  old_state pg_catalog.text COLLATE pg_catalog."C";'
        yield '  new_state pg_catalog.text COLLATE pg_catalog."C";'
        yield "BEGIN"
        yield f"  IF TG_OP <> 'INSERT' THEN old_state := {self._state('OLD')}; END IF;"
        yield f"  IF TG_OP <> 'DELETE' THEN new_state := {self._state('NEW')}; END IF;"
        yield f"  IF TG_OP = 'UPDATE' AND NOT ({self._is_moved()}) THEN"
        yield "    IF TG_NARGS = 0 AND old_state IS NOT DISTINCT FROM new_state THEN RETURN NULL; END IF;"
        yield f"    IF NOT ({self._lets()}) THEN"
        yield f"      {self._raise('NEW', _shown('old_state'), _shown('new_state'))}"
        yield "    END IF;"
        yield "    RETURN NULL;"
        yield "  END IF;"
        yield f"  IF TG_OP <> 'INSERT' AND NOT ({_is_any('old_state', self.allowed.removed)}) THEN"
        yield f"    {self._raise('OLD', _shown('old_state'), _REMOVED)}"
        yield "  END IF;"
        yield f"  IF TG_OP <> 'DELETE' AND NOT ({_is_any('new_state', self.allowed.created)}) THEN"
        yield f"    {self._raise('NEW', _CREATED, _shown('new_state'))}"
        yield "  END IF;"
        yield "  RETURN NULL;"
        yield "END"

    def _judge_truncate(self) -> Iterator[str]:
        said = f": TRUNCATE cannot be judged in a transaction that is not READ COMMITTED, lifecycle {self._id}"
        yield "DECLARE"
        yield "  a_row text;"
        yield "  old_state text;"
        yield "BEGIN"
        yield "  IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN"
        yield f"    {_raise(_text(self._binding.table + said))}"
        yield "  END IF;"
        # TG_RELID, since the search path of whoever truncates may find another table of that name.
        before, after = map(_text, self._find_row("\0", self.allowed.removed).split("\0"))
        yield f"  EXECUTE {before} || TG_RELID::regclass || {after} INTO a_row, old_state;"
        yield "  IF a_row IS NOT NULL THEN"
        yield f"    {_raise(self._message('a_row', _shown('old_state'), _REMOVED))}"
        yield "  END IF;"
        yield "  RETURN NULL;"
        yield "END"

    def _judge_what_is_there(self) -> Iterator[str]:
        table, regclass = self._binding.table, f"{_text(self._table)}::regclass"
        divided = _text(f"{table} is no plain table, or has partitions or children: a guard cannot hold there")
        unknown = _text(f" is no state of the lifecycle {self._id}; the guard was not installed")
        computed = _text(": is computed when it is read, and triggers see no value of it: make it STORED")
        yield "DECLARE"
        yield "  a_row text;"
        yield "  old_state text;"
        yield "BEGIN"
        yield f"  IF EXISTS (SELECT FROM pg_inherits WHERE {regclass} IN (inhparent, inhrelid))"
        yield f"    OR NOT EXISTS (SELECT FROM pg_class WHERE oid = {regclass} AND relkind = 'r') THEN"
        yield f"    {_raise(divided)}"
        yield "  END IF;"
        yield f"  SELECT {_text(f'{table} ')} || attname INTO a_row FROM pg_attribute"
        yield f"    WHERE attrelid = {regclass} AND attgenerated = 'v' AND ({self._is_read('attname')}) LIMIT 1;"
        yield "  IF a_row IS NOT NULL THEN"
        yield f"    {_raise(f'a_row || {computed}')}"
        yield "  END IF;"
        yield f"  {self._find_row(self._table, self.allowed.states)} INTO a_row, old_state;"
        yield "  IF a_row IS NOT NULL THEN"
        yield "    " + _raise(f"a_row || ': ' || {_shown('old_state')} || {unknown}")
        yield "  END IF;"
        yield "END"

    def _find_row(self, source: str, values: Iterable[StateValue]) -> str:
        """A SELECT for the first row whose state is none of ``values``: how messages call it, and its state."""
        table = self._alias
        state = self._state(table)
        return (
            f"SELECT {self._row_text(table)}, {state} FROM {source} AS {table}"
            f" WHERE NOT ({_is_any(state, values)}) LIMIT 1"
        )

    # --- Refusal

    @property
    def _id(self) -> str:
        return self.allowed.model_id

    def _lets(self) -> str:
        """The condition on the two states that a row may go from the one to the other."""
        ways = [
            f"({_is_any('old_state', sources)}) AND ({_is_any('new_state', targets)})"
            for sources, targets in self.allowed.ways
        ]
        return " OR ".join(ways) or "FALSE"

    def _raise(self, row: str, source: str, target: str) -> str:
        return _raise(self._message(self._row_text(row), source, target))

    def _message(self, row: str, source: str, target: str) -> str:
        """``jobs id=3: 'failed' -> 'completed' is not in the lifecycle notes-job``."""
        said = _text(f" is not in the lifecycle {self._id}")
        return f"{row} || ': ' || {source} || ' -> ' || {target} || {said}"

    # --- Rows

    def _state(self, row: str) -> str:
        if self._binding.state is not None:
            return f'{row}.{quote(self._binding.state)}::pg_catalog.text COLLATE pg_catalog."C"'
        # Named like the table, so that the expression may say `jobs.status`; the line break ends a trailing comment.
        image = f"(SELECT {row}.*) AS {self._alias}"
        return f'(SELECT ({self._binding.state_sql}\n)::pg_catalog.text COLLATE pg_catalog."C" FROM {image})'

    def _is_read(self, column: str) -> str:
        """The condition on the name of a column that the guard's row triggers look at it."""
        binding = self._binding
        named = [*binding.key, *binding.watch, *([binding.state] if binding.state is not None else [])]
        is_named = f"{column} IN ({', '.join(map(_text, named))})"
        if binding.state_sql is None:
            return is_named
        return f"{is_named} OR strpos(lower({_text(binding.state_sql)}), lower({column})) > 0"

    def _is_moved(self) -> str:
        keys = map(quote, self._binding.key)
        return " OR ".join(_differ(f"{_TO_JSON}(OLD.{key})", f"{_TO_JSON}(NEW.{key})") for key in keys)

    def _row_text(self, row: str) -> str:
        """How messages call a row: ``jobs id=3``."""
        names = [f"{', ' if number else ' '}{column}=" for number, column in enumerate(self._binding.key)]
        names[0] = self._binding.table + names[0]
        pairs = zip(names, self._binding.key, strict=True)
        return " || ".join(f"{_text(name)} || {_bounded(f'{row}.{quote(column)}')}" for name, column in pairs)


def _text(text: str) -> str:
    """A string that means ``text`` whether backslashes are said to be ordinary characters or not."""
    literal = text_literal(text)
    return "E" + literal.replace("\\", "\\\\") if "\\" in text else literal


def _quoted(lines: Iterable[str]) -> str:
    """A body in dollar quotes that it does not hold itself."""
    text = "\n".join(lines)
    tag = next(tag for number in range(len(text) + 1) if (tag := f"$guard{number or ''}$") not in text)
    return f"{tag}\n{text}\n{tag}"


def _raise(message: str) -> str:
    return f"RAISE EXCEPTION USING ERRCODE = 'check_violation', MESSAGE = {message};"


def _differ(one: str, other: str) -> str:
    return f"{one} IS DISTINCT FROM {other}"


def _is_any(state: str, values: Iterable[StateValue]) -> str:
    """The condition, true or false and never NULL, that a state as text is one of these values."""
    values = tuple(values)
    texts = ", ".join(_text(str(value)) for value in values if value is not None)
    choices = [
        f"({state} IS NOT NULL AND {state} IN ({texts}))" if texts else "",
        f"{state} IS NULL" if None in values else "",
    ]
    return " OR ".join(choice for choice in choices if choice) or "FALSE"


def _shown(state: str) -> str:
    return f"left(quote_nullable({state}), {_SHOWN})"


def _bounded(column: str) -> str:
    return f"left(coalesce({column}::text, 'NULL'), {_SHOWN})"
