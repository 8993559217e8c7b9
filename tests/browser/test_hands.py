"""Keys, the mouse and saved pictures: what the page does with the input of a lecturer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from novikoff.page import presets
from tests.browser.conftest import Visit

ALL = presets.presets()
# What a lecturer clicks before the clicker is used.
CLICKED = ["#order", "#bias", "#reference-best", ".dot >> nth=3", ".plane", "#go-next", "#seed",
           "#more summary", "input[type=range]", "#undo"]  # fmt: skip


def moment(visit: Visit) -> int:
    return int(visit.page.input_value("input[type=range]"))


@pytest.mark.parametrize("clicked", CLICKED)
def test_keys_step_after_every_click(visit: Visit, clicked: str) -> None:
    page = visit.open("/#p=0,0,-1;0,1,1;1,0,1;1,1,1;2,2,1&order=permuted&seed=4").page
    if clicked == "#undo":
        page.click("#clear")
        visit.settle()
    page.locator(clicked).click(force=True)
    visit.settle()
    points, order = visit.points(), page.input_value("#order")
    keys = (
        {"PageDown": "PageUp"}
        if clicked == "#seed"
        else {"PageDown": "PageUp", "ArrowRight": "ArrowLeft"}
    )
    page.click("#go-first") if clicked != "#seed" else None
    page.locator(clicked).first.focus()
    start = moment(visit)
    for forward, back in keys.items():
        visit.press(back, back, forward)
        assert moment(visit) > 0
        visit.press(forward)
        later = moment(visit)
        visit.press(back)
        assert moment(visit) < later
    assert (visit.points(), page.input_value("#order")) == (points, order)
    assert start >= 0


def test_a_clicker_does_not_change_the_preset(visit: Visit) -> None:
    page = visit.open().page
    page.click("#data")
    visit.choose("or")
    page.focus("#data")
    visit.press("PageDown", "ArrowRight", "PageUp", "ArrowLeft", "PageDown")
    assert page.get_attribute("#lab", "data-name") == "or"
    assert page.input_value("#data") == "or"


def test_a_button_gives_up_the_focus(visit: Visit) -> None:
    """The space bar then plays, and does not press the button again."""
    page = visit.open().page
    page.click("#bias")
    visit.settle()
    assert not page.is_checked("#bias")
    visit.press("Home", "Space")
    assert not page.is_checked("#bias")
    assert page.get_attribute("#go-play", "aria-label") == "Pause"
    visit.press("Space")


def test_arrow_keys_move_a_point_only_after_enter(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("and")
    page.locator(".dot").nth(3).click(force=True)
    visit.press("ArrowRight", "ArrowLeft", "ArrowUp")
    assert visit.points()[3] == (1, 1, 1)
    visit.press("Enter")
    assert page.locator(".dot.moving").count() == 1
    assert "The arrow keys move row 4" in page.inner_text(".lesson")
    visit.press("ArrowRight", "ArrowUp")
    assert visit.points()[3] == (1.05, 1.05, 1)
    visit.press("Escape")
    assert page.locator(".dot.moving").count() == 0
    visit.press("ArrowRight")
    assert visit.points()[3] == (1.05, 1.05, 1)
    visit.press("Enter")
    page.locator(".dot").nth(0).focus()
    assert page.locator(".dot.moving").count() == 0


@pytest.mark.parametrize("screen", [(1280, 800), (390, 844)])
def test_every_point_can_be_taken(visit: Visit, screen: tuple[int, int]) -> None:
    """A pointer takes the nearest point, on a narrow screen too, where points overlap."""
    visit.page.set_viewport_size({"width": screen[0], "height": screen[1]})
    visit.open()
    spots = visit.page.evaluate(
        """() => [...document.querySelectorAll(".dot .body")]
          .filter((n) => n.getClientRects().length).map((n) => n.getBoundingClientRect())
          .map((r) => [r.x + r.width / 2, r.y + r.height / 2])"""
    )
    assert len(spots) == 36
    for row, (x, y) in enumerate(spots):
        visit.page.mouse.click(x, y)
        assert visit.page.evaluate("document.activeElement.dataset.row") == str(row)
    assert len(visit.points()) == 36


def test_a_right_click_is_the_other_label(visit: Visit) -> None:
    page = visit.open().page
    visit.choose("and")
    plane = page.locator(".plane").bounding_box()
    page.mouse.click(plane["x"] + 40, plane["y"] + 60, button="right")
    visit.settle()
    assert visit.points()[-1][2] == -1
    page.locator(".dot").nth(3).click(button="right", force=True)
    visit.settle()
    assert [label for *_, label in visit.points()] == [-1, -1, -1, -1, -1]


def test_points_of_one_s_own_come_back_and_can_be_cleared(visit: Visit) -> None:
    page = visit.open().page
    page.select_option("#data", "")
    visit.settle()
    assert visit.points() == []
    visit.press("a")
    mine = visit.points()
    visit.choose("xor")
    page.select_option("#data", "")
    page.wait_for_selector(".dot:nth-child(1):last-child")
    assert visit.points() == mine
    visit.choose("xor")
    page.click("#clear")
    page.wait_for_selector("#lab[data-kind=empty]")
    assert visit.points() == []
    page.click("#undo")
    visit.settle()
    assert len(visit.points()) == 4


def test_a_file_is_opened(visit: Visit, tmp_path: Path) -> None:
    page = visit.open().page
    (tmp_path / "t.csv").write_text("a,b,c\n0,1,no\n2,3,yes\n")
    page.click("#paste")
    page.set_input_files("#open-file", tmp_path / "t.csv")
    page.wait_for_selector("dialog", state="hidden")
    assert visit.points() == [(0, 1, -1), (2, 3, 1)]


# The contrast of every text of a picture with the pixels around it, from its drawn pixels.
CONTRAST = """async (text) => {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const sheet = document.createElement("canvas");
  Object.assign(sheet, { width: image.width, height: image.height });
  const pen = sheet.getContext("2d", { willReadFrequently: true });
  pen.drawImage(image, 0, 0);
  const holder = document.createElement("div");
  Object.assign(holder.style, { position: "fixed", left: 0, top: 0, visibility: "hidden" });
  holder.innerHTML = text;
  document.body.append(holder);
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (pixel) => [0.2126, 0.7152, 0.0722]
    .reduce((sum, share, k) => sum + share * linear(pixel[k] / 255), 0);
  const found = [...holder.querySelectorAll("text")].filter((n) => n.textContent).map((node) => {
    const { x, y, width, height } = node.getBoundingClientRect();
    const { data } = pen.getImageData(
      Math.max(0, x), Math.max(0, y), Math.max(1, width), Math.max(1, height));
    const pixels = Array.from({ length: data.length / 4 }, (_, k) => data.slice(4 * k, 4 * k + 3));
    const lights = pixels.map(light).sort((a, b) => a - b);
    const at = (share) => lights[Math.floor(lights.length * share)] + 0.05;
    return [node.textContent, Math.max(at(0.8) / at(0.03), at(0.97) / at(0.2))];
  });
  holder.remove();
  return found;
}"""


@pytest.mark.parametrize("name", ["two_clouds", "xor"])
def test_the_text_of_a_saved_picture_is_legible(visit: Visit, tmp_path: Path, name: str) -> None:
    visit.open().choose(name)
    text = visit.download("text=Picture (SVG)", tmp_path).read_text()
    shown = visit.page.locator(".plane text").all_text_contents()
    told = visit.page.evaluate(CONTRAST, text)
    assert [words for words, _ in told] == [words for words in shown if words]
    assert min(contrast for _, contrast in told) > 3.0, told
    broken = re.sub(r' paint-order="[^"]*"', "", text).replace('stroke-opacity="0.7"', "")
    assert min(contrast for _, contrast in visit.page.evaluate(CONTRAST, broken)) < 3.0
