"""The page of the lab, on which the convergence proof can be followed step by step.

``novikoff lab`` serves it; ``nv.lab(X, y)`` shows it in a notebook.
"""
