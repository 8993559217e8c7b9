"""
Mistakes do not grow with the number of rows
============================================

The bound R²/γ² does not contain the number of rows n (B9). Each sample is the beginning of the next
larger one, all rows lie in the unit ball, and one rule has margin γ on all of them. A hundred times
as many rows add few mistakes, and an epoch in which every row is correct comes sooner.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

sizes = np.unique(np.logspace(1, 5, 17).astype(int))
figure, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
figure.set_label(
    "Three curves of mistakes against the number of rows from 10 to 100,000: each becomes flat, "
    "below a dotted line at 1 divided by the squared margin"
)
for margin, dashes in zip([0.2, 0.1, 0.05], ["-", "--", "-."], strict=True):
    compared = nv.theory.compare_sample_sizes(sizes, margin=margin)
    assert (compared.mistakes <= compared.bound).all()
    (line,) = ax.plot(sizes, compared.mistakes, dashes, marker="o", ms=4, label=f"γ = {margin}")
    ax.axhline(compared.bound, color=line.get_color(), lw=1, ls=":")
    ax.annotate(f"1/γ² = {compared.bound}", (10, compared.bound), va="bottom")
ax.set(xlabel="rows n", ylabel="mistakes", xscale="log", yscale="log", ylim=(1, 700))
legend = ax.legend(loc="lower right")

# %%
# The counts for the smallest margin, in numbers:

print(nv.theory.compare_sample_sizes(margin=0.05))

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_sample_size.png"
