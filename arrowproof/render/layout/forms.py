"""Forms: how much of a lifecycle is written into its drawing, from everything to what is just enough to be read.

In the plain form each arrow has a line of its own and its whole label. Where that comes out too small, arrows with the
same ends share a line, a *cord*, on which each has its bead and its label; then numbers stand for the labels, and a key
beside the drawing says what they mean; then the notes of the states give way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from arrowproof.model.lifecycle import Arrow, Lifecycle, State
from arrowproof.model.record import record
from arrowproof.render.layout.sizes import LabelLimits, LabelSize, measure_cord, measure_label, measure_tag
from arrowproof.render.quality import MANY_STATES

_APART = 2
"""So many arrows with the same ends never share a line."""
_CROWD = 3
"""More arrows with the same ends share a line where that makes the drawing clearly larger."""
_CORDS = (12, 6)
"""How many arrows share a line at most: with long labels fewer, since these stand below each other."""
_MANY_ARROWS = 100
"""Of more arrows, each for itself, a crowd shares its lines from the start."""
_MOST_LINES, _LINES_FOR_STATE, _MOST_EVER, _LEAST_STATES = 100, 4.5, 140, 9
"""Lines that may be kept apart: so many, or for many states so many for each, and the most; and how few states have so
many in any case."""
_WIDER = 1.5
"""How much wider the labels of a cord may be: each of them stands alone in its row."""


@record
class Form:
    """How a lifecycle is written into its drawing.

    ``most`` is how many arrows share a line at most, ``numbers`` are what stands for labels, by arrow id, None for
    whole labels, and ``has_notes`` says that states have their notes. An arrow without a number has no label then.
    ``apart`` is the least distance of parallel lines, in units, where the usual ones are not enough.
    """

    most: int = 1
    numbers: Mapping[str, int] | None = None
    has_notes: bool = True
    apart: int = 0

    def shown(self, state: State) -> State:
        """A state with what is written into its box."""
        return state if self.has_notes else replace(state, note=None)

    def lines(self, arrows: Sequence[Arrow]) -> Iterator[tuple[Arrow, ...]]:
        """The arrows of each line, in the order of their first ones.

        Many arrows with the same ends are spread evenly over as few lines as hold them.
        """
        alike: dict[tuple[str | None, str | None] | str, list[Arrow]] = {}
        for arrow in arrows:
            has_ends = arrow.source is not None and arrow.target is not None
            alike.setdefault((arrow.source, arrow.target) if has_ends else arrow.id, []).append(arrow)
        place = {arrow.id: number for number, arrow in enumerate(arrows)}
        lines = chain.from_iterable(self._spread(each) for each in alike.values())
        yield from sorted(lines, key=lambda line: place[line[0].id])

    def _spread(self, arrows: Sequence[Arrow]) -> Iterator[tuple[Arrow, ...]]:
        most = 1 if len(arrows) <= _APART else self.most
        # Self arrows stand below each other in any case, and two cords of them would only make their box higher.
        is_one = most > 1 and arrows[0].source == arrows[0].target
        lines = 1 if is_one else -(-len(arrows) // most)
        ends = [len(arrows) * line // lines for line in range(lines + 1)]
        return (tuple(arrows[start:end]) for start, end in pairwise(ends))

    def label(self, arrows: Sequence[Arrow], captions: Mapping[str, str], limits: LabelLimits) -> LabelSize:
        """The label of one line, with an entry for each arrow if it is a cord."""
        if self.numbers is not None:
            labels = [measure_tag(self.numbers.get(arrow.id)) for arrow in arrows]
        elif len(arrows) == 1:
            labels = [measure_label(arrows[0], captions.get(arrows[0].id, ""), limits)]
        else:
            wide = LabelLimits(_WIDER * limits.whole, _WIDER * limits.part)
            labels = [measure_label(arrow, captions.get(arrow.id, ""), wide, is_beside=True) for arrow in arrows]
        return labels[0] if len(labels) == 1 else measure_cord(labels)


PLAIN = Form()
"""Everything is written, and each arrow has a line of its own."""


def first_form(lifecycle: Lifecycle) -> Form:
    """The plain form, but for a crowd among very many states or arrows: that is never read so."""
    is_large = len(lifecycle.states) > MANY_STATES or len(lifecycle.arrows) > _MANY_ARROWS
    return Form(_CORDS[0]) if is_large and is_crowded(lifecycle) else PLAIN


def closer_forms(lifecycle: Lifecycle, numbers: Mapping[str, int] | None) -> Iterator[Form]:
    """The forms for a lifecycle that is too large in the plain one, from the one that says most to the closest one.

    A lifecycle of very many states has none, since it is not read as a whole in any form.
    """
    most, alike = 1, _most_alike(lifecycle)
    if alike > _APART and len(lifecycle.states) <= MANY_STATES:
        most = _CORDS[0]
        yield Form(most)
        # Where no line is that full, shorter cords would be the same ones.
        yield from (Form(each) for each in _CORDS[1:] if each < alike)
    if numbers is not None:
        yield Form(most, numbers)
        yield Form(most, numbers, has_notes=False)


def is_crowded(lifecycle: Lifecycle) -> bool:
    """Whether so many arrows have the same ends that lines of their own are a thicket, even where they can be read."""
    return bool(crowded_ends(lifecycle))


def is_thicket(lifecycle: Lifecycle) -> bool:
    """Whether its lines are so many, even with each crowd as one, that no drawing of the whole keeps them apart.

    Few states leave less room for them than many: random arrows between 24 states came too near to each other from 130
    on, and from 160 on between 45. A lifecycle of fewer states than an overview in parts needs is none.
    """
    crowds = crowded_ends(lifecycle)
    lines = len(crowds) + sum((arrow.source, arrow.target) not in crowds for arrow in lifecycle.arrows)
    states = len(lifecycle.states)
    return states >= _LEAST_STATES and lines > min(max(_MOST_LINES, _LINES_FOR_STATE * states), _MOST_EVER)


def crowded_ends(lifecycle: Lifecycle) -> frozenset[tuple[str | None, str | None]]:
    """The ends, as (source, target), that so many arrows have."""
    return frozenset(ends for ends, count in _alike(lifecycle).items() if count > _CROWD)


def _most_alike(lifecycle: Lifecycle) -> int:
    return max(_alike(lifecycle).values(), default=0)


def _alike(lifecycle: Lifecycle) -> Mapping[tuple[str | None, str | None], int]:
    """How many arrows between two states have the same ends."""
    return Counter((arrow.source, arrow.target) for arrow in lifecycle.arrows if arrow.source and arrow.target)
