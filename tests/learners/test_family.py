"""Requirements for every learner of the family; the learners are found among the public names."""

from __future__ import annotations

import itertools
import pickle
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import kernel_metrics

import novikoff as nv
from novikoff.core.rows import Indices
from novikoff.learners.online import OnlineLearner
from novikoff.learners.stateful import StateLearner
from tests.cases import case_named, csr
from tests.model_cases import NOISY, PROBE, THREE, TWO, X, learn_dicts

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KINDS = [kind for name in nv.__all__ if hasattr(kind := getattr(nv, name), "learn_one")]
UNUSUAL: list[OnlineLearner] = [
    nv.PNormPerceptron(7.5, multi_class="ovo"),
    nv.SecondOrderPerceptron(0.1, multi_class="ovo"),
    nv.KernelPerceptron("poly", average=True, multi_class="ovo"),
    nv.Forgetron(5, kernel="linear", multi_class="ovo"),
]
LEARNERS = [*(kind() for kind in KINDS), *UNUSUAL]
STATEFUL = [learner for learner in LEARNERS if isinstance(learner, StateLearner)]
INTEGERS = np.round(3.0 * X)
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def learn(learner: OnlineLearner, rows: Any, labels: Any, pieces: int) -> OnlineLearner:
    clf = clone(learner)
    for part in np.array_split(np.arange(len(labels)), pieces):
        clf.partial_fit(rows[part], labels[part], classes=np.unique(labels))
    return clf


@each_learner
@pytest.mark.parametrize("labels", [NOISY, np.resize(THREE, 40)], ids=["two", "three"])
def test_a_stream_may_be_cut_anywhere_and_taken_one_by_one(
    labels: Any, learner: OnlineLearner
) -> None:
    if "class_weight" in learner.get_params():
        by_class = dict(zip(np.unique(labels).tolist(), (0.9, 2.5, 0.5), strict=False))
        learner = clone(learner).set_params(class_weight=by_class)
    whole = learn(learner, X, labels, 1)
    pieces = learn(learner, X, labels, 7)
    single = clone(learner)
    single.partial_fit(X[:1], labels[:1], classes=np.unique(labels))
    for row, label in zip(X[1:], labels[1:].tolist(), strict=True):
        single.learn_one(row, label)
    frame = clone(learner).partial_fit(
        pd.DataFrame(X, columns=["a", "b", "c"]), labels, classes=np.unique(labels)
    )
    for taken, other in {"pieces": pieces, "rows": single, "frame": frame}.items():
        with case_named(taken):
            assert other.n_mistakes_ == whole.n_mistakes_ > 0
            np.testing.assert_allclose(
                other.model_.scores(PROBE), whole.model_.scores(PROBE), rtol=1e-9, atol=1e-12
            )
    for row in PROBE:
        assert single.predict_one(row) == whole.predict(row[None, :])[0]
    assert frame.predict_one(dict(zip("abc", PROBE[0], strict=True))) == frame.predict_one(PROBE[0])


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_dense_and_sparse_make_the_same_mistakes_on_integers(learner: Any) -> None:
    clf = clone(learner).set_params(random_state=0, max_epochs=5)
    counts = np.asarray(clf.fit(INTEGERS, TWO).update_counts_)
    scores, probe = clf.decision_function(INTEGERS), sp.csr_array(INTEGERS)
    for sparse in (csr(INTEGERS), csr(INTEGERS, np.float32, np.int64), probe):
        with case_named(sparse):
            assert np.asarray(clf.fit(sparse, TWO).update_counts_).tolist() == counts.tolist()
            np.testing.assert_allclose(clf.decision_function(probe), scores, rtol=1e-9, atol=1e-12)
    assert (
        np.asarray(clf.fit(INTEGERS.astype("f4"), TWO).update_counts_).tolist() == counts.tolist()
    )


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_stream_of_dicts_grows_and_continues_from_a_file(learner: Any, tmp_path: Path) -> None:
    one = clone(learner)
    if "gamma" in one.get_params():
        one.set_params(gamma=0.3)
    learn_dicts(one, 30)
    nv.save(one, tmp_path / "model")
    twins = [one, nv.load(tmp_path / "model"), pickle.loads(pickle.dumps(one))]  # noqa: S301
    for twin in twins:
        assert isinstance(twin, OnlineLearner), twin
        learn_dicts(twin, 40)
        twin.learn_one({"new": 2.0}, "zebra")
    probe = np.eye(one.n_features_in_)
    assert one.classes_.tolist()[-1] == "zebra"
    for how, twin in zip(("load", "pickle"), twins[1:], strict=True):
        with case_named(how):
            assert twin.model_.scores(probe).tobytes() == one.model_.scores(probe).tobytes()


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize(
    "order",
    ["cyclic", "fixed", "blocks", "random", list(range(40))[::-1], nv.orders.Cyclic()],
    ids=str,
)
def test_orders_are_those_of_the_library(order: Any, learner: Any) -> None:
    clf = clone(learner).set_params(order=order, random_state=1, max_epochs=30)
    clf.fit(X, TWO)
    again = clone(clf).fit(X, TWO)
    assert again.n_updates_ == clf.n_updates_ == np.asarray(clf.update_counts_).sum()
    if clf.converged_ and not clf.average:
        assert (clf.predict(X) == TWO).all()


