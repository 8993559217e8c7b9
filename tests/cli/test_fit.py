"""``novikoff fit``: the verdict, the rule and its mistakes, compared with known answers."""

from __future__ import annotations

import csv
import json
import os
import re
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from novikoff.core.stops import Limits
from tests.cases import case_named
from tests.cli.conftest import Files, Result, inside, script
from tests.limits import questions
from tests.real_data import real

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((resources.files("novikoff.report") / "report.schema.json").read_text())


@pytest.fixture(scope="module")
def texts(files: Files, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """The text report of each file."""
    out = tmp_path_factory.mktemp("texts")
    seen = {
        path.stem: inside("fit", path, "--out", out)
        for path in (files.xor, files.line, files.quasi, files.iris)
    }
    seen["duplicates"] = inside("fit", files.duplicates, "--id", "id", "--out", out)
    return seen


def report(*words: str | Path) -> dict[str, Any]:
    """The report as JSON, after a check against its schema."""
    done = inside("fit", *words, "--format", "json")
    assert (done.code, done.err) == (0, "")
    jsonschema.validate(done.json, SCHEMA)
    return done.json


def table(path: Path) -> tuple[list[list[float]], list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [[float(value) for value in row[:-1]] for row in rows], [row[-1] for row in rows]


COMPLETE, OVERLAP = "separable (complete separation)", "inseparable (overlap)"
LINES = [
    ("line", "verdict", f"{COMPLETE}, proved for all 5 rows"),
    ("quasi", "separated", "rows 4"),
    ("quasi", "logistic",
     "a logistic regression has some infinite estimates: n → +∞"),
    ("quasi", "mistakes", "1 of 4 rows (25.0%); proved: no hyperplane misclassifies fewer"),
    ("xor", "verdict", f"{OVERLAP}, proved: no hyperplane separates the 4 rows"),
    ("line", "logistic",
     "a logistic regression has no finite estimates: x → −∞; z, (intercept) → ±∞ (either sign)"),
    ("xor", "logistic", "a logistic regression has finite estimates"),
    ("xor", "mistakes", "1 of 4 rows (25.0%); proved: no hyperplane misclassifies fewer"),
    ("duplicates", "duplicates", "1 group of identical rows with different labels:"),
    ("iris", "verdict", "each class against the rest, proved: 1 separable, 2 inseparable"),
    ("xor", "notes", "rows are counted from 1, without the header"),
    ("line", "label", "class: low (+, 2), high (−, 3)"),
    ("quasi", "verdict", "quasi-separable (quasi-complete separation), proved"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "heading", "text"), LINES)
def test_a_line_of_the_report(name: str, heading: str, text: str, texts: dict[str, Result]) -> None:
    assert texts[name].line(heading) == text
    assert (texts[name].code, texts[name].err) == (0, "")
    assert "\x1b" not in texts[name].out


def test_the_lines_of_the_report(texts: dict[str, Result]) -> None:
    line, quasi, iris = texts["line"], texts["quasi"], texts["iris"]
    assert line.line("data").endswith("line.csv · 5 rows · 2 features")
    assert line.line("bound").startswith("the perceptron makes at most ")
    assert "\n            on standardised features, not in the certificate" in line.out
    assert line.line("perceptron").startswith("all rows correct after ")
    assert "mistakes   " not in line.out
    assert "conflict" not in line.out
    most = "a hyperplane with no row on its wrong side separates at most 1 row and contains the "
    assert f"{most}other 3\n" in quasi.out
    assert texts["xor"].line("conflict").startswith("rows 1, 2, 3, 4: no hyperplane separates")
    alike = texts["duplicates"].out.split("\nduplicates ", 1)[1]
    assert "rows 2 (r2), 5 (r5), 6 (r6)" in alike
    assert "r3" not in alike
    for text in ("setosa      separable", "versicolor  insep", "virginica   inseparable"):
        assert text in iris.out


def test_the_confusion_matrix_adds_up_to_what_predict_says(
    texts: dict[str, Result], files: Files, tmp_path: Path
) -> None:
    model = report(files.iris, "--out", tmp_path)["model"]
    done = inside("predict", tmp_path / "iris.novikoff", files.iris)
    truth = table(files.iris)[1]
    said = [row["prediction"] for row in csv.DictReader(done.out.splitlines())]
    pairs, names = list(zip(truth, said, strict=True)), sorted(set(truth))
    assert model["confusion"] == [[pairs.count((a, b)) for b in names] for a in names]
    assert model["errors"] == sum(t != s for t, s in pairs)
    assert done.err == f"novikoff: {model['errors']} of 150 labels differ from the predictions.\n"
    assert texts["iris"].line("mistakes").startswith(f"{model['errors']} of 150 rows")


def contradict(X: npt.NDArray[np.float64], signs: npt.NDArray[np.int64]) -> bool:
    """Whether HiGHS finds no hyperplane with all these rows strictly on their side."""
    A = -signs[:, None] * np.column_stack([X, np.ones(len(X))])
    answer = linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(len(A)), bounds=(None, None))
    return bool(answer.status == 2)


def test_contradicting_rows_contradict(files: Files, tmp_path: Path) -> None:
    X, y = (np.array(part) for part in table(files.iris))
    _, *cases = report(files.iris, "--out", tmp_path)["verdict"]["cases"]
    assert [case["positive"] for case in cases] == ["versicolor", "virginica"]
    for case in cases:
        rows = np.array(case["support"]["rows"]) - 1
        signs = np.where(y == case["positive"], 1, -1)
        assert contradict(X[rows], signs[rows])
        assert not contradict(X[rows[1:]], signs[rows[1:]])  # every row is needed
        assert case["errors_lower_bound"] <= case["errors"]


@pytest.mark.parametrize("name", ["xor", "line", "quasi", "wine", "cancer"])
def test_the_numbers_are_the_librarys(name: str, files: Files, tmp_path: Path) -> None:
    path: Path = getattr(files, name)
    rows, labels = table(path)
    X, y = np.array(rows), np.array(labels)
    body = report(path, "--out", tmp_path)
    for case in body["verdict"]["cases"]:
        verdict = nv.separate(X, y, positive=case["positive"])
        assert case["kind"] == verdict.kind
        for key, interval in (
            ("margin", verdict.margin),
            ("geometric_margin", verdict.geometric_margin),
        ):
            # Runs need not stop at the same end, but the intervals hold the same number.
            with case_named(key):
                assert case[key]["lo"] <= interval.hi
                assert interval.lo <= case[key]["hi"]
                assert case[key]["lo"] == pytest.approx(interval.lo, rel=1e-6)
        assert case["radius"] == verdict.radius
        assert case["mistake_bound"] == verdict.mistake_bound
        assert case["support"]["rows"] == (verdict.support + 1).tolist()
        if verdict.kind == "quasi-separable":
            assert case["separated"]["rows"] == (verdict.separated_rows + 1).tolist()
    assert (body["data"]["rows"], body["data"]["features"]) == X.shape


KNOWN = [
    ("sonar.csv", [], {"R": "separable"}),
    ("endometrial.csv", ["--label", "HG"], {1: "quasi-separable"}),
    ("ionosphere.csv", [], {"good": "quasi-separable"}),
    ("zoo.csv", [], "separable"),
    ("spam.csv.gz", ["--positive", "spam"], {"spam": "inseparable"}),
    ("satellite.csv.gz", ["--budget", "5"], "inseparable"),
    ("mushroom.svm.gz", [], {1: "separable"}),
]


CATEGORIES = "color,age,died\nblue,1,yes\nblue,3,yes\ngreen,1,no\ngreen,2,yes\ngreen,3,no\n"


def test_categories_are_compared_with_a_reference(tmp_path: Path) -> None:
    """Blue always died, and blue is the reference level, so the coefficient of green is −∞."""
    (tmp_path / "color.csv").write_text(CATEGORIES)
    words = tmp_path / "color.csv", "--one-hot", "color", "--out", tmp_path
    done = inside("fit", *words)
    infinite = (
        "a logistic regression has some infinite estimates: color=green → −∞, (intercept) → +∞"
    )
    assert done.line("logistic") == infinite
    assert "reference levels: color=blue" in done.out
    assert "finite estimates exist without the column color" in done.out
    case = report(*words, "--force")["verdict"]["cases"][0]
    assert case["logistic"] == {
        "color=blue": "reference", "color=green": "-inf", "age": "finite", "(intercept)": "+inf"
    }  # fmt: skip
    assert case["responsible_columns"] == ["color"]


@pytest.mark.parametrize(("name", "words", "known"), KNOWN)
def test_real_data_with_known_answers(
    name: str, words: list[str], known: str | dict[str | int, str], tmp_path: Path
) -> None:
    body = report(real(name), *words, "--out", tmp_path)
    cases = body["verdict"]["cases"]
    if isinstance(known, str):
        assert len(cases) == {"zoo.csv": 7}.get(name, 6)
        assert {case["kind"] for case in cases} == {known}
    else:
        assert {case["positive"]: case["kind"] for case in cases} == known
    if name == "endometrial.csv":
        assert {name for name, fate in cases[0]["logistic"].items() if fate != "finite"} == {"NV"}
        assert cases[0]["logistic"]["NV"] == "+inf"
        assert cases[0]["responsible_columns"] == ["NV"]
    if name == "spam.csv.gz":
        assert body["duplicates"]["listed"][0]["rows"] == [64, 3109]
    certificate = tmp_path / (name.split(".")[0] + ".cert.json")
    assert inside("verify", certificate, real(name)).code == 0


def test_a_budget_that_is_over_ends_undecided_with_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, files: Files, tmp_path: Path
) -> None:
    given = list[float]()

    def over(seconds: float) -> Limits:
        given.append(seconds)
        return questions(0)

    monkeypatch.setattr("novikoff.jobs.study.Limits", over)
    done = inside(
        "fit", files.iris, "--budget", "0.001", "--positive", "virginica", "--out", tmp_path
    )
    assert (done.code, done.err) == (3, "")
    assert done.line("verdict").startswith("undecided")
    assert given == [0.001]


