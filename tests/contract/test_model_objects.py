"""`nv.detect_separation` of the models of statsmodels and lifelines, and of formulas.

A model object gets the same answer as plain arrays, with the names of its summary table. Where
packages have different conventions, the answer is compared with the package's own likelihood.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import patsy
import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from lifelines import CoxPHFitter, CoxTimeVaryingFitter, WeibullAFTFitter
from sklearn.linear_model import LogisticRegression
from statsmodels.discrete.conditional_models import ConditionalLogit, ConditionalPoisson
from statsmodels.miscmodels.ordinal_model import OrderedModel

import novikoff as nv
from novikoff.errors import DataError
from tests.cases import case_named

LINKS = {"Logit": "logit", "Probit": "probit", "CLogLog": "cloglog", "LogLog": "loglog",
         "Cauchy": "cauchit", "Log": "log"}  # fmt: skip


def problem(seed: int) -> pd.DataFrame:
    """Rows with labels and with a factor; one level often has only one outcome."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 40))
    frame = pd.DataFrame({
        "x": rng.integers(0, 4, n).astype(float),
        "colour": pd.Categorical(rng.choice([*"rgb"], n), categories=[*"rgb"]),
        "group": rng.integers(0, 6, n),
        "time": rng.integers(3, 12, n).astype(float),
    }, index=[f"row {i}" for i in range(n)])  # fmt: skip
    frame["event"] = np.where(frame["colour"] == "g", rng.integers(0, 2), rng.integers(0, 2, n))
    frame["event"] = frame["event"].astype(int)
    frame["count"] = frame["event"] * rng.integers(1, 4, n)
    frame["stage"] = np.where(frame["colour"] == "b", 2, rng.integers(0, 3, n))
    frame["start"] = frame["time"] - rng.integers(1, 4, n)
    return frame


SEEDS = [*range(6)]
NUMBERS = ["x", "green", "blue"]


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """The covariates as columns of numbers."""
    return pd.DataFrame({
        "x": frame["x"],
        "green": (frame["colour"] == "g").astype(float),
        "blue": (frame["colour"] == "b").astype(float),
    })  # fmt: skip


