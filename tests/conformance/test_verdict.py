from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from arrowproof.conformance.verdict import holds, judge
from arrowproof.model.evidence import (
    DynamicTarget,
    JournalKind,
    JournalRow,
    Place,
    SneakPath,
    Statement,
    TransitionEvidence,
    Undecided,
    Verdict,
)
from arrowproof.model.lifecycle import Kind, State

Transitions = tuple[TransitionEvidence, ...]

OPEN = Statement(Place("sql/admin.sql", 3), "UPDATE jobs SET status = 'completed' WHERE id = :id")
SEEN = JournalRow(7, "update", JournalKind.CHANGED, (("id", 1),), "failed", "completed", (), ())
POSSIBLE = SneakPath("failed", "completed", possible=(OPEN,))
HAPPENED = SneakPath("failed", "completed", possible=(OPEN,), happened=(SEEN,))
UNDECIDED = Undecided(Statement(Place("sql/odd.sql", 5), "REPLACE INTO jobs …"), "its table is a parameter.")
DYNAMIC = DynamicTarget(
    Statement(Place("sql/orm.sql", 8), "UPDATE jobs SET status = :status WHERE id = :id"),
    ("pending", "failed"),
    "the target is the parameter :status",
)

BREAKS = {
    "sneak path possible": Verdict.WALKED,
    "sneak path happened": Verdict.NOT_PROVEN,
    "not written": Verdict.NOT_PROVEN,
    "not walked": Verdict.NOT_PROVEN,
    "walk went wrong": Verdict.NOT_PROVEN,
    "kill failed": Verdict.NOT_PROVEN,
    "undecided": Verdict.WALKED,
    "dynamic": Verdict.WALKED,
    "run not to be trusted": Verdict.NOT_PROVEN,
}


