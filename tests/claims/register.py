"""The register of claims: what the library says is proved, bounded or guaranteed.

A claim is a function that takes one random problem, asks the library and an independent oracle,
and asserts that they agree. Its decorator names the generator of its problems, the public names
that it is about (`covers`) and pieces of the sentences that are printed about them (`sentences`).
`test_register.py` fails where a public name or a sentence has neither a claim nor a line in
`no_claim.py`; `test_claims.py` runs some problems of every claim, ``make fuzz`` many more.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Generate = Callable[[np.random.Generator], T]

# Every module of claims, by its subject.
SUBJECTS = ("verdicts", "models", "learners", "systems", "theory", "streams", "page", "commands")
CLAIMS: dict[str, Claim] = {}


@dataclass(frozen=True)
class Claim:
    """A claim, and the check that decides with one random problem whether it is true."""

    name: str  # module.function
    says: str  # the docstring of the check
    generate: Generate[Any]
    check: Callable[[Any], None]
    covers: tuple[str, ...]
    sentences: tuple[str, ...]
    problems: int  # that the tests run

    def run(self, seed: int, number: int) -> None:
        """Check one problem; an error names the claim, the problem and how to see it again."""
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode()), number])
        problem = self.generate(rng)
        try:
            self.check(problem)
        except BaseException as error:
            error.add_note(f"Claim {self.name}: {self.says}")
            error.add_note(f"Problem {number} of seed {seed}: {problem!r}")
            raise


def claim(
    generate: Generate[T],
    *,
    covers: Sequence[str] = (),
    sentences: Sequence[str] = (),
    problems: int = 100,
) -> Callable[[Callable[[T], None]], Callable[[T], None]]:
    """Add a check to the register."""

    def register(check: Callable[[T], None]) -> Callable[[T], None]:
        name = f"{check.__module__.rpartition('.')[2]}.{check.__name__}"
        says = " ".join((check.__doc__ or "").split())
        CLAIMS[name] = Claim(name, says, generate, check, tuple(covers), tuple(sentences), problems)
        return check

    return register


def all_claims() -> dict[str, Claim]:
    """Every claim by its name."""
    for subject in SUBJECTS:
        import_module(f"tests.claims.{subject}")
    return CLAIMS
