"""Certificates and their checker: nothing here imports the solver."""
