# SPDX-License-Identifier: MIT
"""Rows for ONNX's Fourier transforms, whose complex tensors have their parts as a last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program import spectra
from ..program.program import Value, resolved
from ..program.sizes import Extent
from .reader import Reader, row
from .refused import Refused


def _number(r: Reader, index: int, given: Any) -> Any:
    """A number or a size of an input that must be known."""
    return r.ints(index, given)[0]


def _complex(r: Reader, x: Value) -> Value:
    """With imaginary parts."""
    if x.shape[-1] not in (1, 2):
        raise Refused(f"its last axis is {x.shape[-1]}: expected 1 or 2, the parts of a number")
    return x if x.shape[-1] == 2 else spectra.as_complex(r.build, r.build.reshape(x, x.shape[:-1]))


@row("DFT")
def _dft(r: Reader, x: Any, length: Any = None, axis: Any = None) -> Value:
    b, value = r.build, r.value(x)
    inverse, onesided = bool(r.attribute("inverse", 0)), bool(r.attribute("onesided", 0))
    where = int(r.attribute("axis", 1)) if r.version < 20 else -2 if axis is None else int(_number(r, 2, axis))
    at = resolved(where, value.rank)
    if at == value.rank - 1:
        raise Refused("its axis is the last, of the parts of a number")
    count: Extent = value.shape[at] if length is None else _number(r, 1, length)
    if not onesided:
        return spectra.fft(b, _complex(r, value), at, count, inverse)
    if inverse:
        count = 2 * (value.shape[at] - 1) if length is None else count
        found = spectra.irfft(b, _complex(r, value), at, count)
        return b.reshape(found, [*found.shape, 1])
    if value.shape[-1] != 1:
        raise Refused("it is of one side, and of complex numbers")
    return spectra.rfft(b, b.reshape(value, value.shape[:-1]), at, count)


@row("STFT")
def _stft(r: Reader, x: Any, step: Any, window: Any = None, length: Any = None) -> Value:
    b, value = r.build, r.value(x)
    if value.rank == 2:
        value = b.reshape(value, [*value.shape, 1])
    factors = None if window is None else r.value(window)
    count = _number(r, 3, length) if length is not None else value.shape[1] if factors is None else factors.shape[0]
    every = _number(r, 1, step)
    if not isinstance(count, (int, np.integer)) or not isinstance(every, (int, np.integer)):
        raise Refused("the length of its frames or their step depends on the sizes of the inputs")
    parts = [spectra.frames(b, b.select(value, -1, at), int(count), int(every)) for at in range(int(str(value.shape[-1])))]
    parts = parts if factors is None else [b.multiply(part, factors) for part in parts]
    if r.attribute("onesided", 1):
        if len(parts) != 1:
            raise Refused("it is of one side, and of complex numbers")
        return spectra.rfft(b, parts[0], -1, int(count))
    if len(parts) == 1:
        whole = spectra.as_complex(b, parts[0])
    else:
        whole = b.concat([b.reshape(part, [*part.shape, 1]) for part in parts], -1)
    return spectra.fft(b, whole, -1, int(count), False)
