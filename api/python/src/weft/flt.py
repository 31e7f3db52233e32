# SPDX-License-Identifier: MIT
"""Frequencies and weights of FLT's relative positions, made on the host for `weft.flt_features`: the same bits on every
machine. weft/flt.h has the formulas of each kind.

    frequencies, weights = weft.flt.fill("molecular", 64, 3, widths=[2.0], seed=1)
    y = weft.flt_features(positions, frequencies, weights, side="query", heads=2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from . import _array, _checks, _core, errors
from ._core import check, ffi, lib

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]
    F64 = npt.NDArray[np.float64]

Kind = Literal["gaussian_mixture", "molecular", "local", "gaussian_kernel", "laplace_kernel", "cauchy_kernel"]

_ARRAYS = {"coefficients": False, "widths": False, "centres": True, "radii": True, "powers": True}
"""Names of the parameters of terms, and whether each has an axis of dimensions, too."""


def fill(kind: Kind, count: int, dimensions: int, **others: Any) -> tuple[F32, F32]:
    """Draws frequencies [count, dimensions] and their weights g/p [count].

    Args:
        kind: of the function of relative positions, a sum over terms.
        count: how many frequencies, 1 to 2^20.
        dimensions: of the positions, 1 to 8.
        others: coefficients [T], widths [T], centres [T, dimensions], radii [T, dimensions], powers [T, dimensions], sigma,
            matrix and seed, as weft_flt_params has them. T, the number of terms, is that of the arrays, else 1.

    Raises InvalidArgument naming the parameter.
    """
    import numpy as np

    params, kept = _params(kind, count, dimensions, others)
    frequencies, weights = np.empty((count, dimensions), np.float32), np.empty(count, np.float32)
    check(lib.weft_flt_fill(ffi.from_buffer("float[]", frequencies, True), ffi.from_buffer("float[]", weights, True), params,
                            _core.host))
    assert kept is not None  # the arrays live until here
    return frequencies, weights


def weights(frequencies: Any, kind: Kind, **others: Any) -> F32:
    """The weights g/p [count] of given frequencies [count, dimensions]. Others as of `fill`; seed and matrix do not count."""
    return cast("F32", _of_each(lib.weft_flt_weights, "float", frequencies, kind, others))


def transform(frequencies: Any, kind: Kind, **others: Any) -> F64:
    """The Fourier transform g [count], f64, of the function at given frequencies [count, dimensions]. Others as of `fill`."""
    return cast("F64", _of_each(lib.weft_flt_transform, "double", frequencies, kind, others))


def _of_each(function: Any, number: str, frequencies: Any, kind: Kind, others: dict[str, Any]) -> Any:
    """A number of C for each frequency."""
    import numpy as np

    given = _frequencies(frequencies)
    params, kept = _params(kind, given.shape[0], given.shape[1], others)
    found = np.empty(given.shape[0], np.float32 if number == "float" else np.float64)
    check(function(ffi.from_buffer(f"{number}[]", found, True), ffi.from_buffer("float[]", given), params, _core.host))
    assert kept is not None  # the arrays live until here
    return found


def _frequencies(given: Any) -> F32:
    found = _array.f32(given, "frequencies")
    if found.ndim != 2:
        raise errors.ShapeMismatch(f"frequencies: expected shape [count, dimensions], found {list(found.shape)}")
    return found


def _params(kind: Kind, count: int, dimensions: int, others: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The C struct, and the arrays that it points to."""
    import numpy as np

    fields: dict[str, Any] = {
        "kind": _core.number_of(kind, "weft_flt_kind", "kind"),
        "count": _checks.whole(count, "count", 1, lib.WEFT_FLT_MAX_COUNT),
        "dimensions": _checks.whole(dimensions, "dimensions", 1, lib.WEFT_FLT_MAX_DIMENSIONS)}
    kept: list[Any] = []
    terms: int | None = None
    for name, value in others.items():
        if name in _ARRAYS:
            if value is None:
                continue
            array: Any = _array.i32(value, name) if name == "powers" else _array.f32(value, name)
            known = array.shape[0] if terms is None and array.ndim else terms
            expected = (known, dimensions) if _ARRAYS[name] else (known,)
            if array.shape != expected:
                form = f"[{'T' if terms is None else terms}{f', {dimensions}' if _ARRAYS[name] else ''}]"
                raise errors.ShapeMismatch(f"{name}: expected shape {form}, found {list(array.shape)}")
            terms = known
            if name == "powers" and (array < 0).any():
                raise errors.InvalidArgument(f"powers: expected numbers from 1, found {array.min()}")
            array = array.astype(np.uint32) if name == "powers" else array
            kept.append(array)
            fields[name] = ffi.from_buffer("uint32_t[]" if name == "powers" else "float[]", array)
            kept.append(fields[name])
        elif name == "sigma":
            fields[name] = _checks.number(value, name)
        elif name in ("matrix", "seed"):
            fields[name] = _checks.whole(value, name, 0, _checks.U64 if name == "seed" else _checks.U32)
        else:
            raise errors.InvalidArgument(f"{name}: expected parameters out of {', '.join(_ARRAYS)}, sigma, matrix, seed")
    fields["terms"] = terms or 0
    return ffi.new("weft_flt_params *", fields), kept
