"""
A kernel, and the same proof
============================

Novikoff's proof uses only inner products, so it also holds for ⟨Φ(x), Φ(z)⟩ = K(x, z) (A8): the
kernel perceptron makes at most R²/γ² mistakes, where γ is the margin in the space of the kernel.
The data are two rings, which no line separates. ‖w_t‖² is at most t·R², as for linear rules.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 2))
X = X[np.abs((X**2).sum(axis=1) - 1.4) > 0.3]
y = (X**2).sum(axis=1) > 1.4
clf = nv.KernelPerceptron("rbf", gamma=0.5, trace=True, random_state=0).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
figure.set_label("A closed curve separates two rings; the squared norm of w stays below its bound")
grid = np.stack(np.meshgrid(*[np.linspace(-3, 3, 80)] * 2), axis=-1)
scores = clf.decision_function(grid.reshape(-1, 2)).reshape(80, 80)
left.contour(grid[..., 0], grid[..., 1], scores, levels=[0.0], colors="black")
for side in (True, False):
    left.plot(*X[y == side].T, ".", ms=4)
used = np.flatnonzero(clf.update_counts_)
left.scatter(*X[used].T, s=60, facecolors="none", edgecolors="black", label=f"{len(used)} support")
left.set(aspect="equal", title=f"{clf.n_mistakes_} mistakes until a clean cycle")
left.legend(loc="upper right")
t = np.arange(1, len(clf.trace_) + 1)
right.plot(t, clf.trace_.squared_norm, label="‖w_t‖²")
right.plot(t, 2 * t, "--", color="black", label="t·R², R² = K(x, x) + 1 = 2")
right.set(xlabel="mistakes t")
legend = right.legend()
assert clf.converged_
assert (clf.trace_.squared_norm <= 2 * t + 1e-9).all()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_kernel.png"
