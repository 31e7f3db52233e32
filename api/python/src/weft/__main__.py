# SPDX-License-Identifier: MIT
"""python -m weft: the weft command."""

from .tables import main

main()
