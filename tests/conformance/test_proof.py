"""The proof, end to end: a box office whose SQL file is both what is scanned and what runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from arrowproof.conformance.baseline import baseline_of
from arrowproof.conformance.comparison import compare
from arrowproof.conformance.driver import DriverError, Killed, Walked
from arrowproof.conformance.output import open_output
from arrowproof.conformance.processes import ProcessGroup, RunningProcess
from arrowproof.conformance.proof import EVIDENCE_FILE, prove
from arrowproof.conformance.report import stable_evidence
from arrowproof.conformance.report_forms import FILES, FORMS, PAGE_FILE, REPORT_FILE
from arrowproof.conformance.trials import NO_CRASHES, Trials
from arrowproof.errors import InputError
from arrowproof.model.evidence import Evidence, Row, Side, Verdict
from arrowproof.model.evidence_document import load_evidence
from arrowproof.model.lifecycle import Lifecycle
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import Pair, Transition

TICKETS = Path(__file__).parent / "tickets"
REPORTS = {EVIDENCE_FILE, *FILES}
QUERIES: dict[Pair, str] = {(None, "open"): "sell", ("open", "used"): "use", ("open", "void"): "cancel"}


class TicketsDriver:
    """Runs one process of the script for each transition. ``also`` is a query that every use runs beside its own."""

    def __init__(self, folder: Path, also: str = "") -> None:
        self.service, self.sql, self.also = folder / "tickets_service.py", folder / "tickets.sql", also
        self.processes = ProcessGroup(Path())
        self.database = Path()
        self.stops = 0
        self.sold = 0

    def start(self, folder: Path) -> Path:
        self.processes = ProcessGroup(folder)
        self.database = folder / "tickets.sqlite3"
        self.run("schema", "").finish()
        return self.database

    def stop(self) -> None:
        self.stops += 1
        self.processes.stop()

    def begin(self, tour: Sequence[Transition]) -> None:
        assert tour

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        ticket = self.ticket(key)
        process = self.run(QUERIES[transition.pair], ticket)
        process.finish()
        if self.also and transition.target == "used":
            self.run(self.also, ticket).finish()
        return Walked((("id", ticket),), (process.record(),))

    def end(self, key: Row | None) -> None:
        """Nothing picks up tickets on its own."""

    def kill(self, transition: Transition, key: Row | None, side: Side) -> Killed:
        ticket = self.ticket(key)
        held = self.processes.folder / f"held-{ticket}-{side.name}"
        process = self.run(QUERIES[transition.pair], ticket, f"{side.name.lower()}:{held}")
        process.await_file(held)
        process.kill()
        return Killed(f"{side.name.lower()}-commit", (process.record(),), (("id", ticket),))

    def recover(self, transition: Transition, killed: Killed, side: Side) -> Walked:
        assert killed.key is not None
        return self.walk(transition, killed.key) if side is Side.BEFORE else Walked(killed.key, ())

    def ticket(self, key: Row | None) -> str:
        if key is not None:
            return str(key[0][1])
        self.sold += 1
        return f"T{self.sold}"

    def run(self, query: str, ticket: str, hold: str = "") -> RunningProcess:
        arguments = [str(self.service), str(self.database), str(self.sql), query, ticket, hold]
        return self.processes.start("tickets", [sys.executable, *arguments])


Edit = Callable[[str, str, str], None]


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """A copy of the box office that a test may edit."""
    return Path(shutil.copytree(TICKETS, tmp_path / "office"))


@pytest.fixture
def edit(office: Path) -> Edit:
    """Replaces one text of one of the office's files, which must be there."""

    def edit(name: str, old: str, new: str) -> None:
        text = (office / name).read_text()
        assert old in text
        (office / name).write_text(text.replace(old, new, 1))

    return edit


def prove_office(office: Path, *, also: str = "", out: str = "out", crash_checks: bool = False) -> Evidence:
    lifecycle = load_lifecycle(office / "tickets.lifecycle.json")
    driver = TicketsDriver(office, also)
    return prove(lifecycle, driver, office / out, trials=Trials(crash_checks=crash_checks))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- What holds


