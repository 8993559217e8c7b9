"""Ours against the peers, measured side by side: ``python -m benchmarks.run``."""
