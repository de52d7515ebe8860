from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from arrowproof.model.evidence import (
    Evidence,
    Guard,
    JournalKind,
    JournalRow,
    Place,
    Side,
    SneakPath,
    Statement,
    TransitionEvidence,
)
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle
from arrowproof.model.log import Log, LogTransition
from arrowproof.model.transitions import Pair
from arrowproof.render.language import load_language
from arrowproof.render.proof_column import MAX_CHOICES, MAX_REASONS, ProofColumn, proof_column
from arrowproof.render.proof_panel import LIMITS, ProofPanel
from tests.render.evidence_builder import build_evidence
from tests.render.pages import state
from tests.render.proofs import LONG, agent, hostile, notes, proof_of, written_by

RUNS = Lifecycle(
    "runs",
    "Runs",
    (
        state("open", Kind.WAITING, "Open"),
        state("try", Kind.PASSING, "Try"),
        state("done", Kind.SUCCESS, "Done"),
        state("lost", Kind.FAILURE, "Lost", value=3),
    ),
    (
        Arrow("new", None, "open", "POST"),
        Arrow("pick", "open", "try"),
        Arrow("ok", "try", "done"),
        Arrow("fail", "try", "lost"),
        Arrow("purge", "lost", None),
        Arrow("drop", "lost", None, "by hand"),
    ),
    binding=Binding("runs", ("id",), "state", watch=("tries",)),
)
DONE: Pair = ("open", "done")


def column_of(evidence: Evidence, lifecycle: Lifecycle = RUNS) -> ProofColumn:
    return proof_column(lifecycle, proof_of(lifecycle, evidence), load_language())


def panels(evidence: Evidence, lifecycle: Lifecycle = RUNS) -> Mapping[tuple[str, str], ProofPanel]:
    made = [make(LIMITS[0]) for make in column_of(evidence, lifecycle).panels]
    return {panel.address: panel for panel in made}


def panel(evidence: Evidence) -> ProofPanel:
    return panels(evidence)["open", "done"]


def changed(evidence: Evidence, pair: Pair = DONE, **changes: object) -> Evidence:
    """The evidence with something else about one transition."""
    return replace(
        evidence,
        transitions=tuple(
            replace(each, **changes) if (each.source, each.target) == pair else each  # type: ignore[arg-type]
            for each in evidence.transitions
        ),
    )


def found(evidence: Evidence, pair: Pair = DONE) -> TransitionEvidence:
    return next(each for each in evidence.transitions if (each.source, each.target) == pair)


def rungs(shown: ProofPanel) -> list[tuple[str, str, str, str]]:
    return [(rung.word, rung.fact, rung.sign, rung.tone) for rung in shown.rungs]


SURVIVED = build_evidence(RUNS)


# --- Rungs


def test_each_rung_that_is_reached_says_by_what() -> None:
    assert rungs(panel(SURVIVED)) == [
        ("written", "sql/runs.sql:11", "written", "holds"),
        ("walked", "1 time, by worker 5108, 5123", "walked", "holds"),
        ("survived", "2 of 2 kills", "survived", "holds"),
        ("guarded", "no guard was tried", "none", "quiet"),
    ]


@pytest.mark.parametrize(
    ("rung", "line", "told"),
    [
        ("missing", 0, ("written", "no statement found", "missing", "wrong")),
        ("missing", 1, ("walked", "no walk was made", "none", "quiet")),
        ("written", 1, ("walked", "no walk was made", "missing", "gap")),
        ("not_written", 0, ("written", "no statement found", "missing", "gap")),
        ("walked", 2, ("survived", "no kill was made", "none", "quiet")),
        ("not_survived", 2, ("survived", "0 of 2 kills", "not_survived", "wrong")),
    ],
)
def test_what_is_missing_stands_in_the_place_of_its_rung(rung: str, line: int, told: tuple[str, str, str, str]) -> None:
    assert rungs(panel(build_evidence(RUNS, {DONE: rung})))[line] == told


