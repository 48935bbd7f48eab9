"""A dict as TOML, so that a policy built in Python is read, and refused, as a policy file is."""

from __future__ import annotations

import datetime
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(document: Mapping[str, Any]) -> str:
    """The tables of a document; lists of tables become arrays of tables."""
    lines: list[str] = []
    for name, value in document.items():
        if isinstance(value, Mapping):
            lines.append(f"[{_key(name)}]")
            lines.extend(f"{_key(key)} = {_value(inner)}" for key, inner in value.items())
        elif _is_tables(value):
            for table in value:
                lines.append(f"[[{_key(name)}]]")
                lines.extend(f"{_key(key)} = {_value(inner)}" for key, inner in table.items())
        else:
            # A key of the document itself stands before all tables.
            lines.insert(0, f"{_key(name)} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _is_tables(value: Any) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return is_list and len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _key(name: Any) -> str:
    text = str(name)
    return text if _BARE.fullmatch(text) else _text(text)


def _text(text: str) -> str:
    # JSON escapes are TOML escapes, but for characters that JSON leaves as they are.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case os.PathLike():
            return _text(os.fspath(value))
        case datetime.datetime():
            return _text(value.isoformat())
        case datetime.date():
            return _text(value.isoformat())
        case Mapping():
            return "{ " + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
        case Sequence():
            return "[" + ", ".join(_value(inner) for inner in value) + "]"
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"a policy cannot hold a value of type {type(value).__name__}") from None
    if isinstance(value, int) or type(value).__name__.startswith(("int", "uint")):
        return str(int(value))
    if math.isnan(number):
        return "nan"
    return repr(number)
