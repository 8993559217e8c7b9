"""The site: ``make docs``. Every example runs, warnings are errors, no page asks the network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from numpydoc.xref import DEFAULT_LINKS
from sklearn.datasets import load_iris
from sphinx.application import Sphinx

import novikoff as nv

sys.path.insert(0, str(Path(__file__).parent))  # for pages.py and figures.py

project = "novikoff"
author = "The novikoff developers"
version = release = nv.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",  # MathJax from a package, not from a server
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
    "pages",
]
exclude_patterns = ["_build", "examples"]
templates_path = ["_templates"]

# Pages are plain Markdown, legible on GitHub; pages.py turns their Python blocks into cells.
myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 3
smartquotes = False  # quotation marks in code stay as they are
nb_execution_mode = "auto"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True  # one output for a loop that prints
nb_output_stderr = "remove"  # a kernel that compiles says so

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "subsection_order": [
        f"examples/{name}" for name in ("verdicts", "perceptron", "family", "theorems")
    ],
    "nested_sections": False,
    "image_scrapers": ("figures.scrape",),
    "reset_modules": ("figures.style",),
    "remove_config_comments": True,
    "thumbnail_size": (640, 440),
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "generated/backreferences",  # the examples that use each object
    "doc_module": ("novikoff",),
    "show_signature": False,
    "download_all_examples": False,
    "notebook_extensions": set(),
    "write_computation_times": False,  # those pages load a script from a server
    "min_reported_time": 3600,
}

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc says them in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True  # types link to their pages
# numpydoc's own links lead to the manuals of Python and NumPy, whose indexes the network would have
# to bring: those words stay words.
numpydoc_xref_aliases = {word: word for word in DEFAULT_LINKS} | {
    name: f"novikoff.{name}"
    for name in ("Verdict", "Certificate", "ErrorBound", "Interval", "Solution", "Optimum", "Trace")
}
numpydoc_xref_ignore = "all"
add_module_names = False
default_role = "code"  # `names` in docstrings

html_theme = "pydata_sphinx_theme"
html_title = "novikoff"
html_context = {"default_mode": "auto"}  # light or dark, as the system is
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js", "beside.js"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_show_sourcelink = False
html_favicon = "_static/favicon.svg"
html_sidebars = {page: [] for page in ("index", "install", "tutorial", "lab", "proof")}
html_theme_options = {
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "proof": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "navigation_depth": 1,  # the many names of the interface are on its own page
}
copyright = "the novikoff developers, BSD-3-Clause"


def export_lab(app: Sphinx) -> None:
    """Write the lab as a page that answers by itself, and once more with the run of the proof.

    Both are written by ``novikoff lab --export``; no page of the site needs a server.
    """
    folder = Path(app.outdir).resolve() / "lab"
    folder.mkdir(parents=True, exist_ok=True)
    flowers = load_iris(as_frame=True).frame.query("target < 2").iloc[:, [0, 2, 4]]
    flowers.columns = ["sepal", "petal", "species"]
    with TemporaryDirectory() as temporary:
        flowers.to_csv(Path(temporary) / "iris.csv", index=False)
        for page, words in (
            ("index.html", []),
            ("iris.html", ["iris.csv", "--x", "sepal", "--y", "petal"]),
        ):
            command = ["novikoff", "lab", *words, "--force", "--export", str(folder / page)]
            subprocess.run([sys.executable, "-m", *command], cwd=temporary, check=True)  # noqa: S603


def setup(app: Sphinx) -> None:
    """What Sphinx calls."""
    app.connect("builder-inited", export_lab)
