"""Proof panels: the evidence of one transition, or of one sneak path, as the texts that its panel shows.

A panel says on which rungs a transition stands and by what: the statement, a row before and after, the kills, and the
processes of one walk. Evidence is untrusted and may be long: every text is cleaned and bounded, and where something is
left out the panel says how much. Nothing is escaped here, since that is the work of whoever writes markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from arrowproof.model.evidence import (
    Evidence,
    JournalRow,
    Kill,
    Process,
    Row,
    Side,
    SneakPath,
    Statement,
    Walk,
)
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.record import record
from arrowproof.model.transitions import Pair, Transition
from arrowproof.render.language import Language
from arrowproof.render.names import arrow_text
from arrowproof.render.proof_words import ProofWords, bounded
from arrowproof.render.row_table import RowTable, row_table
from arrowproof.render.rung_lines import RungLine, rung_lines, sneak_lines
from arrowproof.render.sneak_arrows import sneak_words
from arrowproof.render.sql_lines import Roles, SqlLine, roles_in_sql, sql_lines
from arrowproof.render.standing import Standing
from arrowproof.render.text import clean_text


@record
class Limits:
    """How much a panel shows.

    Rows of its statement, columns of its row, processes of its walk, characters of a sentence, names in a sentence and
    characters of such a name. With no process the walk is not told by its processes: the line of the rung names them.
    """

    sql_rows: int
    columns: int
    processes: int
    sentence: int
    names: int
    phrase: int


LIMITS = (
    Limits(10, 8, 3, 240, 3, 60),
    Limits(10, 6, 2, 200, 3, 60),
    Limits(10, 5, 1, 160, 3, 48),
    Limits(10, 4, 1, 160, 2, 40),
    Limits(8, 4, 0, 140, 2, 40),
    Limits(6, 4, 0, 110, 2, 32),
    Limits(4, 3, 0, 80, 1, 24),
)
"""From what a panel shows where it has room to the least that it shows: columns that stayed the same go first."""


@record
class StatementTexts:
    """A statement: where it stands, the lines that are shown, what is left out, and the sneak paths that it makes."""

    place: str
    lines: tuple[SqlLine, ...]
    more: str
    warning: str
    others: str


@record
class KillTexts:
    """The kills on one side of the commit: how many were survived, how the first one went, and what went wrong."""

    heading: str
    lines: tuple[str, ...]
    problem: str


@record
class ProofPanel:
    """One panel. ``address`` are the ends as an address names them, ``title`` as people read them.

    ``way_out`` says what closes a sneak path. ``processes`` are role, process id and ending of each process of the walk
    that is shown, and ``problem`` says why that walk does not count. ``no_statement`` stands where there is no
    ``statement``.
    """

    address: tuple[str, str]
    title: tuple[str, str]
    label: str
    arrows: str
    tone: str
    rungs: tuple[RungLine, ...]
    problem: str
    way_out: str
    statement: StatementTexts | None
    no_statement: str
    row: RowTable | None
    kills: tuple[KillTexts, ...]
    processes: tuple[tuple[str, str, str], ...]
    more_processes: str


@record
class Prover:
    """Makes the panels of one page. ``makes`` and ``sneaks`` are the transitions and sneak paths of each statement."""

    lifecycle: Lifecycle
    evidence: Evidence
    standing: Standing
    words: ProofWords
    makes: Mapping[Statement, Sequence[Pair]]
    sneaks: Mapping[Statement, Sequence[Pair]]
    limits: Limits = LIMITS[0]

    def within(self, limits: Limits) -> Prover:
        """The same, for panels that show no more than this."""
        return replace(self, words=replace(self.words, names=limits.names, phrase=limits.phrase), limits=limits)

    @property
    def language(self) -> Language:
        """The language of the page."""
        return self.words.language

    def panel(self, transition: Transition) -> ProofPanel:
        """The panel of a transition of the model."""
        standing = self.standing.transitions[transition.pair]
        found = standing.evidence
        walk = _example(found.walks)
        processes = walk.processes if walk is not None and self.limits.processes else ()
        return ProofPanel(
            address=self.words.address(transition.pair),
            title=self.words.ends(transition.pair),
            label=self._label(transition),
            arrows=self._arrows(transition),
            tone=standing.rung.tone,
            rungs=rung_lines(standing, self.evidence.guard, self.evidence.log, self.words),
            way_out="",
            problem="" if walk is None or walk.problem is None else bounded(walk.problem, self.limits.sentence),
            statement=self._statement(found.written, transition.pair),
            no_statement="" if found.written else self.language("proof.no_statement"),
            row=None if walk is None else self._row(walk.before, walk.after),
            kills=tuple(self._kills(found.kills)),
            processes=tuple(self._process(process) for process in processes[: self.limits.processes]),
            more_processes=self.words.more("proof.more_processes", len(processes) - self.limits.processes),
        )

    def sneak_panel(self, path: SneakPath) -> ProofPanel:
        """The panel of a sneak path."""
        pair = (path.source, path.target)
        return ProofPanel(
            address=self.words.address(pair),
            title=self.words.ends(pair),
            label=self.language(
                "sneak.shared", what=self.language("sneak.label"), fate=sneak_words(path, self.language)
            ),
            arrows="",
            tone="wrong" if path.accepted is None else "plain",
            rungs=sneak_lines(path, self.words),
            problem="",
            way_out=self._way_out(path),
            statement=self._statement(path.possible, pair),
            no_statement="" if path.possible else self._made_by(path),
            row=self._row(*self._witnessed(path.happened[0])) if path.happened else None,
            kills=(),
            processes=(),
            more_processes="",
        )

    def _label(self, transition: Transition) -> str:
        """The label of the arrow that a transition is; none when it is more than one."""
        arrow = self.lifecycle.arrows_by_id[transition.paths[0][0]]
        return bounded(arrow.label, self.limits.sentence) if is_plain(transition) else ""

    def _arrows(self, transition: Transition) -> str:
        """The ids of the arrows of a transition's first path, and how many other paths it has."""
        first = self.words.bounded(", ".join(map(clean_text, transition.paths[0])))
        others = len(transition.paths) - 1
        return f"{first} {self.language('transitions.more', number=others)}" if others else first

    def _statement(self, statements: Sequence[Statement], pair: Pair) -> StatementTexts | None:
        if not statements:
            return None
        first, *others = statements
        lines, hidden = sql_lines(first, self._roles(first, pair), self.limits.sql_rows)
        return StatementTexts(
            place=self.words.place(first),
            lines=lines,
            more=self.words.more("proof.more_lines", hidden, file=self.words.bounded(first.place.file)),
            warning=self._warning(first, pair),
            others=self.language("proof.also_written", places=self.words.places(others)) if others else "",
        )

    def _roles(self, statement: Statement, pair: Pair) -> Roles:
        """Which literals of a statement make the transition of a pair, and which a sneak path to the same state."""
        target = pair[1]
        meant = {source for source, end in self.makes.get(statement, ()) if end == target}
        wrong = {source for source, end in self.sneaks.get(statement, ()) if end == target}
        return roles_in_sql(self.lifecycle, target, meant, wrong)

    def _way_out(self, path: SneakPath) -> str:
        if path.accepted is not None:
            return ""
        return self.language("proof.way_out" if path.possible else "proof.way_out_unread")

    def _made_by(self, path: SneakPath) -> str:
        """What made a sneak path that no statement is known to make, as far as the database told what was sent."""
        rows = sorted(path.happened, key=lambda row: row.written is None)
        row = next((row for row in rows if row.written is not None or row.query), None)
        if row is None:
            return self.language("proof.no_statement")
        if row.written is not None:
            return self.language("proof.made_at", place=self.words.bounded(str(row.written)))
        return self.language("proof.sent", query=bounded(row.query or "", self.limits.sentence))

    def _warning(self, statement: Statement, pair: Pair) -> str:
        names = [arrow_text(*self.words.ends(each)) for each in self.sneaks.get(statement, ()) if each != pair]
        return self.language.count("proof.also_makes", len(names), paths=self.words.listed(names)) if names else ""

    def _row(self, before: Row | None, after: Row | None) -> RowTable | None:
        return row_table(
            before,
            after,
            self.language,
            table=self.words.bounded(self.words.binding.table),
            first=self.words.binding.state,
            day=self.evidence.started[:10],
            columns=self.limits.columns,
        )

    def _process(self, process: Process) -> tuple[str, str, str]:
        return self.words.bounded(process.role), str(process.pid or ""), self.words.bounded(process.ended)

    def _witnessed(self, row: JournalRow) -> tuple[Row | None, Row | None]:
        """The row that a journal row saw, before and after: its state and the watched columns."""
        name = self.words.binding.state or self.language("binding.state")
        before = None if row.operation == "insert" else ((name, row.old_state), *row.old_watched)
        after = None if row.operation == "delete" else ((name, row.new_state), *row.new_watched)
        return before, after

    def _kills(self, kills: Sequence[Kill]) -> Iterable[KillTexts]:
        for side, key in ((Side.BEFORE, "proof.killed_before"), (Side.AFTER, "proof.killed_after")):
            made = [kill for kill in kills if kill.side is side]
            wrong = [kill for kill in made if kill.problem is not None]
            if made:
                yield KillTexts(
                    self.language(key, right=len(made) - len(wrong), number=len(made)),
                    tuple(self._kill_lines((wrong or made)[0])),
                    bounded(wrong[0].problem or "", self.limits.sentence) if wrong else "",
                )

    def _kill_lines(self, kill: Kill) -> Iterable[str]:
        killed = [process for process in kill.processes if "kill" in process.ended.lower()]
        for process in (killed or list(kill.processes))[:1]:
            yield self.language("proof.process_killed", process=self.words.process(process))
        yield self._found(kill)
        if kill.restarted is None:
            yield self.language("proof.restart_no_row")
        else:
            state = self.words.state_in(kill.restarted)
            yield self.language("proof.restart_row", state=state) if state else self.language("proof.restart_some_row")

    def _found(self, kill: Kill) -> str:
        """How the row stood when it was looked at after the kill."""
        if kill.found is None:
            return self.language("proof.row_none" if kill.before is None else "proof.row_gone")
        state = self.words.state_in(kill.found)
        if kill.found == kill.before:
            return self.language("proof.row_stays", state=state) if state else self.language("proof.row_same")
        return self.language("proof.row_is", state=state) if state else self.language("proof.row_changed")


def make_prover(lifecycle: Lifecycle, evidence: Evidence, standing: Standing, words: ProofWords) -> Prover:
    """What makes the panels of a lifecycle from this evidence."""
    makes: dict[Statement, list[Pair]] = {}
    for transition in evidence.transitions:
        for statement in transition.written:
            makes.setdefault(statement, []).append((transition.source, transition.target))
    sneaks: dict[Statement, list[Pair]] = {}
    for path in evidence.sneak_paths:
        for statement in path.possible if path.accepted is None else ():
            sneaks.setdefault(statement, []).append((path.source, path.target))
    return Prover(lifecycle, evidence, standing, words, makes, sneaks)


def is_plain(transition: Transition) -> bool:
    """Whether a transition is one arrow, so that their panels are one and the same."""
    return len(transition.paths) == 1 and len(transition.paths[0]) == 1


def _example(walks: Sequence[Walk]) -> Walk | None:
    """The walk that is shown: one that went wrong if there is one, else the first."""
    return next((walk for walk in walks if walk.problem is not None), next(iter(walks), None))
