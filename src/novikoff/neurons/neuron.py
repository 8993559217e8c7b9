"""Activation functions, and the neuron of McCulloch and Pitts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from novikoff.core.rows import Indices, Vector


class Activation(NamedTuple):
    """An activation function of the weighted sum z, and its derivative.

    Attributes
    ----------
    function : callable
        The function of an array z.
    derivative : callable
        The derivative as a function of an array z. It is NaN at points where the function has no
        derivative.

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
    return np.asarray((2.0 * t / (1.0 + t * t)) ** 2)  # the formula 1 − tanh² would lose digits


#: The activation functions by name. "identity" is z, "threshold" is 1 if z ≥ 0 and 0 otherwise,
#: "sign" is 1 if z > 0 and −1 otherwise, as in the predictions of the perceptron, "ramp" is
#: min(max(z, 0), 1), "logistic" is 1/(1 + e⁻ᶻ), and "tanh" is tanh z.
ACTIVATIONS: dict[str, Activation] = {
    "identity": Activation(lambda z: +z, np.ones_like),
    "threshold": Activation(lambda z: np.where(z >= 0.0, 1.0, 0.0), _threshold_slope),
    "sign": Activation(lambda z: np.where(z > 0.0, 1.0, -1.0), _threshold_slope),
    "ramp": Activation(lambda z: np.clip(z, 0.0, 1.0), _ramp_slope),
    "logistic": Activation(expit, _logistic_slope),
    "tanh": Activation(np.tanh, _tanh_slope),
}


@dataclass(frozen=True)
class McCullochPitts:
    """The neuron of McCulloch and Pitts: a threshold unit on inputs that are 0 or 1.

    The neuron fires, which means that its output is 1, if at least θ excitatory inputs are 1 and no
    inhibitory input is 1. The hyperplane of `rule` separates the inputs on which the neuron fires
    from all other inputs. For XOR there is no such hyperplane, so that no neuron computes XOR.

    Parameters
    ----------
    theta : float
        The threshold θ.
    inhibitory : sequence of int
        The numbers of the inhibitory inputs, each of which prevents the neuron from firing. All
        other inputs are excitatory.
    n_inputs : int, optional
        The number of inputs. If it is not given, the neuron takes any number of inputs.

    References
    ----------
    McCulloch, W. S. and Pitts, W. (1943). A logical calculus of the ideas immanent in nervous
    activity. *Bulletin of Mathematical Biophysics* 5, 115-133.

    Examples
    --------
    >>> import novikoff as nv
    >>> table = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> McCullochPitts(1, inhibitory=[0])(table).tolist()  # x₂ and not x₁
    [0, 1, 0, 0]
    >>> verdict = nv.separate(table, [0, 1, 1, 0])  # XOR: the four rows contradict each other
    >>> verdict.kind, [str(value) for value in verdict.certificate.multipliers.values()]
    ('inseparable', ['1', '1', '1', '1'])
    """

    theta: float
    inhibitory: tuple[int, ...] = ()
    n_inputs: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.theta, Real) or not np.isfinite(self.theta):
            raise ValueError(f"The threshold θ must be a finite number, not {self.theta!r}.")
        inputs = tuple(self.inhibitory)
        if not all(isinstance(j, Integral) and j >= 0 for j in inputs):
            raise ValueError(
                f"inhibitory must contain numbers of inputs, from 0 on, not {inputs!r}."
            )
        object.__setattr__(self, "inhibitory", tuple(sorted({int(j) for j in inputs})))

    def __call__(self, x: npt.ArrayLike) -> Indices:
        """Compute the output, 1 or 0, for inputs of shape (d,), or for each row of (n, d)."""
        inputs = np.asarray(x, dtype=np.float64)
        if inputs.ndim not in (1, 2):
            raise ValueError(
                f"Inputs must be a vector or a matrix, not an array of shape {inputs.shape}."
            )
        not_binary = np.argwhere((inputs != 0.0) & (inputs != 1.0))
        if len(not_binary) > 0:
            at = tuple(not_binary[0].tolist())
            raise ValueError(f"Inputs must be 0 or 1, but input {at[-1]} is {inputs[at]}.")
        w, b = self.rule(inputs.shape[-1])
        return np.asarray(inputs @ w + b >= 0.0).astype(np.int64)

    def rule(self, d: int) -> tuple[Vector, float]:
        """Return weights and a bias that are equivalent to the neuron.

        Parameters
        ----------
        d : int
            The number of inputs.

        Returns
        -------
        w, b : array of shape (d,), float
            The neuron fires on inputs x if and only if ⟨w, x⟩ + b ≥ 0.

        Examples
        --------
        >>> w, b = McCullochPitts(1, inhibitory=[0]).rule(2)
        >>> w.tolist(), b
        ([-1.0, 1.0], -1.0)
        """
        if self.n_inputs not in (None, d):
            raise ValueError(f"The neuron has {self.n_inputs} inputs, not {d}.")
        if self.inhibitory and self.inhibitory[-1] >= d:
            raise ValueError(
                f"Input {self.inhibitory[-1]} is inhibitory, but there are only {d} inputs."
            )
        theta = float(min(max(self.theta, 0), d + 1))  # other θ act like 0 or d + 1
        w = np.ones(d)
        w[list(self.inhibitory)] = -1.0 - max(0.0, d - len(self.inhibitory) - theta)
        return w, -theta


def and_gate(d: int) -> McCullochPitts:
    """Make the neuron that fires if all of its d inputs are 1.

    Parameters
    ----------
    d : int
        The number of inputs.

    Returns
    -------
    McCullochPitts
        The neuron with the threshold d.

    Examples
    --------
    >>> and_gate(2)([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist()
    [0, 0, 0, 1]
    """
    return McCullochPitts(_input_count(d), n_inputs=int(d))


def or_gate(d: int) -> McCullochPitts:
    """Make the neuron that fires if at least one of its d inputs is 1.

    Parameters
    ----------
    d : int
        The number of inputs.

    Returns
    -------
    McCullochPitts
        The neuron with the threshold 1.

    Examples
    --------
    >>> or_gate(2)([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist()
    [0, 1, 1, 1]
    """
    return McCullochPitts(min(1, _input_count(d)), n_inputs=int(d))


def _input_count(d: int) -> int:
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        raise ValueError(f"A gate needs a whole number of inputs above 0, not {d!r}.")
    return int(d)
