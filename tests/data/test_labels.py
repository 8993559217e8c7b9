"""The values that labels stand for, in files and streams; different labels stay different."""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal

import numpy as np
import pytest

from novikoff.data.values import LabelForm, LabelReader, labels_of

# The form in which a format writes labels, the keys, and the labels they stand for.
TABLE: list[tuple[LabelForm, list[Hashable], list[object]]] = [
    ("text", ["0", "1"], [0, 1]),
    ("text", ["-1", "1"], [-1, 1]),
    ("text", ["1", "1.5"], ["1", "1.5"]),
    ("text", ["1.0", "2.0"], [1.0, 2.0]),
    ("text", ["1", "1.0", "2"], [1.0, 1.0, 2.0]),
    ("text", ["0.50", "0.5", "1.50"], ["0.5", "0.5", "1.5"]),
    ("text", ["0.5", "0.50", "5e-1", "1.5"], ["0.5", "0.5", "0.5", "1.5"]),
    ("text", ["1.0", "1", "1e0", "1.5"], ["1", "1", "1", "1.5"]),
    ("text", ["1", "1.0", "a"], ["1", "1.0", "a"]),
    ("text", ["0", "-0", "-0.0", "1"], [0.0, 0.0, 0.0, 1.0]),
    ("text", ["-0", "0.5"], ["0", "0.5"]),
    ("text", ["True", "true", "FALSE"], [True, True, False]),
    ("text", ["True", "true", "a"], ["True", "true", "a"]),
    ("text", ["X", "x"], ["X", "x"]),
    ("text", ["1", "1.00000000000000000001"], ["1", "1.00000000000000000001"]),
    ("text", ["9007199254740993.0", "9007199254740992.0"],
     ["9007199254740993", "9007199254740992"]),
    ("text", ["9223372036854775808", "1.0"], ["9223372036854775808", "1"]),
    ("text", ["9223372036854775808.0", "1"], [9223372036854775808.0, 1.0]),
    ("text", ["9007199254740993", "1.0"], ["9007199254740993", "1"]),
    ("text", ["1e25", "0.5"], ["1" + "0" * 25, "0.5"]),
    ("text", ["1e300", "1" + "0" * 300, "0.5"], ["1e+300", "1e+300", "0.5"]),
    ("text", ["1" * 150 + ".5", "1"], [f"1.{'1' * 149}5e+149", "1"]),
    ("text", ["1e-99999999999999999999", "2"], ["1e-99999999999999999999", "2"]),
    ("text", [" x", "x", "\tx ", "y"], ["x", "x", "x", "y"]),
    ("text", [" 1", "1", "2\t"], [1, 1, 2]),
    ("text", ["01", "1"], ["01", "1"]),
    ("text", ["1", "a"], ["1", "a"]),
    ("text", ["True", "false"], [True, False]),
    ("text", ["1", "True"], ["1", "True"]),
    ("text", ["1", "inf"], ["1", "inf"]),
    ("text", ["1", "1e999"], ["1", "1e+999"]),
    ("text", ["9007199254740993", "0.5"], ["9007199254740993", "0.5"]),
    ("text", ["9223372036854775808", "1"], ["9223372036854775808", "1"]),
    ("text", ["1_0", "2"], ["1_0", "2"]),
    ("text", ["é", "日本"], ["é", "日本"]),
    ("free", ["+1", "1.0", "-1"], [1, 1, -1]),
    ("free", ["9007199254740993", "9007199254740992"], [9007199254740993, 9007199254740992]),
    ("free", ["9223372036854775808", "1"], ["9223372036854775808", "1"]),
    ("free", ["0.1", "1e-1", "2"], ["0.1", "0.1", "2"]),
    ("free", ["-0", "+0", "1"], [0, 0, 1]),
    ("free", ["+1", "1", "spam"], ["+1", "1", "spam"]),
    ("free", ["0.1", "0.10000000000000000001"], ["0.1", "0.10000000000000000001"]),
    ("free", ["1e-99999999999999999999", "2"], ["1e-99999999999999999999", "2"]),
    ("free", ["1", "spam"], ["1", "spam"]),
    ("typed", [0, 1], [0, 1]),
    ("typed", [2.0, 1.0], [2.0, 1.0]),
    ("typed", [True, False], [True, False]),
    ("typed", ["1", " 1"], ["1", " 1"]),
    ("typed", [0.5, 1.0], ["0.5", "1"]),
    ("typed", [-0.0, 1.0], [0.0, 1.0]),
    ("typed", ["0.5", "0.50"], ["0.5", "0.50"]),
    ("typed", [1e300, 2.0], [1e300, 2.0]),
    ("typed", [np.float32(0.1), np.float32(2.5)], ["0.1", "2.5"]),
    ("typed", [Decimal("0.50"), Decimal("1.25")], ["0.5", "1.25"]),
    ("typed", [Decimal("1.00"), Decimal("2.00")], [1.0, 2.0]),
    ("typed", [Decimal(2**53), Decimal(2**53 + 1)], [str(2**53), str(2**53 + 1)]),
    ("typed", [Decimal(10**30), Decimal(10**30 + 1)], [str(10**30), str(10**30 + 1)]),
    ("typed", [2**53, 2**53 + 1], [2**53, 2**53 + 1]),
    ("array", [np.float64(1.0), np.float64(-2.0)], [1, -2]),
    ("array", [np.uint64(2**64 - 1), np.uint64(2**64 - 2)], [str(2**64 - 1), str(2**64 - 2)]),
    ("array", [np.float32(0.1), np.float32(0.2)], ["0.1", "0.2"]),
    ("array", [np.str_("1"), np.str_("2")], ["1", "2"]),
]  # fmt: skip


