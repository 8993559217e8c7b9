"""Threshold neurons and networks of them, written by hand (A12).

What one neuron cannot do has a proof: `novikoff.separate` on its truth table.
`novikoff.TowerClassifier` grows a network from data.
"""

from novikoff.neurons.activations import ACTIVATIONS, Activation
from novikoff.neurons.mcculloch_pitts import McCullochPitts, and_gate, or_gate
from novikoff.neurons.network import Network, Settled

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "McCullochPitts",
    "Network",
    "Settled",
    "and_gate",
    "or_gate",
]
