"""A quick yes: does a value conform to a JSON Schema?

Importing jsonschema takes longer than the rest of `arrowproof render` together. So it is asked only about files that
this module cannot say yes to. ``surely_conforms`` knows the keywords that the shipped schemas use, and the values for
which their meaning is plain; where it meets anything else it doubts, and doubt is no yes. It never says what is
wrong: jsonschema does. That its yes is jsonschema's yes is tested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Schema = Mapping[str, Any]
_Check = Callable[[Any, Any, Schema, Schema], bool]
"""(value, the keyword's argument, the schema that it stands in, the whole schema) -> whether the keyword holds."""

_ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "examples"}
_READ_BY_IF = {"then"}


class _DoubtError(Exception):
    """A keyword, or a value under it, whose meaning this module does not know."""


def surely_conforms(value: Any, schema: Schema) -> bool:
    """Whether ``value`` conforms to ``schema`` beyond doubt. False means: ask jsonschema."""
    try:
        return _holds(value, schema, schema)
    except _DoubtError:
        return False


def _holds(value: Any, schema: Schema | bool, root: Schema) -> bool:
    if isinstance(schema, bool):
        return schema
    for keyword, argument in schema.items():
        if keyword in _ANNOTATIONS or keyword in _READ_BY_IF:
            continue
        if keyword not in _CHECKS:
            raise _DoubtError
        if not _CHECKS[keyword](value, argument, schema, root):
            return False
    return True


def _reference(value: Any, argument: Any, _schema: Schema, root: Schema) -> bool:
    if not argument.startswith("#/$defs/"):
        raise _DoubtError
    return _holds(value, root["$defs"][argument.removeprefix("#/$defs/")], root)


def _type(value: Any, argument: Any, _schema: Schema, _root: Schema) -> bool:
    if isinstance(value, float) and "integer" in argument:
        raise _DoubtError  # 1.0 is an integer to JSON Schema
    return any(_TYPES[name](value) for name in ([argument] if isinstance(argument, str) else argument))


def _enum(value: Any, argument: Any, _schema: Schema, _root: Schema) -> bool:
    if not all(isinstance(allowed, str) for allowed in argument):
        raise _DoubtError  # 1, 1.0 and true are equal in Python
    return value in argument


def _required(value: Any, argument: Any, _schema: Schema, _root: Schema) -> bool:
    return not isinstance(value, dict) or all(name in value for name in argument)


def _properties(value: Any, argument: Any, _schema: Schema, root: Schema) -> bool:
    if not isinstance(value, dict):
        return True
    return all(_holds(value[name], schema, root) for name, schema in argument.items() if name in value)


def _additional_properties(value: Any, argument: Any, schema: Schema, root: Schema) -> bool:
    if not isinstance(value, dict):
        return True
    known = schema.get("properties", {})
    return all(_holds(member, argument, root) for name, member in value.items() if name not in known)


def _items(value: Any, argument: Any, _schema: Schema, root: Schema) -> bool:
    return not isinstance(value, list) or all(_holds(item, argument, root) for item in value)


def _unique_items(value: Any, argument: Any, _schema: Schema, _root: Schema) -> bool:
    if not argument or not isinstance(value, list):
        return True
    if not all(isinstance(item, str) for item in value):
        raise _DoubtError
    return len(set(value)) == len(value)


def _if(value: Any, argument: Any, schema: Schema, root: Schema) -> bool:
    return not _holds(value, argument, root) or _holds(value, schema.get("then", True), root)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and isinstance(value, int),
    "number": _is_number,
    "null": lambda value: value is None,
}

_CHECKS: Mapping[str, _Check] = {
    "$ref": _reference,
    "type": _type,
    "const": lambda value, argument, schema, root: _enum(value, [argument], schema, root),
    "enum": _enum,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "items": _items,
    "uniqueItems": _unique_items,
    "minItems": lambda value, argument, *_: not isinstance(value, list) or len(value) >= argument,
    "maxItems": lambda value, argument, *_: not isinstance(value, list) or len(value) <= argument,
    "minLength": lambda value, argument, *_: not isinstance(value, str) or len(value) >= argument,
    "maxLength": lambda value, argument, *_: not isinstance(value, str) or len(value) <= argument,
    "pattern": lambda value, argument, *_: not isinstance(value, str) or re.search(argument, value) is not None,
    "minimum": lambda value, argument, *_: not _is_number(value) or value >= argument,
    "maximum": lambda value, argument, *_: not _is_number(value) or value <= argument,
    "anyOf": lambda value, argument, _, root: any(_holds(value, schema, root) for schema in argument),
    "oneOf": lambda value, argument, _, root: sum(_holds(value, schema, root) for schema in argument) == 1,
    "if": _if,
}
