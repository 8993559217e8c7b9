"""The lab as one file: without a network, it answers by itself, and is a part of other pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from novikoff.page import answers, export, presets
from novikoff.page.question import Question
from tests.browser.conftest import SETTLED, Server, Visit
from tests.browser.test_layout import MEASURE, SCREENS
from tests.cases import case_named
from tests.page.hosts import compare_texts

RECORDS = presets.records()
ALL = RECORDS["menu"]
TIGHT = "p=0,1.42,1;-1.23,-0.71,1;1.217,-0.703,-1"


class File:
    """The file in a window without a network; every request is listed."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.file = folder / "lab.html"
        self.file.write_text(export.offline_page(), encoding="utf-8")
        self.browser, self.wrong = browser, list[str]()
        self.contexts = list[Any]()

    def note(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.wrong.append(url)

    def open(self, where: str = "", file: Path | None = None, **options: Any) -> Any:
        """A page that is ready, at the address of the file with a query or a link."""
        options = {"reduced_motion": "reduce", "offline": True} | options
        options.setdefault("viewport", {"width": 1280, "height": 800})
        self.contexts.append(self.browser.new_context(**options))
        page = self.contexts[-1].new_page()
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.note(request.url))
        page.goto((file or self.file).as_uri() + where)
        page.wait_for_selector(f"{SETTLED}:not([data-kind=''])")
        return page


@pytest.fixture
def offline(browser: Any, tmp_path: Path) -> Iterator[File]:
    file = File(browser, tmp_path)
    yield file
    for context in file.contexts:
        context.close()
    assert file.wrong == []


def link_of(question: dict[str, Any], **more: Any) -> str:
    """The link of a question, written here anew."""
    points = ";".join(",".join(f"{value:g}" for value in point) for point in question["points"])
    rest = {name: value for name, value in question.items() if name != "points"} | more
    texts = {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in rest.items()
    }
    return "#" + "&".join(
        [f"p={points}", *(f"{name}={quote(text)}" for name, text in texts.items())]
    )


def test_every_preset_has_the_library_s_answer(offline: File) -> None:
    page = offline.open()
    assert "answers: this page" in page.inner_text("h1")
    for name, preset in ALL.items():
        page.select_option("#data", name)
        page.wait_for_selector(f"#lab[data-name={name}][data-settled=true]")
        told = answers.run_answer(Question.from_json(preset["question"]))
        assert page.get_attribute("#lab", "data-kind") == told["kind"], name
        if told["kind"] == "separable":  # other verdicts have several proofs
            compare_texts(told["sentence"], page.inner_text("#verdict"))


def test_points_are_dragged_flipped_and_added(offline: File) -> None:
    page = offline.open("#p=0,0,-1;0,1,1;1,0,1;1,1,1")
    page.locator(".dot").nth(3).dblclick()
    page.wait_for_selector(f"{SETTLED}[data-kind=inseparable]")
    page.wait_for_selector(".lesson >> text=Every line misclassifies at least 1 row, proved.")
    page.keyboard.press("Control+z")
    page.wait_for_selector(f"{SETTLED}[data-kind=separable]")


def test_a_link_opens_on_every_copy(offline: File, browser: Any, server: Server) -> None:
    page = offline.open()
    page.select_option("#data", "or")
    page.wait_for_selector("#lab[data-name=or][data-settled=true]")
    page.select_option("#order", "permuted")
    page.wait_for_selector(SETTLED)
    page.click("#go-first")
    page.click("#go-next")
    page.click("#link")
    link = page.evaluate("location.hash")
    again = offline.open(link)
    here = Visit(browser, server).open("/" + link)
    for copy, other in {"offline": again, "served": here.page}.items():
        with case_named(copy):
            for part in ("#verdict", "#sentence"):
                other.wait_for_function(
                    "([part, text]) => document.querySelector(part).innerText === text",
                    arg=[part, again.inner_text(part)],
                )
            assert other.input_value("#order") == "permuted"
    assert "answers: the library" in here.page.inner_text("h1")
    here.close()
    again.evaluate("location.hash = '#p=0,0,1;1,1,-1&at=0'")  # a link that is pasted into its tab
    again.wait_for_function("() => document.querySelectorAll('.dot').length === 2")


def test_a_page_without_a_clipboard_says_what_to_copy(offline: File) -> None:
    page = offline.open()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.click("#link")
    assert "Copy the address" in page.inner_text("#sentence")


