from __future__ import annotations

from dataclasses import replace

from arrowproof.conformance.baseline import Baseline, baseline_of
from arrowproof.conformance.comparison import StatementFate, Tone, compare, parts_of, verdict_words
from arrowproof.model.evidence import Evidence, Guard, Place, SneakPath, Statement, TransitionEvidence


def texts(before: Evidence, after: Evidence) -> dict[str, list[str]]:
    """Every change in words, by the heading that it stands under."""
    found = parts_of(compare(baseline_of(before), baseline_of(after)))
    return {part.title: [line.text for line in part.lines] for part in found}


def rewritten(evidence: Evidence, at: int, *written: Statement) -> Evidence:
    """The evidence whose transition at this place is written by these statements."""
    transitions = list(evidence.transitions)
    transitions[at] = replace(transitions[at], written=written)
    return replace(evidence, transitions=tuple(transitions))


def without(evidence: Evidence, at: int) -> Evidence:
    return replace(evidence, transitions=evidence.transitions[:at] + evidence.transitions[at + 1 :])


def test_a_proof_compared_with_itself_has_not_changed(note_evidence: Evidence) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(note_evidence))

    assert comparison.is_empty
    assert verdict_words(comparison) == "Nothing has changed; the verdict was proven as well."


def test_times_keys_and_processes_are_no_change(note_evidence: Evidence) -> None:
    later = replace(note_evidence, started="2031-01-01T00:00:00Z", seconds=99.0)

    assert compare(baseline_of(note_evidence), baseline_of(later)).is_empty


