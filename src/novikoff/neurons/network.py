"""Networks of neurons: layers without cycles, or recurrent ones that settle (A12)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.neurons.neuron import ACTIVATIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Settled(NamedTuple):
    """What became of a recurrent network.

    Attributes
    ----------
    state : array of shape (n_units,)
        The values at the end.
    period : int or None
        1 at a fixed point: no neuron would change. More: the states after sweeps repeat. None if
        neither was seen.
    pre_period : int or None
        The sweeps before that.
    """

    state: Vector
    period: int | None
    pre_period: int | None

    @property
    def fixed(self) -> bool:
        """Whether it is a fixed point."""
        return self.period == 1


@dataclass(frozen=True, eq=False)
class Network:
    """Neurons j with values f_j(Σ_i w_ji·v_i + b_j), over the edges i → j that there are.

    Use `from_layers` or `from_edges`.

    Attributes
    ----------
    units : tuple of names
        The inputs first.
    n_inputs : int
        How many inputs there are.
    weights : array of shape (n_units, n_units)
        ``weights[j, i]`` is the weight of the edge i → j; 0 where there is none.
    edges : boolean array of shape (n_units, n_units)
        Where there is an edge: its weight may be 0.
    biases : array of shape (n_units,)
        b, the negative of a threshold.
    activations : tuple of str
        The name of f for each unit, of `ACTIVATIONS`.
    outputs : tuple of int
        The numbers of the units that `forward` returns.

    Examples
    --------
    >>> Network.xor().forward([[0, 0], [0, 1], [1, 0], [1, 1]]).ravel().tolist()
    [0.0, 1.0, 1.0, 0.0]
    """

    units: tuple[Hashable, ...]
    n_inputs: int
    weights: Vector
    edges: npt.NDArray[np.bool_]
    biases: Vector
    activations: tuple[str, ...]
    outputs: tuple[int, ...]

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Hashable, Hashable, float]],
        *,
        inputs: Sequence[Hashable] = (),
        biases: Mapping[Hashable, float] | None = None,
        activation: str | Mapping[Hashable, str] = "threshold",
    ) -> Network:
        """A network of edges (source, target, weight); units are named by them, and by biases.

        The outputs are the units without edges to others, or all but the inputs if there are none.

        Parameters
        ----------
        edges : iterable of (source, target, weight)
            No edge leads to an input, and none comes twice.
        inputs : sequence of names
            The units whose values are given.
        biases : dict of name → bias, optional
            0 for others; an input has none.
        activation : str, or dict of name → str
            The activation function of all units, or of some; others have "threshold".

        Examples
        --------
        >>> edges = [("a", "b", -1.0), ("b", "a", -1.0)]
        >>> flip = Network.from_edges(edges, biases={"a": 0.5, "b": 0.5})
        >>> flip.settle([0, 0], update="synchronous").period, flip.settle([0, 0]).state.tolist()
        (2, [1.0, 0.0])
        """
        triples, given = [(a, b, float(w)) for a, b, w in edges], dict(biases or {})
        named = [*inputs, *(unit for a, b, _ in triples for unit in (a, b)), *given]
        units = tuple(dict.fromkeys(named))
        place = {unit: k for k, unit in enumerate(units)}
        kinds = (
            dict.fromkeys(units, activation) if isinstance(activation, str) else dict(activation)
        )
        if not units:
            raise ValueError("A network needs one unit at least.")
        if len(set(inputs)) < len(inputs):
            raise ValueError(f"An input comes twice among {tuple(inputs)!r}.")
        for unit in kinds.keys() - place.keys():
            raise ValueError(f"There is an activation for {unit!r}, but no such unit.")
        W = np.zeros((len(units), len(units)))
        there = W != 0.0
        for source, target, weight in triples:
            i, j = place[source], place[target]
            if j < len(inputs) or not np.isfinite(weight) or there[j, i]:
                raise ValueError(
                    f"The edge {source!r} → {target!r} of weight {weight} leads to an input, comes "
                    "twice, or is not finite."
                )
            W[j, i], there[j, i] = weight, True
        b = np.array([float(given.get(unit, 0.0)) for unit in units])
        chosen = tuple(kinds.get(unit, "threshold") for unit in units)
        for k, (unit, kind, bias) in enumerate(zip(units, chosen, b.tolist(), strict=True)):
            if k < len(inputs) and bias != 0.0:
                raise ValueError(f"The unit {unit!r} is an input, and its value has no bias.")
            if kind not in ACTIVATIONS or not np.isfinite(bias):
                raise ValueError(
                    f"The unit {unit!r} has the activation {kind!r} and the bias {bias}: it needs "
                    f"one of {', '.join(ACTIVATIONS)}, and a finite number."
                )
        others = range(len(inputs), len(units))
        last = [j for j in others if not np.delete(there[:, j], j).any()]
        return cls(units, len(inputs), W, there, b, chosen, tuple(last or others))

    @classmethod
    def from_layers(
        cls,
        layers: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        activation: str = "threshold",
    ) -> Network:
        """A multilayer perceptron: each layer is (W, b) with W of shape (outputs, inputs).

        Units are named x1, x2, … in layer 0, h1.1, h1.2, … in layer 1, and y1, y2, … in the last.
        """
        parts = [(np.atleast_2d(np.asarray(W, float)), np.atleast_1d(b)) for W, b in layers]
        edges: list[tuple[str, str, float]] = []
        biases: dict[Hashable, float] = {}
        before: list[str] = []
        for k, (W, b) in enumerate(parts):
            names = before if k else [f"x{i + 1}" for i in range(W.shape[1])]
            mark = "y" if k == len(parts) - 1 else f"h{k + 1}."
            before = [f"{mark}{j + 1}" for j in range(len(W))]
            if W.shape != (*b.shape, len(names)):
                raise ValueError(
                    f"Layer {k + 1} has weights of shape {W.shape}, biases of {b.shape}, but "
                    f"{len(names)} inputs."
                )
            biases.update(zip(before, b.tolist(), strict=True))
            edges += [(names[i], before[j], float(w)) for (j, i), w in np.ndenumerate(W)]
        if not parts:
            raise ValueError("A network needs one layer at least.")
        inputs = [f"x{i + 1}" for i in range(parts[0][0].shape[1])]
        return cls.from_edges(edges, inputs=inputs, biases=biases, activation=activation)

    @classmethod
    def xor(cls) -> Network:
        """XOR by two layers: one of them, but not both. No table entry lies on a neuron's line."""
        return cls.from_layers([([[1, 1], [1, 1]], [-0.5, -1.5]), ([[1, -1]], [-0.5])])

    def forward(self, x: npt.ArrayLike) -> Vector:
        """The values of the outputs, for inputs of shape (n_inputs,) or (n, n_inputs).

        ValueError where the edges form a cycle: see `settle`.
        """
        given = np.asarray(x, dtype=np.float64)
        if given.ndim not in (1, 2) or given.shape[-1] != self.n_inputs:
            raise ValueError(f"There are {self.n_inputs} inputs, not an array of {given.shape}.")
        if not np.isfinite(given).all():
            at = np.argwhere(~np.isfinite(given))[0].tolist()
            raise ValueError(f"Inputs are finite numbers, but the one at {at} is not.")
        values = np.zeros((*given.shape[:-1], len(self.units)))
        values[..., : self.n_inputs] = given
        for layer in self.layers[1:]:
            for j in layer:
                values[..., j] = self._value(j, values)
        return np.asarray(values[..., list(self.outputs)])

    @property
    def layers(self) -> list[list[int]]:
        """The units by the longest way to them from a unit without edges into it, inputs first."""
        depth = np.zeros(len(self.units), dtype=np.int64)
        sources = {j: np.flatnonzero(row).tolist() for j, row in enumerate(self.edges)}
        try:
            for j in TopologicalSorter(sources).static_order():
                if j >= self.n_inputs:
                    depth[j] = 1 + max((depth[i] for i in sources[j]), default=0)
        except CycleError as error:
            way = " → ".join(repr(self.units[j]) for j in error.args[1])
            raise ValueError(
                f"The edges form a cycle, {way}: the network is not feed-forward; use settle()."
            ) from None
        return [np.flatnonzero(depth == k).tolist() for k in range(int(depth.max()) + 1)]

    def settle(
        self,
        start: npt.ArrayLike,
        *,
        update: Literal["asynchronous", "synchronous"] = "asynchronous",
        rng: np.random.Generator | None = None,
        max_sweeps: int = 1000,
    ) -> Settled:
        """Update all units but the inputs, sweep after sweep, until a fixed point or a repetition.

        Guarantee: of threshold units with symmetric weights and none to themselves, asynchronous
        updates reach a fixed point (Hopfield 1982), synchronous ones a period of 1 or 2 (Goles and
        Olivos 1981). Others may go round longer.

        Parameters
        ----------
        start : array of shape (n_units,)
            The first values, inputs included.
        update : "asynchronous" or "synchronous"
            One unit after the other, each seeing the last changes, or all at once.
        rng : Generator, optional
            For asynchronous updates in a new random order in each sweep, which ends at a fixed
            point only. By default they come in the order of the units.
        max_sweeps : int
            When to stop.
        """
        state = np.array(start, dtype=np.float64)
        if state.shape != (len(self.units),) or not np.isfinite(state).all():
            raise ValueError(f"The start must be {len(self.units)} finite numbers, one per unit.")
        if update not in ("asynchronous", "synchronous"):
            raise ValueError(f"The update is asynchronous or synchronous, not {update!r}.")
        if max_sweeps < 1:
            raise ValueError(f"max_sweeps must be 1 at least, not {max_sweeps!r}.")
        rng = None if update == "synchronous" else rng  # all at once has no order
        units, seen = np.arange(self.n_inputs, len(self.units)), {(state + 0.0).tobytes(): 0}
        for sweep in range(1, max_sweeps + 1):
            before = state.copy()
            for j in (units if rng is None else rng.permutation(units)).tolist():
                state[j] = self._value(j, before if update == "synchronous" else state)
            if np.array_equal(state, before):
                return Settled(state, 1, sweep - 1)
            if rng is None:
                first = seen.setdefault((state + 0.0).tobytes(), sweep)
                if first < sweep:
                    return Settled(state, sweep - first, first)
        return Settled(state, None, None)

    def draw(self, ax: Axes | None = None) -> Axes:
        """A picture: units in layers, or on a circle if there are cycles; needs matplotlib."""
        from novikoff.neurons.picture import draw

        return draw(self, ax)

    def _value(self, j: int, values: Vector) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            z = values @ self.weights[j] + self.biases[j]
        if not np.isfinite(z).all():
            raise ValueError(f"The sum at unit {self.units[j]!r} is beyond the range of float64.")
        return ACTIVATIONS[self.activations[j]].function(np.asarray(z))
