"""Certificates and their checker. This package imports no part of the solver."""
