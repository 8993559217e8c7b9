"""What the site makes of plain pages and docstrings, as a Sphinx extension.

- The Python blocks of a Markdown page run in order and show all their results. The code in tables
  (``outputs.table_lines``) runs too, and shows nothing.
- ``[words](lab.md#p=…)`` opens the lab with the points of the link, a scene of the tour
  (``#tour=3``) or a challenge (``#challenge=order``), and a line that only links to a
  script of the gallery becomes the figure of the script. Its words describe the figure. Other links
  to a script lead to its page.
- ``nv.separate(X, y)`` and the names of classes link to the reference, and ids such as (B3) to the
  page of the items.
- Subscripts such as a_i are typeset outside of code.
- The page of all options shows them in the groups of ``--help``, and the examples as code.
- Every page has a title and a description for link previews.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from pydoc import locate
from typing import Any, ClassVar

import click
from docutils import nodes
from outputs import table_lines
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from novikoff.cli.options import Command

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_HEAD = """---
file_format: mystnb
kernelspec:
  name: python3
---
"""
# The lab on the site, seen from the pages of docs/.
_LAB = "lab/index.html"
_LAB_LINK = re.compile(r"\[([^\]]+)\]\(lab\.md#((?:p|tour|challenge)=[^)\s]+)\)")
_SCRIPT_LINK = re.compile(r"\[([^\]]+)\]\(examples/(\w+)/(plot_\w+)\.py\)")
_FIGURE = re.compile(f"^{_SCRIPT_LINK.pattern}$", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_SAID = re.compile(r"^nv\.(\w+(?:\.\w+)*)")
_CLASS = re.compile(r"^[A-Z]\w*[a-z]\w*$")
_ITEMS = re.compile(r"\((?=[A-H]\d{1,2}\b)[^()]*\)|\bitems? [A-H]\d{1,2}(?:–[A-H]\d{1,2})?")
_ITEM = re.compile(r"\b[A-H]\d{1,2}\b")
_SUBSCRIPT = re.compile(
    r"(?<![\w.])((?:min|max|[A-Za-zα-ωℓΣ])\*?|‖)_(\{[^}]+\}|[A-Za-z0-9∞]{1,2})(?!\w)"
)
_NOT_PROSE = (
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.reference,
    nodes.title,
    addnodes.desc_signature,
    addnodes.pending_xref,
)


def as_cells(app: Sphinx, page: str, source: list[str]) -> None:
    """Turn the Python blocks of a Markdown page into cells, which show their own outputs."""
    if app.env.doc2path(page).suffix == ".md":
        text = _FIGURE.sub(_figure, _LAB_LINK.sub(_lab_link, source[0]))
        text = _SCRIPT_LINK.sub(r'<a href="gallery/\2/\3.html">\1</a>', text)
        source[0] = _HEAD + _cells(text) if "\n```python\n" in text else text


def _lab_link(found: re.Match[str]) -> str:
    return f'<a href="{_LAB}#{escape(found[2])}">{escape(found[1])}</a>'


def _figure(found: re.Match[str]) -> str:
    words, section, script = found.groups()
    return f"""```{{image}} gallery/{section}/images/sphx_glr_{script}_001.png
:alt: {words}
:target: gallery/{section}/{script}.html
:class: sphx-glr-single-img
```"""


def _cells(text: str) -> str:
    """The text with cells for its Python blocks, without the outputs that stand just below them."""
    parts, end, is_output = list[str](), 0, False
    for found in _BLOCK.finditer(text):
        between, (language, block) = text[end : found.start()], found.groups()
        parts.append(_TABLE.sub(_with_code, between))
        if language == "python":
            parts.append(f"```{{code-cell}}\n{block}```\n")
        elif not (is_output and language == "" and not between.strip()):
            parts.append(found[0])
        is_output, end = language == "python", found.end()
    return "".join([*parts, _TABLE.sub(_with_code, text[end:])])


def _with_code(table: re.Match[str]) -> str:
    """The table, and below it a cell that runs the code of the table and shows nothing."""
    lines = table_lines(table[0])
    if not lines:
        return table[0]
    return f"""{table[0]}
