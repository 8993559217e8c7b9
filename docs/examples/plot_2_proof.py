"""
The three inequalities of the proof
===================================

Every mistake raises ⟨w*, w⟩ by at least γ, and ‖w‖² by at most R². So after t mistakes the cosine
of their angle is at least √t·γ/R. No cosine is above 1: the run must end (B3). The angle itself may
grow at a mistake, as it does here three times.
"""

import numpy as np
from sklearn.datasets import load_iris

import novikoff as nv

X, species = load_iris(return_X_y=True)
X, y = X[species < 2][:, [0, 2]], species[species < 2]

verdict = nv.separate(X, y)
w_star = np.append(verdict.coef, verdict.intercept)
run = nv.Perceptron(order="cyclic", trace=w_star).fit(X, y)
display = nv.plots.ProofDisplay.from_estimator(run, X, y)

# %%
# The coloured side of each dashed line is the allowed one. The numbers say the same.

assert (display.inner >= display.inner_bound - 1e-9).all()
assert (display.squared_norm <= display.squared_norm_bound + 1e-9).all()
assert (display.cosine >= display.cosine_bound - 1e-9).all()
assert (np.diff(display.cosine) < 0).sum() == 3
print(f"{run.n_mistakes_} mistakes; the theorem allows {verdict.mistake_bound}")