def test_a_walk_that_went_wrong_is_counted_and_its_problem_is_told() -> None:
    walk = found(SURVIVED).walks[0]
    shown = panel(changed(SURVIVED, walks=(walk, replace(walk, problem="the row was gone"))))
    assert rungs(shown)[1] == ("walked", "1 of 2 walks went wrong", "missing", "wrong")
    assert shown.problem == "the row was gone"


def test_kills_on_one_side_only_are_no_survival() -> None:
    kills = [kill for kill in found(SURVIVED).kills if kill.side is Side.BEFORE]
    shown = panel(changed(SURVIVED, kills=tuple(kills)))
    assert rungs(shown)[2] == ("survived", "1 of 1 kill, only before the commit", "none", "quiet")


@pytest.mark.parametrize(
    ("guard", "told"),
    [
        (Guard(17, 17), ("guarded", "17 other writes refused", "guarded", "holds")),
        (Guard(17, 16), ("guarded", "only 16 of 17 other writes refused", "missing", "gap")),
        (Guard(0, 0), ("guarded", "only 0 of 0 other writes refused", "missing", "gap")),
    ],
)
def test_a_guard_says_what_it_refused(guard: Guard, told: tuple[str, str, str, str]) -> None:
    assert rungs(panel(replace(SURVIVED, guard=guard)))[3] == told


def test_a_log_says_how_often_and_which_share() -> None:
    counts = (LogTransition("open", "done", 1500), LogTransition("open", "lost", 500))
    shown = panels(replace(SURVIVED, log=Log("prod", 2000, None, None, counts, ())))
    assert rungs(shown["open", "done"])[4] == ("log", "1,500 times, 75 % of all", "", "plain")
    assert rungs(shown["lost", "removed"])[4][1] == "0 times"


# --- Statement, row, kills, processes


def test_a_created_row_has_nothing_before_and_a_removed_one_nothing_after() -> None:
    shown = panels(SURVIVED)
    created, removed = shown["created", "open"].row, shown["lost", "removed"].row
    assert created is not None
    assert removed is not None
    assert (created.before, created.lines[0].before.text) == ("before: no row", "–")
    assert (removed.after, removed.lines[0].after.text) == ("after: no row", "–")


def test_a_kill_says_who_was_killed_and_how_the_row_stood() -> None:
    before, after = panel(SURVIVED).kills
    assert (before.heading, before.lines) == (
        "before, 1 of 1",
        ("worker 5108 killed", "row stays Open", "restart: Done"),
    )
    assert (after.heading, after.lines) == ("after, 1 of 1", ("worker 5108 killed", "row is Done", "restart: Done"))


def test_a_kill_that_went_wrong_is_the_one_that_is_told() -> None:
    kills = found(SURVIVED).kills
    wrong = replace(kills[0], found=None, restarted=None, problem="the row was lost")
    shown = panel(changed(SURVIVED, kills=(*kills, wrong))).kills[0]
    assert shown.heading == "before, 1 of 2"
    assert shown.lines == ("worker 5108 killed", "row is gone", "restart: no row")
    assert shown.problem == "the row was lost"


def test_where_the_state_is_derived_a_row_is_told_without_it() -> None:
    derived = replace(RUNS, binding=Binding("runs", ("id",), state_sql="CASE WHEN 1 THEN 'open' END"))
    before, after = panels(SURVIVED, derived)["open", "done"].kills
    assert before.lines[1:] == ("row stays as it was", "restart: row is there")
    assert after.lines[1] == "row has changed"


def test_without_a_statement_the_panel_says_so() -> None:
    shown = panel(build_evidence(RUNS, {DONE: "missing"}))
    assert (shown.statement, shown.no_statement) == (None, "Nothing that was read can make it.")
    assert (shown.row, shown.kills, shown.processes) == (None, (), ())


def test_a_state_whose_value_is_a_number_is_marked_in_its_statement() -> None:
    sql = "UPDATE runs SET state = 3 WHERE state = 'open'"
    shown = panels(written_by(SURVIVED, ("open", "lost"), Statement(Place("a.py", 7), sql)))["open", "lost"]
    assert shown.statement is not None
    marked = [(span.text, span.role) for span in shown.statement.lines[0].spans if span.role]
    assert marked == [("3", "target"), ("'open'", "source")]


