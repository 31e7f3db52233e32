# SPDX-License-Identifier: MIT
"""Small models that the package brings."""

from __future__ import annotations

from pathlib import Path

from . import _checks, errors

_FOLDER = Path(__file__).parent / "example-models"


def example(name: str) -> Path:
    """The folder of a small model that the package brings, to try things with: `weft.load(weft.example("languages"))`.

    Args:
        name: "languages", which tells 24 languages apart, or "terms", which continues definitions of terms. Both read bytes.
    """
    known = sorted(folder.name for folder in _FOLDER.iterdir()) if _FOLDER.is_dir() else []
    if _checks.text(name, "name") not in known:
        raise errors.NotFound(f"name: expected one of {', '.join(known) or 'none, as none are here'}, found {name!r}")
    return _FOLDER / name
