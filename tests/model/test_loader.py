"""The loader: a file becomes a lifecycle with its defaults, or one message that says everything."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowproof.errors import InputError, ModelError, Problem
from arrowproof.model import loader
from arrowproof.model.lifecycle import Arrow, Binding, Dialect, Kind, Lifecycle, State
from arrowproof.model.linter import lint
from arrowproof.model.loader import load_lifecycle, parse_lifecycle, read_lifecycle

Parse = Callable[[Any], Lifecycle]


def test_defaults_are_filled_in(job: dict[str, Any], parse: Parse) -> None:
    lifecycle = parse(job)
    assert lifecycle.states == (
        State("pending", Kind.WAITING, "pending", "pending"),
        State("attempt", Kind.PASSING, "Attempt", None),
        State("retry_wait", Kind.WAITING, "retry_wait", 7),
        State("completed", Kind.SUCCESS, "completed", "completed", note="one row"),
        State("failed", Kind.FAILURE, "failed", "failed", group="ends", terminal=True),
    )
    assert lifecycle.arrows[0] == Arrow("accept", None, "pending", event="POST /jobs")
    assert lifecycle.binding == Binding("jobs", ("id",), state="status", watch=("attempts",))
    assert (lifecycle.summary, lifecycle.panels, lifecycle.views, lifecycle.sources) == ("", (), (), ())


def test_every_optional_part_is_read(job: dict[str, Any], parse: Parse) -> None:
    job |= {
        "$schema": "anything",
        "summary": "S",
        "panels": [{"title": "P", "lines": ["one", "two"]}],
        "views": [{"id": "v", "title": "V", "states": ["pending"], "arrows": ["pick"], "note": "n"}],
        "accepted_sneak_paths": [{"from": "failed", "to": "pending", "reason": "by hand"}],
        "sources": ["sql/*.sql"],
        "dialect": "postgresql",
        "driver": "a.b:C",
    }
    job["binding"] = {"table": "t", "key": ["a", "b"], "state_sql": "x\n+ y"}
    job["states"][0]["value"] = None
    job["states"][3]["value"] = 2.0
    lifecycle = parse(job)
    assert lifecycle.panels[0].lines == ("one", "two")
    assert (lifecycle.views[0].arrows, lifecycle.views[0].note) == (("pick",), "n")
    assert lifecycle.accepted_sneak_paths[0].reason == "by hand"
    assert (lifecycle.sources, lifecycle.driver, lifecycle.summary) == (("sql/*.sql",), "a.b:C", "S")
    assert lifecycle.dialect is Dialect.POSTGRESQL
    assert lifecycle.binding == Binding("t", ("a", "b"), state_sql="x\n+ y")
    assert lifecycle.states[0].value is None
    assert lifecycle.states[3].value == 2
    assert isinstance(lifecycle.states[3].value, int)


def test_text_of_any_script_and_any_hostile_word_is_read_as_it_is(job: dict[str, Any], parse: Parse) -> None:
    for text in (
        "承認待ち",
        "<script>alert(1)</script>",
        "\"'`;--",
        "{{ 7 * 7 }}",
        "\U0001f600",
        "x" * 300,
        "\u202eabc",
    ):
        job["states"][0]["label"] = text
        assert parse(job).states[0].label == text


def test_the_origin_knows_the_file_its_hash_and_every_place(tmp_path: Path, job_text: str) -> None:
    path = tmp_path / "job.json"
    path.write_text(job_text, encoding="utf-8")
    origin = load_lifecycle(path).origin
    assert (origin.path, origin.folder) == (path, tmp_path)
    assert origin.sha256 == hashlib.sha256(job_text.encode()).hexdigest()
    assert origin.position("$.arrows[1].to") == (15, 45)
    assert origin.position("$.arrows[1].guard") == (15, 5)


def test_a_file_that_is_wrong_in_every_way_is_reported_at_once(tmp_path: Path, job_text: str) -> None:
    text = job_text.replace('"id": "pending", ', '"id": "pending", "id": "pending", "lable": "x", ')
    text = text.replace('"to": "failed"', '"to": "faild"').replace('"kind": "passing"', '"kind": "passing", "value": 1')
    path = tmp_path / "job.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        read_lifecycle(path)
    assert str(caught.value) == "\n".join(
        [
            f"{path} has 4 errors",
            f'{path}:7:23 $.states[0].id: this field is given twice: "id". '
            "Remove one of the two; the first stands in line 7. [duplicate-key]",
            f'{path}:7:40 $.states[0].lable: unknown field: "lable". Did you mean "label"? '
            "The fields here are id, kind, label, note, value, group, terminal. [unknown-field]",
            f"{path}:8:42 $.states[1].value: a passing state is never stored and has no value: 1. "
            'Remove "value", or give the state another kind. [passing-value]',
            f'{path}:19:48 $.arrows[5].to: there is no state with this id: "faild". '
            'Did you mean "failed"? [unknown-state]',
        ]
    )


def test_reading_lets_lint_errors_through_and_loading_does_not(tmp_path: Path, job_text: str) -> None:
    path = tmp_path / "job.json"
    path.write_text(job_text.replace('"to": "failed"', '"to": "faild"'), encoding="utf-8")
    assert read_lifecycle(path).arrows[5].target == "faild"
    with pytest.raises(ModelError, match="faild"):
        load_lifecycle(path)


def test_loading_lets_warnings_through(tmp_path: Path, job_text: str) -> None:
    path = tmp_path / "job.json"
    path.write_text(job_text.replace('"kind": "success"', '"kind": "neutral"'), encoding="utf-8")
    assert load_lifecycle(path).states[3].kind is Kind.NEUTRAL


def test_a_missing_file_a_folder_a_loop_and_an_impossible_name_are_wrong_input(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, words in [
        (tmp_path / "none.json", "does not exist"),
        (tmp_path, "is a folder"),
        (loop, "cannot be read"),
        (tmp_path / ("x" * 300), "cannot be read"),
        (tmp_path / "none.json" / "below", "does not exist"),
        (Path("a\0b"), "no file name"),
    ]:
        with pytest.raises(InputError, match=words):
            load_lifecycle(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_a_file_that_may_not_be_read_is_wrong_input(tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0)
    program = (
        "import os, pathlib\n"
        "from arrowproof.errors import InputError\n"
        "from arrowproof.model.loader import load_lifecycle\n"
        f"folder = os.open({str(tmp_path)!r}, os.O_RDONLY)\n"
        "os.fchdir(folder); os.setuid(65534)\n"
        "try:\n    load_lifecycle(pathlib.Path('secret.json'))\n"
        "except InputError as error:\n    print(error)\n"
    )
    tmp_path.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "secret.json may not be read by this user. Change its permissions (`chmod u+r`).\n"


def test_an_endless_file_is_read_to_the_limit_and_refused() -> None:
    with pytest.raises(ModelError, match="too-large"):
        load_lifecycle(Path("/dev/zero"))


def test_a_pipe_is_read_like_a_file_and_its_writer_may_come_late(tmp_path: Path, job_text: str) -> None:
    pipe = tmp_path / "job.json"
    os.mkfifo(pipe)
    writer = threading.Timer(0.3, pipe.write_text, [job_text])
    writer.start()
    assert load_lifecycle(pipe).id == "job"
    writer.join()


def test_a_pipe_that_nobody_writes_to_is_wrong_input_and_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "PIPE_DEADLINE", 0.2)
    pipe = tmp_path / "job.json"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match=r"is a pipe that nothing came out of for 0\.2 s"):
        load_lifecycle(pipe)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"null",
        b"[]",
        b'{"format": NaN}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"\x00",
        b'"\\ud800"',
        b"9" * 9999,
    ],
)
def test_a_hostile_file_is_a_model_error_and_never_a_traceback(data: bytes) -> None:
    with pytest.raises(ModelError):
        parse_lifecycle(data, source="x.json")


def test_deep_data_below_an_unknown_field_is_one_problem(job_text: str) -> None:
    text = job_text.replace('"title": "Job",', '"title": "Job", "x": ' + '{"k": ' * 30 + "1" + "}" * 30 + ",")
    with pytest.raises(ModelError) as caught:
        parse_lifecycle(text.encode(), source="x.json")
    assert [problem.rule for problem in caught.value.problems] == ["unknown-field"]


def test_a_right_file_is_loaded_without_the_slow_import(tmp_path: Path, job_text: str) -> None:
    path = tmp_path / "job.json"
    path.write_text(job_text, encoding="utf-8")
    program = (
        "import sys, pathlib\n"
        "from arrowproof.model.loader import load_lifecycle\n"
        "load_lifecycle(pathlib.Path(sys.argv[1]))\n"
        "print(sorted({'jsonschema', 'difflib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def judge(data: bytes) -> tuple[Problem, ...]:
    """What lint says, or what loading was refused for."""
    try:
        return lint(parse_lifecycle(data, source="x.json"))
    except ModelError as error:
        return error.problems or (Problem("none", "", 0, 0, "refused without a reason", ""),)


EDITS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(0, 12),
        st.sampled_from([b"", b"null", b"[]", b'"passing"', b'"x"', b"1", b"\xff", b"{"]),
    ),
    max_size=3,
)


@given(EDITS)
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_damage_to_a_file_comes_to_anything_but_a_lifecycle_or_a_model_error(
    job_text: str, edits: list[tuple[float, int, bytes]]
) -> None:
    data = job_text.encode()
    for place, length, inserted in edits:
        at = int(place * len(data))
        data = data[:at] + inserted + data[at + length :]
    assert all(problem.fix and problem.line >= 1 and problem.column >= 1 for problem in judge(data))


JUNK = st.sampled_from(
    [None, True, 0, 1.0, 1e300, "", " ", "x", "a\x00", "passing", "pending", [], ["x", "x"], [[]], {}]
)


@given(st.data())
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_wrong_value_anywhere_comes_to_anything_but_a_lifecycle_or_a_model_error(
    job_text: str, data: st.DataObject
) -> None:
    job = json.loads(job_text)
    for _ in range(data.draw(st.integers(1, 3))):
        container = data.draw(st.sampled_from([job, job["binding"], *list(job["states"]), *list(job["arrows"])]))
        if not isinstance(container, dict) or container is job:
            name = data.draw(st.sampled_from(["format", "id", "title", "panels", "views", "sources", "driver", "x"]))
            job[name] = data.draw(JUNK)
        else:
            container[data.draw(st.sampled_from([*container, "value", "from", "to", "x"]))] = data.draw(JUNK)
    assert all(problem.path.startswith("$") for problem in judge(json.dumps(job).encode()))


@pytest.mark.parametrize("blank", ["", "  ", "\u3000"])
def test_a_text_of_nothing_is_as_good_as_left_out(blank: str) -> None:
    plain = {
        "format": "arrowproof.lifecycle/1",
        "id": "blank",
        "title": blank,
        "summary": blank,
        "states": [{"id": "a", "kind": "success", "label": blank, "note": blank, "group": blank}],
        "arrows": [{"id": "1", "to": "a", "event": blank, "guard": blank, "effect": blank}],
        "views": [{"id": "all", "title": blank, "states": ["a"]}],
    }
    lifecycle = parse_lifecycle(json.dumps(plain).encode(), source="blank.json")
    (state,), (arrow,) = lifecycle.states, lifecycle.arrows
    assert (lifecycle.title, lifecycle.summary) == ("blank", "")
    assert (state.label, state.note, state.group) == ("a", None, None)
    assert arrow.label == ""
    assert lifecycle.views[0].title == "all"


def test_labels_and_ids_may_hold_any_characters() -> None:
    hostile = "a\x00\x1b[31m\n\u202e<b>"
    plain = {
        "format": "arrowproof.lifecycle/1",
        "id": hostile,
        "title": hostile,
        "states": [{"id": hostile, "kind": "success", "label": hostile}],
        "arrows": [{"id": hostile, "to": hostile, "event": hostile}],
    }
    lifecycle = parse_lifecycle(json.dumps(plain).encode(), source="hostile.json")
    assert lifecycle.states[0].label == lifecycle.arrows[0].event == lifecycle.id == hostile


def test_no_state_at_all_is_said_once(job: dict[str, Any]) -> None:
    job["states"] = []
    with pytest.raises(ModelError) as caught:
        parse_lifecycle(json.dumps(job).encode(), source="job.json")
    assert [problem.rule for problem in caught.value.problems] == ["too-short"]


def test_a_view_may_name_arrows_alone_or_states_alone(job: dict[str, Any], parse: Parse) -> None:
    job["views"] = [{"id": "a", "title": "A", "arrows": ["pick"]}, {"id": "s", "title": "S", "states": ["pending"]}]
    assert [(view.states, view.arrows) for view in parse(job).views] == [((), ("pick",)), (("pending",), ())]
