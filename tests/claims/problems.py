"""Random problems of every difficult kind, small enough for exact oracles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.separability_oracle import Point, signed_rows

Vector = npt.NDArray[np.float64]
Generator = np.random.Generator

# How the numbers of a table are drawn. Squares of those of EXTREME are beyond floats.
TAME = ("integers", "floats", "tenths", "two values")
EXTREME = ("subnormal", "huge", "uneven columns", "uneven rows")


class Shown:
    """Problems are printed in full: a failure can be copied from the output."""

    def __repr__(self) -> str:
        parts = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        shown = (f"{name}={_plain(value)!r}" for name, value in parts)
        return f"{type(self).__name__}({', '.join(shown)})"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


@dataclass(frozen=True, repr=False)
class Labelled(Shown):
    """Rows with labels, and the other arguments of a learner."""

    X: Vector
    y: npt.NDArray[Any]
    bias: bool
    weights: Vector | None
    seed: int

    @property
    def classes(self) -> list[Any]:
        return sorted(set(self.y.tolist()))

    def rows(self, positive: Any = None) -> list[Point]:
        """The rows a_i = ±[x_i, 1] for a class against all others."""
        plus = self.classes[-1] if positive is None else positive
        return signed_rows(self.X, np.where(self.y == plus, 1, -1).tolist(), self.bias)


def table(rng: Generator, n: int, d: int, style: str) -> Vector:
    """Numbers of a style, with aliased, constant and zero columns, equal rows and rows of zeros."""
    whole = rng.integers(-3, 4, (n, d)).astype(np.float64)
    X = {
        "integers": lambda: whole,
        "floats": lambda: rng.normal(size=(n, d)),
        "tenths": lambda: rng.integers(-9, 10, (n, d)) / 10,
        "two values": lambda: rng.integers(0, 2, (n, d)).astype(np.float64),
        "subnormal": lambda: whole * 5e-324,
        "huge": lambda: whole * 1e300,
        "uneven columns": lambda: whole * 10.0 ** rng.choice([-320, -100, 0, 100, 200, 300], d),
        "uneven rows": lambda: whole * 10.0 ** rng.choice([-320, -100, 0, 100, 300], (n, 1)),
    }[style]()
    change = rng.choice(["none", "none", "alias", "sum", "constant", "equal rows", "zero rows"])
    if change == "alias" and d > 1:
        X[:, -1] = rng.choice([1.0, -2.0, 0.5]) * X[:, 0]
    elif change == "sum" and d > 2:
        X[:, -1] = X[:, 0] + X[:, 1]
    elif change == "constant":
        X[:, -1] = rng.choice([0.0, 1.0, 3.0])
    elif change == "equal rows":
        X[: n // 2] = X[n // 2 : n // 2 + n // 2]
    elif change == "zero rows":
        X[rng.random(n) < 0.3] = 0.0
    return X


def labelled(
    rng: Generator,
    *,
    styles: tuple[str, ...] = TAME + EXTREME,
    most_classes: int = 2,
    weighted: bool = False,
    most_rows: int = 8,
    most_columns: int = 3,
) -> Labelled:
    """Labels by a rule, by a rule with noise, or by chance; each class has a row."""
    k = int(rng.integers(2, most_classes + 1))
    n, d = int(rng.integers(k, most_rows + 1)), int(rng.integers(1, most_columns + 1))
    X = table(rng, n, d, str(rng.choice(styles)))
    codes = rng.integers(0, k, n)
    how = rng.choice(["rule", "noise", "chance"])
    if how != "chance":
        size = np.abs(X).max() or 1.0
        scores = (X / size) @ rng.normal(size=(d, k)) + rng.normal(size=k) / 2
        codes = scores.argmax(axis=1)
        if how == "noise":
            codes = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), codes)
    codes[:k] = rng.permutation(k)
    names = np.array(["b", "a", "c", "d"] if rng.random() < 0.3 else [0, 1, 2, 3])
    weights = None
    if weighted and rng.random() < 0.5:
        weights = rng.choice([0.0, 0.1, 0.5, 1.0, 1.0, 2.0, 3.0], n)
        weights[0] = 1.0
    return Labelled(X, names[codes], bool(rng.random() < 0.6), weights, int(rng.integers(1 << 30)))


def tame(**more: Any) -> Callable[[Generator], Labelled]:
    """Labelled rows whose sums and products floats hold nearly or exactly."""
    return partial(labelled, styles=TAME, **more)


@dataclass(frozen=True, repr=False)
class System(Shown):
    """A w ≤ c, equalities and bounds; None where there are none."""

    A: Vector | None
    c: Vector | None
    A_eq: Vector | None
    c_eq: Vector | None
    lower: Vector | None
    upper: Vector | None
    strict: npt.NDArray[np.bool_] | None
    keep: list[int] | None
    objective: Vector
    maximise: bool
    point: str

    @property
    def arrays(self) -> dict[str, Any]:
        """The arguments of `solve`, of its verifier too."""
        return {
            "A": self.A, "c": self.c, "A_eq": self.A_eq, "c_eq": self.c_eq, "lower": self.lower,
            "upper": self.upper, "strict": False if self.strict is None else self.strict,
        }  # fmt: skip


SYSTEMS = ("integers", "integers", "tenths", "floats")


def system(
    rng: Generator, *, strict: bool = True, styles: tuple[str, ...] = SYSTEMS + EXTREME
) -> System:
    """Few rows: feasible, a single point, or barely contradictory; sometimes rows of zeros."""
    p, n, m = int(rng.integers(1, 4)), int(rng.integers(0, 6)), int(rng.choice([0, 0, 0, 1, 2]))
    n = n or 1 - min(m, 1)
    rows, z = (
        table(rng, n + m, p, str(rng.choice(styles))),
        rng.integers(-2, 3, p).astype(np.float64),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        right = rows @ z
    how = rng.choice(["point", "near", "chance", "homogeneous"])
    if how == "near":
        right = right + rng.choice([-1.0, 0.0, 1.0, 2.0**-50], n + m) * rng.choice([1.0, 1e-9])
    elif how == "chance":
        size = float(rng.choice([1.0, float(np.abs(rows).max()) or 1.0]))
        right = rng.integers(-3, 4, n + m).astype(np.float64) * size
    elif how == "homogeneous":
        right = np.zeros(n + m)
    right = np.nan_to_num(right, nan=0.0, posinf=1e308, neginf=-1e308)
    low = np.where(rng.random(p) < 0.3, rng.integers(-3, 3, p), -np.inf)
    high = np.where(rng.random(p) < 0.3, rng.integers(-2, 4, p), np.inf)
    bounded = rng.random() < 0.5
    return System(
        A=rows[:n] if n else None,
        c=right[:n] if n else None,
        A_eq=rows[n:] if m else None,
        c_eq=right[n:] if m else None,
        lower=low if bounded else None,
        upper=high if bounded and rng.random() < 0.7 else None,
        strict=rng.random(n) < 0.3 if strict and n and rng.random() < 0.3 else None,
        keep=[int(i) for i in range(n) if rng.random() < 0.3] if rng.random() < 0.2 else None,
        objective=rng.integers(-3, 4, p).astype(np.float64),
        maximise=bool(rng.random() < 0.5),
        point=str(rng.choice(["any", "any", "nearest", "interior", "chebyshev"])),
    )


def exactly(values: npt.ArrayLike) -> list[Fraction]:
    """Floats as exact fractions."""
    return [Fraction(value) for value in np.asarray(values, dtype=np.float64).tolist()]
