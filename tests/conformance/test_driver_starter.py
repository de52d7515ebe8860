"""The starter of a driver is a module that loads, and that proves a service once its places are filled in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from arrowproof.conformance.driver import Driver, DriverError, load_driver
from arrowproof.conformance.driver_starter import driver_name, driver_text, module_name
from arrowproof.conformance.proof import prove
from arrowproof.model.evidence import Verdict
from arrowproof.model.lifecycle import Arrow, Binding, Kind, Lifecycle, State
from arrowproof.model.loader import load_lifecycle
from arrowproof.model.transitions import derive_transitions

ROOT = Path(__file__).parents[2]
BOOKING = ROOT / "examples" / "booking"
MODELS = [
    ROOT / "arrowproof/service/notes-job.lifecycle.json",
    *sorted(ROOT.glob("examples/*/lifecycle.json")),
    *sorted(ROOT.glob("examples/gallery/*.lifecycle.json")),
]


def made(lifecycle: Lifecycle) -> Driver:
    """A driver of the starter's class."""
    names: dict[str, type[Driver]] = {}
    exec(compile(driver_text(lifecycle), "starter.py", "exec"), names)
    return names[driver_name(lifecycle)]()


def job(*, name: str = "job", state: str = "new", key: tuple[str, ...] = ("id",)) -> Lifecycle:
    states = (State(state, Kind.WAITING, state, state), State("done", Kind.SUCCESS, "Done", "done"))
    arrows = (Arrow("add", None, state), Arrow("end", state, "done"))
    return Lifecycle(id=name, title="Job", binding=Binding("jobs", key, "state"), states=states, arrows=arrows)


@pytest.mark.parametrize("model", MODELS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_transition_has_a_place_that_says_it_is_not_written_yet(model: Path) -> None:
    lifecycle = load_lifecycle(model)
    driver = made(lifecycle)
    for transition in derive_transitions(lifecycle):
        with pytest.raises(DriverError) as told:
            driver.walk(transition, None)
        assert str(told.value) == f"Not written yet: {transition.name}"


def test_a_transition_with_several_ways_asks_which_was_taken() -> None:
    ways = "# There are several ways"
    assert ways in driver_text(load_lifecycle(ROOT / "arrowproof/service/notes-job.lifecycle.json"))
    assert ways not in driver_text(load_lifecycle(BOOKING / "lifecycle.json"))


@pytest.mark.parametrize(
    "text", ['a"b', "a'b", "a\"'b", 'x""" + 1', "a\\nb", "状態", "\u202eab", "{name}", "a\u2028b", "\\"]
)
def test_whatever_a_state_or_a_key_is_called_the_module_can_be_loaded(text: str) -> None:
    lifecycle = job(state=text, key=(text, "id"))
    for transition in derive_transitions(lifecycle):
        with pytest.raises(DriverError, match="Not written yet"):
            made(lifecycle).walk(transition, None)


@pytest.mark.parametrize(
    ("name", "class_name", "module"),
    [
        ("mail-job", "MailJobDriver", "mail_job_driver"),
        ("mailJob_2", "MailJob2Driver", "mailjob_2_driver"),
        ("2fa", "Service2faDriver", "service_2fa_driver"),
        ("--", "ServiceDriver", "service_driver"),
        ("注文", "注文Driver", "注文_driver"),
        ("class", "ClassDriver", "class_driver"),
        ("ｶﾞ", "ガDriver", "ガ_driver"),
        ("ﬁne-ｊｏｂ", "FineJobDriver", "fine_job_driver"),
        ("ΐ", "Ϊ́Driver", "ΐ_driver"),
    ],
)
def test_class_and_module_are_named_by_the_lifecycle(name: str, class_name: str, module: str) -> None:
    assert (driver_name(job(name=name)), module_name(job(name=name))) == (class_name, module)
    made(job(name=name))


def test_filled_in_it_proves_the_service(tmp_path: Path) -> None:
    for name in ("lifecycle.json", "booking_service.py"):
        shutil.copy(BOOKING / name, tmp_path)
    lifecycle = load_lifecycle(tmp_path / "lifecycle.json")
    text = driver_text(lifecycle)
    for old, new in {
        '"-m", "your_service"': 'str(Path(__file__).with_name("booking_service.py"))',
        "self.server.read_line()": 'self.url = self.server.read_line() + "/bookings"',
        'raise DriverError("Not written yet: created -> held")': "key = ask(self.url)",
        'raise DriverError("Not written yet: held -> confirmed")': 'ask(f"{self.url}/{key[0][1]}/confirm")',
        'raise DriverError("Not written yet: held -> cancelled")': 'ask(f"{self.url}/{key[0][1]}/cancel")',
        'raise DriverError("Not written yet: confirmed -> cancelled")': 'ask(f"{self.url}/{key[0][1]}/cancel")',
    }.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    text += (
        "\n\ndef ask(url):\n    import httpx\n\n    answer = httpx.post(url, trust_env=False).raise_for_status()\n"
        '    return (("id", answer.json()["id"]),)\n'
    )
    (tmp_path / "starter_driver.py").write_text(text)
    driver = load_driver(f"starter_driver:{driver_name(lifecycle)}", tmp_path)
    evidence = prove(lifecycle, driver, tmp_path / "out")
    assert evidence.verdict is Verdict.PROVEN, json.dumps(evidence.reasons)
