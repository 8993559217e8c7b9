"""Which rule is saved, which rows it misclassifies, and how far each row is from the hyperplane."""

from __future__ import annotations

import csv
import html
import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

import novikoff as nv
from tests.cli.conftest import Files, inside, refused, write_csv

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((resources.files("novikoff.report") / "report.schema.json").read_text())


def fit(*words: str | Path) -> dict[str, Any]:
    done = inside("fit", *words, "--format", "json", "--force")
    assert (done.code, done.err) == (0, "")
    jsonschema.validate(done.json, SCHEMA)
    return done.json


def scores(model: Any, X: Any) -> Any:
    found = np.asarray(X) @ model.coef_.T + model.intercept_
    return found[:, 0] if found.shape[1] == 1 else found


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def flipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clouds far apart, with the labels of rows 8, 31 and 77 flipped."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 3)) + 8.0 * y[:, None]
    y[[7, 30, 76]] ^= 1
    path = tmp_path_factory.mktemp("flipped") / "flipped.csv"
    write_csv(path, ["a", "b", "c", "label"], X.tolist(), [("no", "yes")[k] for k in y.tolist()])
    return path


def test_wrong_rows_are_those_that_predict_gets_wrong(flipped: Path, tmp_path: Path) -> None:
    wrong = fit(flipped, "--out", tmp_path)["model"]["wrong"]
    assert (wrong["count"], sorted(wrong["rows"]), wrong["ids"]) == (3, [8, 31, 77], None)
    assert wrong["distances"] == sorted(wrong["distances"])
    assert max(wrong["distances"]) < -1.0
    text = inside("fit", flipped, "--out", tmp_path, "--force").out
    named = ", ".join(map(str, wrong["rows"]))
    assert f"rows {named} (the worst first)" in text
    one = write_csv(tmp_path / "one.csv", ["a", "label"], [[0], [1], [2], [3], [4]], [*"nnyny"])
    assert "\n            row 3\n" in inside("fit", one, "--out", tmp_path).out
    done = inside("predict", tmp_path / "flipped.novikoff", flipped, "--differing")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert list(rows[0]) == ["row", "label", "prediction"]
    assert [int(row["row"]) for row in rows] == [8, 31, 77]
    assert all(row["label"] != row["prediction"] for row in rows)
    assert done.err == "novikoff: 3 of 100 labels differ from the predictions.\n"


def test_predict_lists_differing_rows_by_id_with_scores_or_says_that_none_can_be(
    files: Files, fitted: Path, tmp_path: Path
) -> None:
    model = fitted / "duplicates.novikoff"
    whole = inside("predict", model, files.duplicates)
    kept = inside("predict", model, files.duplicates, "--differing", "--scores")
    assert kept.err == whole.err
    truth = {row["id"]: row["class"] for row in read(files.duplicates)}
    said = {row["id"]: row["prediction"] for row in csv.DictReader(whole.out.splitlines())}
    rows = list(csv.DictReader(kept.out.splitlines()))
    assert [row["id"] for row in rows] == [name for name in truth if truth[name] != said[name]]
    assert list(rows[0])[:3] == ["id", "label", "prediction"]
    assert len(rows[0]) == 4
    bare = tmp_path / "bare.csv"
    bare.write_text("x,z\n0,5\n4,3\n")
    words = (fitted / "line.novikoff", bare, "--differing", "--out", tmp_path / "none.csv")
    refused(inside("predict", *words), "bare.csv has no label that the model could give")
    assert not (tmp_path / "none.csv").exists()


