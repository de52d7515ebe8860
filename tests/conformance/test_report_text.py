from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console

from arrowproof.conformance.baseline import baseline_of
from arrowproof.conformance.comparison import compare
from arrowproof.conformance.report_text import REASONS_SHOWN, report_text
from arrowproof.conformance.verdict import judge
from arrowproof.model.evidence import Evidence, Place, Verdict
from arrowproof.model.lifecycle import Lifecycle

Golden = Callable[[str, str], None]


def printed(evidence: Evidence, lifecycle: Lifecycle, *, terminal: bool, width: int = 60) -> str:
    """What a console of ``width`` columns shows."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, color_system="standard" if terminal else None)
    console.print(report_text(evidence, lifecycle), soft_wrap=True)
    return stream.getvalue()


def test_the_report_of_a_proof_is_the_golden_one(
    note_job: Lifecycle, note_evidence: Evidence, assert_golden: Golden
) -> None:
    assert_golden("proven.report.txt", printed(note_evidence, note_job, terminal=False))


def test_the_report_of_a_broken_service_is_the_golden_one(
    lenient_job: Lifecycle, broken_evidence: Evidence, assert_golden: Golden
) -> None:
    assert_golden("broken.report.txt", printed(broken_evidence, lenient_job, terminal=False))


def test_the_verdict_is_the_first_line(note_job: Lifecycle, note_evidence: Evidence) -> None:
    firsts = [
        report_text(replace(note_evidence, verdict=verdict), note_job).plain.split("\n")[0] for verdict in Verdict
    ]

    assert firsts == [
        "Proven: Note job, 7 of 7 transitions walked",
        "Walked, not proven: Note job, 7 of 7 transitions walked",
        "Not proven: Note job, 7 of 7 transitions walked",
    ]


def test_it_is_plain_when_piped_and_styled_on_a_terminal(note_job: Lifecycle, note_evidence: Evidence) -> None:
    assert "\x1b[" not in printed(note_evidence, note_job, terminal=False)
    assert "\x1b[1;32mProven\x1b[0m" in printed(note_evidence, note_job, terminal=True)


def test_no_console_is_too_narrow_for_file_and_line(lenient_job: Lifecycle, broken_evidence: Evidence) -> None:
    created, *rest = broken_evidence.transitions
    deep = Place("services/notes/storage/queries/" + "nested/" * 12 + "accept.sql", 12)
    written = (replace(created.written[0], place=deep),)
    evidence = replace(broken_evidence, transitions=(replace(created, written=written), *rest))

    assert f"{deep.file}:12\n" in printed(evidence, lenient_job, terminal=False, width=20)


def test_labels_drive_neither_the_terminal_nor_the_markup(note_job: Lifecycle, note_evidence: Evidence) -> None:
    shown = printed(note_evidence, replace(note_job, title="[red]Job[/red] \x1b[2J:boom:"), terminal=False)

    assert shown.startswith("Proven: [red]Job[/red] <U+001B>[2J:boom:, 7 of 7")


def test_one_cause_of_many_reasons_is_printed_once_and_its_others_counted(
    note_job: Lifecycle, failing_evidence: Evidence
) -> None:
    lines = report_text(failing_evidence, note_job).plain.split("\n")
    start = lines.index("What keeps it from being proven")

    assert lines[start + 1 : start + 5] == [
        "  created -> pending is not walked: The driver failed: RuntimeError: no such route (driver.py:12)"
        " The journal holds nothing (written at sql/accept.sql:12).",
        "    and 20 more for the same reason",
        "  The journal's triggers no longer stand.",
        "",
    ]


def test_where_no_kill_was_made_none_is_counted(note_job: Lifecycle, note_evidence: Evidence) -> None:
    walked = tuple(replace(transition, kills=()) for transition in note_evidence.transitions)
    assert "kills survived" in report_text(note_evidence, note_job).plain
    assert "kills survived" not in report_text(replace(note_evidence, transitions=walked), note_job).plain


def test_one_cause_at_many_rows_is_printed_once(note_job: Lifecycle, failing_evidence: Evidence) -> None:
    transitions = tuple(
        replace(
            transition,
            walks=(replace(transition.walks[0], problem=f"a -> b was asked of one row (id={number}); also came c."),),
            kills=(),
        )
        for number, transition in enumerate(failing_evidence.transitions)
    )
    reasons = judge(transitions)[1]
    text = report_text(replace(failing_evidence, transitions=transitions, reasons=reasons), note_job).plain

    assert text.count("asked of one row") == 1
    assert f"and {len(transitions) - 1} more for the same reason" in text


def test_a_cause_of_another_text_is_another_reason(note_job: Lifecycle, failing_evidence: Evidence) -> None:
    created, *rest = failing_evidence.transitions
    other = replace(created, walks=(replace(created.walks[0], problem="The driver gave up without a reason."),))
    transitions = (other, *rest)
    reasons = judge(transitions)[1]
    text = report_text(replace(failing_evidence, transitions=transitions, reasons=reasons), note_job).plain

    assert text.count("gave up without a reason") == 1
    assert text.count("RuntimeError") == 1
    assert "and 19 more for the same reason" in text


def test_a_thousand_reasons_are_counted_and_not_all_printed(note_job: Lifecycle, note_evidence: Evidence) -> None:
    reasons = tuple(f"Sneak path a -> s{number} is possible." for number in range(1000))
    text = report_text(replace(note_evidence, verdict=Verdict.WALKED, reasons=reasons), note_job).plain

    assert text.count("Sneak path") == REASONS_SHOWN
    assert f"and {1000 - REASONS_SHOWN} more" in text


def test_what_has_changed_since_an_earlier_proof_stands_ahead_of_the_reasons(
    lenient_job: Lifecycle, note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))
    lines = report_text(broken_evidence, lenient_job, comparison).plain.split("\n")

    assert lines[3:7] == [
        "Since the baseline",
        "  The verdict was proven and is now not proven.",
        "  Sneak paths",
        "    failed -> completed: new, happened",
    ]
    assert lines.index("Since the baseline") < lines.index("What keeps it from being proven")


def test_of_very_many_changes_it_says_how_many_it_leaves_out(note_job: Lifecycle, note_evidence: Evidence) -> None:
    created, *_ = note_evidence.transitions
    many = replace(note_evidence, transitions=tuple(replace(created, source=str(number)) for number in range(100)))
    text = report_text(many, note_job, compare(baseline_of(note_evidence), baseline_of(many))).plain

    assert f"    and {107 - REASONS_SHOWN} more, in the reports\n" in text
