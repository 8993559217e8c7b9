"""
The losses of linear classifiers
================================

The number of mistakes is constant in pieces, so it has no gradient to descend. The perceptron
descends max(0, −m) with m = y·f(x). The support vector machine descends the hinge loss, which is
the same loss with a threshold of 1, and logistic regression descends a smooth one.
"""

import matplotlib.pyplot as plt
import numpy as np

m = np.linspace(-2.5, 3, 1101)
losses = {
    "mistake: 1 if m ≤ 0": (m <= 0).astype(float),
    "perceptron: max(0, −m)": np.maximum(0, -m),
    "hinge: max(0, 1 − m)": np.maximum(0, 1 - m),
    "logistic: log₂(1 + e⁻ᵐ)": np.log2(1 + np.exp(-m)),
}
figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
figure.set_label(
    "Four losses against m: the number of mistakes jumps from 1 to 0 at 0; the perceptron loss "
    "falls to 0 at 0, the hinge loss falls to 0 at 1, and the logistic loss falls smoothly"
)
for (name, loss), dashes in zip(losses.items(), ["-", "-", "--", "-."], strict=True):
    ax.plot(m, loss, dashes, label=name, lw=2)
ax.set(
    xlabel="m = y·f(x): the row is classified correctly if m > 0", ylabel="loss", ylim=(-0.1, 3.6)
)
legend = ax.legend()

# %%
# The hinge loss and the logistic loss are never below the number of mistakes, and the hinge loss is
# the perceptron loss moved by 1.

assert (losses["hinge: max(0, 1 − m)"] >= losses["mistake: 1 if m ≤ 0"]).all()
assert (losses["logistic: log₂(1 + e⁻ᵐ)"] >= losses["mistake: 1 if m ≤ 0"] - 1e-12).all()
assert np.allclose(np.maximum(0, 1 - m), np.maximum(0, -(m - 1)))

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_losses.png"
