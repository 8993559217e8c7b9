"""
Margins
=======

A histogram of the signed distances y·f(x)/‖w‖. The perceptron stops as soon as no row is left of
zero. The largest margin moves the nearest rows as far to the right as they will go.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import novikoff as nv

X, grower = load_wine(return_X_y=True)
X, y = StandardScaler().fit_transform(X), grower == 0

figure, axes = plt.subplots(2, 1, figsize=(8, 6.5), layout="constrained", sharex=True)
rules = {"the perceptron": nv.Perceptron(random_state=0), "the largest margin": nv.MaxMargin()}
margins = {}
for ax, (name, rule) in zip(axes, rules.items(), strict=True):
    display = nv.plots.MarginsDisplay.from_estimator(rule.fit(X, y), X, y, ax=ax)
    ax.set_title(name)
    margins[name] = display.margins.min()

# %%
# No rule has a larger smallest distance than the second, and its interval is proved.

print({name: round(float(margin), 4) for name, margin in margins.items()})
assert (
    0
    < margins["the perceptron"]
    <= margins["the largest margin"]
    <= rules["the largest margin"].margin_.hi
)
