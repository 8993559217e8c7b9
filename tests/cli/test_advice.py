"""Advice in messages where a user may have meant something different."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import novikoff as nv
from tests.cases import case_named, class_name
from tests.cli.conftest import Files, inside, put, refused, write_csv


def test_a_label_in_another_case_is_suggested(tmp_path: Path) -> None:
    path = put(tmp_path, "mpg,am\n21,1\n22,0\n23,1\n")
    refused(inside("fit", path, "--label", "AM"), 'no column "AM" (--label); did you mean "am"?')
    refused(inside("fit", path, "--label", "MGP"), 'did you mean "mpg"?')


def test_all_columns_of_text_are_named_at_once(tmp_path: Path) -> None:
    head, rows = "a,city,b,colour,size,y\n", "1,Rome,2,red,{},p\n2,Bonn,3,blue,{},q\n"
    path = put(tmp_path, head + rows.format(1, 2))
    refused(
        inside("fit", path),
        'row 1 (line 2), column "city" holds "Rome"',
        'text is also in column "colour"',
    )
    path = put(tmp_path, head + rows.format("S", "L"))
    refused(inside("fit", path), 'also in columns "colour", "size": --one-hot \'*\' takes all')
    done = inside("fit", path, "--one-hot", "city")
    refused(done, 'column "colour" holds "red"', 'also in column "size"')
    assert inside("fit", path, "--one-hot", "*", "--out", tmp_path).code == 0
    one = put(tmp_path, "a,city,y\n1,Rome,p\n2,Bonn,q\n")
    assert "text is also in" not in inside("fit", one).err
    assert "--one-hot" not in inside("stream", path).err  # streams do not have this option


def test_decimal_commas_are_not_taken_for_text(tmp_path: Path) -> None:
    path = put(tmp_path, "city;size;colour;y\nRome;1,7;red;p\nBonn;1,8;blue;q\n")
    said = inside("fit", path)
    refused(said, 'text is also in column "colour"', 'say --decimal , if "size" has decimal commas')
    assert "say --decimal" not in inside("fit", path, "--decimal", ",").err
    path = put(tmp_path, "city;size;day;y\nRome;;;p\nBonn;1,8;2020-01-02;q\n")  # missing at first
    said = inside("fit", path)
    refused(said, 'say --decimal , if "size" has decimal commas')
    assert "text is also in" not in said.err


def test_a_delimiter_that_no_line_has_is_named(tmp_path: Path) -> None:
    path = put(tmp_path, "a;b;y\n1;2;p\n2;3;q\n")
    refused(inside("fit", path, "--delimiter", ","), 'no line contains the delimiter ","')


def test_rows_with_missing_values_are_counted_once(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b,y\n1,,p\n,3,q\n3,4,q\n")
    refused(
        inside("fit", path),
        'row 1 (line 2), column "b" is missing (2 rows in all have missing values)',
    )


def test_advice_does_not_end_with_a_comma(tmp_path: Path) -> None:
    path = put(tmp_path, "height;class\n1,5;a\n2,5;b\n")
    refused(inside("fit", path), "say --decimal , if the comma is its decimal point.")


def test_an_unknown_feature_of_a_plane_is_rejected_at_once(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = put(tmp_path, "length,width,y\n1,2,p\n2,1,q\n")
    plot = ("--out", tmp_path, "--plot", tmp_path / "a.svg", "--plane")
    refused(inside("fit", path, *plot, "length,wide"), 'no feature "wide" (--plane); did you mean')
    refused(inside("fit", path, *plot, "0,1"), 'no feature "0" (--plane); there are "length"')
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("separable", "no finite estimates: 0 → +∞, (intercept) → −∞"),
        (
            "quasi-separable",
            "has some infinite estimates: 0 → +∞, (intercept) → −∞",
        ),
        ("inseparable", "a logistic regression has finite estimates"),
    ],
)
def test_wide_data_has_a_word_on_logistic_regression(
    kind: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    X = np.zeros((6, 600))
    X[:, 0] = [0, 1, 2, 3, 4, 5]
    labels = {
        "separable": [0, 0, 0, 1, 1, 1],
        "quasi-separable": [0, 0, 0, 1, 1, 1],
        "inseparable": [0, 1, 0, 1, 0, 1],
    }[kind]
    if kind == "quasi-separable":
        X[:, 0] = [0, 1, 2, 2, 3, 4]
    verdict = nv.separate(X, labels)
    assert verdict.kind == kind
    assert verdict.aliased == [*range(1, 600)]
    verdict.summary()
    assert said in capsys.readouterr().out


def test_other_files_in_the_place_of_a_model_are_named(tmp_path: Path) -> None:
    path = put(tmp_path, "a,y\n1,p\n2,q\n")
    assert inside("fit", path, "--out", tmp_path).code == 0
    said = "looks like a certificate, which novikoff verify checks against the data."
    refused(inside("info", tmp_path / "data.cert.json"), said)
    refused(inside("predict", path, tmp_path / "data.novikoff"), "novikoff fit and stream write")
    model = tmp_path / "data.novikoff"
    refused(
        inside("verify", model, path), f"is a model; its certificate is {tmp_path}/data.cert.json."
    )
    (tmp_path / "data.cert.json").unlink()
    refused(inside("verify", model, path), "is a model, and verify checks certificates.")


def test_a_continuous_target_gets_a_note(tmp_path: Path, files: Files) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)), np.round(np.arange(60) % 25 + 0.5, 1)
    names = [*(f"x{j}" for j in range(40)), "y"]
    data = nv.data.read(write_csv(tmp_path / "price.csv", names, X.tolist(), y.tolist()))
    note = 'the label "y" has 25 different numbers, and each of them is a class'
    assert any(note in text for text in data.notes)
    few = nv.data.read(write_csv(tmp_path / "few.csv", names, X[:8].tolist(), y[:8].tolist()))
    assert any('"y" has 8 different numbers, and each' in text for text in few.notes)
    labels = (np.arange(60) % 3).tolist()
    whole = write_csv(tmp_path / "whole.csv", names, X.tolist(), labels)
    for other in (files.iris, whole):
        with case_named(other):
            assert not any("each of them is a class" in text for text in nv.data.read(other).notes)


def test_arrays_on_disk_say_what_a_cache_would_do(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 20)), np.arange(3000) % 2
    names = [*(f"x{j}" for j in range(20)), "y"]
    path = write_csv(tmp_path / "large.csv", names, X.tolist(), y.tolist())
    told = [
        any("with cache they are kept" in note for note in nv.data.read(path, **words).notes)
        for words in ({}, {"max_memory": 1000}, {"max_memory": 1000, "cache": tmp_path / "kept"})
    ]
    assert told == [False, True, False]


DATES = pd.to_datetime(["2020-01-01", "2021-01-01"])
TABLES: dict[str, tuple[Any, str]] = {
    "text": (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), "'x' in row 0, column 1 ('b')"),
    "None": (pd.DataFrame({"a": [1.0, None]}), "NaN in row 1, column 0 ('a')"),
    "NA": (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), "NaN in row 1, column 0 ('a')"),
    "empty": (pd.DataFrame({"a": [], "b": []}), "X has no rows"),
    "no columns": (pd.DataFrame(index=[0, 1]), "0 feature"),
    "dates": (pd.DataFrame({"a": [1, 2], "when": DATES}), "column 1 ('when'), not numbers: turn"),
    "only dates": (pd.DataFrame({"when": DATES}), "such as days since the first date"),
    "date objects": (pd.DataFrame({"a": DATES.date}), "turn dates into numbers"),
    "periods": (pd.DataFrame({"a": DATES.to_period("M")}), "turn dates into numbers"),
    "durations": (pd.DataFrame({"a": DATES - DATES[0]}), "turn durations into numbers"),
    "a category is missing": (
        pd.DataFrame({"a": [1, 2], "c": pd.Categorical(["u", None])}),
        "NaN in row 1, column 1 ('c')",
    ),
    "too large": (pd.DataFrame({"a": [0, 2**53 + 1]}), "row 1, column 0 ('a')"),
    "one dimension": ([1.0, 2.0], "a table has two. Reshape your data"),
    "ragged": ([[1, 2], [3]], "its rows differ in length"),
    "nothing": (None, "X is missing"),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_interface_rejects_a_table_with_the_same_message(name: str) -> None:
    X, part = TABLES[name]
    said = set()
    y = [0, 1][: 0 if name == "empty" else 2]
    for ask in (nv.separate, nv.Perceptron().fit, nv.Pocket().fit, nv.MaxMargin().fit):
        with case_named(ask):
            with pytest.raises(ValueError, match="X") as refusal:
                ask(X, y)
            said.add(str(refusal.value))
    assert len(said) == 1
    assert part in said.pop()


@pytest.mark.parametrize("model", [nv.Perceptron(), nv.Pocket(), nv.MaxMargin()], ids=class_name)
def test_estimators_reject_categories_and_labels_for_other_rows(model: Any) -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "c": pd.Categorical(["u", "v", "u"])})
    with pytest.raises(ValueError, match="Encode them first"):
        model.fit(X, [0, 1, 1])
    with pytest.raises(ValueError, match="X has two columns named 'a': rename"):
        model.fit(X[["a", "a"]], [0, 1, 1])
    with pytest.raises(ValueError, match="X has 3 rows, but y has 2 labels"):
        model.fit(X[["a"]], [0, 1])
    with pytest.raises(ValueError, match="no label in row 1"):
        model.fit(X[["a"]], ["p", None, "q"])


def test_rules_that_are_right_together_are_said_to_make_no_mistake(tmp_path: Path) -> None:
    """No line separates the middle class from the rest; lines between pairs of classes do."""
    path = put(tmp_path, "a,y\n1,p\n2,q\n3,r\n")
    done = inside("fit", path, "--verbose", "--out", tmp_path)
    assert "none: together the rules classify all 3 rows correctly" in done.out
    assert "no hyperplane separates rows 1, 2, 3" in done.out


def test_each_class_has_the_fewest_mistakes_found_for_it(files: Files, tmp_path: Path) -> None:
    """Which rules are best together, and saved, does not matter."""
    words = "--out", tmp_path, "--force", "--format", "json"
    report: Any = inside("fit", files.iris, *words).json
    for case in report["verdict"]["cases"]:
        one: Any = inside("fit", files.iris, *words, "--positive", case["positive"]).json
        assert case["errors"] <= 1.1 * (one["verdict"]["cases"][0]["errors"] or 0)


def test_a_column_that_may_name_the_rows_gets_a_note(tmp_path: Path) -> None:
    path = put(tmp_path, "ID,a,y\n1,5,p\n2,6,q\n3,9,q\n")
    said = 'the column "ID" is used as a feature: say --id ID if it only names the rows'
    assert said in inside("fit", path, "--out", tmp_path, "--force").out
    assert said not in inside("fit", path, "--id", "ID", "--out", tmp_path, "--force").out


def test_one_text_among_numbers_is_a_slip(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b,y\n1,2,p\n2,hello,q\n3,9,q\n")
    refused(inside("fit", path), 'row 2 (line 3), column "b" holds "hello"', "correct this value")