class CtrlC:
    """An endless cyclic order; after three epochs of a run, the user presses Ctrl-C."""

    covers = True

    def __init__(self) -> None:
        self.pressed = False

    def epochs(
        self, candidates: nv.orders.Candidates, rng: np.random.Generator
    ) -> Iterator[Indices]:
        for epoch in itertools.count():
            if epoch == 3 and not self.pressed:
                self.pressed = True
                signal.raise_signal(signal.SIGINT)
            yield candidates.rows


@pytest.mark.parametrize(
    "learner", [*LEARNERS, nv.Perceptron(multi_class="ovo", n_jobs=2)], ids=str
)
def test_an_interrupted_fit_is_usable(learner: Any) -> None:
    clf = clone(learner).set_params(order=CtrlC(), max_epochs=None)
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            clf.fit(np.tile(X, (3, 1)), np.arange(120) % 7)
    finally:
        signal.signal(signal.SIGINT, inherited)
    assert not clf.converged_
    assert clf.n_updates_ == clf.update_counts_.sum()
    assert clf.predict(PROBE).shape == (len(PROBE),)


BAD_INPUT: list[tuple[Callable[[Any], object], str]] = [
    (lambda clf: clf.fit([[1.0], [np.nan]], [0, 1]), "NaN in row 1, column 0"),
    (lambda clf: clf.fit([[1.0], [2.0]], [0, 0]), "one class only"),
    (lambda clf: clf.partial_fit([[1.0], [2.0]], [0, 1]), "classes must be passed"),
    (lambda clf: clf.learn_one([np.inf], 0), "finite"),
    (lambda clf: clf.set_params(max_epochs=0).fit([[1.0], [2.0]], [0, 1]), "max_epochs"),
    (lambda clf: clf.set_params(order="best").fit([[1.0], [2.0]], [0, 1]), "order"),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize(("call", "message"), BAD_INPUT)
def test_bad_input_is_rejected_with_one_sentence(call: Any, message: Any, learner: Any) -> None:
    with pytest.raises(ValueError, match=message):
        call(clone(learner))


@pytest.mark.parametrize(("multi_class", "order"), [("ovr", "random"), ("ovo", "cyclic")])
def test_weights_are_factors_on_the_steps_as_in_the_perceptron(
    multi_class: Any, order: Any
) -> None:
    """The linear kernel and p = 2 give the same run on integers; a row of weight 0 is ignored."""
    labels, weights = np.resize(THREE, 40), np.random.default_rng(4).integers(0, 4, size=40)
    options = {"order": order, "max_epochs": 6, "random_state": 2, "multi_class": multi_class}
    kinds: list[Any] = [nv.Perceptron(), nv.KernelPerceptron("linear"), nv.PNormPerceptron()]
    for learner in kinds:
        learner.set_params(class_weight={10: 3.0, 20: 1.0, 30: 2.0}, **options)
        learner.fit(INTEGERS, labels, sample_weight=weights)
    plain, *others = kinds
    for other in others:
        assert other.update_counts_.toarray().tolist() == plain.update_counts_.toarray().tolist()
        np.testing.assert_array_equal(other.model_.totals, plain.model_.totals)
        np.testing.assert_allclose(
            other.model_.scores(PROBE), plain.model_.scores(PROBE), rtol=1e-9, atol=1e-9
        )
    assert not plain.update_counts_.toarray()[:, weights == 0].any()
    for clf in kinds[:2]:
        clf.set_params(trace=True, warm_start=True).fit(INTEGERS, labels, sample_weight=weights)
    for one, two in zip(plain.trace_, others[0].trace_, strict=True):
        assert one.squared_norm.tolist() == two.squared_norm.tolist()
    for clf in kinds[:2]:
        clf.set_params(average=True, warm_start=False).fit(INTEGERS, labels, sample_weight=weights)
    np.testing.assert_allclose(
        plain.model_.scores(PROBE), others[0].model_.scores(PROBE), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("learner", STATEFUL, ids=str)
def test_a_warm_start_continues(learner: Any) -> None:
    """Two epochs and then three equal five epochs, including the counts."""
    clf = clone(learner).set_params(order="cyclic", warm_start=True, max_epochs=2)
    clf.fit(X, NOISY).set_params(max_epochs=3).fit(X, NOISY)
    whole = clone(learner).set_params(order="cyclic", max_epochs=5).fit(X, NOISY)
    assert (whole.converged_, clf.n_mistakes_) == (False, whole.n_mistakes_)
    np.testing.assert_allclose(
        clf.decision_function(PROBE), whole.decision_function(PROBE), rtol=1e-9, atol=1e-12
    )
    before = clf.decision_function(PROBE).tobytes()
    fails = SimpleNamespace(
        covers=True, epochs=lambda candidates, rng: iter([candidates.rows, [99]])
    )
    with pytest.raises(ValueError, match="row numbers from 0 to 39"):
        clf.set_params(order=fails).fit(X, NOISY)
    assert clf.decision_function(PROBE).tobytes() == before


def test_the_clock_is_looked_at_between_rows_that_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [time.monotonic()]

    def kernel(A: Any, B: Any) -> Any:
        clock[0] += 1.0
        return np.zeros((len(A), len(B)))  # every row is a mistake

    monkeypatch.setattr("novikoff.core.stops.time.monotonic", lambda: clock[0])
    rows, labels = np.zeros((2000, 2000), dtype=np.float32), np.arange(2000) % 3
    clf = nv.KernelPerceptron(kernel, fit_intercept=False, max_epochs=1, max_seconds=10.0)
    assert clf.fit(rows, labels).n_updates_ < 300


def test_a_function_as_a_kernel_sees_the_features_there_are() -> None:
    widths = set()

    def linear(A: Any, B: Any) -> Any:
        widths.add(A.shape[1])
        return A @ B.T

    clf = learn_dicts(nv.KernelPerceptron(linear), 25)
    assert max(widths) == clf.n_features_in_ > 6
    assert clf.n_mistakes_ == learn_dicts(nv.KernelPerceptron("linear"), 25).n_mistakes_


def nan_kernel(A: Any, B: Any) -> Any:
    return np.full((A.shape[0], B.shape[0]), np.nan)


def again(clf: StateLearner, rows: Any, **change: Any) -> StateLearner:
    return clf.set_params(warm_start=True).fit(rows, TWO).set_params(**change).fit(rows, TWO)


SENTENCES: list[tuple[Callable[[], object], str]] = [
    (lambda: nv.PNormPerceptron(1.9).fit(X, TWO), "from 2 to 500, not 1.9"),
    (lambda: nv.PNormPerceptron(1000).fit(X, TWO), "from 2 to 500, not 1000"),
    (lambda: nv.SecondOrderPerceptron(0.0).fit(X, TWO), "'a' parameter"),
    (lambda: nv.Forgetron(0).fit(X, TWO), "'budget' .* above 0, not 0"),
    (lambda: nv.Forgetron(kernel="precomputed").fit(X, TWO), "'kernel' parameter of Forgetron"),
    (lambda: nv.Forgetron(order="max_distance").fit(X, TWO), "cannot look for the worst row"),
    (lambda: nv.KernelPerceptron("tanh").fit(X, TWO), "'kernel' parameter"),
    (
        lambda: nv.KernelPerceptron(nan_kernel).fit(X, TWO),
        "kernel of two rows is nan.*0 and 0",
    ),
    (lambda: nv.KernelPerceptron(lambda A, B: A).fit(X, TWO), r"array of shape \(40, 3\)"),
    (lambda: nv.KernelPerceptron("precomputed").fit(X, TWO), "a precomputed kernel is a square"),
    (lambda: nv.KernelPerceptron().learn_one({"a": 1.0}, 0), "gamma=None means 1/n_features"),
    (lambda: again(nv.KernelPerceptron("precomputed"), X @ X.T), "as a stream does. kernel"),
    (lambda: nv.PNormPerceptron().fit(X, TWO, np.zeros(40)), "one non-zero number"),
    (lambda: again(nv.PNormPerceptron(), X, fit_intercept=False), "fit_intercept=False differs"),
    (lambda: again(nv.Forgetron(), X).fit(X[:, :2], TWO), "warm_start needs data"),
    (
        lambda: nv.PNormPerceptron(class_weight={"no": 0, "yes": 0}).fit(X, TWO),
        "All sample weights are zero",
    ),
    (
        lambda: nv.KernelPerceptron("poly", degree=200).fit(1e9 * X, TWO),
        "is inf, but must be finite",
    ),
]


@pytest.mark.parametrize(("call", "message"), SENTENCES, ids=[text for _, text in SENTENCES])
def test_bad_parameters_are_rejected_with_one_sentence(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        call()
    assert str(raised.value).endswith(".")


def test_kernels_that_no_space_has_are_reported_and_not_rejected() -> None:
    rng = np.random.default_rng(0)
    G = rng.normal(size=(30, 30))
    clf = nv.KernelPerceptron("precomputed", max_epochs=3)
    between = np.eye(501)  # the pair is not among the rows whose eigenvalues are computed
    between[499, 0] = between[0, 499] = 5.0
    small = np.diag([1e12, 1.0, 1.0, 1.0])
    small[1, 2] = small[2, 1] = 3.0
    long = G * np.geomspace(1e-6, 1e6, 30)[:, None]
    sound = ((G @ G.T, False), (long @ long.T, False), (G[:, :2] @ G[:, :2].T, False))
    for gram, said in (*sound, (G + G.T, True), (G, True), (between, True), (small, True)):
        with case_named(gram):
            y = np.arange(len(gram)) % 2
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                clf.fit(gram, y)
            texts = [str(w.message) for w in caught if w.category is not ConvergenceWarning]
            assert any("no feature space" in text for text in texts) is said
            assert clf.predict(gram).shape == y.shape
    assert not hasattr(clf, "partial_fit")
    assert not hasattr(clf, "support_vectors_")


@pytest.mark.parametrize("name", sorted(kernel_metrics()))
def test_the_pairwise_kernels_of_scikit_learn_are_kernels(name: str) -> None:
    function, rows = kernel_metrics()[name], np.abs(X)
    rows.flags.writeable = False
    for learner in (nv.KernelPerceptron(function), nv.Forgetron(5, kernel=function)):
        with case_named(learner):
            clf = learner.set_params(max_epochs=3).fit(rows, TWO)
            assert clf.predict(rows).shape == (40,)
            assert clf.learn_one(rows[0], TWO[0]).predict_one(rows[0]) in TWO


def test_a_function_as_a_kernel_cannot_be_saved(tmp_path: Path) -> None:
    clf = nv.KernelPerceptron(lambda A, B: A @ B.T).fit(X, TWO)
    with pytest.raises(ValueError, match="its kernel is a function, which no file can hold"):
        nv.save(clf, tmp_path / "model")


CHANGES: list[tuple[StateLearner, dict[str, Any]]] = [
    (nv.PNormPerceptron(), {"p": 8.0}),
    (nv.SecondOrderPerceptron(), {"a": 2.0}),
    (nv.Forgetron(), {"budget": 3}),
    (nv.Forgetron(), {"kernel": "linear"}),
    (nv.KernelPerceptron(), {"gamma": 7.0}),
    (nv.Perceptron(), {"multi_class": "ovo"}),
    (nv.PassiveAggressive(), {"average": True}),
    (nv.KernelPerceptron(average=True), {"average": False}),
    (nv.PNormPerceptron(), {"fit_intercept": False}),
]


@pytest.mark.parametrize(("learner", "change"), CHANGES)
def test_what_a_model_has_learned_by_is_not_changed_under_way(
    learner: Any, change: Any, tmp_path: Path
) -> None:
    (name,) = change
    clf = clone(learner).fit(X, TWO).set_params(**change)
    before = clf.decision_function(PROBE).tobytes()
    message = f"{name}=.* has learned: set it back, or fit again"
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(X, TWO)
    with pytest.raises(ValueError, match=message):
        clf.learn_one(X[0], TWO[0])
    with pytest.raises(ValueError, match=message):
        nv.save(clf, tmp_path / "model")
    assert clf.decision_function(PROBE).tobytes() == before
    clf.fit(X, TWO)
    nv.save(clf, tmp_path / "model")
    nv.load(tmp_path / "model")


@pytest.mark.parametrize(("learner", "change"), CHANGES, ids=str)
def test_a_single_step_sees_what_another_fit_has_learned_by(learner: Any, change: Any) -> None:
    (name,) = change
    clf, before = clone(learner), learner.get_params()[name]
    clf.learn_one(X[0], "no").learn_one(X[1], "yes").set_params(**change)
    with pytest.raises(ValueError, match=f"{name}=.* has learned: set it back, or fit again"):
        clf.learn_one(X[0], "no")
    clf.fit(X, TWO).set_params(**{name: before})
    if before is None:  # nothing was learned before, so every change is allowed
        return
    with pytest.raises(ValueError, match=f"{name}=.* has learned: set it back, or fit again"):
        clf.learn_one(X[0], "no")


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_no_file_is_written_that_cannot_be_read(learner: Any, tmp_path: Path) -> None:
    clf = clone(learner).fit(X, TWO).set_params(max_epochs=0)
    with pytest.raises(ValueError, match="cannot be saved: The 'max_epochs' parameter"):
        nv.save(clf, tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if issubclass(kind, StateLearner)])
def test_a_huge_example_is_rejected_and_changes_nothing(kind: Any) -> None:
    clf = kind().partial_fit(X, NOISY, classes=["no", "yes"])
    before = clf.decision_function(PROBE).tobytes()
    for label in ("no", "yes"):
        with case_named(label), pytest.raises(ValueError, match=r"float64|finite"):
            clf.learn_one(np.full(3, 1e308), label)
    mistakes, rows = clf.n_mistakes_, np.vstack([X, np.full((2, 3), 1e308)])
    labels = [*np.where(NOISY == "no", "yes", "no"), "no", "yes"]  # mistakes come first
    weighted = "class_weight" in clf.get_params()
    weights = {"sample_weight": np.repeat([1.0, 1e300], [40, 2])} if weighted else {}
    with pytest.raises(ValueError, match=r"float64|finite"):
        clf.partial_fit(rows, labels, **weights)
    assert clf.decision_function(PROBE).tobytes() == before, kind
    assert clf.n_mistakes_ == mistakes, kind


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**53 + 1, "float64 cannot hold exactly: subtract a constant"),
        (np.int64(2**53 + 1), "float64 cannot hold exactly: subtract a constant"),
        (np.datetime64("2020-01-01"), "number"),
        ("3", "number"),
    ],
)
def test_an_example_is_not_rounded_nor_guessed(value: Any, message: Any, kind: Any) -> None:
    examples: list[Any] = [np.array([value, 1]), [value, 0.5], {"t": value, "u": 0.5}]
    for x in examples:
        clf = kind().learn_one([1.0, 2.0], "no")
        if isinstance(x, dict):
            clf = kind().fit(pd.DataFrame({"t": [1.0, 2.0], "u": [0.0, 1.0]}), ["no", "yes"])
        before = clf.n_updates_
        for name, call in {
            "learn": lambda x, clf=clf: clf.learn_one(x, "no"),
            "predict": clf.predict_one,
        }.items():
            with case_named((x, name)), pytest.raises(ValueError, match=message):
                call(x)
        assert clf.n_updates_ == before


@pytest.mark.parametrize(
    "value", [2, True, np.bool_(True), np.float32(2.0), np.int8(2), 2**60, 1e100], ids=repr
)
def test_numbers_of_every_type_are_examples(value: Any) -> None:
    examples: list[Any] = [[value, 0.5], {"t": value, "u": 0.5}]
    for x in examples:
        assert nv.Perceptron().learn_one(x, "no").predict_one(x) == "no"


@pytest.mark.parametrize("p", [2.0, 3.0])
def test_cycles_are_found_by_the_p_norm_perceptron(p: float) -> None:
    xor, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    clf = nv.PNormPerceptron(p, order="cyclic")
    with pytest.warns(ConvergenceWarning, match="cycles"):
        clf.fit(xor, y)
    assert clf.period_ is not None
