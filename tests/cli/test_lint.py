from __future__ import annotations

import json

WARNED = {
    "format": "arrowproof.lifecycle/1",
    "id": "two",
    "title": "Two",
    "states": [{"id": "open", "kind": "active"}, {"id": "stuck", "kind": "active"}],
    "arrows": [
        {"id": "make", "to": "open", "event": "POST"},
        {"id": "jam", "from": "open", "to": "stuck", "event": "jam"},
    ],
}


def test_the_bundled_lifecycle_lints_strictly(arrowproof):
    result = arrowproof("lint", "notes", "--strict")
    assert (result.status, result.out) == (0, "notes-job holds: 6 states, 13 arrows, 13 transitions\n")


def test_a_warning_is_shown_and_passes(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text(json.dumps(WARNED))
    result = arrowproof("lint")
    assert result.status == 0
    assert "dead-end" in result.err
    assert result.out == "two holds: 2 states, 2 arrows, 2 transitions, 1 warning\n"


def test_a_warning_fails_with_strict_and_a_written_verdict(arrowproof, tmp_path):
    (tmp_path / "lifecycle.json").write_text(json.dumps(WARNED))
    result = arrowproof("lint", "--strict", "--json")
    assert result.status == 1
    said = json.loads(result.out)
    assert said["verdict"] == "does not hold"
    assert [problem["rule"] for problem in said["problems"]] == ["dead-end"]


def test_an_error_is_wrong_input_with_line_and_column(arrowproof, tmp_path):
    broken = {**WARNED, "arrows": [{"id": "make", "to": "opne"}]}
    (tmp_path / "lifecycle.json").write_text(json.dumps(broken, indent=1))
    result = arrowproof("lint")
    assert result.status == 2
    assert "lifecycle.json:" in result.err
    assert "opne" in result.err


def test_warnings_beside_an_error_are_not_counted_as_errors(arrowproof, tmp_path):
    arrows = [*WARNED["arrows"], {"id": "make", "to": "stuck"}, {"id": "MAKE", "to": "stuck", "event": "retry"}]
    broken = {**WARNED, "arrows": arrows}
    (tmp_path / "lifecycle.json").write_text(json.dumps(broken))
    result = arrowproof("lint")
    assert result.status == 2
    assert "lifecycle.json has 1 error and 1 warning\n" in result.err
    assert "[warning: similar-id]" in result.err


def test_control_characters_of_a_model_do_not_reach_the_terminal(arrowproof, tmp_path):
    hostile = {**WARNED, "id": "x\x1b[31m"}
    (tmp_path / "lifecycle.json").write_text(json.dumps(hostile))
    result = arrowproof("lint")
    assert "\x1b" not in result.out + result.err


def test_a_tab_in_a_file_name_is_shown_as_one(arrowproof):
    assert "error: a\\tb.json does not exist" in arrowproof("lint", "a\tb.json").err


def test_a_source_glob_that_matches_no_file_is_a_warning_until_there_is_one(arrowproof, tmp_path):
    states = [{"id": "open", "kind": "success"}]
    model = {**WARNED, "states": states, "arrows": WARNED["arrows"][:1], "sources": ["sql/*.sql", "*.sql"]}
    (tmp_path / "lifecycle.json").write_text(json.dumps(model))
    (tmp_path / "all.sql").touch()
    result = arrowproof("lint", "--strict")
    assert result.status == 1
    assert '$.sources[0]: no file matches this glob in the folder of the lifecycle file: "sql/*.sql"' in result.err
    assert "$.sources[1]" not in result.err
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "open.sql").touch()
    assert arrowproof("lint", "--strict").status == 0