@pytest.mark.parametrize(
    ("name", "word", "code"),
    [("line", "separable", 0), ("xor", "separable", 1), ("quasi", "quasi-separable", 0)],
)
def test_require(name: str, word: str, code: int, files: Files, tmp_path: Path) -> None:
    done = inside("fit", getattr(files, name), "--require", word, "--out", tmp_path)
    assert done.code == code
    assert ("the verdict is inseparable, not separable" in done.err) == (code == 1)
    assert (tmp_path / f"{name}.novikoff").exists()


def test_a_report_without_files(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body = report(files.line, "--no-files")
    assert (body["verdict"]["kind"], {*body["files"].values()}) == ("separable", {None})
    assert inside("fit", files.line, "--no-files", "--require", "inseparable").code == 1
    assert inside("fit", files.line, "--no-files").line("files") == "none written"
    assert "<!DOCTYPE html>" in inside("fit", files.line, "--no-files", "--format", "html").out
    for option in ("--rows", "--plot"):
        with case_named(option):
            done = inside("fit", files.line, "--no-files", option, "some.svg")
            assert f"{option} writes a file: it cannot be used with --no-files." in done.err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("words", [(), ("--positive", "Yes")], ids=["all", "one class"])
def test_labels_that_differ_in_capitals_or_blanks_are_named(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("x,answer\n1,Yes\n2,yes\n3,No\n4,y es\n", encoding="utf-8")
    note = 'the labels "Yes" and "y es" and "yes" differ only in capitals or blanks'
    notes = report(path, *words, "--no-files")["data"]["notes"]  # also names labels of the rest
    assert [text for text in notes if text.startswith(note)] != []
    path.write_text("x,answer\n1,yes\n2,no\n", encoding="utf-8")
    assert "capitals" not in inside("fit", path, "--no-files").out


def test_the_positive_class_of_two(files: Files, tmp_path: Path) -> None:
    case = report(files.line, "--positive", "high", "--out", tmp_path)["verdict"]["cases"][0]
    assert (case["positive"], case["negative"]) == ("high", "low")
    text = inside("fit", files.line, "--positive", "high", "--out", tmp_path, "--force")
    assert text.line("label").endswith("high (+, 3), low (−, 2)")


@pytest.mark.parametrize(
    ("positive", "kind"), [("setosa", "separable"), ("virginica", "inseparable")]
)
def test_one_class_against_the_rest(positive: str, kind: str, files: Files, tmp_path: Path) -> None:
    body = report(files.iris, "--positive", positive, "--out", tmp_path)
    assert body["verdict"]["kind"] == kind
    assert body["data"]["classes"] == [
        {"label": "(rest)", "rows": 100},
        {"label": positive, "rows": 50},
    ]
    done = inside("predict", tmp_path / "iris.novikoff", files.iris)
    assert (
        done.err
        == f"novikoff: {body['model']['errors']} of 150 labels differ from the predictions.\n"
    )
    assert inside("verify", tmp_path / "iris.cert.json", files.iris).code == 0


@pytest.mark.parametrize("positive", ["#1", '"one"', "(a)", "(rest)", "!"])
def test_a_positive_class_that_sorts_before_other_texts(positive: str, tmp_path: Path) -> None:
    path = tmp_path / "three.csv"
    rows = [(k, label) for k, label in enumerate([positive, "b", "c", positive, "b", "c"])]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("x", "y"), *rows])
    body = report(path, "--positive", positive, "--out", tmp_path)
    classes = body["data"]["classes"]
    assert [part["rows"] for part in classes] == [4, 2]
    assert classes[1]["label"] == positive
    assert body["verdict"]["cases"][0]["positive"] == positive
    done = inside("predict", tmp_path / "three.novikoff", path)
    errors = body["model"]["errors"]
    assert done.err == f"novikoff: {errors} of 6 labels differ from the predictions.\n"
    assert inside("verify", tmp_path / "three.cert.json", path).code == 0


