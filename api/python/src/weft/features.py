# SPDX-License-Identifier: MIT
"""Matrices of random features, made on the host: the same bits on every machine. weft/features.h tells about each kind."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal

from . import _array, _checks, _core, errors
from ._core import check, ffi, lib

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]
    U32 = npt.NDArray[np.uint32]

Kind = Literal["base", "orf", "sorf", "rom", "s_hybrid", "fastfood", "scrf", "p_model", "qmc", "mm", "ssf", "sgq", "ssr",
               "simrf", "simrf_dependent", "poisson", "geometric"]


@dataclasses.dataclass(frozen=True)
class Structure:
    """How a structured matrix is cut into factors; weft_features_structure of the C headers has the formulas."""

    transform: str
    """hadamard, circulant or correlation; dense: none, and all that follows is 0."""
    size: int
    blocks: int
    rows_per_block: int
    diagonals: int
    """Of each block."""
    permuted: bool
    scale: float


_ENUMS = {"norm": "weft_features_norm", "sequence": "weft_features_sequence"}


def _params(kind: Kind, rows: int, columns: int, **others: Any) -> Any:
    fields: dict[str, Any] = {"kind": _core.number_of(kind, "weft_features_kind", "kind"),
                              "rows": _checks.whole(rows, "rows", 1, lib.WEFT_FEATURES_MAX_ROWS),
                              "columns": _checks.whole(columns, "columns", 1, lib.WEFT_FEATURES_MAX_COLUMNS)}
    members = dict(ffi.typeof("weft_features_params").fields)
    for name, value in others.items():
        if name not in members:
            raise errors.InvalidArgument(f"{name}: expected parameters out of {', '.join(members)}")
        fields[name] = (_core.number_of(value, _ENUMS[name], name) if name in _ENUMS else
                        _checks.number(value, name) if name == "rate" else
                        bool(value) if name == "shift" else
                        _checks.whole(value, name, 0, _checks.U64 if name == "seed" else _checks.U32))
    return ffi.new("weft_features_params *", fields)


def fill(kind: Kind, rows: int, columns: int, **others: Any) -> tuple[F32, F32]:
    """W [rows, columns] of random features and the weights [rows] of its rows.

    Args:
        kind: the family of matrices.
        rows: how many features, 1 to 2^20.
        columns: channels of a head, 1 to 4096.
        others: seed, matrix, norm, factors, budget, sequence, sweeps, rate and shift, as weft_features_params has them.
    """
    import numpy as np

    params = _params(kind, rows, columns, **others)
    w, weights = np.empty((rows, columns), np.float32), np.empty(rows, np.float32)
    check(lib.weft_features_fill(ffi.from_buffer("float[]", w, True), ffi.from_buffer("float[]", weights, True),
                                 params, _core.host))
    return w, weights


def get_structure(kind: Kind, rows: int, columns: int, **others: Any) -> Structure:
    """How a matrix is cut into factors: what shapes `parts`, `expand` and `square_norms` have. Arguments as of `fill`."""
    found = _structure(_params(kind, rows, columns, **others))
    return Structure(transform=_core.word_of(found.transform, "weft_features_transform"), size=found.size,
                     blocks=found.blocks, rows_per_block=found.rows_per_block, diagonals=found.diagonals,
                     permuted=bool(found.permuted), scale=found.scale)


def _structure(params: Any) -> Any:
    structure = ffi.new("weft_features_structure *")
    check(lib.weft_features_get_structure(structure, params, _core.host))
    return structure


def parts(kind: Kind, rows: int, columns: int, **others: Any) -> tuple[F32, U32 | None]:
    """What a structured matrix is made of, for `structured_projection`: diagonals [blocks, diagonals, size], and the
    permutation [blocks, size] of FastFood. Arguments as of `fill`."""
    import numpy as np

    params = _params(kind, rows, columns, **others)
    structure = _structure(params)
    diagonals = np.empty((structure.blocks, structure.diagonals, structure.size), np.float32)
    permutation = np.empty((structure.blocks, structure.size), np.uint32) if structure.permuted else None
    check(lib.weft_features_parts(ffi.from_buffer("float[]", diagonals, True), _numbers(permutation), params, _core.host))
    return diagonals, permutation


def expand(diagonals: Any, permutation: Any, kind: Kind, rows: int, columns: int, **others: Any) -> F32:
    """The dense matrix [rows, columns] of factors, such as learned diagonals: of those of `parts`, the bits of `fill`.

    Args:
        diagonals: [blocks, diagonals, size], as `parts` gives them.
        permutation: [blocks, size] of FastFood, else None.
        kind: as of `fill`, as all that follow.
        rows: how many features.
        columns: channels of a head.
        others: those with which the factors were made.
    """
    import numpy as np

    params = _params(kind, rows, columns, **others)
    given = _factors(diagonals, permutation, params)
    w = np.empty((rows, columns), np.float32)
    check(lib.weft_features_expand(ffi.from_buffer("float[]", w, True), *map(_numbers, given), params, _core.host))
    return w


def square_norms(diagonals: Any, permutation: Any, kind: Kind, rows: int, columns: int, **others: Any) -> F32:
    """The squared lengths [rows] of the rows of `expand`'s matrix, which is not made. `random_features` takes them for the
    component "optimal". Arguments as of `expand`."""
    import numpy as np

    params = _params(kind, rows, columns, **others)
    given = _factors(diagonals, permutation, params)
    norms = np.empty(rows, np.float32)
    check(lib.weft_features_square_norms(ffi.from_buffer("float[]", norms, True), *map(_numbers, given), params, _core.host))
    return norms


def _numbers(array: Any) -> Any:
    if array is None:
        return ffi.NULL
    return ffi.from_buffer("float[]" if array.dtype == "float32" else "uint32_t[]", array)


def _factors(diagonals: Any, permutation: Any, params: Any) -> tuple[F32, U32 | None]:
    """Both as C reads them, of the shapes that the structure has."""
    import numpy as np

    structure = _structure(params)
    if structure.diagonals == 0:
        raise errors.InvalidArgument("kind: expected one of a structured matrix, found a dense one: fill makes it")
    factors = _array.f32(diagonals, "diagonals")
    expected: tuple[int, ...] = (structure.blocks, structure.diagonals, structure.size)
    if factors.shape != expected:
        raise errors.ShapeMismatch(f"diagonals: expected shape {list(expected)}, found {list(factors.shape)}")
    if not structure.permuted:
        if permutation is not None:
            raise errors.InvalidArgument("permutation: expected None: only fastfood has one")
        return factors, None
    if permutation is None:
        raise errors.InvalidArgument("permutation: expected an array for fastfood, found None")
    order = _array.i32(permutation, "permutation")
    if order.shape != (structure.blocks, structure.size):
        raise errors.ShapeMismatch(f"permutation: expected shape {[structure.blocks, structure.size]}, found "
                                   f"{list(order.shape)}")
    if (order < 0).any():
        raise errors.InvalidArgument(f"permutation: expected numbers from 0, found {order.min()}")
    return factors, order.astype(np.uint32)
