"""The service against its own OpenAPI document: what schemathesis can think of is answered as the document says."""

from __future__ import annotations

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from arrowproof.service.tokens import token_digest
from tests.service.engines import in_state

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
    ignored_auth,
]
EXAMPLES = settings(
    max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)

TOKEN = "notes_described"
AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}
SEEN = {GenerationMode.POSITIVE: {200, 202, 404, 409}, GenerationMode.NEGATIVE: {400, 404, 422}}


@pytest.fixture(scope="module", params=["open", "with tokens"])
def described(request, shared):
    """A server with a job in each state, so that there is something to find; its document."""
    server = shared.server("--busy-timeout", "30", *with_tokens(shared.folder, request.param))
    for number in range(5):
        headers = {"Idempotency-Key": f"described-{number}", **AUTHORIZATION}
        assert server.client.post("/notes", headers=headers, json={"text": "a"}).status_code == 202
    job_ids = [job_id for (job_id,) in shared.sql("SELECT id FROM jobs ORDER BY id")][-5:]
    for job_id, state in zip(job_ids, ("pending", "retry_wait", "completed", "failed", "cancelled"), strict=True):
        shared.sql(f"UPDATE jobs SET {in_state(state)} WHERE id = %s", job_id)
    return schemathesis.openapi.from_url(f"{server.ready['ready']}/openapi.json")


def with_tokens(folder, how):
    """The options of a server that is open, or of one that knows the token that is sent in either case."""
    if how == "open":
        return ()
    file = folder / "tokens"
    file.write_text(f"schemathesis {token_digest(TOKEN)}\n")
    file.chmod(0o600)
    return ("--tokens", str(file))


def asks_for_token(schema):
    return "securitySchemes" in schema.raw_schema["components"]


@pytest.mark.parametrize("mode", GenerationMode)
def test_every_answer_is_one_that_the_document_names(described, mode):
    statuses = set()
    # The session brings the token that a case leaves out on purpose, and so what was wrong is right again.
    ours = [check for check in CHECKS if not (asks_for_token(described) and check is negative_data_rejection)]
    with requests.Session() as session:
        session.trust_env = False
        session.headers.update(AUTHORIZATION)
        for operation in (result.ok() for result in described.get_all_operations()):
            takes_something = {"parameters", "requestBody"} & operation.definition.raw.keys()
            if mode is GenerationMode.NEGATIVE and not takes_something:
                continue

            @EXAMPLES
            @given(case=operation.as_strategy(mode))
            def ask(case):
                statuses.add(case.call_and_validate(session=session, checks=ours).status_code)

            ask()
    assert statuses >= SEEN[mode]
