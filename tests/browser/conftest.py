"""The lab's server, from a wheel, in a process of its own, and Chromium in front of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import chromium

ROOT = Path(__file__).parent.parent.parent
SETTLED = "#lab[data-settled=true]"


class Server:
    """``novikoff lab`` as a user starts it, from installed files, with no other program near."""

    def __init__(self, installed: Path, *words: str) -> None:
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "novikoff", "lab", "--no-open", *words], cwd=installed,
            env={**os.environ, "PYTHONPATH": str(installed), "PATH": ""},
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\S*", line)
        assert found, line
        self.address, self.port = found[0], int(found[1])
        self.root = f"http://127.0.0.1:{self.port}"

    def wait_until_ready(self) -> None:
        pause = threading.Event()
        while True:
            with urllib.request.urlopen(f"{self.root}/api/ready") as reply:  # noqa: S310
                told = json.load(reply)
            if all(stage["done"] for stage in told):
                return
            pause.wait(0.1)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel has in it, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "installed")
    return folder / "installed"


@pytest.fixture(scope="session")
def server(installed: Path) -> Iterator[Server]:
    pytest.importorskip("starlette", reason="the lab needs starlette: pip install 'novikoff[lab]'")
    running = Server(installed)
    running.wait_until_ready()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser() -> Any:
    return chromium.browser()


class Visit:
    """A page in a fresh window; every request off this machine is aborted and listed."""

    def __init__(self, browser: Any, server: Server, **options: Any) -> None:
        self.server = server
        options.setdefault("viewport", {"width": 1440, "height": 900})
        options.setdefault("reduced_motion", "reduce")  # then the page does not play by itself
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.strangers: list[str] = []
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.context.route(re.compile(r"^https?://(?!127\.0\.0\.1[:/])"), self._abort)

    def _abort(self, route: Any) -> None:
        self.strangers.append(route.request.url)
        route.abort()

    def open(self, where: str = "/") -> Visit:
        self.page.goto(self.server.root + where)
        self.page.wait_for_selector(f"{SETTLED}:not([data-kind=''])")
        return self

    def choose(self, name: str) -> None:
        self.page.select_option("#data", name)
        self.page.wait_for_selector(f"#lab[data-name={name}]{SETTLED[4:]}")

    def settle(self) -> None:
        self.page.wait_for_selector(SETTLED)

    @property
    def verdict(self) -> str:
        return str(self.page.inner_text("#verdict"))

    @property
    def sentence(self) -> str:
        return str(self.page.inner_text("#sentence"))

    def points(self) -> list[tuple[float, float, int]]:
        """The points as they are drawn."""
        texts = self.page.eval_on_selector_all(".dot", "nodes => nodes.map((n) => n.dataset.point)")
        numbers = [list(map(float, text.split(","))) for text in texts]
        return [(x1, x2, int(label)) for x1, x2, label in numbers]

    def download(self, selector: str, folder: Path) -> Path:
        """What a button of the menu "save" gives."""
        self.page.evaluate("document.getElementById('save').open = true")
        with self.page.expect_download() as download:
            self.page.click(selector)
        file = folder / str(download.value.suggested_filename)
        download.value.save_as(file)
        return file

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def close(self) -> None:
        # An answer may be on its way through a route: its error would be raised in the next test.
        self.page.unroute_all(behavior="wait")
        self.context.close()
        assert self.strangers == []
        assert self.errors == []


@pytest.fixture
def visit(browser: Any, server: Server) -> Iterator[Visit]:
    here = Visit(browser, server)
    yield here
    here.close()


@pytest.fixture
def static() -> Path:
    from importlib import resources

    return Path(str(resources.files("novikoff.page"))) / "static"
