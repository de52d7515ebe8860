"""Evidence files: out and in again without a change."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator

from arrowproof.errors import InternalError, ModelError
from arrowproof.model import evidence, log
from arrowproof.model.evidence import (
    Blow,
    Coverage,
    Detour,
    DynamicTarget,
    Environment,
    Evidence,
    Guard,
    IllegalEvent,
    Interleaving,
    JournalKind,
    JournalRow,
    Kill,
    Moment,
    Place,
    Process,
    RandomWalks,
    Row,
    Scalar,
    Share,
    Side,
    SneakPath,
    SourceFile,
    Statement,
    TransitionEvidence,
    Undecided,
    Verdict,
    Walk,
)
from arrowproof.model.evidence_document import MAX_EVIDENCE_BYTES, dump_evidence, load_evidence
from arrowproof.model.log import Log, LogState, LogTransition
from arrowproof.model.schema import load_schema

ROW: Row = (("id", 1), ("status", "pending"), ("ratio", 1.0), ("flag", True), ("none", None), ("a b", "x'00ff'"))
STATEMENT = Statement(Place("sql/jobs.sql", 12, "claim"), "UPDATE jobs\n   SET status = 'é'")
JOURNAL = JournalRow(
    3, "update", JournalKind.CHANGED, (("id", 1),), "pending", 7, (("attempts", 0),), (("attempts", 1),)
)
PROCESS = Process("worker", 4711, "exit 0")
WALK = Walk("pending", "done", ("pick", "succeed"), (("id", 1),), (PROCESS,), None, ROW, (JOURNAL,))
KILL = Kill(
    "pending", None, Side.BEFORE, "before-commit", None, (PROCESS,), ROW, ROW, None, (), "it was lost", Blow.CUT
)
EVIDENCE = Evidence(
    model_id="job",
    model_title="Job 承認",
    model_sha256="0f" * 32,
    sources=(SourceFile("sql/jobs.sql", "ab" * 32, 4),),
    started="2030-01-02T03:04:05Z",
    seconds=4.0,
    environment=Environment("0.1.0", "3.11", "linux", "sqlite", "3.51.3", journal_mode="wal"),
    transitions=(
        TransitionEvidence(None, "pending", (("accept",),)),
        TransitionEvidence("pending", "done", (("pick", "succeed"), ("skip",)), (STATEMENT,), (WALK,), (KILL,)),
    ),
    sneak_paths=(SneakPath("done", None, (STATEMENT,), (JOURNAL,), "by hand"),),
    undecided=(Undecided(STATEMENT, "not SQL"),),
    dynamic=(DynamicTarget(Statement(Place("a.py", 1), "…"), (None, "pending"), "a parameter"),),
    coverage=Coverage(Share(1, 2), Share(2, 2), Share(1, 3), Share(0, 1), Share(0, 4), Share(2, 3)),
    verdict=Verdict.NOT_PROVEN,
    reasons=("one transition was not walked",),
    log=Log("jobs.csv", 3, "2030-01-01T00:00:00Z", None, (LogTransition(None, "done", 2),), (LogState("done", 0.5),)),
    guard=Guard(4, 3),
    interleavings=(
        Interleaving("pending", "done", None, 2, Moment.WRITTEN, 1, ROW, (PROCESS,), ROW, None, (JOURNAL,), "two won"),
    ),
    events=(IllegalEvent("pick", "done", "409", (("id", 1),), ROW, None, (JOURNAL,), "it was removed"),),
    random_walks=RandomWalks(9, 7, 8, 20, ("created -> pending", "fire pick"), "it went on"),
    detours=(Detour(("created -> pending", "pending -> done"), "it was refused"),),
    left_out=("no kill",),
)
SCALARS: st.SearchStrategy[Scalar] = (
    st.none()
    | st.booleans()
    | st.text()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
ROWS: st.SearchStrategy[Row] = st.dictionaries(st.text(), SCALARS, max_size=4).map(lambda row: tuple(row.items()))


def round_trip(evidence: Evidence) -> Evidence:
    return load_evidence(dump_evidence(evidence).encode(), "e.json")


def test_evidence_comes_back_as_it_was() -> None:
    back = round_trip(EVIDENCE)
    assert back == EVIDENCE
    assert repr(back) == repr(EVIDENCE)  # 1, 1.0 and true are equal, and not the same


@given(ROWS, ROWS, SCALARS, st.text(), st.floats(0, 1e6))
@settings(deadline=None, max_examples=60)
def test_any_row_any_value_and_any_text_comes_back_as_it_was(
    before: Row, watched: Row, value: Scalar, text: str, seconds: float
) -> None:
    journal = replace(JOURNAL, old_state=value, old_watched=watched)
    walk = replace(WALK, before=before, problem=text, journal=(journal,))
    transition = replace(EVIDENCE.transitions[1], walks=(walk,), target=text)
    evidence = replace(EVIDENCE, transitions=(transition,), seconds=seconds)
    assert repr(round_trip(evidence)) == repr(evidence)


def test_the_file_starts_with_its_format_and_keeps_the_order_of_the_fields() -> None:
    text = dump_evidence(EVIDENCE)
    assert text.startswith('{\n  "format": "arrowproof.evidence/2",\n  "model_id": "job",\n')
    assert text.endswith("}\n")
    assert list(json.loads(text)) == ["format", *(field.name for field in fields(Evidence))]
    assert text == dump_evidence(round_trip(EVIDENCE))


def test_what_json_cannot_hold_is_given_as_text() -> None:
    row: Row = (("a", float("inf")), ("b", float("-inf")), ("c", float("nan")), ("d", 2**70), ("e", "half \ud800"))
    back = round_trip(
        replace(EVIDENCE, transitions=(replace(EVIDENCE.transitions[1], walks=(replace(WALK, after=row),)),))
    )
    assert back.transitions[0].walks[0].after == (
        ("a", "Infinity"),
        ("b", "-Infinity"),
        ("c", "NaN"),
        ("d", str(2**70)),
        ("e", "half ?"),
    )


def test_a_row_that_names_a_column_twice_is_not_written_in_part() -> None:
    walk = replace(WALK, after=(("id", 1), ("id", 2)))
    with pytest.raises(InternalError, match="twice"):
        dump_evidence(replace(EVIDENCE, transitions=(replace(EVIDENCE.transitions[1], walks=(walk,)),)))


def test_the_schema_has_the_fields_of_the_records_and_demands_those_without_a_default() -> None:
    schema = load_schema("evidence")
    shapes = {tuple(shape["properties"]): shape for shape in schema["$defs"].values() if "properties" in shape}
    things = (vars(evidence) | vars(log)).values()
    record_types = [thing for thing in things if isinstance(thing, type) and is_dataclass(thing)]
    assert len(shapes) == len(record_types) - 1
    for record in record_types:
        names = tuple(field.name for field in fields(record))
        shape = {**schema, "properties": {**schema["properties"]}} if record is Evidence else shapes[names]
        needed = [field.name for field in fields(record) if field.default is MISSING]
        assert [name for name in shape["required"] if name != "format"] == needed
        assert [name for name in shape["properties"] if name != "format"] == list(names)
        assert shape["additionalProperties"] is False


def test_what_is_dumped_conforms_to_the_schema() -> None:
    Draft202012Validator(load_schema("evidence")).validate(json.loads(dump_evidence(EVIDENCE)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: plain.pop("verdict"), '$: the field "verdict" is missing. Add "verdict". [missing-field]'),
        (lambda plain: plain.update(verdict="fine"), "Allowed: proven, walked, not proven. [not-one-of]"),
        (lambda plain: plain.update(format="arrowproof.evidence/9"), "this version reads another format"),
        (lambda plain: plain.update(secs=1), '$.secs: unknown field: "secs"'),
        (lambda plain: plain.update(seconds=-1), "$.seconds: expected at least 0: -1. Write a number of at least 0."),
        (
            lambda plain: plain["transitions"][1]["walks"][0]["after"].update(id=[1]),
            "$.transitions[1].walks[0].after.id: expected a string or a number or true or false or null: [1]",
        ),
        (
            lambda plain: plain["transitions"][1]["walks"][0].update(after=[]),
            "$.transitions[1].walks[0].after: expected an object or null: []",
        ),
    ],
)
def test_a_file_that_is_no_evidence_is_refused_with_the_place(change: Any, message: str) -> None:
    plain = json.loads(dump_evidence(EVIDENCE))
    change(plain)
    with pytest.raises(ModelError) as caught:
        load_evidence(json.dumps(plain).encode(), "e.json")
    assert message in str(caught.value)
    assert len(caught.value.problems) == 1


def test_fields_with_a_default_may_be_left_out() -> None:
    plain = json.loads(dump_evidence(EVIDENCE))
    del plain["transitions"][0]["walks"], plain["environment"]["wal_reset"], plain["log"], plain["guard"]
    assert load_evidence(json.dumps(plain).encode(), "e.json") == replace(EVIDENCE, log=None, guard=None)


def test_what_came_with_version_2_is_left_out_where_it_says_nothing() -> None:
    def with_query(query: str | None) -> Evidence:
        walk = replace(WALK, journal=(replace(JOURNAL, query=query, written=query and Place("jobs.sql", 3)),))
        return replace(EVIDENCE, transitions=(replace(EVIDENCE.transitions[1], walks=(walk,)),))

    assert round_trip(with_query("UPDATE jobs")) == with_query("UPDATE jobs")
    assert '"query": "UPDATE jobs"' in dump_evidence(with_query("UPDATE jobs"))
    assert '"query"' not in dump_evidence(with_query(None))
    assert '"written"' not in dump_evidence(with_query(None)).replace('"written": [', "")


def test_a_file_of_the_first_version_is_read_as_one_of_this() -> None:
    text = dump_evidence(EVIDENCE).replace("arrowproof.evidence/2", "arrowproof.evidence/1")
    assert load_evidence(text.encode(), "e.json") == EVIDENCE


def test_log_and_guard_may_be_null_and_are_checked_where_they_are_not() -> None:
    bare = replace(EVIDENCE, log=None, guard=None)
    assert round_trip(bare) == bare
    plain = json.loads(dump_evidence(EVIDENCE))
    plain["log"]["states"][0]["median_seconds"] = -1
    with pytest.raises(ModelError, match="out-of-range"):
        load_evidence(json.dumps(plain).encode(), "e.json")


@pytest.mark.parametrize(("tried", "refused", "holds"), [(0, 0, False), (3, 3, True), (3, 2, False), (2, 3, False)])
def test_a_guard_holds_when_it_was_tried_and_refused_everything(tried: int, refused: int, holds: bool) -> None:
    assert Guard(tried, refused).holds is holds


def test_a_column_given_twice_and_a_file_beyond_its_size_are_refused() -> None:
    text = dump_evidence(EVIDENCE).replace('"ratio": 1.0', '"ratio": 1.0, "ratio": 2.0')
    with pytest.raises(ModelError, match="duplicate-key"):
        load_evidence(text.encode(), "e.json")
    with pytest.raises(ModelError, match="too-large"):
        load_evidence(b" " * (MAX_EVIDENCE_BYTES + 1), "e.json")
