"""Draw a network with matplotlib."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from novikoff.core.rows import Vector
from novikoff.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from novikoff.neurons.network import Network

# An edge from a unit to itself is a circle with this radius. Neighbouring units are 1 apart.
_LOOP = 0.16
# The style of the white box behind a text.
_TEXT_BOX = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none"}


def draw_network(network: Network, ax: Axes | None = None) -> Axes:
    """Draw units with thresholds, and edges with weights; edges of negative weight are dashed."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("A picture", "matplotlib", "plots")
    if ax is None:
        figure = import_module("matplotlib.pyplot").figure(layout="constrained")
        ax = cast("Axes", figure.add_subplot())
    places = _places(network)
    for j, i in np.argwhere(network.edges).tolist():
        mutual = bool(network.edges[i, j])
        _edge(ax, places[i], places[j], float(network.weights[j, i]), mutual)
    for j, (x, y) in enumerate(places.tolist()):
        circle = {"boxstyle": "circle,pad=0.5", "ec": "#111111", "lw": 1.2, "fc": "white"}
        if j < network.n_inputs:
            circle["fc"] = "#eeeeee"
        name = str(network.units[j])
        ax.text(x, y, name, ha="center", va="center", bbox=circle, zorder=3, parse_math=False)
        if j >= network.n_inputs:
            bias, kind = float(network.biases[j]), network.activations[j]
            note = f"θ = {0.0 - bias:g}" if kind == "threshold" else f"{kind}\nb = {bias:g}"
            below: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 8, "bbox": _TEXT_BOX}
            ax.annotate(note, (x, y), (0, -19), textcoords="offset points", **below)
    ax.set_aspect("equal")
    low, high = places.min(axis=0) - 0.6, places.max(axis=0) + 0.6
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_axis_off()
    return ax


def _places(network: Network) -> Vector:
    """Return coordinates of the units: layers from left to right, or a circle for cyclic edges."""
    try:
        layers = network.layers
    except ValueError:
        angles = np.pi / 2 - 2 * np.pi * np.arange(len(network.units)) / len(network.units)
        size = max(1.0, len(network.units) / (2 * np.pi))
        return size * np.column_stack([np.cos(angles), np.sin(angles)])
    places = np.zeros((len(network.units), 2))
    for k, layer in enumerate(layers):
        heights = (len(layer) - 1) / 2.0 - np.arange(len(layer))
        places[layer] = np.column_stack([np.full(len(layer), 1.8 * k), heights])
    return places


def _edge(ax: Axes, start: Vector, end: Vector, weight: float, mutual: bool) -> None:
    """Draw an edge with its weight: an arrow, a curve if an edge leads back, or a loop."""
    look = {"ls": "--" if weight < 0.0 else "-", "color": "#1f4e79" if weight > 0 else "#b35900"}
    if np.array_equal(start, end):
        at = start + np.array([0.0, 2.4 * _LOOP])
        ring = import_module("matplotlib.patches").Circle(at, _LOOP, fill=False, lw=1.2, **look)
        ax.add_patch(ring)
        at = at + np.array([0.0, _LOOP])
    else:
        bend, way = 0.15 if mutual else 0.0, end - start
        arrow = {"arrowstyle": "-|>", "lw": 1.2, "shrinkA": 16, "shrinkB": 16, **look}
        arrow["connectionstyle"] = f"arc3,rad={bend}"
        ax.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=arrow, zorder=1)
        # At 0.22 of its way, the curve is 2·0.22·0.78 of its bend away from the straight line.
        at = start + 0.22 * way + 0.3432 * bend * np.array([way[1], -way[0]])
    x, y = at.tolist()
    ax.text(x, y, f"{weight:g}", ha="center", va="center", fontsize=9, bbox=_TEXT_BOX, zorder=2)
