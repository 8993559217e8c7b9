"""The estimator among its neighbours: frames, pipelines, searches, routing, callbacks."""

from __future__ import annotations

import pickle
import signal
import threading
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.callback import CallbackContext, ProgressBar
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff as nv

Matrix = npt.NDArray[np.float64]


@pytest.fixture
def wine() -> tuple[Matrix, npt.NDArray[np.int64]]:
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_works_in_a_pipeline_and_a_search() -> None:
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), nv.Perceptron(random_state=0))
    grid = {"perceptron__order": ["cyclic", "permuted"], "perceptron__margin": [0.0, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(pipeline, X, y, error_score="raise").mean() > 0.9


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_takes_frames_and_remembers_their_columns(
    frame: type[pd.DataFrame] | type[pl.DataFrame],
    wine: tuple[Matrix, npt.NDArray[np.int64]],
) -> None:
    X, y = wine
    names = [f"c{j}" for j in range(X.shape[1])]
    table = frame(dict(zip(names, X.T, strict=True)))
    clf = nv.Perceptron(random_state=0).fit(table, y)
    plain = nv.Perceptron(random_state=0).fit(X, y)
    assert clf.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(clf.coef_, plain.coef_)
    np.testing.assert_array_equal(clf.predict(table), y)


def test_names_the_column_of_a_missing_value() -> None:
    table = pd.DataFrame({"age": [1.0, 2.0], "height": [1.0, np.nan]})
    with pytest.raises(ValueError, match=r"NaN in row 1, column 1 \('height'\)"):
        nv.Perceptron().fit(table, [0, 1])


def test_routes_metadata(wine: tuple[Matrix, npt.NDArray[np.int64]]) -> None:
    X, y = wine
    weight = np.where(y == 0, 1.0, 0.0) + 0.5
    with config_context(enable_metadata_routing=True):
        clf = nv.Perceptron(random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, clf).fit(X, y, sample_weight=weight)
    alone = nv.Perceptron(random_state=0).fit(
        StandardScaler().fit_transform(X), y, sample_weight=weight
    )
    np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)
    assert not np.array_equal(alone.coef_, nv.Perceptron(random_state=0).fit(X, y).coef_)


class Watch:
    """A callback that keeps what it is told and stops after so many epochs."""

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.scores: list[float] = []

    def setup(self, estimator: nv.Perceptron, context: CallbackContext) -> None: ...

    def teardown(self, estimator: nv.Perceptron, context: CallbackContext) -> None: ...

    def on_fit_task_begin(self, estimator: nv.Perceptron, context: CallbackContext) -> None: ...

    def on_fit_task_end(
        self,
        estimator: nv.Perceptron,
        context: CallbackContext,
        *,
        X: Matrix | None = None,
        y: npt.NDArray[np.int64] | None = None,
        fitted_estimator: nv.Perceptron | None = None,
    ) -> bool:
        if context.task_name == "epoch":
            assert fitted_estimator is not None
            self.scores.append(fitted_estimator.score(X, y))
        return len(self.scores) >= self.patience


def test_callbacks_see_every_epoch_and_can_stop_the_fit() -> None:
    X, y = load_iris(return_X_y=True)
    watch = Watch(patience=4)
    clf = nv.Perceptron(random_state=0).set_callbacks(watch)
    with pytest.warns(ConvergenceWarning, match="callback"):
        clf.fit(X, y)
    assert clf.n_iter_ == len(watch.scores) == 4
    assert watch.scores[-1] == clf.score(X, y)


def test_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    nv.Perceptron(random_state=0).set_callbacks(ProgressBar()).fit(X, y == 0)
    assert "Perceptron" in capsys.readouterr().out


def test_verbose_prints_epochs(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    clf = nv.Perceptron(order="cyclic", verbose=1).fit(X, y == 0)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == clf.n_iter_
    assert lines[-1] == f"epoch {clf.n_iter_}: {clf.n_updates_} updates so far"


def test_pickles_and_clones(wine: tuple[Matrix, npt.NDArray[np.int64]]) -> None:
    X, y = wine
    clf = nv.Perceptron(random_state=0, average="averaged").fit(X, y)
    again: nv.Perceptron = pickle.loads(pickle.dumps(clf))  # noqa: S301 — our own bytes
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    assert clone(clf).get_params() == clf.get_params()


def test_reads_a_memory_map(tmp_path: Path, wine: tuple[Matrix, npt.NDArray[np.int64]]) -> None:
    X, y = wine
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    clf = nv.Perceptron(random_state=0).fit(mapped, y)
    np.testing.assert_array_equal(clf.coef_, nv.Perceptron(random_state=0).fit(X, y).coef_)


def test_does_not_copy_or_change_the_data(wine: tuple[Matrix, npt.NDArray[np.int64]]) -> None:
    X, y = wine
    before = X.copy()
    X.flags.writeable = False
    nv.Perceptron().fit(X, y)
    np.testing.assert_array_equal(X, before)
    messy = sp.csr_array(([1.0, 2.0, 5.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    nv.Perceptron().fit(messy, [0, 1])
    assert messy.indices.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    "options", [{}, {"order": "max_residual"}, {"multi_class": "ovo"}], ids=str
)
def test_an_interrupted_fit_is_usable(options: dict[str, str]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = rng.integers(0, 3 if "multi_class" in options else 2, size=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        nv.Perceptron(max_epochs=2).set_params(**options).fit(X, y)  # compile before the clock runs
    clf = nv.Perceptron(max_epochs=None, max_seconds=60.0).set_params(**options)
    # A shell may have started us with SIGINT ignored.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    me = threading.get_ident()
    timer = threading.Timer(0.3, signal.pthread_kill, [me, signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    timer.join()
    signal.signal(signal.SIGINT, inherited)
    assert not clf.converged_
    assert clf.n_updates_ == clf.update_counts_.sum() > 0
    assert clf.predict(X).shape == y.shape
