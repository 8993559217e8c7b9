"""The layout of the lab on six screens, measured from its boxes; the pictures of the proof."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest

from novikoff.page import answers, presets
from novikoff.page.question import Question
from tests.browser.conftest import Server, Visit
from tests.cases import case_named

ALL = presets.presets()
TOUR = json.loads((presets.RECORDS / "tour.json").read_text(encoding="utf-8"))
PANELS = ["space", "step", "leaf", "inner", "norm", "angle"]
SCREENS = [(1280, 800), (1366, 768), (1280, 720), (1024, 768), (1920, 1080), (390, 844)]
# What is clipped, which boxes overlap, what is below the fold, and the smallest type of the page.
MEASURE = """() => {
  const wrong = [];
  const seen = (n) => n.getClientRects().length && getComputedStyle(n).visibility !== "hidden";
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  const phone = innerWidth <= 900;
  const name = (n) => String(n.getAttribute("class") ?? n.id ?? n.tagName);
  for (const n of all(".panel, .explain, .says, .timeline, .drawing, .numbers, .caption, .tour")) {
    if (n.scrollHeight > n.clientHeight + 1 && !phone) wrong.push(`clipped below: ${name(n)}`);
    if (n.scrollWidth > n.clientWidth + 1) wrong.push(`clipped at the side: ${name(n)} ${n.scrollWidth} ${n.clientWidth}`);
  }
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) wrong.push("the page is too wide");
  if (!phone && page.scrollHeight > innerHeight) wrong.push("the page is too high");
  const said = document.getElementById("sentence").getBoundingClientRect();
  if (said.bottom > innerHeight || said.top < 0) wrong.push("the sentence is out of sight");
  const boxes = all("h1, h2, .verdict, .lesson, .caption, .readout, .explain > *, .drawing, .numbers, .budget,"
    + ".legend, .tools, .links, .story, .tour" + (phone ? "" : ", .controls, #sentence"));
  boxes.forEach((a, k) => boxes.slice(k + 1).filter((b) => !a.contains(b) && !b.contains(a)).forEach((b) => {
    const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
    const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (across > 1 && down > 1) wrong.push(`${name(a)} overlaps ${name(b)}`);
  }));
  const names = all(".space text, .sum text").map((n) => [n, n.getBoundingClientRect()]);
  names.forEach(([a, p], k) => names.slice(k + 1).forEach(([b, q]) => {
    if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1
        && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4)
      wrong.push(`${a.textContent} overlaps ${b.textContent}`);
  }));
  const read = all(".numbers, .explain > *").map((n) => n.getBoundingClientRect());
  names.forEach(([a, p]) => read.forEach((q) => {
    if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 3
        && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 5) wrong.push(`${a.textContent} covers words`);
  }));
  const links = all(".space .link").map((n) => n.getBoundingClientRect());
  const far = (low, high) => Math.max(...links.map((p) => p[high])) - Math.min(...links.map((p) => p[low]));
  if (links.length && Math.max(far("left", "right"), far("top", "bottom")) < 40) wrong.push("a loop is too small");
  const type = all("p, li, h2, td, th, output, svg text, .opener").filter((n) => n.textContent.trim())
    .map((n) => [parseFloat(getComputedStyle(n).fontSize), name(n)]).sort((a, b) => a[0] - b[0]);
  const low = all(".drawing").filter((n) => n.clientHeight < 80).map(
    (n) => `${n.clientHeight} ${n.closest(".fold").dataset.panel}`);
  return { wrong, low, smallest: type[0] };
}"""  # noqa: E501


@pytest.mark.parametrize("screen", SCREENS, ids=[f"{w}x{h}" for w, h in SCREENS])
def test_nothing_is_clipped_and_no_boxes_overlap(
    browser: Any, server: Server, screen: tuple[int, int]
) -> None:
    width, height = screen
    here = Visit(browser, server, viewport={"width": width, "height": height}).open()
    found = {}
    for mode in ("plain", "presenting"):
        if mode == "presenting":
            here.page.click("#present")
        for name in ALL:
            here.page.select_option("#data", name, force=True)
            here.page.wait_for_selector(f"#lab[data-name={name}][data-settled=true]")
            for key in ("1", "2", "3"):
                here.press(key)
                told = here.page.evaluate(MEASURE)
                found[mode, name, PANELS[int(key) - 1]] = told["wrong"] + told["low"]
                if mode == "presenting" and screen == (1920, 1080):
                    assert told["smallest"][0] >= 24.0, told["smallest"]
    assert {key: wrong for key, wrong in found.items() if wrong} == {}
    here.close()


def test_a_box_that_is_too_small_would_be_seen(visit: Visit) -> None:
    visit.open()
    assert visit.page.evaluate(MEASURE)["wrong"] == []
    visit.page.evaluate(
        "document.querySelector('.space-panel').style.cssText = 'flex: none; height: 60px'"
    )
    assert any("clipped" in wrong for wrong in visit.page.evaluate(MEASURE)["wrong"])


def test_one_panel_at_a_time_is_presented(visit: Visit) -> None:
    page = visit.open().page
    page.click("#present")
    for key, panel in enumerate(PANELS, 1):
        with case_named(panel):
            visit.press(str(key))
            drawn = page.locator(".fold .drawing:visible")
            assert drawn.count() == 1
            shown = drawn.evaluate("n => n.closest('.fold').dataset.panel")
            assert shown == panel
    page.click(".space-panel .opener")
    assert page.is_visible(".space")
    assert page.is_visible(".story")


def leaf(visit: Visit) -> dict[str, Any]:
    """The ends of the curves of the chart of the whole proof, in pixels."""
    return dict(visit.page.evaluate(
        """() => {
          const spots = (n) => [...n.getAttribute("d").matchAll(/[ML]([-\\d.]+) ([-\\d.]+)/g)]
            .map(([, x, y]) => [Number(x), Number(y)]);
          const one = (name) => spots(document.querySelector(`.leaf-chart ${name}`));
          const bounds = [...document.querySelectorAll(".leaf-chart .bound")].map(spots);
          const limit = document.querySelector(".leaf-chart .limit");
          return { low: bounds[0], high: bounds[1], length: one(".values"),
            along: one(".progress"), limit: Number(limit.getAttribute("x1")) };
        }"""
    ))  # fmt: skip


@pytest.mark.parametrize("name", ["and", "tight", "two_clouds", "far_away", "thin_margin"])
def test_the_proof_closes_in_one_chart(visit: Visit, name: str) -> None:
    """The run stays in the room between the bounds, and the room ends at the bound on mistakes."""
    visit.open().choose(name)
    told = leaf(visit)

    def height(line: list[list[float]], x: float) -> float:
        k = next((k for k, spot in enumerate(line) if spot[0] >= x), len(line) - 1)
        (x1, y1), (x2, y2) = line[max(0, k - 1)], line[k]
        return y2 if x2 == x1 else y1 + (y2 - y1) * (x - x1) / (x2 - x1)

    assert len(told["along"]) == len(told["length"]) >= 3
    for (x, along), (_, length) in zip(told["along"], told["length"], strict=True):
        assert height(told["high"], x) - 2.0 <= length <= along + 0.2  # pixels grow downward
        assert along <= height(told["low"], x) + 2.0
    first = told["low"][0][0]
    middle = (first + told["limit"]) / 2
    assert height(told["high"], middle) < height(told["low"], middle) - 5.0
    assert (
        height(told["high"], told["limit"] + 8.0) > height(told["low"], told["limit"] + 8.0) - 1.5
    )


def test_a_tight_run_lies_on_its_bounds(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("tight")
    assert "at most ⌊R²/γ²⌋ = 3 mistakes. This run made 3." in visit.verdict
    for text in page.locator(".card .readout").all_text_contents():
        value, limit = (float(part) for part in re.findall(r"[\d.]+", text)[:2])
        assert math.isclose(value, limit, rel_tol=3e-3)
    assert "only room for 3 mistakes" in page.inner_text(".story")


def test_xor_opens_with_a_line_and_repeats(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("xor")
    assert page.locator(".line-now").count() == 1
    assert "The run repeats every round" in page.inner_text(".leaf")
    assert page.locator(".leaf-chart .loop").count() == 3  # one of the four updates moves b alone
    visit.press("End")
    assert "it repeats every round and never ends" in visit.sentence
    assert "w = 0: there is no line." in page.inner_text(".legend")
    visit.press("Home", "PageDown", "PageDown", "PageDown")
    assert "The line of w is outside this picture." in page.inner_text(".legend")
    visit.choose("flipped")
    assert "The path of w" in page.inner_text(".leaf")
    assert page.locator(".leaf-chart .loop").count() == 0


def test_pointing_at_a_row_shows_its_numbers(visit: Visit) -> None:
    page = visit.open("/#p=3,4,1;-1,0,-1;1,-3,-1&bias=false&start=[1,2,0]&at=0").page
    (x, y), w = (3.0, 4.0), (1.0, 2.0)
    page.locator(".dot .body.round").first.hover(force=True)
    tip = page.inner_text(".tip")
    product = x * w[0] + y * w[1]
    assert "row 1 (+) at 3, 4" in tip
    assert f"⟨a, w⟩ = {product:g} > 0: correct" in tip
    assert f"projection of a on w: {product / math.hypot(*w):.4g}" in tip
    angle = math.degrees(math.acos(product / (5 * math.hypot(*w))))
    assert f"{angle:.3g}°, less than 90°" in tip
    assert page.locator(".way").count() == 1
    page.locator(".dot").nth(2).focus()
    assert "row 3 (−)" in page.inner_text(".tip")
    page.mouse.move(2, 2)
    page.evaluate("document.activeElement.blur()")
    assert not page.is_visible(".tip")


def test_w_can_be_dragged(visit: Visit) -> None:
    """Its tip turns the line around its foot, its foot moves the line; both are a new w₀."""
    page = visit.open("/#p=2,1,1;-1,0,-1;1,-3,-1&start=[0,2,-1]&at=0").page
    tip, foot = page.locator(".handle.of-w").all()
    a, b = (part.bounding_box() for part in (foot, tip))
    middle = {key: [box[key] + box[size] / 2 for box in (a, b)]
              for key, size in (("x", "width"), ("y", "height"))}  # fmt: skip
    page.mouse.move(middle["x"][1], middle["y"][1])
    page.mouse.down()
    page.mouse.move(middle["x"][0] + 60, middle["y"][0], steps=4)  # to the right of the foot
    page.mouse.up()
    visit.settle()
    w = page.evaluate("JSON.parse(new URLSearchParams(location.hash.slice(1)).get('start'))")
    page.wait_for_url("**start=*")
    shown = page.eval_on_selector_all(
        ".numbers tbody tr:last-child td", "nodes => nodes.map((n) => Number(n.dataset.value))"
    )
    assert shown[0] == pytest.approx(2.0, abs=0.02)
    assert abs(shown[1]) < 0.1
    assert w is not None
    assert visit.sentence.startswith("Start")
    page.click("#undo")
    visit.settle()
    page.wait_for_function(
        "document.querySelectorAll('.numbers tbody td')[1].dataset.value === '2'"
    )


@pytest.mark.parametrize("name", ["xor_kernel", "circles"])
def test_a_kernel_separates_what_no_line_separates(visit: Visit, name: str) -> None:
    page = visit.open().page
    visit.choose(name)
    assert "Inseparable, proved" in visit.verdict
    assert page.locator(".shading").count() == 2
    count = len(ALL[name]["question"]["points"])
    assert f"Correct: {count} of {count} rows." in page.inner_text(".lesson")


def test_a_prediction_hides_what_would_tell(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("xor")
    page.click("#predict")
    for selector in (".hull", ".meeting", ".line-pocket", ".weight-name", ".loop", ".limit"):
        assert page.locator(selector).count() == 0, selector
    assert "no line" not in page.inner_text(".side")
    assert "contradiction" not in page.inner_text("#lab")


@pytest.mark.parametrize("screen", [(1280, 720), (1024, 768), (1920, 1080), (390, 844)])
def test_the_tour_fits_on_the_screen(browser: Any, server: Server, screen: tuple[int, int]) -> None:
    width, height = screen
    here = Visit(browser, server, viewport={"width": width, "height": height}).open()
    page = here.page
    page.click("#tour")
    for at, scene in enumerate(TOUR, 1):
        page.wait_for_selector(f".tour h2 >> text={at} of 8: {scene['title']}")
        page.wait_for_selector(f"#lab.touring[data-name={scene['preset']}][data-settled=true]")
        assert not page.is_visible(".answer")
        page.click("#answer")
        assert page.inner_text(".answer") == scene["answer"]
        told = page.evaluate(MEASURE)
        assert told["wrong"] + told["low"] == [], scene["title"]
        assert page.is_visible(f"[data-panel={scene['panel']}] .drawing")
        page.click("#next-scene")
    page.wait_for_selector(".tour", state="hidden")
    assert "touring" not in str(page.get_attribute("#lab", "class"))
    here.close()


def test_two_orders_are_compared(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("max_distance")
    page.wait_for_selector(".line-beside", state="attached")
    question = ALL["max_distance"]["question"]
    other = answers.run_answer(Question.from_json({**question, "order": "cyclic"}))["run"]
    made = len(other["index"])
    assert f"Compared, cyclic: {made} mistakes in all" in page.inner_text(".budget")
    assert page.get_attribute(".line-beside", "d") != page.get_attribute(".line-now", "d")
    page.click("#more summary")
    page.select_option("#beside", "permuted")
    page.wait_for_selector(".budget >> text=Compared, permuted")
    page.select_option("#beside", "")
    assert page.locator(".line-beside").count() == 0


def test_both_rules_count_their_mistakes_on_the_doubling_stream(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("aggressive")
    page.wait_for_selector(".counter", state="attached")
    question = ALL["aggressive"]["question"]
    runs = [answers.run_answer(Question.from_json({**question, "rule": rule}))["run"]
            for rule in ("aggressive", "perceptron")]  # fmt: skip
    for moment in (0, 3, 40, 300):
        with case_named(moment):
            page.evaluate(
                """(at) => { const slider = document.querySelector("input[type=range]");
                slider.value = at; slider.dispatchEvent(new Event("input")); }""",
                moment,
            )
            mistakes = [
                run["mistakes"][sum(before < moment for before in run["n_steps"])] for run in runs
            ]
            assert page.text_content(".leaf .readout") == " and ".join(map(str, mistakes))


def test_the_player_has_a_speed(visit: Visit) -> None:
    page = visit.page
    page.clock.install()
    visit.open().choose("corner_trap")
    page.select_option("#speed", "20")
    page.click("#go-first")
    page.click("#go-play")
    page.clock.run_for(700)
    assert int(page.inner_text(".where").split()[2]) >= 15
    page.click("#go-play")


def test_the_player_does_not_run_ahead_of_a_prediction(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("and")
    page.click("#predict")
    visit.press("Space", "PageDown", "End")
    assert int(page.input_value("input[type=range]")) == 0
    page.fill(".guess", "9")
    page.keyboard.press("Enter")
    page.evaluate("document.activeElement.blur()")
    visit.press("Space")
    assert "It was row 1." in page.inner_text(".prompt")
    assert page.get_attribute("#go-play", "aria-label") == "Play"


def test_the_plane_stays_where_it_is_while_a_point_is_dragged(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1280, "height": 800})
    visit.open()
    tops = set()
    row = next(k for k, point in enumerate(visit.points()) if point[2] == 1)
    box = page.locator(".dot").nth(row).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(box["x"] - 10 * step, box["y"] + 40 * step)
        visit.settle()
        place = page.locator(".plane").bounding_box()
        tops.add((place["x"], place["y"], place["width"], place["height"]))
    page.mouse.up()
    page.wait_for_selector("#lab[data-kind=inseparable]")
    assert len(tops) == 1
