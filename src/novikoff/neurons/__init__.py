"""Threshold neurons and networks of them, written by hand (A12).

What one neuron cannot do has a proof: `novikoff.separate` on its truth table.
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