def test_the_file_saves_itself(offline: File, tmp_path: Path) -> None:
    page = offline.open("#p=0,0,-1;0,1,1;1,1,1&at=2")
    page.evaluate("document.getElementById('save').open = true")
    assert page.locator("#save-certificate").count() == 0  # only the library has certificates
    with page.expect_download() as download:
        page.click("#save-html")
    saved = tmp_path / "saved.html"
    download.value.save_as(saved)
    again = offline.open(file=saved)
    assert again.locator(".dot").count() == 3
    for part in ("#verdict", "#sentence"):
        with case_named(part):
            assert again.inner_text(part) == page.inner_text(part)


@pytest.mark.parametrize("size", [(900, 600), (480, 760), (700, 500)])
@pytest.mark.parametrize(
    "parts", ["plane,proof", "plane", "proof", "plane,step", "plane,inner,norm,angle"]
)
def test_parts_are_embedded(offline: File, parts: str, size: tuple[int, int]) -> None:
    page = offline.open(f"?embed={parts}{link_of(ALL['and']['question'], at=9)}",
                      viewport={"width": size[0], "height": size[1]})  # fmt: skip
    shown = page.evaluate("""() => [...document.querySelectorAll(".plane-panel, [data-panel]")]
        .filter((node) => node.getClientRects().length)
        .map((node) => node.dataset.panel ?? "plane").sort()""")
    assert shown == sorted(parts.replace("proof", "leaf").split(","))
    assert page.is_visible(".story") == ("proof" in parts)
    for hidden in (".tools", ".links", "#predict"):
        with case_named(hidden):
            assert not page.is_visible(hidden)
    told = page.evaluate(MEASURE)
    assert [text for text in told["wrong"] if "clipped below" not in text] == []
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.keyboard.press("PageDown")
    assert "Mistake t = " in page.inner_text("#sentence")


