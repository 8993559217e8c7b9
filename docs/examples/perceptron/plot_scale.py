"""
Scale and translation change the bound
======================================

R and γ depend on the origin and on the units of the features (B6). If the data moves away from the
origin, R grows with the distance and γ does not, so the bound grows at least like the square of the
distance. If the units of the features differ much, γ is small compared with R.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import novikoff as nv

X, species = load_iris(return_X_y=True)
X, y = X[species < 2][:, [0, 2]], species[species < 2]
X = X - X.mean(axis=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
figure.set_label("As the data is shifted or one feature is scaled, the bound and the mistakes grow")
panels = [
    (left, "shift of all features", np.linspace(0, 20, 11), lambda c: X + c),
    (right, "factor on one feature", np.logspace(-2, 2, 9), lambda c: X * [1.0, c]),
]
for ax, name, values, change in panels:
    verdicts = [nv.separate(change(c), y) for c in values]
    runs = [nv.Perceptron(order="cyclic", max_epochs=None).fit(change(c), y) for c in values]
    bounds, mistakes = [v.mistake_bound for v in verdicts], [run.n_mistakes_ for run in runs]
    assert all(made <= most for made, most in zip(mistakes, bounds, strict=True))
    ax.plot(values, bounds, "o--", label="⌊R²/γ²⌋")
    ax.plot(values, mistakes, "s-", label="mistakes, cyclic")
    ax.set(xlabel=name, yscale="log")
right.set_xscale("log")
legend = left.legend()

# %%
# Without a bias, scaling *all* features changes neither the mistakes nor the bound.

for c in (0.1, 1.0, 10.0):
    run = nv.Perceptron(order="cyclic", fit_intercept=False).fit(c * X, y)
    print(c, run.n_mistakes_, nv.separate(c * X, y, fit_intercept=False).mistake_bound)

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_scale.png"
