"""``novikoff info``: what a model is, from what data, and its weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from novikoff.cli.progress import print_lines, print_text

if TYPE_CHECKING:
    from novikoff.formats.model_record import ModelRecord

_SHOWN = 20
# The parts of a record that a person or a script asks for; the certificate is a file of its own.
_FACTS = ("program", "estimator", "parameters", "data", "preprocessing")


@click.command("info")
@click.argument("model", type=click.Path())
@click.option("--all", "everything", is_flag=True, help=f"All weights, not the {_SHOWN} largest.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text",
              show_default=True, help="Output format.")  # fmt: skip
def command(model: str, everything: bool, form: str) -> None:
    """Say what MODEL is, from what data, and show its weights by feature."""  # fmt: skip
    from novikoff.formats import model_file

    saved = model_file.read_record(model)
    certificate, note = _certificate(model, saved)
    if form == "json":
        facts = {**_facts(saved), "certificate": certificate}
        print_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
        return
    lines = [*_about(model, saved), *([("certificate", note)] if note else [])]
    print_lines([*lines, *_weights(saved, None if everything else _SHOWN)])


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


def _certificate(path: str, saved: ModelRecord) -> tuple[dict[str, object] | None, str]:
    """The certificate file beside a model, and whether the two are of one study."""
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


def _weights(saved: ModelRecord, most: int | None) -> Iterator[tuple[str, str]]:
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


def _facts(saved: ModelRecord) -> dict[str, object]:
    from novikoff.formats.model_file import MODEL_SCHEMA_VERSION

    names = saved.column_names
    return {
        "schema_version": MODEL_SCHEMA_VERSION,
        **{name: getattr(saved, name) for name in _FACTS},
        "classes": saved.model.classes.tolist(),
        "rules": [
            {"title": title, "weights": dict(zip(names, w, strict=True)), "intercept": bias}
            for title, w, bias in _rules(saved)
        ],
    }


def _rules(saved: ModelRecord) -> Iterator[tuple[str, list[float], float]]:
    """Each rule's claim, its weights and its intercept."""
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
