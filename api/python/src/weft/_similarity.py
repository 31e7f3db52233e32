# SPDX-License-Identifier: MIT
"""How alike vectors are, and vectors in fewer bits, as sentence-transformers defines both."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from . import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    F64 = npt.NDArray[np.float64]

LEAST_LENGTH = 1e-12
"""By which shorter vectors are divided when they are normalized, as PyTorch does."""

PRECISIONS = ("float32", "int8", "uint8", "binary", "ubinary")


def normalized(vectors: F64) -> F64:
    """The same of length 1."""
    import numpy as np

    lengths = np.sqrt((vectors * vectors).sum(-1, keepdims=True))
    found: F64 = vectors / np.maximum(lengths, LEAST_LENGTH)
    return found


def _distances(a: F64, b: F64, power: int) -> F64:
    """Those of each of a to each of b, row by row: all differences at once may be more than memory has."""
    import numpy as np

    found = np.empty((len(a), len(b)))
    for row, vector in enumerate(a):
        differences = np.abs(b - vector)
        found[row] = differences.sum(-1) if power == 1 else np.sqrt((differences * differences).sum(-1))
    return found


_ALL: dict[str, Callable[[F64, F64], F64]] = {
    "cosine": lambda a, b: normalized(a) @ normalized(b).T,
    "dot": lambda a, b: a @ b.T,
    "euclidean": lambda a, b: -_distances(a, b, 2),
    "manhattan": lambda a, b: -_distances(a, b, 1),
}

_EACH: dict[str, Callable[[F64, F64], F64]] = {
    "cosine": lambda a, b: (normalized(a) * normalized(b)).sum(-1),
    "dot": lambda a, b: (a * b).sum(-1),
    "euclidean": lambda a, b: -(((a - b) ** 2).sum(-1) ** 0.5),
    "manhattan": lambda a, b: -abs(a - b).sum(-1),
}

NAMES = tuple(_ALL)


def named(value: Any) -> str:
    """The name of a function, also of sentence-transformers' SimilarityFunction."""
    word = getattr(value, "value", value)
    if word not in NAMES:
        raise errors.InvalidArgument(f"similarity_fn_name: expected one of {', '.join(NAMES)}, found {value!r}")
    return str(word)


def array_of(given: Any) -> Any:
    """Vectors as an array: a tensor, also a sparse one, SparseVectors, or a list of such."""
    import numpy as np

    if isinstance(given, (list, tuple)):
        return np.asarray([array_of(one) for one in given])
    if hasattr(given, "detach"):
        given = given.detach().cpu()
        given = given.to_dense() if getattr(given, "is_sparse", False) else given
    return np.asarray(given.dense() if hasattr(given, "dense") else given)


def _vectors(given: Any, what: str, batch: bool) -> Any:
    """Vectors as an array [n, d] of numbers; without `batch` also one."""
    array = array_of(given)
    if batch and array.ndim == 1:
        array = array[None]
    if array.ndim not in ((2,) if batch else (1, 2)) or array.dtype.kind not in "fiub":
        raise errors.ShapeMismatch(f"{what}: expected vectors [n, d], found shape {list(array.shape)} of {array.dtype}")
    return array


def of(name: str, a: Any, b: Any, pairwise: bool) -> Any:
    """[n, m], or pairwise [n], in float64, rounded to float32 unless float64 was given: the same on every machine."""
    import numpy as np

    first, second = _vectors(a, "embeddings1", not pairwise), _vectors(b, "embeddings2", not pairwise)
    if first.shape[-1] != second.shape[-1] or (pairwise and first.shape != second.shape):
        raise errors.ShapeMismatch(f"embeddings2: expected shape {list(first.shape) if pairwise else ['n', first.shape[-1]]}, "
                                   f"as embeddings1 has it, found {list(second.shape)}")
    found = (_EACH if pairwise else _ALL)[name](first.astype(np.float64), second.astype(np.float64))
    return found if np.float64 in (first.dtype, second.dtype) else np.asarray(found, np.float32)


def quantized(vectors: Any, precision: str) -> Any:
    """Vectors f32 [n, d] in bytes: each channel from its least to its largest value, or one bit for each value above 0."""
    import numpy as np

    if precision == "float32":
        return vectors
    if precision in ("binary", "ubinary"):
        bits = np.packbits(vectors > 0, axis=-1)
        return bits if precision == "ubinary" else (bits.astype(np.int16) - 128).astype(np.int8)
    if len(vectors) == 1:
        raise errors.InvalidArgument(f"precision: {precision} needs the range of each channel, which one vector does not "
                                     "have: give more texts at once, or binary")
    if len(vectors) < 100:
        logging.getLogger("weft").warning("precision: the ranges of %s are those of %d vectors: more make better ones",
                                          precision, len(vectors))
    starts = vectors.min(0)
    steps = (vectors.max(0) - starts) / np.float32(255)
    steps = np.where(steps == 0, np.float32(1), steps)
    levels = np.clip(np.floor((vectors - starts) / steps), 0, 255)
    return levels.astype(np.uint8) if precision == "uint8" else (levels - 128).astype(np.int8)
