"""Read a great many damaged files, and check a great many random problems of every claim.

``python -m tests.fuzz [--count COUNT] [--seed SEED] [--claim NAME]`` reads COUNT damaged files
(100,000 by default), each in memory, in pieces, on disk, from a pipe and by the kernels, and then
checks COUNT/100 problems of each claim of `tests.claims`. A file that is not read or rejected as it
should is named by its bytes, a problem by its numbers, and the exit code is 1. With --claim only
the claims whose names have this text are checked, COUNT problems of each, and no files.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from tests.claims.register import Claim, all_claims
from tests.property.test_data_pieces import fuzz

_BATCH = 100


def main(count: int, seed: int, only: str | None) -> int:
    """Run them all; the exit code."""
    print(f"seed {seed}", flush=True)
    if only is None:
        read_files(count, seed)
        chosen, problems = [*all_claims().values()], -(-count // 100)
    else:
        chosen = [claim for name, claim in all_claims().items() if only in name]
        problems = count
    warnings.simplefilter("error")
    failed = [claim.name for claim in chosen if not check_problems(claim, problems, seed)]
    if failed:
        print(f"{len(failed)} of {len(chosen)} claims are false: {', '.join(failed)}")
    return 1 if failed or not chosen else 0


def read_files(count: int, seed: int) -> None:
    """Read damaged files in batches; an AssertionError names the bytes of the first that fails."""
    began, done, read = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(-(-count // _BATCH)):
            read += fuzz(_BATCH, seed + turn, Path(folder))
            done += _BATCH
            if turn % 50 == 49 or done >= count:
                seconds = time.monotonic() - began
                print(f"{done:,} inputs, {read:,} of them read, {seconds:,.0f} s", flush=True)


def check_problems(claim: Claim, problems: int, seed: int) -> bool:
    """Check problems of a claim until one fails, which is printed."""
    began = time.monotonic()
    for number in range(problems):
        try:
            claim.run(seed, number)
        except Exception:
            traceback.print_exc(limit=-3)
            return False
    print(f"{claim.name}: {problems:,} problems, {time.monotonic() - began:,.0f} s", flush=True)
    return True


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--count", type=int, default=100_000)
    asked.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    asked.add_argument("--claim", default=None)
    given = asked.parse_args()
    sys.exit(main(given.count, given.seed, given.claim))
