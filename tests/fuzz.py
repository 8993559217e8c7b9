"""Read a great many damaged files, and stop at the first that is not read or refused as it should.

``python -m tests.fuzz [COUNT [SEED]]`` runs COUNT inputs (100,000 by default), each in memory, in
pieces, on disk, from a pipe and by the kernels. An input that fails is named by its bytes.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from tests.property.test_data_pieces import fuzz

_BATCH = 100


def main(count: int = 100_000, seed: int | None = None) -> int:
    """Run them in batches; the exit code."""
    first = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    began, done, read = time.monotonic(), 0, 0
    print(f"seed {first}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(-(-count // _BATCH)):
            read += fuzz(_BATCH, first + turn, Path(folder))
            done += _BATCH
            if turn % 50 == 49 or done >= count:
                seconds = time.monotonic() - began
                print(f"{done:,} inputs, {read:,} of them read, {seconds:,.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
