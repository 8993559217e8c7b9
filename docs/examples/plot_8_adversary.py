"""
No learner beats the adversary
==============================

The perceptron errs at most 1/γ² times on data of margin γ in the unit ball (B5). No learner can
promise less (B7): rows are the unit vectors, each labelled against the learner's answer, and a rule
of margin γ has all of them right. Here three learners play, each against an adversary of its own.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

import novikoff as nv

margins = [0.5, 0.3, 0.2, 0.15, 0.1]
learners = {
    "novikoff.Perceptron": nv.Perceptron,
    "SGDClassifier": lambda: SGDClassifier(random_state=0),
    "BernoulliNB": BernoulliNB,
}

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for marker, (name, new) in zip("os^", learners.items(), strict=True):
    games = [nv.theory.force_mistakes(new(), gamma, d=60) for gamma in margins]
    for game in games:
        game.verdict.certificate.verify(game.X, game.y)
    ax.plot(margins, [game.mistakes for game in games], marker, ms=8, mfc="none", label=name)
ax.plot(margins, [1 / gamma**2 for gamma in margins], "k--", lw=1, label="1/γ²")
ax.axhline(60, color="gray", lw=1, ls=":", label="d = 60")
ax.set(xlabel="margin γ", ylabel="mistakes forced", yscale="log")
legend = ax.legend()

# %%
# A learner without randomness errs on the same sequence again: it is a data set that is hard for
# it.

game = nv.theory.force_mistakes(nv.Perceptron(), margin=0.1, d=100)
again = nv.Perceptron(order="cyclic", max_epochs=1, fit_intercept=False)
again.partial_fit(game.X, game.y, classes=[0, 1]).n_mistakes_, game.verdict.mistake_bound
