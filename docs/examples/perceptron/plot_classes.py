"""
Several classes: argmax and votes
=================================

Four classes, two ways to reduce them to two classes (A7). On the left, each class has one rule
against the rest, and the largest score wins: the regions are convex polygons. On the right, each
pair of classes has one rule, and most votes win. In the hatched areas the votes are equal, and
the summed scores decide.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_blobs

import novikoff as nv

centers = [[0, 0], [5, 0], [0, 5], [6, 6]]
X, y = make_blobs([30] * 4, centers=centers, cluster_std=0.7, random_state=0)
rules = {
    "one against the rest: argmax": nv.Perceptron(random_state=0).fit(X, y),
    "one against one: votes": nv.Perceptron(multi_class="ovo", random_state=0).fit(X, y),
}
axis = np.linspace(-3, 9, 300)
grid = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
pairs = rules["one against one: votes"]
wins = grid @ pairs.coef_.T + pairs.intercept_ > 0
votes = np.zeros((len(grid), 4), dtype=int)
names = [(i, j) for i in range(4) for j in range(i + 1, 4)]
for (i, j), won in zip(names, wins.T, strict=True):  # a positive score is a vote for class j
    votes[np.arange(len(grid)), np.where(won, j, i)] += 1
tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
clear = votes.argmax(axis=1)
assert (pairs.predict(grid)[~tied] == clear[~tied]).all()
assert 0 < tied.mean() < 0.2

figure, axes = plt.subplots(1, 2, figsize=(10, 4.9), layout="constrained", sharey=True)
figure.set_label(
    "Two pictures of four classes in the plane. Left: four convex regions. Right: similar regions, "
    "with hatched areas in the middle in which two or more classes have equally many votes"
)
colours = ["#1b4f7a", "#b35900", "#3d7f4c", "#8c2d5a"]
for ax, (title, rule) in zip(axes, rules.items(), strict=True):
    assert (rule.predict(X) == y).all()
    regions = rule.predict(grid).reshape(300, 300)
    ax.pcolormesh(axis, axis, regions, cmap=ListedColormap(colours), alpha=0.25, rasterized=True)
    for k, marker in enumerate("os^D"):
        ax.plot(*X[y == k].T, marker, color=colours[k], ms=4, label=f"class {k}")
    ax.set(title=title, xlabel="feature 0", aspect="equal", xlim=(-3, 9), ylim=(-3, 9))
equal = tied.reshape(300, 300).astype(float)
axes[1].contourf(axis, axis, equal, levels=[0.5, 1.5], colors="none", hatches=["////"])
axes[0].set_ylabel("feature 1")
legend = axes[0].legend(loc="lower right", frameon=True)

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_classes.png"