def quiet(call: Callable[[], Any]) -> Any:
    """The result of a call; its warnings are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def agree(found: nv.Separation, wanted: nv.Separation, names: list[str]) -> None:
    """The answer about an object equals the answer about arrays, with the names of the object."""
    assert (found.family, found.kind) == (wanted.family, wanted.kind)
    assert [*found.coefficients] == names
    assert [*found.coefficients.values()] == [*wanted.coefficients.values()]
    assert [*found.separated] == [*wanted.separated]


def binary_models() -> dict[str, Any]:
    models: dict[str, Any] = {
        "Logit": lambda y, X, _: (sm.Logit(y, X), {}),
        "Probit": lambda y, X, _: (sm.Probit(y, X), {"link": "probit"}),
        "Poisson": lambda y, X, _: (sm.Poisson(y, X), {"family": "poisson"}),
        "GLM Poisson": lambda y, X, _: (
            sm.GLM(y, X, family=sm.families.Poisson(), exposure=np.full(len(y), 2.0)),
            {"family": "poisson"},
        ),
        "GLM weights": lambda y, X, z: (
            sm.GLM(y, X, family=sm.families.Binomial(), freq_weights=z),
            {"weights": z},
        ),
        "GLM NegativeBinomial": lambda y, X, _: (
            sm.GLM(y, X, family=sm.families.NegativeBinomial(alpha=0.5)),
            {"family": "negative-binomial"},
        ),
        "GLM successes": lambda y, X, _: (
            sm.GLM(np.stack([2 * y, 2 - 2 * y], axis=1), X, family=sm.families.Binomial()),
            {},
        ),
    }
    for method in ("nb2", "nb1", "geometric"):
        models[f"NegativeBinomial {method}"] = lambda y, X, _, own=method: (
            sm.NegativeBinomial(y, X, loglike_method=own),
            {"family": "negative-binomial"},
        )
    for name, link in LINKS.items():
        models[f"GLM {name}"] = lambda y, X, _, own=name, link=link: (
            sm.GLM(y, X, family=sm.families.Binomial(link=getattr(sm.families.links, own)())),
            {"link": link},
        )
    return models


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", binary_models())
def test_models_of_one_outcome(name: str, seed: int) -> None:
    frame = problem(seed)
    X, y = sm.add_constant(numbers(frame)), frame["event"]
    weights = np.arange(len(y)) % 3
    model, options = quiet(lambda: binary_models()[name](y, X, weights))
    options = {"reference": 0, **options} if "family" not in options else options
    wanted = nv.detect_separation(X, y, fit_intercept=False, **options)
    agree(nv.detect_separation(model), wanted, ["const", *NUMBERS])


@pytest.mark.parametrize(
    "fit",
    [
        lambda y, X: sm.Logit(y, X).fit(disp=0, maxiter=5),
        lambda y, X: sm.GLM(y, X, family=sm.families.Binomial()).fit(maxiter=5),
        lambda y, X: sm.Poisson(y, X).fit(disp=0, maxiter=5),
        lambda y, X: sm.Logit(y, X).fit_regularized(alpha=0.1, disp=0),
    ],
)
def test_fitted_results_stand_for_their_model(fit: Any) -> None:
    frame = problem(1)
    X, y = sm.add_constant(numbers(frame)), frame["event"]
    result = quiet(lambda: fit(y, X))
    agree(nv.detect_separation(result), nv.detect_separation(result.model), ["const", *NUMBERS])


@pytest.mark.parametrize("seed", SEEDS)
def test_multinomial_models_name_the_class_of_each_block(seed: int) -> None:
    frame = problem(seed)
    X, y = sm.add_constant(numbers(frame)), frame["stage"].map({0: "lo", 1: "mid", 2: "hi"})
    wanted = nv.detect_separation(X, y, fit_intercept=False, family="multinomial")
    names = [f"{own}:{label}" for label in ("lo", "mid") for own in ("const", *NUMBERS)]
    agree(nv.detect_separation(sm.MNLogit(y, X)), wanted, names)
    by_number = nv.detect_separation(sm.MNLogit(frame["stage"], X))
    assert [*by_number.coefficients][:1] == ["const:1"]
    fitted = quiet(lambda: sm.MNLogit(y, X).fit(disp=0, maxiter=3))
    table = fitted.summary().tables[1].as_text()
    assert "stage=lo" in table
    agree(nv.detect_separation(fitted), wanted, names)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distr", ["logit", "probit"])
def test_ordered_models_have_the_parameters_of_their_table(seed: int, distr: str) -> None:
    """The fates of θ_1 and of the increments, in the order of the summary table."""
    frame = problem(seed)
    X = numbers(frame)
    y = pd.Series(pd.Categorical(frame["stage"], ordered=True), index=frame.index)
    model = OrderedModel(y, X, distr=distr)
    found = nv.detect_separation(model)
    assert [*found.coefficients] == [*model.exog_names] == [*NUMBERS, "0/1", "1/2"]
    wanted = nv.detect_separation(X, y, family="cumulative", link=distr)
    assert found.kind == wanted.kind
    for name in (*NUMBERS, "0/1"):
        with case_named(name):
            assert found.coefficients[name] == wanted.coefficients[name.replace("/", "|")]
    difference = wanted.estimable({"0|1": -1, "1|2": 1})
    assert found.coefficients["1/2"] == difference
    assert difference in ("finite", "+inf")


def test_an_ordered_model_that_is_separated_moves_its_increment() -> None:
    """x = 0, 1, 2 separates the classes, so the coefficient and the increment are infinite."""
    X = pd.DataFrame({"x": [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]})
    y = pd.Series(pd.Categorical([0, 0, 1, 1, 2, 2], ordered=True))
    model = OrderedModel(y, X, distr="logit")
    found = nv.detect_separation(model)
    assert dict(found.coefficients) == {"x": "+inf", "0/1": "+inf", "1/2": "+inf"}
    ends = [model.loglike(np.array([t, t / 2, np.log(t)])) for t in (1.0, 10.0, 40.0)]
    assert ends[0] < ends[1] < ends[2]
    assert ends[2] > -1e-6


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_proportional_hazards_models(seed: int, ties: str) -> None:
    frame = problem(seed)
    X = numbers(frame)
    event, strata = frame["event"], frame["group"] % 2
    model = sm.PHReg(frame["time"], X, status=event, strata=strata, ties=ties)
    wanted = nv.detect_separation(
        X, family="cox", duration=frame["time"], event=event, strata=strata, ties=ties
    )
    agree(nv.detect_separation(model), wanted, NUMBERS)
    agree(nv.detect_separation(quiet(model.fit)), wanted, NUMBERS)
    entered = sm.PHReg(frame["time"], X, status=event, entry=frame["start"], ties=ties)
    wanted = nv.detect_separation(
        X, family="cox", duration=frame["time"], event=event, ties=ties,
        entry=frame["start"] - 0.5,
    )  # fmt: skip
    agree(nv.detect_separation(entered), wanted, NUMBERS)


def test_rows_of_a_hazards_model_are_at_risk_at_their_entry_in_statsmodels() -> None:
    """Row 1 enters at the time of row 0's event: statsmodels compares them, lifelines does not."""
    frame = pd.DataFrame({"T": [2.0, 3.0], "E": [1, 1], "start": [0.0, 2.0], "x": [1.0, 0.0]})
    model = sm.PHReg(frame["T"], frame[["x"]], status=frame["E"], entry=frame["start"])
    assert model.loglike(np.array([9.0])) > model.loglike(np.array([0.0])) + 0.5
    assert dict(nv.detect_separation(model).coefficients) == {"x": "+inf"}
    options: dict[str, Any] = {"duration": "T", "event": "E", "entry": "start"}
    with pytest.raises(ValueError, match="does not depend on the coefficients"):
        nv.detect_separation(CoxPHFitter(), data=frame, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_conditional_logit_models(seed: int) -> None:
    frame = problem(seed)
    X = numbers(frame)
    model = quiet(lambda: ConditionalLogit(frame["event"], X, groups=frame["group"]))
    wanted = nv.detect_separation(
        X, frame["event"], family="conditional-logit", groups=frame["group"]
    )
    agree(nv.detect_separation(model), wanted, NUMBERS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_formula_has_the_names_of_statsmodels_and_the_answer_of_categories(seed: int) -> None:
    frame = problem(seed)
    formula = "event ~ x + colour"
    wanted = nv.detect_separation(frame[["x", "colour"]], frame["event"], reference={"y": 0})
    fates = [own for own in wanted.coefficients.values() if own != "reference"]
    found = nv.detect_separation(formula=formula, data=frame)
    assert [*found.coefficients] == ["Intercept", "x", "colour[T.g]", "colour[T.b]"]
    assert [*found.coefficients.values()] == fates
    assert [*found.separated] == [*wanted.separated]
    by_model = nv.detect_separation(smf.logit(formula, frame))
    if "aliased" not in fates:  # patsy orders the columns of formulas differently
        assert dict(by_model.coefficients) == dict(found.coefficients)
    columns = nv.detect_separation(data=frame[["event", "x", "colour"]], y="event")
    assert dict(columns.coefficients) == dict(wanted.coefficients)
    if found.exists is False:
        assert found.responsible_columns == columns.responsible_columns
        assert {*(found.responsible_columns or [])} <= {"x", "colour"}
    matrix = patsy.dmatrix("x + colour", frame)
    from_patsy = nv.detect_separation(matrix, frame["event"], reference=0)
    if "aliased" not in fates:
        assert dict(from_patsy.coefficients) == dict(found.coefficients)
    own = pl.DataFrame({
        "x": frame["x"].to_numpy(), "event": frame["event"].to_numpy(),
        "colour": pl.Series(frame["colour"].astype(str).tolist(), dtype=pl.Enum([*"rgb"])),
    })  # fmt: skip
    assert dict(nv.detect_separation(formula=formula, data=own).coefficients) == dict(
        found.coefficients
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fitter_of_lifelines_and_its_frame(seed: int) -> None:
    frame = problem(seed)
    data = numbers(frame).assign(T=frame["time"], E=frame["event"])
    wanted = nv.detect_separation(
        data[NUMBERS], family="cox", duration=data["T"], event=data["E"], ties="efron"
    )
    unfitted = nv.detect_separation(CoxPHFitter(), data=data, duration="T", event="E")
    agree(unfitted, wanted, NUMBERS)
    fitter = quiet(lambda: CoxPHFitter(penalizer=0.1).fit(data, "T", "E"))
    agree(nv.detect_separation(fitter, data), wanted, [*fitter.params_.index])
    assert any("penalty" in note for note in nv.detect_separation(fitter, data=data).notes)
    named = frame.rename(columns={"time": "T", "event": "E"})
    named["colour"] = named["colour"].astype(str)
    strata = {"strata": ["group"]}
    fitter = quiet(
        lambda: CoxPHFitter(penalizer=0.1, **strata).fit(named, "T", "E", formula="x + colour")
    )
    found = nv.detect_separation(fitter, data=named)
    wanted = nv.detect_separation(
        formula="~ x + colour", data=named, family="cox", duration="T", event="E", strata="group"
    )
    agree(found, wanted, [*fitter.params_.index])


def test_a_time_varying_fitter_has_entry_times() -> None:
    frame = problem(2)
    data = numbers(frame).assign(start=frame["start"], T=frame["time"], E=frame["event"])
    data["id"] = range(len(data))
    fit = CoxTimeVaryingFitter(penalizer=0.1).fit
    fitter = quiet(lambda: fit(data, "E", start_col="start", stop_col="T", id_col="id"))
    wanted = nv.detect_separation(
        data[NUMBERS], family="cox", duration=data["T"], event=data["E"], entry=data["start"]
    )
    agree(nv.detect_separation(fitter, data=data), wanted, NUMBERS)


def test_rows_that_statsmodels_dropped_keep_their_labels() -> None:
    frame = problem(0)
    frame["x"] = np.where(np.arange(len(frame)) == 3, np.nan, np.arange(len(frame)))
    frame["event"] = (np.arange(len(frame)) > 10).astype(int)
    found = nv.detect_separation(smf.logit("event ~ x", frame))
    assert found.kind == "complete separation"
    assert [*found.separated] == [own for own in frame.index if own != "row 3"]
    design = sm.add_constant(frame[["x"]].to_numpy())
    by_number = nv.detect_separation(sm.Logit(frame["event"].to_numpy(), design, missing="drop"))
    assert by_number.separated.tolist() == [i for i in range(len(frame)) if i != 3]


@pytest.mark.parametrize("method", ["nb1", "nb2"])
@pytest.mark.parametrize("seed", range(8))
def test_a_free_dispersion_does_not_change_which_coefficients_are_finite(
    seed: int, method: str
) -> None:
    """The likelihood of statsmodels, for every dispersion, along the direction and away from it.

    If the data is separated, the likelihood rises along the direction for each dispersion. If it is
    not, the best coefficients stay in a bounded set for dispersions from 1e-4 to 1e4.
    """
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, 14).astype(float)
    y = np.where((x == 1) & (seed % 2 == 0), 0, rng.poisson(1.5, 14))
    y[:2], x[:2] = (2, 0), 0.0
    X = sm.add_constant(pd.DataFrame({"x": x}))
    model = sm.NegativeBinomial(y, X, loglike_method=method)
    found = nv.detect_separation(model)
    assert found.exists == bool(y[x == 1].any())
    alphas = np.logspace(-4, 4, 9)
    if found.exists is False:
        along = np.array([*found.direction.values()])
        for alpha in alphas:
            ends = [model.loglike([*(t * along), np.log(alpha)]) for t in (0.0, 2.0, 6.0)]
            assert ends[0] < ends[1] < ends[2]
        return
    grid = np.linspace(-12, 12, 49)
    best = []
    for alpha in alphas:
        values = np.array([[model.loglike([a, b, np.log(alpha)]) for b in grid] for a in grid])
        best.append(np.unravel_index(np.argmax(values), values.shape))
    inside = np.abs(grid[np.array(best)])
    weak = alphas <= 10  # a large dispersion makes the likelihood flat
    assert (inside[weak] < 8).all()


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda d: {"X": smf.ols("count ~ x", d)}, ValueError, "least-squares"),
        (lambda d: {"X": smf.gee("event ~ x", "group", d)}, ValueError, "estimating equations"),
        (lambda d: {"X": smf.mixedlm("event ~ x", d, groups=d["group"])}, ValueError, "random eff"),
        (lambda d: {"X": sm.ZeroInflatedPoisson(d["count"], d[["x"]])}, ValueError, "mixture"),
        (lambda d: {"X": sm.GeneralizedPoisson(d["count"], d[["x"]])}, ValueError, "free scale"),
        (lambda d: {"X": smf.glm("time ~ x", d)}, ValueError, "least-squares"),
        (lambda d: {"X": smf.glm("time ~ x", d, family=sm.families.Tweedie())}, ValueError, "free"),
        (lambda d: {"X": smf.glm(
            "event ~ x", d, family=sm.families.Binomial(sm.families.links.Identity()))},
         ValueError, "link Identity"),
        (lambda d: {"X": smf.glm(
            "event ~ x", d, family=sm.families.Poisson(sm.families.links.Sqrt()))},
         ValueError, "link Sqrt"),
        (lambda d: {"X": quiet(
            lambda: ConditionalPoisson(d["count"], d[["x"]], groups=d["group"]))},
         ValueError, "family='poisson'"),
        (lambda _: {"X": sm.Logit}, TypeError, "is the class Logit"),
        (lambda _: {"X": LogisticRegression()}, TypeError, "X is LogisticRegression: pass a table"),
        (lambda d: {"X": smf.logit("event ~ x", d), "family": "poisson"}, ValueError, "'binomial'"),
        (lambda d: {"X": smf.logit("event ~ x", d), "y": d["event"]}, ValueError, "y does not"),
        (lambda d: {"X": smf.logit("event ~ x", d), "data": d}, ValueError, "data does not apply"),
        (lambda d: {"X": smf.logit("event ~ x", d), "formula": "y ~ x"}, ValueError, "formula"),
        (lambda _: {"X": CoxPHFitter()}, ValueError, "pass the frame"),
        (lambda d: {"X": CoxPHFitter(), "data": d}, ValueError, "not fitted"),
        (lambda d: {"X": WeibullAFTFitter(), "data": d}, ValueError, "parametric"),
        (lambda d: {"X": CoxPHFitter(baseline_estimation_method="spline", n_baseline_knots=2),
                    "data": d}, ValueError, "parametric baseline"),
        (lambda d: {"X": CoxPHFitter(strata=["ward"]), "data": d, "duration": "time"},
         ValueError, "'ward' of the strata"),
    ],
)  # fmt: skip
def test_models_that_have_no_answer_are_rejected_with_the_reason(
    ask: Callable[[pd.DataFrame], dict[str, Any]], error: type[Exception], words: str
) -> None:
    frame = problem(0)
    with pytest.raises(error, match=words):
        nv.detect_separation(**quiet(lambda: ask(frame)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"formula": "event ~ x | group"}, "several parts"),
        ({"formula": "event ~ x +"}, "cannot be read"),
        ({"formula": "event ~ nope"}, "cannot be read.*nope"),
        ({"formula": "cbind(event, count) ~ x"}, r"successes \+ failures"),
        ({"formula": "~ x"}, "has no outcome"),
        ({"formula": "event ~ x", "y": "count"}, "leave y out"),
        ({"formula": "event ~ x", "weights": "nope"}, "weights='nope' is not a column"),
        ({"formula": "event ~ x", "weights": [1, 2]}, "weights has shape"),
        ({"formula": "event ~ x", "fit_intercept": False}, "write '0"),
        ({"formula": "event ~ colour", "reference": {"colour": "b"}}, "contr.treatment"),
        ({"formula": "event ~ x", "data": None}, "needs the frame"),
        ({"formula": "event ~ hole"}, "'hole' is missing in row 'row 2'.*missing='drop'"),
        ({"y": "nope"}, "is not a column of data"),
        ({"formula": 3}, "formula must be text"),
        ({"formula": "event ~ x", "X": [[1.0]]}, "not both"),
        ({"data": [[1, 2]], "y": "event"}, "data must be a data frame"),
    ],
)
def test_formulas_that_cannot_be_answered_say_why(options: dict[str, Any], words: str) -> None:
    frame = problem(0).assign(hole=1.0)
    frame.loc["row 2", "hole"] = np.nan
    with pytest.raises((ValueError, TypeError), match=words):
        nv.detect_separation(**{"data": frame, **options})


