"""
Margins
=======

A histogram of the signed distances y·f(x)/‖w‖. The perceptron stops as soon as no row is left of
zero. The largest margin moves the nearest rows as far to the right as they will go.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import novikoff as nv

X, grower = load_wine(return_X_y=True)
X, y = StandardScaler().fit_transform(X), np.where(grower == 0, "Barolo", "another")

figure, axes = plt.subplots(2, 1, figsize=(8, 6.5), layout="constrained", sharex=True)
margins = []
for ax, rule in zip(axes, [nv.Perceptron(random_state=0), nv.MaxMargin()], strict=True):
    display = nv.plots.MarginsDisplay.from_estimator(rule.fit(X, y), X, y, ax=ax)
    ax.set_title(type(rule).__name__, loc="right")
    margins.append(float(display.margins.min()))

# %%
# The smallest distance of each. No rule has a larger one than the second, and that is proved.

print([round(margin, 4) for margin in margins], rule.margin_)
assert 0 < margins[0] <= margins[1] <= rule.margin_.hi * (1 + 1e-12)
