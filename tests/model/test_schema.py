"""What the schema refuses, in our words: the golden messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from arrowproof.errors import MAX_LISTED, ModelError
from arrowproof.model.document import MAX_PROBLEMS, read_document
from arrowproof.model.loader import parse_lifecycle
from arrowproof.model.schema import check_schema


def messages(data: Any) -> list[str]:
    """The problems of a document on one line, without their places."""
    text = data if isinstance(data, str) else json.dumps(data)
    problems = check_schema(read_document(text.encode(), "job.json"), "lifecycle")
    return [str(problem).split(" ", 1)[1] for problem in problems]


FIELDS = (
    "fields here are format, id, title, summary, binding, states, arrows, panels, views, accepted_sneak_paths,"
    " sources, dialect, driver."
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda job: job["states"][0].update(lable="x"),
            '$.states[0].lable: unknown field: "lable". Did you mean "label"? '
            "The fields here are id, kind, label, note, value, group, terminal. [unknown-field]",
        ),
        (
            lambda job: job.update(transitions=[]),
            f'$.transitions: unknown field: "transitions". Did you mean "arrows"? The {FIELDS} [unknown-field]',
        ),
        (
            lambda job: job.update(subtitle="x"),
            f'$.subtitle: unknown field: "subtitle". Did you mean "summary"? The {FIELDS} [unknown-field]',
        ),
        (
            lambda job: job.update(tile="x"),
            f'$.tile: unknown field: "tile". Did you mean "title"? The {FIELDS} [unknown-field]',
        ),
        (
            lambda job: job.update(heading="x"),
            f'$.heading: unknown field: "heading". Remove it; the {FIELDS} [unknown-field]',
        ),
        (
            lambda job: job["arrows"][0].update(colour="red"),
            '$.arrows[0].colour: unknown field: "colour". '
            "Remove it; the fields here are id, from, to, event, guard, effect. [unknown-field]",
        ),
        (
            lambda job: job["states"][1].pop("kind"),
            '$.states[1]: the field "kind" is missing. Add "kind". [missing-field]',
        ),
        (
            lambda job: job["states"][0].update(kind="Waiting"),
            '$.states[0].kind: not an allowed value: "Waiting". Did you mean "waiting"? '
            "Allowed: active, waiting, success, failure, neutral, passing. [not-one-of]",
        ),
        (
            lambda job: job["states"][0].update(kind=3),
            "$.states[0].kind: not an allowed value: 3. "
            "Allowed: active, waiting, success, failure, neutral, passing. [not-one-of]",
        ),
        (
            lambda job: job["states"][0].update(terminal="yes"),
            '$.states[0].terminal: expected true or false: "yes". Write true or false. [wrong-kind]',
        ),
        (
            lambda job: job["states"][0].update(value=True),
            "$.states[0].value: expected a string or an integer or null: true. "
            "Write a string or an integer or null. [wrong-kind]",
        ),
        (
            lambda job: job["states"][0].update(value=1.5),
            "$.states[0].value: expected a string or an integer or null: 1.5. "
            "Write a string or an integer or null. [wrong-kind]",
        ),
        (
            lambda job: job["states"][0].update(value=1e300),
            "$.states[0].value: expected at most 9223372036854775807: 1e+300. "
            "Write a number of at most 9223372036854775807. [out-of-range]",
        ),
        (
            lambda job: job["arrows"][0].update({"from": None}),
            "$.arrows[0].from: expected a string: null. Write a string, or leave the field out. [wrong-kind]",
        ),
        (
            lambda job: job.update(states={}),
            "$.states: expected an array. Write an array. [wrong-kind]",
        ),
        (
            lambda job: job.update(format="arrowproof.lifecycle/2"),
            '$.format: this version reads another format: "arrowproof.lifecycle/2". '
            'Write "arrowproof.lifecycle/1"; if the file was made for a newer Arrowproof, update yours. [wrong-format]',
        ),
        (
            lambda job: job["states"][0].update(id=""),
            '$.states[0].id: an empty string says nothing: "". Write the text, or leave the field out. [too-short]',
        ),
        (
            lambda job: job.update(accepted_sneak_paths=[{"to": "open", "reason": " "}]),
            '$.accepted_sneak_paths[0].reason: an empty text says nothing: " ". '
            "Write the text, or leave the field out. [unreadable-text]",
        ),
        (
            lambda job: job.update(sources=["sql/\x07*.sql"]),
            r'$.sources[0]: a control character in a text: "sql/\u0007*.sql". '
            "Remove it; a text is one line. [unreadable-text]",
        ),
        (
            lambda job: job.update(driver="shop.proof"),
            '$.driver: no driver: "shop.proof". Write "module:Class", such as "shop.proof:OrderDriver". '
            "[unreadable-text]",
        ),
        (
            lambda job: job.update(states=[]),
            "$.states: an empty array: []. Write at least one entry. [too-short]",
        ),
        (
            lambda job: job["binding"].update(key="id"),
            '$.binding.key: expected an array: "id". Write ["id"]. [wrong-kind]',
        ),
        (
            lambda job: job.update(states="open"),
            '$.states: expected an array: "open". Write an array. [wrong-kind]',
        ),
        (
            lambda job: job["binding"].update(key=["id", "id"]),
            '$.binding.key: an entry stands here twice: ["id", "id"]. Remove the repeated entry. [repeated-entry]',
        ),
        (
            lambda job: job["binding"].update(state_sql="a + b"),
            '$.binding: exactly one of "state" and "state_sql" is needed. '
            'Give "state", the column, or "state_sql", an expression over the row, and not both. [state-column]',
        ),
        (
            lambda job: job["binding"].pop("state"),
            '$.binding: exactly one of "state" and "state_sql" is needed. '
            'Give "state", the column, or "state_sql", an expression over the row, and not both. [state-column]',
        ),
        (
            lambda job: job["arrows"][0].pop("to"),
            '$.arrows[0]: neither "from" nor "to" is given. '
            'Give "from", "to" or both: without "from" a row is created, without "to" it is removed. '
            "[arrow-without-ends]",
        ),
        (
            lambda job: job.update(views=[{"id": "v", "title": "V"}]),
            '$.views[0]: neither "states" nor "arrows" is given. Give "states", "arrows" or both: what the view shows. '
            "[empty-view]",
        ),
        (
            lambda job: job["states"][1].update(value=None),
            "$.states[1].value: a passing state is never stored and has no value: null. "
            'Remove "value", or give the state another kind. [passing-value]',
        ),
    ],
)
def test_a_common_mistake_is_said_in_one_line_with_the_way_out(
    job: dict[str, Any], change: Callable[[dict[str, Any]], object], message: str
) -> None:
    assert messages(job) == []
    change(job)
    assert messages(job) == [message]


@pytest.mark.parametrize("field", ["title", "summary", "id", "driver"])
def test_a_text_beyond_its_length_is_refused_and_shown_short(job: dict[str, Any], field: str) -> None:
    job[field] = "a:" + "x" * 5000
    (message,) = messages(job)
    assert "too-long" in message
    assert len(message) < 250


@pytest.mark.parametrize(("field", "limit"), [("states", 1000), ("arrows", 5000)])
def test_states_and_arrows_are_allowed_to_their_limit_and_refused_beyond(
    job: dict[str, Any], field: str, limit: int
) -> None:
    job[field] = [job[field][0] for _ in range(limit)]
    assert messages(job) == []
    job[field].append(job[field][0])
    (message,) = messages(job)
    assert f"{limit + 1} entries, at most {limit} are allowed" in message


@pytest.mark.parametrize("text", ["[]", '"x"', "1", "null", "[[[[1]]]]"])
def test_a_document_that_is_no_object_is_refused(text: str) -> None:
    (message,) = messages(text)
    assert message.startswith("$: expected an object")


def test_problems_are_given_in_file_order_with_line_and_column(job_text: str) -> None:
    text = job_text.replace('"note": "one row"', '"nota": "one row"').replace('"title": "Job",', "")
    text = text.replace('"kind": "failure"', '"kind": "fail"')
    problems = check_schema(read_document(text.encode(), "job.json"), "lifecycle")
    assert [(problem.rule, problem.line, problem.column) for problem in problems] == [
        ("missing-field", 1, 1),
        ("unknown-field", 10, 44),
        ("not-one-of", 11, 30),
    ]


def test_every_missing_and_every_unknown_field_is_its_own_problem(job: dict[str, Any]) -> None:
    job["states"][0] = {"x": 1, "y": 2}
    assert [message.split(" ")[0] + message.split("[")[-1] for message in messages(job)] == [
        "$.states[0]:missing-field]",
        "$.states[0]:missing-field]",
        "$.states[0].x:unknown-field]",
        "$.states[0].y:unknown-field]",
    ]


def test_a_file_that_is_wrong_everywhere_is_refused_without_a_flood(job: dict[str, Any]) -> None:
    job["arrows"] = [1] * 200_000
    problems = check_schema(read_document(json.dumps(job).encode(), "job.json"), "lifecycle")
    assert len(problems) == MAX_PROBLEMS
    text = str(ModelError("job.json", problems))
    assert text.count("\n") == MAX_LISTED + 1
    assert text.endswith(f"and {MAX_PROBLEMS - MAX_LISTED} more")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "change",
    [
        lambda job: job.update({f"unknown{number}": 1 for number in range(50_000)}),
        lambda job: job["binding"].update(watch=[number if number % 2 else str(number) for number in range(50_000)]),
        lambda job: job["binding"].update(watch=[{"a": number} for number in range(50_000)]),
    ],
    ids=["unknown fields", "mixed entries", "objects as entries"],
)
def test_a_hostile_file_is_refused_in_bounded_time(
    job: dict[str, Any], change: Callable[[dict[str, Any]], None]
) -> None:
    change(job)
    assert 1 <= len(check_schema(read_document(json.dumps(job).encode(), "job.json"), "lifecycle")) <= MAX_PROBLEMS


def test_a_file_that_repeats_one_name_again_and_again_is_refused_without_a_flood() -> None:
    document = read_document(("{" + ",".join(['"a": 0'] * 100_000) + "}").encode(), "job.json")
    assert len(document.problems) == MAX_PROBLEMS


@pytest.mark.parametrize(
    ("said", "wanted", "of"),
    [
        ("arrowproof.evidence/1", "lifecycle", "arrowproof.lifecycle/1"),
        ("arrowproof.lifecycle/1", "evidence", "arrowproof.evidence/2"),
        ("arrowproof.report/1", "evidence", "arrowproof.evidence/2"),
    ],
)
def test_of_another_file_of_ours_only_that_is_said(said: str, wanted: str, of: str) -> None:
    document = read_document(json.dumps({"title": "x", "format": said}).encode(), "job.json")
    (problem,) = check_schema(document, wanted)
    assert str(problem) == (
        f'1:26 $.format: this is another kind of file: "{said}". Name a file of the format "{of}". [another-file]'
    )


def test_a_lifecycle_of_another_version_is_told_everything() -> None:
    said = messages({"format": "arrowproof.lifecycle/2", "nodes": []})
    assert len(said) > 2
    assert any("[wrong-format]" in each for each in said)


def test_loading_another_file_of_ours_is_refused_with_that_alone() -> None:
    with pytest.raises(ModelError) as refused:
        parse_lifecycle(b'{"format": "arrowproof.evidence/1"}', source="evidence.json")
    assert [problem.rule for problem in refused.value.problems] == ["another-file"]
