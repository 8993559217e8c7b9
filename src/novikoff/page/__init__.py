"""The page of the lab: the convergence proof in your hands (E1, B3).

``novikoff lab`` serves it; ``nv.lab(X, y)`` shows it in a notebook.
"""
