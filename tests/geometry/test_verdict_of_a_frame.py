"""Verdicts on data frames: names, row labels, categories, the summary, and ≥ for a bound."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from tests.cases import case_named
from tests.cli.conftest import inside

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

# Blue always died; among the others, age does not separate.
FRAME = pd.DataFrame(
    {
        "color": pd.Categorical(
            ["blue", "blue", "green", "green", "green", "red", "red", "red"],
            categories=["violet", "red", "green", "blue"],
        ),
        "age": [1, 3, 1, 2, 3, 4, 5, 6],
        "smokes": [True, False, True, True, True, False, False, False],
    },
    index=[f"p{k}" for k in range(8)],
)
DIED = pd.Series([1, 1, 0, 1, 0, 0, 1, 0], index=FRAME.index)


def test_columns_go_by_their_names_and_rows_by_their_labels() -> None:
    verdict = nv.separate(FRAME[["age", "smokes"]], [1, 1, 1, 1, 1, 0, 0, 0])
    assert verdict.kind == "separable"
    assert verdict.logistic == {"age": "-inf", "smokes": "either sign", "(intercept)": "+inf"}
    assert verdict.responsible_columns == []  # without age, those who smoke are still separated
    assert nv.separate(FRAME[["age"]], [1, 1, 1, 1, 1, 0, 0, 0]).responsible_columns == ["age"]
    assert verdict.rows is not None
    assert verdict.rows[verdict.separated_rows].tolist() == FRAME.index.tolist()
    again = nv.separate(FRAME[["age", "smokes"]].to_numpy(float), [1, 1, 1, 1, 1, 0, 0, 0])
    assert again.logistic == {0: "-inf", 1: "either sign", "(intercept)": "+inf"}
    assert again.rows is not None
    assert again.rows.tolist() == list(range(8))
    columns = nv.separate(pl.DataFrame({"a": [0, 1], "b": [0.5, 0.5]}), [0, 1]).logistic
    assert columns == {"a": "+inf", "b": "-inf"}  # the constant column is the intercept


def test_each_class_against_the_rest_has_names_too() -> None:
    verdicts = nv.separate_classes(FRAME[["age"]], list("aabbbccc"))
    assert verdicts["c"].logistic == {"age": "+inf", "(intercept)": "-inf"}
    assert verdicts["b"].logistic == {"age": "finite", "(intercept)": "finite"}


def test_categories_become_columns_with_a_reference() -> None:
    verdict = nv.separate(FRAME[["color", "age"]], DIED)
    assert verdict.kind == "quasi-separable"
    assert verdict.logistic == {
        "color=red": "reference", "color=green": "finite", "color=blue": "+inf",
        "age": "finite", "(intercept)": "finite",
    }  # fmt: skip
    assert verdict.responsible_columns == ["color"]
    assert verdict.rows is not None
    assert verdict.rows[verdict.separated_rows].tolist() == ["p0", "p1"]
    proof = nv.Certificate.from_json(verdict.certificate.to_json())  # type: ignore[union-attr]
    nv.verify(proof, FRAME[["color", "age"]], DIED)
    other = FRAME[["color", "age"]].assign(color=FRAME["color"].to_numpy()[::-1])
    with pytest.raises(nv.CertificateError):
        nv.verify(proof, other.assign(color=other["color"].astype("category")), DIED)


def test_categories_through_the_origin() -> None:
    """The first category column keeps all its levels; the others have a reference level."""
    frame = FRAME[["color"]].assign(site=pd.Categorical(list("xyyxxxyy")))
    verdict = nv.separate(frame, DIED, fit_intercept=False)
    padded = nv.separate(frame, DIED)
    assert verdict.logistic is not None
    assert padded.logistic is not None
    assert "reference" not in [
        verdict.logistic[name] for name in verdict.logistic if "color" in str(name)
    ]
    assert [*verdict.logistic.values()].count("reference") == 1
    assert [*padded.logistic.values()].count("reference") == 2
    assert verdict.logistic["color=blue"] == padded.logistic["color=blue"] == "+inf"
    assert verdict.responsible_columns == padded.responsible_columns == ["color"]


def test_a_missing_category_is_named() -> None:
    frame = FRAME.assign(color=FRAME["color"].where(FRAME["age"] != 2))
    with pytest.raises(ValueError, match=r"contains NaN in row 3, column 0 \('color'\)"):
        nv.separate(frame, DIED)


@pytest.mark.parametrize("function", [nv.separate, nv.separate_classes])
def test_labels_of_other_rows_are_rejected(function: Any) -> None:
    for other in (DIED.iloc[::-1], DIED.reset_index(drop=True), DIED.iloc[::-1].to_frame()):
        with (
            case_named(other),
            pytest.raises(ValueError, match="from the index of X: row 0 is 'p0' in"),
        ):
            function(FRAME[["age"]], other)
    proof: Any = nv.separate(FRAME[["age"]], DIED).certificate
    bound: Any = nv.Pocket(random_state=0).fit(FRAME[["age"]], DIED).certificate_
    for claim in (proof, bound):
        with (
            case_named(type(claim).__name__),
            pytest.raises(ValueError, match="The index of y differs from the index of X"),
        ):
            nv.verify(claim, FRAME[["age"]], DIED.iloc[::-1])
    assert nv.separate(FRAME[["age"]], DIED.iloc[::-1].loc[FRAME.index]).kind == "inseparable"
    assert nv.separate(FRAME[["age"]], DIED.iloc[::-1].to_numpy()).kind == "inseparable"


@pytest.mark.parametrize("estimator", [nv.Perceptron, nv.Pocket, nv.MaxMargin])
def test_estimators_reject_labels_of_other_rows(estimator: Any) -> None:
    y = pd.Series([1, 1, 1, 1, 1, 0, 0, 0], index=FRAME.index)
    with pytest.raises(ValueError, match="The index of y differs from the index of X"):
        estimator().fit(FRAME[["age"]], y.iloc[::-1])
    estimator().fit(FRAME[["age"]], y)


@pytest.mark.parametrize("y", [DIED, [1, 1, 1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 0, 1, 1, 0]])
def test_the_summary_is_what_the_command_prints(
    y: list[int], tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = FRAME[["age", "smokes"]].astype(int)
    path = f"{tmp_path}/data.csv"
    frame.assign(label=list(y)).to_csv(path, index=False)
    nv.separate(frame, list(y)).summary()
    told = capsys.readouterr().out.splitlines()
    printed = inside("fit", path, "-v", "--scale", "none", "--out", f"{tmp_path}").out.splitlines()

    def plain(line: str) -> str:  # rows are counted otherwise
        return re.sub(r"rows [^:]*", "", line)

    assert {*map(plain, told)} <= {*map(plain, printed)}
    assert len(told) >= 3
    assert told[0].startswith("verdict     ")


def test_the_page_of_a_notebook_shows_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    frame = FRAME[["age"]].rename(columns={"age": "a<b>&"})
    verdict = nv.separate(frame, [1, 1, 1, 1, 1, 0, 0, 0])
    verdict.summary()
    seen: list[str] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            seen.append(data)

    Reader().feed(verdict._repr_html_())
    assert ("a logistic regression has no finite estimates: a<b>& → −∞, (intercept) → +∞") in seen
    printed = capsys.readouterr().out
    assert "".join("".join(seen).split()) == "".join(printed.split())


def test_a_verdict_from_a_certificate_has_no_data() -> None:
    verdict = nv.separate(FRAME[["age"]], DIED)
    again = nv.Verdict.from_certificate(verdict.certificate)  # type: ignore[arg-type]
    assert (again.rows, again.logistic, again.responsible_columns) == (None, None, None)


def test_a_lower_bound_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((500, 5))
    y = X @ [1.0, 2.0, -1.0, 0.5, 0.0] > 0.3
    quick, full = nv.separate(X, y, goal="kind"), nv.separate(X, y)
    assert quick.margin.relative_width > 0.1
    assert "γ = " not in str(quick)
    told = float(re.search(r"γ ≥ (\S+) ", str(quick))[1])  # type: ignore[index]
    assert 0.9 * quick.margin.lo < told <= quick.margin.lo <= full.margin.hi
    quick.summary()
    assert "γ ≥ " in capsys.readouterr().out
    assert re.search(r"γ = 0\.\d+… \(proved", str(full))


def test_bounds_of_many_digits_are_powers_of_ten() -> None:
    verdict = nv.separate([[1e-150, 0.0], [-1e-150, 1e150]], [0, 1], fit_intercept=False)
    assert re.search(r"at most \d\.\d·10\^\d+ mistakes", " ".join(str(verdict).split()))


def test_aliased_columns_do_not_hide_that_there_is_no_finite_estimate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Blue always died: of two equal columns for blue, the second is left out."""
    blue = (FRAME["color"] == "blue").astype(float)
    frame = FRAME[["age"]].assign(blue=blue, double=2 * blue, zero=0.0)
    verdict = nv.separate(frame, DIED)
    assert verdict.logistic == {
        "age": "finite", "blue": "+inf", "double": "aliased", "zero": "aliased",
        "(intercept)": "finite",
    }  # fmt: skip
    assert verdict.aliased == ["double", "zero"]
    assert verdict.responsible_columns == ["blue"]
    verdict.summary()
    said = capsys.readouterr().out
    assert "a logistic regression has some infinite estimates: blue → +∞" in said
    assert "aliased (linearly dependent on the columns before, left out): double, zero" in said
    overlapping = nv.separate(frame[["age"]].assign(twice=2 * frame["age"]), DIED)
    assert overlapping.aliased == ["twice"]
    overlapping.summary()
    said = capsys.readouterr().out
    assert "a logistic regression has finite estimates" in said


