"""One rule for labels: a file has the same classes for fit, stream, stream --resume and predict.

fit and verify use `read`, stream and nv.stream use `StreamSession`, and predict uses `read_pieces`.
A stream may reject the first label of a kind that it has not seen, with an error, but it never
continues with different classes.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core.model import LinearModel
from novikoff.data import ReadOptions, StreamOptions, open_stream, read, read_pieces
from novikoff.errors import DataError
from novikoff.jobs.stream_run import StreamRun
from novikoff.jobs.stream_session import StreamSession
from tests.cases import case_named
from tests.cli.conftest import inside
from tests.data_files import Dripping

# Columns of labels as text, and their number of classes, counted by hand.
COLUMNS: list[tuple[list[str], int]] = [
    (["0.5", "0.50", "5e-1", "1.5"], 2),
    (["1", "1.0", "2"], 2),
    (["1", "1e0", "10", "1E+1"], 2),
    (["1", "1.0", "a"], 3),
    (["01", "1", "2"], 3),
    (["0", "-0", "0.0", "-0.0", "1"], 2),
    (["1", "1.5", "1.50", "2"], 3),
    (["true", "True", "FALSE"], 2),
    (["true", "1"], 2),
    (["x", "X", "y"], 3),
    (["9223372036854775808", "9223372036854775809", "1.0"], 3),
    (["1.00000000000000000001", "1", "1.0"], 2),
    (["1e300", "2"], 2),
    (["1e999", "2"], 2),
    (["0.1", "0.10000000000000000001"], 2),
]


def table(labels: Sequence[str]) -> bytes:
    """CSV: each row has its number and its label."""
    return "".join(["a,y\n", *(f"{k},{label}\n" for k, label in enumerate(labels))]).encode()


def pairs(labels: Sequence[str]) -> bytes:
    return "".join(f"{label} 1:{k + 1}\n" for k, label in enumerate(labels)).encode()


def json_texts(labels: Sequence[str]) -> bytes:
    rows = ({"a": k, "y": label} for k, label in enumerate(labels))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


TEXT_FORMATS: dict[str, Callable[[Sequence[str]], bytes]] = {
    "csv": table,
    "svmlight": pairs,
    "jsonl": json_texts,
}


@contextlib.contextmanager
def small_pieces(size: int) -> Iterator[None]:
    with patch("novikoff.data.reader.PIECE_BYTES", size):
        yield


def learned(source: Path | io.BytesIO, options: ReadOptions, stop: int = 0) -> list[Hashable]:
    """The labels of all rows as a stream learns them; the stream is resumed after some rows."""
    found = list[Hashable]()
    state = None
    if stop:
        with open_stream(source, StreamOptions(options)) as stream:
            for piece in stream.pieces():
                assert piece is not None
                k = min(len(piece), stop - len(found))
                found += [piece.labels[code] for code in piece.codes[:k]]
                if len(found) == stop:
                    state = json.loads(json.dumps(stream.state(piece.position(k))))
                    break
    with open_stream(source, StreamOptions(options), state=state) as stream:
        for piece in stream.pieces():
            if piece is not None:
                found += [piece.labels[code] for code in piece.codes]
    return found


def told(
    source: Path | io.BytesIO, options: ReadOptions, classes: Sequence[Hashable]
) -> list[Hashable]:
    """The labels of all rows as predict compares them with its own."""
    recipe, found = read(source, options).recipe, list[Hashable]()
    if isinstance(source, io.BytesIO):
        source.seek(0)
    with read_pieces(source, options, recipe=recipe, classes=classes) as stream:
        for piece in stream.pieces():
            assert piece is not None
            found += [piece.labels[code] if code >= 0 else None for code in piece.codes]
    return found


@pytest.mark.parametrize("form", TEXT_FORMATS)
@pytest.mark.parametrize(("labels", "n_classes"), COLUMNS, ids=str)
def test_a_table_of_labels(tmp_path: Path, form: str, labels: list[str], n_classes: int) -> None:
    """Through fit, stream with pieces of two sizes, resumed after each row, and predict."""
    path, options = tmp_path / "rows.txt", ReadOptions(format=form)
    path.write_bytes(TEXT_FORMATS[form](labels * 3))
    try:
        expected = read(path, options).labels.tolist()
    except DataError:
        assert form == "svmlight"  # labels of svmlight are finite numbers
        return
    if form == "svmlight" and labels[0] == "01":
        n_classes = 2  # a number may be written in any way
    assert len(set(expected)) == n_classes
    for size in (1 << 21, 1):
        with case_named(f"pieces of {size} bytes"), small_pieces(size):
            assert learned(path, options) == expected
            assert told(path, options, sorted(set(expected))) == expected
    for stop in range(1, len(expected)):
        assert learned(path, options, stop=stop) == expected, f"resumed after {stop} rows"


def decimals() -> dict[str, object]:
    pa = pytest.importorskip("pyarrow")
    numbers = [Decimal("0.50"), Decimal("1.00"), Decimal("1.50"), Decimal("0.50")]
    return {
        "decimals": pa.array(numbers, pa.decimal128(5, 2)),
        "whole decimals": pa.array([Decimal(1), Decimal(2)] * 2, pa.decimal128(5, 0)),
        "floats": pa.array([0.5, 1.0, 1.5, 0.5]),
        "whole floats": pa.array([1.0, 2.0, -0.0, 0.0]),
        "integers": pa.array([1, 2, 1, 3]),
        "truths": pa.array([True, False, True, True]),
        "texts": pa.array(["0.5", "0.50", " 0.5", "x"]),
    }


@pytest.mark.parametrize("stop", [0, 2], ids=["at once", "resumed"])
@pytest.mark.parametrize(
    "kind",
    ["decimals", "whole decimals", "floats", "whole floats", "integers", "truths", "texts"],
)
def test_typed_labels(tmp_path: Path, kind: str, stop: int) -> None:
    pa, column = pytest.importorskip("pyarrow"), decimals()[kind]
    path, options = tmp_path / "rows.parquet", ReadOptions()
    frame = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "y": column})
    pytest.importorskip("pyarrow.parquet").write_table(frame, path)
    expected = read(path).labels.tolist()
    found = learned(path, options, stop=stop)
    assert (found, [*map(type, found)]) == (expected, [*map(type, expected)])
    assert told(path, options, sorted(set(expected))) == expected


@pytest.mark.parametrize("labels", [[1.0, 2.0, 1.0], [0.5, 1.0, 0.5], [True, False, True]], ids=str)
def test_labels_of_arrays(tmp_path: Path, labels: list[float]) -> None:
    path, options = tmp_path / "rows.npz", ReadOptions()
    np.savez(path, X=np.arange(3.0).reshape(3, 1), y=labels)
    expected = read(path).labels.tolist()
    found = learned(path, options)
    assert (found, [*map(type, found)]) == (expected, [*map(type, expected)])


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("csv", b"a,y\n,word\n1,1\n2,1.0\n3,2\n"),
        ("svmlight", b"0.5 1:nan\n1 1:1\n1.0 1:2\n2 1:3\n"),
    ],
)
def test_labels_of_rows_that_are_left_out_do_not_count(
    form: str, content: bytes, tmp_path: Path
) -> None:
    """A dropped row whose label is a word does not turn all labels into text."""
    path, options = tmp_path / form, ReadOptions(format=form, missing="drop")
    path.write_bytes(content)
    expected = read(path, options).labels.tolist()
    assert expected == [1, 1, 2]
    assert learned(path, options) == expected


def test_labels_that_come_late_are_of_their_own_kind(tmp_path: Path) -> None:
    """None of the first 100 rows has a label."""
    content = b"a,y\n" + b"1,\n" * 150 + b"1,1\n2,1.0\n3,2\n"
    path, options = tmp_path / "rows.csv", ReadOptions(missing="drop")
    path.write_bytes(content)
    assert learned(path, options) == read(path, options).labels.tolist() == [1, 1, 2]


WRITTEN = st.sampled_from(
    [
        *("0", "1", "2", "-1", "1.0", "2.0", "1e0", "10e-1", "0.5", "0.50", "5e-1", ".5", "+1"),
        *("01", "-0", "0.0", "1.5", "1.50", "a", "b", "True", "true", "false", "inf", "1e999"),
        *("9007199254740993", "9223372036854775808", "1e16", "1_0", "A", "0x10", "1.", "1e-8"),
    ]
)


@given(
    labels=st.lists(WRITTEN, min_size=2, max_size=6, unique=True).flatmap(
        lambda pool: st.lists(st.sampled_from(pool), min_size=2, max_size=40)
    ),
    form=st.sampled_from(list(TEXT_FORMATS)),
    stop=st.integers(1, 39),
    size=st.sampled_from([3, 50, 1 << 21]),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fit_stream_and_predict_have_the_same_classes(
    tmp_path: Path, labels: list[str], form: str, stop: int, size: int
) -> None:
    content, options = TEXT_FORMATS[form](labels), ReadOptions(format=form)
    path = tmp_path / "rows.txt"
    path.write_bytes(content)
    try:
        expected = read(path, options).labels.tolist()
    except DataError:
        assert form == "svmlight"  # its labels are numbers for fit, and may be text in a stream
        return
    # In a stream integers beyond 2**53 are rejected here; fit rejects them later.
    large = any(isinstance(label, int) and abs(label) > 2**53 for label in expected)
    with contextlib.nullcontext() if not large else pytest.raises(DataError, match="2\\*\\*53"):
        with small_pieces(size):
            assert learned(path, options) == expected
            assert learned(path, options, stop=min(stop, len(labels) - 1)) == expected
        assert told(path, options, sorted(set(expected))) == expected
    # If a pipe delivers few rows at a time, a label of a different kind may be rejected.
    with contextlib.suppress(DataError):
        found = learned(Dripping(content, size), options)
        assert len(set(found)) == len(set(expected))


def test_classes_and_predictions_are_those_of_the_file(tmp_path: Path) -> None:
    """Check a stream and its predictions with all commands."""
    data, model = tmp_path / "d.csv", tmp_path / "m.novikoff"
    rng = np.random.default_rng(1)
    rows = [
        f"{x:.4f},{rng.choice(['0.5', '0.50', '5e-1']) if x > 0 else rng.choice(['1.5', '1.50'])}\n"
        for x in rng.normal(size=300)
    ]
    data.write_text("a,y\n" + "".join(rows), encoding="utf-8")
    fitted = inside("fit", data, "--out", tmp_path / "fit")
    assert fitted.code == 0, fitted.err
    assert "2 classes" in fitted.out or "0.5" in fitted.out
    for more in (["--limit", "7"], ["--resume", "--limit", "120"], ["--resume"]):
        done = inside("stream", data, "--save", model, *more)
        assert done.code == 0, done.err
    assert "2 classes" in done.line("data")
    assert int(done.line("mistakes").split()[0]) < 30
    told = inside("predict", model, data)
    assert told.code == 0
    assert "labels are missing" not in told.err
    assert {line.split(",")[1] for line in told.out.splitlines()[1:]} == {"0.5", "1.5"}
    run = StreamRun()
    for _ in StreamSession(str(data), StreamOptions(), run).learn():
        pass
    assert isinstance(run.model, LinearModel)
    assert set(run.model.classes.tolist()) == {"0.5", "1.5"}
    learner = nv.Perceptron()
    for _ in nv.stream(str(data), learner):
        pass
    assert set(learner.classes_.tolist()) == {"0.5", "1.5"}
