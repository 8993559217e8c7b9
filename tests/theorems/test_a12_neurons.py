"""A12: what threshold neurons and networks compute, and where recurrent networks settle."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.neurons import McCullochPitts, Network, and_gate, or_gate


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
