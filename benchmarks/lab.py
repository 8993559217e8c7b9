"""The lab: the price of an answer, of a drag, and of the first picture; ``make bench-lab``.

Answers are counted in milliseconds of CPU in this process, a drag in milliseconds in Chromium
beyond the server's own, the first picture in times of ``import numba`` in the same turn.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.measure import Row, render, timed
from novikoff.page import answers, export
from novikoff.page.presets import RECORDS
from novikoff.page.question import Question

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FRAME = 1000.0 / 60.0
TURNS = 20


def question(n: int) -> dict[str, Any]:
    """Two classes of n points in all, with a gap between them."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 2))
    y = np.where(X @ [0.6, 0.8] > 0.0, 1, -1)
    X += 0.15 * y[:, None] + 0.3
    return {"points": [[*x, int(sign)] for x, sign in zip(X.round(3).tolist(), y, strict=True)]}


def times_of_answers() -> list[Row]:
    """Milliseconds of CPU for one answer."""
    rows = []
    for n, aim in ((50, 10.0), (200, 20.0)):
        asked = Question.from_json(question(n))
        answers.run_answer(asked)
        spent = []
        for _ in range(TURNS):
            start = time.process_time()
            answers.run_answer(asked)
            spent.append(1000.0 * (time.process_time() - start))
        rows.append(Row(f"one answer, {n} points, ms of CPU", "", spent, aim))
    return rows


def weights() -> list[Row]:
    """Kilobytes of the page as it is first loaded, and of the page as one file."""
    static = RECORDS.parent
    files = [static / name for name in export.modules("main.js")]
    files += [static / "lab.css", static / "index.html", RECORDS / "menu.json"]
    loaded = sum(file.stat().st_size for file in [*files, RECORDS / "two_clouds.json"]) / 1000.0
    alone = len(export.offline_page().encode()) / 1000.0
    return [
        Row("page, kB", "", [loaded], 170.0),
        Row("the page as one file, which answers by itself, kB", "", [alone], 200.0),
    ]


def started(cache: str) -> tuple[subprocess.Popen[str], str]:
    """A server with its own kernel cache, and its address."""
    server = subprocess.Popen(
        [sys.executable, "-m", "novikoff", "lab", "--no-open"],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )  # fmt: skip
    line = "" if server.stdout is None else server.stdout.readline()
    return server, line.split()[2]


def first_picture(browser: Any) -> Row:
    """From the command to the first drawn points, with empty caches."""
    ratios = []
    for _ in range(3):
        unit, _ = timed(partial(peers.python, "-c", "import numba"))
        with tempfile.TemporaryDirectory() as cache:
            page, start = browser.new_page(), time.perf_counter()
            server, address = started(cache)
            page.goto(address)
            page.wait_for_selector("#lab[data-kind=separable] .dot")
            ratios.append((time.perf_counter() - start) / unit)
            page.close()
            server.terminate()
            server.wait()
    return Row(
        "`novikoff lab` to the first picture, empty caches, in `import numba`", "", ratios, 3.0
    )


def drag(browser: Any) -> Row:
    """Milliseconds from a question to its drawn answer, less the server's, while dragging."""
    with tempfile.TemporaryDirectory() as cache:
        server, address = started(os.environ.get("NUMBA_CACHE_DIR", cache))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        points = ";".join(",".join(map(str, point)) for point in question(50)["points"])
        page.goto(f"{address}#p={points}")
        page.wait_for_selector("#lab[data-kind=separable][data-settled=true] .dot", timeout=200_000)
        box = page.locator(".dot").first.bounding_box()
        page.evaluate("performance.clearResourceTimings()")
        page.mouse.move(box["x"] + 18, box["y"] + 18)
        page.mouse.down()
        for k in range(60):
            page.mouse.move(box["x"] + 18 + k / 4, box["y"] + 18 - k / 4)
        page.mouse.up()
        page.wait_for_selector("#lab[data-settled=true]")
        trips = page.evaluate(
            "performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/api/run'))"
            ".map((e) => e.duration)"
        )
        server.terminate()
        server.wait()
    library = times_of_answers()[0].median
    beyond = [trip - library for trip in trips]
    note = f"{len(trips)} answers to 60 moves, round trip {np.median(trips):.1f} ms"
    return Row(
        "drag one of 50 points: round trip beyond the library, ms", "", beyond, 2 * FRAME, note=note
    )


def main() -> int:
    """Print the table; 1 if an aim is missed."""
    rows = [*times_of_answers(), *weights()]
    if CHROMIUM is None:
        print("chromium is not installed: the first picture and the drag are not measured")
    else:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            rows += [first_picture(browser), drag(browser)]
            browser.close()
    print(render(rows))
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
