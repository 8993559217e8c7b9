"""What is provable about the perceptron, as functions of the data's geometry."""

from novikoff.theory.bounds import general_bound, mistake_bound, translated_bound, unit_ball_bound

__all__ = ["general_bound", "mistake_bound", "translated_bound", "unit_ball_bound"]
