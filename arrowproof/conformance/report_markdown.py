"""The report as Markdown: a comment on a pull request, or the summary of a CI job.

The verdict comes first, then what has changed since an earlier proof when there was one to compare with, what keeps the
lifecycle from being proven, and sneak paths. Everything else is folded. A comment on GitHub holds 65,536 characters;
a report stays below that in bytes as well, by cutting lists, and every list that is cut says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from arrowproof.conformance.comparison import Comparison, Tone, parts_of, verdict_words
from arrowproof.conformance.display import one_line
from arrowproof.conformance.markdown import code, prose
from arrowproof.conformance.report import (
    CLOSED,
    accepted_sneak_paths,
    fate,
    figures,
    grouped_reasons,
    interleaving_tally,
    kill_tally,
    open_sneak_paths,
    open_statements,
    remarks,
    rivalries,
    stale_words,
    walk_tally,
)
from arrowproof.conformance.verdict import candidates
from arrowproof.model.evidence import (
    Evidence,
    SneakPath,
    Statement,
    TransitionEvidence,
    Verdict,
)
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.model.rung import rung_of
from arrowproof.model.transitions import transition_name

MAX_BYTES = 65_000
"""The size of a report, in bytes of UTF-8: a little below what GitHub takes in characters."""

RESERVED = 6_000
"""Bytes that a long list leaves to each list behind it, so that none is missing: the longest row has as many."""

PLACES_SHOWN = 3

_VERDICTS = {
    Verdict.PROVEN: "✅ Proven",
    Verdict.WALKED: "⚠️ Walked, not proven",
    Verdict.NOT_PROVEN: "❌ Not proven",
}
_MORE_ROWS = "| and {count} more, in the report |"
_SIGNS = {Tone.WORSE: "❌ ", Tone.BETTER: "✅ ", Tone.NEITHER: ""}


@record
class Section:
    """A part of the report: the lines that open it, its list, and the lines that close it."""

    opening: tuple[str, ...]
    rows: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()
    more: str = "- and {count} more, in the report"


def report_markdown(
    evidence: Evidence, lifecycle: Lifecycle, comparison: Comparison | None = None, stale: Sequence[str] = ()
) -> str:
    """The report of one proof as GitHub Flavored Markdown, of at most :data:`MAX_BYTES`."""
    sections = [
        _head(evidence, lifecycle, stale),
        *_changes(comparison),
        *_reasons(evidence),
        *_open_sneak_paths(evidence),
        *_remarks(evidence),
        _transitions(evidence),
        *_events(evidence),
        *_interleavings(evidence),
        *_accepted(evidence),
        *_undecided(evidence),
        _ground(evidence),
    ]
    return "\n".join(_fitted(sections)) + "\n"


def _fitted(sections: Sequence[Section]) -> Iterator[str]:
    """The lines of all sections, each list cut to what is left of the size."""
    left = MAX_BYTES - sum(_size(section.opening) + _size(section.closing) + 80 for section in sections)
    for at, section in enumerate(sections):
        behind = sum(min(RESERVED, _size(later.rows)) for later in sections[at + 1 :])
        shown = _that_fit(section.rows, left - behind)
        yield from section.opening
        yield from shown
        if len(shown) < len(section.rows):
            yield section.more.format(count=len(section.rows) - len(shown))
        yield from section.closing
        left -= _size(shown)


def _that_fit(rows: Sequence[str], room: int) -> Sequence[str]:
    for at, row in enumerate(rows):
        room -= _size((row,))
        if room < 0:
            return rows[:at]
    return rows


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _head(evidence: Evidence, lifecycle: Lifecycle, stale: Sequence[str]) -> Section:
    walked, *others = figures(evidence).items()
    said = [f"**{walked[1]}** {walked[0]} walked", *(f"{figure} {what}" for what, figure in others)]
    verdict = f"⚠️ {stale_words(evidence)}" if stale else _VERDICTS[evidence.verdict]
    warnings = ["**" + " ".join(prose(one_line(sentence)) for sentence in stale) + "**", ""] if stale else []
    return Section((f"## {verdict}: {prose(one_line(lifecycle.title))}", "", *warnings, ", ".join(said), ""))


def _changes(comparison: Comparison | None) -> Iterator[Section]:
    if comparison is None:
        return
    yield Section(("### Since the baseline", "", verdict_words(comparison), ""))
    for part in parts_of(comparison):
        name = code if part.is_literal else prose
        rows = tuple(f"- {_SIGNS[line.tone]}{name(line.name)}: {prose(line.words)}" for line in part.lines)
        yield Section((f"**{part.title}**", ""), rows, ("",))


def _reasons(evidence: Evidence) -> Iterator[Section]:
    reasons = grouped_reasons(evidence)
    if reasons:
        rows = tuple(
            f"- {prose(one_line(it.text, 1000))}" + (f" ({it.alike_text})" if it.alike else "") for it in reasons
        )
        yield Section(("### What keeps it from being proven", ""), rows, ("",))


def _open_sneak_paths(evidence: Evidence) -> Iterator[Section]:
    paths = open_sneak_paths(evidence)
    if paths:
        rows = tuple(_row(_name(path), fate(path), _places(path.possible) or "no statement read") for path in paths)
        yield Section(
            ("### Sneak paths", "", *_table("sneak path", "known", "can be made by")), rows, ("",), _MORE_ROWS
        )


def _remarks(evidence: Evidence) -> Iterator[Section]:
    for remark in remarks(evidence):
        rows = tuple(f"- {prose(one_line(line, 1000))}" for line in remark.lines)
        yield Section((f"### {remark.title}", ""), rows, ("",))


def _transitions(evidence: Evidence) -> Section:
    rows = tuple(_transition_row(it, evidence) for it in evidence.transitions)
    head = _table("transition", "rung", "walks", "kills survived", "written at")
    return _folded(f"Every transition ({len(rows)})", head, rows)


def _events(evidence: Evidence) -> Iterator[Section]:
    if evidence.events:
        rows = tuple(
            _row(
                code(one_line(it.event)),
                code(one_line(it.state)),
                prose(one_line(it.answer, 120)),
                "nothing" if it.problem is None else f"**{prose(one_line(it.problem))}**",
            )
            for it in evidence.events
        )
        head = _table("event", "fired in", "answer", "what it did")
        yield _folded(f"Illegal events ({evidence.coverage.events})", head, rows)


def _interleavings(evidence: Evidence) -> Iterator[Section]:
    found = rivalries(evidence)
    if found:
        # The wrong ones first: a long list is cut at its end.
        rows = tuple(
            _row(
                code(one_line(it.first)),
                it.moment,
                code(one_line(it.rival)),
                it.workers,
                it.others,
                code(one_line(it.outcome)) if it.problem is None else f"**{prose(one_line(it.problem))}**",
            )
            for it in sorted(found, key=lambda it: it.problem is None)
        )
        head = _table("first", "held", "others", "workers", "meanwhile", "what came")
        yield _folded(f"Several workers on one row ({interleaving_tally(evidence)})", head, rows)


def _transition_row(transition: TransitionEvidence, evidence: Evidence) -> str:
    rung = rung_of(transition, is_guarded=evidence.is_guarded)
    words = rung.words if rung.tone == "holds" else f"**{rung.words}**"
    tallies = str(walk_tally(transition)), str(kill_tally(transition))
    perhaps = _places(candidates(transition, evidence.undecided, evidence.dynamic))
    places = _places(transition.written) or (f"perhaps {perhaps}" if perhaps else "nowhere")
    return _row(_name(transition), words, *tallies, places)


def _accepted(evidence: Evidence) -> Iterator[Section]:
    paths = accepted_sneak_paths(evidence)
    if paths:
        rows = tuple(
            _row(_name(path), fate(path), prose(one_line(path.accepted or "")), _places(path.possible))
            for path in paths
        )
        head = _table("sneak path", "known", "accepted because", "can be made by")
        yield _folded(f"Accepted sneak paths ({len(rows)})", head, rows)


def _undecided(evidence: Evidence) -> Iterator[Section]:
    found = open_statements(evidence)
    if found:
        rows = tuple(
            _row(_places([it.statement]), prose(one_line(it.reason)) + (f"; {CLOSED}" if it.is_closed else ""))
            for it in found
        )
        yield _folded(f"Statements that the scan cannot decide ({len(rows)})", _table("statement", "why"), rows)


def _ground(evidence: Evidence) -> Section:
    """What the proof stands on: model and sources with their hashes, where and when it ran."""
    ran = evidence.environment
    database = f"{one_line(ran.database)} {one_line(ran.database_version)}".strip()
    facts = (
        f"Started {code(one_line(evidence.started, 40))}, took {evidence.seconds:.1f} s, "
        f"Arrowproof {code(one_line(ran.arrowproof, 40))}, Python {code(one_line(ran.python, 40))}, "
        f"{code(one_line(ran.platform, 120))}, read with {code(database)}."
    )
    rows = tuple(
        _row(code(one_line(it.file)), str(it.statements), code(one_line(it.sha256, 64))) for it in evidence.sources
    )
    model = _row("the model", "", code(one_line(evidence.model_sha256, 64)))
    return _folded("Environment and sources", (facts, "", *_table("file", "statements", "SHA-256")), (model, *rows))


def _folded(summary: str, head: Sequence[str], rows: Sequence[str]) -> Section:
    opening = (f"<details><summary>{summary}</summary>", "", *head)
    return Section(opening, tuple(rows), ("", "</details>"), _MORE_ROWS)


def _table(*heads: str) -> tuple[str, str]:
    return _row(*heads), _row(*("---" for _ in heads))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _name(ends: TransitionEvidence | SneakPath) -> str:
    return code(one_line(transition_name(ends.source, ends.target)))


def _places(statements: Iterable[Statement]) -> str:
    names = [code(one_line(str(place))) for place in dict.fromkeys(it.place for it in statements)]
    more = len(names) - PLACES_SHOWN
    return ", ".join(names[:PLACES_SHOWN]) + (f" and {more} more" if more > 0 else "")