TEXTS = [(form, keys, labels) for form, keys, labels in TABLE if form in ("text", "free")]


def shown(value: object) -> str:
    """A part of the name of a test case."""
    return str(value)[:40]


def check(found: list[object], expected: list[object]) -> None:
    """Equal, and of the same types."""
    assert (found, [*map(type, found)]) == (expected, [*map(type, expected)])


@pytest.mark.parametrize(("form", "keys", "expected"), TABLE, ids=shown)
def test_labels_of_every_form(
    form: LabelForm, keys: list[Hashable], expected: list[object]
) -> None:
    check(labels_of(keys, form).tolist(), expected)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant == 52, reason="a long double is a double here")
def test_long_doubles_stay_apart() -> None:
    one = np.longdouble(1)
    assert len(set(labels_of([one, np.nextafter(one, np.longdouble(2))], "array").tolist())) == 2


# The first labels of a stream, the form of its format, and the labels that later keys stand for.
FIRST: list[tuple[list[Hashable], LabelForm, dict[Hashable, object]]] = [
    (["0", "1"], "text", {"7": 7, "07": None, "1.0": None, "x": None}),
    (["0", "1"], "free", {"+7": 7, "1.0": 1, "1.5": None, "x": None}),
    (["1.0", "2"], "text", {"7": 7.0, "9007199254740993": None, "0.5": None}),
    (["0.5"], "text", {"0.50": "0.5", "5e-1": "0.5", "1.0": "1", "01": None, "x": None}),
    (["0.5"], "free", {"+.5": "0.5", "x": None}),
    (["true"], "text", {"False": False, "1": None}),
    (["a", "1"], "text", {" b ": "b", "1.0": "1.0"}),
    ([" a"], "typed", {" b ": " b ", "1.0": "1.0"}),
    ([Decimal("0.50")], "typed", {Decimal("1.00"): "1", Decimal("1.50"): "1.5"}),
    ([1.0], "array", {2.0: 2, 0.5: None}),
]


@pytest.mark.parametrize(("keys", "form", "values"), FIRST, ids=shown)
def test_a_stream_has_labels_of_the_kind_of_its_first(
    keys: list[Hashable], form: LabelForm, values: dict[Hashable, object]
) -> None:
    reader = LabelReader.by_first(keys, form)
    check([reader.value(key) for key in values], [*values.values()])


@pytest.mark.parametrize(("form", "keys", "expected"), TABLE, ids=shown)
def test_a_stream_has_the_labels_of_a_whole_file_or_rejects_one(
    form: LabelForm, keys: list[Hashable], expected: list[object]
) -> None:
    """In every order of rows: the kind of the first labels is never wider than the kind of all."""
    for n_first in range(1, len(keys) + 1):
        reader = LabelReader.by_first(keys[:n_first], form)
        found = [reader.value(key) for key in keys]
        if None not in found:
            check(found, expected)
    check(found, expected)


@pytest.mark.parametrize(("form", "keys", "expected"), TEXTS, ids=shown)
def test_a_model_knows_the_labels_that_it_was_made_of(
    form: LabelForm, keys: list[Hashable], expected: list[object]
) -> None:
    reader = LabelReader.of(list(dict.fromkeys(expected)))
    assert [reader.value(key) for key in keys] == expected
