from __future__ import annotations

from dataclasses import replace

from arrowproof.conformance.grid import Grid, Mark, build_grid
from arrowproof.model.evidence import DynamicTarget, Evidence, Guard, Place, SneakPath, Statement
from arrowproof.model.lifecycle import AcceptedSneakPath, Lifecycle

BY_PARAMETER = Statement(Place("sql/orm.sql", 8), "UPDATE jobs SET status = :status WHERE id = :id")


def mark(grid: Grid, source: str | None, target: str | None) -> Mark:
    return next(cell.mark for line in grid.lines for cell in line if (cell.source, cell.target) == (source, target))


def test_lines_are_left_and_columns_are_entered(note_job: Lifecycle, note_evidence: Evidence) -> None:
    grid = build_grid(note_evidence, note_job)

    assert grid.sources == (None, "pending", "retry_wait", "completed", "failed")
    assert grid.targets == ("pending", "retry_wait", "completed", "failed", None)
    assert [[cell.source for cell in line] for line in grid.lines] == [[source] * 5 for source in grid.sources]


def test_what_no_statement_makes_is_told_from_what_is_proven(note_job: Lifecycle, note_evidence: Evidence) -> None:
    grid = build_grid(note_evidence, note_job)

    assert grid.marks == (Mark.SURVIVED, Mark.IMPOSSIBLE)
    assert sum(cell.mark is Mark.SURVIVED for line in grid.lines for cell in line) == 7
    assert mark(grid, "failed", "completed") is Mark.IMPOSSIBLE


def test_each_kind_of_finding_has_its_mark(lenient_job: Lifecycle, broken_evidence: Evidence) -> None:
    grid = build_grid(broken_evidence, lenient_job)

    assert mark(grid, "failed", "completed") is Mark.HAPPENED
    assert mark(grid, "completed", "completed") is Mark.POSSIBLE
    assert mark(grid, "completed", None) is Mark.ACCEPTED
    assert mark(grid, "pending", "retry_wait") is Mark.WRITTEN
    assert mark(grid, "pending", "completed") is Mark.NOT_SURVIVED
    assert mark(grid, "retry_wait", "completed") is Mark.WALKED
    assert mark(grid, "retry_wait", "retry_wait") is Mark.NOT_WRITTEN
    assert mark(grid, "retry_wait", "failed") is Mark.MISSING


def test_an_undecided_statement_leaves_no_pair_impossible(lenient_job: Lifecycle, broken_evidence: Evidence) -> None:
    grid = build_grid(broken_evidence, lenient_job)

    assert mark(grid, "failed", "pending") is Mark.UNKNOWN
    assert [cell.target for line in grid.lines for cell in line if cell.mark is Mark.IMPOSSIBLE] == [None]


def test_a_dynamic_target_clouds_only_the_states_that_it_leaves(note_job: Lifecycle, note_evidence: Evidence) -> None:
    dynamic = DynamicTarget(BY_PARAMETER, ("failed",), "the target is :status")
    grid = build_grid(replace(note_evidence, dynamic=(dynamic,)), note_job)

    assert mark(grid, "failed", "completed") is Mark.UNKNOWN
    assert mark(grid, "failed", None) is Mark.IMPOSSIBLE, "a value that is written removes no row"
    assert mark(grid, "completed", "failed") is Mark.IMPOSSIBLE


def test_what_a_guard_refuses_is_told_whatever_the_statements_can_make(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    dynamic = DynamicTarget(BY_PARAMETER, ("failed",), "the target is :status")
    evidence = replace(note_evidence, dynamic=(dynamic,), guard=Guard(58, 58))
    accepting = replace(note_job, accepted_sneak_paths=(AcceptedSneakPath("failed", "completed", "why"),))

    assert build_grid(evidence, note_job).marks == (Mark.GUARDED, Mark.REFUSED)
    assert mark(build_grid(evidence, note_job), "failed", "completed") is Mark.REFUSED
    assert mark(build_grid(evidence, accepting), "failed", "completed") is Mark.UNKNOWN
    assert mark(build_grid(replace(evidence, guard=Guard(58, 57)), note_job), "failed", "completed") is Mark.UNKNOWN


def test_values_that_are_no_state_get_lines_and_columns_of_their_own(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    paths = (SneakPath("paused", "pending", (BY_PARAMETER,)), SneakPath("failed", "FAILED", (BY_PARAMETER,)))
    grid = build_grid(replace(note_evidence, sneak_paths=paths), note_job)

    assert grid.sources[-1] == "paused"
    assert grid.targets[-2:] == ("FAILED", None)
    assert mark(grid, "paused", "pending") is Mark.POSSIBLE
