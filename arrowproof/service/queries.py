"""The queries: every SQL statement of the service, by name.

What changes notes and jobs stands in ``sql/`` once for all databases; ``sql/sqlite/`` and ``sql/postgresql/`` hold what
each says in its own way, mostly under the same names. A file holds named queries. Each begins with
``-- name: snake_case_name``, goes on with comment lines that say what it is for and which transitions it makes, and
ends with one statement and its ``;``. Parameters are written ``:name``. What stands before the first name is the
file's own comment. Names are unique over all files of one database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

SQL_FOLDER = Path(__file__).parent / "sql"
_SHARED = ("server", "listing", "metrics", "worker", "retention")
_OF_AN_ENGINE = {
    "sqlite": ("connection", "transaction", "claim"),
    "postgresql": ("connection", "transaction", "claim", "begun"),
}
_NAME = re.compile(r"-- name: ([a-z][a-z0-9_]*)")


class QueryFileError(ValueError):
    """A query file breaks the format; the message says where."""


def parse_queries(text: str, file: str) -> dict[str, str]:
    """The statements of one file by name, without their comments, in file order.

    Raises:
        QueryFileError: a name twice, no name, no statement, no ``;`` at the end, or more than one.
    """
    queries: dict[str, str] = {}
    head, *blocks = re.split(r"^(?=-- name:)", text, flags=re.MULTILINE)
    if _statement(head):
        raise QueryFileError(f"{file}: a statement stands before the first `-- name:` line")
    for block in blocks:
        first_line, _, rest = block.partition("\n")
        match = _NAME.fullmatch(first_line.rstrip())
        if match is None:
            raise QueryFileError(f"{file}: {first_line!r} is no name; write `-- name: snake_case_name`")
        name = match.group(1)
        statement = _statement(rest)
        if name in queries:
            raise QueryFileError(f"{file}: the name {name} stands twice; rename one of the queries")
        if not statement.endswith(";") or statement.count(";") != 1:
            raise QueryFileError(f"{file}: {name} must be one statement that ends with `;`")
        queries[name] = statement
    return queries


def _statement(block: str) -> str:
    return "\n".join(line for line in block.splitlines() if not line.startswith("--")).strip()


def load_queries(files: Iterable[Path]) -> Mapping[str, str]:
    """The statements of several files by name.

    Raises:
        QueryFileError: a file breaks the format, or two files share a name.
    """
    queries: dict[str, str] = {}
    for file in files:
        for name, statement in parse_queries(file.read_text(encoding="utf-8"), file.name).items():
            if name in queries:
                raise QueryFileError(f"{file.name}: the name {name} stands in another file too; rename one of them")
            queries[name] = statement
    return MappingProxyType(queries)


@cache
def service_queries(engine: str) -> Mapping[str, str]:
    """Every query that server and worker run on ``sqlite`` or ``postgresql``, by name: the shared and its own."""
    return load_queries(
        [
            *(SQL_FOLDER / f"{name}.sql" for name in _SHARED),
            *(SQL_FOLDER / engine / f"{name}.sql" for name in _OF_AN_ENGINE[engine]),
        ]
    )


@cache
def schema_statements(engine: str) -> tuple[str, ...]:
    """The statements that make an empty database one of the notes service, in order."""
    return tuple(load_queries([SQL_FOLDER / engine / "schema.sql"]).values())
