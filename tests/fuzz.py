"""Read a great many damaged files, and stop at the first that is not read or refused as it should.

``python -m tests.fuzz [COUNT [SEED]]`` runs COUNT inputs (a million by default), spread over
all readers. What fails is named by its seed and its bytes.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from functools import partial

from tests.property import test_flow_fuzz, test_svmlight_fuzz

_BATCH = 1_000
# How many of a hundred inputs each reader gets: kernels are quick, and pieces of files are not.
_SHARES = {"svmlight kernel": 50, "kernel": 30, "pipe": 10, "roads": 5, "blocks": 5}


def fuzzers() -> dict[str, Callable[[int, int], int]]:
    """By name: so many inputs by a seed; how many of them were read."""
    flow = {
        name: partial(test_flow_fuzz.fuzz, check) for name, check in test_flow_fuzz.CHECKS.items()
    }
    return {"svmlight kernel": test_svmlight_fuzz.fuzz, **flow}


def main(count: int = 1_000_000, seed: int | None = None) -> int:
    """Run them by turns; the exit code."""
    first = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    began, done, read, turn = time.monotonic(), 0, 0, 0
    print(f"seed {first}", flush=True)
    while done < count:
        for name, fuzz in fuzzers().items():
            size = _BATCH * _SHARES[name] // 100
            try:
                read += fuzz(size, first + turn)
            except Exception:
                print(f"{name}, seed {first + turn}:", file=sys.stderr, flush=True)
                raise
            done += size
        turn += 1
        if turn % 20 == 0 or done >= count:
            seconds = time.monotonic() - began
            print(f"{done:,} inputs, {read:,} of them read, {seconds:,.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
