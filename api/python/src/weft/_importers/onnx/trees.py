# SPDX-License-Identifier: MIT
"""Rows for ai.onnx.ml: scaling, linear models, and ensembles of trees, which are walked level by level."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program.program import Value
from .reader import Reader, row
from .refused import Refused

ML = "ai.onnx.ml"
_COMPARE = {"BRANCH_LEQ": "less_equal", "BRANCH_LT": "less", "BRANCH_GTE": "greater_equal", "BRANCH_GT": "greater",
            "BRANCH_EQ": "equal", "BRANCH_NEQ": "not_equal"}
_MOST_LEVELS = 256

Numbers = np.ndarray[Any, Any]


def floats_of(r: Reader, name: str) -> Numbers | None:
    """An attribute of floats."""
    found = r.attribute(name)
    return None if found is None else np.asarray(found, np.float32)


@row("Scaler", domain=ML)
def _scaler(r: Reader, x: Any) -> Value:
    b, value = r.build, r.value(x, "f32")
    offset, scale = floats_of(r, "offset"), floats_of(r, "scale")
    found = value if offset is None else b.subtract(value, b.constant(offset))
    return found if scale is None else b.multiply(found, b.constant(scale))


@row("Normalizer", domain=ML)
def _normalizer(r: Reader, x: Any) -> Value:
    b, value, norm = r.build, r.value(x, "f32"), r.attribute("norm", "MAX")
    if norm == "L2":
        size = b.unary("sqrt", b.reduce("sum", b.multiply(value, value), [-1], True))
    else:
        size = b.reduce("sum" if norm == "L1" else "max", b.unary("abs", value), [-1], True)
    return b.divide(value, b.binary("maximum", size, b.constant(1e-30, "f32")))


@row("LinearRegressor", domain=ML)
def _linear_regressor(r: Reader, x: Any) -> Value:
    if r.attribute("post_transform", "NONE") != "NONE":
        raise Refused("it has a post_transform")
    return _linear(r, r.value(x, "f32"), int(r.attribute("targets", 1)))


def _linear(r: Reader, x: Value, rows: int) -> Value:
    """ONNX Runtime reads as many coefficients as x has columns, also where there are more."""
    coefficients, intercepts = floats_of(r, "coefficients"), floats_of(r, "intercepts")
    needed = rows * int(str(x.shape[-1]))
    if coefficients is None or coefficients.size < needed:
        raise Refused(f"its coefficients: expected {needed}, found {0 if coefficients is None else coefficients.size}")
    return r.build.linear(x, r.build.constant(coefficients[:needed].reshape(rows, -1)),
                          None if intercepts is None else r.build.constant(intercepts))


@row("LinearClassifier", domain=ML)
def _linear_classifier(r: Reader, x: Any) -> list[Value | None]:
    b, value = r.build, r.value(x, "f32")
    labels, names = r.attribute("classlabels_ints"), r.attribute("classlabels_strings")
    count = len(r.attribute("intercepts", ())) or len(r.attribute("coefficients")) // int(str(value.shape[-1]))
    r.attribute("multi_class")
    scores = _linear(r, value, count)
    if count == 1 and len(labels or names or ()) == 2:
        scores = b.concat([b.unary("neg", scores), scores], -1)
    elif count == 1:
        raise Refused("it has one score")
    found = transformed(r, scores)
    return [labels_of(r, b.arg("argmax", found, -1, False), labels, names, 0), found]


def transformed(r: Reader, scores: Value) -> Value:
    """Scores behind the node's post_transform."""
    word = r.attribute("post_transform", "NONE")
    if word == "NONE":
        return scores
    if word == "LOGISTIC":
        return r.build.unary("sigmoid", scores)
    if word == "SOFTMAX":
        return r.build.softmax(scores, -1)
    raise Refused(f"its post_transform is {word}")


def labels_of(r: Reader, at: Value, labels: list[int] | None, names: list[Any] | None, output: int) -> Value | None:
    """The classes of indices; None of texts, which nothing may read but by their indices."""
    if labels:
        if list(labels) == list(range(len(labels))):
            return at
        return r.build.take(r.build.constant(np.array(labels), "i32"), at, 0)
    if names and not r.choices.texts_as_indices and r.node.output[output] and r.is_read(output):
        raise Refused("its labels are texts: texts_as_indices=True gives their places in the list of them")
    return at if not names or r.choices.texts_as_indices else None


# ---- trees ----

