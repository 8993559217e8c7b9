"""
Compare the layers of a network by linear probes
================================================

A *linear probe* asks what a linear rule can read from a representation of the data. This page
compares the pixels of handwritten digits with the two hidden layers of a small network. The network
has learned, on other rows, whether a digit is even, and the probe asks the same.

Two numbers need no training and no parameters: the margin of all columns of a layer, if the rows
are separable, and the fewest mistakes on two principal components, as a share of the rows. Each
line shows the smallest and the largest number in five random halves of the rows, and the dot shows
the median. These are not confidence intervals, because the halves overlap.

The grey numbers are for shuffled labels, as a control (Hewitt and Liang 2019). A layer with many
columns separates any labels of a few rows, so that only the difference from the control says
something about the layer.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.neural_network import MLPClassifier

import novikoff as nv

X, digit = load_digits(return_X_y=True)
X, even = X / 16.0, digit % 2 == 0
network = MLPClassifier((32, 16), max_iter=200, tol=1e-3, random_state=0)
network.fit(X[:1000], even[:1000])

layers = {"pixels": X[1000:]}
for W, b, name in zip(network.coefs_, network.intercepts_, ["layer 1", "layer 2"], strict=False):
    layers[name] = np.maximum(0.0, [*layers.values()][-1] @ W + b)
rng = np.random.default_rng(0)
even = even[1000:]
control = rng.permutation(even)
halves = [rng.choice(len(even), len(even) // 2, replace=False) for _ in range(5)]


def margin(H, y):
    """The proved margin relative to the radius of the centred rows; 0 without a margin."""
    gap = nv.separate(H, y).geometric_margin
    return 0.0 if gap is None else gap.lo / np.linalg.norm(H - H.mean(axis=0), axis=1).max()


def fewest_mistakes(H, y):
    """The fewest mistakes on two principal components, as a share of the rows."""
    pocket = nv.Pocket(random_state=0).fit(PCA(2).fit_transform(H), y)
    assert pocket.optimal_
    return pocket.n_errors_ / len(y)


# %%
# The medians:

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
figure.set_label("Margins and fewest mistakes of pixels and hidden layers, with a control")
for ax, measure in zip(axes, [margin, fewest_mistakes], strict=True):
    for side, y, colour, labels in ((0.1, control, "0.6", "control"), (-0.1, even, "C0", "even")):
        each = [[measure(H[half], y[half]) for half in halves] for H in layers.values()]
        least, middle, most = np.quantile(each, [0.0, 0.5, 1.0], axis=1)
        places = np.arange(len(layers)) + side
        ax.vlines(places, least, most, color=colour)
        ax.plot(places, middle, "o", color=colour, label=labels)
        print(f"{measure.__name__:16}{labels:8}", *(f"{value:.3f}" for value in middle))
    ax.set(xticks=range(len(layers)), xticklabels=layers, ylabel=measure.__name__.replace("_", " "))
    ax.set_ylim(bottom=0.0)
legend = axes[1].legend()

# %%
# On two components, the question becomes easier with each layer; these numbers are exact optima,
# with a certificate. The margin of all columns says something else: the second layer has 16 columns
# only, and no hyperplane separates all rows of most halves.

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_probes.png"
