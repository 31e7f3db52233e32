# SPDX-License-Identifier: MIT
"""The transforms inside of Weft's fourier and toeplitz mixers, for libraries that have FFTs alone."""

import dataclasses

import numpy as np

KINDS = ("fourier", "toeplitz")  # the others among Toeplitz mixers have the same transforms


@dataclasses.dataclass
class Transform:
    source: np.ndarray  # float32; rank 2: [n, d], rank 1: [d, 2n]
    rank: int
    back: bool  # and the inverse transform
    difference: str  # what Weft's mixer does besides

    def spectrum(self):
        """Of the forward transform, in float64."""
        source = self.source.astype(np.float64)
        return np.fft.rfft2(source) if self.rank == 2 else np.fft.rfft(source, axis=1)


def is_transform(work):
    return work.kind in KINDS and not work.causal and not work.case.startswith("fourier/matrix")


def of(work, data):
    x = data["x"][0]
    if work.kind == "fourier":
        return Transform(x, 2, False, "the half spectrum alone: Weft makes real parts of all columns")
    padded = np.zeros((work.d, 2 * work.n), np.float32)
    padded[:, : work.n] = x.T
    return Transform(padded, 1, True, "forward and back alone, channels apart: Weft has the channels "
                                      "innermost, pads, and multiplies by the kernel's spectrum")
