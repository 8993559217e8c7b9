"""The modules of the page and the widget: types, size, and the script that joins them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.page import export, presets, widget

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
    """In the joined script, a name that two modules define would be an error."""
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
    files = [static / name for name in ("lab.css", "index.html")]
    files += [static / "presets" / name for name in ("menu.json", "two_clouds.json")]
    files += [static / name for name in export.modules("main.js")]
    assert sum(file.stat().st_size for file in files) <= 225_000


def test_a_name_cannot_end_the_script_of_a_file() -> None:
    page = export.offline_page({**QUESTION, "names": ["</script>", "<script>alert(1)</script>"]})
    assert page.count("</script>") == page.count("<script") == 2
    assert not re.search(r"^(import|export) ", page, re.MULTILINE)


def test_the_lab_is_one_file_of_at_most_200_kb() -> None:
    assert len(export.offline_page().encode()) <= 200_000


def test_a_frame_in_a_notebook() -> None:
    pytest.importorskip("anywidget", reason="the widget needs anywidget")
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = pandas.DataFrame({"length": [1.0, 2.0], "width": [0.0, 3.0]})
    asked = nv.lab(frame, ["b", "a"], order="permuted").question
    assert asked == {
        "points": [[1.0, 0.0, 1], [2.0, 3.0, -1]], "names": ["length", "width"], "order": "permuted"
    }  # fmt: skip
    signs = nv.lab([[0, 1], [1, 2]], ["-", "+"]).question["points"]
    assert signs == [[0.0, 1.0, -1], [1.0, 2.0, 1]]
    with pytest.raises(ValueError, match="two features and two classes, not 2 and 3"):
        nv.lab([[0, 1], [1, 2], [2, 3]], ["a", "b", "c"])
    with pytest.raises(ValueError, match="unknown field 'colour'"):
        nv.lab(colour="red")


def test_the_notebook_s_page(browser: Any) -> None:
    """The widget's module works when it is loaded as in a notebook, with a kernel that answers."""
    pytest.importorskip("anywidget", reason="the widget needs anywidget")
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.expose_function("kernel", widget.reply)
    page.set_content('<div class="jp-OutputArea-child"><img id="still"></div><div id="cell"></div>')
    shown = nv.lab(np.array(QUESTION["points"])[:, :2], [0, 0, 0, 1])
    page.evaluate(
        """async ([script, question]) => {
          const module = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
          const heard = [];
          const model = {
            on: (_, callback) => heard.push(callback),
            get: (name) => ({ question, still: "still" })[name],
            send: (message) => kernel(message).then((told) => heard.forEach((f) => f(told))),
          };
          (await import(module)).default.render({ model, el: document.getElementById("cell") });
        }""",
        [shown._esm, shown.question],
    )
    page.wait_for_selector(".lab[data-settled=true][data-kind=separable]")
    assert "at most ⌊R²/γ²⌋ = 51 mistakes" in page.inner_text("#verdict")
    assert page.locator("#still").is_hidden()  # the picture for readers without a kernel
    assert page.locator("#link").count() == 0  # the address is the notebook's
    page.locator(".dot").first.focus()
    page.keyboard.press("f")
    page.wait_for_selector(".lab[data-settled=true]")
    assert page.locator(".dot.plus").count() == 2
    assert page.evaluate("location.href") == "about:blank"
    context.close()


@pytest.mark.parametrize(
    ("motion", "view", "plays"),
    [("no-preference", {}, True), ("reduce", {}, False),
     ("no-preference", {"moment": 2}, False), ("reduce", {"moment": 2}, False)],
)  # fmt: skip
def test_the_run_of_a_file_plays_from_its_beginning(
    browser: Any, tmp_path: Path, motion: str, view: dict[str, Any], plays: bool
) -> None:
    """It does not play if a moment is given, or if the reader asks for less motion."""
    (tmp_path / "run.html").write_text(export.offline_page(QUESTION, view), encoding="utf-8")
    context = browser.new_context(reduced_motion=motion)
    page = context.new_page()
    page.clock.install(time=0)
    page.clock.pause_at(1)  # the player waits for this clock, which stands still
    page.goto((tmp_path / "run.html").as_uri())
    page.wait_for_selector(".lab[data-settled=true][data-kind=separable]")
    slider = page.locator("input[type=range]")
    first = str(view.get("moment", 0))
    assert slider.input_value() == first
    page.clock.run_for(1000)
    assert (slider.input_value() != first) == plays
    context.close()


@pytest.mark.parametrize(
    ("text", "told"),
    [("1,2,–1\n3,4,+1", [-1, 1]), ("1,2,－1\n3,4,＋1", [-1, 1]),
     ("1,2,1\n3,4,+1\n5,6,-1.0\n7,8,1.0", [1, 1, -1, 1]), ("a,b,c\n1,2,+\n2,3,-", [1, -1]),
     ("NaN,1,1\n1,2,-1", "Line 1 "), ("?,1,1\n1,2,-1", "Line 1 "), ("1,2,NaN\n1,2,1", "Line 1 "),
     ("1,2\n3,4,1", "Line 1 "), ("1,2,1\n\n3,4,-1", "Line 2 of the table is empty")],
)  # fmt: skip
def test_a_pasted_table_is_read_or_rejected(browser: Any, text: str, told: list[int] | str) -> None:
    page = browser.new_page()
    page.add_script_tag(content=export.joined("answers.js"))
    labels = "return fromTable(t).points.map((p) => p[2]);"
    asked = f"t => {{ try {{ {labels} }} catch (e) {{ return e.message; }} }}"
    found = page.evaluate(asked, text)
    page.close()
    assert found == told if isinstance(told, list) else told in found