def test_a_service_that_does_what_is_drawn_is_proven_and_survives(office: Path) -> None:
    told: list[tuple[str, int, int]] = []
    lifecycle = load_lifecycle(office / "tickets.lifecycle.json")
    driver = TicketsDriver(office)
    evidence = prove(lifecycle, driver, office / "out", lambda *step: told.append(step))

    assert (evidence.verdict, evidence.reasons) == (Verdict.PROVEN, ())
    assert [str(share) for share in vars(evidence.coverage).values() if share] == [
        "3 of 3",
        "3 of 3",
        "3 of 3",
        "2 of 2",
        "6 of 6",
    ]
    assert all(transition.is_survived for transition in evidence.transitions)
    assert evidence.model_sha256 == lifecycle.origin.sha256
    assert [source.file for source in evidence.sources] == ["tickets.sql"]
    assert told[-1][1:] == (8, 8)
    assert driver.stops >= 1


def test_evidence_and_reports_are_written_and_agree(office: Path) -> None:
    evidence = prove_office(office)

    assert names(office / "out") == {*REPORTS, "run"}
    assert load_evidence((office / "out" / EVIDENCE_FILE).read_bytes(), "evidence.json") == evidence
    assert json.loads((office / "out" / REPORT_FILE).read_text())["verdict"] == "proven"
    assert "<title>Proven: Ticket</title>" in (office / "out" / PAGE_FILE).read_text()


STATED = re.compile(
    r"""\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?   # when it began
    | \b\d+\.\d+\ s\b | (?<=\ time=")[\d.]+   # how long it took
    | (?<=\btickets\ )\d+\b                     # process ids
    """,
    re.VERBOSE,
)
"""The times and ids that a report states: all that may differ from run to run on one machine."""


def test_the_same_code_gives_the_same_reports_in_another_run_but_for_stated_times_and_ids(office: Path) -> None:
    evidence = [prove_office(office, out=out, crash_checks=True) for out in ("one", "two")]
    lifecycle = load_lifecycle(office / "tickets.lifecycle.json")
    stable = [stable_evidence(each, lifecycle) for each in evidence]

    assert evidence[0] != evidence[1]
    assert stable[0] == stable[1]
    assert (office / "one" / REPORT_FILE).read_bytes() == (office / "two" / REPORT_FILE).read_bytes()
    for name in FILES:
        one, two = (STATED.sub("…", (office / out / name).read_text(encoding="utf-8")) for out in ("one", "two"))
        assert one == two, name


def test_the_same_evidence_gives_the_same_bytes_twice(office: Path) -> None:
    evidence = prove_office(office)
    lifecycle = load_lifecycle(office / "tickets.lifecycle.json")
    comparison = compare(baseline_of(evidence), baseline_of(evidence))

    for name, make in FORMS.items():
        assert make(evidence, lifecycle, comparison) == make(evidence, lifecycle, comparison), name
    for name, form in FILES.items():
        assert (office / "out" / name).read_text(encoding="utf-8") == FORMS[form](evidence, lifecycle, None), name


def test_every_report_says_what_has_changed_since_a_baseline_and_the_verdict_stays_its_own(
    office: Path, edit: Edit
) -> None:
    before = baseline_of(prove_office(office))
    edit("tickets.sql", "\n   AND state = 'open'", "")
    lifecycle = load_lifecycle(office / "tickets.lifecycle.json")
    evidence = prove(lifecycle, TicketsDriver(office), office / "out", trials=NO_CRASHES, baseline=before)

    assert evidence.verdict is Verdict.WALKED
    for name in FILES:
        text = (office / "out" / name).read_text(encoding="utf-8")
        assert re.search(
            r"The verdict was proven and is now walked|\"baseline\": \{\s+\"verdict\": \"proven\"", text
        ), name


# --- What must go red