def test_other_statements_are_named_and_counted() -> None:
    statements = [Statement(Place("a.sql", line), "UPDATE runs SET state = 'done'") for line in range(1, 7)]
    shown = panel(written_by(SURVIVED, DONE, *statements)).statement
    assert shown is not None
    assert (shown.place, shown.others) == ("a.sql:1", "Also written at a.sql:2, a.sql:3, a.sql:4 and 2 more.")


def test_processes_beyond_the_third_are_counted() -> None:
    walk = found(SURVIVED).walks[0]
    shown = panel(changed(SURVIVED, walks=(replace(walk, processes=walk.processes * 3),)))
    assert (len(shown.processes), shown.more_processes) == (3, "3 more processes")


def test_process_ids_that_are_not_known_are_left_out() -> None:
    walk = found(SURVIVED).walks[0]
    unknown = tuple(replace(process, pid=0) for process in walk.processes)
    shown = panel(changed(SURVIVED, walks=(replace(walk, processes=unknown),)))
    assert rungs(shown)[1][1] == "1 time, by worker"
    assert shown.processes[0] == ("worker", "", "exit 0")


# --- Sneak paths


STATEMENT = Statement(Place("a.sql", 3), "UPDATE runs SET state = 'done' WHERE state IN ('open', 'lost')")
SNEAK = SneakPath("done", "open", possible=(STATEMENT,))


def test_a_sneak_path_says_whether_it_is_possible_or_happened_and_the_way_out() -> None:
    shown = panels(replace(SURVIVED, sneak_paths=(SNEAK,)))["done", "open"]
    assert (shown.tone, shown.title, shown.label) == ("wrong", ("Done", "Open"), "sneak path, possible")
    assert rungs(shown) == [("possible", "a.sql:3", "sneak", "wrong"), ("happened", "not seen", "none", "quiet")]
    assert shown.way_out.startswith("Name the source states")


def test_a_sneak_path_that_happened_shows_its_row() -> None:
    row = JournalRow(4, "update", JournalKind.CHANGED, (("id", 1),), "done", "open", (("tries", 1),), (("tries", 2),))
    shown = panels(replace(SURVIVED, sneak_paths=(SneakPath("done", "open", (), (row, row)),)))["done", "open"]
    assert rungs(shown)[1] == ("happened", "2 times, in the journal", "sneak", "wrong")
    assert shown.row is not None
    assert [(line.before.text, line.after.text) for line in shown.row.lines] == [("done", "open"), ("1", "2")]
    assert shown.way_out.startswith("Nothing that was read writes this.")


def test_a_sneak_path_of_no_known_statement_shows_what_was_sent() -> None:
    row = JournalRow(
        4, "update", JournalKind.CHANGED, (("id", 1),), "done", "open", (), (), query="UPDATE runs\n SET x"
    )
    for made, said in (
        (row, "What the client sent: UPDATE runs SET x"),
        (replace(row, query="x" * 2000), f"What the client sent: {'x' * 239}…"),
        (replace(row, written=Place("a.sql", 3)), "Made by the statement at a.sql:3."),
    ):
        shown = panels(replace(SURVIVED, sneak_paths=(SneakPath("done", "open", (), (row_without(made), made)),)))
        assert shown["done", "open"].no_statement == said


def row_without(row: JournalRow) -> JournalRow:
    return replace(row, query=None, written=None)


def test_an_accepted_sneak_path_gives_its_reason_and_is_not_red() -> None:
    accepted = panels(replace(SURVIVED, sneak_paths=(replace(SNEAK, accepted="support does it"),)))["done", "open"]
    assert accepted.tone == "plain"
    assert rungs(accepted)[2] == ("accepted", "support does it", "none", "plain")
    assert accepted.way_out == ""


def test_a_statement_that_makes_sneak_paths_says_which_and_marks_what_lets_them() -> None:
    sneaks = (SneakPath("lost", "done", (STATEMENT,)), SneakPath("done", "done", (STATEMENT,), accepted="as ever"))
    evidence = replace(written_by(SURVIVED, DONE, STATEMENT), sneak_paths=sneaks)
    text = panels(replace(evidence))["open", "done"].statement
    assert text is not None
    assert text.warning == "Also makes the sneak path Lost → Done."


