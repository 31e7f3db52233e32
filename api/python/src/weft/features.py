# SPDX-License-Identifier: MIT
"""Matrices of random features, made on the host: the same bits on every machine. weft/features.h tells about each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._core import check, ffi, lib

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]
    U32 = npt.NDArray[np.uint32]

Kind = Literal["base", "orf", "sorf", "rom", "s_hybrid", "fastfood", "scrf", "p_model", "qmc", "mm", "ssf", "sgq", "ssr",
               "simrf", "simrf_dependent", "poisson", "geometric"]


def _params(kind: Kind, rows: int, columns: int, **others: Any) -> Any:
    fields: dict[str, Any] = {"kind": _core.number_of(kind, "weft_features_kind", "kind"), "rows": rows, "columns": columns}
    enums = {"norm": "weft_features_norm", "sequence": "weft_features_sequence"}
    for name, value in others.items():
        fields[name] = _core.number_of(value, enums[name], name) if name in enums else value
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

    w, weights = np.empty((rows, columns), np.float32), np.empty(rows, np.float32)
    check(lib.weft_features_fill(ffi.from_buffer("float[]", w, True), ffi.from_buffer("float[]", weights, True),
                                 _params(kind, rows, columns, **others), _core.host))
    return w, weights


def parts(kind: Kind, rows: int, columns: int, **others: Any) -> tuple[F32, U32 | None]:
    """What a structured matrix is made of, for `structured_projection`: diagonals [blocks, diagonals, size], and the
    permutation [blocks, size] of FastFood."""
    import numpy as np

    params = _params(kind, rows, columns, **others)
    structure = ffi.new("weft_features_structure *")
    check(lib.weft_features_get_structure(structure, params, _core.host))
    diagonals = np.empty((structure.blocks, structure.diagonals, structure.size), np.float32)
    permutation = np.empty((structure.blocks, structure.size), np.uint32) if structure.permuted else None
    check(lib.weft_features_parts(ffi.from_buffer("float[]", diagonals, True),
                                  ffi.NULL if permutation is None else ffi.from_buffer("uint32_t[]", permutation, True),
                                  params, _core.host))
    return diagonals, permutation
