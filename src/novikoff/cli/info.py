"""``novikoff info``: what a model is, from what data, and its weights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from novikoff.cli.screen import print_lines, print_text

if TYPE_CHECKING:
    from novikoff.report.model_file import Saved

_SHOWN = 20


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
    from novikoff.report import model_file

    saved = model_file.read(model)
    if form == "json":
        print_text(json.dumps(saved.header, indent=1, ensure_ascii=False) + "\n")
        return
    print_lines(_about(model, saved))
    print_lines(_weights(saved, None if everything else _SHOWN))


def _about(path: str, saved: Saved) -> list[tuple[str, str]]:
    header, data = saved.header, saved.data or {}
    classes = ", ".join(map(str, saved.model.classes_.tolist()))
    lines = [
        ("model", f"{path} · {header['estimator']} · by {header['program']}"),
        ("classes", classes),
        ("features", f"{saved.model.n_features_in_:,}"),
    ]
    if data:
        rows = data.get("rows")
        count = f" · {rows:,} rows" if isinstance(rows, int) else ""
        lines.append(("data", f"{data.get('source')}{count}"))
        lines.append(("sha256", str(data.get("sha256"))))
    return lines


def _weights(saved: Saved, most: int | None) -> list[tuple[str, str]]:
    import numpy as np

    model = saved.model
    names = list(getattr(model, "feature_names_in_", range(1, model.n_features_in_ + 1)))
    classes = model.classes_.tolist()
    single = len(model.coef_) == 1
    width = min(40, max(map(len, map(str, names))))
    lines = []
    for k, (w, b) in enumerate(zip(model.coef_, model.intercept_, strict=True)):
        side = f"{classes[-1]} where the sum is positive" if single else _rule_name(saved, k)
        lines.append(("weights", side))
        order = np.argsort(-np.abs(w), kind="stable")[:most]
        lines += [("", f"{names[j]!s:{width}}  {w[j]: .6g}") for j in order.tolist()]
        if len(order) < len(w):
            lines.append(("", f"… and {len(w) - len(order):,} more (--all)"))
        lines.append(("", f"{'(intercept)':{width}}  {b: .6g}"))
    return lines


def _rule_name(saved: Saved, k: int) -> str:
    classes = saved.model.classes_.tolist()
    if len(saved.model.coef_) == len(classes) and saved.model.get_params()["multi_class"] == "ovr":
        return f"{classes[k]} against the rest"
    pairs = [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]
    return f"{pairs[k][1]} against {pairs[k][0]}"
