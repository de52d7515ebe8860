"""The shipped JSON Schemas, and what they say about a document, in our words.

jsonschema decides; :mod:`arrowproof.model.conformity` spares it the files that are plainly right. Each of its errors
becomes one :class:`~arrowproof.errors.Problem` under a stable name:

=====================  ===============================================================
rule                   what is wrong
=====================  ===============================================================
unknown-field          a field that the format does not have
missing-field          a field that the format needs is not there
wrong-kind             a string where a number belongs, and so on
wrong-format           ``format`` names another format or version
another-file           the file is another one of ours, such as evidence; nothing more is said of it
not-one-of             a word that is not on the list
too-short, too-long    a string outside its length; an array outside its size
unreadable-text        a reason that says nothing; a source glob with control characters; a driver that is no
                       ``module:Class``
out-of-range           a number that is too small or too large
repeated-entry         an entry that its array already has
arrow-without-ends     an arrow or an accepted sneak path with neither ``from`` nor ``to``
empty-view             a view with neither ``states`` nor ``arrows``
state-column           a binding with both or neither of ``state`` and ``state_sql``
passing-value          a passing state with a ``value``: it is never stored
=====================  ===============================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arrowproof.errors import Problem
from arrowproof.model.conformity import surely_conforms
from arrowproof.model.document import MAX_PROBLEMS, Document, path_text, short_json
from arrowproof.model.scanner import JsonPath

if TYPE_CHECKING:
    from jsonschema import ValidationError

_SAID_ELSEWHERE = {
    "transitions": ("arrows",),
    "edges": ("arrows",),
    "nodes": ("states",),
    "name": ("label", "title"),
    "type": ("kind",),
    "subtitle": ("summary",),
    "description": ("note", "summary"),
    "source": ("from",),
    "target": ("to",),
    "trigger": ("event",),
    "condition": ("guard",),
    "action": ("effect",),
    "final": ("terminal",),
    "column": ("state",),
    "primary_key": ("key",),
}
"""What other tools call our fields, whatever the spelling is near to."""

_NEAR = 0.75
"""How alike in spelling, from 0 to 1 as difflib has it, a field must be to be what was meant."""

_KINDS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "null": "null",
}


def schema_text(name: str) -> str:
    """The text of a shipped schema: ``lifecycle``, ``evidence`` or ``report``."""
    return Path(__file__).with_name(f"{name}.schema.json").read_text(encoding="utf-8")


@cache
def load_schema(name: str) -> dict[str, Any]:
    """A shipped schema as data: ``lifecycle``, ``evidence`` or ``report``. Not to be changed."""
    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def check_schema(document: Document, name: str) -> tuple[Problem, ...]:
    """What the schema ``name`` says is wrong with ``document``, in file order; empty when it conforms."""
    schema = load_schema(name)
    if surely_conforms(document.data, schema):
        return ()
    wanted = _formats(schema)[-1]
    if _is_another_file(document.data, wanted):
        said = document.data["format"]
        fix = f'Name a file of the format "{wanted}".'
        return (_problem(document, ("format",), "another-file", "this is another kind of file", fix, said),)
    errors = _validator()(schema).iter_errors(document.data)
    found = islice((problem for error in errors for problem in _problems(document, error)), MAX_PROBLEMS)
    return tuple(sorted(dict.fromkeys(found), key=lambda problem: (problem.line, problem.column)))


def _formats(schema: Mapping[str, Any]) -> Sequence[str]:
    """The formats that a schema describes, the newest last: one, or every version that is still read."""
    said = schema["properties"]["format"]
    formats: Sequence[str] = said["enum"] if "enum" in said else [said["const"]]
    return formats


def _is_another_file(data: Any, wanted: str) -> bool:
    """Whether the file says of itself that it is something else that Arrowproof writes or reads."""
    said = data.get("format") if isinstance(data, dict) else None
    return isinstance(said, str) and said.startswith("arrowproof.") and said.split("/")[0] != wanted.split("/")[0]


@cache
def _validator() -> Any:
    """jsonschema's validator with a ``uniqueItems`` of our own: its own compares every two entries of a mixed array,
    which takes hours for a hostile file.
    """
    from jsonschema.validators import Draft202012Validator, extend  # late: it costs 150 ms

    made: Any = extend  # it bears no types
    return made(Draft202012Validator, {"uniqueItems": _unique_items})


def _unique_items(_validator: Any, wanted: bool, items: object, _schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if wanted and isinstance(items, list):
        texts = (json.dumps(item, sort_keys=True) for item in items)
        if len(set(texts)) < len(items):
            yield ValidationError("an entry is repeated")


def _problems(document: Document, error: ValidationError) -> Iterator[Problem]:
    """One error of jsonschema as problems: one for each field that is unknown or missing, else one."""
    path = tuple(error.absolute_path)
    argument, instance, schema = _parts(error)
    if error.validator == "additionalProperties":
        known = list(schema["properties"])
        for field in instance:
            if field not in known:
                yield _problem(
                    document, (*path, field), "unknown-field", "unknown field", _known_fields(field, known), field
                )
    elif error.validator == "required":
        for field in argument:
            if field not in instance:
                yield _problem(document, path, "missing-field", f'the field "{field}" is missing', f'Add "{field}".')
    else:
        rule, message, fix = _explain(error)
        if rule == "passing-value":
            path = (*path, "value")  # a schema that is false leaves the path at the object
        yield _problem(document, path, rule, message, fix, instance)


def _parts(error: ValidationError) -> tuple[Any, Any, Any]:
    """The keyword's argument, the value that breaks it and the schema that both stand in: plain JSON, whatever kind."""
    return error.validator_value, error.instance, error.schema


