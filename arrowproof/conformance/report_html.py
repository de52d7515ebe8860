"""The report as one HTML page: a reviewer reads it in a minute, an auditor in an hour.

The page is a document: it scrolls and prints, needs no script, asks nothing of any network, and lets only its own
hashed style act. It shows the verdict and what keeps it from being better, sneak paths, the grid of all pairs of
states, then for each transition its statements, walks and kills, and at the end where and on what the proof ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment as Jinja
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from arrowproof.conformance.comparison import Comparison, parts_of, verdict_words
from arrowproof.conformance.display import VALUE_LIMIT, block, one_line, places_text, row_text, value_text
from arrowproof.conformance.grid import Mark, build_grid
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
    stable_evidence,
    walk_tally,
)
from arrowproof.conformance.report_drawing import DRAWING_CSS, draw_report
from arrowproof.conformance.verdict import candidates
from arrowproof.model.evidence import (
    Evidence,
    JournalRow,
    Place,
    Process,
    Row,
    Statement,
    TransitionEvidence,
    Verdict,
    Walk,
)
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.rung import Rung, rung_of
from arrowproof.model.transitions import transition_name
from arrowproof.render.beads import bead_shapes
from arrowproof.render.fonts import font_faces_css
from arrowproof.render.palette import palette_css
from arrowproof.render.policy import source_hash
from arrowproof.render.row_table import NOTHING, changed_columns
from arrowproof.render.sql_lines import SqlLine, marked_lines, roles_in_sql

_PROSE_CHARACTERS = 1_000
STEPS_SHOWN = 50
"""Walks, kills, statements or journal rows that one list shows; it says how many more there are."""
LINES_SHOWN = 80
"""Lines of one statement that are shown."""
QUERY_LIMIT = 160
"""Characters of what a client sent, where no statement of the sources reads the same."""
PLACES_IN_GRID = 7
"""Columns up to which the grid has room for a place in each cell."""

_SIGNS: Mapping[str, str] = {
    Mark.NOT_WRITTEN: "not-written",
    Mark.NOT_SURVIVED: "not-survived",
    Mark.HAPPENED: "happened",
    Mark.POSSIBLE: "possible",
    Mark.ACCEPTED: "accepted",
    Mark.UNKNOWN: "unknown",
    Mark.IMPOSSIBLE: "impossible",
    Mark.REFUSED: "impossible",
}
"""The sign, also a class, of each mark and rung whose own word is not it."""
_MEANINGS: Mapping[str, str] = {
    Mark.SURVIVED: "walked, and right again after a kill on each side of its commit",
    Mark.WALKED: "written, and a run made it",
    Mark.WRITTEN: "a statement can make it",
    Mark.GUARDED: "survived, and the database refused every undeclared write that was tried",
    Mark.NOT_SURVIVED: "walked, and a kill ended wrong",
}
"""The rungs in the legend, in a few words."""
_VERDICTS: Mapping[Verdict, tuple[str, str]] = {
    Verdict.PROVEN: (
        "Proven",
        "Every transition of the model is written in the sources that were read and was walked by real processes. "
        "No statement found can make another transition, and none happened.",
    ),
    Verdict.WALKED: (
        "Walked, not proven",
        "Every transition of the model was walked by real processes and nothing undrawn happened, but the statements "
        "found do not rule other transitions out.",
    ),
    Verdict.NOT_PROVEN: ("Not proven", "The running service and the model do not agree, or not all of it was shown."),
}
_GUARDED = (
    "Every transition of the model is written in the sources that were read and was walked by real processes. "
    "The database refused every other one that was tried, whatever the statements say, and none happened."
)
"""What *proven* means of a service with a guard."""


def report_html(
    evidence: Evidence,
    lifecycle: Lifecycle,
    comparison: Comparison | None = None,
    stale: Sequence[str] = (),
    *,
    stated_times: bool = True,
) -> str:
    """The report of one proof as a self-contained page.

    Args:
        evidence: the proof.
        lifecycle: the model that was proven, for labels, values, the order of states and the diagram.
        comparison: what has changed since an earlier proof, when there was one to compare with.
        stale: in what the evidence is not of today, one sentence each.
        stated_times: False gives the stable form: no times, durations, process ids, keys or environment, and of each
            row only the state and the watched columns, so that the same run gives the same bytes.
    """
    shown = evidence if stated_times else stable_evidence(evidence, lifecycle)
    css = _style()
    context = _context(shown, lifecycle, css, stated_times)
    context["stale"] = stale
    context["drawing"] = draw_report(shown, lifecycle)
    context["changed"] = None if comparison is None else verdict_words(comparison)
    context["changes"] = () if comparison is None else parts_of(comparison)
    return _templates().get_template("report.html.j2").render(context)


def _lines(statement: Statement, lifecycle: Lifecycle, source: str | None, target: str | None) -> list[SqlLine]:
    """The lines of a statement that are shown, with the literals of one transition told apart from other text."""
    roles = roles_in_sql(lifecycle, target, [source])
    return marked_lines(block(statement.sql), roles, statement.place.line)[:LINES_SHOWN]


def _columns(step: Walk) -> Iterator[tuple[str, str, str, bool]]:
    """Name, value before, value after and whether it changed, of each column of the row of a step."""
    before, after = dict(step.before or ()), dict(step.after or ())
    for name, is_changed in changed_columns(step.before, step.after).items():
        old, new = (value_text(row[name]) if name in row else NOTHING for row in (before, after))
        yield one_line(name, VALUE_LIMIT), old, new, is_changed


def _context(evidence: Evidence, lifecycle: Lifecycle, css: str, stated_times: bool) -> dict[str, Any]:
    word, sentence = _VERDICTS[evidence.verdict]
    pairs = [(transition.source, transition.target) for transition in evidence.transitions]
    anchors = {pair: f"transition-{number}" for number, pair in enumerate(pairs, start=1)}
    sneak_paths = [*open_sneak_paths(evidence), *accepted_sneak_paths(evidence)]
    anchors |= {(path.source, path.target): f"sneak-{number}" for number, path in enumerate(sneak_paths, start=1)}
    grid = build_grid(evidence, lifecycle)
    reasons = grouped_reasons(evidence)
    return {
        "accepted": accepted_sneak_paths(evidence),
        "anchors": anchors,
        "css": Markup(css),
        "evidence": evidence,
        "figures": figures(evidence),
        "grid": grid,
        "grid_has_places": len(grid.targets) <= PLACES_IN_GRID,
        "lifecycle": lifecycle,
        "open": open_sneak_paths(evidence),
        "reasons": reasons,
        "remarks": remarks(evidence),
        "candidates": lambda it: candidates(it, evidence.undecided, evidence.dynamic),
        "open_statements": open_statements(evidence),
        "closed": CLOSED,
        "rivalries": sorted(rivalries(evidence), key=lambda it: it.problem is None),
        "rivalry_tally": interleaving_tally(evidence),
        "shown_reasons": sum(1 + reason.alike for reason in reasons[:STEPS_SHOWN]),
        "stored": {state.id for state in lifecycle.stored_states},
        "sentence": _GUARDED if evidence.is_guarded and evidence.verdict is Verdict.PROVEN else sentence,
        "stated_times": stated_times,
        "style_source": Markup(source_hash(css)),
        "verdict_class": str(evidence.verdict).replace(" ", "-"),
        "word": word,
        "sql_lines": lambda statement, pair: _lines(statement, lifecycle, *pair),
        "bound": lambda row: _bound_text(row, lifecycle),
        "example": _example,
    }


@cache
def _style() -> str:
    own = _templates().get_template("report.css").render()
    return "\n".join([font_faces_css(), palette_css(), DRAWING_CSS, own])


@cache
def _templates() -> Jinja:
    jinja = Jinja(
        loader=PackageLoader("arrowproof.conformance"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "line": one_line,
        "prose": _prose,
        "name": lambda transition: one_line(transition_name(transition.source, transition.target)),
        "value": value_text,
        "places": places_text,
        "row": row_text,
        "fate": fate,
        "rung": lambda transition, is_guarded: rung_of(transition, is_guarded=is_guarded).words,
        "walk_tally": walk_tally,
        "kill_tally": kill_tally,
        "columns": _columns,
        "short": _short_places,
        "meaning": lambda mark: _MEANINGS.get(mark, ""),
        "processes": _processes_text,
        "journal": _journal_text,
        "paths": lambda transition, arrows: list(_paths(transition, arrows)),
        "sign": lambda name: _SIGNS.get(name, str(name)),
    }
    beads = {rung.words: Markup("").join(bead_shapes(rung)) for rung in Rung}
    jinja.globals |= {"steps_shown": STEPS_SHOWN, "lines_shown": LINES_SHOWN, "beads": beads}
    return jinja


def _prose(text: str) -> Markup:
    """A sentence on one line, in which what stands between backticks is set as code."""
    parts = one_line(text, _PROSE_CHARACTERS).split("`")
    if len(parts) % 2 == 0:  # one backtick has no other
        return escape("`".join(parts))
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts))


def _example(transition: TransitionEvidence) -> Walk | None:
    """The walk that is shown in full: one that went wrong if there is one, else the first."""
    wrong = [walk for walk in transition.walks if walk.problem is not None]
    return next(iter([*wrong, *transition.walks]), None)


def _bound_text(row: Row | None, lifecycle: Lifecycle) -> str:
    """The state and the watched columns of a row on one line."""
    binding = lifecycle.binding
    columns = {binding.state, *binding.watch} if binding else set()
    return row_text(None if row is None else tuple(pair for pair in row if pair[0] in columns))


def _short_places(places: Sequence[Place]) -> str:
    """The first place by its file's own name, and how many others there are."""
    if not places:
        return ""
    first = one_line(f"{places[0].file.rpartition('/')[2]}:{places[0].line}", 40)
    return first + (f" +{len(places) - 1}" if len(places) > 1 else "")


def _processes_text(processes: Iterable[Process]) -> str:
    return ", ".join(
        one_line(f"{process.role} {process.pid or ''}".rstrip() + (f" ({process.ended})" if process.ended else ""), 120)
        for process in processes
    )


def _journal_text(row: JournalRow) -> str:
    """What a journal row holds, and the place of its statement; where none of the sources reads so, what was sent."""
    old = "" if row.operation == "insert" else f"{value_text(row.old_state)} "
    new = "" if row.operation == "delete" else f" {value_text(row.new_state)}"
    kind = f", {row.kind}" if row.operation == "update" else ""
    by = f" by {one_line(str(row.written))}" if row.written else ""
    if row.query and not row.written:
        by = f", sent as {one_line(row.query, QUERY_LIMIT)}"
    return f"{f'#{row.order} ' if row.order else ''}{one_line(row.operation, 40)} {old}→{new}{kind}{by}"


def _paths(transition: TransitionEvidence, arrows: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each arrow path as (ids, labels)."""
    for path in transition.paths:
        labels = [one_line(arrows[arrow].label, 120) for arrow in path if arrow in arrows and arrows[arrow].label]
        yield one_line(", ".join(path)), " then ".join(labels)
