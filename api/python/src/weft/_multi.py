# SPDX-License-Identifier: MIT
"""Several vectors of a text, one for each token that counts, and how alike two texts are by all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _similarity, _texts, errors
from ._core import ffi, lib, text_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .model import Model

    F32 = npt.NDArray[np.float32]

NAMES = ("maxsim", "meanmaxsim")

_TASKS = {None: 0, "query": 1, "document": 2}  # weft_embed_task


def task_of(task: Any) -> int:
    """The number of a task."""
    if task not in _TASKS:
        raise errors.InvalidArgument(f'task: expected "query", "document" or None, found {task!r}')
    return _TASKS[task]


def check(model: Model) -> None:
    """Raises Unsupported for a model that gives a text one vector."""
    if not model.info.multi_vector:
        raise errors.Unsupported(f"expected a model with a vector for each token (ColBERT), found task {model.info.task}: "
                                 "embed() gives a text one vector")


def embed(model: Model, texts: Sequence[str], task: str | None, prompt: str | None, batch_size: int | None, normalize: bool,
          done: _texts.Done, *, prompt_is_text: bool = False) -> list[F32]:
    """Those of texts, f32 [n, d] each, with a warning where texts are cut."""
    import numpy as np

    check(model)
    number = task_of(task)
    found: list[Any] = [None] * len(texts)

    def take(output: Any) -> None:
        data = ffi.buffer(output.values, 4 * output.rows * output.width)
        found[output.index] = np.frombuffer(data, np.float32).reshape(output.rows, output.width).copy()
        if done is not None:
            done(1)

    if prompt is None and number > 0:
        prompt = text_of(lib.weft_model_role_prompt(model._handle.get(), number - 1))  # weft_text_role
    _run(model, texts, number, prompt, batch_size or 0, normalize, take, prompt_is_text)
    return found


def _run(model: Model, texts: Sequence[str], task: int, prompt: str | None, batch_size: int, normalize: bool,
         take: Callable[[Any], object], prompt_is_text: bool) -> None:
    """Gives each text's output to `take`, with a warning where texts are cut. The model has no task behind it."""
    with model._texts_lock:
        text = _texts.set_vectors(model, None, normalize, prompt, prompt_is_text, task=task)
        try:
            inputs, cut = _texts._inputs_of(model, texts, prompt=text)
            _texts.run(model, inputs, take=take, batch_size=batch_size, prompt=text)
            _texts._warn(model, _texts._cut_ones(inputs, cut), 6)
        finally:
            _texts.set_vectors(model, None, False, "", True)


def scores(model: Model, query: F32, texts: Sequence[str], name: str, prompt: str, batch_size: int,
           done: _texts.Done) -> list[float]:
    """How well texts answer a query with these vectors: text by text, so that none of their vectors are kept."""
    found = [0.0] * len(texts)
    one, array = _list_of(query)
    assert array is not None  # it lives until here
    word = name.encode()

    def take(output: Any) -> None:
        other = ffi.new("weft_vector_list *", {"values": output.values, "count": output.rows})
        found[output.index] = lib.weft_vectors_similarity(word, one, other, output.width)
        if done is not None:
            done(1)

    _run(model, texts, _TASKS["document"], prompt, batch_size, False, take, True)
    return found


# ---- how alike they are ----


def _list_of(vectors: F32) -> tuple[Any, Any]:
    """A weft_vector_list, and the memory that it points to."""
    memory = ffi.from_buffer("float[]", vectors)
    return ffi.new("weft_vector_list *", {"values": memory, "count": len(vectors)}), memory


def vectors_of(given: Any, what: str) -> list[F32]:
    """Those of each text, f32 [n, d]: of a list of arrays or tensors, of one, or of one [texts, n, d] filled up with zeros."""
    import numpy as np

    if isinstance(given, (list, tuple)):
        found = [np.ascontiguousarray(_similarity.array_of(one), np.float32) for one in given]
    else:
        array = np.ascontiguousarray(_similarity.array_of(given), np.float32)
        found = [array] if array.ndim == 2 else [np.ascontiguousarray(one[one.any(-1)]) for one in array] \
            if array.ndim == 3 else [array]
    for one in found:
        if one.ndim != 2 or one.shape[1] != found[0].shape[1]:
            raise errors.ShapeMismatch(f"{what}: expected vectors [n, d] of each text, found shape {list(one.shape)}")
    return found


def similarity(name: str, a: Any, b: Any, pairwise: bool) -> Any:
    """[n, m], or pairwise [n], in float64 and in one order, rounded to float32: the same on every machine."""
    import numpy as np

    queries, texts = vectors_of(a, "embeddings1"), vectors_of(b, "embeddings2")
    if pairwise and len(queries) != len(texts):
        raise errors.ShapeMismatch(f"embeddings2: expected the vectors of {len(queries)} texts, as embeddings1 has them, found "
                                   f"{len(texts)}")
    if queries and texts and queries[0].shape[1] != texts[0].shape[1]:
        raise errors.ShapeMismatch(f"embeddings2: expected vectors of {queries[0].shape[1]} values, as embeddings1 has them, "
                                   f"found {texts[0].shape[1]}")
    word = name.encode()
    rows, columns = [_list_of(one) for one in queries], [_list_of(one) for one in texts]

    def score(query: Any, text: Any, width: int) -> float:
        return float(lib.weft_vectors_similarity(word, query[0], text[0], width))

    width = queries[0].shape[1] if queries else 0
    found = [score(row, column, width) for row, column in zip(rows, columns)] if pairwise else [
        [score(row, column, width) for column in columns] for row in rows]
    return np.asarray(found, np.float32).reshape((len(queries),) if pairwise else (len(queries), len(texts)))
