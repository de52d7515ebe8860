"""Hub pages: the arrows at a state that has too many for one focus view, some to a page.

The hub itself is then drawn with one box for each page, and where these are too many as well, the boxes are put on
pages in their turn. What comes out for each is a lifecycle, as of any fold.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from arrowproof.model.lifecycle import Arrow, Lifecycle
from arrowproof.model.record import record
from arrowproof.render.drawing import Drawing
from arrowproof.render.language import Language
from arrowproof.render.layout.fold import Fold, fold_arrows
from arrowproof.render.names import listed_names
from arrowproof.render.quality import is_read


@record
class HubPage:
    """Some arrows at a hub, by id: the ``name`` of their box, the ``states`` in it, and the ``fold`` that is drawn.

    ``ends`` are the names of what the arrows join to the hub. ``arrows`` leave out those that are drawn by themselves
    in any case, and ``pages`` are the boxes that are drawn on it.
    """

    name: str
    states: tuple[str, ...]
    ends: tuple[str, ...]
    arrows: tuple[str, ...]
    fold: Fold
    pages: tuple[HubPage, ...] = ()

    @property
    def is_box(self) -> bool:
        """Whether it is a box that opens; one arrow is drawn as such."""
        return len(self.arrows) > 1

    @property
    def all(self) -> tuple[HubPage, ...]:
        """This page and those behind it."""
        return (self, *(each for page in self.pages for each in page.all))


@record
class _End:
    """All arrows between the hub and one neighbour, or all self arrows, creations or removals, which have the hub in
    place of a neighbour."""

    state: str
    name: str
    arrows: tuple[Arrow, ...]


@record
class Hub:
    """A state whose focus view cannot be read.

    Args:
        lifecycle: the whole lifecycle.
        id: the state.
        language: of the words that are drawn.
        draw: what draws the focus view of the state in a fold.
        apart: the ids of arrows that are drawn by themselves in any case.
        taken: the names that no page may have.
    """

    lifecycle: Lifecycle
    id: str
    language: Language
    draw: Callable[[Fold], Drawing]
    apart: Collection[str] = ()
    taken: Collection[str] = ()

    def pages(self) -> tuple[HubPage, ...]:
        """The neighbours in file order on as few pages as can be read, of even length if that is enough.

        The arrows of one neighbour are parted only where they are too many by themselves. Self arrows, creations and
        removals stay at the hub if there is room for them.
        """
        pages = self._cut(self._neighbours)
        if self._others and not self._is_read(pages):
            pages = self._cut([*self._neighbours, *self._others])
        while not self._is_read(pages):
            fewer = self._put_on_pages(pages)
            if len(fewer) == len(pages):
                break
            pages = fewer
        return pages

    def fold(self, pages: Sequence[HubPage]) -> Fold:
        """The hub with a box for each page of several arrows, and all other arrows at it."""
        return self._folded(self._arrows, pages)

    @cached_property
    def _arrows(self) -> tuple[Arrow, ...]:
        return tuple(arrow for arrow in self.lifecycle.arrows if self.id in (arrow.source, arrow.target))

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return listed_names(self.lifecycle)

    @cached_property
    def _neighbours(self) -> Sequence[_End]:
        joined: dict[str | None, list[Arrow]] = {}
        for arrow in self._arrows:
            joined.setdefault(arrow.target if arrow.source == self.id else arrow.source, []).append(arrow)
        others = [state.id for state in self.lifecycle.states if state.id in joined and state.id != self.id]
        return [_End(other, self._names[other], tuple(joined[other])) for other in others]

    @cached_property
    def _others(self) -> Sequence[_End]:
        kinds = {
            self._names[self.id]: [arrow for arrow in self._arrows if arrow.source == arrow.target],
            self.language("end.created"): [arrow for arrow in self._arrows if arrow.source is None],
            self.language("end.removed"): [arrow for arrow in self._arrows if arrow.target is None],
        }
        return [_End(self.id, name, tuple(arrows)) for name, arrows in kinds.items() if arrows]

    def _is_read(self, pages: Sequence[HubPage]) -> bool:
        return is_read(self.draw(self.fold(pages)))

    def _cut(self, ends: Sequence[_End]) -> tuple[HubPage, ...]:
        if not ends:
            return ()
        parts: list[Sequence[_End]] = []
        for start, stop in pairwise(_cuts(len(ends), lambda a, b: self._fits(ends[a:b]))):
            part = ends[start:stop]
            parts += [part] if len(part) > 1 or self._fits(part) else self._parted(part[0])
        taken = set(self.taken)
        return tuple(self._page(part, taken) for part in parts)

    def _parted(self, end: _End) -> list[Sequence[_End]]:
        """One neighbour with arrows that cannot be read on one page, each part of them on its own."""

        def part(start: int, stop: int) -> Sequence[_End]:
            return (replace(end, arrows=end.arrows[start:stop]),)

        return [part(*ends) for ends in pairwise(_cuts(len(end.arrows), lambda a, b: self._fits(part(a, b))))]

    def _fits(self, ends: Sequence[_End]) -> bool:
        return is_read(self.draw(Fold(self._part(arrow for end in ends for arrow in end.arrows))))

    def _page(self, ends: Sequence[_End], taken: set[str]) -> HubPage:
        part = self._part(arrow for end in ends for arrow in end.arrows)
        names = tuple(end.name for end in ends)
        arrows = tuple(arrow.id for arrow in part.arrows if arrow.id not in self.apart)
        return HubPage(self._name(names, taken), tuple(end.state for end in ends), names, arrows, Fold(part))

    def _put_on_pages(self, pages: Sequence[HubPage]) -> tuple[HubPage, ...]:
        """Fewer pages, on which these are boxes."""
        taken = {*self.taken, *(each.name for page in pages for each in page.all)}
        cuts = _cuts(len(pages), lambda a, b: is_read(self.draw(self._opened(pages[a:b]))))
        return tuple(
            self._page_of(pages[start:stop], taken) if stop - start > 1 else pages[start]
            for start, stop in pairwise(cuts)
        )

    def _page_of(self, pages: Sequence[HubPage], taken: set[str]) -> HubPage:
        ends = tuple(end for page in pages for end in page.ends)
        return HubPage(
            name=self._name(ends, taken),
            states=tuple(dict.fromkeys(state for page in pages for state in page.states)),
            ends=ends,
            arrows=tuple(arrow for page in pages for arrow in page.arrows),
            fold=self._opened(pages),
            pages=tuple(pages),
        )

    def _opened(self, pages: Sequence[HubPage]) -> Fold:
        """The hub with these pages and nothing else."""
        inside = {arrow for page in pages for arrow in page.arrows}
        return self._folded([arrow for arrow in self._arrows if arrow.id in inside], pages)

    def _folded(self, arrows: Iterable[Arrow], pages: Sequence[HubPage]) -> Fold:
        boxes = {page.name: page.arrows for page in pages if page.is_box}
        return fold_arrows(self._part(arrows), self.id, boxes, self.language, self.apart)

    def _part(self, arrows: Iterable[Arrow]) -> Lifecycle:
        """The lifecycle of these arrows at the hub, in file order."""
        inside = {arrow.id for arrow in arrows}
        kept = tuple(arrow for arrow in self._arrows if arrow.id in inside)
        ends = {self.id}.union(*({arrow.source, arrow.target} for arrow in kept))
        states = tuple(replace(state, group=None) for state in self.lifecycle.states if state.id in ends)
        return replace(self.lifecycle, states=states, arrows=kept, views=())

    def _name(self, ends: Sequence[str], taken: set[str]) -> str:
        """What a page of arrows to these ends is called, numbered where there is such a name already."""
        plain = f"{self._names[self.id]}: {ends[0]}" + (f" … {ends[-1]}" if ends[-1] != ends[0] else "")
        name, number = plain, 1
        while name in taken:
            number += 1
            name = f"{plain} ({number})"
        taken.add(name)
        return name


def _cuts(count: int, fits: Callable[[int, int], bool]) -> list[int]:
    """Where a row of things is cut so that each part fits or is one thing: in as few parts, evenly if that fits too."""
    cuts, length = [0], 1
    while cuts[-1] < count:
        length = longest(cuts[-1], count, length, fits)
        cuts.append(cuts[-1] + length)
    parts = max(len(cuts) - 1, 1)
    evenly = [count * part // parts for part in range(parts + 1)]
    return evenly if all(fits(*ends) for ends in pairwise(evenly)) else cuts


def longest(start: int, count: int, guess: int, fits: Callable[[int, int], bool]) -> int:
    """How many things from there on fit, at least one.

    The trials go away from the guess in growing steps, until both a count that fits and one that does not are known: a
    good guess, as the length of the part before it nearly always is, needs hardly more than these two.
    """
    fitting, beyond = 1, count - start + 1
    has_fitted = has_failed = False
    trial, step = guess, 1
    while beyond - fitting > 1:
        trial = min(max(trial, fitting + 1), beyond - 1)
        if fits(start, start + trial):
            fitting, has_fitted = trial, True
        else:
            beyond, has_failed = trial, True
        if has_fitted and has_failed:
            trial = (fitting + beyond) // 2
        else:
            trial, step = (fitting + step if has_fitted else beyond - step), 2 * step
    return fitting
