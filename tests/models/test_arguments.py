"""Wrong input of `nv.detect_separation` gives one clear error; unusual input is understood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import novikoff as nv

X = [[0.0], [1.0], [2.0], [3.0]]
NAN = float("nan")
FRAME = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]}, index=[*"abcd"])
COX: dict[str, Any] = {"family": "cox", "duration": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        (X, [0, 1, 1], {}, r"y has shape \(3,\), but X has 4 rows"),
        (X, None, {}, "needs y"),
        (None, [0, 1], {}, "X is missing"),
        (7, [0, 1], {}, "X is int: pass a table"),
        ("table", [0, 1], {}, "X is str: pass a table"),
        ([], [], {}, "dimension|no rows|No row"),
        (X, "died", {}, "y is the text 'died'.*data="),
        (X, [0, 1, None, 1], {}, "y has no label in row 2"),
        (X, [NAN] * 4, {"missing": "drop"}, "No row is left"),
        (X, [0, 1, 2, 1], {}, "3 classes; a binomial model takes two"),
        (X, [[0, 1, 2]] * 4, {}, "3 columns; a binomial model takes two"),
        (X, [[0, 0], [1, 0], [1, 1], [2, 0]], {}, "neither successes nor failures in row 0"),
        (X, [[0, -1], [1, 0], [1, 1], [2, 0]], {}, "y is negative in row 0"),
        (X, [1, 2, 3, 9], {"trials": [3, 3, 3, 3]}, "y is larger than trials in row 3: 9"),
        (X, [1, 2, 3, 0], {"trials": [3, 3, 3, 0]}, "trials is 0 in row 3"),
        (X, [1, 2, 3, 0], {"trials": [3, 3]}, "trials has shape"),
        (X, [0, 1, 0, 1], {"weights": [1, NAN, 1, 1]}, "weights is missing or infinite in row 1"),
        (FRAME, [0, 1, 0, 1], {"weights": [1, 1, -2, 1]}, "negative in row 'c': -2"),
        (X, [0, 1, 0, 1], {"weights": 1.0}, "weights has shape"),
        (X, [0, 1, 0, 1], {"weights": [*"1111"]}, "weights has text"),
        (X, [0, 1, 0, 1], {"weights": [0, 0, 0, 0]}, "No row is left"),
        (X, [0, 1, 0, 1], {"family": "binomal"}, "Did you mean 'binomial'"),
        (X, [0, 1, 0, 1], {"family": "logisitc"}, "Did you mean 'binomial'"),
        (np.zeros((0, 2)), [], {}, "X has no rows"),
        (X, [0, 1, 0, 1], {"family": "Poisson"}, "Did you mean 'poisson'"),
        (X, [0, 1, 0, 1], {"family": "coxph"}, "Did you mean 'cox'"),
        (X, [0, 1, 0, 1], {"family": 3}, "family must be one of"),
        (X, [0, 1, 0, 1], {"link": "loggit"}, "Did you mean 'logit'"),
        (X, [0, 1, 0, 1], {"link": "identity"}, "The links of the family 'binomial' are"),
        (X, [0, 1, 0, 1], {"strata": [1] * 4}, "strata does not apply to the family 'binomial'"),
        (X, [0, 1, 0, 1], {"ties": "exact"}, "ties does not apply to the family 'binomial'"),
        (X, [0, 1, 0, 1], {"ties": "any"}, "ties must be one of"),
        (X, [0, 1, 0, 1], {"fit_intercept": "no"}, "fit_intercept must be True or False"),
        (X, [0, 1, 0, 1], {"budget": -1}, "budget must be a positive number"),
        (X, [0, 1, 0, 1], {"reference": 7}, "The reference 7 is none of the classes"),
        (X, [0, 1, 0, -1], {"family": "poisson"}, "y is negative in row 3: -1"),
        (X, [*"0101"], {"family": "poisson"}, "y has text"),
        (X, [1, 1, 1, 1], {"family": "multinomial"}, "one class only"),
        (X, [*"lmhh"], {"family": "cumulative"}, "whose order is not known.*pd.Categorical"),
        (X, [2, 2, 2, 2], {"family": "sequential"}, "one class only"),
        (X, [0, 1, 2, 1], {"family": "conditional-logit", "groups": [1] * 4},
         "not 0 or 1 in row 2"),
        (X, [0, 1, 0, 1], {"family": "conditional-logit", "groups": [1, 1, None, 1]},
         "groups is missing in row 2"),
        (X, [1, 1, 0, 1], {"family": "choice", "groups": [*"aabb"]}, "Group 'a' has 2 chosen rows"),
        (X, None, {**COX, "event": [1, 2, 1, 1]}, "event is not 0 or 1 in row 1.*status == 2"),
        (X, None, {**COX, "event": ["yes"] * 4}, "event has text"),
        (X, None, {**COX, "event": [0] * 4}, "does not depend on the coefficients"),
        (X, None, {**COX, "entry": [0, 2, 0, 0]}, "entry is not before duration in row 1: 2"),
        (X, None, {**COX, "duration": None}, "needs duration"),
        (X, None, {**COX, "duration": [1, 2, NAN, 4]}, "duration is missing or infinite in row 2"),
        (X, None, {**COX, "strata": [[1, 2]] * 4}, "strata has shape"),
        ([[0, 1], [2, 0]], None, {"family": "bradley-terry", "weights": [1, 1]}, "does not apply"),
        ([[0, 1], [-2, 0]], None, {"family": "bradley-terry"}, "negative or missing in row 1"),
        ([[0, 1, 1], [2, 0, 1]], None, {"family": "bradley-terry"}, "must be square"),
        (FRAME, pd.Series([0, 1, 0, 1]), {}, "index of y differs from the index of X"),
        (pd.DataFrame({"hue": [*"rgbr"]}), [0, 1, 0, 1], {}, r"'hue'.*astype\(\"category\"\)"),
    ],
)  # fmt: skip
def test_wrong_input_is_rejected_in_one_sentence(
    X: Any, y: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        nv.detect_separation(X, y, **options)
    assert "\n" not in str(caught.value)


OUTCOMES: dict[str, Any] = {
    "numbers": [0, 0, 1, 1],
    "booleans": np.array([False, False, True, True]),
    "text": [*"nnyy"],
    "objects": np.array([*"nnyy"], dtype=object),
    "one column": [[0], [0], [1], [1]],
    "sparse column": sp.csr_array([[0], [0], [1], [1]]),
    "sparse counts": sp.csr_array([[0, 2], [0, 1], [3, 0], [1, 0]]),
    "categories": pd.Categorical([*"nnyy"], categories=[*"ny"]),
    "series": pd.Series([*"nnyy"], dtype="category"),
    "polars text": pl.Series([*"nnyy"]),
    "polars categories": pl.Series([*"nnyy"], dtype=pl.Categorical),
    "counts": [[0, 2], [0, 1], [3, 0], [1, 0]],
    "proportions and certain rows": [0.0, 0.0, 1.0, 1.0],
}


@pytest.mark.parametrize("y", OUTCOMES.values(), ids=OUTCOMES.keys())
def test_every_form_of_an_outcome_means_the_same(y: Any) -> None:
    found = nv.detect_separation(X, y)
    assert found.kind == "complete separation"
    assert dict(found.coefficients) == {"(intercept)": "-inf", 0: "+inf"}


def test_the_order_of_categories_decides_which_class_is_a_success() -> None:
    y = pd.Categorical([*"nnyy"], categories=[*"yn"])
    assert nv.detect_separation(X, y).coefficients[0] == "-inf"
    own = pl.Series([*"nnyy"], dtype=pl.Enum([*"yn"]))
    assert nv.detect_separation(X, own).coefficients[0] == "-inf"


def test_ordered_classes_follow_their_categories() -> None:
    y = pd.Categorical(["lo", "mid", "mid", "hi"], categories=["lo", "mid", "never", "hi"])
    found = nv.detect_separation(X, y, family="cumulative")
    assert [*found.coefficients] == ["lo|mid", "mid|hi", 0]
    assert found.coefficients[0] == "+inf"
    assert "order of the classes of y: lo < mid < hi" in found.notes
    assert any("do not occur" in note for note in found.notes)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": [0.0, 1.0, NAN, 3.0, 2.0]}),
        pl.DataFrame({"x": [0.0, 1.0, None, 3.0, 2.0]}),
        np.array([[0.0], [1.0], [NAN], [3.0], [2.0]]),
        sp.csr_array(np.array([[0.0], [1.0], [NAN], [3.0], [2.0]])),
        [[0.0], [1.0], [None], [3.0], [2.0]],
    ],
)
@pytest.mark.parametrize("y", [[0, 0, 1, 1, None], pl.Series([0, 0, 1, 1, None])])
def test_rows_with_missing_values_are_left_out_of_any_table(table: Any, y: Any) -> None:
    with pytest.raises(ValueError, match=r"NaN|no label"):
        nv.detect_separation(table, y)
    found = nv.detect_separation(table, y, missing="drop", weights=[1, 1, 1, 1, 0])
    assert found.rows.tolist() == found.separated.tolist() == [0, 1, 3]
    assert found.notes == ["2 rows with missing values left out"]


def test_missing_strata_and_weights_of_0_leave_rows_out() -> None:
    found = nv.detect_separation(
        FRAME, family="cox", duration=[1, 2, 3, 4], strata=[*"aa", None, "a"], weights=[1, 1, 1, 0],
        missing="drop",
    )  # fmt: skip
    assert [*found.rows] == ["a", "b"]
    assert dict(found.coefficients) == {"x": "-inf"}


def test_a_class_that_is_the_only_one_moves_the_intercept_by_its_reference() -> None:
    assert nv.detect_separation(X, [*"yyyy"], reference="y").coefficients["(intercept)"] == "-inf"
    assert nv.detect_separation(X, [*"yyyy"], reference="n").coefficients["(intercept)"] == "+inf"


def test_a_constant_column_counts_like_any_other_without_fit_intercept() -> None:
    """Without it, 1 and 2 are on the same side of 0, and have different outcomes."""
    table = pd.DataFrame({"const": 1.0, "x": [0.0, 1.0, 2.0, 3.0]})
    found = nv.detect_separation(table, [0, 0, 1, 1], fit_intercept=False)
    assert found.responsible_columns == ["const", "x"]


def test_notes_say_what_a_success_and_an_event_is() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["high", "low", "high", "low"]
    assert "success is the class 'low'" in nv.detect_separation(X, y).notes
    other = nv.detect_separation(X, y, reference="low")
    assert "success is the class 'high'" in other.notes
    assert nv.detect_separation(X, [0, 1, 0, 1]).notes == []
    days: dict[str, Any] = {"family": "cox", "duration": [1.0, 2.0, 3.0, 4.0]}
    assert any("no event is given" in note for note in nv.detect_separation(X, **days).notes)
    assert nv.detect_separation(X, event=[1, 0, 1, 1], **days).notes == []
