# SPDX-License-Identifier: MIT
"""What Python code hands in, checked before it becomes a C value: errors name the parameter, what it takes and what it got."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any

from . import errors

U32 = 2**32 - 1
U64 = 2**64 - 1


def whole(value: Any, what: str, least: int = 0, most: int = U32) -> int:
    """A whole number of Python's, NumPy's or PyTorch's."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        raise errors.InvalidArgument(f"{what}: expected a whole number from {least} to {most}, found {value!r}")
    return int(value)


def number(value: Any, what: str) -> float:
    """A finite number."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not math.isfinite(float(value)):
        raise errors.InvalidArgument(f"{what}: expected a finite number, found {value!r}")
    return float(value)


def text(value: Any, what: str) -> str:
    """A text without zero bytes, at which C would end it."""
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a text, found {type(value).__name__}")
    if "\0" in value:
        raise errors.InvalidArgument(f"{what}: expected a text without zero characters, found {value!r}")
    return value


def path(value: Any, what: str) -> str:
    """A path of a file or folder, as the system's text."""
    try:
        found = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{what}: expected a path, found {type(value).__name__}") from None
    return text(found, what)
