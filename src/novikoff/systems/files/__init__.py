"""Readers for files of linear inequalities."""
