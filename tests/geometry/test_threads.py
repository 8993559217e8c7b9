"""The same data, storage and seed give the same bits with any number of BLAS threads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

START = """
import hashlib, warnings
import numpy as np, scipy.sparse as sp
import novikoff as nv
warnings.simplefilter("ignore")
def labelled(n, d, flipped=0.0):
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) > 0.0) ^ (rng.random(n) < flipped)
    return X, y
def show(*parts):
    told = [p.encode() if isinstance(p, str) else np.ascontiguousarray(p).tobytes() for p in parts]
    print(hashlib.sha256(b"".join(told)).hexdigest())
"""
CASES = {
    "separate dense": "v = nv.separate(*labelled(600, 150)); show(v.coef, v.certificate.to_json())",
    "separate wide": "v = nv.separate(*labelled(40, 20000)); show(v.coef, v.certificate.to_json())",
    "separate sparse": "S = sp.random_array((800, 1600), density=0.01, format='csr', rng=rng); "
    "v = nv.separate(S, rng.integers(0, 2, 800)); show(v.coef, v.certificate.to_json())",
    "pocket": "p = nv.Pocket(random_state=0, max_updates=200).fit(*labelled(400, 60, 0.05)); "
    "show(p.coef_, p.intercept_)",
    "max margin": "m = nv.MaxMargin().fit(*labelled(600, 150)); show(m.coef_, m.intercept_)",
    "kernel perceptron": "X, y = labelled(1000, 100); m = nv.KernelPerceptron(random_state=0); "
    "show(m.fit(X, y).decision_function(X))",
    "forgetron": "X, y = labelled(600, 100); m = nv.Forgetron(budget=100, max_epochs=2, "
    "random_state=0).fit(X, y); show(m.decision_function(X))",
    "solve": "A = rng.normal(size=(600, 100)); s = nv.solve(A, A @ rng.normal(size=100) + "
    "rng.random(600)); show(s.certificate.to_json())",
    "herd": "h = nv.herd(rng.normal(size=(2000, 300)), n_samples=50); show(h.indices, h.errors)",
}


@pytest.fixture(scope="module")
def digests() -> tuple[dict[str, str], dict[str, str]]:
    """The digest of each case with one BLAS thread, and with two: two processes run all cases."""
    steps = "".join(f"rng = np.random.default_rng(0)\n{CASES[case]}\n" for case in CASES)
    running = [
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", START + steps],
            env={**os.environ, "OPENBLAS_NUM_THREADS": count, "OMP_NUM_THREADS": count},
            stdout=subprocess.PIPE,
            text=True,
        )
        for count in ("1", "2")
    ]
    one, two = (process.communicate()[0].split() for process in running)
    assert [process.returncode for process in running] == [0, 0]
    return dict(zip(CASES, one, strict=True)), dict(zip(CASES, two, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_bits_do_not_depend_on_the_number_of_threads(
    case: str, digests: tuple[dict[str, str], dict[str, str]]
) -> None:
    one_thread, two_threads = digests
    assert one_thread[case] == two_threads[case]
    assert len(one_thread[case]) == 64
