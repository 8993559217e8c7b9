"""``novikoff fit``: the verdict, the rule and its mistakes, against answers known otherwise."""

from __future__ import annotations

import csv
import json
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from tests.cli.conftest import SHARED, Files, Result, inside, script

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((resources.files("novikoff.report") / "report.schema.json").read_text())


@pytest.fixture(scope="module")
def texts(files: Files, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """The report of each file as a user sees it."""
    out = tmp_path_factory.mktemp("texts")
    seen = {
        path.stem: inside("fit", path, "--out", out)
        for path in (files.xor, files.line, files.quasi, files.iris)
    }
    seen["duplicates"] = inside("fit", files.duplicates, "--id", "id", "--out", out)
    return seen


def report(*words: str | Path, code: int = 0) -> dict[str, object]:
    """The report as JSON, which must be as its schema says."""
    done = inside("fit", *words, "--format", "json")
    assert (done.code, done.err) == (code, "")
    jsonschema.validate(done.json, SCHEMA)
    return done.json


def at(body: object, *path: str | int) -> object:
    """A value inside JSON."""
    for key in path:
        if isinstance(body, list) and isinstance(key, int):
            body = body[key]
        else:
            assert isinstance(body, dict)
            body = body[key]
    return body


def numbers(value: object) -> list[int]:
    assert isinstance(value, list)
    return [int(number) for number in value]


def table(path: Path) -> tuple[list[list[float]], list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [[float(value) for value in row[:-1]] for row in rows], [row[-1] for row in rows]


def kind(body: dict[str, object]) -> object:
    return at(body, "verdict", "kind")


def test_success_is_silent_on_standard_error(texts: dict[str, Result]) -> None:
    for done in texts.values():
        assert (done.code, done.err) == (0, "")
        assert "\x1b" not in done.out


def test_separable(texts: dict[str, Result]) -> None:
    done = texts["line"]
    assert done.line("data").endswith(
        "line.csv · 5 rows · 2 features · label class: low (+, 2)  high (−, 3)"
    )
    assert done.line("verdict") == (
        "separable — proved: a hyperplane with a bias has all 5 rows on their side"
    )
    assert done.line("margin").startswith("γ = ")
    assert done.line("perceptron").startswith("clean after ")
    assert "mistakes   " not in done.out
    assert "contradict" not in done.out


def test_quasi_separable(texts: dict[str, Result]) -> None:
    done = texts["quasi"]
    assert done.line("verdict").startswith(
        "quasi-separable — proved: hyperplanes with a bias can have 1 row strictly on their side"
    )
    assert done.line("separated") == "rows 4 (counted from 1, without the header)"
    assert done.line("logistic") == "weights without a finite estimate: n → +∞"
    assert done.line("mistakes") == "1 of 4 rows (25.0%); proved: no hyperplane makes fewer"


def test_inseparable(texts: dict[str, Result]) -> None:
    done = texts["xor"]
    assert done.line("verdict") == (
        "inseparable — proved: no hyperplane with a bias has all 4 rows on their side"
    )
    assert done.line("contradict").startswith("rows 1, 2, 3, 4 (counted")
    assert done.line("mistakes") == "1 of 4 rows (25.0%); proved: no hyperplane makes fewer"


def test_duplicates_are_listed_by_row_and_id(texts: dict[str, Result]) -> None:
    done = texts["duplicates"]
    assert done.line("duplicates") == "1 group of identical rows with different labels:"
    assert "rows 2 (r2), 5 (r5), 6 (r6)" in done.out
    assert "r3" not in done.out.split("\nduplicates ", 1)[1]


def test_several_classes(texts: dict[str, Result]) -> None:
    done = texts["iris"]
    assert done.line("verdict") == (
        "inseparable — each class against the rest: 1 separable, 2 inseparable"
    )
    lines = {line.split()[0]: line.split()[1] for line in done.out.splitlines() if line.split()}
    assert "setosa      separable" in done.out
    assert "versicolor  inseparable" in done.out
    assert "virginica   inseparable" in done.out
    assert lines["mistakes"].isdigit()


def test_the_confusion_matrix_adds_up_to_what_predict_says(
    texts: dict[str, Result], files: Files, tmp_path: Path
) -> None:
    body = report(files.iris, "--out", tmp_path)
    done = inside("predict", tmp_path / "iris.novikoff", files.iris)
    truth = table(files.iris)[1]
    said = [row["prediction"] for row in csv.DictReader(done.out.splitlines())]
    names = ["setosa", "versicolor", "virginica"]
    counted = [
        [sum(t == a and s == b for t, s in zip(truth, said, strict=True)) for b in names]
        for a in names
    ]
    wrong = sum(t != s for t, s in zip(truth, said, strict=True))
    assert at(body, "model", "confusion") == counted
    assert at(body, "model", "errors") == wrong
    assert np.sum(counted) == 150
    assert done.err == f"novikoff: {wrong} of 150 labels differ.\n"
    assert texts["iris"].line("mistakes").startswith(f"{wrong} of 150 rows")


def contradict(X: npt.NDArray[np.float64], signs: npt.NDArray[np.int64]) -> bool:
    """Whether HiGHS finds no hyperplane with all these rows strictly on their side."""
    A = -signs[:, None] * np.column_stack([X, np.ones(len(X))])
    answer = linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(len(A)), bounds=(None, None))
    return bool(answer.status == 2)


def test_contradicting_rows_contradict(files: Files, tmp_path: Path) -> None:
    X, y = table(files.iris)
    data, labels = np.array(X), np.array(y)
    body = report(files.iris, "--out", tmp_path)
    for k, name in ((1, "versicolor"), (2, "virginica")):
        case = at(body, "verdict", "cases", k)
        assert at(case, "positive") == name
        rows = np.array(numbers(at(case, "support", "rows"))) - 1
        signs = np.where(labels == name, 1, -1)
        assert contradict(data[rows], signs[rows])
        assert not contradict(data[rows[1:]], signs[rows[1:]])  # none of them is idle
        assert numbers([at(case, "errors_lower_bound")]) <= numbers([at(case, "errors")])


@pytest.mark.parametrize("name", ["xor", "line", "quasi", "wine", "cancer"])
def test_the_numbers_are_the_librarys(name: str, files: Files, tmp_path: Path) -> None:
    path: Path = getattr(files, name)
    rows, labels = table(path)
    X, y = np.array(rows), np.array(labels)
    body = report(path, "--out", tmp_path)
    cases = at(body, "verdict", "cases")
    assert isinstance(cases, list)
    for case in cases:
        verdict = nv.separate(X, y, positive=case["positive"])
        assert case["kind"] == verdict.kind
        for key, interval in (
            ("margin", verdict.margin),
            ("geometric_margin", verdict.geometric_margin),
        ):
            # Runs need not stop at the same end, but the intervals hold the same number.
            assert case[key]["lo"] <= interval.hi
            assert interval.lo <= case[key]["hi"]
            assert case[key]["lo"] == pytest.approx(interval.lo, rel=1e-6)
        assert case["radius"] == verdict.radius
        assert case["mistake_bound"] == verdict.mistake_bound
        assert case["support"]["rows"] == (verdict.support + 1).tolist()
        if verdict.kind == "quasi-separable":
            assert case["separated"]["rows"] == (verdict.separated_rows + 1).tolist()
    assert at(body, "data", "rows") == len(y)
    assert at(body, "data", "features") == X.shape[1]


KNOWN = [
    ("sonar.csv", [], {"R": "separable"}),
    ("endometrial.csv", ["--label", "HG"], {1: "quasi-separable"}),
    ("ionosphere.csv", [], {"good": "quasi-separable"}),
    ("zoo.csv", [], "separable"),
    ("spam.csv.gz", ["--positive", "spam"], {"spam": "inseparable"}),
    ("satellite.csv.gz", ["--budget", "5"], "inseparable"),
    ("mushroom.svm", [], {1: "separable"}),
]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here")
@pytest.mark.parametrize(("name", "words", "known"), KNOWN)
def test_real_data_with_known_answers(
    name: str, words: list[str], known: str | dict[str | int, str], tmp_path: Path
) -> None:
    body = report(SHARED / name, *words, "--out", tmp_path)
    cases = at(body, "verdict", "cases")
    assert isinstance(cases, list)
    if isinstance(known, str):
        assert len(cases) == {"zoo.csv": 7}.get(name, 6)
        assert {case["kind"] for case in cases} == {known}
    else:
        assert {case["positive"]: case["kind"] for case in cases} == known
    if name == "endometrial.csv":
        assert at(body, "verdict", "cases", 0, "logistic", "infinite") == [
            {"name": "NV", "sign": 1}
        ]
    if name == "spam.csv.gz":
        first = at(body, "duplicates", "listed", 0, "rows")
        assert first == [64, 3109]
    certificate = tmp_path / (name.split(".")[0] + ".cert.json")
    assert inside("verify", certificate, SHARED / name).code == 0


def test_a_tiny_budget_ends_undecided_with_exit_code_3(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 40))
    np.savez(tmp_path / "near.npz", X=X, y=X @ rng.standard_normal(40) > 0.0)
    done = inside("fit", tmp_path / "near.npz", "--budget", "0.001", "--out", tmp_path)
    assert done.err == ""
    if done.code == 3:
        assert done.line("verdict").startswith("undecided")
    else:  # a quick machine: then it must be proved
        assert done.code == 0
        assert done.line("verdict").startswith("separable — proved")


