"""Activation functions and their derivatives (A12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from novikoff.core.rows import Vector


class Activation(NamedTuple):
    """A function of a neuron's weighted sum z, and its derivative; NaN where there is none.

    Examples
    --------
    >>> ACTIVATIONS["threshold"].function(np.array([-0.5, 0.0, 2.0])).tolist()
    [0.0, 1.0, 1.0]
    >>> ACTIVATIONS["ramp"].derivative(np.array([-0.5, 0.0, 0.5, 2.0])).tolist()
    [0.0, nan, 1.0, 0.0]
    """

    function: Callable[[Vector], Vector]
    derivative: Callable[[Vector], Vector]


def _threshold_slope(z: Vector) -> Vector:
    return np.where(z == 0.0, np.nan, 0.0)


def _ramp_slope(z: Vector) -> Vector:
    slope = np.where((z > 0.0) & (z < 1.0), 1.0, 0.0)
    return np.where((z == 0.0) | (z == 1.0), np.nan, slope)


def _logistic_slope(z: Vector) -> Vector:
    return np.asarray(expit(z) * expit(-z))


def _tanh_slope(z: Vector) -> Vector:
    t = np.exp(-np.abs(z))
    return np.asarray((2.0 * t / (1.0 + t * t)) ** 2)  # 1 − tanh² would cancel


#: z; 1 where z ≥ 0, else 0; min(max(z, 0), 1); 1/(1 + e⁻ᶻ); tanh z.
ACTIVATIONS: dict[str, Activation] = {
    "identity": Activation(lambda z: +z, np.ones_like),
    "threshold": Activation(lambda z: np.where(z >= 0.0, 1.0, 0.0), _threshold_slope),
    "ramp": Activation(lambda z: np.clip(z, 0.0, 1.0), _ramp_slope),
    "logistic": Activation(expit, _logistic_slope),
    "tanh": Activation(np.tanh, _tanh_slope),
}
