"""What a proof is told in: the words for one, for several, and for each way that things can stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arrowproof.model.evidence import Guard, JournalKind, JournalRow, Place, Side, SneakPath, Statement, Verdict
from arrowproof.model.lifecycle import Arrow, Kind
from arrowproof.model.staleness import Difference, DifferenceKind
from arrowproof.render.language import load_language
from arrowproof.render.proof_column import MAX_CHOICES, MAX_REASONS
from arrowproof.render.proof_header import stale_reasons
from arrowproof.render.proof_panel import LIMITS
from tests.render.evidence_builder import build_evidence
from tests.render.pages import state
from tests.render.proofs import written_by
from tests.render.test_proof_panel import DONE, RUNS, SURVIVED, changed, column_of, found, panel, panels, rungs

OPENED = Statement(Place("a.sql", 3), "UPDATE runs SET state = 'done' WHERE state IN ('open', 'lost')")


def rung_word(line: int, **changes: object) -> str:
    """What a panel says on one of its rungs when something about its transition is otherwise."""
    return rungs(panel(changed(SURVIVED, **changes)))[line][1]


# --- One, where several have words of their own


def test_one_walk_that_went_wrong_is_told_as_one() -> None:
    walk = replace(found(SURVIVED).walks[0], problem="the row was gone")
    assert rung_word(1, walks=(walk,)) == "1 of 1 walk went wrong"


def test_one_write_that_was_refused_is_told_as_one() -> None:
    assert rungs(panel(replace(SURVIVED, guard=Guard(1, 1))))[3][1] == "1 other write refused"


def test_a_sneak_path_that_happened_once_is_told_as_once() -> None:
    row = JournalRow(4, "update", JournalKind.CHANGED, (("id", 1),), "done", "open", (), ())
    shown = panels(replace(SURVIVED, sneak_paths=(SneakPath("done", "open", (), (row,)),)))["done", "open"]
    assert rungs(shown)[1][1] == "1 time, in the journal"


def test_one_process_and_one_column_that_are_not_shown_are_told_as_one() -> None:
    walk = found(SURVIVED).walks[0]
    wide = tuple((f"column_{number}", number) for number in range(LIMITS[0].columns + 1))
    shown = panel(changed(SURVIVED, walks=(replace(walk, before=wide, after=wide, processes=walk.processes * 2),)))
    assert shown.more_processes == "1 more process"
    assert shown.row is not None
    assert shown.row.more == "1 more column"


@pytest.mark.parametrize(("lines", "told"), [(1, "1 more line in a.sql"), (2, "2 more lines in a.sql")])
def test_lines_of_a_statement_that_are_not_shown_are_told_with_their_file(lines: int, told: str) -> None:
    sql = "\n".join(["UPDATE runs", *(f"  -- {number}" for number in range(LIMITS[0].sql_rows + lines - 1))])
    shown = panel(written_by(SURVIVED, DONE, Statement(Place("a.sql", 1), sql))).statement
    assert shown is not None
    assert shown.more == told


def test_one_reason_sneak_path_or_transition_that_is_not_listed_is_told_as_one() -> None:
    many = tuple(SneakPath(f"value {number}", "open") for number in range(13))
    reasons = tuple(f"reason {number}" for number in range(MAX_REASONS + 1))
    column = column_of(replace(SURVIVED, sneak_paths=many, reasons=reasons))
    assert (column.more_sneaks, column.more_reasons) == ("1 more sneak path, not drawn", "1 more reason")
    ends = [f"end{number}" for number in range(MAX_CHOICES - 1)]
    fan = replace(
        RUNS,
        states=(*RUNS.states, *(state(end, Kind.SUCCESS) for end in ends)),
        arrows=(*RUNS.arrows, *(Arrow(f"to {end}", "try", end) for end in ends)),
    )
    assert column_of(build_evidence(fan), fan).heads[0].more == "1 more"


# --- Panels


def test_kills_after_the_commit_alone_are_told_so() -> None:
    kills = tuple(kill for kill in found(SURVIVED).kills if kill.side is Side.AFTER)
    assert rung_word(2, kills=kills) == "1 of 1 kill, only after the commit"


def test_a_killed_creation_leaves_no_row() -> None:
    before, _ = panels(SURVIVED)["created", "open"].kills
    assert before.lines == ("worker 5108 killed", "no row", "restart: Open")


def test_a_row_is_headed_by_its_table_where_that_is_known_and_by_its_two_sides() -> None:
    bound = panel(SURVIVED).row
    free = panels(SURVIVED, replace(RUNS, binding=None))["open", "done"].row
    assert bound is not None
    assert free is not None
    assert [(row.heading, row.before, row.after) for row in (bound, free)] == [
        ("Row in runs", "before", "after"),
        ("Row", "before", "after"),
    ]


def test_a_statement_that_makes_several_sneak_paths_names_them() -> None:
    sneaks = (SneakPath("lost", "done", (OPENED,)), SneakPath("done", "done", (OPENED,)))
    shown = panel(replace(written_by(SURVIVED, DONE, OPENED), sneak_paths=sneaks)).statement
    assert shown is not None
    assert shown.warning == "Also makes the sneak paths Lost → Done, Done → Done."


# --- The column and the header


@pytest.mark.parametrize(
    ("verdict", "heading"),
    [(Verdict.NOT_PROVEN, "What keeps it red"), (Verdict.WALKED, "What keeps it from being proven")],
)
def test_reasons_are_headed_by_what_they_keep_from(verdict: Verdict, heading: str) -> None:
    assert column_of(replace(SURVIVED, verdict=verdict)).reasons_heading == heading


@pytest.mark.parametrize(
    ("rung", "told"),
    [
        ("missing", "missing, walks: 0, kills survived: –"),
        ("written", "written, walks: 0, kills survived: –"),
        ("not_written", "not written, walks: 1, kills survived: –"),
        ("walked", "walked, walks: 1, kills survived: –"),
        ("not_survived", "not survived, walks: 1, kills survived: 0 of 2"),
        ("survived", "survived, walks: 1, kills survived: 2 of 2"),
    ],
)
def test_a_row_of_the_list_is_spoken_with_its_rung(rung: str, told: str) -> None:
    row = column_of(build_evidence(RUNS, {(None, "open"): rung})).rows[0]
    assert row.spoken == f"created → Open: {told}"


def test_a_row_that_a_guard_keeps_is_spoken_as_guarded() -> None:
    row = column_of(replace(SURVIVED, guard=Guard(9, 9))).rows[0]
    assert row.spoken == "created → Open: guarded, walks: 1, kills survived: 2 of 2"


def test_a_sneak_path_is_spoken_as_one() -> None:
    (row,) = column_of(replace(SURVIVED, sneak_paths=(SneakPath("done", "open", (OPENED,)),))).sneaks
    assert row.spoken == "Done → Open: sneak path, possible"


@pytest.mark.parametrize(
    ("kind", "one", "two"),
    [
        (
            DifferenceKind.CHANGED,
            "A source has changed since: a.sql.",
            "2 sources have changed since: a.sql, b.sql.",
        ),
        (DifferenceKind.GONE, "A source is gone: a.sql.", "2 sources are gone: a.sql, b.sql."),
        (DifferenceKind.NEW, "A source is new: a.sql.", "2 sources are new: a.sql, b.sql."),
        (
            DifferenceKind.UNREADABLE,
            "A source cannot be read: a.sql.",
            "2 sources cannot be read: a.sql, b.sql.",
        ),
    ],
)
def test_sources_that_differ_are_told_by_kind_and_number(kind: DifferenceKind, one: str, two: str) -> None:
    differences = [Difference(kind, "a.sql"), Difference(kind, "b.sql")]
    assert stale_reasons(differences[:1], load_language()) == (one,)
    assert stale_reasons(differences, load_language()) == (two,)
