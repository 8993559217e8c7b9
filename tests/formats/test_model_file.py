"""A model file restores the saved model bit for bit; every other file is rejected."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import novikoff as nv
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.errors import ModelFileError, OutputError
from novikoff.formats import model_file
from novikoff.formats.model_file import read_record
from novikoff.learners.base import linear
from novikoff.learners.saving import load, save
from tests.model_cases import (
    CORNERS,
    FITTED,
    NOISY,
    PROBE,
    THREE,
    TWO,
    Model,
    Parts,
    X,
    join,
    learn_dicts,
    parts_of,
    perceptron,
    sparse,
    written,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def same(a: object, b: object) -> bool:
    """Whether two values, perhaps nested, have the same types and bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        plain = a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind == "f":
            return plain and a.tobytes() == b.tobytes()
        return plain and bool((a == b).all())
    if isinstance(a, sp.csr_array) and isinstance(b, sp.csr_array):
        parts = ("data", "indices", "indptr")
        return a.shape == b.shape and all(same(getattr(a, p), getattr(b, p)) for p in parts)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a.hex() == b.hex()
    if is_dataclass(a) and is_dataclass(b):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b)


# These attributes are about single rows of the fit.
UNSAVED = {"update_counts_", "trace_", "period_", "random_state_"}


