"""Files that are read: their labels, features, headers and missing values."""

from __future__ import annotations

import csv
import gzip
import io
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from novikoff.data import Dataset, ReadOptions, Recipe, read
from novikoff.errors import DataError
from tests.data_files import dense
from tests.real_data import real

DEFAULT = ReadOptions()


def parse(
    text: str, options: ReadOptions = DEFAULT, recipe: Recipe | None = None, labelled: bool = True
) -> Dataset:
    return read(io.BytesIO(text.encode()), options, recipe=recipe, labelled=labelled)


def oracle(path: Path, label: int = -1) -> tuple[list[str], list[list[str]], list[str]]:
    """The names, the fields of features and the labels, as Python's csv module reads them."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if path.suffix == ".gz" else raw
    header, *rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    return header[:label], [row[:label] for row in rows], [row[label] for row in rows]


def test_the_package_is_quick_to_import_and_needs_no_pandas(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, None], "b": [True, False], "y": [0.0, 1.0]}), tmp_path / "p")
    code = (
        "import sys, io; from novikoff.data import read, ReadOptions; "
        "assert 'pyarrow' not in sys.modules; "
        "read(io.BytesIO(b'c,t,a,y\\nred,True,1,p\\nblue,false,?,q\\n,True,+2,p\\nred,True,2,q'), "
        "ReadOptions(one_hot=('*',), missing='drop')); "
        f"read({str(tmp_path / 'p')!r}, ReadOptions(missing='drop')); "
        "print([m for m in ('numba', 'pandas', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


class TestKnownFiles:
    @pytest.mark.parametrize("name", ["sonar.csv", "spam.csv.gz", "zoo.csv", "endometrial.csv"])
    def test_numbers_truths_and_labels(self, name: str) -> None:
        path = real(name)
        names, rows, labels = oracle(path)
        data, values = read(path), {"True": 1.0, "False": 0.0}
        expected = [[values[t] if t in values else float(t) for t in row] for row in rows]
        assert (data.names, data.source) == (names, str(path))
        assert dense(data).tolist() == expected
        integers = name == "endometrial.csv"
        assert data.labels.tolist() == ([int(text) for text in labels] if integers else labels)
        assert data.notes == [f'the label is the last column, "{data.label}"'] or not integers


class TestLabels:
    @pytest.mark.parametrize(
        ("header", "label"),
        [
            ("Class,a,target,b", "target"),
            ("y,LABEL,b,c", "LABEL"),
            ("a,Y,class,c", "Y"),
            ("a,b,c,d", "d"),
        ],
    )
    def test_the_default_is_found_by_name(self, header: str, label: str) -> None:
        data = parse(header + "\n1,2,3,4\n5,6,7,8\n")
        assert data.label == label
        assert len(data.notes) == 1
        assert f'"{label}"' in data.notes[0]
        assert data.names == [name for name in header.split(",") if name != label]

    @pytest.mark.parametrize(
        ("label", "name"), [(2, "b"), (1, "a"), ("1", "a"), (-2, "b"), ("2", "2"), ("b", "b")]
    )
    def test_by_name_or_number(self, label: str | int, name: str) -> None:
        data = parse("a,b,2\n1,2,3\n4,5,6\n", ReadOptions(label=label))
        assert (data.label, data.notes) == (name, [])

    def test_labels_are_coded_once(self) -> None:
        data = parse("a,y\n1,5e-1\n2,0.50\n3,0.25\n4,0.5\n")
        assert data.codes is not None
        assert data.classes is not None
        assert (data.classes.tolist(), data.codes.tolist()) == (["0.25", "0.5"], [1, 1, 0, 1])
        assert data.labels.tolist() == ["0.5", "0.5", "0.25", "0.5"]
        classes, codes = data.coded_labels
        assert (classes.tolist(), codes.tolist()) == (["0.25", "0.5"], [1, 1, 0, 1])

    def test_labels_beyond_floats_are_no_classes_of_a_model(self) -> None:
        data = parse(f"a,y\n1,{2**53 + 1}\n2,0\n")
        with pytest.raises(DataError, match=r"the stream: .*beyond 2\*\*53"):
            _ = data.coded_labels

    def test_without_labels_there_are_no_codes(self) -> None:
        recipe = parse("a,y\n1,0\n2,1\n").recipe
        data = parse("a\n3\n", recipe=recipe, labelled=False)
        assert (data.codes, data.classes, data.y) == (None, None, None)
        with pytest.raises(DataError, match="has no label column"):
            _ = data.coded_labels

    def test_a_label_in_quotes_may_hold_all_but_its_end(self) -> None:
        data = parse('a,y\n1,"\tx "\n2,"x"\n3," y"\n')
        assert data.labels.tolist() == ["x", "x", "y"]


class TestColumns:
    def test_features_in_their_order(self) -> None:
        data = parse("a,b,c,d\n1,2,3,4\n", ReadOptions(features=("c", "1")))
        assert data.names == ["c", "a"]
        assert dense(data).tolist() == [[3.0, 1.0]]

    @pytest.mark.parametrize("first", [["0", "1"], ["1", "2"], ["ann", "bob"]], ids=str)
    def test_row_names_are_no_feature(self, first: list[str]) -> None:
        data = parse(f'"","a","c"\n"{first[0]}",1,0\n"{first[1]}",2,1\n')
        assert data.names == ["a"]
        assert any("no name" in note for note in data.notes)

    def test_one_hot_keeps_every_level(self) -> None:
        data = parse("colour,b,c\nred,1,0\nblue,2,1\nred,3,1\n", ReadOptions(one_hot=("colour",)))
        assert data.names == ["colour=blue", "colour=red", "b"]
        assert dense(data).tolist() == [[0, 1, 1], [1, 0, 2], [0, 1, 3]]

    def test_one_hot_of_all_text_found_late(self) -> None:
        data = parse("a,c\n" + "7,0\n" * 300 + "late,1\n", ReadOptions(one_hot=("*",)))
        assert data.names == ["a=7", "a=late"]
        assert dense(data).sum() == 301


class TestNumbers:
    def test_an_integer_column_may_become_decimal(self) -> None:
        rows = [f"{k},0" for k in range(200_000)] + ["0.5,1", "+7,0", " 8 ,1"]
        X = dense(parse("a,c\n" + "\n".join(rows) + "\n"))
        assert X[-3:, 0].tolist() == [0.5, 7.0, 8.0]
        assert len(X) == 200_003

    def test_truths_may_become_text_and_missing_blank(self) -> None:
        rows = ["True,0"] * 200 + [" ?,0", " false,1"]
        data = parse("a,c\n" + "\n".join(rows), ReadOptions(missing="drop"))
        assert data.rows.tolist() == [*range(1, 201), 202]
        assert dense(data)[-1, 0] == 0.0

    @pytest.mark.parametrize("gap", ["?", " ?", "? ", "\t?\t", '"?"', '" NA"', "", " ", "-nan"])
    def test_a_missing_value_may_have_blanks_around_it(self, gap: str) -> None:
        data = parse(f"a,b,c\n1,2,x\n{gap},4,y\n5,6,x\n", ReadOptions(missing="drop"))
        assert data.rows.tolist() == [1, 3]
        assert dense(data).tolist() == [[1, 2], [5, 6]]

    @pytest.mark.parametrize("text", ["nan(1)", "NaN(2)", "1e5f", "0x1p3", "１", "1.5.", "--1"])
    def test_text_that_a_parser_may_take_for_a_number(self, text: str) -> None:
        with pytest.raises(DataError, match=r'row 3 \(line 4\), column "a" holds "'):
            parse(f"a,b,c\n1,2,x\n3,4,y\n{text},6,x\n")

    @pytest.mark.parametrize(
        ("text", "row", "line"),
        [
            ("a,b,c\n1,2,x\n\n\nz,4,y\n", 2, 5),
            ('a,b,c\n1,2,"x\ny"\nz,4,y\n', 2, 4),
            ("1,2,x\r\n3,4,y\r\nz,4,y\r\n", 3, 3),
            ("a,b,c\n" + "1,2,x\n" * 300_000 + "z,4,y\n", 300_001, 300_002),
        ],
        ids=["blank lines", "a line end in quotes", "no header", "several pieces"],
    )
    def test_an_error_names_the_row_and_its_line(self, text: str, row: int, line: int) -> None:
        with pytest.raises(
            DataError, match=rf'row {row} \(line {line}\), column "[ax1]+" holds "z"'
        ):
            parse(text)

    def test_decimal_comma(self) -> None:
        data = parse("a;b;c\n1,5;-2,25e1;x\n,5;3;y\n", ReadOptions(decimal=","))
        assert dense(data).tolist() == [[1.5, -22.5], [0.5, 3.0]]

    def test_quotes_and_newlines(self) -> None:
        text = '"a","b\nb","c"\r\n1,"2","x, ""y""\r\nz"\r\n3,4,w\r\n'
        data = parse(text)
        assert data.names == ["a", "b\nb"]
        assert dense(data).tolist() == [[1, 2], [3, 4]]
        assert data.y is not None
        assert data.y.tolist() == ['x, "y"\r\nz', "w"]

    @pytest.mark.parametrize("before", [1, 150])  # within the sniffed lines, and after them
    def test_a_field_of_ten_megabytes(self, before: int) -> None:
        text = "a,b,c\n" + "1,2,3\n" * before + "4," + "x" * 10_000_000 + ",5\n6,7,8\n"
        data = parse(text, ReadOptions(drop=("b",)))
        assert dense(data)[:, 0].tolist() == [1] * before + [4, 6]

    def test_newlines_in_quotes_wherever_a_block_ends(self) -> None:
        labels = [f"{k % 50_000}\n1,\n,2" for k in range(120_000)]
        data = parse("a,y\n" + "".join(f'{k},"{label}"\n' for k, label in enumerate(labels)))
        assert dense(data)[:, 0].tolist() == list(range(120_000))
        assert data.y is not None
        assert data.y.tolist() == labels


class TestHeader:
    @pytest.mark.parametrize(
        ("text", "names", "n_rows"),
        [
            ("a,b,c\n1,2,3\n", ["a", "b"], 1),
            ("1,2,3\n4,5,6\n", ["x1", "x2"], 2),
            ("a,2000,c\n1,2,3\n", ["a", "2000"], 1),
            ("1,2,red\n3,4,blue\n", ["x1", "x2"], 2),
            ("1,2,Class\n3,4,blue\n", ["1", "2"], 1),
            ("\ufeffa,b\n1,2\n", ["a"], 1),
            ("\n\na , b,c\n\n1,2,3\n\n", ["a", "b"], 1),
        ],
    )
    def test_a_header_is_found(self, text: str, names: list[str], n_rows: int) -> None:
        data = parse(text)
        assert (data.names, len(dense(data))) == (names, n_rows)
        assert any("no header" in note for note in data.notes) == (names[0] == "x1")

    @pytest.mark.parametrize(
        ("text", "header", "noted"),
        [
            ("?,red,x\n1,blue,y\n2,red,x\n", False, False),
            ("1,NA,x\n1,2,y\n2,3,x\n", False, False),
            ("a,NA,x\n1,2,y\n2,3,x\n", True, False),
            ("a,?,class\np,q,y\nr,s,x\n", False, False),
            ("red,small,x\nblue,large,y\nred,large,x\n", False, False),
            ("colour,size,kind\nblue,large,y\nred,large,x\n", True, True),
            (",size,kind\nann,large,y\nbob,large,x\n", True, True),
            ("a,b,kind\np,True,y\nq,false,x\n", True, False),
            ("1,2,Class\n3,4,blue\n", True, True),
        ],
    )
    def test_the_evidence_for_a_header(self, text: str, header: bool, noted: bool) -> None:
        data = parse(text, ReadOptions(one_hot=("*",), missing="drop"))
        assert ("no header: columns are named x1, x2, …" in data.notes) != header
        assert any("header=False if it is a row" in note for note in data.notes) == noted
        assert data.rows[-1] == text.count("\n") - header

    def test_blanks_as_delimiters(self) -> None:
        options = ReadOptions(delimiter=" ")
        data = parse("a b y\n1 2 no\n3 4.5 yes\n", options)
        assert dense(data).tolist() == [[1, 2], [3, 4.5]]
        assert data.labels.tolist() == ["no", "yes"]
        again = parse("b a\n1 2\n", recipe=data.recipe, labelled=False)
        assert dense(again).tolist() == [[2, 1]]

    @pytest.mark.parametrize("given", [False, True])
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiters(self, delimiter: str, given: bool) -> None:
        text = "a,b,c\n1,2,x\n3,4,y\n".replace(",", delimiter)
        options = ReadOptions(delimiter=delimiter) if given else DEFAULT
        assert dense(parse(text, options)).tolist() == [[1, 2], [3, 4]]


class TestMissing:
    TEXT = "a,b,c\n1,2,x\n,4,y\n5,NaN,x\n7,?,NA\n9,8,y\n"

    def test_drop(self) -> None:
        data = parse(self.TEXT, ReadOptions(missing="drop"))
        assert dense(data).tolist() == [[1, 2], [9, 8]]
        assert data.rows.tolist() == [1, 5]
        assert data.notes[-1] == "3 rows with missing values dropped (rows 2, 3, 4)"

    def test_labels_of_dropped_rows_are_no_labels(self) -> None:
        data = parse("a,c\n1,0\n,x\n3,1\n", ReadOptions(missing="drop"))
        assert data.labels.tolist() == [0, 1]

    def test_mean(self) -> None:
        data = parse("a,b,c\n1,2,x\n,4,y\n5,NaN,x\n", ReadOptions(missing="mean"))
        assert dense(data).tolist() == [[1, 2], [3, 4], [5, 3]]
        assert [column.mean for column in data.recipe.columns] == [3.0, 3.0]
        huge = parse("a,c\n1.7e308,x\n1.7e308,y\n,x\n", ReadOptions(missing="mean"))
        assert dense(huge)[2, 0] == pytest.approx(1.7e308)  # the sum would overflow

    def test_without_a_label_is_rejected_even_with_means(self) -> None:
        with pytest.raises(DataError, match=r'row 4 \(line 5\), column "c"'):
            parse(self.TEXT, ReadOptions(missing="mean"))


class TestRecipe:
    TRAIN = "colour,a,b,Class\nred,1,2,x\nblue,3,,y\n"

    @pytest.fixture
    def recipe(self) -> Recipe:
        data = parse(self.TRAIN, ReadOptions(one_hot=("*",), missing="mean"))
        again = Recipe.from_json(data.recipe.to_json())
        assert again == data.recipe
        return again

    def test_columns_by_name(self, recipe: Recipe) -> None:
        data = parse("b,z,a,colour\n,0,9,red\n", recipe=recipe, labelled=False)
        assert data.names == ["colour=blue", "colour=red", "a", "b"]
        assert dense(data).tolist() == [[0, 1, 9, 2]]
        assert data.y is None
        assert 'ignored: "z"' in data.notes[0]

    def test_the_label_is_read_if_it_is_there(self, recipe: Recipe) -> None:
        data = parse("b,Class,a,colour\n5,y,9,red\n", recipe=recipe, labelled=False)
        assert data.y is not None
        assert data.y.tolist() == ["y"]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a,Class\n1,x\n", 'has no columns "colour", "b" (2 of the 3 that are needed)'),
            (
                "colour,a,b,Class\nred,1,2,x\nmauve,1,2,x\n",
                'row 2 (line 3), column "colour" holds "mauve"',
            ),
            ("colour,a,b\nred,1,2\n", 'no column "Class" for the label'),
            ("colour,a,b,Class\nred,1,zwei,x\n", 'row 1 (line 2), column "b" holds "zwei"'),
        ],
    )
    def test_a_file_that_does_not_fit(self, recipe: Recipe, text: str, message: str) -> None:
        with pytest.raises(DataError, match=re.escape(message)):
            parse(text, recipe=recipe)

    def test_without_header_and_without_the_label(self) -> None:
        recipe = parse("x,1,2\ny,3,4\n", ReadOptions(label=1, header=False)).recipe
        data = parse("1,2\n3,4\n", recipe=recipe, labelled=False)
        assert dense(data).tolist() == [[1, 2], [3, 4]]

    def test_missing_is_rejected_without_means(self) -> None:
        recipe = parse("a,c\n1,2\n,4\n", ReadOptions(missing="drop")).recipe
        with pytest.raises(DataError, match=r'row 1 \(line 2\), column "a" is missing'):
            parse("a,c\n,2\n", recipe=recipe)
        assert parse(
            "a,c\n,2\n1,2\n", ReadOptions(missing="drop"), recipe=recipe
        ).rows.tolist() == [2]


_WITHOUT_UNIX = """
import os, sys
sys.modules["fcntl"] = None
for name in ("pread", "set_blocking", "O_NONBLOCK"):
    delattr(os, name)
