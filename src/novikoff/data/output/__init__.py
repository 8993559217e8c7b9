"""Rows into files: the text of numbers, to the last bit, and the formats around it."""
