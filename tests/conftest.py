"""Settings that must be made before novikoff is imported, and fixtures for all tests."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import settings

_REPO = Path(__file__).parent.parent


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for path in sorted((_REPO / "src" / "novikoff").rglob("*.py")):
        digest.update(str(path.relative_to(_REPO)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


# Numba's cache notices a change in a kernel's own file only, not in what the kernel inlines:
# so each state of the sources gets a cache of its own.
if "NUMBA_CACHE_DIR" not in os.environ:
    _cache = _REPO / ".pytest_cache" / f"numba-{_digest_of_sources()}"
    _cache.mkdir(parents=True, exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = str(_cache)

settings.register_profile("novikoff", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("novikoff")


@pytest.fixture
def brief_descents(monkeypatch: pytest.MonkeyPatch) -> None:
    """End the search for fewer mistakes after 100 lines without improvement, not after thousands.

    How good the rules are is tested in `tests/golden`.
    """
    monkeypatch.setattr("novikoff.geometry.descent._MAX_IDLE", 100)
