"""The lab: the convergence proof in your hands, as a page (E1, B3)."""
