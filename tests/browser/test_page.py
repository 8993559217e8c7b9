"""The lab's page in a real browser shows what the library and a ten-line loop compute."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.page import answers, presets
from novikoff.page.question import Question
from tests.browser.conftest import SETTLED, Server, Visit
from tests.cases import case_named
from tests.page.test_lab import kernel_perceptron, signed, step_late, ten_lines

ALL = presets.presets()


def read_numbers(visit: Visit) -> list[tuple[float, float]]:
    """The two numbers of each readout, as the page shows them."""
    found = []
    for text in visit.page.locator(".card .readout").all_inner_texts():
        sides = re.match(r"([−\d.,e]+) [≤≥] ([−\d.,e]+)", text)
        if sides:
            one, two = (float(side.replace("−", "-").replace(",", "")) for side in sides.groups())
            found.append((one, two))
    return found


def check_run(visit: Visit, question: dict[str, Any]) -> None:
    """Step through the run on the page and compare every step with a recomputation."""
    A, page = signed(question), visit.page
    acts, path = ten_lines(A, 0.0, answers.MAX_UPDATES)
    verdict = nv.separate(*split(question))
    assert verdict.coef is not None
    u = np.append(verdict.coef, verdict.intercept or 0.0)
    u /= np.linalg.norm(u)
    gamma, R = (A @ u).min(), np.linalg.norm(A, axis=1).max()
    page.click("#go-first")
    for t, row in enumerate(acts, 1):
        page.click("#go-next")
        assert f"t = {t}: row {row + 1} " in visit.sentence
        shown = page.eval_on_selector_all(
            ".numbers tbody tr:last-child td", "nodes => nodes.map((n) => Number(n.dataset.value))"
        )
        assert shown == path[t].tolist()
        inner, squared, cosine = path[t] @ u, path[t] @ path[t], 0.0
        cosine = inner / math.sqrt(squared)
        expected = [
            (inner, t * gamma), (squared, t * R**2), (cosine, math.sqrt(t) * gamma / R)
        ]  # fmt: skip
        np.testing.assert_allclose(read_numbers(visit), expected, rtol=1.1e-3)
        assert page.locator(".readout .holds").count() == 3
    page.click("#go-last")
    assert "a full round without a mistake" in visit.sentence
    page.click("#go-previous")
    assert f"t = {len(acts)}: " in visit.sentence


def split(question: dict[str, Any]) -> tuple[Any, Any]:
    table = np.array(question["points"], dtype=np.float64)
    return table[:, :2], table[:, 2].astype(int)


@pytest.mark.parametrize("name", ["two_clouds", "and", "corner_trap"])
def test_the_run_is_a_ten_line_perceptron(visit: Visit, name: str) -> None:
    visit.open().choose(name)
    check_run(visit, ALL[name]["question"])


def _flatter_bounds(told: dict[str, Any]) -> None:
    bounds = told["run"]["bounds"]
    for key in ("inner", "cosine"):
        bounds[key] = [1.1 * value for value in bounds[key]]


@pytest.mark.parametrize("break_it", [_flatter_bounds, step_late])
def test_a_wrong_answer_would_be_seen(
    visit: Visit, static: Path, break_it: Callable[[dict[str, Any]], None]
) -> None:
    record = json.loads((static / "presets" / "and.json").read_text())
    break_it(record["answer"])
    visit.page.route("**/presets/and.json", lambda route: route.fulfill(json=record))
    visit.open().choose("and")
    with pytest.raises(AssertionError):
        check_run(visit, ALL["and"]["question"])


def contradiction(visit: Visit) -> float:
    """‖Σ λ·a‖ of the table on the page."""
    points, total = visit.points(), np.zeros(3)
    weights = visit.page.eval_on_selector_all(
        ".explain tbody tr",
        "rows => rows.map((r) => [r.dataset.row, r.dataset.weight].map(Number))",
    )
    assert weights
    for row, weight in weights:
        x1, x2, label = points[int(row)]
        total += weight * label * np.array([x1, x2, 1.0])
    return float(np.linalg.norm(total))


def test_a_point_dragged_across(visit: Visit) -> None:
    visit.open()
    page = visit.page
    before = visit.points()
    row = next(k for k, point in enumerate(before) if point[2] == 1)
    target = next(k for k, point in enumerate(before) if point[2] == -1 and point[1] < -0.3)
    start, end = (page.locator(".dot").nth(k).bounding_box() for k in (row, target))
    page.mouse.move(start["x"] + 18, start["y"] + 18)
    page.mouse.down()
    page.mouse.move(end["x"] + 14, end["y"] + 8, steps=12)
    page.mouse.up()
    page.wait_for_selector(f"{SETTLED}[data-kind=inseparable]")
    after = visit.points()
    assert after[row] != before[row]
    assert [*after[:row], *after[row + 1 :]] == [*before[:row], *before[row + 1 :]]
    X, y = split({"points": after})
    verdict = nv.separate(X, y)
    assert verdict.kind == "inseparable"
    assert all(str(k + 1) in visit.verdict for k in verdict.support)
    assert contradiction(visit) < 1e-9
    pocket = nv.Pocket(random_state=0).fit(X, y)
    page.wait_for_selector("text=/misclassifies at least/")
    assert f"at least {pocket.errors_lower_bound_}" in page.locator(".readout").last.inner_text()
    page.click("#undo")
    page.wait_for_selector(f"{SETTLED}[data-kind=separable]")
    assert visit.points() == before


def test_a_dropped_weight_would_be_seen(visit: Visit, static: Path) -> None:
    record = json.loads((static / "presets" / "xor.json").read_text())
    record["answer"]["weights"].pop()
    visit.page.route("**/presets/xor.json", lambda route: route.fulfill(json=record))
    visit.open().choose("xor")
    assert contradiction(visit) > 0.1


def test_a_stale_answer_never_overwrites_a_newer_one(visit: Visit) -> None:
    visit.open()
    held: list[Any] = []
    visit.page.route("**/api/run", lambda route: held.append(route))
    with visit.page.expect_request("**/api/run"):
        visit.page.click("#bias")
    visit.page.select_option("#data", "xor")
    visit.page.wait_for_selector("#lab[data-kind=inseparable]")
    with visit.page.expect_response("**/api/run"):
        held[0].continue_()
    visit.settle()
    assert "rows 1, 2, 3, 4" in visit.verdict
    assert len(visit.points()) == 4


def test_latest_wins(visit: Visit) -> None:
    """If many questions arise while the page waits for an answer, only the last is asked."""
    visit.open()
    asked: list[Any] = []
    held: list[Any] = []

    def hold(route: Any) -> None:
        asked.append(json.loads(route.request.post_data))
        if len(asked) == 1:
            held.append(route)
        else:
            route.continue_()

    visit.page.route("**/api/run", hold)
    visit.page.locator(".dot").first.focus()
    visit.page.keyboard.press("Enter")
    with visit.page.expect_request("**/api/run"):
        visit.page.keyboard.press("ArrowUp")
    for _ in range(5):
        visit.page.keyboard.press("ArrowUp")
    held[0].continue_()
    visit.settle()
    assert len(asked) == 2
    assert asked[1]["points"][0][1] == pytest.approx(visit.points()[0][1], rel=1e-3)


def test_keyboard_only(visit: Visit) -> None:
    visit.open().choose("and")
    visit.page.evaluate("document.getElementById('undo').focus()")
    while visit.page.evaluate("document.activeElement.getAttribute('data-row')") is None:
        visit.page.keyboard.press("Tab")
    visit.press("n", "n", "n")
    assert visit.page.evaluate("document.activeElement.dataset.row") == "3"
    visit.press("Enter", "Shift+ArrowRight", "Escape")
    assert visit.points()[3] == (1.5, 1.0, 1)
    visit.press("f")
    assert visit.points()[3][2] == -1
    assert "one label" in visit.verdict
    visit.press("Delete")
    assert len(visit.points()) == 3
    visit.press("Control+z", "Control+z")
    assert visit.points()[3] == (1.5, 1.0, 1)
    visit.press("a")
    assert len(visit.points()) == 5
    visit.press("Control+z")
    visit.page.evaluate("document.activeElement.blur()")
    visit.press("Home")
    assert visit.sentence.startswith("Start")
    visit.press("PageDown")
    assert visit.sentence.startswith("Mistake t = 1:")
    visit.press("k")
    assert visit.sentence.startswith("Visit 2 of")
    visit.press("j", "ArrowRight", "ArrowLeft")
    assert visit.sentence.startswith("Mistake t = 1:")
    visit.press("End")
    assert "the run ends" in visit.sentence


@pytest.fixture
def phone(browser: Any, server: Server) -> Iterator[Visit]:
    here = Visit(browser, server, viewport={"width": 390, "height": 844}, has_touch=True,
                 is_mobile=True)  # fmt: skip
    yield here
    here.close()


def test_touch_on_a_phone(phone: Visit) -> None:
    page = phone.open().page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    plane = page.locator(".plane").bounding_box()
    count = len(phone.points())
    page.touchscreen.tap(plane["x"] + 30, plane["y"] + 30)
    page.wait_for_selector(f".dot:nth-child({count + 1})")
    phone.settle()
    page.locator("button[aria-label='Flip the label']").tap()
    phone.settle()
    assert phone.points()[-1][2] == -1
    page.locator("button[aria-label='Delete the point']").tap()
    phone.settle()
    assert len(phone.points()) == count
    (x, y, _), dot = phone.points()[1], page.locator(".dot").nth(1).bounding_box()
    across, down = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    finger = phone.context.new_cdp_session(page)
    for kind, far in (("Start", 0), ("Move", 20), ("Move", 60), ("End", 0)):
        spots = [{"x": across + far, "y": down + far}] if kind != "End" else []
        finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": spots})
    phone.settle()
    moved = phone.points()[1]
    assert (moved[0] > x, moved[1] < y, page.evaluate("scrollY")) == (True, True, 0)
    small = page.evaluate(
        "[...document.querySelectorAll('button, select, summary')].filter((n) => n.offsetParent)"
        ".map((n) => n.getBoundingClientRect()).filter((r) => r.width < 36 || r.height < 36).length"
    )
    assert small == 0


def test_a_link_restores_everything(visit: Visit, browser: Any, server: Server) -> None:
    visit.open().choose("two_clouds")
    visit.page.select_option("#order", "permuted")
    visit.page.locator(".dot").first.focus()
    visit.press("Enter", "ArrowUp", "Enter", "f")
    visit.press("Home", "PageDown", "PageDown")
    visit.page.click("#link")
    visit.page.wait_for_selector("text=/^The (link|address)/")
    link = visit.page.evaluate("location.pathname + location.hash")
    visit.press("Home", "PageDown", "PageDown")
    told = visit.verdict, visit.sentence, visit.points()
    other = Visit(browser, server).open(link)
    assert (other.verdict, other.sentence, other.points()) == told
    assert other.page.evaluate("history.length") <= 2
    other.close()


HOSTILE = [
    "p=" + "0,0,1;" * 301,
    "p=NaN,0,1",
    "p=1e9,0,1",
    "p=0,0,2",
    "p=0,0",
    "p=0,0,1&order=<script>alert(1)</script>",
    "p=0,0,1&step_size=-1",
    "p=0,0,1&mine=1,2",
    "p=0,0,1&nonsense=1",
    "%E0%A4%A",
    "__proto__=1",
    "p=0,0,1&names=[1,2]",
]


@pytest.mark.parametrize("link", HOSTILE, ids=[link[:40] for link in HOSTILE])
def test_a_hostile_link_is_rejected_with_a_reason(visit: Visit, link: str) -> None:
    visit.open(f"/#{link}")
    visit.page.wait_for_selector(".trouble:not([hidden])")
    said = visit.page.inner_text(".trouble")
    assert said.startswith("The link in this address cannot be opened.")
    assert "Separable" in visit.verdict
    visit.page.click("#go-first")
    assert visit.sentence.startswith("Start")


UNUSUAL = [
    ("p=", "no points"),
    ("p=0,0,1;1,1,-1&at=-5", "Separable"),
    ("p=0,0,1;1,1,-1&at=2.5&names=%5B%22%3Cb%3E%22%2C%22%22%5D", "Separable"),
    ("p=1,1,1;2,0,1", "one label"),
    ("p=0,0,1", "one label"),
    ("p=0,0,1;0,0,-1&bias=false", "Inseparable"),
    ("p=1,1,1;1,1,-1&at=99999", "Inseparable"),
    ("p=1000000,0,1;-1000000,0,-1", "Separable"),
    ("p=0,0,1;0,0,-1", "Inseparable"),
    ("p=1,2,1;-1,0,-1&mine=0,0,1&start=1,-1,2&threshold=3&step_size=0.1", "Separable"),
]


@pytest.mark.parametrize(("link", "word"), UNUSUAL)
def test_an_unusual_link_is_a_living_page(visit: Visit, link: str, word: str) -> None:
    visit.open(f"/#{link}")
    assert word in visit.verdict
    for panel in (".space-panel", ".step-panel", ".proof"):
        with case_named(panel):
            assert len(visit.page.text_content(panel)) > 20
    count = len(visit.points())
    visit.press("a")
    assert len(visit.points()) == count + 1


def test_a_pasted_table(visit: Visit) -> None:
    page = visit.open().page
    page.click("#paste")
    page.fill("textarea", "x,y,class\n0,1,cat\nnope,2,dog\n")
    page.click("#use-table")
    page.wait_for_selector("dialog .trouble:not([hidden])")
    assert "Line 3" in page.inner_text("dialog .trouble")
    page.fill("textarea", "0,1,-1\n" * 301)
    page.click("#use-table")
    page.wait_for_selector("dialog >> text=at most 300 points")
    page.fill("textarea", "x,y,class\n0,1,cat\n3;2;dog\n1\t5\tcat")
    page.click("#use-table")
    page.wait_for_selector("dialog", state="hidden")
    assert visit.points() == [(0, 1, -1), (3, 2, 1), (1, 5, -1)]
    assert page.locator(".axis-name").all_text_contents() == ["x", "y"]
    page.click("#undo")
    visit.settle()
    assert len(visit.points()) == len(ALL["two_clouds"]["question"]["points"])


TABLES = [
    ("0 1 +\n2 3 -\n", [(0, 1, 1), (2, 3, -1)]),
    ("0,1,−\n−2,3,+\n", [(0, 1, -1), (-2, 3, 1)]),
    ("0,1,-1\n2,3,+1\n", [(0, 1, -1), (2, 3, 1)]),
    ("0;1;no\n2;3;yes\n", [(0, 1, -1), (2, 3, 1)]),
    ("0,1,-\n", [(0, 1, -1)]),
    ("0,1,+\n", [(0, 1, 1)]),
]


@pytest.mark.parametrize(("text", "points"), TABLES)
def test_pasted_labels_keep_their_sides(
    visit: Visit, text: str, points: list[tuple[float, float, int]]
) -> None:
    page = visit.open().page
    page.click("#paste")
    page.fill("textarea", text)
    page.click("#use-table")
    page.wait_for_selector("dialog", state="hidden")
    assert visit.points() == points


def test_a_table_without_rows_is_an_error(visit: Visit) -> None:
    page = visit.open().page
    page.click("#paste")
    page.fill("textarea", "a,b")
    page.click("#use-table")
    page.wait_for_selector("dialog >> text=The table has no rows")
    assert len(visit.points()) == len(ALL["two_clouds"]["question"]["points"])


def start_at(visit: Visit, text: str) -> None:
    visit.page.evaluate("document.getElementById('more').open = true")
    visit.page.fill("#start", text)
    visit.page.keyboard.press("Tab")
    visit.settle()


@pytest.mark.parametrize("text", ["5 -5 3", "−1;2;3"])
def test_a_start_is_accepted(visit: Visit, text: str) -> None:
    start_at(visit.open(), text)
    assert "(R² + 2γ‖w₀‖)/γ²" in visit.verdict


@pytest.mark.parametrize("text", ["1, 2", "1, 2, x", "1, 2, 3, 4"])
def test_a_start_that_is_no_point_is_rejected_with_an_error(visit: Visit, text: str) -> None:
    page = visit.open().page
    start_at(visit, "-1, 2, 3")
    start_at(visit, text)
    assert f"“{text}” is not. The run still starts at -1, 2, 3." in page.inner_text(".trouble")
    assert page.input_value("#start") == "-1, 2, 3"


def test_a_preset_has_no_start(visit: Visit) -> None:
    page = visit.open().page
    start_at(visit, "−1;2;3")
    assert page.input_value("#start") == "-1, 2, 3"
    visit.choose("or")
    assert page.input_value("#start") == ""
    assert "at most ⌊R²/γ²⌋ = 27 mistakes" in visit.verdict


def test_every_number_called_a_bound_is_that_of_this_run(visit: Visit) -> None:
    page = visit.open().page
    page.click("#more summary")
    page.fill("#threshold", "20")
    page.keyboard.press("Tab")
    visit.settle()
    said = r"at most ⌊\(R² \+ 2δ\)/γ²⌋ = ([\d,]+) updates. This run made 135, "
    stated = re.search(said, visit.verdict)
    assert stated
    assert f"updates 135 of at most {stated[1]}, " in page.inner_text(".budget")
    assert f"so t ≤ (R² + 2δ)/γ²: at most {stated[1]} updates." in page.text_content(".panels")
    assert f"closes after at most {stated[1]} updates" in page.inner_text(".explain")
    page.select_option("#rule", "aggressive")
    visit.settle()
    assert "at most" not in visit.verdict + page.inner_text(".budget")
    assert "R²/γ² does not bound this rule" in page.inner_text(".budget")


def test_mistakes_are_counted_apart_from_updates(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("aggressive")
    assert "300 updates, among them 13 mistakes" in page.inner_text(".budget")
    page.click("#go-first")
    for _ in range(8):
        page.click("#go-next")
    assert "8 updates, among them 3 mistakes" in page.inner_text(".budget")
    assert "which is correct, but this rule updates anyway" in visit.sentence


def test_the_pocket_is_stepped(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("pocket")
    question = ALL["pocket"]["question"]
    run = answers.run_answer(Question.from_json(question))["run"]
    page.click("#go-first")
    assert "a misclassified row a is drawn at random" in visit.sentence
    for t in range(1, 12):
        page.click("#go-next")
        now, kept = run["errors"][t], run["pocket"][t]
        before = run["errors"][run["pocket"][t - 1]]
        assert f"Update {t}: row {run['index'][t - 1] + 1} " in visit.sentence
        assert (
            f"The new w misclassifies {now}, {'' if kept == t else 'not '}fewer than the {before}"
            in (visit.sentence)
        )
        told = f"misclassified rows: w {now}, pocket {run['errors'][kept]} (w after update {kept})"
        assert told in page.inner_text(".budget")
        assert f"{now} now · pocket {run['errors'][kept]}" in page.inner_text(".panels")
    assert not page.is_visible("#order")  # rows are drawn at random
    assert page.locator(".line-pocket").count() == 1
    page.select_option("#data", "two_clouds")
    visit.settle()
    assert page.is_visible("#order")


def test_the_fewest_mistakes_are_a_line_without_a_time(visit: Visit) -> None:
    """The search is a different run, so its steps do not appear on the axis of the shown run."""
    page = visit.open().page
    visit.choose("xor")
    page.wait_for_selector("path.more.pocket", state="attached")
    heights = set(re.findall(r"[ML][-.\d]+ ([-.\d]+)", page.get_attribute("path.pocket", "d")))
    assert len(heights) == 1


def test_a_rule_of_one_s_own(visit: Visit) -> None:
    page = visit.open().page
    page.check("#reference-mine")
    visit.settle()
    best = read_numbers(visit)
    handle = page.locator(".handle").first
    handle.focus()
    visit.press("Enter", "ArrowUp", "ArrowUp", "ArrowUp", "Escape")
    assert page.locator(".readout .holds").count() == 3
    assert read_numbers(visit) != best
    assert "your w*" in page.text_content(".proof")
    page.check("#reference-best")
    visit.settle()
    np.testing.assert_allclose(read_numbers(visit), best, rtol=1e-3)


def test_no_panel_is_empty_and_none_overflows(visit: Visit) -> None:
    page = visit.open().page
    for name in ALL:
        visit.choose(name)
        assert page.locator(".card:not([hidden])").count() == 3, name
        drawn = page.eval_on_selector_all(
            ".plane, .space, .chart",
            "all => all.map((n) => n.querySelectorAll('path, circle, line').length)",
        )
        assert min(drawn) > 2, name
        overflow = page.evaluate(
            "[...document.querySelectorAll('.panel')].filter((n) => n.scrollHeight > n.clientHeight"
            " + 2 || n.scrollWidth > n.clientWidth + 2).map((n) => n.className)"
        )
        assert overflow == [], name
        assert page.evaluate("document.documentElement.scrollHeight") <= 900, name


def test_predictions_are_veiled_until_they_are_made(visit: Visit) -> None:
    page = visit.open().page
    page.click("#predict")
    assert "Predict" in visit.verdict
    assert "8" not in page.inner_text(".where")
    page.fill(".guess", "5")
    page.keyboard.press("Enter")
    acts, _ = ten_lines(signed(ALL["two_clouds"]["question"]), 0.0, 300)
    page.locator(".dot").nth(acts[0]).click(force=True)
    assert "Yes!" in page.inner_text(".prompt")
    page.locator(".dot").nth((acts[1] + 1) % 36).click(force=True)
    assert f"it was row {acts[1] + 1}" in page.inner_text(".prompt")
    page.click("#predict")
    assert "Separable" in visit.verdict


GUESSES = [
    ("or", "5", "The run made 9 mistakes. You said 5: 4 too few."),
    ("or", "9", "The run made 9 mistakes. You said 9: exactly right."),
    ("or", "never", "The run made 9 mistakes. You said that it never ends: it does end."),
    ("or", "", "The run made 9 mistakes."),
    ("xor", "5", "every w misclassifies a row. You said 5: not right."),
    ("xor", "never", "every w misclassifies a row. You said that it never ends: right."),
    ("feature_x100", "5", "makes at least 300 mistakes, more than are shown. You said 5."),
]


@pytest.mark.parametrize(("name", "guess", "told"), GUESSES)
def test_a_predicted_count_is_answered(visit: Visit, name: str, guess: str, told: str) -> None:
    page = visit.open().page
    visit.choose(name)
    page.click("#predict")
    if guess == "never":
        page.click("#never")
    else:
        page.fill(".guess", guess)
        page.keyboard.press("Enter")
    if name == "or":
        for _ in range(9):
            page.click("#go-next")
    else:
        page.click("#show-rest")
    assert page.inner_text(".prompt b").endswith(told)
    page.click(".prompt button")
    assert "Predict" not in visit.verdict


def test_presenting_shows_the_plane_and_the_proof(visit: Visit) -> None:
    page = visit.open().page
    page.click("#present")
    assert not page.is_visible(".tools")
    assert page.is_visible(".plane")
    assert page.locator(".card:visible").count() == 3
    visit.press("Home", "PageDown")
    assert visit.sentence.startswith("Mistake t = 1")
    visit.press("Space", "Space")  # plays and pauses: the button no longer has the focus
    assert not page.is_visible(".tools")
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
    visit.press("Escape")
    assert page.is_visible(".tools")


def test_more_shows_the_average_the_vote_and_other_runs(visit: Visit) -> None:
    page = visit.open().page
    page.click("#more summary")
    page.click("text=the averaged line")
    assert page.locator(".line-average").count() == 1
    page.select_option("#sides", "voted")
    page.wait_for_selector("path.shading")
    before = visit.verdict
    page.fill("#step_size", "0.5")
    page.keyboard.press("Tab")
    visit.settle()
    assert visit.verdict == before  # B6: a step changes nothing from zero
    page.click("button[title='× 2']")
    visit.settle()
    assert visit.verdict != before


def drawn_sides(visit: Visit, size: int = 40) -> tuple[Any, Any]:
    """Spots of the data over the plane, and the side on which each is drawn."""
    told = visit.page.evaluate(
        """(size) => {
          const { width, height } = document.querySelector(".plane").viewBox.baseVal;
          const [plus, minus] = ["plus", "minus"].map((side) =>
            document.querySelector(`.side-${side}.shading`));
          const at = (k) => (k + 0.5) / size;
          const spots = Array.from({ length: size * size }, (_, k) =>
            new DOMPoint(at(k % size) * width, at(Math.floor(k / size)) * height));
          const dots = [...document.querySelectorAll(".dot")].map(
            (dot) => dot.getAttribute("transform").match(/[-.\\d]+/g).map(Number));
          return { dots, sides: spots.map((spot) =>
            [spot.x, spot.y, plus.isPointInFill(spot) - minus.isPointInFill(spot)]) };
        }""",
        size,
    )
    points, dots, sides = (np.array(part) for part in (visit.points(), told["dots"], told["sides"]))
    (ax, bx), (ay, by) = (np.polyfit(dots[:, k], points[:, k], 1) for k in (0, 1))
    return np.column_stack([ax * sides[:, 0] + bx, ay * sides[:, 1] + by]), sides[:, 2]


def check_drawn(visit: Visit, question: dict[str, Any]) -> None:
    """The drawn sides are the estimator's, except within one cell of its boundary."""
    spots, sides = drawn_sides(visit)
    clf = kernel_perceptron(question).fit(*split(question))
    cell = np.ptp(spots, axis=0) / 70  # the grid has 80
    moves = [np.array([i, j]) * cell for i in (-1, 0, 1) for j in (-1, 0, 1)]
    near = np.array([clf.predict(spots + move) for move in moves])
    clear = (near == near[0]).all(axis=0)
    assert clear.mean() > 0.7
    assert {-1, 1} == set(sides[clear].tolist())
    assert (sides == near[0])[clear].all()
    assert f"mistakes: {clf.n_mistakes_}, then a clean round" in visit.page.inner_text(".lesson")


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("name", ["xor", "flipped"])
def test_the_kernel_s_sides_are_the_estimator_s(visit: Visit, name: str, kernel: str) -> None:
    visit.open().choose(name)
    with visit.page.expect_response("**/api/sides"):
        visit.page.select_option("#sides", kernel, force=True)
    visit.page.wait_for_selector(".shading", state="attached")
    check_drawn(visit, {**ALL[name]["question"], "sides": kernel})
    visit.page.select_option("#sides", "line", force=True)
    visit.page.wait_for_selector(".shading", state="detached")


