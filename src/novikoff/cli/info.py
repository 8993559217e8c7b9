"""``novikoff info``: what a model is, from what data, and its weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from novikoff.cli.screen import print_lines, print_text
from novikoff.cli.startup import importing

if TYPE_CHECKING:
    from novikoff.report.model_file import Saved

_SHOWN = 20
# Of the header, what a person or a script asks for; the certificate is a file of its own.
_HEADER = ("program", "schema_version", "estimator", "parameters", "data", "preprocessing")


@click.command("info")
@click.argument("model", type=click.Path())
@click.option("--all", "everything", is_flag=True, help=f"All weights, not the {_SHOWN} largest.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def command(model: str, everything: bool, form: str) -> None:
    """Say what MODEL is, from what data, and show its weights by feature."""  # fmt: skip
    with importing("novikoff.report.model_file"):
        from novikoff.report import model_file

    saved = model_file.read(model)
    if form == "json":
        print_text(json.dumps(_facts(saved), indent=1, ensure_ascii=False) + "\n")
        return
    print_lines([*_about(model, saved), *_weights(saved, None if everything else _SHOWN)])


def _about(path: str, saved: Saved) -> Iterator[tuple[str, str]]:
    header, data = saved.header, saved.data or {}
    rule = f" ({data['rule']})" if "rule" in data else ""
    yield "model", f"{path} · {header['estimator']}{rule} · by {header['program']}"
    yield "classes", ", ".join(map(str, saved.model.classes_.tolist()))
    yield "features", f"{saved.model.n_features_in_:,}"
    if data:
        rows = data.get("rows")
        count = f" · {rows:,} rows" if isinstance(rows, int) else ""
        yield "data", f"{data.get('source')}{count}"
        if data.get("sha256") is not None:
            yield "sha256", str(data["sha256"])


def _weights(saved: Saved, most: int | None) -> Iterator[tuple[str, str]]:
    names = _names(saved)
    width = min(40, max(map(len, [*names, "(intercept)"])))
    for title, w, bias in _rules(saved):
        yield "weights", title
        order = sorted(range(len(w)), key=lambda j: -abs(w[j]))[:most]
        for j in order:
            yield "", f"{names[j]:{width}}  {w[j]: .6g}"
        if len(order) < len(w):
            yield "", f"… and {len(w) - len(order):,} more (--all)"
        yield "", f"{'(intercept)':{width}}  {bias: .6g}"


def _facts(saved: Saved) -> dict[str, object]:
    names = _names(saved)
    return {
        **{name: saved.header.get(name) for name in _HEADER},
        "classes": saved.model.classes_.tolist(),
        "rules": [
            {"title": title, "weights": dict(zip(names, w, strict=True)), "intercept": bias}
            for title, w, bias in _rules(saved)
        ],
    }


def _names(saved: Saved) -> list[str]:
    model = saved.model
    first = (saved.preprocessing or {}).get("first", 1)  # of a matrix, whose columns are numbers
    numbers = range(model.n_features_in_) if first == 0 else range(1, model.n_features_in_ + 1)
    return [str(name) for name in getattr(model, "feature_names_in_", numbers)]


def _rules(saved: Saved) -> Iterator[tuple[str, list[float], float]]:
    """What each rule tells apart, its weights and its intercept."""
    model = saved.model
    classes = model.classes_.tolist()
    pairs = [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]
    ovr = model.get_params()["multi_class"] == "ovr"
    for k, (w, bias) in enumerate(
        zip(model.coef_.tolist(), model.intercept_.tolist(), strict=True)
    ):
        if len(classes) == 1:
            title = f"{classes[0]}, the only class, where the sum is not positive"
        elif len(classes) == 2:
            title = f"{classes[-1]} where the sum is positive"
        elif ovr:
            title = f"{classes[k]} against the rest"
        else:
            title = f"{pairs[k][1]} against {pairs[k][0]}"
        yield title, w, bias