def test_a_formula_leaves_out_rows_with_missing_values_on_request() -> None:
    frame = problem(3)
    frame["event"] = (frame["colour"] == "g").astype(int)
    frame.loc["row 1", "x"] = np.nan
    frame["weights"] = np.where(frame.index == "row 2", np.nan, 1.0)
    found = nv.detect_separation(
        formula="event ~ x + colour", data=frame, weights="weights", missing="drop"
    )
    assert [*found.rows] == [own for own in frame.index if own not in ("row 1", "row 2")]
    assert found.coefficients["colour[T.g]"] == "+inf"


def test_an_increment_is_infinite_where_its_threshold_is_finite() -> None:
    """Only class 0 has x = −1, and the others overlap at x = 0, so θ_1 → −∞ and θ_2 is finite."""
    X, y = pd.DataFrame({"x": [-1.0, -1.0, 0.0, 0.0, 0.0, 0.0]}), np.array([0, 0, 1, 2, 1, 2])
    found = nv.detect_separation(OrderedModel(y, X, distr="logit"))
    assert dict(found.coefficients) == {"x": "+inf", "0/1": "-inf", "1/2": "+inf"}
    plain = nv.detect_separation(X, y, family="cumulative")
    assert dict(plain.coefficients) == {"0|1": "-inf", "1|2": "finite", "x": "+inf"}


@pytest.mark.parametrize("given", ["offset", "exposure"])
def test_an_offset_with_the_log_link_needs_scores_that_can_be_lowered(given: str) -> None:
    family = sm.families.Binomial(link=sm.families.links.Log())
    y, X = np.array([0, 0, 1]), np.array([[1.0], [1.0], [0.0]])
    plain = quiet(lambda: sm.GLM(y, X, family=family))
    # The probability of the third row is 1: with an offset it would be another number.
    assert nv.detect_separation(plain).kind == "quasi-complete separation"
    own = {given: np.full(3, 2.0)}
    moved = quiet(lambda: sm.GLM(y, X, family=family, **own))
    with pytest.raises(DataError, match=r"log link and an offset, .* = 0 in row 2. Add an interc"):
        nv.detect_separation(moved)
    full = quiet(lambda: sm.GLM(y, sm.add_constant(X), family=family, **own))
    assert nv.detect_separation(full).kind == "quasi-complete separation"
