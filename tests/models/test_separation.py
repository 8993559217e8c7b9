"""`nv.detect_separation` on published data; its text and its errors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import novikoff as nv
from novikoff.errors import DataError
from novikoff.geometry import cone, recession_span
from novikoff.models import cones
from novikoff.models.designs import Design
from novikoff.models.formulas import variables_of
from tests.real_data import DATA

ENDOMETRIAL = pd.read_csv(DATA / "endometrial.csv")


def endometrial(**columns: Any) -> nv.Separation:
    """Heinze and Schemper (2002), with further columns."""
    frame = ENDOMETRIAL.assign(**columns)
    return nv.detect_separation(frame.drop(columns="HG"), frame["HG"])


def test_endometrial_is_quasi_separated_through_nv() -> None:
    found = endometrial()
    assert (found.kind, found.exists) == ("quasi-complete separation", False)
    finite = {"(intercept)": "finite", "PI": "finite", "EH": "finite"}
    assert dict(found.coefficients) == {"NV": "+inf", **finite}
    assert found.responsible_columns == ["NV"]
    assert set(found.separated) == set(ENDOMETRIAL.index[ENDOMETRIAL["NV"] == 1])
    assert "no finite estimates exist" in str(found).splitlines()[0]
    assert "Firth" in str(found)


def test_aliased_columns_do_not_hide_infinite_estimates() -> None:
    """R: NV Inf, NV2 NA."""
    found = endometrial(NV2=2 * ENDOMETRIAL["NV"])
    assert found.coefficients["NV"] == "+inf"
    assert found.coefficients["NV2"] == "aliased"
    assert found.responsible_columns == ["NV"]


def test_a_constant_column_is_the_intercept() -> None:
    found = endometrial(const=1.0)
    assert next(iter(found.coefficients)) == "const"
    assert "(intercept)" not in found.coefficients
    assert found.coefficients["const"] == "finite"
    assert any("intercept" in note for note in found.notes)


def test_the_limiting_model_has_the_finite_part_of_the_fit() -> None:
    """A refit by Newton's method equals the fit of all rows with a very large weight of NV."""
    found = endometrial()
    model = found.limiting_model()
    frame = ENDOMETRIAL.assign(**{"(intercept)": 1.0})
    few = frame.loc[model.rows]
    left = newton(few[model.columns].to_numpy(), few["HG"].to_numpy())
    np.testing.assert_allclose(left, [4.3045, -0.0422, -2.9026], atol=1e-4)
    every = frame[["(intercept)", "NV", "PI", "EH"]].to_numpy()
    whole = newton(every, frame["HG"].to_numpy(), steps=25)
    np.testing.assert_allclose(whole[[0, 2, 3]], left, rtol=1e-5)
    assert whole[1] > 15


def newton(X: Any, y: Any, steps: int = 50) -> Any:
    """A logistic regression by Newton's method."""
    beta = np.zeros(X.shape[1])
    for _ in range(steps):
        mean = 1.0 / (1.0 + np.exp(-X @ beta))
        H = (X.T * np.maximum(mean * (1.0 - mean), 1e-14)) @ X
        beta = beta + np.linalg.solve(H, X.T @ (y - mean))
    return beta


def test_one_vertex_of_a_linear_program_is_not_the_answer() -> None:
    """The optimum of the usual linear program is (0; 0, 1), but the coefficient of x1 is −∞."""
    X, y = [[0, 0], [3, 1], [0, 0], [1, 0]], [0, 1, 1, 0]
    found = nv.detect_separation(X, y)
    assert dict(found.coefficients) == {"(intercept)": "finite", 0: "-inf", 1: "+inf"}


@pytest.mark.parametrize(("label", "fate"), [(0, "-inf"), (False, "-inf"), (1, "+inf")])
def test_one_class_moves_the_intercept(label: object, fate: str) -> None:
    found = nv.detect_separation([[0.0], [1.0], [2.0]], [label] * 3)
    assert found.kind == "complete separation"
    assert found.coefficients["(intercept)"] == fate


