"""The page of the lab, on which the convergence proof can be followed step by step (E1, B3).

``novikoff lab`` serves it; ``nv.lab(X, y)`` shows it in a notebook.
"""
