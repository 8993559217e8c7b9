"""The page's modules: typed, small, joined into one script without clashes; and the notebook's."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from novikoff.lab import export, presets, widget

ROOT = Path(__file__).parent.parent.parent
TSC = shutil.which("tsc") or shutil.which("tsc", path=str(ROOT / ".venv/node/node_modules/.bin"))
QUESTION = presets.presets()["and"]["question"]


@pytest.mark.skipif(TSC is None, reason="typescript is not installed, and could not be")
def test_types() -> None:
    assert TSC is not None
    config = Path(__file__).parent / "tsconfig.json"
    done = subprocess.run([TSC, "-p", config], capture_output=True, text=True)  # noqa: S603
    assert done.stdout == ""
    assert done.returncode == 0


def test_names_at_the_top_level_are_unique(static: Path) -> None:
    """Joined into one script, two modules with one name would clash."""
    kinds = r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+|\[[^\]]*\])"
    names: Counter[str] = Counter()
    for file in static.glob("*.js"):
        for found in re.findall(kinds, file.read_text(encoding="utf-8"), re.MULTILINE):
            names.update(re.findall(r"\w+", found))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_address_of_elsewhere(static: Path) -> None:
    allowed = {"http://www.w3.org/2000/svg"}
    for file in [*static.glob("*.js"), *static.glob("*.css"), *static.glob("*.html")]:
        found = set(re.findall(r"https?://[^\s\"'`]*", file.read_text(encoding="utf-8")))
        assert found <= allowed, file.name


def test_the_page_is_light(static: Path) -> None:
    files = [*static.glob("*.js"), static / "lab.css", static / "index.html"]
    shown = [static / "presets" / "menu.json", static / "presets" / "two_clouds.json"]
    assert sum(file.stat().st_size for file in [*files, *shown]) <= 120_000


def test_a_recording_cannot_end_its_script() -> None:
    page = export.page(QUESTION, {"moment": 1, "</script>": "<script>alert(1)</script>"})
    assert page.count("</script>") == 1
    assert "import " not in page.split("<script")[1].split("startRecorded(")[0].replace(
        "import(", ""
    )


def test_the_notebook_s_page(browser: Any) -> None:
    """The widget's script with a kernel that answers, as a notebook would run it."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.expose_function("kernel", widget.reply)
    script = export.joined("app.js") + widget.SCRIPT
    start = """
        const heard = [];
        const model = {
          on: (_, callback) => heard.push(callback), get: () => (QUESTION),
          send: (message) => kernel(message).then((told) => heard.forEach((f) => f(told))),
        };
        render({ model, el: document.getElementById("cell") });
    """.replace("QUESTION", json.dumps(QUESTION))
    page.set_content(f'<div id="cell"></div><script type="module">{script}{start}</script>')
    page.wait_for_selector(".lab[data-settled=true][data-kind=separable]")
    assert "at most R²/γ² = 51 mistakes" in page.inner_text("#verdict")
    page.locator(".dot").first.focus()
    page.keyboard.press("f")
    page.wait_for_selector(".lab[data-settled=true]")
    assert page.locator(".dot.plus").count() == 2
    context.close()