FACTOR = pd.DataFrame({"level": pd.Categorical([*"rrLLMM"], categories=[*"rLM"])})


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        (None,
         {"(intercept)": "-inf", "level=L": "+inf", "level=M": "+inf", "level=r": "reference"}),
        ({"level": "L"},
         {"(intercept)": "finite", "level=r": "-inf", "level=M": "+inf", "level=L": "reference"}),
    ],
)  # fmt: skip
def test_the_reference_level_is_the_first_or_the_given(
    reference: Any, wanted: dict[str, str]
) -> None:
    found = nv.detect_separation(FACTOR, [0, 0, 0, 1, 1, 1], reference=reference)
    assert dict(found.coefficients) == wanted
    assert found.responsible_columns == ["level"]


def test_three_sectors_are_separated_jointly_though_no_class_is_from_the_rest() -> None:
    angles = np.deg2rad([0, -50, 50, 120, 70, 170, 240, 190, 290])
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.tile([[0.1], [10], [10]], (3, 1))
    y = np.repeat([0, 1, 2], 3)
    assert nv.detect_separation(X, y, family="multinomial").kind == "complete separation"
    assert {v.kind for v in nv.separate_classes(X, y).values()} == {"inseparable"}


@pytest.mark.parametrize(
    ("family", "options", "words"),
    [
        ("weibull", {}, "free scale"),
        ("zero-inflated-poisson", {}, "mixture"),
        ("mixed", {}, "random effects"),
        ("tweedie", {}, "free scale"),
        ("logistic", {}, "Did you mean 'binomial'"),
        ("poisson", {"trials": [1, 1, 1]}, "does not apply"),
        ("poisson", {"link": "identity"}, "links"),
        ("poisson", {"weights": [1, -1, 1]}, "negative in row 1"),
        ("poisson", {"weights": [1, 1]}, "shape"),
        ("poisson", {"reference": {"x": 1}}, "not a factor"),
        ("binomial", {"trials": [0, 1, 2]}, "trials"),
        ("binomial", {"trials": [2, 1.5, 2]}, "trials is not a whole number in row 1"),
        ("binomial", {"missing": "ignore"}, "missing must be"),
        ("conditional-logit", {}, "needs groups"),
        ("choice", {"groups": [1, 1, 1]}, "chosen rows, not 1"),
        ("cox", {}, "y does not apply"),
        ("multinomial", {"reference": 7}, "none of the classes"),
    ],
)
def test_what_is_not_the_question_is_rejected(
    family: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        nv.detect_separation([[0.0], [1.0], [2.0]], [0, 1, 1], family=family, **options)


def test_missing_values_are_dropped_on_request() -> None:
    X = pd.DataFrame({"x": [0.0, 1.0, np.nan, 3.0, 2.0]}, index=[*"abcde"])
    y = pd.Series([0, 0, 1, 1, np.nan], index=[*"abcde"])
    with pytest.raises(ValueError, match=r"NaN|label"):
        nv.detect_separation(X, y)
    found = nv.detect_separation(X, y, missing="drop")
    assert found.kind == "complete separation"
    assert [*found.separated] == ["a", "b", "d"]


def test_a_direction_rises_on_the_separated_rows_alone() -> None:
    found = endometrial()
    X = np.column_stack([np.ones(len(ENDOMETRIAL)), ENDOMETRIAL[["NV", "PI", "EH"]]])
    scores = X @ [*found.direction.values()] * np.where(ENDOMETRIAL["HG"] == 1, 1, -1)
    assert {*ENDOMETRIAL.index[scores > 0]} == {*found.separated}
    assert (scores >= 0).all()


def test_a_cox_model_needs_no_more_rows_than_subjects() -> None:
    rng = np.random.default_rng(0)
    design = Design(rng.integers(0, 9, (200, 2)).astype(float), ["a", "b"], {})
    event = rng.random(200) < 0.7
    strata = np.zeros(200, dtype=np.int64)
    times = rng.integers(1, 50, 200).astype(float)
    system = cones.cox(design, times, event, None, strata, "efron")
    assert system.inequalities.A.shape[0] + system.inequalities.E.shape[0] <= 200


def test_it_prints_a_table_in_notebooks() -> None:
    found = endometrial()
    assert "+∞" in found._repr_html_()
    assert "<th" in found.coefficients._repr_html_()
    assert repr(found).startswith("<Separation: quasi-complete separation")


@pytest.mark.parametrize(
    ("y", "options"),
    [
        (pd.Categorical(["no"] * 3, categories=["no", "yes"]), {}),
        (["no", "no", "yes"], {"weights": [1, 1, 0]}),
        ([1, 1, 2], {"weights": [1, 1, 0]}),
        (["no", "no", "yes"], {"weights": [1, 1, np.nan], "missing": "drop"}),
        (pd.Categorical(["a", "a", "b"], categories=["a", "b"]), {"weights": [1, 1, 0]}),
    ],
)
def test_the_class_that_is_left_has_its_meaning_from_all_rows(
    y: Any, options: dict[str, Any]
) -> None:
    found = nv.detect_separation([[0.0], [1.0], [2.0]], y, **options)
    assert found.coefficients["(intercept)"] == "-inf"


def test_a_linear_combination_may_have_decimal_factors_and_names_in_any_order() -> None:
    X = pd.DataFrame({"b": [1, 2, 3, 1, 2, 3], "a": [0, 0, 0, 1, 1, 1]})
    found = nv.detect_separation(X, [0, 1, 0, 1, 1, 1])
    assert found.estimable({"a": 1, "b": -0.3}) == "+inf"
    single: Any = np.float32(-0.1)
    assert found.estimable({"a": single, "b": 1}) == "-inf"
    assert found.estimable(pd.Series({"a": 1, "b": 0, "(intercept)": 0})) == "+inf"
    assert found.estimable(pd.Series({"b": 1, "a": 0})) == "finite"


@pytest.mark.parametrize("wrong", [np.nan, np.inf, "1", 1j])
def test_a_factor_of_a_linear_combination_must_be_a_finite_number(wrong: Any) -> None:
    X = pd.DataFrame({"b": [1, 2, 3, 1, 2, 3], "a": [0, 0, 0, 1, 1, 1]})
    found = nv.detect_separation(X, [0, 1, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="'a': it must be a finite number"):
        found.estimable({"a": wrong})


def test_two_coefficients_of_one_name_are_rejected() -> None:
    X = pd.DataFrame({"0|1": [0.0, 1.0, 2.0], "x": [1.0, 1.0, 3.0]})
    with pytest.raises(ValueError, match=r"'0\|1': rename"):
        nv.detect_separation(X, [0, 1, 2], family="cumulative")


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (pd.to_timedelta(["1D", None, "3D"]), "missing"),
        (pd.to_datetime(["2020-01-01", None, "2020-01-05"]), "missing"),
        ([2**53, 2**53 + 1, 2**53 + 2], "exactly"),
        ([1j, 2, 3], "complex"),
    ],
)
def test_times_that_are_no_exact_numbers_are_rejected(duration: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        nv.detect_separation([[0.0], [1.0], [2.0]], family="cox", duration=duration)


def test_a_shared_rank_is_reported_with_the_label_of_its_group() -> None:
    with pytest.raises(ValueError, match="Group 'u' has several alternatives of rank 1"):
        nv.detect_separation(
            [[0.0], [1.0], [2.0]], [1, 1, 2], family="rank-ordered", groups=["u", "u", "u"]
        )


@pytest.mark.parametrize("seed", range(20))
def test_group_intercepts_separate_the_same_successes_as_pairs(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (12, 2)).astype(float), rng.integers(0, 2, 12)
    given: dict[str, Any] = {"family": "conditional-logit", "groups": np.repeat([0, 1, 2], 4)}
    pairs = nv.detect_separation(X, y, **given)
    monkeypatch.setattr(cones, "_MAX_PAIRS", -1)
    intercepts = nv.detect_separation(X, y, **given)
    assert intercepts.kind != "undecided"
    assert intercepts.coefficients == pairs.coefficients
    assert {*intercepts.separated} == {*pairs.separated}


def test_ctrl_c_ends_the_question_and_the_next_one_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = nv.detect_separation(*QUASI)
    with monkeypatch.context() as patched:
        patched.setattr(cone, "search_verdict", interrupted)
        with pytest.raises(KeyboardInterrupt):
            nv.detect_separation(*VERTEX)
        patched.setattr(recession_span, "exact_product", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _ = found.coefficients
    assert "undecided" not in found.coefficients.values()


QUASI = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 9]], [0, 1, 0, 1, 1]
VERTEX = [[0, 0], [3, 1], [0, 0], [1, 0], [1, 3], [2, 2]], [0, 1, 1, 0, 1, 0]


