"""Threshold neurons and networks of them.

- `McCullochPitts`, `and_gate`, `or_gate`: single threshold neurons on inputs 0 and 1.
- `Network`: feed-forward and recurrent networks, given by layers or by edges.
- `ACTIVATIONS`: activation functions with their derivatives.

If no single neuron computes a function, `novikoff.separate` proves it from the truth table.
"""

from novikoff.neurons.network import Network, Settled
from novikoff.neurons.neuron import ACTIVATIONS, Activation, McCullochPitts, and_gate, or_gate

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "McCullochPitts",
    "Network",
    "Settled",
    "and_gate",
    "or_gate",
]
