from __future__ import annotations

from dataclasses import replace

from arrowproof.conformance.coverage import measure_coverage, walked_pairs
from arrowproof.model.evidence import Coverage, Share, Side, TransitionEvidence
from arrowproof.model.lifecycle import Lifecycle

Transitions = tuple[TransitionEvidence, ...]


def pick(transitions: Transitions, source: str | None, target: str | None) -> TransitionEvidence:
    return next(it for it in transitions if (it.source, it.target) == (source, target))


def swap(transitions: Transitions, new: TransitionEvidence) -> Transitions:
    return tuple(new if (it.source, it.target) == (new.source, new.target) else it for it in transitions)


def shares(coverage: Coverage) -> list[Share]:
    return [coverage.transitions, coverage.states, coverage.arrows, coverage.pairs, coverage.kills]


def test_a_whole_run_covers_transitions_states_arrows_and_kills(
    note_job: Lifecycle, note_transitions: Transitions
) -> None:
    coverage = measure_coverage(note_job, note_transitions)

    assert coverage.transitions == Share(7, 7)
    assert coverage.states == Share(4, 4)
    assert coverage.arrows == Share(6, 6)
    assert coverage.kills == Share(14, 14)


def test_the_pairs_are_those_walked_in_turn_on_one_row(note_job: Lifecycle, note_transitions: Transitions) -> None:
    # Not taken: pending -> retry_wait, then failed; retry_wait -> retry_wait, then itself again or completed.
    assert measure_coverage(note_job, note_transitions).pairs == Share(6, 9)


def test_nothing_walked_covers_nothing(note_job: Lifecycle, unwalked: Transitions) -> None:
    coverage = measure_coverage(note_job, unwalked)

    assert [share.covered for share in shares(coverage)] == [0, 0, 0, 0, 0]
    assert [share.total for share in shares(coverage)] == [7, 4, 6, 9, 14]


def test_a_walk_that_went_wrong_covers_nothing(note_job: Lifecycle, note_transitions: Transitions) -> None:
    exhausted = pick(note_transitions, "pending", "failed")
    wrong = replace(exhausted, walks=tuple(replace(walk, problem="two rows changed") for walk in exhausted.walks))
    coverage = measure_coverage(note_job, swap(note_transitions, wrong))

    assert coverage.transitions == Share(6, 7)
    assert coverage.pairs == Share(5, 9)
    assert coverage.arrows == Share(6, 6), "exhaust is still on the path of retry_wait -> failed"


def test_a_run_in_which_every_walk_went_wrong_covers_no_state_and_no_arrow(
    note_job: Lifecycle, note_transitions: Transitions
) -> None:
    wrong = tuple(
        replace(it, kills=(), walks=tuple(replace(walk, problem="two rows changed") for walk in it.walks))
        for it in note_transitions
    )

    assert [share.covered for share in shares(measure_coverage(note_job, wrong))] == [0, 0, 0, 0, 0]


def test_an_arrow_is_covered_only_by_a_path_that_a_walk_took(
    note_job: Lifecycle, note_transitions: Transitions
) -> None:
    created = pick(note_transitions, None, "pending")
    two_ways = replace(created, paths=(("accept",), ("import",)))
    arrows = (*note_job.arrows, replace(note_job.arrows[0], id="import"))
    coverage = measure_coverage(replace(note_job, arrows=arrows), swap(note_transitions, two_ways))

    assert coverage.arrows == Share(6, 7)
    assert coverage.transitions == Share(7, 7)


def test_a_path_that_the_transition_does_not_have_covers_no_arrow(
    note_job: Lifecycle, note_transitions: Transitions
) -> None:
    created = pick(note_transitions, None, "pending")
    made_up = replace(created, walks=tuple(replace(walk, path=("exhaust", "accept")) for walk in created.walks))

    assert measure_coverage(note_job, swap(note_transitions, made_up)).arrows == Share(5, 6)


def test_steps_on_different_rows_make_no_pair(note_transitions: Transitions) -> None:
    walks = [walk for transition in note_transitions for walk in transition.walks]
    apart = [replace(walk, key=(("id", at),)) for at, walk in enumerate(walks)]

    assert walked_pairs(walks)
    assert walked_pairs(apart) == frozenset()


def test_a_step_that_went_wrong_parts_its_neighbours(note_transitions: Transitions) -> None:
    retried = pick(note_transitions, "retry_wait", "retry_wait")
    wrong = replace(retried, walks=tuple(replace(walk, problem="the row vanished") for walk in retried.walks))
    pairs = walked_pairs(walk for transition in swap(note_transitions, wrong) for walk in transition.walks)

    assert (("pending", "retry_wait"), ("retry_wait", "retry_wait")) not in pairs
    assert (("pending", "retry_wait"), ("retry_wait", "failed")) not in pairs


def test_a_removed_row_that_is_created_again_makes_no_pair(note_transitions: Transitions) -> None:
    first, second = pick(note_transitions, None, "pending").walks[:2]
    removed = replace(first, source="pending", target=None)

    assert walked_pairs([removed, replace(second, key=first.key)]) == frozenset()


def test_each_kill_counts_and_a_side_without_one_is_not_survived(
    note_job: Lifecycle, note_transitions: Transitions
) -> None:
    done = pick(note_transitions, "pending", "completed")
    before, after = done.kills
    lost = replace(done, kills=(before, after, replace(after, problem="the commit was lost")))

    assert after.side is Side.AFTER
    assert measure_coverage(note_job, swap(note_transitions, lost)).kills == Share(14, 15)
    assert measure_coverage(note_job, swap(note_transitions, replace(done, kills=(before,)))).kills == Share(13, 14)
