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
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]
EXAMPLES = settings(
    max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)

SEEN = {GenerationMode.POSITIVE: {200, 202, 404, 409}, GenerationMode.NEGATIVE: {400, 404, 422}}


@pytest.fixture(scope="module")
def described(shared):
    """A server with a job in each state, so that there is something to find; its document."""
    server = shared.server("--busy-timeout", "30")
    for number in range(5):
        server.accept(f"described-{number}")
    for job_id, state in enumerate(("pending", "retry_wait", "completed", "failed", "cancelled"), start=1):
        shared.sql("UPDATE jobs SET status = %s WHERE id = %s", state, job_id)
    return schemathesis.openapi.from_url(f"{server.ready['ready']}/openapi.json")


@pytest.mark.parametrize("mode", GenerationMode)
def test_every_answer_is_one_that_the_document_names(described, mode):
    statuses = set()
    with requests.Session() as session:
        session.trust_env = False
        for operation in (result.ok() for result in described.get_all_operations()):
            takes_something = {"parameters", "requestBody"} & operation.definition.raw.keys()
            if mode is GenerationMode.NEGATIVE and not takes_something:
                continue

            @EXAMPLES
            @given(case=operation.as_strategy(mode))
            def ask(case):
                statuses.add(case.call_and_validate(session=session, checks=CHECKS).status_code)

            ask()
    assert statuses >= SEEN[mode]
