"""
Mistakes by order, and their bound
==================================

R²/γ² bounds the mistakes in every order of the rows (B1). The bound depends only on R and γ. How
far below the bound a run ends depends on the order.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import novikoff as nv

X, grower = load_wine(return_X_y=True)
X, y = StandardScaler().fit_transform(X), grower == 0
bound = nv.separate(X, y).mistake_bound

orders = ["cyclic", "fixed", "permuted", "blocks", "random", "max_distance", "max_residual"]
figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
figure.set_label("Mistakes against rows shown: seven curves, one for each order, below the bound")
for dashes, order in zip(["-", "--", "-.", ":"] * 2, orders, strict=False):
    run = nv.Perceptron(order=order, trace=True, random_state=0).fit(X, y)
    assert run.converged_
    assert run.n_mistakes_ <= bound
    mistakes = np.arange(1, run.n_mistakes_ + 1)
    label = f"{order} ({run.n_mistakes_})"
    ax.step(run.trace_.n_steps + 1, mistakes, dashes, where="post", label=label)
ax.axhline(bound, color="black", lw=1, label=f"⌊R²/γ²⌋ = {bound}")
ax.set(xlabel="rows shown to the perceptron", ylabel="mistakes so far", xscale="log", yscale="log")
legend = ax.legend(title="order (mistakes)", loc="center left", bbox_to_anchor=(1, 0.5))

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_orders.png"
