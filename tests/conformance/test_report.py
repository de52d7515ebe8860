from __future__ import annotations

from dataclasses import replace

from arrowproof.conformance.report import (
    NO_ENVIRONMENT,
    accepted_sneak_paths,
    fate,
    figures,
    kill_tally,
    open_sneak_paths,
    stable_evidence,
    walk_tally,
)
from arrowproof.model.evidence import Evidence, Guard, SneakPath
from arrowproof.model.lifecycle import Lifecycle


def test_tallies_count_what_went_right_of_what_was_made(broken_evidence: Evidence) -> None:
    _, completed, retried, failed, *_ = broken_evidence.transitions

    assert [str(walk_tally(it)) for it in (completed, retried, failed)] == ["1 of 1", "0 of 1", "0 of 0"]
    assert [str(kill_tally(it)) for it in (completed, retried, failed)] == ["1 of 2", "2 of 2", "0 of 0"]


def test_an_accepted_sneak_path_is_listed_and_not_counted(broken_evidence: Evidence) -> None:
    assert figures(broken_evidence)["sneak paths"] == "2"
    assert [fate(path) for path in open_sneak_paths(broken_evidence)] == ["happened once, possible", "possible"]
    assert [path.source for path in accepted_sneak_paths(broken_evidence)] == ["completed"]


def test_two_runs_that_differ_in_time_and_processes_have_one_stable_form(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    def later(evidence: Evidence) -> Evidence:
        created, *rest = evidence.transitions
        walk = created.walks[0]
        moved = replace(
            walk,
            key=(("id", 77),),
            processes=tuple(replace(process, pid=99_999) for process in walk.processes),
            after=tuple(
                (name, "2031-01-01T00:00:00Z" if name == "next_run_at" else it) for name, it in walk.after or ()
            ),
            journal=tuple(replace(row, order=500, key=(("id", 77),)) for row in walk.journal),
        )
        kill = replace(created.kills[0], key=(("id", 78),), processes=())
        kill = replace(kill, processes=tuple(replace(it, pid=1) for it in created.kills[0].processes))
        return replace(
            evidence,
            started="2031-01-01T00:00:00Z",
            seconds=99.0,
            environment=replace(evidence.environment, python="3.13.0", platform="Darwin arm64"),
            transitions=(
                replace(created, walks=(moved, *created.walks[1:]), kills=(kill, *created.kills[1:])),
                *rest,
            ),
        )

    assert later(note_evidence) != note_evidence
    assert stable_evidence(later(note_evidence), note_job) == stable_evidence(note_evidence, note_job)


def test_a_state_or_a_watched_column_that_differs_shows_in_the_stable_form(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    created, *rest = note_evidence.transitions
    walk = replace(created.walks[0], after=(("id", 1), ("status", "pending"), ("attempts", 5), ("next_run_at", None)))
    other = replace(note_evidence, transitions=(replace(created, walks=(walk, *created.walks[1:])), *rest))

    assert stable_evidence(other, note_job) != stable_evidence(note_evidence, note_job)


def test_the_stable_form_says_nothing_of_the_machine(note_job: Lifecycle, note_evidence: Evidence) -> None:
    assert stable_evidence(note_evidence, note_job).environment == NO_ENVIRONMENT


def test_a_guard_and_a_race_are_told_where_there_is_one(note_evidence: Evidence) -> None:
    (statement,) = note_evidence.transitions[1].written
    path = SneakPath("failed", "completed", (statement,), only_in_race=True)

    assert "undeclared writes refused" not in figures(note_evidence)
    assert figures(replace(note_evidence, guard=Guard(58, 57)))["undeclared writes refused"] == "57 of 58"
    assert fate(path) == "possible in a race"