def shown(model: Model) -> dict[str, object]:
    """All public attributes of a fitted estimator."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in {*names} - UNSAVED if hasattr(model, name)}


def assert_same_model(again: Model, model: Model, rows: Floats | SparseMatrix) -> None:
    assert type(again) is type(model)
    before, after = shown(model), shown(again)
    assert set(after) == set(before)
    assert [name for name in before if not same(before[name], after[name])] == []
    if model.n_features_in_ == rows.shape[1]:
        assert same(again.decision_function(rows), model.decision_function(rows))
        assert same(again.predict(rows), model.predict(rows))
        for row in PROBE:
            assert again.predict_one(row) == model.predict_one(row)
            assert type(again.predict_one(row)) is type(model.predict_one(row))
    assert again.predict_one({}) == model.predict_one({})


def through_bytes(model: Model, tmp_path: Path) -> Model:
    path = tmp_path / "model.safetensors"
    path.write_bytes(written(model))
    return load(path)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", FITTED)
def test_everything_comes_back(name: str, tmp_path: Path) -> None:
    model = FITTED[name]()
    again = through_bytes(model, tmp_path)
    assert_same_model(again, model, PROBE)
    assert_same_model(again, model, sparse(PROBE))
    assert str(again.get_params()) == str(model.get_params())
    assert written(again) == written(model)


@pytest.mark.parametrize("name", ["averaged", "pocket", "margin ovr"])
def test_the_comparison_can_fail(name: str, tmp_path: Path) -> None:
    again = through_bytes(FITTED[name](), tmp_path)
    W = linear(again.model_).W
    W[0, 0] = np.nextafter(W[0, 0], np.inf)
    with pytest.raises(AssertionError):
        assert_same_model(again, FITTED[name](), PROBE)
    assert not same(0.0, -0.0)
    assert not same(np.array(["a"]), np.array(["a"], dtype="<U2"))


@pytest.mark.parametrize("classes", [["no", "yes"], ["maybe", "no", "yes"]], ids=len)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_learning_continues_after_loading(
    classes: list[str], average: bool, multi_class: str, fit_intercept: bool, tmp_path: Path
) -> None:
    one = perceptron(average=average, multi_class=multi_class, fit_intercept=fit_intercept)
    one.partial_fit(X[:20], NOISY[:20], classes)
    other = through_bytes(one, tmp_path)
    assert isinstance(other, nv.Perceptron)
    for model in (one, other):
        model.partial_fit(X[20:30], NOISY[20:30])
        for row, label in zip(X[30:], NOISY[30:], strict=True):
            model.learn_one(row, label)
    assert_same_model(other, one, PROBE)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"], ids=str)
@pytest.mark.parametrize("n", [0, 7, 30], ids=str)
def test_a_growing_stream_continues_after_loading(n: Any, multi_class: Any, tmp_path: Path) -> None:
    model = perceptron(multi_class=multi_class).learn_one({"w0": 1.0}, "a")
    one = learn_dicts(model, n)
    other = through_bytes(one, tmp_path)
    assert isinstance(other, nv.Perceptron)
    for model in (one, other):
        learn_dicts(model, 40)
        model.learn_one({"new": 2.0}, "zebra")
    assert_same_model(other, one, PROBE)
    assert other.classes_.tolist()[-1] == "zebra"
    assert other.feature_names_in_.tolist() == one.feature_names_in_.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"order": nv.orders.Blocks(size=7)},
        {"order": nv.orders.Random()},
        {"order": nv.orders.MaxDistance()},
        {"order": nv.orders.Cyclic(), "step_size": 0.1, "threshold": 1},
        {"class_weight": {"no": 2, "yes": 0.5}},
        {"class_weight": "balanced", "max_seconds": 1e6, "n_jobs": 2},
        {"max_epochs": np.int64(3), "step_size": np.float64(0.3), "fit_intercept": np.bool_(True)},
        {"warm_start": True},
        {"order": nv.orders.Random(p=np.arange(1.0, 41.0))},
    ],
    ids=str,
)
def test_parameters_come_back(options: dict[str, Any], tmp_path: Path) -> None:
    model = perceptron(**options).fit(X, NOISY)
    again = through_bytes(model, tmp_path)
    before, after = model.get_params(), again.get_params()
    assert all(np.all(before[name] == after[name]) for name in before if name != "order")
    assert repr(after["order"]) == repr(before["order"])
    assert_same_model(again.fit(X, NOISY), model.fit(X, NOISY), PROBE)


def test_weights_of_numbered_classes_come_back_and_a_random_state_does_not(tmp_path: Path) -> None:
    weights, state = {10: 2.0, 20: 1, 30: 0.25}, np.random.RandomState(0)
    model = perceptron(class_weight=weights, random_state=state).fit(CORNERS, THREE)
    assert through_bytes(model, tmp_path).get_params() == model.get_params() | {
        "random_state": None
    }


def looped() -> list[object]:
    loop: list[object] = []
    loop.append(loop)
    return loop


# A model, other fields of the record, and the error message.
UNSAVEABLE: dict[str, tuple[Callable[[], object], dict[str, object], str]] = {
    "unfitted": (nv.Pocket, {}, "The Pocket cannot be saved: it is not fitted."),
    "pipeline": (
        lambda: make_pipeline(StandardScaler(), nv.Perceptron()),
        {},
        "A Pipeline cannot be saved",
    ),
    "chaotic": (
        lambda: perceptron(order=nv.orders.Chaotic(cycle(range(40)), window=40)).fit(X, TWO),
        {},
        "parameter 'order' is a Chaotic",
    ),
    "fraction": (
        lambda: perceptron().fit(X, TWO).set_params(step_size=Fraction(1, 3)),
        {},
        "parameter 'step_size' is 1/3",
    ),
    "bytes": (lambda: perceptron().learn_one([1.0], b"a"), {}, "the class b'a' is"),
    "tuple": (lambda: perceptron().learn_one({("a", 1): 1.0}, "x"), {}, r"feature \('a', 1\)"),
    "nan": (FITTED["two"], {"data": {"rows": [1, np.nan]}}, r"data\['rows'\]\[1\] is nan"),
    "key": (FITTED["two"], {"data": {1: 2}}, "data has the key 1, which is not a string"),
    "object": (FITTED["two"], {"preprocessing": {"by": object()}}, r"\['by'\] is "),
    "deep": (FITTED["two"], {"certificate": {"loop": looped()}}, "nested more than 64 deep"),
    "list": (FITTED["two"], {"certificate": [1]}, "certificate is of type list, not a mapping"),
    "long": (FITTED["two"], {"data": {"n": 1 << 10_000}}, "is an integer of 10001 bits"),
}


@pytest.mark.parametrize("case", UNSAVEABLE)
def test_what_a_file_cannot_hold_is_rejected(case: str, tmp_path: Path) -> None:
    make, extras, message = UNSAVEABLE[case]
    path = tmp_path / "model"
    preprocessing, data, certificate = (
        cast("dict[str, object] | None", extras.get(word))
        for word in ("preprocessing", "data", "certificate")
    )
    model = cast(Model, make())
    with pytest.raises(ModelFileError, match=message) as raised:
        save(model, path, preprocessing=preprocessing, data=data, certificate=certificate)
    assert str(raised.value).endswith(".")
    assert not path.exists()


def test_extras_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "model"
    preprocessing = {"scale": [1.5, 2.0], "columns": ["a", "ü", "\ud800"], "none": None}
    data = {"source": "rows.csv", "rows": 40, "shape": (40, 3), "mean": np.float64(0.1)}
    model = FITTED["margin"]()
    assert isinstance(model, nv.MaxMargin)
    assert isinstance(model.verdict_, nv.Verdict)
    assert model.verdict_.certificate is not None
    proof: dict[str, object] = json.loads(model.verdict_.certificate.to_json())
    save(model, path, preprocessing=preprocessing, data=data, certificate=proof)
    with pytest.raises(OutputError, match="already exists; force=True replaces it"):
        save(FITTED["ovr"](), path, force=False)
    saved = read_record(path)
    assert saved.preprocessing == preprocessing
    assert saved.data == {"source": "rows.csv", "rows": 40, "shape": [40, 3], "mean": 0.1}
    assert saved.certificate == proof
    nv.Certificate.from_json(json.dumps(saved.certificate)).verify(X, TWO)
    assert saved.estimator == "MaxMargin"
    assert saved.program == f"novikoff {nv.__version__}"
    assert_same_model(load(path), model, PROBE)


def refusal(content: bytes, tmp_path: Path) -> str:
    path = tmp_path / "bad.model"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as raised:
        load(path)
    message = str(raised.value)
    assert message.startswith(f"{path} cannot be read as a model: ")
    assert message.endswith(".")
    assert "\n" not in message
    return message


@cache
def saved(name: str) -> bytes:
    return written(FITTED[name]())


# The model, the change in its file, and the error message.
EDITS: dict[str, tuple[str, Callable[[Parts], object], str]] = {
    "another": ("two", lambda p: p.edit("", schema_version=2), "reads version 1: fit the model"),
    "newer": ("two", lambda p: p.edit("", schema_version=7), "format version 7"),
    "old parameter": ("two", lambda p: p.edit("parameters", margin=1.0), "parameter 'margin'"),
    "version true": ("two", lambda p: p.edit("", schema_version=True), "format version"),
    "no version": ("two", lambda p: p.header.pop("schema_version"), "no field 'schema_version'"),
    "estimator": ("two", lambda p: p.edit("", estimator="os.system"), "not one of"),
    "another estimator": ("two", lambda p: p.edit("", estimator="Pocket"), "Invalid parameter"),
    "unknown field": ("two", lambda p: p.edit("", more=1), "unknown field 'more'"),
    "extras": ("two", lambda p: p.edit("", data=[1]), "'data'"),
    "unknown parameter": ("two", lambda p: p.edit("parameters", more=1), "'more'"),
    "bad parameter": (
        "two",
        lambda p: p.edit("parameters", step_size=-1.0),
        "'step_size' parameter",
    ),
    "typed parameter": ("two", lambda p: p.edit("parameters", max_epochs="9"), "'max_epochs'"),
    "order": ("two", lambda p: p.edit("parameters", order={"order": "Chaotic"}), "unknown order"),
    "blocks": ("two", lambda p: p.edit("parameters", order={"order": "Blocks", "size": 0}), "size"),
    "threads": ("two", lambda p: p.edit("parameters", n_jobs=10**6), "'n_jobs'"),
    "no class": ("two", lambda p: p.edit("model.classes", values=[]), "no classes"),
    "same classes": ("two", lambda p: p.edit("model.classes", values=["a", "a"]), "distinct"),
    "unsorted": ("two", lambda p: p.edit("model.classes", values=["yes", "no"]), "sorted and"),
    "null class": ("two", lambda p: p.edit("model.classes", values=[None, "no"]), "all of type"),
    "three classes": ("two", lambda p: p.edit("model.classes", values=["a", "b", "c"]), "shape"),
    "wide": ("two", lambda p: p.edit("model.classes", values=["a" * 2**24, "b"]), "characters"),
    "class type": ("uint8", lambda p: p.edit("model.classes", values=[0, 300]), "type uint8"),
    "class kind": ("uint8", lambda p: p.edit("model.classes", type="complex128"), "'type'"),
    "class float": ("float32", lambda p: p.edit("model.classes", values=[0.0, 0.1]), "no float32"),
    "many classes": (
        "ovr",
        lambda p: p.edit("model.classes", type="int64", values=list(range(50_000))),
        "too many",
    ),
    "names": ("frame", lambda p: p.edit("", names=["a"]), "list of 3 names"),
    "names twice": ("mixed features", lambda p: p.edit("", names=[0, 1, "a", 0]), "same name"),
    "named by a list": ("frame", lambda p: p.edit("", names=["a", "b", []]), "neither text nor"),
    "intercept": ("noisy", lambda p: p.edit("model", fit_intercept=False), "not zero"),
    "radius": ("two", lambda p: p.edit("model", radius=-1), "radius"),
    "certificate": ("pocket", lambda p: p.edit("fitted", certificates=["{}"]), "a certificate in"),
    "more proofs": ("margin", lambda p: p.edit("fitted", certificates=[]), "0 certificates"),
    "other classes": (
        "pocket",
        lambda p: p.edit("model.classes", values=["maybe", "yes"]),
        "other classes",
    ),
    "fewer errors than proved": ("pocket", lambda p: p.edit("fitted", n_errors=[0]), "fewer"),
    "negative errors": ("pocket", lambda p: p.edit("fitted", n_errors=[-1]), "not 1 numbers"),
    "endless errors": ("pocket", lambda p: p.edit("fitted", n_errors=[10**400]), "not 1 numbers"),
    "too many errors": ("pocket", lambda p: p.edit("fitted", n_errors=[1, 2]), "not 1 numbers"),
    "nan weights": ("two", lambda p: p.put("weights", (0, 0), np.nan), "NaN or infinity"),
    "float32 weights": ("two", lambda p: p.retype("weights", np.float32), "type float32"),
    "flat weights": ("two", lambda p: p.reshape("weights", (4,)), "shape"),
    "no weights": ("two", lambda p: p.tensors.pop("weights"), "no tensor 'weights'"),
    "averages": ("two", lambda p: p.tensors.update(weighted=np.zeros((5, 1))), "shape"),
    "more tensors": ("two", lambda p: p.tensors.update(more=np.zeros(3)), "unknown tensor 'more'"),
    "more arrays": ("two", lambda p: p.tensors.update({"fitted.more": np.zeros(3)}), "more"),
    "negative totals": ("two", lambda p: p.put("totals", (1, 0), -1), "numbers that are not"),
    "totals": ("two", lambda p: p.put("totals", (2, 0), 10**6), "more mistakes"),
    "short dual": ("margin", lambda p: p.tensors.update({"fitted.dual.0": np.zeros(1)}), "shape"),
}


@pytest.mark.parametrize("case", EDITS)
def test_a_file_with_a_wrong_field_is_rejected(case: str, tmp_path: Path) -> None:
    model, change, message = EDITS[case]
    path = tmp_path / "as it was"
    parts = parts_of(saved(model))
    path.write_bytes(join(parts))
    load(path)  # so the rejection is due to the change
    change(parts)
    assert message in refusal(join(parts), tmp_path)


def test_what_a_model_says_of_its_proofs_follows_from_them(tmp_path: Path) -> None:
    """A file cannot claim a bound, an optimum or a margin that its certificate does not prove."""
    parts = parts_of(written(FITTED["pocket"]()))
    assert set(cast("dict[str, object]", parts.header["fitted"])) == {"n_errors", "certificates"}
    pocket, margin = (through_bytes(FITTED[name](), tmp_path) for name in ("pocket", "margin"))
    assert isinstance(pocket, nv.Pocket)
    assert isinstance(pocket.certificate_, nv.ErrorBound)
    pocket.certificate_.verify(X, NOISY)
    assert isinstance(margin, nv.MaxMargin)
    verdict = margin.verdict_
    assert isinstance(verdict, nv.Verdict)
    assert verdict.certificate is not None
    assert verdict.certificate.margin is not None
    verdict.certificate.verify(X, TWO)
    assert verdict.margin.lo == verdict.certificate.margin.lo


def raw(header: bytes, tail: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header)) + header + tail


def in_header(text: str) -> bytes:
    entry = f'{text[:-1]}, "checksum": "{model_file.header_checksum(text, {})}"}}'
    return raw(json.dumps({"__metadata__": {"novikoff": entry}}).encode())


BAD_BYTES = {
    "empty": (b"", "not a safetensors file"),
    "short": (b"\x01\x02", "not a safetensors file"),
    "text": (b"estimator: Perceptron\n", "not a safetensors file"),
    "pickle": (
        b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07boo.",
        "not a safetensors file",
    ),
    "huge length": (struct.pack("<Q", 2**63) + b"{}", "not a safetensors file"),
    "other safetensors": (raw(b"{}"), "not one of novikoff's"),
    "other metadata": (raw(b'{"__metadata__":{"format":"np"}}'), "not one of novikoff's"),
    "half": (
        raw(b'{"w":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}', b"\0" * 8),
        "not whole",
    ),
    "bfloat": (
        raw(b'{"w":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}', b"\0\0"),
        "safetensors",
    ),
    "not JSON": (in_header("{,}"), "is not JSON"),
    "NaN": (in_header('{"a": NaN}'), "has NaN"),
    "infinity": (in_header('{"a": -Infinity}'), "has -Infinity"),
    "beyond": (in_header('{"a": 1e999}'), "beyond float64"),
    "long integer": (in_header('{"a": ' + "9" * 5000 + "}"), "digits"),
    "twice": (in_header('{"a": 1, "a": 1}'), "the key 'a' twice"),
    "deep objects": (in_header('{"a":' * 100_000 + "1" + "}" * 100_000), "is not JSON"),
}


@pytest.mark.parametrize("name", BAD_BYTES)
def test_what_is_no_model_is_rejected(name: str, tmp_path: Path) -> None:
    content, message = BAD_BYTES[name]
    assert message in refusal(content, tmp_path), name
    renamed = saved("two").replace(b"Perceptron", b"Perceptrom")
    assert "its checksum does not match" in refusal(renamed, tmp_path)


def test_the_size_is_looked_at_first(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(2**33 + 1)  # a sparse file, which takes no space on the disk
    with pytest.raises(ModelFileError, match="larger than"):
        load(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere")


def test_a_header_that_would_be_too_long_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_file, "MAX_HEADER_BYTES", 100)
    with pytest.raises(ModelFileError, match="header would be longer"):
        save(FITTED["two"](), tmp_path / "model")