def test_parts_on_a_phone(offline: File) -> None:
    """The frame of the site on a phone: the chart has room, and the controls do not overlap."""
    page = offline.open(f"?embed=plane,proof{link_of(ALL['and']['question'], at=9)}",
                      viewport={"width": 340, "height": 864})  # fmt: skip
    chart = page.locator("[data-panel=leaf] .drawing").bounding_box()
    assert chart is not None
    assert chart["height"] > 80
    counter = "document.querySelector('.where')"
    assert page.evaluate(f"{counter}.scrollWidth <= {counter}.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == 340


def test_the_line_to_embed_shows_what_was_copied(offline: File, tmp_path: Path) -> None:
    page = offline.open(f"#{TIGHT}&at=0")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate("document.getElementById('save').open = true")
    page.click("#embed")
    line = page.inner_text("#sentence")
    assert line.startswith("<iframe src=")
    outer = tmp_path / "outer.html"
    outer.write_text(f"<!doctype html><title>A page</title>{line}", encoding="utf-8")
    context = offline.contexts[-1]
    around = context.new_page()
    around.goto(outer.as_uri())
    frame = around.frame_locator("iframe")
    frame.locator(".lab.embed[data-settled=true]").wait_for()
    assert frame.locator(".dot").count() == 3
    ask = "(asked) => document.querySelector('iframe').contentWindow.postMessage(asked, '*')"
    around.evaluate(ask, {"panel": "norm", "t": 2})
    frame.locator("[data-panel=norm].part .now").wait_for()
    frame.locator(".where >> text=t = 2 of 3").wait_for()
    around.evaluate(ask, {"panel": "step", "t": 1, "link": "p=0,0,-1;0,1,1"})
    frame.locator("[data-panel=step].part").wait_for()
    frame.locator("#verdict >> text=Separable").wait_for()
    assert frame.locator(".dot").count() == 2
    for other in ({"panel": "window"}, "text", None, {"panel": "leaf", "link": "p=x"}):
        around.evaluate(ask, other)
    frame.locator(".trouble >> text=cannot be opened").wait_for()


def flipped_row() -> int:
    """The row whose label differs from that of the two clouds."""
    pairs = zip(
        ALL["flipped"]["question"]["points"], ALL["two_clouds"]["question"]["points"], strict=True
    )
    (row,) = (row for row, (one, other) in enumerate(pairs) if one != other)
    return row


def solution(name: str) -> dict[str, Any]:
    """A question that solves a challenge."""
    challenge = RECORDS["challenges"][name]
    question = ALL[challenge["preset"]]["question"] | challenge.get("question", {})
    if name == "bound":
        return {"points": [[0, 1.42, 1], [-1.23, -0.71, 1], [1.217, -0.703, -1]]}
    if name == "label":
        points = [list(point) for point in question["points"]]
        points[flipped_row()][2] *= -1
        return {"points": points}
    if name == "line":
        w = answers.pocket_answer(Question.from_json({"points": question["points"]}))["w"]
        return {**question, "mine": w}
    plain = len(answers.run_answer(Question.from_json(question))["run"]["index"])
    for seed in range(100):
        tried = {**question, "order": "fixed", "seed": seed}
        if len(answers.run_answer(Question.from_json(tried))["run"]["index"]) >= 2 * plain:
            return tried
    raise AssertionError(name)


@pytest.mark.parametrize("name", RECORDS["challenges"])
def test_a_challenge_is_scored_from_its_state(offline: File, name: str) -> None:
    page = offline.open()
    page.select_option("#data", name)
    page.wait_for_selector(".challenge:not([hidden])")
    page.wait_for_selector(f"{SETTLED}[data-challenge={name}]")
    assert not page.is_visible(".challenge.done")
    page.wait_for_url(re.compile("challenge="))

    solved = offline.open(link_of(solution(name), at=0, challenge=name))
    solved.wait_for_selector(".challenge.done >> text=Solved!")
    solved.wait_for_url(re.compile("score="))
    link = solved.evaluate("location.hash")

    again = offline.open(link)
    again.wait_for_selector(".challenge.done >> text=The link says the same.")
    forged = offline.open(re.sub(r"score=[^&]*", "score=1%20of%201", link))
    forged.wait_for_selector(".challenge.done >> text=The link says: 1 of 1.")
    claimed = offline.open(page.evaluate("location.hash") + "&score=Solved")
    claimed.wait_for_selector(".challenge >> text=The link says: Solved.")
    assert not claimed.is_visible(".challenge.done")
    claimed.click("#end-challenge")
    assert not claimed.is_visible(".challenge")
    assert claimed.input_value("#data") == ""


def test_the_keys_step_in_the_tour_and_in_a_challenge(offline: File) -> None:
    page = offline.open("#tour=3")

    def moment() -> int:
        return int(page.input_value("input[type=range]"))

    def steps() -> None:
        page.keyboard.press("Home")
        assert moment() == 0
        for key, way in (("PageDown", 1), ("ArrowRight", 1), ("PageUp", -1)):
            with case_named((key, way)):
                before = moment()
                page.keyboard.press(key)
                assert (moment() - before) * way > 0

    steps()
    for clicked in ("#answer", "#next-scene", "#end-tour"):
        page.click(clicked)
        steps()
    page.select_option("#data", "order")
    page.wait_for_selector(".challenge >> text=10 mistakes instead of 10")
    for clicked in (".opener >> nth=1", "#end-challenge"):
        page.click(clicked)
        steps()
    assert page.input_value("#data") == ""


@pytest.mark.parametrize(
    ("name", "broken", "told"),
    [
        ("label", {"points": ALL["two_clouds"]["question"]["points"][:-1]}, "Only labels"),
        ("order", {"points": ALL["two_clouds"]["question"]["points"]}, "Only the order"),
        ("order", {**ALL["thin_margin"]["question"], "threshold": 9.0}, "The plain perceptron"),
        ("line", {"points": ALL["and"]["question"]["points"]}, "Only the line"),
        ("bound", {"points": [[0, 1, 1], [0, -1, -1]]}, "At least three points"),
        ("bound", {"points": [[0, 1, 1], [1, 1, 1], [0, 2, 1]]}, "At least three points"),
        ("bound", {**solution("bound"), "start": [1.0, 0.0, 0.0]}, "The plain perceptron"),
    ],
)
def test_a_challenge_has_rules(offline: File, name: str, broken: dict[str, Any], told: str) -> None:
    page = offline.open(link_of(broken, at=0, challenge=name))
    page.wait_for_selector(f".challenge >> text={told}")
    assert not page.is_visible(".challenge.done")


def test_scenes_and_challenges_have_links(offline: File) -> None:
    page = offline.open("#tour=3")
    assert f"3 of 8: {RECORDS['tour'][2]['title']}" in page.inner_text(".tour h2")
    page = offline.open("#challenge=order")
    assert RECORDS["challenges"]["order"]["title"] in page.inner_text(".challenge h2")
    page.wait_for_selector(".challenge >> text=10 mistakes instead of 10")


@pytest.mark.parametrize("screen", SCREENS, ids=[f"{w}x{h}" for w, h in SCREENS])
def test_challenges_fit_on_the_screen(offline: File, screen: tuple[int, int]) -> None:
    page = offline.open(viewport={"width": screen[0], "height": screen[1]})
    for name in RECORDS["challenges"]:
        page.select_option("#data", name, force=True)
        page.wait_for_selector(f"{SETTLED}[data-challenge={name}]")
        told = page.evaluate(MEASURE)
        assert told["wrong"] + told["low"] == [], name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(offline: File, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    for where in ("", "#challenge=line", "#tour=1", "?embed=plane,proof"):
        page = offline.open(where, color_scheme=scheme, bypass_csp=True)
        assert axe.Axe().run(page).response["violations"] == [], where
