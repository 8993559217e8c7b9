"""The README of the package: the README of the sources, without links to files of the sources.

A package index shows the README beside the package, where these files do not exist. The name of the
file takes the place of the link.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?<img alt=\"([^\"]*)\" src=\"([^\"]*)\"></picture>", re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:|#)([^)]*)\)")


def packaged_readme(text: str) -> str:
    """Return a README with the names of files in the place of pictures and relative links.

    >>> packaged_readme("Read the [tutorial](docs/tutorial.md) and [LICENSE](LICENSE).")
    'Read the tutorial (`docs/tutorial.md`) and LICENSE.'
    """
    text = _PICTURE.sub(r"*Picture: \1* (`\2`)", text)
    return _LINK.sub(
        lambda link: link[1] if link[1] == link[2] else f"{link[1]} (`{link[2]}`)", text
    )


class ReadmeHook(MetadataHookInterface):
    """Adds the README to the metadata of wheel and sdist."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field ``readme``."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": packaged_readme(text)}
