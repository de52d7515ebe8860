from __future__ import annotations

from arrowproof.model.lifecycle import Arrow, Kind, Lifecycle, State
from arrowproof.render.drawing import ArrowPath, Box, Drawing, Point
from arrowproof.render.layout import layout_lifecycle
from arrowproof.render.layout.direction import bent_steps
from arrowproof.render.layout.graph import read_graph
from arrowproof.render.layout.sizes import LabelLimits

STATES = {
    "made": (Kind.WAITING, "Created", None),
    "suspended": (Kind.WAITING, "Suspended", "no pods"),
    "active": (Kind.ACTIVE, "Active", "pods run"),
    "waits": (Kind.WAITING, "Back-off", "10 s, 20 s, 40 s …"),
    "enough": (Kind.PASSING, "Success criteria met", None),
    "given up": (Kind.PASSING, "Failure target", None),
    "stops": (Kind.ACTIVE, "Terminating pods", None),
    "complete": (Kind.SUCCESS, "Complete", None),
    "failed": (Kind.FAILURE, "Failed", None),
}
ARROWS = (
    (None, "made", "kubectl create"),
    ("made", "suspended", "[spec.suspend]"),
    ("made", "active", "[not suspended]"),
    ("suspended", "active", "resume / startTime reset"),
    ("active", "suspended", "suspend / pods deleted"),
    ("active", "waits", "pod fails [failures <= backoffLimit]"),
    ("waits", "active", "delay elapsed"),
    ("active", "enough", "pods succeed [completions reached]"),
    ("active", "given up", "pod fails [failures > backoffLimit]"),
    ("active", "given up", "activeDeadlineSeconds over"),
    ("waits", "given up", "podFailurePolicy FailJob"),
    ("enough", "complete", None),
    ("given up", "stops", None),
    ("stops", "failed", "all pods gone"),
    ("complete", None, "ttlSecondsAfterFinished"),
    ("failed", None, "ttlSecondsAfterFinished"),
)
KUBERNETES_JOB = Lifecycle(
    "job",
    "Kubernetes Job",
    tuple(State(id, kind, label, id, note=note) for id, (kind, label, note) in STATES.items()),
    tuple(Arrow(f"a{number}", *arrow) for number, arrow in enumerate(ARROWS)),
)
LIMITS = LabelLimits(130, 140)


def test_a_step_of_the_main_path_is_bent_unless_one_of_its_arrows_is_straight() -> None:
    states = (State("a", Kind.ACTIVE, "A", "a"), State("b", Kind.SUCCESS, "B", "b"))
    graph = read_graph(Lifecycle("x", "X", states, (Arrow("one", "a", "b"), Arrow("two", "a", "b"))), {}, LIMITS)
    straight: tuple[Point, ...] = ((0, 0), (9, 0))
    bent: tuple[Point, ...] = ((0, 0), (5, 0), (5, 5), (9, 5))

    def drawn(*lines: tuple[Point, ...]) -> Drawing:
        paths = (ArrowPath(id, line, line[0]) for id, line in zip(("one", "two"), lines, strict=True))
        return Drawing(Box(0, 0, 9, 9), (), tuple(paths))

    assert bent_steps(graph, drawn(bent, straight)) == 0
    assert bent_steps(graph, drawn(bent, bent)) == 1


def test_the_way_from_creation_to_success_is_straight_though_another_drawing_has_text_a_little_larger() -> None:
    assert bent_steps(read_graph(KUBERNETES_JOB, {}, LIMITS), layout_lifecycle(KUBERNETES_JOB)) == 0