# --- The column


def test_sneak_paths_come_first_with_the_arrow_that_is_drawn_for_them() -> None:
    column = column_of(replace(SURVIVED, sneak_paths=(SNEAK,)))
    assert [(row.source, row.target, row.arrows, row.kills) for row in column.sneaks] == [
        ("Done", "Open", "6", "possible")
    ]
    assert column.rows[1].arrows == "1 2"


def test_sneak_paths_beyond_those_drawn_are_counted() -> None:
    many = tuple(replace(SNEAK, source=f"value {number}") for number in range(20))
    column = column_of(replace(SURVIVED, sneak_paths=many))
    assert (len(column.sneaks), column.more_sneaks) == (12, "8 more sneak paths, not drawn")


def test_a_row_counts_what_went_right_of_what_was_made() -> None:
    walk = found(SURVIVED).walks[0]
    column = column_of(changed(SURVIVED, walks=(walk, replace(walk, problem="no")), kills=()))
    row = next(row for row in column.rows if row.address == ("open", "done"))
    assert (row.walks, row.kills) == ("1 of 2", "–")
    assert row.spoken == "Open → Done: written, walks: 1 of 2, kills survived: –"


def test_reasons_beyond_the_bound_are_counted() -> None:
    column = column_of(replace(SURVIVED, reasons=tuple(f"reason {number}" for number in range(9))))
    assert len(column.reasons) == MAX_REASONS
    assert column.more_reasons == f"{9 - MAX_REASONS} more reasons"


def test_only_an_arrow_that_is_no_transition_by_itself_has_a_head() -> None:
    heads = {head.arrow: [name for _, name in head.choices] for head in column_of(SURVIVED).heads}
    assert heads == {
        "pick": ["Open → Done", "Open → Lost"],
        "ok": ["Open → Done"],
        "fail": ["Open → Lost"],
        "purge": ["Lost → removed"],
        "drop": ["Lost → removed"],
    }


def test_the_head_of_an_arrow_offers_the_lowest_rung_first_and_counts_the_rest() -> None:
    column = column_of(build_evidence(RUNS, {("open", "lost"): "missing"}))
    assert column.heads[0].choices[0] == (("open", "lost"), "Open → Lost")
    fan = replace(
        RUNS,
        states=(*RUNS.states, *(state(f"end{number}", Kind.SUCCESS) for number in range(9))),
        arrows=(*RUNS.arrows, *(Arrow(f"to{number}", "try", f"end{number}") for number in range(9))),
    )
    head = column_of(build_evidence(fan), fan).heads[0]
    assert (len(head.choices), head.more) == (MAX_CHOICES, f"{11 - MAX_CHOICES} more")


def test_evidence_without_a_transition_of_the_model_leaves_it_missing() -> None:
    shown = panel(replace(SURVIVED, transitions=()))
    assert rungs(shown)[0][3] == "wrong"


@pytest.mark.parametrize("made", [agent, notes, hostile])
def test_less_room_never_shows_more(made: object) -> None:
    lifecycle, evidence = made()  # type: ignore[operator]
    for make in column_of(evidence, lifecycle).panels:
        sizes = [
            (
                len(shown.processes),
                len(shown.row.lines) if shown.row else 0,
                len(shown.statement.lines) if shown.statement else 0,
                len(shown.problem),
            )
            for shown in map(make, LIMITS)
        ]
        assert all(all(a >= b for a, b in zip(one, other, strict=True)) for one, other in pairwise(sizes))


def test_no_text_of_a_panel_is_long_or_holds_what_cannot_be_drawn() -> None:
    lifecycle, evidence = hostile()
    for make in column_of(evidence, lifecycle).panels:
        shown = make(LIMITS[0])
        texts = [*shown.title, shown.label, shown.arrows, shown.problem, *(rung.fact for rung in shown.rungs)]
        texts += [line for side in shown.kills for line in side.lines]
        assert max(map(len, texts)) < len(LONG) * 2
        assert not any(character in text for text in texts for character in "\x00\x07\u202e\u2066")
