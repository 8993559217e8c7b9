"""What is provable about the perceptron, as functions of the data's geometry."""

from novikoff.theory.board import Board, report
from novikoff.theory.bounds import general_bound, mistake_bound, translated_bound, unit_ball_bound

__all__ = [
    "Board",
    "general_bound",
    "mistake_bound",
    "report",
    "translated_bound",
    "unit_ball_bound",
]
