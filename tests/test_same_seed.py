"""One seed is one run: estimators, the study, the command and the theory give the same bits."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.jobs.study import study
from novikoff.jobs.study_records import Options
from novikoff.page.question import Question
from novikoff.page.study import pocket_answer
from tests.cli.conftest import inside

IRIS, SPECIES = load_iris(return_X_y=True)
WINE, GROWERS = load_wine(return_X_y=True)
DATA = {
    "iris, setosa": (IRIS, (SPECIES == 0).astype(int)),
    "iris, three species": (IRIS, SPECIES),
    "wine, three growers": (WINE, GROWERS),
}


def csv_of(X: Any, y: Any, folder: Path) -> Path:
    """Write a table with the label in its last column."""
    lines = [",".join(map(str, [*x, label])) for x, label in zip(X.tolist(), y, strict=True)]
    names = [f"x{j}" for j in range(X.shape[1])]
    path = folder / "data.csv"
    path.write_text("\n".join([",".join([*names, "label"]), *lines]))
    return path


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("scale", ["standard", None])
def test_a_study_and_an_estimator_make_one_run(name: str, seed: int, scale: Any) -> None:
    X, y = DATA[name]
    options = Options(seed=seed, epochs=30, verdict=False, scale="standard" if scale else "none")
    found = study(X, y, options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf = nv.Perceptron(random_state=seed, scale=scale, max_epochs=30).fit(X, y)
    assert found.run is not None
    assert found.run.mistakes == clf.n_mistakes_
    np.testing.assert_array_equal(found.model.W[:-1].T, clf.coef_)
    np.testing.assert_array_equal(found.model.W[-1], clf.intercept_)


def test_the_model_of_the_command_is_the_estimator_that_its_file_names(tmp_path: Path) -> None:
    labels = np.where(SPECIES == 0, "yes", "no")
    data = csv_of(IRIS, labels, tmp_path)
    inside("fit", data, "--model", "perceptron", "--seed", "5", "--out", tmp_path)
    loaded = nv.load(tmp_path / "data.novikoff")
    again = type(loaded)(**loaded.get_params()).fit(IRIS, labels)
    np.testing.assert_array_equal(loaded.coef_, again.coef_)
    assert loaded.n_mistakes_ == again.n_mistakes_


@pytest.mark.parametrize("order", ["cyclic", "permuted", "random"])
def test_the_table_of_theory_counts_the_mistakes_of_the_estimator(order: str) -> None:
    X, y = DATA["iris, setosa"]
    table = nv.theory.summary(X, y, orders=[order], random_state=5)
    clf = nv.Perceptron(order=order, random_state=5).fit(X, y)
    assert [run.mistakes for run in table.runs] == [clf.n_mistakes_]


@pytest.mark.parametrize("seed", [0, 7])
def test_the_fewest_mistakes_are_those_of_one_search(seed: int, tmp_path: Path) -> None:
    """The study, the estimator and the file of the command have one rule."""
    X, y = IRIS[50:, 2:], SPECIES[50:]
    clf = nv.Pocket(random_state=seed).fit(X, y)
    found = study(X, y, Options(seed=seed))
    assert found.cases[0].errors == clf.n_errors_
    np.testing.assert_array_equal(found.model.W[:-1].T, clf.coef_)

    inside("fit", csv_of(X, y, tmp_path), "--seed", str(seed), "--out", tmp_path)
    loaded = nv.load(tmp_path / "data.novikoff")
    assert loaded.get_params()["random_state"] == seed
    np.testing.assert_array_equal(loaded.coef_, clf.coef_)


@pytest.mark.parametrize("name", ["iris, setosa", "wine, three growers"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_largest_margin_is_one_hyperplane(
    name: str, fit_intercept: bool, tmp_path: Path
) -> None:
    X, y = DATA[name]
    clf = nv.MaxMargin(fit_intercept=fit_intercept).fit(X, y)
    found = study(X, y, Options(fit_intercept=fit_intercept))
    assert found.rule == "largest margin"
    np.testing.assert_array_equal(found.model.W[:-1].T, clf.coef_)
    np.testing.assert_array_equal(found.model.W[-1], clf.intercept_)

    how = [] if fit_intercept else ["--no-intercept"]
    inside("fit", csv_of(X, y, tmp_path), *how, "--out", tmp_path)
    loaded = nv.load(tmp_path / "data.novikoff")
    np.testing.assert_array_equal(loaded.coef_, clf.coef_)


@pytest.mark.parametrize("seed", [0, 7])
def test_the_lab_finds_the_rule_of_the_estimator(seed: int) -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [3, 3]], [-1, 1, 1, -1, -1]
    points = [[*x, label] for x, label in zip(X, y, strict=True)]
    told = pocket_answer(Question.from_json({"points": points, "seed": seed}))
    clf = nv.Pocket(random_state=seed, max_updates=1000).fit(X, y)
    assert told["errors"] == clf.n_errors_
    np.testing.assert_array_equal([told["w"][:2]], clf.coef_)