@pytest.mark.parametrize(
    ("name", "word", "code"),
    [("line", "separable", 0), ("xor", "separable", 1), ("quasi", "quasi-separable", 0)],
)
def test_require(name: str, word: str, code: int, files: Files, tmp_path: Path) -> None:
    path: Path = getattr(files, name)
    done = inside("fit", path, "--require", word, "--out", tmp_path)
    assert done.code == code
    assert ("the verdict is inseparable, not separable" in done.err) == (code == 1)
    assert (tmp_path / f"{name}.novikoff").exists()


def test_the_positive_class_of_two(files: Files, tmp_path: Path) -> None:
    body = report(files.line, "--positive", "high", "--out", tmp_path)
    assert at(body, "verdict", "cases", 0, "positive") == "high"
    assert at(body, "verdict", "cases", 0, "negative") == "low"
    text = inside("fit", files.line, "--positive", "high", "--out", tmp_path, "--force")
    assert text.line("data").endswith("high (+, 3)  low (−, 2)")
    assert "0 of 5 labels differ" in inside("predict", tmp_path / "line.novikoff", files.line).err


@pytest.mark.parametrize(
    ("positive", "kind_of_it"), [("setosa", "separable"), ("virginica", "inseparable")]
)
def test_one_class_against_the_rest(
    positive: str, kind_of_it: str, files: Files, tmp_path: Path
) -> None:
    body = report(files.iris, "--positive", positive, "--out", tmp_path)
    assert kind(body) == kind_of_it
    assert at(body, "data", "classes", 0) == {"label": "(rest)", "rows": 100}
    assert at(body, "data", "classes", 1) == {"label": positive, "rows": 50}
    done = inside("predict", tmp_path / "iris.novikoff", files.iris)
    said = [row["prediction"] for row in csv.DictReader(done.out.splitlines())]
    truth = [label if label == positive else "(rest)" for label in table(files.iris)[1]]
    wrong = sum(a != b for a, b in zip(truth, said, strict=True))
    assert wrong == at(body, "model", "errors")
    assert done.err == f"novikoff: {wrong} of 150 labels differ.\n"
    assert inside("verify", tmp_path / "iris.cert.json", files.iris).code == 0


