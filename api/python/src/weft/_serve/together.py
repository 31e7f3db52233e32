# SPDX-License-Identifier: MIT
"""What texts of several jobs, which have run together, mean to each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .worker import Job


class Tokens:
    """Counts tokens of texts as they run."""

    def __init__(self, count: int) -> None:
        self.of = [0] * count

    def take(self, output: Any) -> None:
        """Of one text that has run."""
        self.of[output.index] = output.encoding.count


def hand_out(jobs: Sequence[Job], rows: Any, tokens: Tokens, cut: Sequence[int]) -> None:
    """Gives each job, which has a row for each of its texts, (rows, tokens, places of cut texts)."""
    first = 0
    for job in jobs:
        end = first + job.cost
        job.succeed((rows[first:end], sum(tokens.of[first:end]), [at - first for at in cut if first <= at < end]))
        first = end