def test_the_sides_follow_the_points_and_scrubbing_asks_nothing(visit: Visit) -> None:
    page = visit.open("/#p=0,0,-1;0,1,1;1,0,1;1,1,-1;0.5,0.2,1&sides=rbf").page
    page.wait_for_selector(".shading", state="attached")
    said = page.inner_text(".lesson")
    page.locator(".dot").first.focus()
    page.keyboard.press("f")
    page.wait_for_function(
        "(said) => document.querySelector('.lesson').innerText !== said", arg=said
    )
    points = [list(point) for point in visit.points()]
    assert points[0] == [0, 0, 1]
    check_drawn(visit, {"points": points, "sides": "rbf"})
    page.wait_for_url("**#p=0,0,1;*")  # written when nothing has changed for a while
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.click("#go-first")
    page.wait_for_url("**&at=0&*")
    assert asked == []


@pytest.mark.parametrize(
    "break_it",
    [
        pytest.param(lambda told: {**told, "rows": told["rows"][::-1]}, id="upside down"),
        pytest.param(
            lambda told: {**told, "box": [told["box"][0] + 0.5, *told["box"][1:]]}, id="moved"
        ),
    ],
)
def test_wrong_sides_would_be_seen(visit: Visit, break_it: Callable[[Any], Any]) -> None:
    visit.page.route(
        "**/api/sides", lambda route: route.fulfill(json=break_it(route.fetch().json()))
    )
    visit.open().choose("flipped")
    visit.page.select_option("#sides", "rbf", force=True)
    visit.page.wait_for_selector(".shading", state="attached")
    with pytest.raises(AssertionError):
        check_drawn(visit, {**ALL["flipped"]["question"], "sides": "rbf"})


