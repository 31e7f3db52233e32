# SPDX-License-Identifier: MIT
"""Small models that the package brings."""

from __future__ import annotations

from pathlib import Path

from . import errors

_FOLDER = Path(__file__).parent / "example-models"


def example(name: str) -> Path:
    """The folder of a small model that the package brings, to try things with: `weft.load(weft.example("languages"))`.

    Args:
        name: "languages", which tells 24 languages apart, or "terms", which continues definitions of terms. Both read bytes.
    """
    if not (_FOLDER / str(name) / "config.json").is_file():
        known = ", ".join(sorted(folder.name for folder in _FOLDER.iterdir())) if _FOLDER.is_dir() else "none"
        raise errors.NotFound(f"example: no model is named {name!r}; there are: {known}")
    return _FOLDER / name
