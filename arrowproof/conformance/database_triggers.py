"""The triggers of a database under proof: those that no source has are read as if they stood in one.

A trigger can come from a migration, an extension or a console, and makes transitions as any statement does. It is known
when its body stands in a source, token by token. One that is not known is handed to the scan as a source of its own,
which says what it does, or that it cannot tell.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from arrowproof.conformance.attribution import comparable_tokens
from arrowproof.conformance.sources import Source
from arrowproof.model.record import record

_BODY = re.compile(r"\bAS\s+\$(?P<tag>\w*)\$(?P<quoted>.*?)\$(?P=tag)\$|\bBEGIN\b.*\bEND\b", re.DOTALL | re.IGNORECASE)


@record
class Trigger:
    """A trigger by its name, and the SQL that makes it: on PostgreSQL with the function that it calls."""

    name: str
    sql: str


def unknown_triggers(triggers: Iterable[Trigger], sources: Sequence[Source]) -> tuple[Source, ...]:
    """A source for each trigger whose body stands in none of ``sources``."""
    known = [" ".join(comparable_tokens(source.text)) for source in sources]
    return tuple(_source(each) for each in triggers if not any(_body(each) in text for text in known))


def _body(trigger: Trigger) -> str:
    """What every manner to write the head leaves alone: the text of the function, or from BEGIN to the last END."""
    found = _BODY.search(trigger.sql)
    body = trigger.sql if found is None else found["quoted"] or found[0]
    return " ".join(comparable_tokens(body))


def _source(trigger: Trigger) -> Source:
    sha256 = hashlib.sha256(trigger.sql.encode("utf-8", "replace")).hexdigest()
    return Source(f"database/trigger {trigger.name}.sql", trigger.sql.rstrip().rstrip(";") + ";", sha256)
