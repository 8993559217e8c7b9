"""Fitted estimators of every kind, and model files taken apart, for the tests to share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from safetensors.numpy import load, save

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.formats.model_file import CHECKSUM_MARK, dump_record, header_checksum
from novikoff.learners.online import OnlineLearner
from novikoff.learners.saving import to_record

Model: TypeAlias = OnlineLearner | nv.Pocket | nv.MaxMargin
Learner = TypeVar("Learner", bound=OnlineLearner)
Labels: TypeAlias = npt.NDArray[np.generic]

RNG = np.random.default_rng(7)
X: Vector = np.round(RNG.normal(size=(40, 3)), 3)
PROBE: Vector = np.vstack([RNG.normal(size=(25, 3)), np.zeros((1, 3)), X])
TWO: Labels = np.where(X @ [1.0, -2.0, 0.5] + 0.3 > 0.0, "yes", "no")
NOISY: Labels = np.where(RNG.random(40) < 0.2, "no", TWO)
# Three classes, each of which a hyperplane separates from the rest, and from each other.
CORNERS: Vector = np.vstack([X[:12] * 0.1 + corner for corner in 3.0 * np.eye(3)])
THREE: Labels = np.repeat([10, 20, 30], 12)


def written(model: Model) -> bytes:
    """The file of a model."""
    return dump_record(to_record(model))


def sparse(rows: Vector) -> sp.csr_array:
    return sp.csr_array(np.where(np.abs(rows) < 0.3, 0.0, rows))


def perceptron(**options: object) -> nv.Perceptron:
    model = nv.Perceptron(max_epochs=20, random_state=0)
    model.set_params(**options)
    return model


def learn_dicts(model: Learner, n: int) -> Learner:
    """A stream of dicts whose features and classes appear as it goes."""
    rng = np.random.default_rng(n)
    for k in range(n):
        words = rng.choice(6 + k // 4, size=3, replace=False)
        label = "abc"[int(words.sum()) % min(3, 1 + k // 5)]
        model.learn_one({f"w{word}": float(rng.integers(1, 4)) for word in words}, label)
    return model


def mixed_features() -> nv.Perceptron:
    model = perceptron().learn_one(np.array([1.0, 2.0]), 1)
    return model.learn_one({"late": 3.0, 0: -1.0, 2.5: 1.0}, 0)


FITTED: dict[str, Callable[[], Model]] = {
    "two": lambda: perceptron().fit(X, TWO),
    "noisy": lambda: perceptron().fit(X, NOISY),
    "averaged": lambda: perceptron(average=True).fit(X, NOISY),
    "averaged sparse": lambda: perceptron(average=True).fit(sparse(X), NOISY),
    "ovr": lambda: perceptron().fit(CORNERS, THREE),
    "ovo averaged": lambda: perceptron(multi_class="ovo", average=True).fit(CORNERS, THREE),
    "traced ovr": lambda: perceptron(trace=True).fit(CORNERS, THREE),
    "frame": lambda: perceptron().fit(pd.DataFrame(X, columns=["a", "b", "c"]), TWO),
    "bools": lambda: perceptron().fit(X, TWO == "yes"),
    "floats": lambda: perceptron().fit(X, np.where(TWO == "yes", -0.0, 2.0)),
    "float32": lambda: perceptron().fit(X.astype(np.float32), (TWO == "yes").astype(np.float32)),
    "uint8": lambda: perceptron().fit(X, (TWO == "yes").astype(np.uint8)),
    "objects": lambda: perceptron().fit(X, TWO.astype(object)),
    "partial": lambda: perceptron().partial_fit(X, TWO, classes=["maybe", "no", "yes"]),
    "fit, then one": lambda: perceptron().fit(X, NOISY).learn_one(-X[0], NOISY[0]),
    "one class": lambda: perceptron().learn_one([1.0, 2.0, 3.0], "only"),
    "no features": lambda: perceptron().learn_one({}, "only"),
    "dicts": lambda: learn_dicts(perceptron(), 30),
    "mixed features": mixed_features,
    "pa": lambda: nv.PassiveAggressive(variant="PA-II", C=0.1, max_epochs=5).fit(X, NOISY),
    "p norm": lambda: nv.PNormPerceptron(3.5, max_epochs=5).fit(CORNERS, THREE),
    "second order": lambda: nv.SecondOrderPerceptron(0.5, max_epochs=5).fit(X, NOISY),
    "kernel": lambda: nv.KernelPerceptron("poly", average=True).fit(X, NOISY),
    "kernel sparse": lambda: nv.KernelPerceptron(average=True).fit(sparse(CORNERS), THREE),
    "kernel given": lambda: nv.KernelPerceptron("precomputed").fit(X @ X.T + 1.0, TWO),
    "forgetron": lambda: nv.Forgetron(7, max_epochs=3).fit(CORNERS, THREE),
    "forgetron dicts": lambda: learn_dicts(nv.Forgetron(5, gamma=0.2), 30),
    "pocket": lambda: nv.Pocket(max_updates=100, random_state=0, refine=False).fit(X, NOISY),
    "pocket separable": lambda: nv.Pocket(max_updates=100, random_state=0).fit(X, TWO),
    # No rule is better, and the sum of its costs is no float.
    "pocket costs": lambda: nv.Pocket(max_updates=50, refine=False, random_state=0).fit(
        0.0 * X, np.arange(40) % 2, sample_weight=np.tile([0.1, 9.0], 20)
    ),
    "pocket ovr": lambda: nv.Pocket(max_updates=50, refine=False, random_state=0).fit(
        X, np.arange(40) % 3
    ),
    "margin": lambda: nv.MaxMargin().fit(X, TWO),
    "margin padded": lambda: nv.MaxMargin("padded", tol=1e-6).fit(X, TWO),
    "margin ovr": lambda: nv.MaxMargin().fit(CORNERS, THREE),
    "margin ovo": lambda: nv.MaxMargin(multi_class="ovo").fit(sparse(CORNERS), THREE),
}


Body = dict[str, object]


@dataclass
class Parts:
    """A model file taken apart, so that it can be changed."""

    header: Body
    tensors: dict[str, npt.NDArray[np.generic]]

    def edit(self, path: str, **changes: object) -> None:
        """Change fields of an object in the header, for instance of "model.classes"."""
        body = self.header
        for name in path.split(".") if path else []:
            body = cast(Body, body[name])
        body.update(changes)

    def retype(self, name: str, kind: type) -> None:
        self.tensors[name] = self.tensors[name].astype(kind)

    def reshape(self, name: str, shape: tuple[int, ...]) -> None:
        self.tensors[name] = self.tensors[name].reshape(shape)

    def put(self, name: str, place: int | tuple[int, int] | slice, value: float) -> None:
        cast(Vector, self.tensors[name])[place] = value


def parts_of(content: bytes) -> Parts:
    length = int.from_bytes(content[:8], "little")
    text: str = json.loads(content[8 : 8 + length])["__metadata__"]["novikoff"]
    header = json.loads(text.rpartition(CHECKSUM_MARK)[0] + "}")
    return Parts(header, {name: array.copy() for name, array in load(content).items()})


def join(parts: Parts) -> bytes:
    """The file of changed parts, with its checksum made anew, as anyone can."""
    tensors = {name: np.ascontiguousarray(array) for name, array in parts.tensors.items()}
    text = json.dumps(parts.header)
    return save(
        tensors, {"novikoff": f'{text[:-1]}{CHECKSUM_MARK}{header_checksum(text, tensors)}"}}'}
    )