def interrupted(*arguments: Any) -> Any:
    """A step of the search, when the user presses Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("formula", ['y ~ __import__("os").x', "y ~ x | z", "y ~ ", "~", ""])
def test_a_formula_that_cannot_be_read_is_one_error(formula: str) -> None:
    pytest.importorskip("formulaic")
    data = pd.DataFrame({"x": [1, 2, 3], "z": [1, 2, 3], "y": [0, 1, 1]})
    with pytest.raises(ValueError, match="formula"):
        nv.detect_separation(formula=formula, data=data)
    with pytest.raises(ValueError, match="formula"):
        variables_of(formula)


def test_rows_are_at_least_these_if_the_kind_is_undecided() -> None:
    found = nv.detect_separation(*VERTEX, budget=1e-9)
    assert (found.kind, found.exists) == ("undecided", None)
    X = np.column_stack([VERTEX[0], [0, 0, 0, 1, 0, 0]])  # separates row 3 in one step
    found = nv.detect_separation(X, VERTEX[1], budget=1e-9)
    assert (found.kind, found.exists, [*found.separated]) == ("undecided", False, [3])
    assert "at least 1 of 6 observations: row 3" in str(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"link": "logit"}, "logistf"),
        ({"link": "probit"}, "MPL_Jeffreys"),
        ({"link": "loglog"}, "use cloglog"),
        ({"family": "adjacent"}, "parallel = TRUE"),
        ({"family": "sequential"}, "logistf"),
        ({"family": "sequential", "link": "probit"}, "stacked rows.*MPL_Jeffreys"),
        ({"family": "sequential", "link": "loglog"}, "stacked rows.*use cloglog"),
        ({"family": "cumulative"}, r"bayespolr\(\)"),
        ({"family": "cumulative", "link": "probit"}, 'method = "probit"'),
        ({"family": "cumulative", "link": "cloglog"}, r'cumulative\("cloglog"\)'),
        ({"family": "cumulative", "link": "loglog"}, "reverse the order"),
    ],
)
def test_advice_names_functions_that_fit_this_model(options: Any, words: str) -> None:
    found = nv.detect_separation([[0.0], [1.0], [2.0]], [0, 1, 1], **options)
    assert re.search(words, found.advice[0])
    if options.get("link", "logit") != "logit":
        assert "Firth" not in found.advice[0]


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (
            [[0, 1], [0, 2], [0, 3], [1, 2]],
            [0, 1, 0, 1],
            "of 0 has a finite lower end and no upper",
        ),
        ([[0, 0], [1, 1], [2, 3], [3, 3]], [0, 0, 1, 1], "of 0 and 1 has no ends"),
    ],
)
def test_advice_about_intervals_and_tests(X: Any, y: Any, words: str) -> None:
    text = next(own for own in nv.detect_separation(X, y).advice if own.startswith("Wald"))
    assert words in text
    assert "chi-squared approximation can be poor" in text


def profile(X: Any, y: Any, j: int, value: float) -> float:
    """The largest log-likelihood of a logistic regression whose coefficient j has this value."""
    rows = np.column_stack([np.ones(len(y)), X]).astype(np.float64)
    signs = np.where(np.asarray(y) == 1, 1.0, -1.0)
    free = np.delete(signs[:, None] * rows, j + 1, axis=1)
    fixed = value * signs * rows[:, j + 1]
    loss = lambda b: np.logaddexp(0.0, -(free @ b + fixed)).sum()  # noqa: E731
    slope = lambda b: -free.T @ expit(-(free @ b + fixed))  # noqa: E731
    return -float(minimize(loss, np.zeros(free.shape[1]), jac=slope, method="BFGS").fun)


@pytest.mark.parametrize("value", [-20.0, 20.0])
@pytest.mark.parametrize("j", [0, 1])
def test_with_complete_separation_the_profile_likelihood_tends_to_0(j: int, value: float) -> None:
    X, y = [[0, 0], [1, 1], [2, 3], [3, 3]], [0, 0, 1, 1]
    assert profile(X, y, j, value) == pytest.approx(0.0, abs=0.01)


def test_with_quasi_complete_separation_it_tends_to_that_of_the_rows_not_separated() -> None:
    X, y = [[0, 1], [0, 2], [0, 3], [1, 2]], [0, 1, 0, 1]
    highest = 3 * (np.log(1 / 3) / 3 + 2 * np.log(2 / 3) / 3)  # the slope of column 1 is 0
    assert profile(X, y, 0, 20.0) == pytest.approx(highest, abs=0.01)
    assert profile(X, y, 0, -20.0) < highest - 10


@pytest.mark.parametrize("family", ["multinomial", "cumulative", "sequential"])
@pytest.mark.parametrize("form", ["array", "category"])
def test_classes_that_only_rows_of_weight_0_have_are_in_the_notes(family: str, form: str) -> None:
    y: Any = np.array([0, 0, 1, 1, 2, 2, 7])
    y = y if form == "array" else pd.Categorical(y)
    X = [[0.0], [1.0], [0.0], [1.0], [0.0], [1.0], [5.0]]
    words = (
        "only occur in rows left out: 7" if form == "array" else "classes of y that do not occur"
    )
    found = nv.detect_separation(X, y, family=family, weights=[1, 1, 1, 1, 1, 1, 0])
    assert found.kind == "overlap"
    assert any(words in note for note in found.notes)
    found = nv.detect_separation(X[:6], y[:6] if form == "array" else [0, 0, 1, 1, 2, 2],
                                 family=family)  # fmt: skip
    assert not any("classes of y that" in note for note in found.notes)


def test_a_constant_column_is_responsible_if_there_is_no_intercept() -> None:
    found = nv.detect_separation([[1.0], [-1.0]], [1, 1], weights=[1, 0], fit_intercept=False)
    assert found.responsible_columns == [0]
    pytest.importorskip("formulaic")
    data = pd.DataFrame({"y": [1, 1]})
    assert nv.detect_separation(formula="y ~ 1", data=data).responsible_columns == []


def test_a_repeated_index_label_does_not_name_a_row_to_refit() -> None:
    X = pd.DataFrame({"a": [0.0, 0.0, 1.0, 0.0], "b": [1.0, 2.0, 2.0, 3.0]}, index=[0, 1, 0, 1])
    separation = nv.detect_separation(X, pd.Series([0, 1, 1, 0], index=X.index))
    assert separation.kind == "quasi-complete separation"
    assert "Firth" in str(separation)
    model = separation.limiting_model()
    assert model.positions.tolist() == [0, 1, 3]
    with pytest.raises(ValueError, match=r"same index label.*positions"):
        _ = model.rows
    again = nv.detect_separation(X.reset_index(drop=True), [0, 1, 1, 0])
    assert again.limiting_model().rows.tolist() == [0, 1, 3]


def test_a_proportion_is_no_number_of_successes() -> None:
    with pytest.raises(ValueError, match=r"not a whole number of successes in row 0: 0.5.*weights"):
        nv.detect_separation([[0.0], [1.0]], [0.5, 1.0], trials=[10, 10])
    assert nv.detect_separation([[0.0], [1.0]], [0.5, 1.0], trials=[1, 1]).exists is False


@pytest.mark.parametrize(
    ("X", "y", "row"),
    [
        ([[1.0], [-1.0], [1.0]], [0, 0, 1], 0),
        ([[1.0], [0.0]], [1, 0], 1),
        ([[1.0], [-1.0]], [[2, 0], [2, 1]], 1),  # a row with both outcomes
        ([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [1, 1, 0], 2),
    ],
)
def test_a_log_link_whose_likelihood_is_0_is_rejected(X: Any, y: Any, row: int) -> None:
    with pytest.raises(DataError, match=rf"the likelihood is 0 .* in row {row}, which has a fail"):
        nv.detect_separation(X, y, link="log", fit_intercept=False)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(len(X[0]))])
    formula = f"0 + {' + '.join(frame)}"
    with pytest.raises(DataError, match="the likelihood is 0 for all coefficients"):
        nv.detect_separation(formula=formula, data=frame, y=y, link="log")
    assert nv.detect_separation(X, y, link="log").kind != "undecided"
    assert nv.detect_separation(X, y, fit_intercept=False).kind != "undecided"


@pytest.mark.parametrize(
    ("X", "y", "kind"),
    [
        ([[1.0], [2.0], [1.0]], [0, 0, 1], "overlap"),
        ([[1.0], [-1.0]], [1, 1], "overlap"),  # the maximum is at 0
        ([[0.0], [-1.0]], [1, 0], "quasi-complete separation"),
    ],
)
def test_a_log_link_without_an_intercept_may_have_a_likelihood(X: Any, y: Any, kind: str) -> None:
    assert nv.detect_separation(X, y, link="log", fit_intercept=False).kind == kind


def test_a_log_link_without_an_intercept_respects_the_budget() -> None:
    X = np.random.default_rng(0).normal(size=(400, 30))
    with pytest.raises(ValueError, match="give a larger budget"):
        nv.detect_separation(X, np.arange(400) % 2, link="log", fit_intercept=False, budget=1e-9)


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        ([0, 0, 0], {}, "all outcomes are failures"),
        ([1, 1, 1], {}, "all outcomes are successes"),
        ([1, 1, 1], {"link": "log"}, ""),
        ([0, 0, 0], {"family": "poisson"}, "all outcomes are 0"),
        ([0, 1, 0], {}, ""),
    ],
)
def test_one_class_only_is_named_as_the_cause(y: Any, options: Any, words: str) -> None:
    found = nv.detect_separation([[0.0], [1.0], [2.0]], y, **options)
    told = [note for note in found.notes if note.startswith("all outcomes")]
    if words:
        assert [words in note and "alone is complete separation" in note for note in told] == [True]
        assert found.kind == "complete separation"
        assert words in str(found)
    else:
        assert told == []


def test_a_combination_with_large_factors_is_decided() -> None:
    found = nv.detect_separation(*QUASI)
    assert found.estimable([0, 2**60 + 1, 1]) == "+inf"
    assert found.estimable([2**70 + 1, 0, 2**65 + 3]) == "finite"
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (30, 4)).astype(float)
    apart = nv.detect_separation(X, X[:, 0] > 0)
    assert apart.estimable([1, 2**60 + 1, 1, 1, 3]) == "+inf"
    assert apart.estimable([2**70 + 3, 2**65 + 5, 1, 3, 1]) == "either sign"


def test_a_combination_of_numbers_that_are_far_apart_is_decided() -> None:
    X = [[-2e278, 2e-274], [0.0, 2e-274], [0.0, -1e-274]]
    found = nv.detect_separation(X, [0, 1, 0], family="choice", groups=[0, 0, 0])
    assert found.estimable([2e278, -3e-274]) == "either sign"


def test_multiples_that_overflow_are_one_error() -> None:
    with pytest.raises(ValueError, match="divide the column by a power of 2"):
        nv.detect_separation([[1.7e308], [0.0], [1.0], [2.0]], [0, 1, 2, 1], family="adjacent")
