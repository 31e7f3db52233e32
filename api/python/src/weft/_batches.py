# SPDX-License-Identifier: MIT
"""Which sequences of different lengths run together."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    I32 = npt.NDArray[np.int32]


class Batch(NamedTuple):
    """Sequences, by their numbers, that one run takes, and the tokens that its plan has for each."""

    indices: list[int]
    length: int


def batches(lengths: Sequence[int], largest: int, longest: int, pad: bool) -> list[Batch]:
    """Every sequence in one batch, the longest first. Batches of one length are of about equal size: no kernel depends on it.

    Args:
        lengths: of the sequences.
        largest: batch.
        longest: that a plan may have.
        pad: whether sequences of different lengths go together: those that are longer than 3/4 of the longest, in plans of a
            length that is a multiple of 8, and of an eighth of the power of two below it. Otherwise only those of equal length.
    """
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    descending = [-lengths[i] for i in order]
    found, first = [], 0
    while first < len(order):
        length = lengths[order[first]]
        least = length * 3 // 4 if pad else length - 1
        count = bisect.bisect_left(descending, -least) - first
        runs = -(-count // largest)
        size = -(-count // runs)
        found.append(Batch(order[first:first + size], min(_rounded(length), longest) if pad else length))
        first += size
    return found


def _rounded(length: int) -> int:
    step = max(8, (1 << (length - 1).bit_length()) // 16)
    return -(-length // step) * step


def padded(sequences: Sequence[Sequence[int]], length: int) -> tuple[I32, I32 | None]:
    """Token ids [B, length] with zeros behind each sequence, and lengths [B]; None where all are full."""
    import numpy as np

    tokens: Any = np.zeros((len(sequences), length), np.int32)
    for row, sequence in zip(tokens, sequences):
        row[:len(sequence)] = sequence
    counts: Any = np.array([len(sequence) for sequence in sequences], np.int32)
    return tokens, None if (counts == length).all() else counts
