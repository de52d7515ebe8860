"""Reasons: why the verdict of a proof is not better, as its column says it.

An evidence holds its reasons as English sentences. Here each is known by its kind, and said in the language of the page
with the states as the drawing calls them; what a driver or the scan says in it stays as it was written, and so does a
sentence of no known kind. Evidence has a reason for each sneak path. They all ask for the same, and each of them stands
in the list below, so many of one kind are one sentence here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from arrowproof.model.evidence import Evidence
from arrowproof.model.record import record
from arrowproof.model.transitions import CREATED, transition_name
from arrowproof.render.language import Language
from arrowproof.render.names import arrow_text
from arrowproof.render.proof_words import MAX_SENTENCE, ProofWords, bounded

_FEW = 2
"""So many sneak paths of a kind have their own reasons, which say where they are written."""

_KINDS = {" is possible: ": "proof.all_possible", " happened: ": "proof.all_happened"}
"""What the reason of a sneak path says behind its name, and the sentence for many of them."""

_AHEAD = "Sneak path "
_MARKS = (*_KINDS, " is not written", " is not walked", " did not survive a kill ", " was not killed ")
"""What stands in a reason behind the name of its transition or sneak path."""

_WHY = r"(?P<why>.+?)(?: \(written at (?P<written>[^()]+)\))?\."
_BEHIND_NAME = {
    "reason.possible": r" is possible: (?P<places>.+) can make it; (?P<then>.+)",
    "reason.happened": r" happened: the journal holds it (?:once|(?P<times>\d+) times); (?P<then>.+)",
    "reason.unwritten_maybe": r" is not written: only (?P<places>.+) may make it, and the scan cannot tell\.",
    "reason.unwritten_outside": (
        r" is not written, yet it was walked: its statement stands outside the model's sources\."
    ),
    "reason.unwritten": r" is not written: no statement that was read can make it\.",
    "reason.no_walk": r" is not walked: no walk of it was made(?: \(written at (?P<written>[^()]+)\))?\.",
    "reason.walk": rf" is not walked: {_WHY}",
    "reason.walk_by": rf" is not walked by (?P<path>.+?): {_WHY}",
    "reason.kill_before": rf' did not survive a kill before commit at "(?P<point>.+?)": {_WHY}',
    "reason.kill_after": rf' did not survive a kill after commit at "(?P<point>.+?)": {_WHY}',
    "reason.no_kill_before": rf" was not killed before commit: {_WHY}",
    "reason.no_kill_after": rf" was not killed after commit: {_WHY}",
}
"""The kinds of reason that begin with the name of a transition or sneak path: what stands behind that."""

_WHOLE = {
    "reason.undecided": r"(?P<places>.+?:\d+) is undecided: (?P<why>.+)\.",
    "reason.dynamic": r"(?P<places>.+?:\d+) has a dynamic target from (?P<sources>.+?): (?P<why>.+)\.",
    "reason.no_transition": r"The model has no transition, so there is nothing to prove\.",
}
"""The other kinds of reason."""

_THEN = {
    "reason.name_its": r"name its source states, or draw the arrow\.",
    "reason.name_their": r"name their source states\.",
    "reason.race": (
        r"the row is looked at without a lock: lock it \(FOR UPDATE\), or name the source states in the outer WHERE\."
    ),
    "reason.draw_or_take_one": r"draw the arrow, or take the statement out\.",
    "reason.draw_or_take": r"draw the arrow, or take the statements out\.",
    "reason.unmade": r"no statement that was read can make it\.",
    "reason.unmade_stray": r"no statement that was read can make it; (?P<then>.+)",
    "reason.made": r"(?P<places>[^;]+) can make it\.",
    "reason.made_stray": r"(?P<places>[^;]+) can make it; (?P<then>.+)",
    "reason.stray_near": r"no state has the value (?P<value>.+); did you mean (?P<near>.+)\?",
    "reason.stray": r"no state has the value (?P<value>.+)\.",
}
"""What the reason of a sneak path says at its end."""

_LONGEST = 2_000
"""Characters of a reason of a known kind; a proof writes none that is longer."""

_MORE = re.compile(r"(.+) and (\d+) more")


def say_reasons(evidence: Evidence, words: ProofWords) -> tuple[str, ...]:
    """One sentence each, in the order of the evidence; that of a kind of sneak paths stands where the first did."""
    speaker = _Speaker(evidence, words)
    kinds = [speaker.kind(reason) for reason in evidence.reasons]
    many = {kind for kind in _KINDS if kinds.count(kind) > _FEW}
    said = {
        words.language(_KINDS[kind], number=kinds.count(kind)) if kind in many else speaker.say(reason): None
        for reason, kind in zip(evidence.reasons, kinds, strict=True)
    }
    return tuple(said)


@record
class _Speaker:
    """What says the reasons of one evidence."""

    evidence: Evidence
    words: ProofWords

    @property
    def language(self) -> Language:
        return self.words.language

    @cached_property
    def names(self) -> Mapping[str, tuple[str, str]]:
        """Both ends, as they are shown, of what reasons begin with; sneak paths are named with what they are."""
        sneaks = [(path.source, path.target) for path in self.evidence.sneak_paths]
        steps = [(step.source, step.target) for step in self.evidence.transitions]
        named = [(_AHEAD, pair) for pair in sneaks] + [("", pair) for pair in steps]
        return {ahead + transition_name(*pair): self.words.listed_ends(pair) for ahead, pair in named}

    def kind(self, reason: str) -> str:
        """What a reason says of a sneak path of the evidence; empty for every other reason."""
        _, mark = self._parted(reason)
        return mark if mark in _KINDS and reason.startswith(_AHEAD) else ""

    def say(self, reason: str) -> str:
        """The sentence of a reason, as long as one in a column."""
        name, mark = self._parted(reason)
        if not mark:
            return _shown(self._of_kind(_WHOLE, reason) or reason)
        behind, shown = reason.removeprefix(name), " → ".join(self.names[name])
        ahead = _AHEAD if name.startswith(_AHEAD) and mark in _KINDS else ""
        sentence = _shown(self._of_kind(_BEHIND_NAME, behind, shown) or f"{ahead}{shown}{behind}")
        return sentence.replace(shown, arrow_text(*self.names[name]), 1)

    def _parted(self, reason: str) -> tuple[str, str]:
        """The name at the start of a reason and what stands behind it; both empty when it names nothing known."""
        parted = ((reason.partition(mark)[0], mark) for mark in _MARKS if mark in reason)
        return next(((name, mark) for name, mark in parted if name in self.names), ("", ""))

    def _of_kind(self, kinds: Mapping[str, str], text: str, name: str = "") -> str:
        """A text of one of these kinds in the language of the page; empty when it is of none."""
        if len(text) > _LONGEST:
            return ""
        for key, pattern in kinds.items():
            if found := re.fullmatch(pattern, text):
                return self.language(key, name=name, **self._values(found.groupdict()))
        return ""

    def _values(self, found: Mapping[str, str | None]) -> Mapping[str, str]:
        values = {key: value or "" for key, value in found.items()}
        if "times" in found:
            values["times"] = self.language.count("reason.times", int(found["times"] or 1))
        if "then" in found:
            values["then"] = self._of_kind(_THEN, values["then"]) or values["then"]
        if "places" in found:
            values["places"] = self._places(values["places"])
        if "sources" in found:
            values["sources"] = self.language("proof.list").join(map(self._state, values["sources"].split(", ")))
        if found.get("written"):
            values["written"] = self.language("reason.written", places=self._places(values["written"]))
        return values

    def _places(self, text: str) -> str:
        """A list of places, with how many others there are."""
        more = _MORE.fullmatch(text)
        listed = (more[1] if more else text).replace(", ", self.language("proof.list"))
        return self.language("proof.list_more", listed=listed, number=more[2]) if more else listed

    def _state(self, id: str) -> str:
        """A state as a list calls it, or the word for a row's creation; any other text stays.

        A state whose id is that word is named in quotes.
        """
        if id == CREATED:
            return self.language("end.created")
        return self.words.listed_names.get(id) or self.words.listed_names.get(id.strip('"'), id)


def _shown(reason: str) -> str:
    return bounded(reason, MAX_SENTENCE).replace(" -> ", " → ")
