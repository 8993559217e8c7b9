"""Pictures of networks."""

from __future__ import annotations

import io

import numpy as np
import pytest

from novikoff.neurons import Network

LOOPS = Network.from_edges([(0, 1, -2), (1, 0, 1), (1, 1, 1)], biases={0: 0.0, 1: 0.5})


@pytest.mark.parametrize("net", [Network.xor(), LOOPS])
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
