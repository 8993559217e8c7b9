"""
The three inequalities of the proof
===================================

Every mistake raises ⟨w*, w⟩ by at least γ, and ‖w‖² by at most R². So after t mistakes the cosine
of the angle between w* and w is at least √t·γ/R. A cosine is at most 1, so the run must end (B3).
The angle itself may grow at a mistake; here it grows three times.
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
display.figure_.set_label("Three curves over ten mistakes, none on the tinted side of its bound")

# %%
# No curve may enter the tinted side of its dashed line. The numbers confirm it.

assert (display.inner >= display.inner_bound - 1e-9).all()
assert (display.squared_norm <= display.squared_norm_bound + 1e-9).all()
assert (display.cosine >= display.cosine_bound - 1e-9).all()
assert (np.diff(display.cosine) < 0).sum() == 3
print(f"{run.n_mistakes_} mistakes; the theorem allows {verdict.mistake_bound}")

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_proof.png"