def test_without_an_intercept(tmp_path: Path) -> None:
    path = tmp_path / "same_side.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    assert kind(report(path, "--out", tmp_path)) == "separable"
    body = report(path, "--no-intercept", "--out", tmp_path, "--force")
    assert kind(body) == "inseparable"
    model = inside("info", tmp_path / "same_side.novikoff", "--format", "json").json
    assert at(model, "parameters", "fit_intercept") is False
    assert at(model, "rules", 0, "intercept") == 0.0


@pytest.mark.parametrize(
    "order", ["permuted", "cyclic", "fixed", "blocks", "random", "max_distance", "max_residual"]
)
def test_every_order(order: str, files: Files, tmp_path: Path) -> None:
    body = report(files.line, "--order", order, "--out", tmp_path)
    assert at(body, "perceptron", "clean") is True
    model = inside("info", tmp_path / "line.novikoff", "--format", "json").json
    assert at(model, "parameters", "order") == order


def test_the_same_seed_gives_the_same_bytes(files: Files, tmp_path: Path) -> None:
    models = []
    for name, seed in (("first", "7"), ("again", "7"), ("other", "8")):
        words = ("--seed", seed, "--epochs", "20", "--no-verdict", "--out", tmp_path / name)
        run = script if name == "again" else inside  # another process
        assert run("fit", files.cancer, *words).code == 0
        models.append((tmp_path / name / "cancer.novikoff").read_bytes())
    assert models[0] == models[1]
    assert models[0] != models[2]


