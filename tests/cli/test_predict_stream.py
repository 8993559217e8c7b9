"""``novikoff predict`` with models of streams whose features are names, or hashed."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import novikoff as nv
from tests.cli.conftest import Result, inside

WORDS = ("free", "money", "hello", "meeting", "12", "naïve", "qid")
BITS = 5  # few columns: many names share one


def feature_hash(name: bytes, bits: int) -> int:
    """FNV-1a, folded to some bits: an oracle of ten lines."""
    value = 0xCBF29CE484222325
    for byte in name:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return (value >> bits ^ value) & ((1 << bits) - 1)


def documents(n: int, seed: int) -> list[tuple[str, dict[str, float]]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        words = rng.choice(WORDS, size=int(rng.integers(1, 5)), replace=False).tolist()
        values = {word: float(rng.integers(1, 40)) / 8 for word in words}
        spam = values.get("free", 0) + values.get("money", 0) > values.get("hello", 0)
        found.append(("spam" if spam else "ham", values))
    return found


def lines(rows: Sequence[tuple[str | None, dict[str, float]]]) -> str:
    """Rows of pairs; each value is written as two halves, which add up."""
    text = ""
    for label, values in rows:
        pairs = [f"{name}:{value / 2!r}" for name, value in values.items()] * 2
        text += " ".join([*([] if label is None else [label]), *pairs]) + "\n"
    return text


def learned(tmp_path: Path, text: str, *words: str, name: str = "old.txt") -> Path:
    data, model = tmp_path / name, tmp_path / "m.novikoff"
    data.write_text(text, encoding="utf-8")
    done = inside("stream", data, "--save", model, "--quiet", *words)
    assert done.code == 0, done.err
    return model


def put(tmp_path: Path, text: str | bytes, name: str = "new.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows_of(done: Result) -> list[dict[str, str]]:
    assert done.code == 0, done.err
    return list(csv.DictReader(done.out.splitlines()))


def refused(*words: str | Path, stdin: bytes = b"") -> str:
    done = inside("predict", *words, stdin=stdin)
    assert done.code == 2
    return done.err


def told(learner: nv.Perceptron, values: Mapping[str, float]) -> Hashable:
    example: dict[Hashable, float] = dict(values.items())
    return learner.predict_one(example)


def hashed_score(model: Path, features: dict[bytes, float], rule: int = 0) -> float:
    """⟨w, x⟩ + b, by the weights themselves."""
    weights = nv.load(model)
    w, b = weights.coef_[rule], weights.intercept_[rule]
    assert len(w) == 1 << BITS
    total = sum(w[feature_hash(name, BITS)] * value for name, value in features.items())
    return float(total + b)


@pytest.mark.parametrize("average", [[], ["--average"]])
def test_kept_names_as_predict_one(average: list[str], tmp_path: Path) -> None:
    rows = documents(200, 1)
    model = learned(tmp_path, lines(rows), *average)
    done = inside("predict", model, tmp_path / "old.txt", "--scores")
    found, learner = rows_of(done), nv.load(model)
    assert list(found[0]) == ["row", "prediction", "score_spam"]
    assert [int(row["row"]) for row in found] == list(range(1, 201))
    names = {name: k for k, name in enumerate(learner.feature_names_in_.tolist())}
    wrong = 0
    for row, (label, values) in zip(found, rows, strict=True):
        assert row["prediction"] == told(learner, values)
        score = sum(learner.coef_[0, names[name]] * value for name, value in values.items())
        assert float(row["score_spam"]) == pytest.approx(score + learner.intercept_[0], rel=1e-12)
        wrong += row["prediction"] != label
    assert done.err == f"novikoff: {wrong} of 200 labels differ.\n"


@pytest.mark.parametrize("labelled", [True, False])
def test_hashed_names_by_the_weights_themselves(labelled: bool, tmp_path: Path) -> None:
    model = learned(tmp_path, lines(documents(200, 1)), "--hash", str(BITS))
    rows = [*documents(300, 2), ("spam", {"never": 1.5, "seen": 2.0})]
    path = put(tmp_path, lines([(label if labelled else None, x) for label, x in rows]))
    done = inside("predict", model, path, "--scores")
    wrong = 0
    for row, (label, values) in zip(rows_of(done), rows, strict=True):
        score = hashed_score(model, {name.encode(): value for name, value in values.items()})
        assert float(row["score_spam"]) == pytest.approx(score, rel=1e-12)
        assert row["prediction"] == ("spam" if score > 0 else "ham")
        wrong += row["prediction"] != label
    assert done.err == (f"novikoff: {wrong} of 301 labels differ.\n" if labelled else "")


@pytest.mark.parametrize("multi", ["ovr", "ovo"])
def test_three_classes(multi: str, tmp_path: Path) -> None:
    rows = [(str(1 + k % 3), x) for k, (_, x) in enumerate(documents(60, 3))]
    model = learned(tmp_path, lines(rows), "--names", "--multi-class", multi)
    found = rows_of(inside("predict", model, tmp_path / "old.txt", "--scores"))
    learner = nv.load(model)
    assert list(found[0]) == ["row", "prediction", "score_1", "score_2", "score_3"]
    assert [row["prediction"] for row in found] == [str(told(learner, x)) for _, x in rows]


def test_rows_with_and_without_labels_in_one_file(tmp_path: Path) -> None:
    """Hundreds of either, so that the kernel stumbles in the middle."""
    model = learned(tmp_path, lines(documents(200, 1)), "--hash", str(BITS))
    rows = documents(600, 4)
    mixed = [(label if k % 200 < 100 else None, x) for k, (label, x) in enumerate(rows)]
    whole = inside("predict", model, put(tmp_path, lines(rows)), "--scores")
    done = inside("predict", model, put(tmp_path, lines(mixed)), "--scores")
    assert done.out == whole.out
    assert "labels are missing, or none that the model could give, in 300 of 600 rows" in done.err


def test_labels_are_anything(tmp_path: Path) -> None:
    model = learned(tmp_path, "1 a:1\n-1 b:1\n1 a:2\n")
    done = inside("predict", model, put(tmp_path, "+1 a:1\n-1.0 b:1\n7 a:1\n"))
    assert [row["prediction"] for row in rows_of(done)] == ["1", "-1", "1"]
    assert done.err == "novikoff: 1 of 3 labels differ.\n"
    for odd in ("?", "good", "0.5"):
        done = inside("predict", model, put(tmp_path, f"1 a:1\n{odd} b:1\n"))
        assert [row["prediction"] for row in rows_of(done)] == ["1", "-1"]
        assert "in 1 of 2 rows: they are not used" in done.err, odd


def test_unknown_features_are_left_out_and_counted(tmp_path: Path) -> None:
    model = learned(tmp_path, "spam a:1\nham b:1\n")
    text = "spam a:1 c:100 d:1\nham d:-5 b:2\nham zebra:1\n"
    done = inside("predict", model, put(tmp_path, text), "--scores")
    learner = nv.load(model)
    given = [{"a": 1.0}, {"b": 2.0}, {}]
    assert [r["prediction"] for r in rows_of(done)] == [told(learner, x) for x in given]
    assert float(rows_of(done)[2]["score_spam"]) == learner.intercept_[0]
    assert ('3 features that the model does not know are left out: "c", "d", "zebra"\n') in done.err


BAD_PAIRS = {
    "": "new.txt is empty.",
    "# nothing\n": "new.txt has no rows.",
    "spam a:1\nham b\n": '"b" is not of the form feature:value.',
    "spam a:1\nham b:x\n": '"b:x" has a value that is not a number.',
    "spam a:1\nham b:1e999\n": '(line 2), column "b" is infinite',
    "spam a:1\nham a:1e308 b:-1.7e308\n": "new.txt, row 2: the score is beyond the range",
    "spam a:1\n:1 b:1\n": '":1" is not of the form feature:value.',
    "spam a:1\nh\xffam b:1\n": "new.txt is not UTF-8 text: byte 0xFF at position",
    "a,b,y\n1,2,spam\n": "new.txt is not of the form label feature:value …",
}


@pytest.mark.parametrize("words", [[], ["--hash", "8"]])
@pytest.mark.parametrize("text", BAD_PAIRS, ids=range(len(BAD_PAIRS)))
def test_bad_pairs(words: list[str], text: str, tmp_path: Path) -> None:
    model = learned(tmp_path, "spam a:100\nham b:100\nspam a:1\n", *words)
    new, out = put(tmp_path, text.encode("latin-1")), tmp_path / "out.csv"
    before = sorted(tmp_path.iterdir())
    assert BAD_PAIRS[text] in refused(model, new, "--out", out)
    assert sorted(tmp_path.iterdir()) == before


def test_a_label_alone_is_a_row_of_pairs(tmp_path: Path) -> None:
    model = learned(tmp_path, "spam a:1\nham b:1\n")
    assert len(rows_of(inside("predict", model, put(tmp_path, "ham\n")))) == 1


def test_missing_values_and_row_numbers(tmp_path: Path) -> None:
    for words in ([], ["--hash", "8"]):
        model = learned(tmp_path, "1 a:1\n-1 b:1\n", "--force", *words)
        pairs = put(tmp_path, "1 a:1\n\n1 b:nan\n# nothing\n1 b:1\n")
        assert "missing" in refused(model, pairs)
        done = inside("predict", model, pairs, "--missing", "drop")
        assert [row["row"] for row in rows_of(done)] == ["1", "3"]


def test_pipes_and_gzip(tmp_path: Path) -> None:
    text = lines(documents(50, 6))
    model = learned(tmp_path, text, "--hash", "8")
    whole = inside("predict", model, tmp_path / "old.txt")
    done = inside("predict", model, "-", stdin=text.encode())
    assert (done.code, done.out, done.err) == (0, whole.out, whole.err)
    packed = put(tmp_path, gzip.compress(text.encode()), "old.txt.gz")
    assert inside("predict", model, packed).out == whole.out
    assert inside("predict", model, "-", stdin=gzip.compress(text.encode())).out == whole.out


def test_many_pieces_are_one_table(tmp_path: Path) -> None:
    """Several megabytes: numbers go on, there is one heading, and nothing is lost."""
    model = learned(tmp_path, lines(documents(200, 1)), "--hash", str(BITS))
    few = lines(documents(500, 7))
    once = rows_of(inside("predict", model, put(tmp_path, few), "--scores"))
    times = 3_000_000 // len(few)
    done = inside("predict", model, put(tmp_path, (few + "? free:nan\n") * times), "--missing=drop")
    found = rows_of(done)
    assert len(found) == 500 * times
    assert [int(row["row"]) for row in found] == [
        501 * k + j for k in range(times) for j in range(1, 501)
    ]
    assert [row["prediction"] for row in found] == [row["prediction"] for row in once] * times
    assert f"{times} rows with missing values dropped" in done.err
