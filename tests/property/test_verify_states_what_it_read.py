"""``novikoff verify`` prints truly how it read the data, whatever a certificate says.

A forger who controls how data is read can prove anything about it. So these tests rebuild the
features only from the file and the printed lines, and the proof must be about these features.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.data import ReadOptions, Recipe, read
from novikoff.errors import DataError
from novikoff.formats import certificate_file
from tests.cli.conftest import Result, inside

TEXT = """name,u,v,colour,size,class,other
r1,0,1,red,1,no,p
r2,1,,blue,2,no,q
r3,5,2,red,1,yes,q
r4,7,4,green,2,yes,p
r5,6,?,red,1,yes,p
r6,1,3,blue,2,no,q
"""
NAMES = TEXT.split("\n", 1)[0].split(",")
COLOURS = ["blue", "green", "red"]
COLUMNS: list[dict[str, object]] = [
    {"name": "u", "mean": None, "levels": None},
    {"name": "u", "mean": 1e6, "levels": None},
    {"name": "v", "mean": None, "levels": None},
    {"name": "v", "mean": 2.5, "levels": None},
    {"name": "v", "mean": 1e6, "levels": None},
    {"name": "v", "mean": -1, "levels": None},
    {"name": "size", "mean": None, "levels": None},
    {"name": "size", "mean": None, "levels": ["1", "2"]},
    {"name": "colour", "mean": None, "levels": COLOURS},
    {"name": "colour", "mean": None, "levels": [*COLOURS, "yellow"]},
    {"name": "colour", "mean": None, "levels": ["blue", "red"]},
    {"name": "colour", "mean": None, "levels": None},
    {"name": "name", "mean": None, "levels": [f"r{k}" for k in range(1, 7)]},
    {"name": "class", "mean": None, "levels": ["no", "yes"]},
    {"name": "absent", "mean": None, "levels": None},
]
BASE: dict[str, object] = {
    "family": "table",
    "columns": [COLUMNS[0], COLUMNS[3], COLUMNS[8]],
    "label": "class",
    "id": None,
    "missing": "mean",
    "width": 7,
    "first": 1,
    "header": None,
    "delimiter": None,
    "decimal": None,
    "bits": None,
    "features": None,
    "drop": [],
}
VALUES: dict[str, st.SearchStrategy[object]] = {
    "family": st.sampled_from(["table", "matrix", "named", "tree"]),
    "columns": st.lists(st.sampled_from(COLUMNS), max_size=4),
    "label": st.sampled_from([*NAMES, "absent", None]),
    "id": st.sampled_from([*NAMES, "absent", None]),
    "missing": st.sampled_from(["error", "drop", "mean", "zero"]),
    "width": st.integers(-1, 9),
    "first": st.integers(-1, 2),
    "header": st.sampled_from([True, False, None, 1]),
    "delimiter": st.sampled_from([",", ";", "\t", None, "", "r"]),
    "decimal": st.sampled_from([".", ",", None, "1"]),
    "bits": st.sampled_from([None, 0, 3, 40]),
    "features": st.sampled_from([None, [], ["u"], ["u", "u"]]),
    "drop": st.sampled_from([[], ["u"], ["class"], [1]]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stated")


def forged(path: Path, preprocessing: dict[str, object]) -> tuple[str, object]:
    """A certificate of the data when it is read in this way; any certificate if that fails."""
    try:
        recipe = Recipe.from_json(preprocessing)
        data = read(path, ReadOptions(missing=recipe.missing), recipe=recipe)
        certificate = nv.separate(data.X, data.labels).certificate
    except ValueError:
        data, certificate = None, nv.separate([[0.0], [1.0]], ["no", "yes"]).certificate
    assert certificate is not None
    return certificate_file.dump_proofs([certificate], {}, preprocessing).text, data


def rebuilt(text: str, done: Result) -> tuple[list[list[float]], list[str]]:
    """The features, column by column, and the labels, from a file and the printed lines."""

    def said(pattern: str) -> list[str]:
        return re.findall(pattern, done.out)

    def quotes(found: list[str]) -> list[str]:
        return re.findall(r'"(.*?)"', "".join(found[:1]))

    delimiter = (said(r'fields are separated by "(.)"') or [","])[0]
    decimal = (said(r'the decimal point is "(.)"') or ["."])[0]
    names, *rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    assert "the first line is a row" not in done.out
    label = said(r"label (\S+)\n")[0]
    left_out = {label, *quotes(said(r"columns? (?:is|are) ignored: (.*)"))}
    left_out |= {*said(r'the column "(.*)" names the rows: it is not a feature')}
    dropped = {int(row) for rows in said(r"dropped \(rows? (.*)\)") for row in rows.split(", ")}
    rows = [row for number, row in enumerate(rows, 1) if number not in dropped]
    levels = {
        name: quotes([values])
        for name, values in re.findall(r'column "(.*)" becomes .* of 0 and 1, for (.*)', done.out)
    }
    means = {
        name: (int(count), float(mean))
        for count, name, mean in re.findall(r'(\d+) in column "(\w+)" by (\S+?)(?:,|\n)', done.out)
    }
    X = []
    for name in [name for name in names if name not in left_out]:
        cells = [row[names.index(name)] for row in rows]
        if name in levels:
            X += [[float(cell == level) for cell in cells] for level in levels[name]]
            continue
        missing = [cell in ("", "?") for cell in cells]
        count, mean = means.get(name, (0, np.nan))
        assert sum(missing) == count
        there = [float(x.replace(decimal, ".")) for x in cells if x not in ("", "?")]
        left = iter(there)
        X.append([mean if is_missing else next(left) for is_missing in missing])
        if count:
            own = sum(there) / len(there)
            assert f'that are present is {own!r} in column "{name}"' in done.out
    assert f"· {len(rows)} rows · {len(X)} feature" in done.out
    return X, [row[names.index(label)] for row in rows]


def check(folder: Path, preprocessing: dict[str, object], text: str = TEXT) -> bool:
    """Whether a certificate with this preprocessing holds; if so, it must say what it is about."""
    path, proof = folder / "data.csv", folder / "proof.json"
    path.write_text(text, encoding="utf-8")
    content, data = forged(path, preprocessing)
    proof.write_text(content, encoding="utf-8")
    done = inside("verify", proof, path)
    if done.code != 0:
        assert done.code in (1, 2)
        assert done.err.count("\n") == 1
        return False
    X, labels = rebuilt(text, done)
    assert isinstance(data, nv.data.Dataset)
    assert sorted(X) == sorted(np.asarray(data.X).T.tolist())
    assert labels == [str(label) for label in data.labels.tolist()]
    return True


def test_what_was_not_changed_holds(folder: Path) -> None:
    assert check(folder, BASE)
    assert check(folder, {**BASE, "id": "name", "delimiter": ",", "header": True})
    assert check(folder, {**BASE, "missing": "drop", "columns": COLUMNS[:3:2]})
    commas = {**BASE, "columns": COLUMNS[:1], "missing": "error", "decimal": ",", "delimiter": ";"}
    assert check(folder, commas, "u;class\n1,5;no\n2,5;no\n15;yes\n")
    assert not check(folder, commas, "u;class\n1,5;no\n2,5;no\n1.5e1;yes\n")


@pytest.mark.parametrize("field", BASE)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_one_field_is_changed(folder: Path, field: str, data: st.DataObject) -> None:
    check(folder, {**BASE, field: data.draw(VALUES[field])})


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_several_fields_are_changed(folder: Path, data: st.DataObject) -> None:
    fields = ["columns", "missing", *data.draw(st.lists(st.sampled_from(sorted(BASE)), max_size=3))]
    check(folder, {**BASE, **{field: data.draw(VALUES[field]) for field in fields}})


@pytest.mark.parametrize(
    "change",
    [
        {"missing": "error", "columns": [COLUMNS[0], COLUMNS[4], COLUMNS[8]]},
        {"missing": "drop", "columns": [COLUMNS[0], COLUMNS[4], COLUMNS[8]]},
    ],
)
def test_means_without_their_policy_make_no_sense(folder: Path, change: dict[str, object]) -> None:
    with pytest.raises(DataError, match='invalid "missing"'):
        Recipe.from_json({**BASE, **change})
    assert not check(folder, {**BASE, **change})


@pytest.mark.parametrize(
    "line", ['the column "colour" names the rows: it is not a feature', "missing values"]
)
def test_the_check_can_fail(folder: Path, line: str) -> None:
    """If one line is missing, the rebuilt features differ from those of the proof."""
    preprocessing = {**BASE, "columns": [COLUMNS[0], COLUMNS[4]], "id": "colour"}
    assert check(folder, preprocessing)
    done = inside("verify", folder / "proof.json", folder / "data.csv")
    kept = "\n".join(text for text in done.out.splitlines() if line not in text) + "\n"
    assert kept != done.out
    with pytest.raises((AssertionError, ValueError)):
        rebuilt(TEXT, Result(0, kept, ""))
    assert json.loads((folder / "proof.json").read_text())["preprocessing"] == preprocessing


LINES = """{"class": "no", "a": 1, "b": 5, "kind": "x"}
{"class": "no", "a": 2, "c": 1, "kind": "y"}
{"class": "yes", "a": 7, "b": 1, "kind": "x"}
{"class": "yes", "a": 8, "kind": "x"}
"""
LINES_BASE = {**BASE, "family": "named", "columns": [], "missing": "error", "width": 0}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.sampled_from(["a", "b", "c", "kind=x", "kind=y", "none"]), unique=True),
    st.lists(st.sampled_from(["a", "b", "kind", "none"])),
)
def test_json_lines(folder: Path, features: list[str], drop: list[str]) -> None:
    """The certificate has names that are not in the file, or drops keys."""
    path, proof = folder / "data.jsonl", folder / "proof.json"
    path.write_text(LINES, encoding="utf-8")
    preprocessing = {**LINES_BASE, "features": features, "drop": drop}
    content, data = forged(path, preprocessing)
    proof.write_text(content, encoding="utf-8")
    done = inside("verify", proof, path)
    if done.code != 0:
        assert done.err.count("\n") == 1
        return
    ignored = re.findall(
        r"(?:ignored keys|keys that are ignored|left out): (.*)",
        done.out,
    )
    left_out = {name for names in ignored for name in re.findall(r'"(.*?)"', names)}
    rows = [json.loads(line) for line in LINES.splitlines()]
    found: dict[str, list[float]] = {}
    for k, row in enumerate(rows):
        for key, value in row.items():
            name, number = (f"{key}={value}", 1.0) if isinstance(value, str) else (key, value)
            if key != "class" and not left_out & {key, name}:
                found.setdefault(name, [0.0] * len(rows))[k] = float(number)
    assert isinstance(data, nv.data.Dataset)
    rows_of_features = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    columns = rows_of_features.T.tolist()
    zero = [0.0] * len(rows)
    assert sorted(found.values()) == sorted(x for x in columns if x != zero)
    assert f"{len(rows)} rows · {len(columns)} feature" in done.out


@pytest.mark.parametrize(("first", "width", "holds"), [(1, 2, True), (0, 3, True), (1, 1, False)])
def test_svmlight(folder: Path, first: int, width: int, holds: bool) -> None:
    path, proof = folder / "data.svm", folder / "proof.json"
    path.write_text("0 1:1 2:5\n0 1:2\n1 1:7 2:1\n1 1:8\n", encoding="utf-8")
    preprocessing = {**LINES_BASE, "family": "matrix", "first": first, "width": width}
    content, _ = forged(path, preprocessing)
    proof.write_text(content, encoding="utf-8")
    done = inside("verify", proof, path)
    assert (done.code == 0) == holds
    if holds:
        assert f"4 rows · {width} features" in done.out
        assert f"columns count from {first}" in done.out
