from __future__ import annotations

import asyncio

import pytest
from fastapi import Request

from arrowproof.service.gate import Gate
from arrowproof.service.identity import client_of
from arrowproof.service.tokens import Tokens, token_digest

TOKENS = Tokens({token_digest("alices"): "alice"})


def client_behind(tokens, path, *headers):
    """Whose request it is, for what stands behind the gate."""
    found = []

    async def look(scope, *_):
        found.append(await client_of(Request(scope)))

    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"host", b"localhost"), *headers]}
    asyncio.run(Gate(look, tokens)(scope, None, None))
    return found[0]


def test_a_request_is_the_clients_whose_token_it_bears_and_everybodys_where_there_are_none():
    assert client_behind(TOKENS, "/jobs", (b"authorization", b"Bearer alices")) == "alice"
    assert client_behind(None, "/jobs") == ""


def test_a_request_that_no_gate_has_seen_is_nobodys():
    with pytest.raises(AttributeError):
        asyncio.run(client_of(Request({"type": "http", "headers": []})))


@pytest.mark.parametrize("path", ["/", "/health", "/problems/busy"])
def test_with_tokens_a_request_that_bears_none_is_nobodys_even_where_it_is_let_in(path):
    with pytest.raises(AttributeError):
        client_behind(TOKENS, path)