def _problem(document: Document, path: JsonPath, rule: str, message: str, fix: str, value: Any = None) -> Problem:
    at_key = rule in ("unknown-field", "passing-value")
    line, column = document.key_position(path) if at_key else document.position(path)
    shown = None if isinstance(value, dict) or rule == "missing-field" else short_json(value)
    return Problem(rule, path_text(path), line, column, message, fix, shown)


def _known_fields(field: str, known: Sequence[str]) -> str:
    """The way out for an unknown field: what may have been meant, and which fields there are."""
    from difflib import get_close_matches  # late: for wrong files only

    elsewhere = [name for name in _SAID_ELSEWHERE.get(field.lower(), ()) if name in known]
    near = elsewhere or get_close_matches(field[:100].lower(), known, n=1, cutoff=_NEAR)
    hint = f'Did you mean "{near[0]}"? The' if near else "Remove it; the"
    return f"{hint} fields here are {', '.join(name for name in known if name != '$schema')}."


def _explain(error: ValidationError) -> tuple[str, str, str]:
    """Rule, message and fix for one error."""
    argument, instance, schema = _parts(error)
    match str(error.validator):
        case "type":
            kinds = [argument] if isinstance(argument, str) else argument
            if kinds == ["array"] and isinstance(instance, str) and _has_texts(schema):
                return "wrong-kind", "expected an array", f"Write [{short_json(instance)}]."
            wanted = " or ".join(_KINDS[kind] for kind in kinds)
            leave = ", or leave the field out" if instance is None else ""
            return "wrong-kind", f"expected {wanted}", f"Write {wanted}{leave}."
        case "const":
            fix = f'Write "{argument}"; if the file was made for a newer Arrowproof, update yours.'
            return "wrong-format", "this version reads another format", fix
        case "enum" if list(error.absolute_path) == ["format"]:
            fix = f'Write "{argument[-1]}"; if the file was made for a newer Arrowproof, update yours.'
            return "wrong-format", "this version reads other formats", fix
        case "enum":
            return "not-one-of", "not an allowed value", _allowed(instance, argument)
        case "pattern":
            return "unreadable-text", *_explain_pattern(error)
        case "uniqueItems":
            return "repeated-entry", "an entry stands here twice", "Remove the repeated entry."
        case "anyOf" if {"required": ["arrows"]} in argument:
            fix = 'Give "states", "arrows" or both: what the view shows.'
            return "empty-view", 'neither "states" nor "arrows" is given', fix
        case "anyOf":
            fix = 'Give "from", "to" or both: without "from" a row is created, without "to" it is removed.'
            return "arrow-without-ends", 'neither "from" nor "to" is given', fix
        case "oneOf":
            fix = 'Give "state", the column, or "state_sql", an expression over the row, and not both.'
            return "state-column", 'exactly one of "state" and "state_sql" is needed', fix
        case "None":  # the schema of "value" is false
            fix = 'Remove "value", or give the state another kind.'
            return "passing-value", "a passing state is never stored and has no value", fix
        case _:
            return _explain_bound(error)


def _has_texts(schema: Any) -> bool:
    """Whether the entries of an array of the lifecycle are strings."""
    items = schema.get("items", {})
    kind = items.get("$ref", "").removeprefix("#/$defs/")
    return "string" in (items.get("type"), load_schema("lifecycle")["$defs"].get(kind, {}).get("type"))


def _explain_bound(error: ValidationError) -> tuple[str, str, str]:
    """Rule, message and fix where a length, size or number is outside its bound."""
    argument, instance, _ = _parts(error)
    match error.validator:
        case "minLength":
            return "too-short", "an empty string says nothing", "Write the text, or leave the field out."
        case "minItems":
            return "too-short", "an empty array", "Write at least one entry."
        case "maxLength":
            size = len(instance)
            return "too-long", f"{size} characters, at most {argument} are allowed", "Shorten the text."
        case "maxItems":
            size = len(instance)
            return "too-long", f"{size} entries, at most {argument} are allowed", "Split the file into several."
        case _:
            bound = f"{'at least' if error.validator == 'minimum' else 'at most'} {argument}"
            return "out-of-range", f"expected {bound}", f"Write a number of {bound}."


def _explain_pattern(error: ValidationError) -> tuple[str, str]:
    """Message and fix for a string that does not match its pattern."""
    text = str(error.instance)
    if "driver" in error.absolute_path:
        return "no driver", 'Write "module:Class", such as "shop.proof:OrderDriver".'
    if not text.strip():
        return "an empty text says nothing", "Write the text, or leave the field out."
    return "a control character in a text", "Remove it; a text is one line."


def _allowed(value: Any, allowed: list[str]) -> str:
    """The way out for a word that is not on the list."""
    from difflib import get_close_matches  # late: for wrong files only

    near = get_close_matches(str(value)[:100].lower(), allowed, n=1)
    hint = f'Did you mean "{near[0]}"? ' if near else ""
    return f"{hint}Allowed: {', '.join(allowed)}."