class _Forest:
    """Nodes of all trees one behind the other: what each compares, and where it goes on; leaves go on to themselves."""

    def __init__(self, r: Reader) -> None:
        def ints(name: str) -> Numbers:
            return np.asarray(r.attribute(name, []), np.int64)

        trees, nodes = ints("nodes_treeids"), ints("nodes_nodeids")
        self.at = {pair: index for index, pair in enumerate(zip(trees.tolist(), nodes.tolist()))}
        self.modes = [one.decode() if isinstance(one, bytes) else one for one in r.attribute("nodes_modes")]
        leaf = np.array([mode == "LEAF" for mode in self.modes])
        own = np.arange(len(trees))
        self.features = np.where(leaf, 0, ints("nodes_featureids"))
        values = floats_of(r, "nodes_values")
        self.values = np.zeros(len(trees), np.float32) if values is None else values
        self.true, self.false = (np.array([index if is_leaf else self.at[tree, node] for index, is_leaf, tree, node in zip(
            own, leaf, trees.tolist(), ints(name).tolist())]) for name in ("nodes_truenodeids", "nodes_falsenodeids"))
        tracks = ints("nodes_missing_value_tracks_true")
        self.tracks = tracks if tracks.any() else None
        _, first = np.unique(trees, return_index=True)
        self.roots = np.sort(first)
        r.attribute("nodes_hitrates")

    @property
    def levels(self) -> int:
        """How many comparisons the longest path has."""
        here, found = self.roots, 0
        while True:
            after = np.unique(np.concatenate([self.true[here], self.false[here]]))
            if np.array_equal(self.true[after], after) and np.array_equal(self.false[after], after) and np.array_equal(
                    np.unique(here), after):
                return found
            here, found = after, found + 1
            if found > _MOST_LEVELS:
                raise Refused(f"a tree has more than {_MOST_LEVELS} levels")


def _leaves(r: Reader, forest: _Forest, x: Value) -> Value:
    """[B, trees]: the nodes where rows of x end."""
    b = r.build
    tables = {name: b.constant(getattr(forest, name), "i32") for name in ("features", "true", "false")}
    values = b.constant(forest.values)
    node = b.expand(b.constant(forest.roots[None], "i32"), [x.shape[0], len(forest.roots)])
    for _ in range(forest.levels):
        feature, value = b.take_along(x, b.take(tables["features"], node, 0), 1), b.take(values, node, 0)
        holds = _compared(r, forest, node, feature, value)
        node = b.where(holds, b.take(tables["true"], node, 0), b.take(tables["false"], node, 0))
    return node


def _compared(r: Reader, forest: _Forest, node: Value, feature: Value, value: Value) -> Value:
    b, modes = r.build, sorted(set(forest.modes) - {"LEAF"})
    unknown = [mode for mode in modes if mode not in _COMPARE]
    if unknown:
        raise Refused(f"it compares by {unknown[0]}")
    found = b.constant(1, "i32")
    for at, mode in enumerate(modes):
        holds = b.binary(_COMPARE[mode], feature, value)
        is_it = b.take(b.constant([one == mode for one in forest.modes], "i32"), node, 0) if at else None
        found = holds if is_it is None else b.where(is_it, holds, found)
    if forest.tracks is not None:
        missing = b.binary("logical_and", b.unary("is_nan", feature), b.take(b.constant(forest.tracks, "i32"), node, 0))
        found = b.binary("logical_or", found, missing)
    return found


def _weights(r: Reader, forest: _Forest, word: str, count: int) -> Numbers:
    """[nodes, results] of what leaves give."""
    found = np.zeros((len(forest.modes), count), np.float32)
    places = (r.attribute(f"{word}_{name}") for name in ("treeids", "nodeids", "ids", "weights"))
    for tree, node, result, weight in zip(*places):
        found[forest.at[tree, node], result] += np.float32(weight)
    return found


def _with_base(r: Reader, found: Value) -> Value:
    base = floats_of(r, "base_values")
    return found if base is None or not base.size else r.build.add(found, r.build.constant(base))


@row("TreeEnsembleRegressor", domain=ML)
def _regressor(r: Reader, x: Any) -> Value:
    b, forest = r.build, _Forest(r)
    weights = _weights(r, forest, "target", int(r.attribute("n_targets", 1)))
    each = b.take(b.constant(weights), _leaves(r, forest, r.value(x, "f32")), 0)
    word = {"SUM": "sum", "AVERAGE": "mean", "MIN": "min", "MAX": "max"}[r.attribute("aggregate_function", "SUM")]
    return transformed(r, _with_base(r, b.reduce(word, each, [1], False)))


@row("TreeEnsembleClassifier", domain=ML)
def _classifier(r: Reader, x: Any) -> list[Value | None]:
    b, forest = r.build, _Forest(r)
    labels, names = r.attribute("classlabels_int64s"), r.attribute("classlabels_strings")
    count = len(labels or names or ())
    ids = set(r.attribute("class_ids"))
    weights = _weights(r, forest, "class", max(count, max(ids) + 1))
    binary = len(ids) == 1 and count == 2
    weights = weights[:, list(ids)] if binary else weights
    each = b.take(b.constant(weights), _leaves(r, forest, r.value(x, "f32")), 0)
    found = _with_base(r, b.reduce("sum", each, [1], False))
    if not binary:
        found = transformed(r, found)
        return [labels_of(r, b.arg("argmax", found, -1, False), labels, names, 0), found]
    return _of_one_class(r, found, bool((weights >= 0).all()), labels, names)


def _of_one_class(r: Reader, score: Value, positive: bool, labels: list[int] | None,
                  names: list[Any] | None) -> list[Value | None]:
    """Of two classes, of which the trees weigh the second: it is above 0.5, or above 0 where weights are below that, as ONNX
    Runtime has it."""
    b = r.build
    is_second = b.reshape(b.binary("greater", score, b.constant(0.5 if positive else 0.0, "f32")), [-1])
    if r.attribute("post_transform", "NONE") == "NONE" and positive:
        both = b.concat([b.affine(score, -1.0, 1.0), score], -1)
    else:
        both = transformed(r, b.concat([b.unary("neg", score), score], -1))
    return [labels_of(r, is_second, labels, names, 0), both]
