"""The report for the terminal: the verdict first, then what keeps it from being better, then every transition.

Lines are never wrapped, so that each ``file:line`` stays whole and can be clicked or grepped; print the text with
``soft_wrap=True``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from arrowproof.conformance.comparison import Comparison, Tone, parts_of, verdict_words
from arrowproof.conformance.display import one_line, places_text
from arrowproof.conformance.report import (
    accepted_sneak_paths,
    fate,
    figures,
    grouped_reasons,
    kill_tally,
    remarks,
    stale_words,
    walk_tally,
)
from arrowproof.conformance.verdict import candidates
from arrowproof.model.evidence import Evidence, TransitionEvidence, Verdict
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.rung import Rung, rung_of
from arrowproof.model.transitions import transition_name

REASONS_SHOWN = 40
"""Reasons, and changes of one kind, that are printed; the line after them says how many more there are."""

_VERDICTS = {
    Verdict.PROVEN: ("Proven", "bold green"),
    Verdict.WALKED: ("Walked, not proven", "bold yellow"),
    Verdict.NOT_PROVEN: ("Not proven", "bold red"),
}
_CHANGE_STYLES = {Tone.WORSE: "bold red", Tone.BETTER: "green", Tone.NEITHER: ""}
_TONES = {"wrong": "bold red", "gap": "bold yellow", "holds": "green"}


def report_text(
    evidence: Evidence, lifecycle: Lifecycle, comparison: Comparison | None = None, stale: Sequence[str] = ()
) -> Text:
    """The report as one styled text of several lines, without a line feed at the end; ``.plain`` has no styles.

    With a comparison it says what has changed since an earlier proof, ahead of everything but the verdict. ``stale``
    says in what the evidence is not of today, one sentence each.
    """
    lines = [*_head(evidence, lifecycle, stale), *_changes(comparison), *_reasons(evidence), *_accepted(evidence)]
    return Text("\n").join([*lines, *_remarks(evidence), *_table(evidence)])


def _head(evidence: Evidence, lifecycle: Lifecycle, stale: Sequence[str]) -> Iterator[Text]:
    word, style = (stale_words(evidence), "bold red") if stale else _VERDICTS[evidence.verdict]
    walked, *others = [f"{figure} {what}" for what, figure in figures(evidence).items() if what != "sneak paths"]
    open_paths = figures(evidence)["sneak paths"]
    yield Text.assemble((word, style), f": {one_line(lifecycle.title)}, {walked} walked")
    yield Text(f"{', '.join(others)}, {open_paths} sneak path{'' if open_paths == '1' else 's'}")
    yield from (Text(one_line(sentence), style="bold red") for sentence in stale)


def _changes(comparison: Comparison | None) -> Iterator[Text]:
    if comparison is None:
        return
    yield Text("\nSince the baseline", style="bold")
    yield Text(f"  {verdict_words(comparison)}")
    for part in parts_of(comparison):
        yield Text(f"  {part.title}")
        for line in part.lines[:REASONS_SHOWN]:
            yield Text(f"    {one_line(line.text)}", style=_CHANGE_STYLES[line.tone])
        more = len(part.lines) - REASONS_SHOWN
        if more > 0:
            yield Text(f"    and {more} more, in the reports")


def _reasons(evidence: Evidence) -> Iterator[Text]:
    if evidence.reasons:
        yield Text("\nWhat keeps it from being proven", style="bold")
        shown = grouped_reasons(evidence)[:REASONS_SHOWN]
        for reason in shown:
            yield Text(f"  {one_line(reason.text, 1000)}")
            if reason.alike:
                yield Text(f"    {reason.alike_text}")
        more = len(evidence.reasons) - sum(1 + reason.alike for reason in shown)
        if more > 0:
            yield Text(f"  and {more} more, in the reports")


def _accepted(evidence: Evidence) -> Iterator[Text]:
    paths = accepted_sneak_paths(evidence)
    if paths:
        yield Text("\nAccepted sneak paths", style="bold")
    for path in paths:
        places = places_text(statement.place for statement in path.possible)
        name = one_line(transition_name(path.source, path.target))
        yield Text(f"  {name} ({fate(path)}): {one_line(path.accepted or '')}{f' ({places})' if places else ''}")


def _remarks(evidence: Evidence) -> Iterator[Text]:
    for remark in remarks(evidence):
        yield Text(f"\n{remark.title}", style="bold")
        yield from (Text(f"  {one_line(line, 1000)}") for line in remark.lines[:REASONS_SHOWN])
        more = len(remark.lines) - REASONS_SHOWN
        if more > 0:
            yield Text(f"  and {more} more, in the reports")


def _table(evidence: Evidence) -> Iterator[Text]:
    rungs = [rung_of(transition, is_guarded=evidence.is_guarded) for transition in evidence.transitions]
    rows = [_cells(transition, rung, evidence) for transition, rung in zip(evidence.transitions, rungs, strict=True)]
    head = ("transition", "rung", "walks", "kills", "written at")
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(4)]
    yield Text("\n" + _line(head, widths), style="bold")
    for rung, row in zip(rungs, rows, strict=True):
        line = Text(_line(row, widths))
        start = 2 + widths[0] + 2
        line.stylize(_TONES[rung.tone], start, start + len(row[1]))
        yield line


def _cells(transition: TransitionEvidence, rung: Rung, evidence: Evidence) -> tuple[str, ...]:
    written = places_text(statement.place for statement in transition.written)
    perhaps = places_text(it.place for it in candidates(transition, evidence.undecided, evidence.dynamic))
    return (
        one_line(transition_name(transition.source, transition.target)),
        rung.words,
        str(walk_tally(transition)),
        str(kill_tally(transition)),
        written or (f"perhaps {perhaps}" if perhaps else "nowhere"),
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, rung, walks, kills, places = cells
    return f"  {name:<{widths[0]}}  {rung:<{widths[1]}}  {walks:>{widths[2]}}  {kills:>{widths[3]}}  {places}"