def test_without_an_intercept(tmp_path: Path) -> None:
    path = tmp_path / "same_side.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    assert report(path, "--out", tmp_path)["verdict"]["kind"] == "separable"
    done = inside("fit", path, "--no-intercept", "--out", tmp_path, "--force")
    assert "no hyperplane through the origin separates the 2 rows" in done.line("verdict")
    model: Any = inside("info", tmp_path / "same_side.novikoff", "--format", "json").json
    assert model["parameters"]["fit_intercept"] is False
    assert model["rules"][0]["intercept"] == 0.0
    verified = inside("verify", tmp_path / "same_side.cert.json", path)
    claims = [line for line in verified.out.splitlines() if line.startswith("holds")]
    assert ["through the origin" in claim for claim in claims] == [True, True]


@pytest.mark.parametrize(
    "order", ["permuted", "cyclic", "fixed", "blocks", "random", "max_distance", "max_residual"]
)
def test_every_order(files: Files, tmp_path: Path, order: str) -> None:
    words = ("--order", order, "--model", "perceptron", "--out", tmp_path)
    assert report(files.line, *words)["perceptron"]["converged"] is True
    model: Any = inside("info", tmp_path / "line.novikoff", "--format", "json").json
    assert model["parameters"]["order"] == order


def test_the_same_seed_gives_the_same_bytes(files: Files, tmp_path: Path) -> None:
    models = []
    for name, seed in (("first", "7"), ("again", "7"), ("other", "8")):
        with case_named((name, seed)):
            words = ("--seed", seed, "--epochs", "20", "--no-verdict", "--out", tmp_path / name)
            run = script if name == "again" else inside  # `script` runs a second process
            assert run("fit", files.cancer, *words).code == 0
            models.append((tmp_path / name / "cancer.novikoff").read_bytes())
    assert models[0] == models[1]
    assert models[0] != models[2]