def test_a_network_in_the_menu_in_a_link_and_offline(
    visit: Visit, browser: Any, tmp_path: Path
) -> None:
    visit.page.route("**/api/sides", lambda route: route.abort())  # the preset is recorded
    visit.open().choose("xor_network")
    assert (drawn_sides(visit)[1] != 0).all()
    said = visit.page.inner_text(".lesson")
    assert "Correct: 4 of 4 rows." in said
    visit.page.wait_for_url("**sides=network")
    visit.page.unroute("**/api/sides")
    visit.page.reload()
    visit.page.wait_for_selector(".shading", state="attached")
    assert visit.page.inner_text(".lesson") == said
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(visit.download("#save-html", tmp_path).as_uri())
    page.wait_for_selector(".shading", state="attached")
    assert page.inner_text(".lesson") == said
    context.close()
    visit.choose("xor")  # whose sides are the line's
    assert visit.page.locator(".shading").count() == 0


def test_the_first_sight_plays(browser: Any, server: Server) -> None:
    """The page plays before the first click, and a click on the timeline stops it."""
    here = Visit(browser, server, reduced_motion="no-preference")
    here.page.goto(server.root)
    here.page.wait_for_selector("#go-play[aria-label=Pause]")
    # A slow machine skips moments: any moment after the start shows that the run plays.
    here.page.wait_for_selector("#sentence >> text=/^(Mistake t = |Visit )/")
    here.page.click("#go-back")
    here.page.wait_for_selector("#go-play[aria-label=Play]")
    here.close()