@pytest.mark.parametrize(
    ("label", "fate"),
    [(0, "-inf"), (1, "+inf"), (False, "-inf"), (True, "+inf"), (-1, "-inf"), ("yes", "+inf")],
)
def test_with_one_class_the_intercept_goes_to_its_side(label: object, fate: str) -> None:
    X = [[0.0], [1.0], [2.0]]
    verdict = nv.separate(X, [label] * 3)
    assert verdict.logistic == {0: "either sign", "(intercept)": fate}
    asked = nv.separate(X, [label] * 3, positive=label).logistic
    assert asked == {0: "either sign", "(intercept)": "+inf"}


@pytest.mark.parametrize("second", [pd.Categorical(list("xxyyzzxy")), np.arange(8.0)])
def test_two_columns_of_one_name_are_rejected_where_one_has_categories(second: Any) -> None:
    frame = pd.DataFrame({"c": FRAME["color"], "other": second})
    frame.columns = ["c", "c"]
    with pytest.raises(ValueError, match="named 'c', and one has categories: rename"):
        nv.separate(frame, DIED)


def test_results_have_a_table_in_notebooks() -> None:
    """Each table has its sentence, and names are escaped, so they contain no tags."""
    X, y = FRAME[["age"]], DIED
    verdict, pocket = nv.separate(X, y), nv.Pocket(random_state=0).fit(X, y)
    system = nv.solve([[1.0], [-1.0]], [1.0, -2.0])
    shown: tuple[Any, ...] = (verdict, verdict.certificate, pocket.certificate_, system)
    for found in (*shown, system.certificate):
        with case_named(type(found).__name__):
            assert found is not None
            page = found._repr_html_()
            assert page.startswith("<table>")
            assert len(repr(found)) < 400
            assert page.count("<table>") == page.count("</table>") == 1
