"""Theorems about the perceptron as functions, and experiments that show them.

Upper bounds on mistakes and steps, rounded up:

- `mistake_bound`, `unit_ball_bound`: Novikoff's R²/γ², and 1/γ² in the unit ball.
- `general_bound`, `translated_bound`: bounds from any start with any threshold, and bounds after a
  translation of the data.
- `shifted_bound`, `agmon_rate`, `smooth_bound`, `smooth_euclidean_bound`, `primal_dual_bound`,
  `rescaling_bound`, `doubling_bound`: bounds on the steps of the methods for systems of linear
  inequalities.
- `hoffman_constant`, `goffin_measure`: condition measures of systems, which these bounds contain.
- `weight_bound`: a bound on the length of the weights, on any data.

Experiments on data:

- `summary`: the bound R²/γ² beside the mistakes of the perceptron in every order.
- `compare_normalisations`: how changes of the features change R, γ and the mistakes.
- `compare_sample_sizes`: the mistakes on more and more rows with the same R and γ.
- `watch_weights`: the length of the weights along a run, and its period.
- `force_mistakes`: an adversary for which no online learner is better than the perceptron.
- `compare_aggressive`: what happens to a perceptron that updates on every example.
- `herd`: few points whose mean is near a target, chosen by a perceptron.

Norms: `lp_norm`, `dual_exponent`, `dual_vector` and `p_norm_margin`.
"""

from novikoff.theory.adversary import ForcedMistakes, force_mistakes
from novikoff.theory.aggressive import AggressiveRun, compare_aggressive
from novikoff.theory.boundedness import WeightBound, WeightPath, watch_weights, weight_bound
from novikoff.theory.bounds import general_bound, mistake_bound, translated_bound, unit_ball_bound
from novikoff.theory.condition import HoffmanConstant, goffin_measure, hoffman_constant
from novikoff.theory.herding import Herding, herd
from novikoff.theory.normalisations import Normalisations, compare_normalisations
from novikoff.theory.norms import PNormMargin, dual_exponent, dual_vector, lp_norm, p_norm_margin
from novikoff.theory.sample_sizes import SampleSizes, compare_sample_sizes
from novikoff.theory.summary import Summary, summary
from novikoff.theory.systems import (
    agmon_rate,
    doubling_bound,
    primal_dual_bound,
    rescaling_bound,
    shifted_bound,
    smooth_bound,
    smooth_euclidean_bound,
)

__all__ = [
    "AggressiveRun",
    "ForcedMistakes",
    "Herding",
    "HoffmanConstant",
    "Normalisations",
    "PNormMargin",
    "SampleSizes",
    "Summary",
    "WeightBound",
    "WeightPath",
    "agmon_rate",
    "compare_aggressive",
    "compare_normalisations",
    "compare_sample_sizes",
    "doubling_bound",
    "dual_exponent",
    "dual_vector",
    "force_mistakes",
    "general_bound",
    "goffin_measure",
    "herd",
    "hoffman_constant",
    "lp_norm",
    "mistake_bound",
    "p_norm_margin",
    "primal_dual_bound",
    "rescaling_bound",
    "shifted_bound",
    "smooth_bound",
    "smooth_euclidean_bound",
    "summary",
    "translated_bound",
    "unit_ball_bound",
    "watch_weights",
    "weight_bound",
]
