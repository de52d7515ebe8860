"""The document of the service says what the code does: its routes and its metrics."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from arrowproof.service.metrics import Metrics

DOCUMENT = (Path(__file__).parent.parent.parent / "docs" / "service.md").read_text(encoding="utf-8")


def first_cells(head):
    """The first cell of each row of the tables whose first heading is this one."""
    tables = re.findall(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", DOCUMENT, re.MULTILINE)
    return [line.split("|")[1].strip(" `") for table in tables for line in table.splitlines()]


def test_it_names_every_route(server):
    described = server.client.get("/openapi.json").json()["paths"]
    routes = {f"{method.upper()} {path}" for path, operations in described.items() for method in operations}
    assert set(first_cells("route")) == routes


def test_it_names_every_metric():
    text = Metrics({"pending": 1}, {"completed": 1}, 0.0, 0).exposition().decode()
    metrics = {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}
    assert set(first_cells("metric")) == metrics
