"""Pictures of a rule and of the perceptron's proof; a short name for `novikoff.report.plots`.

>>> from novikoff.plots import ProofDisplay
"""

from novikoff.report.plots import *  # noqa: F403 — the names of its __all__
from novikoff.report.plots import __all__ as __all__
