"""svmlight files: what they become, in threads and in pieces, and what is said of bad ones."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data import Choices, DataError, pairs, read, read_svmlight, svmlight
from novikoff.data.pairs import Pairs, Stopped, explain, feature_hash, parse_pairs
from novikoff.data.scanner import begins_bare, find_row, scan_pairs

datasets = pytest.importorskip("sklearn.datasets")


def parsed(text: bytes, **options: int | bool | None) -> Pairs:
    threads, bits = options.get("threads"), options.get("bits")
    found = parse_pairs(
        memoryview(text),
        labelled=bool(options.get("labelled", True)),
        words=bool(options.get("words", False)),
        threads=None if threads is None else int(threads),
        bits=None if bits is None else int(bits),
    )
    assert isinstance(found, Pairs)
    return found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every file read by the kernel."""
    monkeypatch.setattr(svmlight, "LARGE", 0)


def rows_of(n: int, width: int, seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((n, width)) * 10.0 ** rng.integers(-200, 200, (n, width))
    dense[rng.random((n, width)) < 0.8] = 0.0
    dense[0, [0, -1]] = 1.0  # so that both ends are seen
    return sp.csr_array(dense)


class TestReadSvmlight:
    @pytest.mark.parametrize("large", [0, 1 << 30])
    @pytest.mark.parametrize("zero_based", [True, False])
    def test_what_scikit_learn_writes_and_reads(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zero_based: bool, large: int
    ) -> None:
        monkeypatch.setattr(svmlight, "LARGE", large)
        X = rows_of(200, 30)
        labels = np.arange(200) % 3
        path = str(tmp_path / "a.svm")
        old = sp.csr_matrix(X)
        datasets.dump_svmlight_file(old, labels, path, zero_based=zero_based, query_id=labels)
        A, b = datasets.load_svmlight_file(path)
        found = read_svmlight(path, threads=3)
        for name in ("data", "indices", "indptr"):
            mine, peer = getattr(found.X, name), getattr(A, name)
            assert mine.tobytes() == peer.astype(mine.dtype).tobytes()
        assert found.X.indices.dtype == found.X.indptr.dtype == np.int32
        assert found.X.has_canonical_format
        assert found.y.tolist() == b.tolist()
        first = 0 if zero_based else 1
        assert (found.found.first, found.found.n_rows, found.found.n_features) == (first, 200, 30)
        assert found.found.has_qid
        assert found.found.notes == (
            "query ids (qid) are ignored",
            f"indices count from {first}",
        )

    @pytest.mark.usefixtures("quick")
    def test_gzip_and_a_byte_order_mark(self, tmp_path: Path) -> None:
        path = tmp_path / "a.svm.gz"
        path.write_bytes(gzip.compress(b"\xef\xbb\xbf1 1:2\n-1 2:3"))
        X, y, _ = read_svmlight(path)
        assert (X.toarray().tolist(), y.tolist()) == ([[2, 0], [0, 3]], [1, -1])

    @pytest.mark.usefixtures("quick")
    def test_a_comment_that_is_no_text(self) -> None:
        assert read_svmlight(io.BytesIO("1 1:2 # ü\n".encode())).X.nnz == 1
        with pytest.raises(DataError, match="not UTF-8 text: byte 0xFC at position 9"):
            read_svmlight(io.BytesIO("1 1:2 # ü\n".encode("latin-1")))
        with pytest.raises(DataError, match="a NUL byte at position 9"):
            read_svmlight(io.BytesIO(b"1 1:2 # \0\n"))

    @pytest.mark.usefixtures("quick")
    def test_bytes_that_are_no_text_come_first(self) -> None:
        with pytest.raises(DataError, match=r"not UTF-8 text.*line 2"):
            read_svmlight(io.BytesIO(b"1 x\n1 1:\xff\n"))

    @pytest.mark.usefixtures("quick")
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (b"", "the stream is empty."),
            (b"\n# no\n", "the stream is empty: it has no rows."),
            (b"1\n", "the stream has no features: all of its rows are empty."),
            (
                b"1 1:1\n\n1 1:2  x:y\n",
                'the stream, line 3, column 8: "x:y" has an index that is not a whole number '
                "from 0.",
            ),
            (
                b"1 1:1\r\n\t1 3:2 2:4\n",
                "the stream, line 2, column 8 has the index 2 after 3; indices must ascend.",
            ),
            (
                b"1 1:1\n1,2 1:1\n",
                'the stream, line 2, column 1 has several labels, "1,2"; one is expected.',
            ),
            (
                b"1 1:1\r1 1:infinity\n",
                'the stream, line 2, column 3: "1:infinity" has a value that is not a number.',
            ),
            (
                b"# a\n1 7:1 8:-inf\n",
                'the stream, row 1 (line 2), column "8" is infinite or beyond the range of '
                "float64.",
            ),
            (
                b"1 0000000001:1\n1 00000000001:1\n",
                'the stream, line 2, column 3: "00000000001:1" has an index above 2147483647.',
            ),
            (
                b"1 1:1\n1 5:1 2147483648:1\n",
                "the stream, line 2, column 7 has the index 2147483648 above 2147483647.",
            ),
            (b"# a\n1 7:1\n\nnan 7:1\n", "the stream, line 4 has the label nan."),
        ],
    )
    def test_sentences(self, text: bytes, sentence: str) -> None:
        with pytest.raises(DataError) as caught:
            read_svmlight(io.BytesIO(text))
        assert str(caught.value) == sentence

    @pytest.mark.usefixtures("quick")
    def test_rows_with_missing_values_are_dropped(self) -> None:
        choices = Choices(format="svmlight", missing="drop")
        data = read(io.BytesIO(b"1 1:5\n2 1:nan\nnan 1:1\n3 1:6\n"), choices)
        assert sp.csr_array(data.X).toarray().tolist() == [[5], [6]]
        assert data.rows.tolist() == [1, 4]
        assert "2 rows with missing values dropped" in data.notes

    @pytest.mark.usefixtures("quick")
    def test_a_model_has_its_width(self) -> None:
        choices = Choices(format="svmlight")
        recipe = read(io.BytesIO(b"1 1:5 3:1\n0 2:1\n"), choices).recipe
        data = read(io.BytesIO(b"1 1:2 9:0\n1 2:1"), choices, recipe=recipe)
        assert sp.csr_array(data.X).toarray().tolist() == [[2, 0, 0], [0, 1, 0]]
        bare = read(io.BytesIO(b"#\n1:3\n2:4\n"), choices, recipe=recipe, labelled=False)
        assert bare.y is None
        assert sp.csr_array(bare.X).toarray().tolist() == [[3, 0, 0], [0, 4, 0]]
        with pytest.raises(DataError, match="line 3 has more features than the model's 3"):
            read(io.BytesIO(b"1 1:2\n\n1 4:1\n"), choices, recipe=recipe)
        with pytest.raises(DataError, match="line 3 has the index 0"):
            read(io.BytesIO(b"1 1:2\n\n1 0:1\n"), choices, recipe=recipe)


