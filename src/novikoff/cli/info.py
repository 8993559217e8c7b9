"""``novikoff info``: describe a model file, its data and its weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from novikoff.cli.progress import print_lines, print_text

if TYPE_CHECKING:
    from novikoff.formats.model_record import ModelRecord

# The number of weights that are shown without --all.
_SHOWN = 20
# The fields of a model record that the JSON output contains.
_FIELDS = ("program", "estimator", "parameters", "data", "preprocessing")


@click.command("info")
@click.argument("model", type=click.Path())
@click.option(
    "--all", "everything", is_flag=True, help=f"Show all weights, not only the {_SHOWN} largest."
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text",
              show_default=True, help="Output format.")  # fmt: skip
def command(model: str, everything: bool, format_: str) -> None:
    """Describe a model file: its estimator, classes, data and weights by feature.

    \b
    Examples:
      novikoff info flowers.novikoff
      novikoff info flowers.novikoff --all --format json
    """  # noqa: D301 — \b tells click not to wrap the lines that follow
    from novikoff.formats import model_file

    saved = model_file.read_record(model)
    certificate, note = _sibling_certificate(model, saved)
    if format_ == "json":
        facts = {**_model_json(saved), "certificate": certificate}
        print_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
        return
    lines = [*_about(model, saved), *([("certificate", note)] if note else [])]
    print_lines([*lines, *_weight_lines(saved, None if everything else _SHOWN)])


def _about(path: str, saved: ModelRecord) -> Iterator[tuple[str, str]]:
    data = saved.data or {}
    rule = f" ({data['rule']})" if data.get("rule", "perceptron") != "perceptron" else ""
    yield "model", f"{path} · {saved.estimator}{rule} · by {saved.program}"
    yield "classes", ", ".join(map(str, saved.model.classes.tolist()))
    yield "features", f"{saved.model.n_features:,}"
    if data:
        rows = data.get("rows")
        count = f" · {rows:,} rows" if isinstance(rows, int) else ""
        yield "data", f"{data.get('source')}{count}"
        if data.get("sha256"):
            yield "sha256", str(data["sha256"])


def _sibling_certificate(path: str, saved: ModelRecord) -> tuple[dict[str, object] | None, str]:
    """Return the certificate file beside a model, and whether both are of the same study."""
    from novikoff.formats import certificate_file as proofs
    from novikoff.formats.file_names import CERTIFICATE_ENDING, MODEL_ENDING, sibling

    file = sibling(path, MODEL_ENDING, CERTIFICATE_ENDING)
    if file is None:
        return None, ""
    try:
        same = proofs.belongs(proofs.read_proofs(file), saved)
    except ValueError:
        return {"file": file, "belongs": None}, f"{file} cannot be read as a certificate"
    words = {
        True: "holds the proofs of this model",
        False: "does not belong to this model: it is of another study",
        None: "was not compared: this model names no certificate",
    }
    return {"file": file, "belongs": same}, f"{file} {words[same]}"


def _weight_lines(saved: ModelRecord, most: int | None) -> Iterator[tuple[str, str]]:
    names = saved.column_names
    width = min(40, max(map(len, [*names, "(intercept)"])))
    rules = list(_rules(saved))
    if not rules:
        yield "weights", "none: the rules are not linear in the features"
    for title, w, bias in rules:
        yield "weights", title
        order = sorted(range(len(w)), key=lambda j: -abs(w[j]))[:most]
        for j in order:
            yield "", f"{names[j]:{width}}  {w[j]: .6g}"
        if len(order) < len(w):
            yield "", f"… and {len(w) - len(order):,} more (--all)"
        yield "", f"{'(intercept)':{width}}  {bias: .6g}"


def _model_json(saved: ModelRecord) -> dict[str, object]:
    from novikoff.formats.model_file import MODEL_SCHEMA_VERSION

    names = saved.column_names
    return {
        "schema_version": MODEL_SCHEMA_VERSION,
        **{name: getattr(saved, name) for name in _FIELDS},
        "classes": saved.model.classes.tolist(),
        "rules": [
            {"title": title, "weights": dict(zip(names, w, strict=True)), "intercept": bias}
            for title, w, bias in _rules(saved)
        ],
    }


def _rules(saved: ModelRecord) -> Iterator[tuple[str, list[float], float]]:
    """Yield what each rule predicts, its weights and its intercept."""
    from novikoff.core.class_labels import side_labels

    model = saved.model
    try:
        classes, weights = model.classes.tolist(), model.prediction_weights()
    except AttributeError:  # a kernel's rules are sums over support points
        return
    for rule in range(model.n_rules):
        if len(classes) == 1:
            title = f"{classes[0]}, the only class, where the sum is not positive"
        elif len(classes) == 2:
            title = f"{classes[-1]} where the sum is positive"
        else:
            positive, negative = side_labels(model.scheme, model.classes, rule)
            title = f"{positive} against {'the rest' if negative is None else negative}"
        yield title, weights[:-1, rule].tolist(), float(weights[-1, rule])