@pytest.mark.parametrize("name", ["two_clouds", "xor"])
def test_the_offline_page_scrubs(visit: Visit, browser: Any, tmp_path: Path, name: str) -> None:
    visit.open().choose(name)
    file = visit.download("#save-html", tmp_path)
    assert file.stat().st_size < 200_000
    context = browser.new_context(offline=True)
    page, errors = context.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: errors.extend(
        [] if request.url.startswith(("file:", "data:")) else [request.url]))  # fmt: skip
    page.goto(file.as_uri())
    page.wait_for_selector(".dot")
    assert page.inner_text("#verdict") == visit.verdict
    page.click("#go-first")
    page.click("#go-next")
    visit.page.click("#go-first")
    visit.page.click("#go-next")
    assert page.inner_text("#sentence") == visit.sentence
    slider = page.locator("input[type=range]")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert "Visit 2" in page.inner_text("#sentence") or "t = 2" in page.inner_text("#sentence")
    assert errors == []
    context.close()


def test_what_is_exported(visit: Visit, tmp_path: Path) -> None:
    visit.open().choose("flipped")
    files = {
        form: visit.download(f"#save-{form}", tmp_path) for form in ("csv", "python", "certificate")
    }
    X, y = split(ALL["flipped"]["question"])
    nv.Certificate.from_json(files["certificate"].read_text()).verify(X, y)
    rows = [line.split(",") for line in files["csv"].read_text().split()[1:]]
    assert np.array(rows, dtype=float).tolist() == ALL["flipped"]["question"]["points"]
    compile(files["python"].read_text(), "lab.py", "exec")


