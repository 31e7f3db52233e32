# SPDX-License-Identifier: MIT
"""Why a node cannot be read."""

from __future__ import annotations


class Refused(Exception):
    """What a row cannot do with these inputs and attributes."""


class Incomplete(Refused):
    """A graph inside a node lacks something, which is noted already."""


class NotConstant(Refused):
    """An input that must be known at import, and is not."""

    def __init__(self, name: str) -> None:
        super().__init__(f"its input {name} must be a constant")
        self.name = name
