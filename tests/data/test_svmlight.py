"""svmlight files, read with and without the compiled loop; the errors for bad files."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff.data import Dataset, ReadOptions, pairs, read
from novikoff.errors import DataError
from tests.cases import case_named
from tests.data_files import sparse

datasets = pytest.importorskip("sklearn.datasets")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read every file with the compiled loop."""
    monkeypatch.setattr(pairs, "COMPILED_BYTES", 0)


def rows_of(n: int, width: int, seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((n, width)) * 10.0 ** rng.integers(-200, 200, (n, width))
    dense[rng.random((n, width)) < 0.8] = 0.0
    dense[0, [0, -1]] = 1.0  # so that the first and the last column are used
    return sp.csr_array(dense)


def svm(text: str | bytes) -> Dataset:
    content = text.encode() if isinstance(text, str) else text
    return read(io.BytesIO(content), ReadOptions(format="svmlight"))


SENTENCES = [
    (b"", " is empty."),
    (b"\n# no\n", " is empty: it has no rows."),
    (b"1\n", " has no features: all of its rows are empty."),
    (
        b"1 1:1\n\n1 1:2  x:y\n",
        ', line 3, column 8: "x:y" has an index that is not a whole number from 0.',
    ),
    (
        b"1 1:1\r\n\t1 3:2 2:4\n",
        ', line 2, column 8: "2:4" comes after 3; indices must ascend.',
    ),
    (
        b"1 1:1\n1,2 1:1\n",
        ', line 2, column 1 has several labels, "1,2"; one is expected.',
    ),
    (
        b"1 1:1\r1 1:infinity\n",
        ', row 2 (line 2), column "1" is infinite or beyond the range of float64.',
    ),
    (
        b"# a\n1 7:1 8:-inf\n",
        ', row 1 (line 2), column "8" is infinite or beyond the range of float64.',
    ),
    (
        b"1 0000000001:1\n1 00000000001:1\n",
        ', line 2, column 3: "00000000001:1" has an index above 2147483647.',
    ),
    (
        b"1 1:1\n1 5:1 2147483648:1\n",
        ', line 2, column 7: "2147483648:1" has an index above 2147483647.',
    ),
    (b"# a\n1 7:1\n\nnan 7:1\n", ", line 4 has the label nan."),
]


class TestReadSvmlight:
    @pytest.mark.parametrize("large", [0, 1 << 30])
    @pytest.mark.parametrize("zero_based", [True, False])
    def test_what_scikit_learn_writes_and_reads(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zero_based: bool, large: int
    ) -> None:
        monkeypatch.setattr(pairs, "COMPILED_BYTES", large)
        X = rows_of(200, 30)
        labels = np.arange(200) % 3
        path = str(tmp_path / "a.svm")
        old = sp.csr_matrix(X)
        datasets.dump_svmlight_file(old, labels, path, zero_based=zero_based, query_id=labels)
        A, b = datasets.load_svmlight_file(path)
        found = read(path)
        assert not isinstance(found.X, np.ndarray)
        for name in ("data", "indices", "indptr"):
            with case_named(name):
                mine, peer = getattr(found.X, name), getattr(A, name)
                assert mine.tobytes() == peer.astype(mine.dtype).tobytes()
        assert found.X.indices.dtype == found.X.indptr.dtype == np.int32
        assert found.X.has_canonical_format
        assert found.labels.tolist() == b.tolist()
        first = 0 if zero_based else 1
        assert (found.recipe.first, found.X.shape) == (first, (200, 30))
        assert found.notes == ["query ids (qid) are ignored", f"indices count from {first}"]

    @pytest.mark.usefixtures("quick")
    def test_gzip_and_a_byte_order_mark(self, tmp_path: Path) -> None:
        path = tmp_path / "a.svm.gz"
        path.write_bytes(gzip.compress(b"\xef\xbb\xbf1 1:2\n-1 2:3"))
        data = read(path)
        assert sparse(read(io.BytesIO(gzip.compress(b"# found out\n1 1:2\n")))) == [[2]]
        assert (sparse(data), data.labels.tolist()) == ([[2, 0], [0, 3]], [1, -1])

    @pytest.mark.usefixtures("quick")
    def test_a_comment_that_is_no_text(self) -> None:
        assert sparse(svm("1 1:2 # ü\n")) == [[2]]
        with pytest.raises(DataError, match="not UTF-8 text: byte 0xFC at position 9"):
            svm("1 1:2 # ü\n".encode("latin-1"))
        with pytest.raises(DataError, match=r"not UTF-8 text.*line 2"):  # checked first
            svm(b"1 x\n1 1:\xff\n")
        with pytest.raises(DataError, match="a NUL byte at position 9"):
            svm(b"1 1:2 # \0\n")

    @pytest.mark.usefixtures("quick")
    @pytest.mark.parametrize(("text", "sentence"), SENTENCES)
    def test_sentences(self, text: bytes, sentence: str) -> None:
        with pytest.raises(DataError) as caught:
            svm(text)
        assert str(caught.value) == f"the stream{sentence}"

    @pytest.mark.usefixtures("quick")
    def test_rows_with_missing_values_are_dropped(self) -> None:
        options = ReadOptions(format="svmlight", missing="drop")
        data = read(io.BytesIO(b"1 1:5\n2 1:nan\nnan 1:1\n3 1:6\n"), options)
        assert sp.csr_array(data.X).toarray().tolist() == [[5], [6]]
        assert data.rows.tolist() == [1, 4]
        assert "2 rows with missing values dropped" in data.notes

    @pytest.mark.usefixtures("quick")
    def test_a_model_has_its_width(self) -> None:
        options = ReadOptions(format="svmlight")
        recipe = read(io.BytesIO(b"1 1:5 3:1\n0 2:1\n"), options).recipe
        data = read(io.BytesIO(b"1 1:2 9:0\n1 2:1"), options, recipe=recipe)
        assert sp.csr_array(data.X).toarray().tolist() == [[2, 0, 0], [0, 1, 0]]
        bare = read(io.BytesIO(b"#\n1:3\n2:4\n"), options, recipe=recipe, labelled=False)
        assert bare.y is None
        assert sp.csr_array(bare.X).toarray().tolist() == [[3, 0, 0], [0, 4, 0]]
        with pytest.raises(DataError, match="line 3 has more features than the model's 3"):
            read(io.BytesIO(b"1 1:2\n\n1 4:1\n"), options, recipe=recipe)
        with pytest.raises(DataError, match="line 3 has the index 0"):
            read(io.BytesIO(b"1 1:2\n\n1 0:1\n"), options, recipe=recipe)

    @pytest.mark.parametrize("large", [0, 1 << 30])
    def test_integers_that_no_float_holds(
        self, monkeypatch: pytest.MonkeyPatch, large: int
    ) -> None:
        monkeypatch.setattr(pairs, "COMPILED_BYTES", large)
        with pytest.raises(DataError, match=r"line 2.*9007199254740993, which float64 cannot hold"):
            svm(b"1 1:1\n1 1:9007199254740993\n")
        with pytest.raises(DataError, match=r"9007199254740993.0, which float64 cannot hold"):
            svm(b"1 1:9007199254740993.0\n")
        data = svm(b"1 1:9007199254740992 2:9007199254740993.5\n")  # decimals are rounded
        assert sparse(data) == [[2.0**53, 2.0**53 + 2.0]]

    def test_comments_blank_lines_and_crlf(self) -> None:
        data = svm("# a comment\r\n+1 1:0.5 3:-2e1 # more\r\n\r\n-1\r\n1  2:3\t3:4")
        assert sparse(data) == [[0.5, 0, -20], [0, 0, 0], [0, 3, 4]]
        assert data.labels.dtype == np.int64
        assert data.labels.tolist() == [1, -1, 1]
        assert data.names == ["x1", "x2", "x3"]
        assert data.rows.tolist() == [1, 2, 3]

    def test_a_zero_anywhere_means_zero_based(self) -> None:
        data = svm("1 1:5\n0 0:7\n")
        again = read(io.BytesIO(b"1 1:2\n"), ReadOptions(format="svmlight"), recipe=data.recipe)
        assert sparse(again) == [[0, 2]]
        assert sparse(data) == [[0, 5], [7, 0]]
        assert data.names == ["x0", "x1"]
        assert data.notes == ["indices count from 0"]

    def test_real_labels_and_queries(self) -> None:
        data = svm("1.5 qid:1 1:5\n2 qid:1 1:6\n")
        assert data.labels.tolist() == ["1.5", "2"]
        assert "query ids (qid) are ignored" in data.notes
        assert sparse(data) == [[5], [6]]
