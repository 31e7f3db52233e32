# SPDX-License-Identifier: MIT
"""Text of others, as it may be shown."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t\u200c\u200d\u00ad"


def harmless(text: str) -> str:
    """As core/harmless.h of the C library has it for the command: what steers a terminal or cannot be seen is escaped."""
    return "".join(letter if letter in _KEPT or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp") else
                   letter.encode("unicode_escape", "surrogatepass").decode() for letter in text)
