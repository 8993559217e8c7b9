"""Tests over many random problems: one case for each block of seeds."""

from __future__ import annotations

from typing import Any

import pytest


def seed_blocks(count: int, size: int = 100) -> Any:
    """Parametrise a test over blocks of seeds, ``seeds``, which name its cases."""
    blocks = [range(first, min(first + size, count)) for first in range(0, count, size)]
    names = [f"seeds {block[0]}-{block[-1]}" for block in blocks]
    return pytest.mark.parametrize("seeds", blocks, ids=names)