```{{code-cell}}
:tags: [remove-cell]

for line in {lines!r}:
    value = eval(line)
    assert type(value).__name__ not in ("bool", "bool_") or value, line
```
"""


class LinkNames(SphinxPostTransform):
    """Link the names of the library that stand in backquotes."""

    default_priority = 5  # before Sphinx resolves references
    _pages: ClassVar[dict[int, str]] = {}  # the documented name of each object

    def run(self, **options: Any) -> None:
        """Replace each such name by a reference around it."""
        if not self._pages:
            found = {name: locate(name) for name in self.env.domains["py"].objects}
            self._pages.update(
                {id(thing): name for name, thing in found.items() if thing is not None}
            )
        for literal in list(self.document.findall(nodes.literal)):
            if isinstance(literal.parent, _NOT_PROSE) or "xref" in literal["classes"]:
                continue
            target = self._target(literal.astext())
            if target and not self.env.docname.endswith(target):
                link = addnodes.pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True
                )
                link["refdoc"] = self.env.docname
                literal.replace_self(link)
                link += literal

    def _target(self, text: str) -> str | None:
        said = _SAID.match(text)
        name = said[1] if said else text if _CLASS.match(text) else None
        return self._pages.get(id(locate(f"novikoff.{name}"))) if name else None


class Typeset(SphinxPostTransform):
    """Link the ids of items, and set subscripts."""

    default_priority = 6

    def run(self, **options: Any) -> None:
        """Replace the texts that have either."""
        for text in list(self.document.findall(nodes.Text)):
            if not _inside(text, _NOT_PROSE):
                parts: list[nodes.Node] = [text]
                if self.env.docname != "items":
                    parts = [*_replaced(parts, _ITEMS, self._items)]
                parts = [*_replaced(parts, _SUBSCRIPT, _subscript)]
                if parts != [text]:
                    text.parent.replace(text, parts)

    def _items(self, found: re.Match[str]) -> Iterator[nodes.Node]:
        return _replaced([nodes.Text(found[0])], _ITEM, self._item)

    def _item(self, found: re.Match[str]) -> Iterator[nodes.Node]:
        page = self.app.builder.get_relative_uri(self.env.docname, "items")
        yield nodes.reference("", found[0], refuri=f"{page}#{found[0].lower()}", internal=True)


def _subscript(found: re.Match[str]) -> Iterator[nodes.Node]:
    yield nodes.Text(found[1])
    yield nodes.subscript("", found[2].strip("{}"))


def _inside(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def _replaced(
    parts: list[nodes.Node],
    pattern: re.Pattern[str],
    new: Callable[[re.Match[str]], Iterator[nodes.Node]],
) -> Iterator[nodes.Node]:
    """The parts, with new nodes for each match in their texts."""
    for part in parts:
        if not isinstance(part, nodes.Text) or not pattern.search(part):
            yield part
            continue
        text, end = part.astext(), 0
        for found in pattern.finditer(text):
            if found.start() > end:
                yield nodes.Text(text[end : found.start()])
            yield from new(found)
            end = found.end()
        if end < len(text):
            yield nodes.Text(text[end:])


def preview(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Describe a page to search engines, and to the programs that show a preview of a link."""
    if doctree is None:
        return
    paragraphs = (
        node.astext() for node in doctree.findall(nodes.paragraph) if len(node.astext()) > 40
    )
    text = " ".join(next(paragraphs, app.config.html_title).split())
    if len(text) > 200:
        text = text[:200].rpartition(" ")[0] + " …"
    title = re.sub(r"<[^>]*>", "", context["title"])
    title = title if title.startswith("novikoff") else f"{title} – novikoff"
    for name, content in {
        "name=description": text,
        "property=og:type": "website",
        "property=og:site_name": "novikoff",
        "property=og:title": title,
        "property=og:description": text,
    }.items():
        kind, value = name.split("=")
        context["metatags"] += f'<meta {kind}="{value}" content="{escape(content)}">\n'


def examples_as_code(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Show the examples in a command's help as code; sphinx-click has made a line block of them."""
    if "| Examples:" not in lines:
        return
    start = lines.index("| Examples:")
    examples = [line.removeprefix("|").strip() for line in lines[start + 1 :]]
    block = [f"   $ {line}" for line in examples if line]
    lines[start:] = [".. code-block:: console", "", *block, ""]


def options_in_groups(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Put the options of a command under the headings of its help."""
    if not isinstance(ctx.command, Command) or not ctx.command.headings:
        return
    starts = [k for k, line in enumerate(lines) if line.startswith(".. option::")]
    ends = [*starts[1:], len(lines)]
    blocks = {
        lines[k].split()[2].rstrip(","): lines[k:end] for k, end in zip(starts, ends, strict=True)
    }
    grouped = list[str]()
    for heading, params in ctx.command.headings.items():
        texts = [blocks.pop(param.opts[0], []) for param in params]
        if any(texts):
            grouped += [f".. rubric:: {heading}", "", *(line for text in texts for line in text)]
    others = [line for block in blocks.values() for line in block]
    lines[:] = [*others, *grouped]


def no_arguments(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    """Leave out the list of arguments: it has only their names, which the usage has too."""
    lines.clear()


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("source-read", as_cells)
    app.connect("sphinx-click-process-description", examples_as_code)
    app.connect("sphinx-click-process-options", options_in_groups)
    app.connect("sphinx-click-process-arguments", no_arguments)
    app.connect("html-page-context", preview)
    app.add_post_transform(LinkNames)
    app.add_post_transform(Typeset)
    return {"parallel_read_safe": True}
