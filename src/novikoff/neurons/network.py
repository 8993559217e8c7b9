"""Feed-forward and recurrent networks of neurons."""

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
    """The state in which the updates of a recurrent network ended.

    Attributes
    ----------
    state : array of shape (n_units,)
        The values of the units at the end.
    period : int or None
        1 at a fixed point, where no unit changes. It is a larger number if the states after the
        sweeps repeat with this period, and None if no repetition was seen.
    pre_period : int or None
        The number of sweeps before the fixed point or the repetition.

    Examples
    --------
    >>> edges = [("a", "b", 1.0), ("b", "a", 1.0)]
    >>> end = Network.from_edges(edges, biases={"a": -0.5, "b": -0.5}).settle([1, 1])
    >>> end.state.tolist(), end.period, end.fixed
    ([1.0, 1.0], 1, True)
    """

    state: Vector
    period: int | None
    pre_period: int | None

    @property
    def fixed(self) -> bool:
        """Whether the state is a fixed point."""
        return self.period == 1


@dataclass(frozen=True, eq=False)
class Network:
    """A network of neurons with the values v_j = f_j(Σ w_ji·v_i + b_j) over edges i → j.

    Use `from_layers` or `from_edges` to make a network.

    Attributes
    ----------
    units : tuple of names
        The names of the units, the inputs first.
    n_inputs : int
        The number of inputs.
    weights : array of shape (n_units, n_units)
        ``weights[j, i]`` is the weight of the edge i → j; 0 if there is no edge.
    edges : boolean array of shape (n_units, n_units)
        Whether there is an edge; the weight of an edge may be 0.
    biases : array of shape (n_units,)
        The biases b. The threshold of a unit is −b.
    activations : tuple of str
        The name of each unit's activation function, one of `ACTIVATIONS`.
    outputs : tuple of int
        The numbers of the units whose values `forward` returns.

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
        """Make a network from edges (source, target, weight).

        The network has every unit that occurs in the edges, the inputs or the biases. The outputs
        are the units without edges to other units. If every unit has such an edge, all units except
        the inputs are outputs.

        Parameters
        ----------
        edges : iterable of (source, target, weight)
            No edge may lead to an input, and no edge may occur twice.
        inputs : sequence of names
            The units whose values are given.
        biases : dict of name → bias, optional
            The biases. A unit that is not in the dict has the bias 0. Inputs have no bias.
        activation : str, or dict of name → str
            The name of the activation function of all units, or a dict with the name for each unit.
            A unit that is not in the dict has "threshold".

        Returns
        -------
        Network
            The network.

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
            raise ValueError("A network needs at least one unit.")
        if len(set(inputs)) < len(inputs):
            raise ValueError(f"An input occurs twice among {tuple(inputs)!r}.")
        unknown = next(iter(kinds.keys() - place.keys()), None)
        if unknown is not None:
            raise ValueError(f"There is an activation for {unknown!r}, but no unit of this name.")
        W = np.zeros((len(units), len(units)))
        there = W != 0.0
        for source, target, weight in triples:
            i, j = place[source], place[target]
            edge = f"The edge {source!r} → {target!r} of weight {weight}"
            if j < len(inputs):
                raise ValueError(f"{edge} leads to an input: inputs have no edges to them.")
            if there[j, i]:
                raise ValueError(f"{edge} occurs twice: add the weights of the two edges.")
            if not np.isfinite(weight):
                raise ValueError(f"{edge} must have a finite weight.")
            W[j, i], there[j, i] = weight, True
        b = np.array([float(given.get(unit, 0.0)) for unit in units])
        chosen = tuple(kinds.get(unit, "threshold") for unit in units)
        for k, (unit, kind, bias) in enumerate(zip(units, chosen, b.tolist(), strict=True)):
            if k < len(inputs) and bias != 0.0:
                raise ValueError(f"The unit {unit!r} is an input: inputs have no bias.")
            if kind not in ACTIVATIONS:
                raise ValueError(
                    f"The unit {unit!r} has the activation {kind!r}, which is none of "
                    f"{', '.join(ACTIVATIONS)}."
                )
            if not np.isfinite(bias):
                raise ValueError(f"The unit {unit!r} has the bias {bias}: it must be finite.")
        others = range(len(inputs), len(units))
        last = [j for j in others if not np.delete(there[:, j], j).any()]
        return cls(units, len(inputs), W, there, b, chosen, tuple(last or others))

    @classmethod
    def from_layers(
        cls,
        layers: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        activation: str = "threshold",
    ) -> Network:
        """Make a multilayer perceptron from the weights and biases of its layers.

        The inputs are named x1, x2, …, the units of the first hidden layer h1.1, h1.2, …, and the
        units of the last layer y1, y2, …

        Parameters
        ----------
        layers : sequence of (W, b)
            The weights and biases of each layer, the first layer first. W has the shape (units of
            this layer, units of the layer before), and b has one entry for each unit.
        activation : str
            The name of the activation function of all units, one of `ACTIVATIONS`.

        Returns
        -------
        Network
            The network.

        Examples
        --------
        >>> both = Network.from_layers([([[1, 1]], [-1.5])])
        >>> both.units, both.forward([[1, 0], [1, 1]]).ravel().tolist()
        (('x1', 'x2', 'y1'), [0.0, 1.0])
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
                    f"Layer {k + 1} has weights of shape {W.shape} and biases of shape {b.shape}, "
                    f"but {len(names)} inputs."
                )
            biases.update(zip(before, b.tolist(), strict=True))
            edges += [(names[i], before[j], float(w)) for (j, i), w in np.ndenumerate(W)]
        if not parts:
            raise ValueError("A network needs at least one layer.")
        inputs = [f"x{i + 1}" for i in range(parts[0][0].shape[1])]
        return cls.from_edges(edges, inputs=inputs, biases=biases, activation=activation)

    @classmethod
    def xor(cls) -> Network:
        """Make the network of two layers that computes XOR: one of the inputs, but not both.

        No row of the truth table lies on the hyperplane of a neuron.

        Returns
        -------
        Network
            The network, with two inputs, two hidden units and one output.

        Examples
        --------
        >>> Network.xor().forward([1, 0]).tolist()
        [1.0]
        """
        return cls.from_layers([([[1, 1], [1, 1]], [-0.5, -1.5]), ([[1, -1]], [-0.5])])

    def forward(self, x: npt.ArrayLike) -> Vector:
        """Compute the values of the outputs of a feed-forward network.

        Parameters
        ----------
        x : array-like of shape (n_inputs,) or (n, n_inputs)
            The values of the inputs, or several rows of them.

        Returns
        -------
        array of shape (n_outputs,) or (n, n_outputs)
            The values of the outputs.

        Raises
        ------
        ValueError
            If the edges form a cycle: use `settle` for recurrent networks.

        Examples
        --------
        >>> Network.xor().forward([[0, 1], [1, 1]]).tolist()
        [[1.0], [0.0]]
        """
        given = np.asarray(x, dtype=np.float64)
        if given.ndim not in (1, 2) or given.shape[-1] != self.n_inputs:
            raise ValueError(
                f"The network has {self.n_inputs} inputs, but x is an array of shape {given.shape}."
            )
        if not np.isfinite(given).all():
            at = np.argwhere(~np.isfinite(given))[0].tolist()
            raise ValueError(f"Inputs must be finite numbers, but the input at {at} is not.")
        values = np.zeros((*given.shape[:-1], len(self.units)))
        values[..., : self.n_inputs] = given
        for layer in self.layers[1:]:
            for j in layer:
                values[..., j] = self._value(j, values)
        return np.asarray(values[..., list(self.outputs)])

    @property
    def layers(self) -> list[list[int]]:
        """The numbers of the units in each layer, the inputs first.

        The layer of a unit is the length of the longest path that leads to it from a unit without
        incoming edges. Raises ValueError if the edges form a cycle.
        """
        depth = np.zeros(len(self.units), dtype=np.int64)
        sources = {j: np.flatnonzero(row).tolist() for j, row in enumerate(self.edges)}
        try:
            for j in TopologicalSorter(sources).static_order():
                if j >= self.n_inputs:
                    depth[j] = 1 + max((depth[i] for i in sources[j]), default=0)
        except CycleError as error:
            way = " → ".join(repr(self.units[j]) for j in error.args[1])
            raise ValueError(
                f"The edges form a cycle, {way}, so the network is not feed-forward: use settle()."
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
        """Update all units except the inputs, sweep after sweep, until the values repeat.

        Guarantee: for threshold units with symmetric weights and no edges from a unit to itself,
        asynchronous updates reach a fixed point (Hopfield), and synchronous updates reach a period
        of 1 or 2 (Goles and Olivos). Other networks may have longer periods.

        Parameters
        ----------
        start : array of shape (n_units,)
            The initial values, inputs included.
        update : "asynchronous" or "synchronous"
            Whether the units are updated one after the other, each with the latest values of the
            others, or all at once.
        rng : Generator, optional
            A random generator. If it is given, asynchronous updates use a new random order in each
            sweep, and only a fixed point ends the updates. By default the units are updated in
            their order.
        max_sweeps : int
            The largest number of sweeps.

        Returns
        -------
        Settled
            The values at the end, and the period if one was found.

        References
        ----------
        Hopfield, J. J. (1982). Neural networks and physical systems with emergent collective
        computational abilities. *Proceedings of the National Academy of Sciences* 79(8), 2554-2558.

        Goles, E. and Olivos, J. (1981). Comportement périodique des fonctions à seuil binaires et
        applications. *Discrete Applied Mathematics* 3(2), 93-105.

        Examples
        --------
        >>> edges = [("a", "b", -1.0), ("b", "a", -1.0)]
        >>> flip = Network.from_edges(edges, biases={"a": 0.5, "b": 0.5})
        >>> flip.settle([0, 0], update="synchronous").period
        2
        """
        state = np.array(start, dtype=np.float64)
        if state.shape != (len(self.units),) or not np.isfinite(state).all():
            raise ValueError(f"start must be {len(self.units)} finite numbers, one per unit.")
        if update not in ("asynchronous", "synchronous"):
            raise ValueError(f"update must be 'asynchronous' or 'synchronous', not {update!r}.")
        if max_sweeps < 1:
            raise ValueError(f"max_sweeps must be at least 1, not {max_sweeps!r}.")
        rng = None if update == "synchronous" else rng  # synchronous updates have no order
        units, sweep_of = np.arange(self.n_inputs, len(self.units)), {(state + 0.0).tobytes(): 0}
        for sweep in range(1, max_sweeps + 1):
            before = state.copy()
            for j in (units if rng is None else rng.permutation(units)).tolist():
                state[j] = self._value(j, before if update == "synchronous" else state)
            if np.array_equal(state, before):
                return Settled(state, 1, sweep - 1)
            if rng is None:
                first = sweep_of.setdefault((state + 0.0).tobytes(), sweep)
                if first < sweep:
                    return Settled(state, sweep - first, first)
        return Settled(state, None, None)

    def draw(self, ax: Axes | None = None) -> Axes:
        """Draw the units in layers, or on a circle if there are cycles; needs matplotlib.

        Parameters
        ----------
        ax : Axes, optional
            The axes to draw on; by default new axes.

        Returns
        -------
        Axes
            The axes with the picture. Edges with a negative weight are dashed.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> ax = Network.xor().draw()
        """
        from novikoff.neurons.picture import draw_network

        return draw_network(self, ax)

    def _value(self, j: int, values: Vector) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            z = values @ self.weights[j] + self.biases[j]
        if not np.isfinite(z).all():
            raise ValueError(f"The sum at unit {self.units[j]!r} is beyond the range of float64.")
        return ACTIVATIONS[self.activations[j]].function(np.asarray(z))
