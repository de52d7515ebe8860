"""The exchange: named statements that go to PostgreSQL in one round trip, and its answers to them.

Most of what a short statement costs is the way there and back, and what the client does on it. So statements of which
nobody needs the answer at once go together with the next one: all of them prepared, in libpq's pipeline mode
(https://www.postgresql.org/docs/current/libpq-pipeline-mode.html). The server does them in their order. After one that
fails it does none of those behind it, and it does not commit what only those would have committed.

psycopg has a pipeline too; on a fast network it saves nothing, since each statement in it costs as much of the client's
time as one that goes alone. This one speaks to psycopg's own wrapper of libpq, and costs a third.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import psycopg
from psycopg import errors
from psycopg.adapt import Transformer
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.waiting import Ready, Wait

from arrowproof.service.database import UnchangedError, Value
from arrowproof.service.postgresql_session import NO_ROW, PostgresSession, PostgresStatement, changing_one

_DONE: Final = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)


@dataclass(frozen=True)
class Answer:
    """What a statement came to: its rows, and how many it changed, triggers not counted."""

    rows: list[tuple[Any, ...]]
    changed: int


@dataclass(eq=False)
class Question:
    """A named statement with its parameters, and its answer once it has one.

    With ``changes_one`` it fails when it changes no row, before the server comes to what stands behind it.
    """

    query: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    changes_one: bool = False
    answer: Answer | None = None

    @cached_property
    def statement(self) -> str:
        """The name of what is said to the server."""
        return changing_one(self.query) if self.changes_one else self.query


class Exchange:
    """Exchanges on one session, which remembers the statements that are prepared there."""

    def __init__(self, session: PostgresSession, statements: Mapping[str, PostgresStatement]) -> None:
        self._session = session
        self._statements = statements
        self._prepared: set[str] = set()
        self._transformer = Transformer(session)

    def ask(self, questions: Sequence[Question]) -> None:
        """Put the questions, in one round trip, and write the answers to them.

        Raises:
            UnchangedError: the first question without an answer changed no row, and had to.
            psycopg.Error: the first question without an answer has failed, or the connection was lost. What came
                behind it was not done.
        """
        connection = self._session.pgconn
        # First of all, since what cannot be sent is found out here.
        arguments = [self._statements[question.statement].arguments(question.parameters) for question in questions]
        connection.enter_pipeline_mode()
        try:
            awaited = self._send(questions, arguments)
            connection.pipeline_sync()
            results = self._session.wait_for_all(self._results(), len(questions))
        finally:
            self._leave_pipeline()
        for (question, prepares), result in zip(awaited, results, strict=False):
            if result.status not in _DONE:
                raise _error(question, result)
            if prepares:
                self._prepared.add(question.statement)
            else:
                question.answer = self._read(result)
        if questions[-1].answer is None:
            raise psycopg.OperationalError("the connection was lost before the answer")

    def _send(
        self, questions: Sequence[Question], arguments: Sequence[list[bytes | None]]
    ) -> list[tuple[Question, bool]]:
        """Send the questions; for each result to come, the question and whether it is that of preparing it."""
        awaited: list[tuple[Question, bool]] = []
        prepared = set(self._prepared)
        for question, values in zip(questions, arguments, strict=True):
            name = question.statement.encode()
            if question.statement not in prepared:
                prepared.add(question.statement)
                self._session.pgconn.send_prepare(name, self._statements[question.statement].text)
                awaited.append((question, True))
            self._session.pgconn.send_query_prepared(name, values)
            awaited.append((question, False))
        return awaited

    def _results(self) -> Generator[Wait, Ready, list[PGresult]]:
        """Send what is left in the buffer and take in the results, up to the first that fails and then to the end.

        A server that ends the connection says why before it does; what it said comes before that it is gone.
        """
        connection = self._session.pgconn
        results: list[PGresult] = []
        try:
            while connection.flush():
                if (yield Wait.RW) & Ready.R:
                    connection.consume_input()
            while connection.status != ConnStatus.BAD:
                while connection.is_busy():
                    if (yield Wait.R):
                        connection.consume_input()
                result = connection.get_result()
                if result is None:
                    continue
                if result.status == ExecStatus.PIPELINE_SYNC:
                    return results
                results.append(result)
        except psycopg.OperationalError:
            last_words = connection.get_result()
            while last_words is not None:
                results.append(last_words)
                last_words = connection.get_result()
            if all(result.status in _DONE for result in results):
                raise
        return results

    def _leave_pipeline(self) -> None:
        """Leave the pipeline; a connection on which answers are still to come, after an interrupt, is given up."""
        connection = self._session.pgconn
        try:
            if connection.status == ConnStatus.OK:
                connection.exit_pipeline_mode()
        except psycopg.OperationalError:
            connection.finish()

    def _read(self, result: PGresult) -> Answer:
        if result.status == ExecStatus.COMMAND_OK:
            return Answer([], result.command_tuples or 0)
        self._transformer.set_pgresult(result)
        return Answer(self._transformer.load_rows(0, result.ntuples, tuple), result.ntuples)


def _error(question: Question, result: PGresult) -> Exception:
    """What a result without an answer means; a trigger that takes a logarithm of its own says where it stands."""
    error = errors.error_from_result(result, "utf-8")
    if question.changes_one and isinstance(error, NO_ROW) and error.diag.context is None:
        return UnchangedError(question.query, question.parameters.get("job_id"))
    return error
