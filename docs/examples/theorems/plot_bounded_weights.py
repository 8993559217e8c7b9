"""
Weights stay bounded where nothing separates
============================================

On inseparable data the perceptron never stops, but its weights stay bounded (B8). If the data are
integers, the weights therefore return to earlier values, and the run repeats itself. The bound of
Amaldi and Hauser is much larger than the weights here; the theorem says that a bound exists.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

X, y = [[0, 3], [-2, 2], [1, -3], [-1, 3], [0, -3], [2, 2]], [0, 1, 0, 1, 0, 1]
path = nv.theory.watch_weights(X, y, max_epochs=40)
noise = np.random.default_rng(0)
flipped = nv.theory.watch_weights(noise.normal(size=(9, 2)), np.arange(9) % 2, max_epochs=400)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
figure.set_label("The length of w over the updates stays bounded, on integers and on random points")
for ax, shown, name in ((left, path, "integers"), (right, flipped, "nine random points")):
    assert shown.norms.max() <= shown.bound
    ax.plot(np.arange(1, len(shown.norms) + 1), shown.norms, lw=1)
    ends = f"largest {shown.norms.max():.3g}, bound {shown.bound:.3g}"
    ax.set(xlabel="updates", ylabel="‖w‖", ylim=(0, None))
    ax.set_title(f"{name}: {shown.verdict.kind}\n{ends}")
path.pre_period, path.period  # in epochs

# %%
# The bound is sometimes printed with the lengths of the rows inside κ. In this form it is false: on
# these two rows ‖w‖ reaches 101.5, and the printed bound is 36.2. It holds for rows of length one.

rows = [[10.0, 0.0], [-10.0, 1.0]]
run = nv.theory.watch_weights(rows, [1, 1], fit_intercept=False)
assert run.norms.max().round(1) == 101.5
assert run.norms.max() <= nv.theory.weight_bound(rows).bound
run.norms.max().round(1), nv.theory.weight_bound(rows)

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_bounded_weights.png"
