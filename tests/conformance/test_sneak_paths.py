from __future__ import annotations

from dataclasses import replace

from arrowproof.conformance.sneak_paths import merge_sneak_paths
from arrowproof.model.evidence import JournalKind, JournalRow, Place, SneakPath, Statement
from arrowproof.model.lifecycle import AcceptedSneakPath, Lifecycle

UPDATE = Statement(Place("sql/worker.sql", 38), "UPDATE jobs SET status = 'completed' WHERE id = :id")
ADMIN = Statement(Place("sql/admin.sql", 3), "UPDATE jobs SET status = 'completed'")
SEEN = JournalRow(7, "update", JournalKind.CHANGED, (("id", 1),), "failed", "completed", (), ())


def test_what_is_possible_and_what_happened_become_one_sneak_path(note_job: Lifecycle) -> None:
    possible = [SneakPath("failed", "completed", possible=(UPDATE, ADMIN))]
    happened = [SneakPath("failed", "completed", happened=(SEEN,))]

    assert merge_sneak_paths(note_job, possible, happened) == (
        SneakPath("failed", "completed", possible=(UPDATE, ADMIN), happened=(SEEN,)),
    )


def test_the_same_statement_is_named_once(note_job: Lifecycle) -> None:
    path = SneakPath("failed", "completed", possible=(UPDATE,))

    assert merge_sneak_paths(note_job, [path], [path]) == (path,)


def test_an_accepted_sneak_path_carries_the_owners_reason(note_job: Lifecycle) -> None:
    model = replace(
        note_job, accepted_sneak_paths=(AcceptedSneakPath("failed", "completed", "an operator may close a job"),)
    )
    closed, reopened = merge_sneak_paths(
        model, [SneakPath("failed", "pending", possible=(UPDATE,)), SneakPath("failed", "completed", happened=(SEEN,))]
    )

    assert closed.accepted == "an operator may close a job"
    assert reopened.accepted is None


def test_acceptance_is_the_models_word_and_nobody_elses(note_job: Lifecycle) -> None:
    (path,) = merge_sneak_paths(note_job, [SneakPath("failed", "completed", possible=(UPDATE,), accepted="by me")])

    assert path.accepted is None


def test_what_the_matrix_does_not_accept_is_not_accepted(note_job: Lifecycle) -> None:
    model = replace(note_job, accepted_sneak_paths=(AcceptedSneakPath("failed", "completed", "by an operator"),))
    accepted = SneakPath("failed", "completed", possible=(UPDATE,), accepted="by an operator")
    objected = SneakPath("failed", "completed", possible=(ADMIN,))
    happened = SneakPath("failed", "completed", happened=(SEEN,))

    assert [path.accepted for path in merge_sneak_paths(model, [accepted], [happened])] == ["by an operator"]
    assert [path.accepted for path in merge_sneak_paths(model, [accepted, objected], [happened])] == [None]
    assert [path.accepted for path in merge_sneak_paths(model, [objected, accepted], [happened])] == [None]


def test_a_value_of_no_state_is_one_path_whether_scanned_or_journalled(note_job: Lifecycle) -> None:
    scanned = SneakPath("failed", "'it''s on hold'", possible=(UPDATE,))
    journalled = SneakPath("failed", "it's on hold", happened=(SEEN,))

    (path,) = merge_sneak_paths(note_job, [scanned], [journalled])
    assert (path.target, path.possible, path.happened) == ("it's on hold", (UPDATE,), (SEEN,))


def test_a_value_that_reads_like_the_id_of_a_state_with_another_value_stays_apart(note_job: Lifecycle) -> None:
    (path,) = merge_sneak_paths(note_job, [SneakPath("failed", "'completed'", possible=(UPDATE,))])

    assert path.target == "'completed'"


def test_the_order_is_happened_first_then_the_models(note_job: Lifecycle) -> None:
    found = [
        SneakPath("paused", "failed", possible=(UPDATE,)),
        SneakPath("failed", "completed", possible=(UPDATE,)),
        SneakPath("pending", None, possible=(UPDATE,)),
        SneakPath("completed", "pending", happened=(SEEN,)),
        SneakPath(None, "completed", possible=(UPDATE,)),
        SneakPath("pending", "pending", possible=(UPDATE,)),
    ]

    pairs = [(path.source, path.target) for path in merge_sneak_paths(note_job, reversed(found))]
    assert pairs == [
        ("completed", "pending"),
        (None, "completed"),
        ("pending", "pending"),
        ("pending", None),
        ("failed", "completed"),
        ("paused", "failed"),
    ]