class TestParsePairs:
    @pytest.mark.parametrize("threads", [1, 2, 3, 7])
    def test_threads_change_nothing(self, threads: int) -> None:
        X = rows_of(300, 40)
        lines = []
        for k in range(300):
            entries = zip(X[[k]].indices.tolist(), X[[k]].data.tolist(), strict=True)
            pieces = [f"{k % 5}", *(["qid:1"] if k % 7 == 0 else [])]
            comment = " # a:b c:d" if k % 11 == 0 else ""
            lines.append(" ".join([*pieces, *(f"{j}:{v!r}" for j, v in entries)]) + comment)
        text = "\n".join(lines).encode()
        found = parsed(text, threads=threads)
        assert found.values.tobytes() == X.data.tobytes()
        assert found.indices.tolist() == X.indices.tolist()
        assert found.indptr.tolist() == X.indptr.tolist()
        assert found.codes.tolist() == [k % 5 for k in range(300)]
        assert found.labels == [b"0", b"1", b"2", b"3", b"4"]
        assert (found.lowest, found.highest) == (0, 39)
        assert (found.n_lines, found.queries) == (300, 43)

    def test_more_labels_than_there_is_room_for(self) -> None:
        n = 3 * pairs._LABELS
        found = parsed("".join(f"{k}.5 1:1\n" for k in range(n)).encode(), threads=2)
        assert found.codes.tolist() == list(range(n))
        assert found.labels[-1] == f"{n - 1}.5".encode()

    def test_more_odd_numbers_than_there_is_room_for(self) -> None:
        n = pairs._UNSETTLED + 10
        found = parsed(b"1 1:5e-324\n" * n, threads=1)
        assert found.values.tolist() == [5e-324] * n

    @pytest.mark.parametrize("threads", [1, 3])
    def test_the_first_row_that_is_not_finite(self, threads: int) -> None:
        lines = [b"1 1:1\n"] * 30
        assert parsed(b"".join(lines), threads=threads).odd_row == -1
        lines[25] = b"1 1:1 2:1e999\n"
        assert parsed(b"".join(lines), threads=threads).odd_row == 25
        lines[3] = b"nan 1:1\n"
        assert parsed(b"".join(lines), threads=threads).odd_row == 3

    def test_the_largest_index(self) -> None:
        found = parsed(b"1 0:1 2147483647:2\n")
        assert (found.lowest, found.highest) == (0, 2**31 - 1)
        assert found.indices.tolist() == [0, 2**31 - 1]

    def test_no_rows(self) -> None:
        for text in (b"", b"\n", b"# 1:2\r\r\n"):
            found = parsed(text)
            assert (found.n_rows, found.indptr.tolist(), found.labels) == (0, [0], [])
            assert (found.lowest, found.highest, found.odd_row) == (-1, -1, -1)
            assert found.n_lines == len(text.splitlines())

    def test_without_labels(self) -> None:
        found = parsed(b"1:5 2:6\n\nqid:3 7:8\n", labelled=False)
        assert (found.indptr.tolist(), found.indices.tolist()) == ([0, 2, 3], [1, 2, 7])
        assert (found.labels, found.codes.tolist(), found.queries) == ([], [0, 0], 1)
        assert parse_pairs(memoryview(b"1:5\n1 2:6\n"), labelled=False) == Stopped(4, 1)

    def test_labels_that_are_words(self) -> None:
        text = b"spam 1:1\nham,eggs 2:1\nspam 1:3\n"
        found = parsed(text, words=True)
        assert (found.labels, found.codes.tolist()) == ([b"spam", b"ham,eggs"], [0, 1, 0])
        assert parse_pairs(memoryview(text)) == Stopped(0, 0)
        assert parse_pairs(memoryview(b"a 1:1\n1:2\n"), words=True) == Stopped(6, 1)

    def test_text_that_can_be_written_is_left_alone(self) -> None:
        text = bytearray(b"1 1:1\n")
        assert parsed(bytes(text)).n_rows == 1
        assert isinstance(parse_pairs(memoryview(text)), Pairs)
        text[0] = ord("2")

    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_where_it_stops(self, threads: int) -> None:
        lines = [b"1 1:1\r\n", b"\r\n", b"# 1:2\r\n", b"1 2:1\n"] * 50
        lines[123] = b" 1 3:1 x\r\n"
        lines[177] = b"1 2:1 1:1\n"
        text = memoryview(b"".join(lines))
        found = parse_pairs(text, threads=threads)
        assert found == Stopped(len(b"".join(lines[:123])), 123)
        for stopped in (found, None):
            with pytest.raises(DataError) as caught:
                explain("a.svm", text, 1000, stopped=stopped)
            assert str(caught.value) == (
                'a.svm, line 1124, column 8: "x" is not of the form index:value.'
            )


