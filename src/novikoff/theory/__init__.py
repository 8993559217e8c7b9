"""What is provable about the perceptron, as functions of the data's geometry."""

from novikoff.theory.adversary import ForcedMistakes, force_mistakes
from novikoff.theory.aggressive import AggressiveRun, compare_aggressive
from novikoff.theory.board import Board, Normalisations, compare_normalisations, report
from novikoff.theory.boundedness import WeightBound, WeightPath, watch_weights, weight_bound
from novikoff.theory.bounds import general_bound, mistake_bound, translated_bound, unit_ball_bound
from novikoff.theory.herding import Herding, herd
from novikoff.theory.norms import PNormMargin, dual_exponent, dual_vector, lp_norm, p_norm_margin
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
    "Board",
    "ForcedMistakes",
    "Herding",
    "Normalisations",
    "PNormMargin",
    "WeightBound",
    "WeightPath",
    "agmon_rate",
    "compare_aggressive",
    "compare_normalisations",
    "doubling_bound",
    "dual_exponent",
    "dual_vector",
    "force_mistakes",
    "general_bound",
    "herd",
    "lp_norm",
    "mistake_bound",
    "p_norm_margin",
    "primal_dual_bound",
    "report",
    "rescaling_bound",
    "shifted_bound",
    "smooth_bound",
    "smooth_euclidean_bound",
    "translated_bound",
    "unit_ball_bound",
    "watch_weights",
    "weight_bound",
]