@pytest.mark.parametrize("form", ["SVG", "PNG"])
def test_a_picture_is_exported(visit: Visit, tmp_path: Path, form: str) -> None:
    visit.open().choose("flipped")
    assert visit.download(f"text=Picture ({form})", tmp_path).stat().st_size > 2000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, server: Server, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    here = Visit(browser, server, color_scheme=scheme, bypass_csp=True).open()
    for name in ("two_clouds", "xor", "through_origin"):
        here.choose(name)
        here.page.evaluate(
            "document.querySelectorAll('details').forEach((n) => { n.open = true; })"
        )
        assert axe.Axe().run(here.page).response["violations"] == [], name
    here.close()


def test_a_server_that_ends_and_comes_back(browser: Any, installed: Path) -> None:
    first = Server(installed)
    first.wait_until_ready()
    here = Visit(browser, first).open()
    first.stop()
    here.page.click("#bias")
    here.page.wait_for_selector(".trouble:not([hidden])")
    assert "does not answer" in here.page.inner_text(".trouble")
    second = Server(installed, "--port", str(first.port))
    here.page.wait_for_selector(".trouble", state="hidden")
    here.page.wait_for_selector(SETTLED)
    assert "through the origin" in here.verdict or "Separable" in here.verdict
    here.close()
    second.stop()