def broken(transitions: Transitions, breaks: frozenset[str]) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict on a run that is right but for ``breaks``."""
    first, second, third, fourth, *rest = transitions
    if "not written" in breaks:
        first = replace(first, written=())
    if "not walked" in breaks:
        second = replace(second, walks=())
    if "walk went wrong" in breaks:
        third = replace(third, walks=(replace(third.walks[0], problem="the journal holds nothing."), *third.walks[1:]))
    if "kill failed" in breaks:
        fourth = replace(fourth, kills=(fourth.kills[0], replace(fourth.kills[1], problem="the commit was lost")))
    return judge(
        (first, second, third, fourth, *rest),
        [
            path
            for name, path in (("sneak path possible", POSSIBLE), ("sneak path happened", HAPPENED))
            if name in breaks
        ],
        [UNDECIDED] if "undecided" in breaks else [],
        [DYNAMIC] if "dynamic" in breaks else [],
        ["The journal's triggers no longer stand."] if "run not to be trusted" in breaks else [],
    )


def test_all_written_all_walked_and_nothing_sneaking_is_proven(note_transitions: Transitions) -> None:
    assert judge(note_transitions) == (Verdict.PROVEN, ())


@pytest.mark.parametrize(("name", "verdict"), BREAKS.items())
def test_each_finding_alone_is_red_with_one_reason(note_transitions: Transitions, name: str, verdict: Verdict) -> None:
    got, reasons = broken(note_transitions, frozenset({name}))

    assert got is verdict
    assert len(reasons) == 1


def test_every_combination_comes_to_its_worst_finding(note_transitions: Transitions) -> None:
    severity = [Verdict.PROVEN, Verdict.WALKED, Verdict.NOT_PROVEN]
    for size in range(2, len(BREAKS) + 1):
        for names in itertools.combinations(BREAKS, size):
            got, reasons = broken(note_transitions, frozenset(names))
            # An undecided statement may be the one that makes what is not written.
            explained = {"not written": Verdict.WALKED} if "undecided" in names else {}
            worst = max(((BREAKS | explained)[name] for name in names), key=severity.index)
            assert got is worst, names
            assert len(reasons) == size


def test_reasons_name_transition_file_and_line_in_a_fixed_order(note_transitions: Transitions) -> None:
    assert broken(note_transitions, frozenset(BREAKS) - {"undecided", "dynamic"})[1] == (
        "Sneak path failed -> completed is possible: sql/admin.sql:3 can make it; "
        "name its source states, or draw the arrow.",
        "Sneak path failed -> completed happened: the journal holds it once; sql/admin.sql:3 can make it.",
        "created -> pending is not written, yet it was walked: its statement stands outside the model's sources.",
        "pending -> completed is not walked: no walk of it was made (written at sql/worker.sql:38).",
        "pending -> retry_wait is not walked: the journal holds nothing (written at sql/worker.sql:49).",
        'pending -> failed did not survive a kill after commit at "after-commit": '
        "the commit was lost (written at sql/worker.sql:62).",
        "The journal's triggers no longer stand.",
    )


def test_a_statement_that_names_its_sources_is_not_told_to_name_them(note_transitions: Transitions) -> None:
    other = replace(OPEN, place=Place("sql/admin.sql", 9))
    both = replace(POSSIBLE, possible=(OPEN, other))

    def advice(path: SneakPath, *pinned: Statement) -> str:
        (reason,) = judge(note_transitions, [path], pinned=pinned)[1]
        return reason.partition("can make it; ")[2]

    assert advice(POSSIBLE, OPEN) == "draw the arrow, or take the statement out."
    assert advice(POSSIBLE, other) == "name its source states, or draw the arrow."
    assert advice(both, OPEN, other) == "draw the arrow, or take the statements out."
    assert advice(both, OPEN) == "name their source states."


def test_an_end_that_is_no_state_is_told_with_the_state_that_was_meant(note_transitions: Transitions) -> None:
    states = [State(each, Kind.NEUTRAL, each, each) for each in ("pending", "retry_wait", "completed", "failed")]
    misspelt = SneakPath("pending", "fialed", possible=(OPEN,))
    _, reasons = judge(
        note_transitions,
        [
            misspelt,
            replace(misspelt, happened=(SEEN,)),
            replace(misspelt, target="paused"),
            SneakPath("complete", "failed", happened=(SEEN,)),
            replace(misspelt, target="failed (a value of no state)"),
        ],
        states=states,
    )

    assert reasons == (
        "Sneak path pending -> fialed is possible: sql/admin.sql:3 can make it; "
        "no state has the value fialed; did you mean failed?",
        "Sneak path pending -> fialed happened: the journal holds it once; sql/admin.sql:3 can make it; "
        "no state has the value fialed; did you mean failed?",
        "Sneak path pending -> paused is possible: sql/admin.sql:3 can make it; no state has the value paused.",
        "Sneak path complete -> failed happened: the journal holds it once; no statement that was read can make it; "
        "no state has the value complete; did you mean completed?",
        "Sneak path pending -> failed (a value of no state) is possible: sql/admin.sql:3 can make it; "
        "name its source states, or draw the arrow.",
    )


def test_undecided_and_dynamic_statements_are_named_with_what_hides_them(note_transitions: Transitions) -> None:
    assert judge(note_transitions, (), [UNDECIDED], [DYNAMIC])[1] == (
        "sql/odd.sql:5 is undecided: its table is a parameter.",
        "sql/orm.sql:8 has a dynamic target from pending, failed: the target is the parameter :status.",
    )


@pytest.mark.parametrize("path", [POSSIBLE, HAPPENED, replace(HAPPENED, possible=())])
def test_an_accepted_sneak_path_is_let_through(note_transitions: Transitions, path: SneakPath) -> None:
    accepted = replace(path, accepted="an operator may close a job")

    assert judge(note_transitions, [path])[0] is not Verdict.PROVEN
    assert judge(note_transitions, [accepted]) == (Verdict.PROVEN, ())


def test_accepting_one_sneak_path_lets_no_other_through(note_transitions: Transitions) -> None:
    accepted = replace(HAPPENED, accepted="an operator may close a job")

    assert judge(note_transitions, [accepted, replace(POSSIBLE, target="pending")])[0] is Verdict.WALKED


def test_kills_that_were_not_made_do_not_keep_it_from_proven(note_transitions: Transitions) -> None:
    unkilled = tuple(replace(transition, kills=()) for transition in note_transitions)

    assert judge(unkilled) == (Verdict.PROVEN, ())
    assert not any(transition.is_survived for transition in unkilled)


def test_a_kill_that_was_asked_for_and_could_not_be_made_is_red(note_transitions: Transitions) -> None:
    created, *rest = note_transitions
    before, after = created.kills
    unmade = replace(before, point="", processes=(), problem="the hold point was never reached.")

    assert judge((replace(created, kills=(unmade, after)), *rest)) == (
        Verdict.NOT_PROVEN,
        (
            "created -> pending was not killed before commit: "
            "the hold point was never reached (written at sql/accept.sql:12).",
        ),
    )


def test_an_unwritten_transition_is_explained_only_by_a_dynamic_target_that_leaves_its_source(
    note_transitions: Transitions,
) -> None:
    created, completed, *rest = note_transitions

    by_orm = judge((created, replace(completed, written=()), *rest), dynamic=[DYNAMIC])
    assert by_orm[0] is Verdict.WALKED
    assert "pending -> completed is not written: only sql/orm.sql:8 may make it, and the scan cannot tell." in by_orm[1]

    assert judge((replace(created, written=()), completed, *rest), dynamic=[DYNAMIC])[0] is Verdict.NOT_PROVEN


def test_a_dynamic_target_removes_no_row(note_transitions: Transitions) -> None:
    removal = TransitionEvidence("pending", None, (("purge",),), walks=note_transitions[0].walks)

    assert judge((*note_transitions, removal), dynamic=[DYNAMIC])[0] is Verdict.NOT_PROVEN


def test_one_wrong_walk_among_right_ones_is_red(note_transitions: Transitions) -> None:
    created, *rest = note_transitions
    walks = (*created.walks, replace(created.walks[0], problem="two rows were created"))

    assert judge((replace(created, walks=walks), *rest))[0] is Verdict.NOT_PROVEN


def test_a_model_without_transitions_proves_nothing() -> None:
    assert judge(()) == (Verdict.NOT_PROVEN, ("The model has no transition, so there is nothing to prove.",))


def test_the_path_is_named_when_a_transition_has_several(note_transitions: Transitions) -> None:
    created, *rest = note_transitions
    wrong = replace(created.walks[0], problem="no row")
    two_ways = replace(created, paths=(("accept",), ("import",)), walks=(wrong,))

    assert judge((two_ways, *rest))[1] == (
        "created -> pending is not walked by accept: no row (written at sql/accept.sql:12).",
    )


def test_hostile_text_in_a_reason_is_bounded_and_readable(note_transitions: Transitions) -> None:
    created, *rest = note_transitions
    wrong = replace(created, walks=(replace(created.walks[0], problem="\x1b[2J" + "x" * 1_000_000),))
    (reason,) = judge((wrong, *rest))[1]

    assert len(reason) < 600
    assert reason.isprintable()


def test_only_a_bar_that_is_lowered_openly_lets_walked_hold() -> None:
    assert [holds(verdict) for verdict in Verdict] == [True, False, False]
    assert [holds(verdict, Verdict.WALKED) for verdict in Verdict] == [True, True, False]
