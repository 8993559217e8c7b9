"""One seed is one run: every interface gives the same bits.

The interfaces are the estimators, the study, the commands, nv.stream, nv.regret, the lab, the
theory and the cluster.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.core.trace import Trace
from novikoff.jobs.study import study
from novikoff.jobs.study_records import StudyOptions
from novikoff.page.answers import pocket_answer, run_answer
from novikoff.page.question import Question
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
    options = StudyOptions(
        seed=seed, epochs=30, verdict=False, scale="standard" if scale else "none"
    )
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
    found = study(X, y, StudyOptions(seed=seed))
    assert found.cases[0].mistakes == clf.n_errors_
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
    found = study(X, y, StudyOptions(fit_intercept=fit_intercept))
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


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("order", ["cyclic", "permuted", "random", "max_residual"])
def test_the_lab_steps_through_the_run_of_the_estimator(order: str, seed: int) -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [3, 2]], [-1, -1, -1, 1, 1]
    points = [[*x, label] for x, label in zip(X, y, strict=True)]
    question = Question.from_json({"points": points, "order": order, "seed": seed})
    run = run_answer(question)["run"]
    clf = nv.Perceptron(order=order, random_state=seed, trace=True).fit(X, y)
    assert isinstance(clf.trace_, Trace)
    assert run["index"] == clf.trace_.index.tolist()
    assert run["weights"][-1] == [*clf.coef_[0].tolist(), *clf.intercept_.tolist()]


@pytest.mark.parametrize("seed", [0, 7])
def test_regret_compares_with_the_rule_of_the_pocket(seed: int) -> None:
    X, y = IRIS[50:, 2:], SPECIES[50:]
    found = nv.regret(X, y, nv.Perceptron(), random_state=seed)
    clf = nv.Pocket(random_state=seed).fit(X, y)
    np.testing.assert_array_equal(found.rule_mistakes[0], np.cumsum(clf.predict(X) != y))
    assert found.errors_lower_bound == clf.errors_lower_bound_


def blocks(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """The rows in blocks of seven."""
    return [(X[k : k + 7], y[k : k + 7]) for k in range(0, len(X), 7)]


# How a learner can learn the rows of a stream, one pass in the given order.
STREAMS: dict[str, Callable[[nv.Perceptron, Any, Any, Path], object]] = {
    "learn_one": lambda clf, X, y, path: [
        clf.learn_one(x, label) for x, label in zip(X, y.tolist(), strict=True)
    ],
    "partial_fit": lambda clf, X, y, path: clf.partial_fit(X, y, classes=np.unique(y)),
    "nv.stream of examples": lambda clf, X, y, path: [
        *nv.stream(zip(X, y.tolist(), strict=True), clf)
    ],
    "nv.stream of blocks": lambda clf, X, y, path: [*nv.stream(blocks(X, y), clf)],
    "nv.stream of a file": lambda clf, X, y, path: [*nv.stream(csv_of(X, y, path), clf)],
}


# partial_fit knows all classes before the first row, and a stream does not. With two classes this
# makes no difference, as the sign predicts.
STREAM_CASES = [
    (how, name)
    for how in STREAMS
    for name, (_, y) in DATA.items()
    if how != "partial_fit" or len(np.unique(y)) == 2
]


@pytest.mark.parametrize(("how", "name"), STREAM_CASES)
def test_a_stream_is_learned_in_one_way(how: str, name: str, tmp_path: Path) -> None:
    """Every way to learn a stream ends with the weights of the command's model."""
    X, y = DATA[name]
    shuffled = np.random.default_rng(0).permutation(len(y))
    X, y = X[shuffled], y[shuffled]
    clf = nv.Perceptron()
    STREAMS[how](clf, X, y, tmp_path)
    model = tmp_path / "stream.novikoff"
    done = inside("stream", csv_of(X, y, tmp_path), "--save", model, "--quiet")
    assert done.code == 0, done.said
    loaded = nv.load(model)
    assert isinstance(loaded, nv.Perceptron)
    np.testing.assert_array_equal(loaded.coef_, clf.coef_)
    np.testing.assert_array_equal(loaded.intercept_, clf.intercept_)
    assert loaded.n_mistakes_ == clf.n_mistakes_


@pytest.mark.parametrize("name", ["iris, setosa", "iris, three species"])
def test_rows_on_a_cluster_get_the_verdict_and_the_model_of_arrays(name: str) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    from tests.cluster.cases import local_rows

    X, y = DATA[name]
    rows = local_rows(X, y, [])
    for label in np.unique(y).tolist():
        own, there = nv.separate(X, y, positive=label), nv.separate(rows, positive=label)
        assert own.certificate == there.certificate
    if name == "iris, setosa":
        found = study(rows)
        clf = nv.MaxMargin().fit(X, y)
        assert found.rule == "largest margin"
        np.testing.assert_array_equal(found.model.W[:-1].T, clf.coef_)