def test_the_table_of_rows(flipped: Path, files: Files, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    body = fit(flipped, "--out", tmp_path, "--rows", path)
    assert body["files"]["rows"] == str(path)
    rows = read(path)
    assert list(rows[0]) == ["row", "label", "predicted", "distance", "multiplier"]
    assert [int(row["row"]) for row in rows] == list(range(1, 101))
    model, data = nv.load(tmp_path / "flipped.novikoff"), nv.data.read(flipped)
    said = ["yes" if score > 0 else "no" for score in scores(model, data.X).tolist()]
    assert [row["predicted"] for row in rows] == said
    sides = np.where(data.labels == "yes", 1.0, -1.0)
    far = sides * scores(model, data.X) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose([float(row["distance"]) for row in rows], far, rtol=1e-12)
    shares = {int(row["row"]): float(row["multiplier"]) for row in rows if row["multiplier"]}
    assert sorted(shares) == body["verdict"]["cases"][0]["support"]["rows"]
    assert sum(shares.values()) == pytest.approx(1.0)
    again = inside("fit", flipped, "--out", tmp_path / "new", "--rows", path)
    refused(again, "rows.csv already exists", "--force replaces it")
    assert not (tmp_path / "new").exists()
    fit(files.duplicates, "--id", "id", "--out", tmp_path, "--rows", path, "--force")
    assert [row["id"] for row in read(path)] == [f"r{k}" for k in range(1, 8)]


@pytest.mark.parametrize("words", [("--positive", "setosa"), ()])
def test_several_rules_show_the_one_that_a_row_is_worst_at(
    words: tuple[str, ...], files: Files, tmp_path: Path
) -> None:
    """A row is classified correctly exactly if it is on the correct side of all rules."""
    path = tmp_path / "rows.csv"
    fit(files.iris, *words, "--out", tmp_path, "--rows", path)
    rows = read(path)
    for row in rows:
        if float(row["distance"]) > 0:
            assert row["predicted"] == row["label"]
    model = fit(files.iris, *words, "--out", tmp_path)["model"]
    wrong = [int(row["row"]) for row in rows if row["predicted"] != row["label"]]
    assert sorted(model["wrong"]["rows"]) == wrong


def test_the_page_shows_ten_wrong_rows_and_folds_the_rest(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    words = [("<b>no</b>", "yes")[k] for k in y.tolist()]
    path = write_csv(tmp_path / "noise.csv", ["a", "b", "label"], X.tolist(), words)
    wrong = fit(path, "--out", tmp_path)["model"]["wrong"]
    assert wrong["count"] > 12
    page = inside("fit", path, "--out", tmp_path, "--force", "--format", "html").out
    assert "<b>no</b>" not in page
    open_part, folded = page.split("<details>")
    cells = [
        [int(row) for row in re.findall(r"<tr><td>(\d+)</td>", part)]
        for part in (open_part, folded)
    ]
    assert cells == [wrong["rows"][:10], wrong["rows"][10:]]
    assert f"<summary>{wrong['count'] - 10} more</summary>" in page
    assert html.escape("<b>no</b>") in page
    clean = inside("fit", path, "--out", tmp_path, "--force", "--no-verdict", "--epochs", "1")
    assert clean.code == 0


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_saved_rule_is_that_of_the_largest_margin(
    fit_intercept: bool, files: Files, tmp_path: Path
) -> None:
    """It equals the rule of a hard-margin SVM and of MaxMargin; the report shows its margin."""
    words = () if fit_intercept else ("--no-intercept",)
    positive = ("--positive", "setosa")
    body = fit(files.iris, *positive, *words, "--out", tmp_path)
    assert body["model"]["rule"] == "largest margin"
    model, data = nv.load(tmp_path / "iris.novikoff"), nv.data.read(files.iris)
    y = np.where(data.labels == "setosa", 1, -1)
    mine = nv.MaxMargin(fit_intercept=fit_intercept).fit(data.X, y)
    np.testing.assert_allclose(model.coef_, mine.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, mine.intercept_, rtol=1e-6)
    if fit_intercept:
        svm = SVC(kernel="linear", C=1e10, tol=1e-8).fit(data.X, y)
        np.testing.assert_allclose(model.coef_, svm.coef_, rtol=1e-4)
    least = (y * scores(model, data.X)).min() / np.linalg.norm(model.coef_)
    assert body["model"]["margins"] == pytest.approx([least])
    text = inside("fit", files.iris, *positive, *words, "-v", "--out", tmp_path, "--force")
    assert text.line("rule").startswith("the hyperplane with the largest margin")
    told = float(re.search(r"the nearest row is (\S+) away", text.out)[1])  # type: ignore[index]
    assert 0.999 * least <= told <= least * (1.0 + 1e-12)  # rounded down
    assert text.line("perceptron").startswith("all rows correct after ")


def test_the_perceptrons_rule_is_saved_if_asked_for(files: Files, tmp_path: Path) -> None:
    words = (files.iris, "--positive", "setosa", "--out", tmp_path)
    wide, own = fit(*words)["model"], fit(*words, "--model", "perceptron")["model"]
    assert (wide["rule"], own["rule"]) == ("largest margin", "perceptron")
    assert 0 < own["margins"][0] < wide["margins"][0]
    text = inside("fit", *words, "--force", "--model", "perceptron")
    assert text.line("rule") == "the perceptron's"
    assert "\n            the nearest row is " in text.out


def test_several_classes_have_the_largest_margin_each(tmp_path: Path) -> None:
    """As with MaxMargin, scores have one scale: ±1 on the rows nearest to each hyperplane."""
    rng = np.random.default_rng(3)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) + 12.0 * np.eye(4)[y]
    path = write_csv(tmp_path / "three.csv", ["a", "b", "c", "d", "y"], X.tolist(), y.tolist())
    body = fit(path, "--out", tmp_path)
    assert body["verdict"]["kind"] == "separable"
    mine: Any = nv.MaxMargin().fit(X, y)
    model = nv.load(tmp_path / "three.novikoff")
    np.testing.assert_allclose(scores(model, X), mine.decision_function(X), atol=1e-5)
    far = [interval.lo for interval in mine.margin_]
    assert body["model"]["margins"] == pytest.approx(far, rel=1e-6)


def test_the_estimate_judges_the_rule_that_is_saved(files: Files, tmp_path: Path) -> None:
    words = (files.cancer, "--out", tmp_path, "--cv", "4", "--seed", "3")
    wide = fit(*words)["estimate"]
    own = fit(*words, "--model", "perceptron")["estimate"]
    assert wide["folds"] != own["folds"]
