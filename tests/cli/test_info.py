"""``novikoff info`` shows the kind of a model, its data, and its weights by feature."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from tests.cases import case_named
from tests.cli.conftest import Files, inside, write_csv
from tests.model_cases import FITTED, PROBE


def test_a_model_of_two_classes(files: Files, fitted: Path) -> None:
    done = inside("info", fitted / "line.novikoff")
    assert (done.code, done.err) == (0, "")
    assert done.line("model").endswith(
        "line.novikoff · Perceptron (largest margin) · by novikoff " + nv.__version__
    )
    assert done.line("classes") == "high, low"
    assert done.line("features") == "2"
    assert done.line("data") == f"{files.line} · 5 rows"
    assert len(done.line("sha256")) == 64
    assert done.line("weights") == "low where the sum is positive"
    model = nv.load(fitted / "line.novikoff")
    (x, z), intercept = model.coef_[0].tolist(), model.intercept_[0]
    shown = {line.split()[0]: line.split()[1] for line in done.out.splitlines()[-3:]}
    assert shown == {"x": f"{x:.6g}", "z": f"{z:.6g}", "(intercept)": f"{intercept:.6g}"}
    body: Any = inside("info", fitted / "line.novikoff", "--format", "json").json
    assert (body["classes"], body["estimator"]) == (["high", "low"], "Perceptron")
    rule = {"title": done.line("weights"), "weights": {"x": x, "z": z}, "intercept": intercept}
    assert body["rules"] == [rule]
    assert body["preprocessing"]["label"] == "class"


def test_rules_are_named_by_their_classes(fitted: Path, tmp_path: Path) -> None:
    pairs = inside("info", fitted / "iris.novikoff").out
    for pair in ("versicolor against setosa", "virginica against setosa"):
        with case_named(pair):
            assert f"weights     {pair}" in pairs
    assert pairs.count("(intercept)") == 3
    X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["a", "b", "c"]
    nv.save(nv.Perceptron().fit(X, y), tmp_path / "rest.novikoff")
    assert "weights     c against the rest" in inside("info", tmp_path / "rest.novikoff").out


def test_the_largest_weights_or_all(tmp_path: Path) -> None:
    names = [f"f{j}" for j in range(30)]
    rows = [[float((3 * i + j) % 7) for j in range(30)] for i in range(4)]
    path = write_csv(tmp_path / "wide.csv", [*names, "y"], rows, ["a", "b", "b", "a"])
    assert inside("fit", path, "--out", tmp_path).code == 0
    model = tmp_path / "wide.novikoff"
    assert "… and 10 more (--all)" in inside("info", model).out
    lines = [line.split() for line in inside("info", model, "--all").out.splitlines()]
    weights = [words for words in lines if words[0] in names]
    assert sorted(words[0] for words in weights) == sorted(names)
    sizes = [abs(float(words[1])) for words in weights]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    ("change", "said", "belongs"),
    [
        (lambda folder: None, "holds the proofs of this model", True),
        (
            lambda folder: (folder / "xor.cert.json").write_bytes(
                (folder / "line.cert.json").read_bytes()
            ),
            "does not belong to this model",
            False,
        ),
        (
            lambda folder: (folder / "xor.cert.json").write_text("{}"),
            "cannot be read as a certificate",
            None,
        ),
        (
            lambda folder: nv.save(nv.load(folder / "xor.novikoff"), folder / "xor.novikoff"),
            "was not compared: this model names no certificate",
            None,
        ),
    ],
)
def test_the_certificate_beside_a_model(
    change: Callable[[Path], object], said: str, belongs: bool | None, fitted: Path, tmp_path: Path
) -> None:
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    change(tmp_path)
    path = tmp_path / "xor.novikoff"
    assert inside("info", path).line("certificate") == (f"{tmp_path / 'xor.cert.json'} {said}") + (
        ": it is of another study" if belongs is False else ""
    )
    body = inside("info", path, "--format", "json").json
    assert body["certificate"] == {"file": str(tmp_path / "xor.cert.json"), "belongs": belongs}


def test_a_model_alone(fitted: Path, tmp_path: Path) -> None:
    path = tmp_path / "alone.novikoff"
    shutil.copy(fitted / "xor.novikoff", path)
    done = inside("info", path)
    assert done.code == 0
    assert "certificate" not in done.out
    assert inside("info", path, "--format", "json").json["certificate"] is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "name",
    ["two", "noisy", "averaged", "averaged sparse", "p norm", "second order",
     "kernel", "kernel sparse", "forgetron", "pocket", "margin"],
)  # fmt: skip
def test_where_the_sum_is_positive_the_model_predicts_the_class(name: str, tmp_path: Path) -> None:
    """The explanation of the signs of weights agrees with the predictions of every estimator."""
    path = tmp_path / "model"
    model = FITTED[name]()
    nv.save(model, path)
    body: Any = inside("info", path, "--format", "json").json
    text = inside("info", path)
    assert text.code == 0
    assert ("none: " in text.out) == (body["rules"] == [])
    for rule in body["rules"] if len(body["classes"]) == 2 else ():
        assert rule["title"] == f"{body['classes'][1]} where the sum is positive"
        positive = PROBE @ [*rule["weights"].values()] + rule["intercept"] > 0.0
        assert (model.predict(PROBE) == np.array(body["classes"])[positive.astype(int)]).all()
