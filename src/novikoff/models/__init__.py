"""Decide whether the maximum-likelihood estimate of a statistical model exists."""
