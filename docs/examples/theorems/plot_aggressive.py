"""
If it works, leave it alone
===========================

The perceptron updates only on mistakes. The aggressive perceptron updates on every example, and
makes infinitely many mistakes on some separable streams (A10). On the left it makes a mistake at
every power of two from 32 on, while the perceptron makes no mistake after its second. In the other
two pictures every example is a mistake, so both rules make the same updates. The bound R²/γ² must
then grow: in the middle because R grows, on the right because 1/γ grows.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharey=True)
figure.set_label("Mistakes on three streams: the aggressive perceptron goes on making them")
titles = ["doubling: R, γ fixed", "unbounded: R grows", "bounded: γ shrinks"]
for ax, stream, title in zip(axes, ["doubling", "unbounded", "bounded"], titles, strict=True):
    ran = nv.theory.compare_aggressive(stream, length=1024)
    t = np.arange(1, 1025)
    if stream == "doubling":
        errs = np.flatnonzero(np.diff(ran.aggressive, prepend=0)) + 1
        assert errs.tolist() == [1, 3, 5, 32, 64, 128, 256, 512, 1024]
        assert ran.perceptron[-1] == 2
    ax.step(t, ran.aggressive, "-", where="post", label="always updates")
    ax.step(t, ran.perceptron, "--", where="post", label="perceptron")
    ax.axhline(ran.verdict.mistake_bound, color="black", lw=1, ls=":", label="⌊R²/γ²⌋")
    ax.set(xlabel="examples", title=title, xscale="log", yscale="log")
axes[0].set_ylabel("mistakes so far")
legend = axes[0].legend()

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_aggressive.png"
