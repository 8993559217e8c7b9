"""A12: what threshold neurons and networks compute, and where recurrent networks settle."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.neurons import ACTIVATIONS, McCullochPitts, Network, and_gate, or_gate


def table(d: int) -> list[list[int]]:
    return [list(row) for row in itertools.product([0, 1], repeat=d)]


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_and_gates_and_or_gates_compute_their_truth_tables(d: int) -> None:
    assert and_gate(d)(table(d)).tolist() == [int(all(row)) for row in table(d)]
    assert or_gate(d)(table(d)).tolist() == [int(any(row)) for row in table(d)]
    with pytest.raises(ValueError, match=f"has {d} inputs, not {d + 1}"):
        and_gate(d)(table(d + 1))


@given(
    d=st.integers(1, 5),
    theta=st.integers(-2, 7),
    inhibitory=st.lists(st.integers(0, 4), unique=True),
)
def test_a_neuron_computes_its_definition_and_its_table_is_separable(
    d: int, theta: int, inhibitory: list[int]
) -> None:
    inhibitory = [j for j in inhibitory if j < d]
    neuron = McCullochPitts(theta, inhibitory)  # type: ignore[arg-type]
    expected = []
    for row in table(d):
        excited = sum(x for j, x in enumerate(row) if j not in inhibitory)
        expected.append(int(excited >= theta and not any(row[j] for j in inhibitory)))
    assert neuron(table(d)).tolist() == expected
    assert int(neuron(table(d)[-1])) == expected[-1]
    verdict = nv.separate(table(d), expected)
    assert verdict.kind == "separable"


@pytest.mark.parametrize("answers", [*itertools.product([0, 1], repeat=4)])
def test_a_neuron_with_two_inputs_computes_all_but_xor_and_its_opposite(
    answers: tuple[int, ...],
) -> None:
    """In the certificate of XOR all four rows have equal multipliers, and add up to zero."""
    verdict = nv.separate(table(2), answers)
    assert (verdict.kind == "separable") == (answers not in [(0, 1, 1, 0), (1, 0, 0, 1)])
    if verdict.kind != "separable":
        assert verdict.certificate is not None
        verdict.certificate.verify(table(2), list(answers))
        multipliers = verdict.certificate.multipliers
        assert sorted(multipliers) == [0, 1, 2, 3]
        assert len(set(multipliers.values())) == 1


def test_a_network_with_two_layers_computes_xor() -> None:
    assert Network.xor().forward(table(2)).ravel().tolist() == [0, 1, 1, 0]
    assert Network.xor().forward([1, 0]).tolist() == [1]
    assert Network.xor().layers == [[0, 1], [2, 3], [4]]


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


def test_a_network_with_edges_that_skip_layers_computes_xor() -> None:
    """XOR with one hidden unit: x₁ + x₂ − 2·(x₁ and x₂) ≥ 1."""
    edges = [("x", "and", 1), ("z", "and", 1), ("x", "y", 1), ("z", "y", 1), ("and", "y", -2)]
    net = Network.from_edges(edges, inputs=["x", "z"], biases={"and": -2, "y": -1})
    assert net.forward(table(2)).ravel().tolist() == [0, 1, 1, 0]
    assert [[net.units[j] for j in layer] for layer in net.layers] == [["x", "z"], ["and"], ["y"]]


def recurrent(W: Any, biases: Any) -> Network:
    n = len(W)
    edges = [(i, j, W[j, i]) for i in range(n) for j in range(n) if W[j, i]]
    return Network.from_edges(edges, biases={j: float(b) for j, b in enumerate(biases)})


def values(net: Network, state: Any) -> list[float]:
    """Update all units at once, from the definition, in the order of the units."""
    z = net.weights @ state + net.biases
    return [1.0 if value >= 0 else 0.0 for value in z]


def random_weights(rng: np.random.Generator, n: int, *, symmetric: bool) -> Any:
    W = rng.integers(-3, 4, size=(n, n))
    W = W + W.T if symmetric else W
    return W * (1 - np.eye(n, dtype=int))


@settings(deadline=None, max_examples=80)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 7), at_random=st.booleans())
def test_symmetric_networks_settle(seed: int, n: int, at_random: bool) -> None:
    """Asynchronous updates end in a fixed point, synchronous ones in a period of 1 or 2.

    The theorems are those of Hopfield (1982) and of Goles and Olivos (1981).
    """
    rng = np.random.default_rng(seed)
    net = recurrent(random_weights(rng, n, symmetric=True), rng.integers(-3, 4, size=n))
    start = rng.integers(0, 2, size=n)
    settled = net.settle(start, rng=rng if at_random else None)
    assert settled.fixed
    assert values(net, settled.state) == settled.state.tolist()
    together = net.settle(start, update="synchronous")
    assert together.period in (1, 2)
    state = list(map(float, start))
    for _ in range((together.pre_period or 0) + together.period):
        state = values(net, np.array(state))
    assert state == together.state.tolist()


def test_networks_without_symmetric_weights_may_never_settle() -> None:
    """The mutants have weights in one direction only, or a weight from a unit to itself."""
    ring = Network.from_edges(
        [("a", "b", 1), ("b", "c", 1), ("c", "a", -1)], biases={"a": 0.5, "b": -0.5, "c": -0.5}
    )
    assert ring.settle([0, 0, 0], update="synchronous").period == 6
    assert not ring.settle([0, 0, 0]).fixed
    alone = Network.from_edges([("a", "a", -1)], biases={"a": 0.5})
    assert alone.settle([0]).period == 2
    assert Network.from_edges([("a", "a", 2)], activation="identity").settle([1]).period is None
    assert ring.settle([0, 0, 0], update="synchronous", rng=np.random.default_rng()).period == 6


def test_inputs_keep_their_values_while_a_network_settles() -> None:
    latch = Network.from_edges(
        [("set", "q", 2), ("reset", "q", -3), ("q", "q", 1)],
        inputs=["set", "reset"],
        biases={"q": -0.5},
    )
    assert [float(latch.settle(start).state[2]) for start in ([1, 0, 0], [0, 0, 1])] == [1, 1]
    assert [float(latch.settle(start).state[2]) for start in ([0, 1, 1], [0, 0, 0])] == [0, 0]


@pytest.mark.parametrize("net", [Network.xor(), recurrent(np.array([[0, 1], [-2, 1]]), [0, 0.5])])
def test_a_picture_has_every_unit_and_edge(net: Network) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = net.draw(figure.add_subplot())
    texts = [text.get_text() for text in ax.texts]
    assert {str(unit) for unit in net.units} <= set(texts)
    weights = [f"{weight:g}" for weight in net.weights[net.weights != 0]]
    assert all(texts.count(weight) >= weights.count(weight) for weight in weights)
    figure.savefig(io.BytesIO())


def test_a_picture_shows_each_weight_on_its_edge() -> None:
    """The two edges between a pair of units are curved, and each passes through its own weight."""
    figure = pytest.importorskip("matplotlib.figure").Figure()
    both_ways = [("a", "b", 2), ("b", "a", -3), ("b", "c", 5), ("c", "b", 7)]
    ax = Network.from_edges(both_ways).draw(figure.add_subplot())
    figure.savefig(io.BytesIO())
    arrows = [arrow for note in ax.texts if (arrow := getattr(note, "arrow_patch", None))]
    labels = [text for text in ax.texts if text.get_text() in {"2", "-3", "5", "7"}]
    assert len(arrows) == len(labels) == 4
    for arrow, label in zip(arrows, labels, strict=True):
        stem = max(arrow.get_path().to_polygons(closed_only=False), key=np.ptp)
        points = np.linspace(stem[:-1], stem[1:], 50).reshape(-1, 2)
        at = ax.transData.transform(label.get_position())
        assert np.linalg.norm(points - at, axis=1).min() < 2  # pixels


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
    "activation 'relu'": lambda: Network.from_edges([("a", "b", 1)], activation="relu"),
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
