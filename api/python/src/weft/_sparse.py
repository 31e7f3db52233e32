# SPDX-License-Identifier: MIT
"""Vectors most of whose values are 0, such as SPLADE's."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from . import _checks, _core, _similarity, _texts, errors
from ._core import check, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from .model import Model

    F32 = npt.NDArray[np.float32]
    I32 = npt.NDArray[np.int32]
    I64 = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class SparseVectors:
    """A vector for each text, [n, d], of which the values that are not 0 are kept: by rows, as SciPy's CSR matrices are.

        matrix = scipy.sparse.csr_matrix((found.data, found.indices, found.indptr), found.shape)
    """

    data: F32
    """The values, row by row."""
    indices: I32
    """Where in its row each of them is: in ascending order. Of SPLADE's vectors this is a token."""
    indptr: I64
    """Row i has the values from indptr[i] to indptr[i + 1]."""
    shape: tuple[int, int]

    def __len__(self) -> int:
        return self.shape[0]

    def row(self, index: int) -> tuple[I32, F32]:
        """The places and the values of a row."""
        _checks.whole(index, "index", 0, len(self) - 1)
        part = slice(int(self.indptr[index]), int(self.indptr[index + 1]))
        return self.indices[part], self.data[part]

    def dense(self) -> F32:
        """The same with zeros, f32 [n, d]."""
        import numpy as np

        found: F32 = np.zeros(self.shape, np.float32)
        for index in range(len(self)):
            places, values = self.row(index)
            found[index, places] = values
        return found

    def __repr__(self) -> str:
        return f"<weft.SparseVectors {list(self.shape)}, {len(self.data):,} values>"


def of_rows(rows: Sequence[tuple[I32, F32]], width: int) -> SparseVectors:
    """Those of each row's places and values."""
    import numpy as np

    ends = np.cumsum([0, *(len(values) for _, values in rows)], dtype=np.int64)
    return SparseVectors(np.concatenate([np.empty(0, np.float32), *(values for _, values in rows)]),
                         np.concatenate([np.empty(0, np.int32), *(places for places, _ in rows)]), ends, (len(rows), width))


def embed(model: Model, texts: Sequence[str], prompt: str | None, batch_size: int | None, max_terms: int,
          done: _texts.Done, *, prompt_is_text: bool = False) -> SparseVectors:
    """Those of texts, with a warning where texts are cut."""
    import numpy as np

    if not is_sparse(model):
        raise errors.Unsupported(f"expected a model that makes sparse vectors (SPLADE), found task {model.info.task}: embed() "
                                 "is for dense ones")
    rows: list[Any] = [None] * len(texts)

    def take(output: Any) -> None:
        values = np.frombuffer(ffi.buffer(output.values, 4 * output.width), np.float32)
        places = np.flatnonzero(values).astype(np.int32)
        rows[output.index] = places, values[places]
        if done is not None:
            done(1)

    with model._texts_lock:
        text = _texts.set_vectors(model, None, False, prompt, prompt_is_text, max_terms=max_terms)
        inputs, cut = _texts._inputs_of(model, texts, prompt=text)
        _texts.run(model, inputs, take=take, batch_size=batch_size or 0, prompt=text)
    _texts._warn(model, _texts._cut_ones(inputs, cut))
    return of_rows(rows, model.info.embedding_size)


def is_sparse(model: Model) -> bool:
    """Whether its vectors have a value for each token of the vocabulary."""
    info = ffi.new("weft_embed_info *")
    if model.info.task != "embed":
        return False
    if lib.weft_model_get_embedding(model._handle.get(), info) != lib.WEFT_OK:
        _core.forget()  # a program: what it makes is fixed
        return False
    return bool(info.sparse)


def piece(model: Model, token: int) -> str | None:
    """A token as the vocabulary has it, or None: an output may have more values than there are tokens."""
    text, size = ffi.new("char **"), ffi.new("size_t *")
    with model._handle.lock:
        status = lib.weft_model_get_piece(model._handle.get(), token, text, size)
        if status == lib.WEFT_NOT_FOUND:
            return None
        check(status)
        try:
            return bytes(ffi.buffer(text[0], size[0])).decode("utf-8", "replace")
        finally:
            lib.weft_text_free(model._handle.get(), text)


def terms(model: Model, places: Any, values: Any, top: int | None) -> list[tuple[str | None, float]]:
    """Tokens with their weights, the largest first, equal ones by token."""
    found = sorted(zip(places.tolist(), values.tolist()), key=lambda one: (-one[1], one[0]))
    return [(piece(model, token), weight) for token, weight in found[:top]]


def rows_of(given: Any, width: int) -> tuple[list[tuple[Any, Any]], bool]:
    """The places and the values of each vector, and whether it is one: of SparseVectors, tensors or arrays."""
    import numpy as np

    rows: list[tuple[Any, Any]]
    if isinstance(given, SparseVectors):
        rows, single, found = [given.row(index) for index in range(len(given))], False, given.shape[1]
    else:
        array = _similarity.array_of(given)
        single, found = array.ndim == 1, array.shape[-1]
        rows = [(np.flatnonzero(row), row[row != 0]) for row in np.atleast_2d(array)]
    if found != width:
        raise errors.ShapeMismatch(f"embeddings: expected vectors of {width} values, as the model makes them, found {found}")
    return rows, single