def test_a_statement_that_names_no_source_state_is_named_with_file_line_and_sneak_paths(
    office: Path, edit: Edit
) -> None:
    edit("tickets.sql", "\n   AND state = 'open'", "")
    evidence = prove_office(office)

    assert evidence.verdict is Verdict.WALKED
    assert (
        "Sneak path void -> used is possible: tickets.sql:11 can make it; name its source states, or draw the arrow."
        in (evidence.reasons)
    )
    assert json.loads((office / "out" / REPORT_FILE).read_text())["verdict"] == "walked"


def test_a_swapped_target_is_neither_written_nor_walked(office: Path, edit: Edit) -> None:
    edit("tickets.sql", "SET state = 'void'", "SET state = 'used'")
    evidence = prove_office(office)

    assert evidence.verdict is Verdict.NOT_PROVEN
    assert [reason.split(":")[0] for reason in evidence.reasons] == [
        "open -> void is not written",
        "open -> void is not walked",
    ]


def test_a_target_that_is_renamed_in_the_model_is_red(office: Path, edit: Edit) -> None:
    edit("tickets.lifecycle.json", '"to": "used"', '"to": "void"')
    evidence = prove_office(office)

    assert evidence.verdict is Verdict.WALKED
    assert any("open -> used is possible: tickets.sql:11" in reason for reason in evidence.reasons)


def test_an_arrow_that_is_deleted_from_the_model_is_red(office: Path, edit: Edit) -> None:
    edit("tickets.lifecycle.json", ',\n    {"id": "cancel", "from": "open", "to": "void", "event": "cancel"}', "")
    evidence = prove_office(office)

    assert evidence.verdict is Verdict.WALKED
    assert evidence.reasons == (
        "Sneak path open -> void is possible: tickets.sql:17 can make it; draw the arrow, or take the statement out.",
    )


def test_what_happens_undrawn_is_red_and_possible_and_happened_are_one(office: Path, edit: Edit) -> None:
    undo = "-- name: undo\nUPDATE tickets\n   SET state = 'open'\n WHERE id = :id AND state = 'used';\n\n"
    edit("tickets.sql", "-- name: cancel", undo + "-- name: cancel")
    evidence = prove_office(office, also="undo")

    (path,) = evidence.sneak_paths
    assert evidence.verdict is Verdict.NOT_PROVEN
    assert (path.source, path.target, len(path.possible), len(path.happened)) == ("used", "open", 1, 1)
    assert evidence.reasons[0] == (
        "Sneak path used -> open happened: the journal holds it once; tickets.sql:17 can make it."
    )
    assert "happened once, possible" in (office / "out" / PAGE_FILE).read_text()


def test_a_commit_ahead_of_the_hold_point_fails_its_kill(office: Path, edit: Edit) -> None:
    edit(
        "tickets_service.py",
        '    wait_at("before", hold)\n    connection.execute("COMMIT")',
        '    connection.execute("COMMIT")\n    wait_at("before", hold)',
    )
    evidence = prove_office(office, crash_checks=True)

    assert evidence.verdict is Verdict.NOT_PROVEN
    assert all('did not survive a kill before commit at "before-commit"' in reason for reason in evidence.reasons)
    assert len(evidence.reasons) == 3


def test_an_accepted_sneak_path_is_let_through_and_listed(office: Path, edit: Edit) -> None:
    undo = "-- name: undo\nUPDATE tickets SET state = 'open' WHERE id = :id AND state = 'used';\n\n"
    edit("tickets.sql", "-- name: cancel", undo + "-- name: cancel")
    accepted = '"accepted_sneak_paths": [{"from": "used", "to": "open", "reason": "a scan by mistake is undone"}],'
    edit("tickets.lifecycle.json", '"sources"', accepted + '\n  "sources"')
    evidence = prove_office(office)

    assert evidence.verdict is Verdict.PROVEN
    assert [path.accepted for path in evidence.sneak_paths] == ["a scan by mistake is undone"]
    assert "a scan by mistake is undone" in (office / "out" / PAGE_FILE).read_text()


# --- Wrong input, and what breaks off


