"""One Chromium for all tests of a process that open pages."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from typing import Any

import pytest

PATH = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome")
     if (found := shutil.which(name))), None
)  # fmt: skip


@cache
def browser() -> Any:
    """A running browser, which ends with the process; the test is skipped if there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if PATH is None:
        pytest.skip("Chromium is not installed")
    playwright = sync_api.sync_playwright().start()
    running = playwright.chromium.launch(executable_path=PATH, args=["--no-sandbox"])
    atexit.register(playwright.stop)
    atexit.register(running.close)  # called before `playwright.stop`
    return running
