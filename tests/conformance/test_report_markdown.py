from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from markdown_it import MarkdownIt

from arrowproof.conformance.baseline import baseline_of
from arrowproof.conformance.comparison import compare
from arrowproof.conformance.report_markdown import MAX_BYTES, report_markdown
from arrowproof.model.evidence import DynamicTarget, Evidence, Guard, Place, SneakPath, Statement, Undecided, Verdict
from arrowproof.model.lifecycle import Lifecycle

Golden = Callable[[str, str], None]

GITHUB_LIMIT = 65_536
READER = MarkdownIt("commonmark").enable("table")


def test_the_report_of_a_proof_is_the_golden_one(
    note_job: Lifecycle, note_evidence: Evidence, assert_golden: Golden
) -> None:
    assert_golden("proven.report.md", report_markdown(note_evidence, note_job))


def test_the_report_of_what_a_change_has_broken_is_the_golden_one(
    lenient_job: Lifecycle, note_evidence: Evidence, broken_evidence: Evidence, assert_golden: Golden
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))

    assert_golden("broken.report.md", report_markdown(broken_evidence, lenient_job, comparison))


def test_the_verdict_comes_first_then_the_changes_and_what_keeps_it_from_being_proven(
    lenient_job: Lifecycle, note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))
    text = report_markdown(broken_evidence, lenient_job, comparison)
    order = [
        "❌ Not proven: Note job",
        "### Since the baseline",
        "no longer proven",
        "### What keeps it from being proven",
        "### Sneak paths",
        "<summary>Every transition (7)</summary>",
        "<summary>Accepted sneak paths (1)</summary>",
        "<summary>Statements that the scan cannot decide (1)</summary>",
        "<summary>Environment and sources</summary>",
    ]

    found = [text.index(part) for part in order]
    assert found == sorted(found)
    assert text.startswith("## ❌")


def test_every_verdict_has_a_sign_of_its_own(note_job: Lifecycle, note_evidence: Evidence) -> None:
    signs = {
        verdict: report_markdown(replace(note_evidence, verdict=verdict), note_job).split()[1] for verdict in Verdict
    }

    assert signs == {Verdict.PROVEN: "✅", Verdict.WALKED: "⚠️", Verdict.NOT_PROVEN: "❌"}


def test_every_table_is_read_as_one_and_every_fold_is_closed(
    lenient_job: Lifecycle, note_evidence: Evidence, broken_evidence: Evidence
) -> None:
    comparison = compare(baseline_of(note_evidence), baseline_of(broken_evidence))
    page = READER.render(report_markdown(broken_evidence, lenient_job, comparison))

    assert page.count("<table>") == 5
    assert page.count("<details>") == page.count("</details>") == 4
    assert "|" not in re.sub(r"<[^>]*>", "", page)


def huge(evidence: Evidence) -> Evidence:
    """The evidence of a service with far more in every list than a comment holds, in signs of four bytes."""
    name = "𝕏" * 200
    statement = Statement(Place(f"{name}.sql", 1, name), "UPDATE jobs SET status = 'x'")
    (created, *_) = evidence.transitions
    numbers = range(900)
    return replace(
        evidence,
        model_title=name * 9,
        transitions=tuple(replace(created, source=f"{name}{n}", written=(statement,) * 9) for n in numbers),
        sneak_paths=tuple(SneakPath(f"{name}{n}", name, (statement,), (), name if n % 2 else None) for n in numbers),
        undecided=tuple(Undecided(statement, name * 5) for _ in numbers),
        reasons=tuple(f"{n} {name * 5}" for n in numbers),
        verdict=Verdict.NOT_PROVEN,
        sources=evidence.sources * 300,
    )


def test_it_fits_a_comment_on_github_however_much_was_found_and_no_list_is_missing(
    note_job: Lifecycle, note_evidence: Evidence
) -> None:
    found = huge(note_evidence)
    text = report_markdown(found, note_job, compare(baseline_of(note_evidence), baseline_of(found)))

    assert len(text.encode("utf-8")) <= MAX_BYTES < GITHUB_LIMIT
    for heading in ("Since the baseline", "What keeps it", "### Sneak paths", "Every transition (900)", "Accepted"):
        assert heading in text, heading
    lists = re.findall(r"^(.*)\n(?:- |\| )and \d+ more, in the report", text, re.MULTILINE)
    assert len(lists) >= 8
    assert all(row.startswith(("- ", "| `")) for row in lists), lists
    assert text.count("<details>") == text.count("</details>")
    assert text.endswith("</details>\n")


def test_a_short_report_leaves_nothing_out(lenient_job: Lifecycle, broken_evidence: Evidence) -> None:
    assert "more, in the report" not in report_markdown(broken_evidence, lenient_job)


def test_names_that_mean_something_on_github_stay_names(note_job: Lifecycle, note_evidence: Evidence) -> None:
    bad = "@octocat <script>#1</script> | `x` [a](http://b) </details>"
    created, *rest = note_evidence.transitions
    statement = Statement(Place(bad, 1, bad), bad)
    evidence = replace(
        note_evidence,
        model_title=bad,
        transitions=(replace(created, source=bad, written=(statement,)), *rest),
        sneak_paths=(SneakPath(bad, bad, (statement,), accepted=bad), SneakPath(bad, "x", (statement,))),
        undecided=(Undecided(statement, bad),),
        reasons=(bad,),
    )
    page = READER.render(
        report_markdown(
            evidence, replace(note_job, title=bad), compare(baseline_of(note_evidence), baseline_of(evidence))
        )
    )

    assert "<script" not in page
    assert "<a " not in page
    assert page.count("</details>") == 4
    assert re.search(r"(@octocat|#1)", re.sub(r"<code>.*?</code>", "", page)) is None


def test_a_statement_whose_target_a_guard_settles_says_so(note_job: Lifecycle, note_evidence: Evidence) -> None:
    dynamic = DynamicTarget(Statement(Place("sql/move.sql", 3), "UPDATE jobs SET status = :to"), ("pending",), "why")
    evidence = replace(note_evidence, guard=Guard(58, 58), dynamic=(dynamic,))

    assert "| `sql/move.sql:3` | why; the guard refuses every other target |" in report_markdown(evidence, note_job)
