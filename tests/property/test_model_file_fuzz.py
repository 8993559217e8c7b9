"""A model file that was changed in any way is rejected with an error, or is still valid."""

from __future__ import annotations

import copy
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from novikoff.errors import ModelFileError
from novikoff.learners.base import linear
from novikoff.learners.saving import load
from tests.cases import case_named
from tests.model_cases import FITTED, Model, Parts, join, parts_of, written

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

NAMES = list(FITTED)
CONTENTS: dict[str, bytes] = {}


fuzz = settings(max_examples=100, suppress_health_check=list(HealthCheck))
names = st.sampled_from(NAMES)
draws = st.randoms(use_true_random=False)


def content_of(name: str) -> bytes:
    """The file of a model, which is fitted once."""
    if name not in CONTENTS:
        CONTENTS[name] = written(FITTED[name]())
    return CONTENTS[name]


def loaded(content: bytes, folder: Path) -> Model | None:
    """The model in a file, or None if the file is rejected."""
    path = folder / "model"
    path.write_bytes(content)
    try:
        return load(path)
    except ModelFileError as error:
        message = str(error)
        assert message.startswith(f"{path} cannot be read as a model: ")
        assert message.endswith(".")
        return None


def check_soundness(model: Model | None) -> None:
    """Check that weights are finite, shapes agree, and the model predicts and can be saved."""
    if model is None:
        return
    labels = model.classes_.tolist()
    assert all(a < b for a, b in pairwise(labels))
    n_rules = model.model_.n_rules
    if hasattr(model, "coef_"):
        assert model.coef_.shape == (n_rules, model.n_features_in_)
        assert model.intercept_.shape == (n_rules,)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
    if model.n_features_in_ > 0:
        assert set(model.predict(np.zeros((2, model.n_features_in_)))) <= set(labels)
    assert model.predict_one({}) in labels
    for name in dir(model):  # every public attribute has a value, or does not apply to the model
        if name.endswith("_") and not name.startswith("_"):
            hasattr(model, name)
    assert len(written(model)) > 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@fuzz
@given(names, st.integers(0, 10**9), st.integers(1, 255))
def test_a_flipped_byte(folder: Path, name: str, place: int, flip: int) -> None:
    content = bytearray(content_of(name))
    content[place % len(content)] ^= flip
    model = loaded(bytes(content), folder)
    if model is not None:  # the change was in white space after the table of tensors
        assert written(model) == content_of(name)


@fuzz
@given(names, st.integers(0, 10**9), st.binary(max_size=20), draws)
def test_cut_and_pasted_bytes(
    folder: Path, name: str, place: int, more: bytes, random: Random
) -> None:
    content = content_of(name)
    at, to = sorted((place % len(content), int(random.random() * len(content))))
    for changed in (
        content[:at],
        content[at:],
        content + more,
        content[:at] + more + content[at:],
        content[:at] + content[to:],
        content[:at] + content[to:] + content[at:to],
    ):
        with case_named(len(changed)):
            model = loaded(changed, folder)
            assert model is None or written(model) == content


@fuzz
@given(names, draws)
def test_changed_tensors(folder: Path, name: str, random: Random) -> None:
    parts = parts_of(content_of(name))
    for _ in range(random.randint(1, 2)):
        one, other = random.choices(sorted(parts.tensors), k=2)
        array = parts.tensors[one]
        flat = np.frombuffer(array.tobytes(), dtype=np.uint8).copy()
        if flat.size > 0:
            flat[random.randrange(flat.size)] ^= np.uint8(random.randint(1, 255))
        with np.errstate(all="ignore"):
            changes = [
                parts.tensors[other],
                np.frombuffer(flat.tobytes(), array.dtype).reshape(array.shape),
                np.full_like(array, random.choice([0, -1, 1, 2**31 - 1, -(2**31)])),
                array[: random.randint(0, len(array))],
                array.T,
                array.astype(random.choice([np.float32, np.int32, np.uint8, np.bool_, np.float64])),
            ]
        parts.tensors[one] = random.choice(changes)
        if random.random() < 0.1:
            del parts.tensors[one]
    check_soundness(loaded(join(parts), folder))


@pytest.mark.parametrize("name", FITTED)
def test_tensors_of_other_shapes(folder: Path, name: str) -> None:
    """Every tensor with every axis shortened, lengthened, emptied, added or removed."""
    for tensor, array in parts_of(content_of(name)).tensors.items():
        shape = array.shape
        shapes = {(), (0,), (1,), (*shape, 1), (*shape, 0), (0,) * len(shape), shape[1:]}
        for axis, length in enumerate(shape):
            for other in {0, 1, 2, length - 1, length + 1} - {-1}:
                shapes.add((*shape[:axis], other, *shape[axis + 1 :]))
        for wrong in shapes - {shape}:
            parts = parts_of(content_of(name))
            parts.tensors[tensor] = np.resize(array, wrong).astype(array.dtype)
            with case_named((tensor, wrong)):
                check_soundness(loaded(join(parts), folder))


VALUES: list[object] = [
    *(None, True, False, 0, 1, -1, 2, 3, 2**31, 2**53, 2**63, 2**64, 10**400, 0.5, 1e300),
    *("", "a", "ovr", "ovo", "binary", "dense", "sparse", "nan", "Pocket", "\ud800", "\0"),
    *([], {}, [1, 2], ["a", "b"], [[]], {"float": "0x0.0p+0"}, {"float": "inf"}),
    *({"float": "nan"}, {"float": "0x1.fffffffffffffp+1023"}, {"order": "Random", "p": []}),
]


Place = tuple["dict[str, object] | list[object]", "str | int"]


def places_in(body: object) -> list[Place]:
    """Every place in a header, as its container and its key there."""
    found: list[Place] = []
    if isinstance(body, dict):
        for key, value in body.items():
            found += [(body, key), *places_in(value)]
    elif isinstance(body, list):
        for k, value in enumerate(body):
            found += [(body, k), *places_in(value)]
    return found


@settings(fuzz, max_examples=200)
@given(names, draws)
def test_changed_headers(folder: Path, name: str, random: Random) -> None:
    parts = parts_of(content_of(name))
    for _ in range(random.randint(1, 2)):
        places = places_in(parts.header)
        (where, key), (source, other) = random.choices(places, k=2)
        holder = cast("dict[str | int, object]", where)
        kind = random.randrange(6)
        if kind == 0:
            holder.pop(key)
        elif kind == 1:
            holder[key] = copy.deepcopy(cast("dict[str | int, object]", source)[other])
        elif kind == 2 and isinstance(where, dict):
            holder["more"] = holder[key]
        else:
            holder[key] = copy.deepcopy(random.choice(VALUES))
    check_soundness(loaded(join(parts), folder))


BOMBS: dict[str, Callable[[Parts], object]] = {
    "classes": lambda p: p.edit("model.classes", type="int64", values=list(range(30_000))),
    "long classes": lambda p: p.edit(
        "model.classes", values=["a" * 2**20, *map(chr, range(98, 122))]
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("name", ["two", "ovo averaged", "averaged sparse"])
def test_little_memory_is_taken(bomb: str, name: str, folder: Path) -> None:
    parts = parts_of(content_of(name))
    BOMBS[bomb](parts)
    content = join(parts)
    tracemalloc.start()
    try:
        model = loaded(content, folder)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100_000_000
    check_soundness(model)


def test_the_check_can_fail(folder: Path) -> None:
    model = loaded(content_of("two"), folder)
    assert model is not None
    check_soundness(model)
    linear(model.model_).W[0, 0] = np.inf
    with pytest.raises(AssertionError):
        check_soundness(model)
