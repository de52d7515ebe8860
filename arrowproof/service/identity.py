"""The identity: whose request it is, and which note or job its path means."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Depends, Path, Request

from arrowproof.service.problem import ProblemError

_ID = re.compile(r"[1-9][0-9]{0,18}")
LARGEST_ID: Final = 2**63 - 1


async def client_of(request: Request) -> str:
    """The client whose request it is, as the gate has found; empty where no token is asked for.

    Raises:
        AttributeError: the gate has not said, and nobody's request must not be taken for one of somebody.
    """
    client: str = request.state.client
    return client


Client = Annotated[str, Depends(client_of)]
Id = Annotated[str, Path(json_schema_extra={"type": "integer", "minimum": 1, "maximum": LARGEST_ID})]
"""An id in a path. It is read as a text and checked by :func:`read_id`, so that a wrong one is not found."""


def read_id(text: str, kind: str) -> int:
    """The id in a path.

    Raises:
        ProblemError: 404, it can be the id of nothing.
    """
    if _ID.fullmatch(text) is None or int(text) > LARGEST_ID:
        raise ProblemError(404, f"there is no such {kind}: an id is a whole number from 1, below 2 to the power of 63")
    return int(text)
