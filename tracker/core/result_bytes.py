"""Results as bytes: values of this program's classes and of numpy, and nothing that acts.

A pickle can call any function that it names. Here it may name dataclasses, named tuples and
enumerations of this program, containers, fractions and arrays: a file from elsewhere does no harm.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any, Final

_VALUES: Final[Mapping[str, frozenset[str]]] = {
    "builtins": frozenset({"frozenset", "set", "complex", "range", "slice", "bytearray"}),
    "collections": frozenset({"Counter", "OrderedDict"}),
    "fractions": frozenset({"Fraction"}),
    "datetime": frozenset({"date", "datetime", "timedelta"}),
    "numpy": frozenset({"dtype", "ndarray"}),
    "numpy._core.multiarray": frozenset({"_reconstruct", "scalar"}),
    "numpy._core.numeric": frozenset({"_frombuffer"}),
}


class UnreadableResult(Exception):
    """The bytes are not those of a result."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name in _VALUES.get(module, ()):
            return getattr(import_module(module), name)
        if module.startswith("tracker.") and name.isidentifier():
            value = getattr(import_module(module), name, None)
            if isinstance(value, type) and (
                is_dataclass(value) or issubclass(value, (tuple, dict, Enum))
            ):
                return value
        raise UnreadableResult(f"{module}.{name}")


def write_result(result: object) -> bytes | None:
    """Return a result as bytes; None if it is not made of values alone."""
    try:
        content = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        _Reader(io.BytesIO(content)).load()
    except Exception:
        return None
    return zlib.compress(content, 1)


def read_result(content: bytes) -> Any:
    """Return the result of such bytes; raises UnreadableResult."""
    try:
        return _Reader(io.BytesIO(zlib.decompress(content))).load()
    except Exception as error:
        raise UnreadableResult(str(error)) from error
