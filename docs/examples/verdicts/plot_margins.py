"""
Margins
=======

These are histograms of the signed distances y·f(x)/‖w‖. The perceptron stops as soon as all
distances are positive. ``MaxMargin`` makes the smallest distance as large as possible.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import novikoff as nv

X, grower = load_wine(return_X_y=True)
X, y = StandardScaler().fit_transform(X), np.where(grower == 0, "Barolo", "another")

figure, axes = plt.subplots(2, 1, figsize=(8, 6.5), layout="constrained", sharex=True)
figure.set_label("Histograms of signed distances, for the perceptron and for the largest margin")
margins = []
for ax, rule in zip(axes, [nv.Perceptron(random_state=0), nv.MaxMargin()], strict=True):
    display = nv.plots.MarginsDisplay.from_estimator(rule.fit(X, y), X, y, ax=ax)
    ax.set_title(type(rule).__name__, loc="right")
    margins.append(float(display.margins.min()))

# %%
# The smallest distance of each rule. It is proved that no rule has a larger smallest distance than
# the second rule.

print([round(margin, 4) for margin in margins], rule.margin_)
assert 0 < margins[0] <= margins[1] <= rule.margin_.hi * (1 + 1e-12)

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_margins.png"
