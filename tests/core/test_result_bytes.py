"""Results as bytes: values come back equal, and nothing else is read."""

from __future__ import annotations

import os
import pickle
import zlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tracker.core.result_bytes import UnreadableResult, read_result, write_result
from tracker.ledger import Ledger
from tracker.measures.intervals import Coefficient
from tracker.projects.categories import CategoryNames


def test_values_come_back_equal() -> None:
    names = CategoryNames({1: "a"})
    names.ordered = True
    result = {
        (1, None): [Fraction(1, 3), frozenset({2}), Coefficient("alpha", 0.5)],
        "names": names,
    }
    content = write_result(result)
    assert content is not None
    read = read_result(content)
    assert read == result
    assert read["names"].ordered
    array = write_result(np.arange(6).reshape(2, 3))
    assert array is not None
    assert read_result(array).tolist() == [[0, 1, 2], [3, 4, 5]]


class Acting:
    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call[0], self.call[1:]


@pytest.mark.parametrize(
    "call", [(os.getcwd,), (eval, "1"), (Ledger, "sqlite://"), (getattr, 1, "x")]
)
def test_what_would_act_is_not_read(call: tuple[Any, ...]) -> None:
    content = zlib.compress(pickle.dumps(Acting(*call)))
    with pytest.raises(UnreadableResult):
        read_result(content)
    assert write_result(Acting(*call)) is None


def test_other_bytes_are_no_result() -> None:
    for content in (b"", b"x", zlib.compress(b"x")):
        with pytest.raises(UnreadableResult):
            read_result(content)
