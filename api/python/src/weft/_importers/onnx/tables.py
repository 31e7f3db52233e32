# SPDX-License-Identifier: MIT
"""Rows for ai.onnx.ml's ops on columns of tables, beside linear models and trees: encoders, gaps, support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import numpy_helper

from ..program.ops import Builder
from ..program.program import Value
from ..program.sizes import product
from .reader import Reader, row
from .refused import Refused
from .trees import ML, Numbers, floats_of, labels_of, transformed

_KINDS = ("int64s", "floats", "strings")


@row("ZipMap", domain=ML)
def _zip_map(r: Reader, x: Any) -> Value:
    """The numbers without their names: a column for each class, in their order."""
    for name in ("classlabels_int64s", "classlabels_strings"):
        r.attribute(name)
    return r.value(x)


@row("ArrayFeatureExtractor", domain=ML)
def _columns(r: Reader, x: Any, indices: Any) -> Value:
    b = r.build
    if isinstance(x, np.ndarray) and x.dtype.kind == "U":
        return b.reshape(_of_texts(r, x, r.value(indices)), [1, -1])
    value, at = r.value(x), b.reshape(r.value(indices, "i32"), [-1])
    return b.take(value if value.rank > 1 else b.reshape(value, [1, -1]), at, -1)


def _of_texts(r: Reader, texts: Numbers, at: Value) -> Value:
    if not r.choices.texts_as_indices:
        raise Refused("it gives texts: texts_as_indices=True gives their places in the list of them")
    return at


@row("Binarizer", domain=ML)
def _binarizer(r: Reader, x: Any) -> Value:
    b, value = r.build, r.value(x, "f32")
    return b.convert(b.binary("greater", value, b.constant(float(r.attribute("threshold", 0.0)), "f32")), "f32")


@row("Imputer", domain=ML)
def _imputer(r: Reader, x: Any) -> Value:
    b, value = r.build, r.value(x)
    if value.dtype == "f32":
        found, gap = floats_of(r, "imputed_value_floats"), float(r.attribute("replaced_value_float", 0.0))
        other = ("replaced_value_int64", "imputed_value_int64s")
    else:
        found, gap = np.asarray(r.attribute("imputed_value_int64s"), np.int64), int(r.attribute("replaced_value_int64", 0))
        other = ("replaced_value_float", "imputed_value_floats")
    for name in other:
        r.attribute(name)
    if found is None or not found.size:
        raise Refused("it has no values for gaps")
    is_gap = b.unary("is_nan", value) if np.isnan(gap) else b.binary("equal", value, b.constant(gap, value.dtype))
    return b.where(is_gap, b.constant(found, value.dtype), value)


@row("FeatureVectorizer", domain=ML)
def _side_by_side(r: Reader, *parts: Any) -> Value:
    b, found = r.build, []
    widths = r.attribute("inputdimensions") or [None] * len(parts)
    for one, width in zip(parts, widths):
        value = r.value(one, "f32")
        value = b.reshape(value, [value.shape[0], product(value.shape[1:])])
        found.append(value if width is None else b.pad(value, 1, 0, width - value.shape[1]))
    return b.concat(found, 1)


# ---- encoders ----

def _is_key(b: Builder, x: Value, keys: Sequence[Any]) -> Value:
    """[…, keys]: whether each element is each key."""
    return b.binary("equal", b.reshape(x, [*x.shape, 1]), b.constant(np.asarray(keys), x.dtype))


@row("OneHotEncoder", domain=ML)
def _one_hot(r: Reader, x: Any) -> Value:
    """What is no category gives zeros, also where `zeros` is 0, for which ONNX Runtime ends the run."""
    r.attribute("zeros", 1)
    categories = r.attribute("cats_int64s")
    if not categories:
        raise Refused("its categories are texts")
    return r.build.convert(_is_key(r.build, r.value(x), categories), "f32")


def _list(r: Reader, word: str) -> tuple[str, list[Any]]:
    """The keys or values of an encoder, and their kind."""
    for kind in _KINDS:
        given = r.attribute(f"{word}_{kind}")
        if given:
            return kind, list(given)
    tensor = r.attribute(f"{word}_tensor")
    if tensor is None:
        raise Refused(f"it has no {word}")
    array = numpy_helper.to_array(tensor)
    kind = "strings" if array.dtype.kind in "OSU" else "floats" if array.dtype.kind == "f" else "int64s"
    return kind, array.reshape(-1).tolist()


@row("LabelEncoder", domain=ML)
def _label_encoder(r: Reader, x: Any) -> Value:
    b, (kind, keys), (to, values) = r.build, _list(r, "keys"), _list(r, "values")
    defaults = {"int64s": r.attribute("default_int64", -1), "floats": r.attribute("default_float", -0.0)}
    r.attribute("default_string")
    other = r.attribute("default_tensor")
    if kind == "strings":
        raise Refused("its keys are texts")
    if to == "strings":
        if not r.choices.texts_as_indices:
            raise Refused("its labels are texts: texts_as_indices=True gives their places in the list of them")
        to, values = "int64s", list(range(len(values)))
    default = defaults[to] if other is None else numpy_helper.to_array(other).reshape(-1)[0].item()
    last = {key: at for at, key in enumerate(keys)}  # of equal keys the last one holds
    hits = _is_key(b, r.value(x), list(last))
    table = b.constant(np.array([values[at] for at in last.values()]), "f32" if to == "floats" else "i32")
    found = b.take(table, b.arg("argmax", b.convert(hits, "f32"), -1, False), 0)
    return b.where(b.reduce("max", hits, [-1], False), found, b.constant(default, table.dtype))


# ---- support vectors ----

def _kernels(r: Reader, x: Value, vectors: Numbers) -> Value:
    """[B, vectors]: how alike each row of x is to each of them."""
    b, word = r.build, r.attribute("kernel_type", "LINEAR")
    gamma, offset, degree = (float(one) for one in r.attribute("kernel_params") or (0.0, 0.0, 0.0))
    if word == "RBF":
        apart = b.subtract(b.reshape(x, [x.shape[0], 1, x.shape[1]]), b.constant(vectors[None]))
        return b.unary("exp", b.affine(b.reduce("sum", b.multiply(apart, apart), [-1], False), -gamma, 0.0))
    products = b.linear(x, b.constant(vectors), None)
    if word == "LINEAR":
        return products
    products = b.affine(products, gamma, offset)
    if word == "SIGMOID":
        return b.unary("tanh", products)
    if word != "POLY" or degree != int(degree) or not 1 <= degree <= 16:
        raise Refused(f"its kernel is {word}, of degree {degree}")
    found = products
    for _ in range(int(degree) - 1):
        found = b.multiply(found, products)
    return found


@row("SVMRegressor", domain=ML)
def _svm_regressor(r: Reader, x: Any) -> Value:
    b, value = r.build, r.value(x, "f32")
    count, weights, rho = int(r.attribute("n_supports", 0)), floats_of(r, "coefficients"), floats_of(r, "rho")
    vectors, is_class = floats_of(r, "support_vectors"), bool(r.attribute("one_class", 0))
    r.attribute("n_targets")
    if weights is None or rho is None or r.attribute("post_transform", "NONE") != "NONE":
        raise Refused("it has no coefficients or rho, or a post_transform")
    if count:
        assert vectors is not None
        value = _kernels(r, value, vectors.reshape(count, -1))
    found = b.linear(value, b.constant(weights.reshape(1, -1)), b.constant(rho[:1]))
    if not is_class:
        return found
    return b.where(b.binary("greater", found, b.constant(0.0, "f32")), b.constant(1.0, "f32"), b.constant(-1.0, "f32"))


@row("SVMClassifier", domain=ML)
def _svm_classifier(r: Reader, x: Any) -> list[Value | None]:
    """Each pair of classes has a score, whose sign is a vote for one of them."""
    b, labels, names = r.build, r.attribute("classlabels_ints"), r.attribute("classlabels_strings")
    per_class, vectors = r.attribute("vectors_per_class"), floats_of(r, "support_vectors")
    weights, rho = floats_of(r, "coefficients"), floats_of(r, "rho")
    if r.attribute("prob_a"):
        raise Refused("it gives probabilities, by iterations whose number depends on numbers (its attribute prob_a)")
    r.attribute("prob_b")
    if not per_class or vectors is None or weights is None or rho is None:
        raise Refused("it has no support vectors")
    pairs, first, second = _pairs(weights.reshape(len(per_class) - 1, -1), per_class)
    kernels = _kernels(r, r.value(x, "f32"), vectors.reshape(sum(per_class), -1))
    scores = b.linear(kernels, b.constant(pairs), b.constant(rho))
    is_first = b.convert(b.binary("greater", scores, b.constant(0.0, "f32")), "f32")
    votes = b.add(b.linear(is_first, b.constant(first.T), None),
                  b.linear(b.affine(is_first, -1.0, 1.0), b.constant(second.T), None))
    label = b.arg("argmax", votes, -1, False)
    if len(per_class) == 2:
        if (weights >= 0).all():
            raise Refused("all its coefficients are positive")
        scores = b.concat([b.unary("neg", scores), scores], -1)
    return [labels_of(r, label, labels, names, 0), transformed(r, scores)]


def _pairs(weights: Numbers, per_class: Sequence[int]) -> tuple[Numbers, Numbers, Numbers]:
    """For each pair of classes the weights of all vectors, and which two classes it is of."""
    starts, count = np.cumsum([0, *per_class]), len(per_class)
    found, which = [], [(i, j) for i in range(count) for j in range(i + 1, count)]
    for i, j in which:
        own = np.zeros(starts[-1], np.float32)
        for at, row_ in ((i, j - 1), (j, i)):
            own[starts[at]:starts[at + 1]] = weights[row_, starts[at]:starts[at + 1]]
        found.append(own)
    one, other = (np.eye(count, dtype=np.float32)[[pair[at] for pair in which]] for at in (0, 1))
    return np.array(found), one, other
