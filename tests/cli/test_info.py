"""``novikoff info``: what a model is, from what data, and its weights by feature."""

from __future__ import annotations

from pathlib import Path

import pytest

import novikoff as nv
from tests.cli.conftest import Files, inside, write_csv


def test_a_model_of_two_classes(files: Files, fitted: Path) -> None:
    done = inside("info", fitted / "line.novikoff")
    assert (done.code, done.err) == (0, "")
    assert done.line("classes") == "high, low"
    assert done.line("features") == "2"
    assert done.line("data") == f"{files.line} · 5 rows"
    assert len(done.line("sha256")) == 64
    assert done.line("weights") == "low where the sum is positive"
    model = nv.load(fitted / "line.novikoff")
    shown = {line.split()[0]: line.split()[1] for line in done.out.splitlines()[-3:]}
    assert shown == {
        "x": f"{model.coef_[0, 0]:.6g}",
        "z": f"{model.coef_[0, 1]:.6g}",
        "(intercept)": f"{model.intercept_[0]:.6g}",
    }


def test_a_model_of_several_classes(fitted: Path) -> None:
    done = inside("info", fitted / "iris.novikoff")
    for pair in ("versicolor against setosa", "virginica against setosa"):
        assert f"weights     {pair}" in done.out
    assert "weights     virginica against versicolor" in done.out
    assert done.out.count("(intercept)") == 3


def test_json(fitted: Path) -> None:
    done = inside("info", fitted / "line.novikoff", "--format", "json")
    assert (done.code, done.err) == (0, "")
    model = nv.load(fitted / "line.novikoff")
    assert done.json["classes"] == ["high", "low"]
    assert done.json["estimator"] == "Perceptron"
    assert done.json["rules"] == [
        {
            "title": "low where the sum is positive",
            "weights": dict(zip(["x", "z"], model.coef_[0].tolist(), strict=True)),
            "intercept": model.intercept_[0],
        }
    ]
    recipe = done.json["preprocessing"]
    assert isinstance(recipe, dict)
    assert recipe["label"] == "class"


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wide")
    names = [f"f{j}" for j in range(30)]
    rows = [[float((3 * i + j) % 7) for j in range(30)] for i in range(4)]
    path = write_csv(folder / "wide.csv", [*names, "y"], rows, ["a", "b", "b", "a"])
    assert inside("fit", path, "--out", folder).code == 0
    return folder / "wide.novikoff"


def test_the_largest_weights_or_all(wide: Path) -> None:
    some, everything = inside("info", wide), inside("info", wide, "--all")
    assert "… and 10 more (--all)" in some.out
    assert "more" not in everything.out
    weights = [line.split() for line in everything.out.splitlines() if line.split()[0][0] == "f"]
    weights = [words for words in weights if words[0] != "features"]
    assert sorted(words[0] for words in weights) == sorted(f"f{j}" for j in range(30))
    sizes = [abs(float(words[1])) for words in weights]
    assert sizes == sorted(sizes, reverse=True)


def test_pairs_of_classes_are_named(tmp_path: Path) -> None:
    X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["a", "b", "c"]
    nv.save(nv.Perceptron(multi_class="ovo").fit(X, y), tmp_path / "pairs.novikoff")
    done = inside("info", tmp_path / "pairs.novikoff")
    assert done.code == 0
    for pair in ("b against a", "c against a", "c against b"):
        assert f"weights     {pair}" in done.out
