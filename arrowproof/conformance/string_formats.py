"""String formats: what methods and calls of a language make of the chunks of a literal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from arrowproof.conformance.pieces import Chunk

_PLACEHOLDER = re.compile(r"%(?:(?P<number>\d+)\$|\[(?P<index>\d+)\])?[+#]?[a-z]|[%#$]?\{(?P<place>\d*)(?::[^{}]*)?\}")
_MARGIN = re.compile(r"\n[ \t]*\|")


def tidied(method: str, chunks: list[Chunk]) -> list[Chunk]:
    """What a method makes of white space, where that matters to SQL: a comment on a line of its own, and margins."""
    if "squish" in method and any("--" in each.text for each in chunks):
        return [replace(each, text=each.text.replace("\n", " ")) for each in chunks]
    if "Margin" in method:
        return [each if each.is_hole else replace(each, text=_MARGIN.sub("\n", each.text)) for each in chunks]
    return chunks


def filled(chunks: Sequence[Chunk], arguments: Sequence[Sequence[Chunk]]) -> list[Chunk]:
    """A format with its placeholders as the arguments that fill them."""
    found: list[Chunk] = []
    following = 0
    for chunk in chunks:
        match = _PLACEHOLDER.fullmatch(chunk.text) if chunk.is_hole else None
        if match is None:
            found.append(chunk)
            continue
        place, number = match["place"], match["number"] or match["index"]
        index = int(place) if place else int(number) - 1 if number else following
        following += not (place or number)
        argument = arguments[index] if index < len(arguments) else None
        found += [replace(each, line=chunk.line, last_line=chunk.line) for each in argument] if argument else [chunk]
    return found


def replaced(chunks: Sequence[Chunk], arguments: Sequence[Sequence[Chunk]]) -> list[Chunk]:
    """The text with one part of it put in the place of another, where both are written out or the new one is a hole."""
    if len(arguments) < 2 or len(arguments[0]) != 1 or not arguments[0][0].text:
        return list(chunks)
    old, found = arguments[0][0].text, list[Chunk]()
    if arguments[0][0].is_hole:
        word = re.fullmatch(r"/(\w+)/[a-z]*", old)
        if word is None:
            return tidied("squish" if re.search(r"\\[snr]", old) else "", list(chunks))
        old = word[1]
    for chunk in chunks:
        if chunk.is_hole and chunk.text == old:
            found += [replace(each, line=chunk.line, last_line=chunk.line) for each in arguments[1]]
            continue
        parts = [chunk.text] if chunk.is_hole else chunk.text.split(old)
        line = chunk.line
        for number, part in enumerate(parts):
            if number:
                found += [replace(each, line=line, last_line=line) for each in arguments[1]]
            found.append(replace(chunk, text=part, line=line))
            line = min(line + part.count("\n"), max(chunk.line, chunk.last_line))
    return found
