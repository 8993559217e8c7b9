"""The sign of every row follows from its class, one rule at a time."""

from __future__ import annotations

import numpy as np
import pytest

from novikoff.core.schemes import Binary, OneVsOne, OneVsRest, Scheme, signs_of


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(
    "scheme", [Binary(), Binary(1), OneVsOne(2), OneVsOne(3), OneVsRest(2), OneVsRest(4)]
)
def test_signs_are_those_of_the_table(scheme: Scheme, dtype: str) -> None:
    codes = np.random.default_rng(1).integers(scheme.n_classes, size=100).astype(dtype)
    sides = scheme.sides
    for given in (codes, codes[:0], codes[codes == 0]):
        for rule in range(sides.shape[1]):
            signs = signs_of(given, sides, rule)
            assert signs.dtype == np.int8
            assert signs.tolist() == sides[given, rule].tolist()


@pytest.mark.parametrize("wrong", [2, 3, -3, 2**31 - 1])
def test_a_class_that_is_not_in_the_table_is_refused(wrong: int) -> None:
    with pytest.raises(IndexError):
        signs_of(np.array([0, 1, wrong], dtype=np.int32), Binary().sides, 0)
