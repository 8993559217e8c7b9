"""What Parquet files say of their labels is used if true, noticed if not; and norms of rows."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from novikoff.core.problem import measured
from novikoff.data import Choices, DataError
from novikoff.data import fill as filling
from novikoff.data.chunks import batches
from novikoff.data.chunks.blocks import blocks

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ODD = 123_456_789


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_ENTRIES", 1)  # batches of 1,024 rows
    monkeypatch.setattr(filling, "_LARGE", 0)


def labelled(
    path: Path, labels: npt.NDArray[np.generic] | list[int | None], **options: object
) -> Path:
    column = pa.array(labels)
    features = {"a": np.arange(float(len(column))), "b": np.ones(len(column))}
    pq.write_table(pa.table({**features, "y": column}), path, **options)
    return path


def batches_of_labels(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each batch has that is read for its labels alone."""
    read, found = batches.BatchPieces._batches, list[int]()

    def watched(self: batches.BatchPieces, path: str, columns: list[str]) -> object:
        for batch in read(self, path, columns):
            if columns == ["y"]:
                found.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(batches.BatchPieces, "_batches", watched)
    return found


class TestLabels:
    def test_no_more_is_read_than_is_needed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = batches_of_labels(monkeypatch)
        path = labelled(tmp_path / "a.parquet", np.arange(9000) // 4 % 3 + 5, row_group_size=2500)
        assert blocks(path).classes.tolist() == [5, 6, 7]
        assert seen == [1024]

    @pytest.mark.parametrize("options", [{"write_statistics": False}, {}])
    def test_a_range_is_no_proof_that_a_label_is_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object]
    ) -> None:
        seen = batches_of_labels(monkeypatch)
        labels = np.arange(6000) % 2 * 2  # 0 and 2: the range has three
        found = blocks(labelled(tmp_path / "a.parquet", labels, **options))
        assert found.classes.tolist() == [0, 2]
        assert sum(seen) == 6000

    def test_all_files_of_a_folder_have_their_say(self, tmp_path: Path) -> None:
        labelled(tmp_path / "1.parquet", np.arange(3000) % 2)
        labelled(tmp_path / "2.parquet", np.arange(3000) % 2 + 1)
        assert blocks(tmp_path).classes.tolist() == [0, 1, 2]

    def test_a_file_that_goes_away_is_missed_in_a_sentence(self, tmp_path: Path) -> None:
        path = labelled(tmp_path / "a.parquet", np.arange(3000) % 2)
        pieces = batches.BatchPieces([str(path)], "parquet", Choices())
        path.unlink()
        with pytest.raises(DataError, match=r"a\.parquet does not exist"):
            pieces.labels()

    def test_missing_labels_are_no_labels(self, tmp_path: Path) -> None:
        labels: list[int | None] = [0, 1] * 2000
        labels[3000] = None
        path = labelled(tmp_path / "a.parquet", labels)
        with pytest.raises(DataError, match=r"row 3001, column \"y\": the label is missing"):
            list(blocks(path))
        found = blocks(path, Choices(missing="drop"))
        assert (found.n_rows, found.dropped.tolist()) == (3999, [3001])

    @pytest.mark.parametrize("missing", ["refuse", "drop"])
    def test_a_file_that_lies_of_its_labels_is_refused(self, tmp_path: Path, missing: str) -> None:
        labels = np.arange(4000) % 2 + 7
        labels[3500] = ODD
        path = labelled(tmp_path / "a.parquet", labels, use_dictionary=False, compression="none")
        assert blocks(path).classes.tolist() == [7, 8, ODD]
        content, value = path.read_bytes(), ODD.to_bytes(8, "little")
        pages, footer = content.split(b"PAR1")[1], content[-2000:]
        assert value in pages
        assert value in footer
        path.write_bytes(content[:-2000] + footer.replace(value, (8).to_bytes(8, "little")))
        with pytest.raises(
            DataError, match=r'a\.parquet has labels in column "y" that are outside'
        ):
            list(blocks(path, Choices(missing="drop" if missing == "drop" else "refuse")))


class TestRadius:
    @pytest.mark.parametrize("kind", [np.float32, np.float64])
    @pytest.mark.parametrize("width", [1, 3, 4, 9, 21])
    def test_is_that_of_the_rows(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type, width: int
    ) -> None:
        drawn = np.random.default_rng(width).normal(size=(3001, width))
        X: npt.NDArray[np.floating] = drawn.astype(kind)
        X[[7, 2999]] *= 50  # in a piece's first rows, and in the last of all
        columns = {f"x{j}": X[:, j] for j in range(width)}
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({**columns, "y": np.arange(3001) % 2}), path)
        looked = list[float]()
        monkeypatch.setattr("novikoff.core.problem.pose", lambda *_, **__: looked.append(0.0))
        first = 0
        for block in blocks(path).coded():
            rows = X[first : first + len(block.codes)].astype(np.float64)
            exact = max(math.hypot(*row) for row in rows.tolist())
            assert exact <= block.radius <= exact * (1.0 + 1e-12)
            assert block.longest == width + 1
            first += len(rows)
        assert (first, looked) == (3001, [])

    @pytest.mark.parametrize("size", [1e-200, 1e200, 0.0])
    def test_squares_that_say_nothing_are_not_trusted(self, tmp_path: Path, size: float) -> None:
        path = tmp_path / "a.parquet"
        columns = {"a": np.arange(1.0, 3001.0) * size, "b": np.ones(3000) * size}
        pq.write_table(pa.table({**columns, "y": np.arange(3000) % 2}), path)
        for block in blocks(path).coded():
            assert isinstance(block.X, np.ndarray)
            wanted = measured(block.X, block.codes)
            assert (block.radius, block.longest) == (wanted.radius, wanted.longest)
            assert block.radius >= max(math.hypot(*row) for row in block.X.tolist())

    def test_rows_that_are_dropped_do_not_count(self, tmp_path: Path) -> None:
        a, labels = np.ones(3000), [0, 1] * 1500
        a[5] = 1e9
        table = pa.table(
            {"a": a, "y": pa.array([None if k == 5 else y for k, y in enumerate(labels)])}
        )
        pq.write_table(table, tmp_path / "a.parquet")
        for block in blocks(tmp_path / "a.parquet", Choices(missing="drop")).coded():
            assert 1.0 <= block.radius < 1.1