def test_epochs(files: Files, tmp_path: Path) -> None:
    done = inside("fit", files.cancer, "--epochs", "2", "--out", tmp_path)
    assert "2 epochs" in done.line("perceptron")
    assert "the model is the hyperplane of the largest margin" in done.out
    assert "0 of 569" in inside("predict", tmp_path / "cancer.novikoff", files.cancer).err


def test_without_a_verdict_there_is_no_certificate(files: Files, tmp_path: Path) -> None:
    body = report(files.line, "--no-verdict", "--out", tmp_path)
    assert at(body, "verdict") is None
    assert at(body, "files", "certificate") is None
    assert [path.name for path in tmp_path.iterdir()] == ["line.novikoff"]


def test_the_average_of_all_weights(files: Files, tmp_path: Path) -> None:
    words = ("--no-verdict", "--average", "--order", "cyclic", "--epochs", "3", "--scale", "none")
    body = report(files.cancer, *words, "--out", tmp_path)
    assert at(body, "model", "rule") == "average"
    model = nv.load(tmp_path / "cancer.novikoff")
    data = nv.data.read(files.cancer)
    same = nv.Perceptron(order="cyclic", average="averaged", max_epochs=3)
    with pytest.warns(ConvergenceWarning):
        same.fit(data.X, data.y)
    assert np.array_equal(model.coef_, same.coef_)
    assert at(body, "model", "errors") == int((same.predict(data.X) != data.y).sum())
    done = inside("fit", files.cancer, *words, "--out", tmp_path, "--force")
    assert done.line("perceptron").endswith("the model is the average of its weights")


def test_the_perceptron_sees_standardised_features(files: Files, tmp_path: Path) -> None:
    """As given, the bound is astronomic and some epochs are not enough; scaled, it converges."""
    words = (files.wine, "--positive", "second", "--out", tmp_path, "--force")
    given = report(*words, "--scale", "none", "--epochs", "200")
    assert at(given, "perceptron", "clean") is False
    assert at(given, "verdict", "cases", 0, "scaled") is None
    body = report(*words)
    run, case = at(body, "perceptron"), at(body, "verdict", "cases", 0)
    assert at(run, "clean") is at(run, "returned") is True
    assert at(body, "model", "rule") == "perceptron"
    bound, before = at(case, "scaled", "mistake_bound"), at(case, "mistake_bound")
    assert isinstance(bound, int)
    assert isinstance(before, int)
    assert numbers([at(run, "mistakes")]) < [bound]
    assert bound < before / 10**5
    X, y = table(files.wine)
    scaled = (np.array(X) - np.mean(X, axis=0)) / np.std(X, axis=0)
    verdict = nv.separate(scaled, np.array(y), positive="second")
    assert verdict.margin.lo == pytest.approx(at(case, "scaled", "margin", "lo"), rel=1e-2)
    assert "0 of 178" in inside("predict", tmp_path / "wine.novikoff", files.wine).err


def test_claims_through_the_origin_say_so(tmp_path: Path) -> None:
    path = tmp_path / "same_side.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    done = inside("fit", path, "--no-intercept", "--out", tmp_path)
    assert "no hyperplane through the origin has all 2 rows" in done.line("verdict")
    verified = inside("verify", tmp_path / "same_side.cert.json", path)
    claims = [line for line in verified.out.splitlines() if line.startswith("holds")]
    assert len(claims) == 2
    assert all("through the origin" in claim for claim in claims)


def test_unseen_rows(files: Files, tmp_path: Path) -> None:
    held = at(report(files.iris, "--holdout", "0.2", "--out", tmp_path), "estimate")
    assert at(held, "rows") == 30
    assert at(held, "method") == "holdout 0.2"
    done = inside("fit", files.iris, "--positive", "setosa", "--cv", "5", "--out", tmp_path / "5")
    assert done.line("unseen").startswith("0 errors on 150 unseen rows (0.0%; 95 % interval 0.0%")
    assert done.line("unseen").endswith("5-fold cross-validation")