@pytest.mark.parametrize(
    ("member", "fix"), [("binding", 'Add a binding, such as "binding"'), ("sources", 'such as "sources": ')]
)
def test_a_model_that_cannot_be_proven_is_refused_before_anything_starts(office: Path, member: str, fix: str) -> None:
    model = json.loads((office / "tickets.lifecycle.json").read_text())
    del model[member]
    (office / "tickets.lifecycle.json").write_text(json.dumps(model))

    with pytest.raises(InputError, match=fix):
        prove_office(office)
    assert not (office / "out").exists()


def test_files_of_others_in_the_output_folder_stay_and_ours_are_replaced(office: Path) -> None:
    (office / "out").mkdir()
    (office / "out" / "mine.txt").write_text("keep")
    (office / "out" / REPORT_FILE).write_text("the verdict of Arrowproof of last week")
    prove_office(office)
    prove_office(office)

    assert names(office / "out") == {*REPORTS, "run", "mine.txt"}
    assert (office / "out" / "mine.txt").read_text() == "keep"
    assert json.loads((office / "out" / REPORT_FILE).read_text())["verdict"] == "proven"


class Interrupted(TicketsDriver):
    """A driver during whose first walk someone presses Ctrl-C, while a process of the service runs."""

    pid = 0

    def walk(self, transition: Transition, key: Row | None) -> Walked:
        held = self.processes.folder / "held"
        process = self.run(QUERIES[transition.pair], self.ticket(key), f"before:{held}")
        process.await_file(held)
        self.pid = process.pid
        raise KeyboardInterrupt


def test_an_interrupt_ends_the_service_and_leaves_no_verdict(office: Path) -> None:
    lifecycle: Lifecycle = load_lifecycle(office / "tickets.lifecycle.json")
    (office / "out").mkdir()
    (office / "out" / REPORT_FILE).write_text("the verdict of Arrowproof of last week")
    driver = Interrupted(office)

    with pytest.raises(KeyboardInterrupt):
        prove(lifecycle, driver, office / "out")
    with pytest.raises(ProcessLookupError):
        os.kill(driver.pid, 0)
    assert names(office / "out") == {"run"}
    with open_output(office / "out"):
        pass  # it is not held any more


def test_reports_that_cannot_all_be_written_leave_no_verdict(office: Path) -> None:
    class Obstructing(TicketsDriver):
        def stop(self) -> None:
            super().stop()
            (office / "out" / PAGE_FILE / "in the way").mkdir(parents=True, exist_ok=True)

    with pytest.raises(InputError, match=r"cannot write .*report\.html"):
        prove(load_lifecycle(office / "tickets.lifecycle.json"), Obstructing(office), office / "out")
    assert names(office / "out") == {"run", PAGE_FILE}


class Unable(TicketsDriver):
    """A driver whose service does not start."""

    def start(self, folder: Path) -> Path:
        raise DriverError(f"{folder.name} has no room.")


def test_a_service_that_does_not_start_is_wrong_input_and_is_stopped(office: Path) -> None:
    driver = Unable(office)

    with pytest.raises(InputError, match=r"The service did not start: service has no room\."):
        prove(load_lifecycle(office / "tickets.lifecycle.json"), driver, office / "out")
    assert driver.stops >= 1


def test_a_service_that_does_not_stop_is_a_verdict_and_no_bug_of_ours(office: Path) -> None:
    lifecycle = load_lifecycle(office / "tickets.lifecycle.json")
    driver = TicketsDriver(office)

    def stop() -> None:
        driver.processes.stop()
        raise DriverError("it would not go")

    driver.stop = stop  # type: ignore[method-assign]
    evidence = prove(lifecycle, driver, office / "out", trials=NO_CRASHES)
    assert evidence.verdict is Verdict.NOT_PROVEN
    assert evidence.reasons == ("The service did not stop: it would not go",)
    assert names(office / "out") >= REPORTS


def test_a_source_that_is_not_there_leaves_the_last_reports_alone(office: Path) -> None:
    prove_office(office)
    (office / "tickets.sql").unlink()

    with pytest.raises(InputError, match="matches no file"):
        prove_office(office)
    assert names(office / "out") == {*REPORTS, "run"}
