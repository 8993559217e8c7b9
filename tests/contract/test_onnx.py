"""In onnxruntime, an exported graph gives the same predictions as the estimator."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.core.schemes import OneVsOne, OneVsRest
from novikoff.errors import OnnxExportError, OutputError
from novikoff.formats.onnx import export_onnx
from tests.model_cases import FITTED, Labels, Model, X, perceptron

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# All rows of small integers: their products with integer weights are exact in any order.
GRID: Vector = np.array(list(itertools.product(range(-3, 4), repeat=3)), dtype=np.float64)
FOUR: Labels = np.array(["d", "b", "a", "c"])[np.arange(343) % 4]


def run(path: Path, rows: Vector) -> tuple[Labels, Vector]:
    """The labels and scores of the runtime."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        path.read_bytes(), options, providers=["CPUExecutionProvider"]
    )
    label, scores = session.run(["label", "scores"], {"X": rows})
    return np.asarray(label), np.asarray(scores)


def exported(model: Model, tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    export_onnx(model, path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    return path


def rounding(model: Model, rows: Vector) -> Vector:
    """A bound on the difference of two sums of a row's products, for each rule."""
    sizes: Vector = np.abs(rows) @ np.abs(model.coef_.T) + np.abs(model.intercept_)
    return np.asarray(4.0 * (rows.shape[1] + 2) * 2.0**-53 * sizes)


def close_calls(model: Model, rows: Vector) -> npt.NDArray[np.bool_]:
    """The rows whose label may depend on the order of a sum."""
    margins = rows @ model.coef_.T + model.intercept_
    doubt = rounding(model, rows)
    if isinstance(model.model_.scheme, OneVsRest):
        top = np.sort(margins, axis=1)
        return np.asarray(top[:, -1] - top[:, -2] <= 2.0 * doubt.max(axis=1))
    near = (np.abs(margins) <= doubt).any(axis=1)
    if isinstance(model.model_.scheme, OneVsOne):  # equal votes, and nearly equal sums
        top = np.sort(model.decision_function(rows), axis=1)
        near |= top[:, -1] - top[:, -2] <= 1e-12
    return np.asarray(near)


NOT_LINEAR = ("kernel", "forgetron")
MODELS: dict[str, Callable[[], Model]] = {
    **{
        name: FITTED[name]
        for name in FITTED
        if not name.startswith(("one class", "no features", "pocket ovr", *NOT_LINEAR))
    },
    "ovo many": lambda: perceptron(multi_class="ovo").fit(GRID, FOUR),
    "ovr many": lambda: perceptron(average=True).fit(GRID, FOUR),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", MODELS)
def test_random_rows(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    rows = np.random.default_rng(3).normal(size=(400, model.n_features_in_))
    rows *= 10.0 ** np.random.default_rng(4).integers(-3, 4, size=(400, 1))
    label, scores = run(exported(model, tmp_path), rows)
    expected = model.decision_function(rows)
    assert scores.dtype == np.float64
    assert scores.shape == expected.shape
    sure = ~close_calls(model, rows)
    assert sure.mean() > 0.9
    assert label[sure].tolist() == model.predict(rows)[sure].tolist()
    if isinstance(model.model_.scheme, OneVsOne):
        np.testing.assert_allclose(scores[sure], expected[sure], rtol=0.0, atol=1e-9)
    else:
        bound = rounding(model, rows).reshape(expected.shape)
        assert (np.abs(scores - expected) <= bound).all()


EXACT: dict[str, Callable[[], Model]] = {
    "two": lambda: perceptron().fit(GRID, GRID @ [1, 2, -1] > 0),
    "no intercept": lambda: perceptron(fit_intercept=False).fit(GRID, GRID @ [1, 0, -1] > 0),
    "one update": lambda: perceptron(fit_intercept=False).partial_fit(
        GRID[:1], [2], classes=[1, 2]
    ),
    "strings": lambda: perceptron().fit(GRID, FOUR == "a"),
    "ovr": lambda: perceptron().fit(GRID, FOUR),
    "ovo": lambda: perceptron(multi_class="ovo").fit(GRID, FOUR),
    "ovo untrained": lambda: perceptron(multi_class="ovo").partial_fit(
        GRID[:3], FOUR[:3], classes=["a", "b", "c", "d", "e"]
    ),
}


@pytest.mark.parametrize("make", EXACT.values())
def test_exact_ties(make: Any, tmp_path: Path) -> None:
    model = make()
    assert (model.coef_ == np.round(model.coef_)).all()
    label, scores = run(exported(model, tmp_path), GRID)
    assert label.tolist() == model.predict(GRID).tolist()
    assert scores.tolist() == model.decision_function(GRID).tolist()


def test_the_ties_are_there(tmp_path: Path) -> None:
    """The data has scores of 0, equal scores and equal votes, so a wrong tie rule would show."""
    top = np.sort(EXACT["ovr"]().decision_function(GRID), axis=1)
    assert (top[:, -1] == top[:, -2]).any()
    votes = np.sort(np.round(EXACT["ovo"]().decision_function(GRID)), axis=1)
    assert (votes[:, -1] == votes[:, -2]).any()
    label, scores = run(exported(EXACT["one update"](), tmp_path), GRID)
    assert (scores == 0.0).sum() > 10
    assert set(label[scores == 0.0].tolist()) == {1}


@pytest.mark.parametrize(
    ("name", "kind"),
    [("bools", np.bool_), ("floats", np.float64), ("uint8", np.int64), ("objects", np.object_)],
)
def test_labels_keep_their_type(name: str, kind: type, tmp_path: Path) -> None:
    label, _ = run(exported(FITTED[name](), tmp_path), X)
    assert label.dtype == kind


def test_names_and_the_program_are_told_in_the_same_bytes(tmp_path: Path) -> None:
    path = exported(FITTED["frame"](), tmp_path)
    graph, first = onnx.load(path), path.read_bytes()
    assert [(entry.key, entry.value) for entry in graph.metadata_props] == [
        ("feature_names", '["a", "b", "c"]')
    ]
    assert (graph.producer_name, graph.producer_version) == ("novikoff", nv.__version__)
    assert exported(FITTED["frame"](), tmp_path).read_bytes() == first
    with pytest.raises(OutputError, match="already exists"):
        export_onnx(FITTED["frame"](), path, force=False)


REFUSED: dict[str, tuple[Callable[[], Model], str]] = {
    "unfitted": (nv.MaxMargin, "The MaxMargin cannot be exported to ONNX: it is not fitted."),
    "kernel": (FITTED["kernel"], "its rules are not linear in the features"),
    "one class": (FITTED["one class"], "needs two classes"),
    "no features": (FITTED["no features"], "needs two classes and a feature"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_graph_can_do_is_rejected(name: str, tmp_path: Path) -> None:
    make, message = REFUSED[name]
    with pytest.raises(OnnxExportError, match=message):
        export_onnx(make(), tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_without_onnx_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'novikoff\[onnx\]'"):
        export_onnx(FITTED["two"](), tmp_path / "model.onnx")