def test_epochs(files: Files, tmp_path: Path) -> None:
    done = inside("fit", files.cancer, "--epochs", "2", "--out", tmp_path)
    assert "2 epochs" in done.line("perceptron")
    assert done.line("rule").startswith("the hyperplane with the largest margin")
    assert "0 of 569" in inside("predict", tmp_path / "cancer.novikoff", files.cancer).err


def test_without_a_verdict_there_is_no_certificate(files: Files, tmp_path: Path) -> None:
    body = report(files.line, "--no-verdict", "--out", tmp_path)
    assert (body["verdict"], body["files"]["certificate"]) == (None, None)
    assert [path.name for path in tmp_path.iterdir()] == ["line.novikoff"]


def test_a_run_that_cycles_says_so(files: Files, tmp_path: Path) -> None:
    words = (files.xor, "--no-verdict", "--order", "cyclic", "--scale", "none", "--epochs", "9")
    assert report(*words, "--out", tmp_path)["perceptron"]["period"] == 1
    text = inside("fit", *words, "--out", tmp_path, "--force").out
    assert "proved: its weights repeat every epoch, so no hyperplane separates the classes" in text
    assert "repeat" not in inside("fit", *words[:2], "--out", tmp_path, "--force").out


def test_the_average_of_all_weights(files: Files, tmp_path: Path) -> None:
    words = ("--no-verdict", "--average", "--order", "cyclic", "--epochs", "3", "--scale", "none")
    body = report(files.cancer, *words, "--out", tmp_path)
    data, same = nv.data.read(files.cancer), nv.Perceptron(order="cyclic", average=True)
    with pytest.warns(ConvergenceWarning):
        same.set_params(max_epochs=3).fit(data.X, data.y)
    assert np.array_equal(nv.load(tmp_path / "cancer.novikoff").coef_, same.coef_)
    assert body["model"]["rule"] == "average"
    assert body["model"]["errors"] == int((same.predict(data.X) != data.y).sum())