def test_what_a_change_of_the_service_has_broken_is_told_with_the_worst_first(
    note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    changes = texts(note_evidence, broken_evidence)

    assert verdict_words(compare(baseline_of(note_evidence), baseline_of(broken_evidence))) == (
        "The verdict was proven and is now not proven."
    )
    assert changes["Sneak paths"] == [
        "failed -> completed: new, happened",
        "completed -> completed: new, possible",
        "completed -> removed: new, accepted",
    ]
    assert changes["Transitions"][0] == "pending -> completed: no longer proven, not survived (was survived)"
    assert changes["Transitions"][-1] == "retry_wait -> completed: walked (was survived)"
    assert changes["Statements"] == ["sql/archive.sql:4: new", "sql/odd.sql:5: new", "sql/worker.sql:38: changed"]
    assert "kills survived: 7 of 14 (was 14 of 14)" in changes["Coverage"]


def test_what_has_been_mended_is_told_as_newly_proven_and_gone(
    note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    comparison = compare(baseline_of(broken_evidence), baseline_of(note_evidence))
    tones = {str(change.pair): change.tone for change in (*comparison.transitions, *comparison.sneak_paths)}

    assert (
        "pending -> failed: newly proven, survived (was written)"
        in texts(broken_evidence, note_evidence)["Transitions"]
    )
    assert "failed -> completed: gone (was happened)" in texts(broken_evidence, note_evidence)["Sneak paths"]
    assert tones["('pending', 'failed')"] is Tone.BETTER
    assert tones["('failed', 'completed')"] is Tone.BETTER
    assert tones["('completed', None)"] is Tone.NEITHER


def test_a_transition_that_is_drawn_or_no_longer_drawn_is_told_as_such(note_evidence: Evidence) -> None:
    smaller = without(note_evidence, 3)

    assert texts(smaller, note_evidence)["Transitions"] == ["pending -> failed: new in the model, survived"]
    assert texts(note_evidence, smaller)["Transitions"] == ["pending -> failed: no longer in the model (was survived)"]


def test_a_sneak_path_that_the_owner_accepts_is_no_longer_for_the_worse(note_evidence: Evidence) -> None:
    (statement,) = note_evidence.transitions[1].written
    path = SneakPath("failed", "completed", (statement,))
    before = replace(note_evidence, sneak_paths=(path,))
    after = replace(note_evidence, sneak_paths=(replace(path, accepted="it is undone by hand"),))
    (change,) = compare(baseline_of(before), baseline_of(after)).sneak_paths

    assert (change.before, change.after, change.tone) == ("possible", "accepted", Tone.BETTER)


def test_a_sneak_path_that_only_a_race_makes_any_longer_is_for_the_better(note_evidence: Evidence) -> None:
    (statement,) = note_evidence.transitions[1].written
    before = replace(note_evidence, sneak_paths=(SneakPath("failed", "completed", (statement,)),))
    after = replace(note_evidence, sneak_paths=(replace(before.sneak_paths[0], only_in_race=True),))
    better, worse = (
        compare(baseline_of(one), baseline_of(two)).sneak_paths[0] for one, two in ((before, after), (after, before))
    )

    assert (better.after, better.tone, worse.tone) == ("possible in a race", Tone.BETTER, Tone.WORSE)


def test_the_same_text_on_another_line_is_no_change(note_evidence: Evidence) -> None:
    def moved(transition: TransitionEvidence) -> TransitionEvidence:
        written = tuple(replace(it, place=replace(it.place, line=it.place.line + 7)) for it in transition.written)
        return replace(transition, written=written)

    later = replace(note_evidence, transitions=tuple(map(moved, note_evidence.transitions)))

    assert compare(baseline_of(note_evidence), baseline_of(later)).is_empty


def test_the_same_text_in_another_file_has_moved(note_evidence: Evidence) -> None:
    (statement,) = note_evidence.transitions[0].written
    later = rewritten(note_evidence, 0, replace(statement, place=Place("db/jobs.sql", 3, "insert_job")))

    assert texts(note_evidence, later) == {"Statements": ["db/jobs.sql:3: moved from sql/accept.sql:12"]}


def test_another_text_under_the_same_name_has_changed_wherever_it_stands_in_the_file(note_evidence: Evidence) -> None:
    (statement,) = note_evidence.transitions[0].written
    place = replace(statement.place, line=40)
    later = rewritten(note_evidence, 0, Statement(place, f"{statement.sql} -- and more"))
    (change,) = compare(baseline_of(note_evidence), baseline_of(later)).statements

    assert (change.fate, change.before, change.after) == (StatementFate.CHANGED, statement.place, place)


def test_of_two_equal_statements_of_which_one_goes_one_is_gone(note_evidence: Evidence) -> None:
    (statement,) = note_evidence.transitions[0].written
    twice = rewritten(note_evidence, 0, statement, replace(statement, place=Place("sql/accept.sql", 90)))

    assert texts(twice, note_evidence) == {"Statements": ["sql/accept.sql:90: gone"]}


def test_a_share_that_one_proof_did_not_measure_is_told_as_such(note_evidence: Evidence) -> None:
    before: Baseline = baseline_of(note_evidence)
    before = replace(before, coverage={name: it for name, it in before.coverage.items() if name != "pairs"})
    (part,) = parts_of(compare(before, baseline_of(note_evidence)))

    assert [line.text for line in part.lines] == ["transition pairs: 6 of 9 (was not measured)"]


def test_a_guard_that_refuses_less_or_is_new_is_told(note_evidence: Evidence) -> None:
    before, after = (replace(note_evidence, guard=Guard(58, refused)) for refused in (58, 55))
    assert texts(before, after)["Coverage"] == ["undeclared writes refused: 55 of 58 (was 58 of 58)"]
    assert texts(note_evidence, after)["Coverage"] == ["undeclared writes refused: 55 of 58 (was not measured)"]


def test_another_version_of_the_model_is_said_even_if_nothing_else_differs(note_evidence: Evidence) -> None:
    later = replace(note_evidence, model_sha256="00" * 32)

    assert verdict_words(compare(baseline_of(note_evidence), baseline_of(later))) == (
        "Nothing has changed; the verdict was proven as well. The lifecycle file is another version."
    )