import novikoff.data
for path in sys.argv[1:]:
    found = novikoff.data.read(path)
    print(found.X.tolist(), found.names)
"""


def test_files_are_read_without_the_calls_that_windows_lacks(tmp_path: Path) -> None:
    text, plain, packed = b"a,b,y\n1,2.5,p\n3,4,q\n", tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    command = [sys.executable, "-c", _WITHOUT_UNIX, str(plain), str(packed), "-"]
    done = subprocess.run(command, input=text, capture_output=True, check=False)  # noqa: S603
    assert done.stderr == b""
    assert done.stdout.decode().splitlines() == ["[[1.0, 2.5], [3.0, 4.0]] ['a', 'b']"] * 3


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"a,b\n1,2\n")

    monkeypatch.setattr(sys, "stdin", Stdin)
    data = read("-")
    assert data.source == "-"
    assert dense(data).tolist() == [[1.0]]


def test_gzip_whatever_the_name_and_in_members(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    assert dense(read(path)).tolist() == [[1.0], [3.0]]


def test_progress_is_reported() -> None:
    told: list[str] = []
    read(io.BytesIO(b"a,b\n1,2\n"), progress=told.append)
    assert told == ["reading the data", "reading the stream: 1 rows"]


def test_one_column_keeps_its_blank_rows() -> None:
    recipe = parse("a,c\n1,2\n3,4\n", ReadOptions(missing="mean")).recipe
    data = parse("a\n1\n\n3\n\n\n", recipe=recipe, labelled=False)
    assert dense(data).tolist() == [[1], [2], [3]]