def test_the_perceptron_sees_standardised_features(files: Files, tmp_path: Path) -> None:
    """On the original features the bound is huge and epochs run out; scaled, the run converges."""
    words = (files.wine, "--positive", "second", "--out", tmp_path, "--force")
    given = report(*words, "--scale", "none", "--epochs", "200")
    assert given["perceptron"]["converged"] is False
    assert given["verdict"]["cases"][0]["scaled"] is None
    body = report(*words, "--model", "perceptron")
    run, case = body["perceptron"], body["verdict"]["cases"][0]
    assert run["converged"] is run["separates_original"] is True
    assert body["model"]["rule"] == "perceptron"
    bound = case["scaled"]["mistake_bound"]
    assert run["mistakes"] < bound < case["mistake_bound"] / 10**5
    X, y = (np.array(part) for part in table(files.wine))
    verdict = nv.separate((X - X.mean(axis=0)) / X.std(axis=0), y, positive="second")
    assert verdict.margin.lo == pytest.approx(case["scaled"]["margin"]["lo"], rel=1e-2)
    assert "0 of 178" in inside("predict", tmp_path / "wine.novikoff", files.wine).err


def test_unseen_rows(files: Files, tmp_path: Path) -> None:
    held = report(files.iris, "--holdout", "0.2", "--out", tmp_path)["estimate"]
    assert (held["rows"], held["method"]) == (30, "holdout 0.2")
    done = inside("fit", files.iris, "--positive", "setosa", "--cv", "5", "--out", tmp_path / "5")
    assert done.line("unseen").startswith("0 errors on 150 unseen rows (0.0%; 95 % interval 0.0%")
    assert done.line("unseen").endswith("5-fold cross-validation")


