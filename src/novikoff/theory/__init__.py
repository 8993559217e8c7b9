"""What is provable about the perceptron, as functions of the data's geometry."""

from novikoff.theory.board import Board, report
from novikoff.theory.bounds import general_bound, mistake_bound, translated_bound, unit_ball_bound
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
    "Board",
    "agmon_rate",
    "doubling_bound",
    "general_bound",
    "mistake_bound",
    "primal_dual_bound",
    "report",
    "rescaling_bound",
    "shifted_bound",
    "smooth_bound",
    "smooth_euclidean_bound",
    "translated_bound",
    "unit_ball_bound",
]
