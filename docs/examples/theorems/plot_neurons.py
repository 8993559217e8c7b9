"""
One neuron cannot, a network can
================================

No line separates XOR, so no threshold neuron computes it: the four rows, with equal multipliers,
add up to zero, which is the proof (A12). Two layers compute XOR, and a tower of neurons, each of
which sees the answer of the neuron before, learns any training rows without contradictions.
"""

import matplotlib.pyplot as plt
import numpy as np

import novikoff as nv

table, xor = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
verdict = nv.separate(table, xor)
print(verdict.kind, verdict.certificate.multipliers)

network = nv.neurons.Network.xor()
assert network.forward(table).ravel().tolist() == xor
ax = network.draw()
ax.figure.set_label("A network of two inputs, two hidden units and one output that computes XOR")

# %%
# A tower (Gallant 1990) grows one neuron at a time. Each neuron sees the point z, its squared
# length and the answer ±1 of the neuron before. A neuron with fewer mistakes always exists: for a
# row z* of label y* that is misclassified, with m the least and D the largest squared distance
# from z* to another row, the neuron with the net input
#
# .. math:: y^* (\tfrac12 (D + m) - \|z - z^*\|^2) + \tfrac12 D \cdot (\text{answer before})
#
# is right at z* and elsewhere answers as the neuron before does. The pocket algorithm starts from
# this neuron and keeps it unless it finds a better one.


def better_neuron(Z, i, sign):
    """The weights of that neuron for row i: of z, of its squared length and of the answer."""
    distances = ((Z[:, :-1] - Z[i, :-1]) ** 2).sum(axis=1)
    D, m = distances.max(), np.delete(distances, i).min()
    return [*(2 * sign * Z[i, :-1]), -sign, D / 2], sign * ((D + m) / 2 - Z[i, -1])


def grow(X, signs):
    """Neurons until every row is classified correctly, and the mistakes after each neuron."""
    Z = np.column_stack([X, (X**2).sum(axis=1)])
    answers, neurons, mistakes = np.zeros(len(X)), [], []
    start = np.zeros((1, Z.shape[1] + 1)), [-1.0]
    while not mistakes or mistakes[-1] > 0:
        inputs = np.column_stack([Z, answers])
        pocket = nv.Pocket(refine=False, lower_bound=False, max_updates=1000, random_state=0)
        pocket.fit(inputs, signs, coef_init=start[0], intercept_init=start[1])
        answers = pocket.predict(inputs)
        neurons.append((pocket.coef_[0], pocket.intercept_[0]))
        mistakes.append(pocket.n_errors_)
        if mistakes[-1] > 0:
            i = np.flatnonzero(answers != signs)[0]
            w, b = better_neuron(Z, i, signs[i])
            start = np.array([w]), [b]
    return neurons, mistakes


def tower(neurons):
    """The neurons as one network: x1, x2 and their squared length come in, the last answers."""
    inputs, edges, biases = ["x1", "x2", "|x|^2"], [], {}
    for k, (w, b) in enumerate(neurons):
        edges += [(name, k, weight) for name, weight in zip(inputs, w[:-1], strict=True)]
        if k > 0:  # a neuron fires 0 or 1, and the answer is −1 or +1
            edges.append((k - 1, k, 2 * w[-1]))
            b = b - w[-1]
        biases[k] = b
    return nv.neurons.Network.from_edges(edges, inputs=inputs, biases=biases)


# %%
# Two spirals, 194 points: every neuron makes fewer mistakes than the neuron before.

k = np.arange(97)
radius, angle = 6.5 * (104 - k) / 104, k * np.pi / 16
arm = np.column_stack([radius * np.sin(angle), radius * np.cos(angle)])
X, signs = np.vstack([arm, -arm]) / 6.5, np.repeat([1, -1], 97)
assert nv.separate(X, signs).kind == "inseparable"
neurons, mistakes = grow(X, signs)
assert mistakes[-1] == 0
assert (np.diff(mistakes) < 0).all()


def fires(points):
    return network.forward(np.column_stack([points, (points**2).sum(axis=1)]))[:, 0]


network = tower(neurons)
assert (fires(X) == (signs > 0)).all()

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
figure.set_label("Mistakes fall with each neuron; the network's regions follow two spirals")
left.step(np.arange(1, len(neurons) + 1), mistakes, where="mid")
left.set(xlabel="neurons", ylabel="rows misclassified", ylim=(0, None))
grid = np.linspace(-1.1, 1.1, 200)
plane = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
right.pcolormesh(grid, grid, fires(plane).reshape(200, 200), cmap="Blues", vmax=3)
right.plot(*X[signs > 0].T, "ko", ms=3)
right.plot(*X[signs < 0].T, "k^", ms=4, mfc="white")
right.set(aspect="equal", xticks=[], yticks=[], title=f"{len(neurons)} neurons")

# sphinx_gallery_thumbnail_path = "generated/thumbnails/plot_neurons.png"
