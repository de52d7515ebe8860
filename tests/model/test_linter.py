"""Lint: every rule goes red on its mistake and stays green beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from arrowproof.model import linter, transitions
from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.model.linter import errors_of, lint

Job = dict[str, Any]
Parse = Callable[[Any], Lifecycle]


def state(name: str, kind: str = "waiting", **more: Any) -> dict[str, Any]:
    return {"id": name, "kind": kind, **more}


def arrow(name: str, source: str | None, target: str | None, **more: Any) -> dict[str, Any]:
    ends = {"from": source, "to": target}
    return {"id": name, **{end: value for end, value in ends.items() if value is not None}, **more}


def view(**more: Any) -> dict[str, Any]:
    return {"id": "v", "title": "V", "states": [], "arrows": [], **more}


ERRORS: list[tuple[str, Callable[[Job], object], str]] = [
    (
        "duplicate-id",
        lambda job: job["states"].append(state("pending", value="x")),
        '$.states[5].id: another of the states has this id: "pending"',
    ),
    (
        "duplicate-id",
        lambda job: job["arrows"].append(arrow("pick", "pending", None)),
        '$.arrows[6].id: another of the arrows has this id: "pick"',
    ),
    (
        "duplicate-id",
        lambda job: job.update(views=[view(), view()]),
        '$.views[1].id: another of the views has this id: "v"',
    ),
    (
        "unknown-state",
        lambda job: job["arrows"][5].update(to="faild"),
        '$.arrows[5].to: there is no state with this id: "faild". Did you mean "failed"?',
    ),
    (
        "unknown-state",
        lambda job: job["arrows"][1].update({"from": "zzz"}),
        '$.arrows[1].from: there is no state with this id: "zzz". Add the state, or name one that is there.',
    ),
    (
        "unknown-state",
        lambda job: job.update(views=[view(states=["pending", "nobody"])]),
        '$.views[0].states[1]: there is no state with this id: "nobody"',
    ),
    (
        "unknown-state",
        lambda job: job.update(accepted_sneak_paths=[{"from": "failed", "to": "gone", "reason": "r"}]),
        '$.accepted_sneak_paths[0].to: there is no state with this id: "gone"',
    ),
    (
        "unknown-state",
        lambda job: [job["states"][4].update(value="F"), job["arrows"][5].update(to="F")],
        '$.arrows[5].to: there is no state with this id: "F". That is the value of "failed"; arrows name ids.',
    ),
    (
        "unknown-state",
        lambda job: [job["states"][4].update(label="Given up"), job["arrows"][5].update(to="Given up")],
        '$.arrows[5].to: there is no state with this id: "Given up". That is the label of "failed"; arrows name ids.',
    ),
    (
        "unknown-arrow",
        lambda job: job.update(views=[view(arrows=["picc"])]),
        '$.views[0].arrows[0]: there is no arrow with this id: "picc". Did you mean "pick"?',
    ),
    (
        "value-collision",
        lambda job: job["states"][3].update(value="pending"),
        '$.states[3].value: the state "pending" has this value too: "pending"',
    ),
    (
        "value-collision",
        lambda job: job["states"][3].update(value="7"),
        '$.states[3].value: the state "retry_wait" has this value too: "7" '
        "(a column of one type cannot tell it from 7)",
    ),
    (
        "value-collision",
        lambda job: [job["states"][index].update(value=None) for index in (3, 4)],
        '$.states[4].value: the state "completed" has this value too: null',
    ),
    (
        "passing-cycle",
        lambda job: [
            job["states"].append(state("again", "passing")),
            job["arrows"].extend([arrow("x", "attempt", "again"), arrow("y", "again", "attempt")]),
        ],
        '$.states[1]: passing states form a cycle, "attempt" -> "again" -> "attempt"',
    ),
    (
        "passing-stuck",
        lambda job: [
            job["states"].append(state("well", "passing")),
            job["arrows"].append(arrow("x", "pending", "well")),
        ],
        '$.states[5]: no way leads from this passing state to a stored state or to removal: "well"',
    ),
    (
        "too-many-paths",
        lambda job: job["arrows"].extend(
            arrow(f"{side}{number}", *ends)
            for number in range(101)
            for side, ends in (("in", ("pending", "attempt")), ("out", ("attempt", "completed")))
        ),
        "$.arrows: passing states multiply to more than 10000 arrow paths",
    ),
    (
        "passing-sneak-path",
        lambda job: job.update(accepted_sneak_paths=[{"from": "failed", "to": "attempt", "reason": "r"}]),
        '$.accepted_sneak_paths[0].to: a passing state is never stored, so no row is found in it: "attempt"',
    ),
]

WARNINGS: list[tuple[str, Callable[[Job], object], str]] = [
    (
        "no-creation",
        lambda job: job["arrows"].pop(0),
        "$.arrows: no arrow creates a row, so no state can be reached",
    ),
    (
        "unreachable-state",
        lambda job: [job["states"].append(state("lost")), job["arrows"].append(arrow("x", "lost", None))],
        '$.states[5]: no way leads to this state from creation: "lost"',
    ),
    (
        "unreachable-state",
        lambda job: [job["states"].append(state("ghost", "passing")), job["arrows"].append(arrow("x", "ghost", None))],
        '$.states[5]: no way leads to this state from creation: "ghost"',
    ),
    (
        "dead-end",
        lambda job: job["states"][3].update(kind="neutral"),
        '$.states[3]: a dead end: a neutral state without an outgoing arrow: "completed"',
    ),
    (
        "dead-end",
        lambda job: job["states"][3].update(kind="active"),
        '$.states[3]: a dead end: an active state without an outgoing arrow: "completed"',
    ),
    (
        "ending-goes-on",
        lambda job: job["arrows"].append(arrow("x", "completed", "pending", guard="by hand")),
        '$.states[3]: a success state with an arrow to another state or itself: "completed". '
        'Say "terminal": false in the state if that is meant.',
    ),
    (
        "dead-end",
        lambda job: job["states"][3].update(terminal=False),
        '$.states[3]: a dead end: a success state without an outgoing arrow: "completed". '
        'Add an arrow, or remove "terminal": false.',
    ),
    (
        "ending-goes-on",  # and no loop without a guard beside it: a row rests in an ending
        lambda job: [job["arrows"].append(arrow("x", "completed", "retry_wait")), job["arrows"][2].pop("guard")],
        '$.states[3]: a success state with an arrow to another state or itself: "completed"',
    ),
    (
        "ending-goes-on",
        lambda job: job["states"][0].update(terminal=True),
        '$.states[0]: a terminal state with an arrow to another state or itself: "pending"',
    ),
    (
        "repeated-arrow",
        lambda job: job["arrows"].append(arrow("x", "pending", "attempt", event="poll", effect="other")),
        '$.arrows[6]: the arrow "pick" has the same from, to, event and guard: "x"',
    ),
    (
        "unguarded-loop",
        lambda job: [job["arrows"][index].pop("guard") for index in (2, 4)],
        '$.states[1]: no guard says why this loop ends, "attempt" -> "retry_wait" -> "attempt"',
    ),
    (
        "unguarded-loop",
        lambda job: job["arrows"].append(arrow("x", "pending", "pending")),
        '$.states[0]: no guard says why this loop ends, "pending" -> "pending"',
    ),
    (
        "similar-id",
        lambda job: job["states"].append(state("Retry_ wait", "success")) or job["arrows"].append(
            arrow("x", "pending", "Retry_ wait")
        ),
        '$.states[5].id: this id differs from "retry_wait" only by case or white space: "Retry_ wait"',
    ),
    (
        "similar-id",
        lambda job: job["arrows"].append(arrow("PICK", "pending", None)),
        '$.arrows[6].id: this id differs from "pick" only by case or white space: "PICK"',
    ),
    (
        "declared-sneak-path",
        lambda job: job.update(accepted_sneak_paths=[{"from": "pending", "to": "failed", "reason": "r"}]),
        '$.accepted_sneak_paths[0]: this is a transition of the model: "pending -> failed"',
    ),
    (
        "repeated-sneak-path",
        lambda job: job.update(accepted_sneak_paths=[{"from": "failed", "reason": "r"}] * 2),
        '$.accepted_sneak_paths[1]: this sneak path is accepted above already: "failed -> removed"',
    ),
]  # fmt: skip


def test_a_sound_lifecycle_has_nothing_to_say_about(job: Job, parse: Parse) -> None:
    assert lint(parse(job)) == ()


@pytest.mark.parametrize(("rule", "change", "message"), ERRORS, ids=[row[2] for row in ERRORS])
def test_an_error_is_found_with_its_place_and_nothing_else_is(
    job: Job, parse: Parse, rule: str, change: Callable[[Job], object], message: str
) -> None:
    change(job)
    problems = errors_of(lint(parse(job)))
    assert [problem.rule for problem in problems] == [rule]
    assert message in str(problems[0])


@pytest.mark.parametrize(("rule", "change", "message"), WARNINGS, ids=[row[2] for row in WARNINGS])
def test_a_warning_is_found_with_its_place_and_is_no_error(
    job: Job, parse: Parse, rule: str, change: Callable[[Job], object], message: str
) -> None:
    change(job)
    problems = lint(parse(job))
    assert [problem.rule for problem in problems] == [rule]
    assert message in str(problems[0])
    assert errors_of(problems) == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda job: job["arrows"].append(arrow("purge", "completed", None)),  # removal is no way on
        lambda job: job["arrows"].append(arrow("beat", "pending", "pending", event="heartbeat")),  # a reaction
        lambda job: job["arrows"].append(arrow("x", "pending", "attempt", event="poll", guard="other")),
        lambda job: job["states"][3].update(kind="neutral", terminal=True),
        lambda job: [job["states"][4].update(terminal=False), job["arrows"].append(arrow("x", "failed", "pending"))],
        lambda job: [
            job["states"][0].update(id="created"),
            job["arrows"][0].update(to="created"),
            job["arrows"][1].update({"from": "created"}),
        ],
        lambda job: job["states"][3].update(value=8),
        lambda job: job["states"][3].update(value=None),
        lambda job: job.update(accepted_sneak_paths=[{"from": "failed", "to": "pending", "reason": "by hand"}]),
        lambda job: job.update(views=[view(states=["pending"], arrows=["accept"])]),
    ],
)
def test_what_is_meant_so_is_not_complained_about(job: Job, parse: Parse, change: Callable[[Job], object]) -> None:
    change(job)
    assert lint(parse(job)) == ()


def test_all_loops_without_a_guard_are_told_at_once(job: Job, parse: Parse) -> None:
    job["states"] += [state("paused"), state("held")]
    for name in ("paused", "held"):
        job["arrows"] += [
            arrow(f"to {name}", "pending", name, event="x"),
            arrow(f"{name} on", name, "pending", event="x"),
        ]
    assert [str(problem).partition("ends, ")[2].partition(".")[0] for problem in lint(parse(job))] == [
        '"pending" -> "paused" -> "pending"',
        '"pending" -> "held" -> "pending"',
    ]


def test_every_rule_of_the_table_is_shown_red_here_and_no_other_exists() -> None:
    table = set(re.findall(r"^([a-z]+(?:-[a-z]+)+)  ", str(linter.__doc__), re.MULTILINE))
    assert table == {rule for rule, _, _ in ERRORS + WARNINGS}
    assert set(re.findall(r"^([a-z]+(?:-[a-z]+)+)  ", str(transitions.__doc__), re.MULTILINE)) < table


def test_a_typo_is_one_error_and_not_a_list_of_its_consequences(job: Job, parse: Parse) -> None:
    job["arrows"][0]["to"] = "pendign"
    assert [problem.rule for problem in lint(parse(job))] == ["unknown-state"]


def test_a_cycle_of_passing_states_is_not_called_an_unguarded_loop_too(job: Job, parse: Parse) -> None:
    job["arrows"].append(arrow("x", "attempt", "attempt"))
    assert [problem.rule for problem in lint(parse(job))] == ["passing-cycle"]


def test_problems_stand_in_file_order_with_their_lines(job_text: str, parse: Parse) -> None:
    text = job_text.replace('"to": "failed"', '"to": "x"').replace('"to": "pending"', '"to": "y"')
    text = text.replace('"value": 7', '"value": "pending"')
    assert [(problem.rule, problem.line, problem.column) for problem in lint(parse(text))] == [
        ("value-collision", 9, 54),
        ("unknown-state", 14, 28),
        ("unknown-state", 19, 48),
    ]


def test_records_that_no_file_made_are_judged_too() -> None:
    lifecycle = Lifecycle("m", "M", (State("a", Kind.ACTIVE, "A", "a"),), (Arrow("x", None, "b"),))
    assert [(problem.rule, problem.line) for problem in lint(lifecycle)] == [("unknown-state", 1)]


def test_a_large_lifecycle_with_thousands_of_unknown_states_is_judged_at_once(job: Job, parse: Parse) -> None:
    job["states"] = [state(f"state-number-{index}") for index in range(1000)]
    job["arrows"] = [arrow(f"a{index}", f"state-numbre-{index}", "gone") for index in range(5000)]
    assert len(lint(parse(job))) == 10_000
