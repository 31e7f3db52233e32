# SPDX-License-Identifier: MIT
"""Exact search of vectors: those most like some queries."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _checks, _core, errors
from ._core import check, ffi, host, lib

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_AT_ONCE = 1 << 22
"""Values of vectors that are copied at a time."""


class Found(NamedTuple):
    """The best rows for each query, the best first."""

    scores: npt.NDArray[np.float64]
    """[queries, k]"""
    rows: npt.NDArray[np.int64]
    """[queries, k], from 0 on."""


def _array_of(given: Any, what: str) -> Any:
    """Vectors as they are: of a file they stay in it until they are compared."""
    import numpy as np

    array = np.load(given, mmap_mode="r", allow_pickle=False) if isinstance(given, (str, os.PathLike)) else np.asanyarray(given)
    if array.dtype.kind not in "fiu" or array.ndim not in (1, 2) or array.shape[-1] < 1:
        raise errors.InvalidArgument(f"{what}: expected numbers [n, size], found {array.dtype} {list(array.shape)}")
    return array


def search(vectors: Any, queries: Any, top: int = 10, similarity: str = "cosine") -> Found:
    """The `top` vectors most like each query. All are compared, in float64 and in one order: every machine finds the same, and
    of equal ones the first comes first.

        found = weft.search("vectors.npy", model.embed(["Where is the cat?"], prompt="query"))
        found.rows[0], found.scores[0]

    Args:
        vectors: an array [n, size]; or the path of a .npy, such as weft embed writes, of which a piece at a time is in memory.
        queries: an array [queries, size], or [size].
        top: how many; fewer where there are fewer.
        similarity: cosine, dot, euclidean or manhattan; of distances the score is the negative.
    """
    import numpy as np

    given = _array_of(vectors, "vectors")
    asked = np.ascontiguousarray(np.atleast_2d(_array_of(queries, "queries")), np.float32)
    if given.ndim != 2 or given.shape[1] != asked.shape[1]:
        raise errors.InvalidArgument(f"vectors: expected [n, {asked.shape[1]}], as the queries have values, found "
                                     f"{list(given.shape)}")
    if len(asked) == 0:
        return Found(np.empty((0, 0)), np.empty((0, 0), np.int64))
    top = min(_checks.whole(top, "top", 1), max(1, len(given)))
    data, name = ffi.from_buffer("float[]", asked), ffi.new("char[]", str(similarity).encode())
    params = ffi.new("weft_search_params *", {"queries": data, "count": len(asked), "width": asked.shape[1], "top": top,
                                              "similarity": name})
    pointer = _core.make("weft_search", lib.weft_search_create, params, host)
    try:
        _add_all(pointer, given)
        return _results(pointer, len(asked), top)
    finally:
        lib.weft_search_destroy(ffi.new("weft_search **", pointer))


def _add_all(pointer: Any, given: Any) -> None:
    import numpy as np

    step = max(1, _AT_ONCE // given.shape[1])
    for start in range(0, len(given), step):
        some = np.ascontiguousarray(given[start:start + step], np.float32)
        check(lib.weft_search_add(pointer, ffi.from_buffer("float[]", some), len(some)))


def _results(pointer: Any, queries: int, top: int) -> Found:
    import numpy as np

    ranked, count = ffi.new("weft_ranked[]", top), ffi.new("uint32_t *")
    scores: list[list[float]] = []
    rows: list[list[int]] = []
    for query in range(queries):
        check(lib.weft_search_best(pointer, query, ranked, count))
        scores.append([ranked[i].score for i in range(count[0])])
        rows.append([ranked[i].index for i in range(count[0])])
    return Found(np.array(scores, np.float64), np.array(rows, np.int64))
