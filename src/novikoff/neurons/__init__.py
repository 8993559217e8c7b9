"""Threshold neurons."""