def test_progress_of_long_work_is_printed_where_there_is_no_terminal(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECONDS_BEFORE_LINES", "SECONDS_BETWEEN_LINES"):
        monkeypatch.setattr(f"novikoff.cli.progress.{name}", 0.0)
    done = inside("fit", files.iris, "--out", tmp_path)
    steps = [line.partition(" s: ")[2] for line in done.said.splitlines()]
    assert "verdict for versicolor" in steps
    told = [step for step in steps if step.startswith("fewest mistakes of versicolor against")]
    assert any("so far, every hyperplane misclassifies at least" in step for step in told)


def test_a_search_that_ended_by_itself_says_so(files: Files, tmp_path: Path) -> None:
    """It is silent if its rule is proved to be the best, or if it had a budget.

    The labels are noise in twelve columns, too many for a search of all rules.
    """
    rng = np.random.default_rng(0)
    rows = [
        ",".join(map(str, [*x, label]))
        for x, label in zip(rng.integers(0, 9, (60, 12)), rng.choice(["a", "b"], 60), strict=True)
    ]
    noise = tmp_path / "noise.csv"
    noise.write_text("\n".join([",".join(f"x{j}" for j in range(12)) + ",label", *rows]) + "\n")
    ended = "stopped: no recent improvement (--budget SECONDS searches longer)"
    words = "fit", noise, "--no-files"
    assert ended in inside(*words).out
    assert ended not in inside(*words, "--budget", "5").out
    assert ended not in inside("fit", files.xor, "--no-files").out
    assert ended not in inside("fit", files.iris, "--positive", "versicolor", "--no-files").out


def sectors(path: Path) -> Path:
    """Three classes in sectors of 120°; the class with the largest of three scores is correct."""
    lines = ["u,v,class"]
    for k, name in enumerate("abc"):
        for turn in (-50.0, -20.0, 0.0, 20.0, 50.0):
            angle = np.radians(120.0 * k + turn)
            lines += [f"{r * np.cos(angle):.6f},{r * np.sin(angle):.6f},{name}" for r in (1, 5)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_one_against_the_rest_is_not_said_of_all_classes_at_once(tmp_path: Path) -> None:
    """No class is separable from the rest, yet the largest of three linear scores is right."""
    path = sectors(tmp_path / "sectors.csv")
    X, y = table(path)
    W = np.array([[np.cos(a), np.sin(a)] for a in np.radians([0.0, 120.0, 240.0])])
    assert ["abc"[k] for k in np.argmax(np.array(X) @ W.T, axis=1)] == y
    body = report(path, "--out", tmp_path)
    assert body["verdict"]["question"] == "each class against the rest"
    assert {case["kind"] for case in body["verdict"]["cases"]} == {"inseparable"}
    done = inside("fit", path, "--no-files")
    assert done.line("verdict") == "each class against the rest, proved: 3 inseparable"
    may = "not decided: comparing the scores of all classes may separate them"
    assert may in done.line("together")
    page = inside("fit", path, "--no-files", "--format", "html").out
    assert may in page
    for form, said in {"text": done.out, "html": page}.items():
        with case_named(form):
            assert not re.search("no (linear )?rule", said, re.IGNORECASE)
    asked = report(path, "--positive", "a", "--no-files")
    assert asked["verdict"]["question"] == "one class against the rest"


def test_claims_through_the_origin_are_about_hyperplanes_through_the_origin(
    tmp_path: Path,
) -> None:
    path = tmp_path / "shifted.csv"
    path.write_text("u,v,class\n1,1,no\n2,2,yes\n1,2,no\n2,4,yes\n", encoding="utf-8")
    assert inside("fit", path, "--no-files").line("verdict").startswith(COMPLETE)
    done = inside("fit", path, "--no-files", "--no-intercept")
    for heading in ("verdict", "conflict", "mistakes"):
        with case_named(heading):
            assert "hyperplane through the origin" in done.line(heading)
    page = inside("fit", path, "--no-files", "--no-intercept", "--format", "html").out
    assert "Proved: no hyperplane through the origin separates all 4 rows." in page


def test_names_that_are_no_utf_8_are_printed_with_a_mark(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/o\xff"))
    data = tmp_path / "d.csv"
    data.write_bytes(b"a,y\n1,p\n-1,q\n2,p\n")
    done = script("fit", data, "--out", folder, "--format", "json")
    assert done.code == 0, done.err
    assert "/o\ufffd/" in json.loads(done.out)["files"]["model"]
