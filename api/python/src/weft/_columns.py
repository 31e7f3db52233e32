# SPDX-License-Identifier: MIT
"""The columns that a model adds to a batch of texts, by its task: what the workers of weft.ray run."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from . import _generation, _texts, errors
from .model import Model
from .pool import PooledModel

if TYPE_CHECKING:
    import numpy.typing as npt

    Columns = dict[str, npt.NDArray[Any]]

_NOT_OF_WORKERS = ("progress", "top")


class _Kind(NamedTuple):
    """What one kind of model makes of texts, or of queries with a text each."""

    make: Callable[[PooledModel, Sequence[str], Sequence[str], dict[str, Any]], Columns]
    options: Callable[..., Any] | None  # whose arguments are the options, None: it has none


class TextColumns:
    """Makes columns of texts. In reproducible mode the bits of a row depend on nothing but its text, its query and the model.

    Args:
        model: a model with texts as its input.
        name: its folder, for messages.
        asked: whether there is a query, or a question, beside each text.
        how: options of what runs: see `weft.ray.Predictor`. They are tried here.

    Raises Unsupported for other tasks, and TypeError for an option that the task has not.
    """

    def __init__(self, model: PooledModel, name: str, asked: bool, how: dict[str, Any]) -> None:
        task = model.info.task
        kind = (_ASKED if asked else _PLAIN).get(task)
        if kind is None and task == "program":
            raise errors.Unsupported(f"{name}: expected a model of texts, found a program, which ProgramPredictor runs")
        if kind is None:
            raise errors.Unsupported(f"{name}: expected a model that {'reads queries' if asked else 'reads texts'} and "
                                     f"classifies, embeds, ranks or writes, found task {task}")
        names = _options(kind)
        for option in how:
            if option not in names:
                there = f"expected {', '.join(names)}" if names else "there is none"
                raise TypeError(f"{name}: task {task} has no option {option!r}: {there}")
        self._model, self._kind, self._how = model, kind, how
        self([], [])

    def __call__(self, texts: Sequence[str], queries: Sequence[str]) -> Columns:
        """The columns for so many texts, each with a query if there are any."""
        return self._kind.make(self._model, texts, queries, self._how)


def _options(kind: _Kind) -> list[str]:
    if kind.options is None:
        return []
    parameters = inspect.signature(kind.options).parameters.values()
    return [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and one.name not in _NOT_OF_WORKERS]


def _alone(pooled: PooledModel) -> Model:
    """The model of a worker that has one device."""
    if len(pooled._models) != 1:
        raise errors.Unsupported(f"task {pooled.info.task}: expected one device for each worker, found {len(pooled._models)}")
    return pooled._models[0]


def _rows(pooled: PooledModel, texts: Sequence[str]) -> Any:
    import numpy as np

    rows = pooled._rows(pooled._models[0]._sequences(texts))
    return np.stack(rows) if rows else np.empty((0, pooled.info.label_count), np.float32)


def _labels(pooled: PooledModel, texts: Sequence[str], _: Sequence[str], __: dict[str, Any]) -> Columns:
    import numpy as np

    logits = _rows(pooled, texts)
    answers = [pooled._classification(row) for row in logits]
    return {"label": np.array([answer.label for answer in answers], object),
            "probability": np.array([answer.probability for answer in answers], np.float64), "logits": logits}


def _values(pooled: PooledModel, texts: Sequence[str], _: Sequence[str], __: dict[str, Any]) -> Columns:
    return {"values": _rows(pooled, texts)}


def _vectors(pooled: PooledModel, texts: Sequence[str], _: Sequence[str], how: dict[str, Any]) -> Columns:
    return {"vector": _alone(pooled).embed(list(texts), progress=False, **how)}


def _generated(pooled: PooledModel, texts: Sequence[str], _: Sequence[str], how: dict[str, Any]) -> Columns:
    import numpy as np

    _generation.settings_of(1, **how)
    return {"generated": np.array(_alone(pooled).generate(list(texts), **how), object)}


def _entities(pooled: PooledModel, texts: Sequence[str], _: Sequence[str], __: dict[str, Any]) -> Columns:
    import numpy as np

    found = np.empty(len(texts), object)
    for row, entities in enumerate(_alone(pooled).entities(list(texts), progress=False)):
        found[row] = [dict(vars(entity)) for entity in entities]
    return {"entities": found}


def _scores(pooled: PooledModel, texts: Sequence[str], queries: Sequence[str], how: dict[str, Any]) -> Columns:
    import numpy as np

    scores = np.empty(len(texts), np.float64)
    rows: dict[str, list[int]] = {}
    for row, query in enumerate(queries):
        rows.setdefault(query, []).append(row)
    for query, places in rows.items():
        for ranked in _alone(pooled).rerank(query, [texts[row] for row in places], progress=False, **how):
            scores[places[ranked.index]] = ranked.score
    return {"score": scores}


def _answers(pooled: PooledModel, texts: Sequence[str], queries: Sequence[str], how: dict[str, Any]) -> Columns:
    import numpy as np

    found = _texts.answers(_alone(pooled), list(zip(queries, texts)), None, how.get("max_tokens", 15))
    return {"answer": np.array([answer.text for answer in found], object),
            **{name: np.array([getattr(answer, name) for answer in found], kind)
               for name, kind in (("score", np.float64), ("begin", np.int64), ("end", np.int64))}}


_WRITER = _Kind(_generated, _generation.settings_of)
_EMBEDDER = _Kind(_vectors, Model.embed)
_RANKER = _Kind(_scores, Model.rerank)
_PLAIN = {"classify": _Kind(_labels, None), "next_sentence": _Kind(_labels, None), "regress": _Kind(_values, None),
          "embed": _EMBEDDER, "hidden": _EMBEDDER, "classify_tokens": _Kind(_entities, None), "causal_lm": _WRITER,
          "text_to_text": _WRITER}
_ASKED = {"classify": _RANKER, "regress": _RANKER, "embed": _RANKER, "classify_tokens": _Kind(_answers, Model.answer)}
