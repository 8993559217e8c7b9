"""Networks of threshold neurons: activations, edges, states, and arguments that are rejected."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from novikoff.neurons import ACTIVATIONS, McCullochPitts, Network, and_gate, or_gate


def table(d: int) -> list[list[int]]:
    return [list(row) for row in itertools.product([0, 1], repeat=d)]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives_of_activations_agree_with_differences(name: str) -> None:
    """Derivatives are NaN at a jump or a kink, and accurate for very large arguments."""
    function, derivative = ACTIVATIONS[name]
    z, h = np.array([-3.0, -1.2, -0.4, 0.3, 0.7, 1.6, 4.0]), 1e-6
    np.testing.assert_allclose(
        derivative(z), (function(z + h) - function(z - h)) / (2 * h), rtol=1e-6, atol=1e-9
    )
    kinks = {"threshold": [0.0], "sign": [0.0], "ramp": [0.0, 1.0]}.get(name, [])
    assert np.isnan(derivative(np.array([0.0, 1.0]))).sum() == len(kinks)
    far = np.array([-1e308, -800.0, 800.0, 1e308])
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(function(far)).all()
        assert np.isfinite(derivative(far)).all()
    if name == "tanh":
        assert derivative(np.array([19.0]))[0] == pytest.approx(4 * math.exp(-38.0), rel=1e-12)


def test_the_sign_is_a_label_as_the_perceptron_predicts_it() -> None:
    """sign(0) is −1, as in the predictions of the learners."""
    assert ACTIVATIONS["sign"].function(np.array([-2.0, 0.0, 3.0])).tolist() == [-1, -1, 1]
    unit = Network.from_layers([([[1.0, 1.0]], [-1.0])], activation="sign")
    assert unit.forward(table(2)).ravel().tolist() == [-1, -1, -1, 1]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_network_made_from_layers_agrees_with_matrix_products(name: str) -> None:
    rng = np.random.default_rng(0)
    (W1, b1), (W2, b2) = layers = [
        (rng.normal(size=(4, 3)), rng.normal(size=4)),
        (rng.normal(size=(2, 4)), rng.normal(size=2)),
    ]
    X = rng.normal(size=(10, 3))
    function, _ = ACTIVATIONS[name]
    network = Network.from_layers(layers, activation=name)
    expected = function(function(X @ W1.T + b1) @ W2.T + b2)
    np.testing.assert_allclose(network.forward(X), expected, atol=1e-12)
    np.testing.assert_allclose(network.forward(X[0]), expected[0], atol=1e-12)


def test_an_edge_of_weight_0_is_still_an_edge() -> None:
    """Units, outputs and cycles depend on the edges, and not on their weights."""
    silent = Network.from_layers([([[0, 0], [1, 1]], [5, -2])], activation="identity")
    assert silent.forward([1, 1]).tolist() == [5, 0]
    pruned = Network.from_layers([([[1, 1], [1, 1]], [-1, -2]), ([[1, 0]], [-1])])
    assert pruned.forward([[1, 0]]).tolist() == [[1]]
    assert pruned.layers == [[0, 1], [2, 3], [4]]
    with pytest.raises(ValueError, match="cycle"):
        Network.from_edges([("a", "b", 0), ("b", "a", 0)]).forward([])
    with pytest.raises(ValueError, match="occurs twice"):
        Network.from_edges([("a", "b", 0), ("a", "b", 1)])


@pytest.mark.parametrize("theta", [-1e17, -1e300, 0.1, 1e300])
def test_an_inhibited_neuron_is_silent_at_any_threshold(theta: float) -> None:
    assert McCullochPitts(theta, (0,))([[1, 0], [1, 1]]).tolist() == [0, 0]
    assert McCullochPitts(theta, (0,))([0, 1]) == (theta <= 1)


def test_inputs_keep_their_values_while_a_network_settles() -> None:
    latch = Network.from_edges(
        [("set", "q", 2), ("reset", "q", -3), ("q", "q", 1)],
        inputs=["set", "reset"],
        biases={"q": -0.5},
    )
    assert [float(latch.settle(start).state[2]) for start in ([1, 0, 0], [0, 0, 1])] == [1, 1]
    assert [float(latch.settle(start).state[2]) for start in ([0, 1, 1], [0, 0, 0])] == [0, 0]


BAD_CALLS: dict[str, Callable[[], object]] = {
    "Inputs must be 0 or 1, but input 1 is 0.5": lambda: and_gate(2)([0, 0.5]),
    "input 3 is inhibitory, but there are only 2": lambda: McCullochPitts(1, (3,))([0, 1]),
    "θ must be a finite number": lambda: McCullochPitts(math.nan),
    "inhibitory must contain numbers of inputs": lambda: McCullochPitts(1, (-1,)),
    "whole number of inputs above 0, not 0": lambda: or_gate(0),
    "has 2 inputs, but x is an array of shape": lambda: Network.xor().forward([1, 2, 3]),
    "cycle, .*'a'.* not feed-forward: use settle": lambda: Network.from_edges(
        [("a", "b", 1), ("b", "a", 1)]
    ).forward([]),
    "'h' → 'x' of weight 1.0 leads to an input": lambda: Network.from_edges(
        [("h", "x", 1)], inputs=["x"]
    ),
    "'a' → 'b' of weight inf must have a finite weight": lambda: Network.from_edges(
        [("a", "b", math.inf)]
    ),
    "'a' has the bias nan": lambda: Network.from_edges([("a", "b", 1)], biases={"a": math.nan}),
    "activation 'relu', which is none of": lambda: Network.from_edges(
        [("a", "b", 1)], activation="relu"
    ),
    "Layer 2 has weights of shape": lambda: Network.from_layers([([[1]], [0]), ([[1, 1]], [0])]),
    "at least one layer": lambda: Network.from_layers([]),
    "start must be 5 finite numbers": lambda: Network.xor().settle([0]),
    r"finite numbers, but the input at \[1\] is not": lambda: Network.xor().forward([1, math.nan]),
    "sum at unit 'b' is beyond the range": lambda: Network.from_edges(
        [("a", "b", 1e200)], activation="identity"
    ).settle([1e200, 0], update="synchronous"),
    "An input occurs twice": lambda: Network.from_edges([("x", "y", 1)], inputs=["x", "x"]),
    "activation for 'z', but no unit of this name": lambda: Network.from_edges(
        [("x", "y", 1)], activation={"z": "tanh"}
    ),
    "at least one unit": lambda: Network.from_edges([]),
    "'x' is an input": lambda: Network.from_edges([("x", "y", 1)], inputs=["x"], biases={"x": 1}),
    "max_sweeps must be at least 1": lambda: Network.xor().settle([0] * 5, max_sweeps=-3),
}


@pytest.mark.parametrize("message", BAD_CALLS)
def test_wrong_arguments_are_rejected_with_an_error(message: str) -> None:
    with pytest.raises(ValueError, match=f"(?i){message}"):
        BAD_CALLS[message]()