class TestHashedNames:
    def test_the_hash_is_that_of_its_authors(self) -> None:
        # Vectors of Fowler, Noll and Vo, folded by hand.
        for name, h in ((b"", 0xCBF29CE484222325), (b"foobar", 0x85944171F73967E8)):
            for bits in (1, 16, 31):
                assert feature_hash(name, bits) == (h >> bits ^ h) % 2**bits

    @given(
        st.lists(
            st.tuples(st.sampled_from("abcdefghij"), st.floats(-1e3, 1e3)), min_size=1, max_size=80
        ),
        st.sampled_from([1, 2, 12, 31]),
    )
    def test_columns_ascend_and_equal_ones_are_added_up(
        self, row: list[tuple[str, float]], bits: int
    ) -> None:
        text = "1 " + " ".join(f"{name}:{value!r}" for name, value in row)
        found = parsed(text.encode(), bits=bits)
        sums: dict[int, float] = {}
        for name, value in row:
            column = feature_hash(name.encode(), bits)
            sums[column] = sums[column] + value if column in sums else value
        assert found.indices.tolist() == sorted(sums)
        assert found.values.tolist() == [sums[column] for column in sorted(sums)]

    @given(st.lists(st.binary(min_size=1).filter(lambda name: not set(name) & set(b" \t\r\n:#"))))
    def test_names_of_any_bytes(self, names: list[bytes]) -> None:
        text = b"1 x:1 " + b" ".join(name + b":1" for name in names)
        found = parsed(text, bits=31)
        assert found.indices.tolist() == sorted({feature_hash(name, 31) for name in [b"x", *names]})

    def test_gaps_between_threads_close(self) -> None:
        lines = [f"1 a:1 a:{k} b{k}:1 # x:y\n" for k in range(100)]
        one, many = (parsed("".join(lines).encode(), bits=20, threads=t) for t in (1, 4))
        assert one.indices.tolist() == many.indices.tolist()
        assert one.values.tolist() == many.values.tolist()
        assert one.indptr.tolist() == many.indptr.tolist()
        assert one.lowest == min(one.indices)
        assert one.highest == max(one.indices)

    def test_a_sum_beyond_all_bounds(self) -> None:
        assert parsed(b"1 a:1\n1 a:1e308 a:1e308\n", bits=4).odd_row == 1

    def test_sentences(self) -> None:
        text = memoryview(b"1 a:1 b\n")
        with pytest.raises(DataError, match='line 1, column 7: "b" is not of the form name:value'):
            explain("a.svm", text, bits=8)
        with pytest.raises(DataError, match='line 1, column 3: ":1" is not of the form name:value'):
            explain("a.svm", memoryview(b"1 :1\n"), bits=8)


class TestScanner:
    def test_without_the_kernel(self) -> None:
        text = b"1 1:2 # \xff\n\n0 3:nan\n"
        found = scan_pairs("a.svm", memoryview(text))
        assert (found.odd_row, found.plain, found.n_lines) == (1, False, 3)

    def test_rows_are_found_again(self) -> None:
        row = find_row(memoryview(b"\r\n# a\n1:2 5:6\n\n3:4\n"), 1, labelled=False)
        assert (row.line, row.indices, row.values) == (5, [3], [4.0])

    def test_whether_there_are_labels(self) -> None:
        assert begins_bare(memoryview(b"qid:3 1:2\n"))
        assert not begins_bare(memoryview(b"# 1:2\n1\n1:2\n"))
        assert not begins_bare(memoryview(b"a:2\n"))
        assert begins_bare(memoryview(b"a:2\n"), bits=4)
        assert not begins_bare(memoryview(b""))
