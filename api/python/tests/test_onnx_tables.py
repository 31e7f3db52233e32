# SPDX-License-Identifier: MIT
# weft-test: long
"""ONNX's ops on columns of tables, as scikit-learn's converters write them, against onnx's reference and NumPy."""

import numpy as np
import pytest
from onnx import helper
from onnx_small import ML, check, found, model, reference

import weft

RNG = np.random.default_rng(0)


def node(kind, given, results=("y",), **attributes):
    return helper.make_node(kind, given.split(), list(results), domain=ML, **attributes)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def test_gaps_are_filled(device):
    x = floats(5, 3)
    x[[0, 2, 4], [1, 2, 0]] = np.nan
    fields = {"imputed_value_floats": [1.0, 2.0, 3.0], "replaced_value_float": float("nan")}
    made = model([node("Imputer", "x", **fields)], {"x": ["n", 3]})
    np.testing.assert_array_equal(found(made, {"x": x}, device)[0], reference(made, {"x": x.copy()})[0])
    made = model([node("Imputer", "x", imputed_value_int64s=[7], replaced_value_int64=-1)], {"x": ["n", 3]},
                 kinds={"x": "i", "y": "i"})
    whole = RNG.integers(-1, 2, (6, 3))
    np.testing.assert_array_equal(found(made, {"x": whole}, device)[0], np.where(whole == -1, 7, whole))


def test_columns_side_by_side(device):
    made = model([node("FeatureVectorizer", "a b", inputdimensions=[2, 3])], {"a": ["n", 2], "b": ["n", 3]})
    check(made, [{"a": (4, 2), "b": (4, 3)}], device, atol=0)
    check(model([node("Binarizer", "x", threshold=0.25)], {"x": ["n", 3]}), [{"x": (4, 3)}], device, atol=0)
    made = model([node("ArrayFeatureExtractor", "x at")], {"x": ["n", 4]}, {"at": np.array([3, 1])})
    check(made, [{"x": (5, 4)}], device, atol=0)


def test_one_column_for_each_category(device):
    made = model([node("OneHotEncoder", "x", cats_int64s=[3, 1, 7], zeros=1)], {"x": ["n", 2]}, kinds={"x": "i"})
    x = RNG.integers(0, 8, (9, 2))
    np.testing.assert_array_equal(found(made, {"x": x}, device)[0], x[..., None] == np.array([3, 1, 7]))


@pytest.mark.parametrize("kind, keys, to, values, default", [
    ("int64s", [4, 2, 9], "floats", [0.5, -1.0, 3.0], {"default_float": 8.0}),
    ("int64s", [4, 2, 9], "int64s", [1, 0, 5], {"default_int64": -7}),
    ("floats", [0.5, 1.5], "int64s", [3, 4], {}),
])
def test_numbers_for_numbers(device, kind, keys, to, values, default):
    made = model([node("LabelEncoder", "x", **{f"keys_{kind}": keys, f"values_{to}": values}, **default)], {"x": ["n"]},
                 kinds={"x": "i" if kind == "int64s" else "f", "y": "i" if to == "int64s" else "f"})
    x = np.array([*keys, 100, keys[0]], np.int64 if kind == "int64s" else np.float32)
    expected = [*values, next(iter(default.values()), -1), values[0]]
    np.testing.assert_array_equal(found(made, {"x": x}, device)[0], expected)


def test_texts_are_their_places_by_a_flag(device):
    nodes = [node("LinearClassifier", "x", ("l", "p"), coefficients=[1.0, 0.0, 0.0, 1.0, -1.0, -1.0],
                  intercepts=[0.0, 0.0, 0.5], classlabels_strings=["no", "perhaps", "yes"], post_transform="SOFTMAX"),
             node("ZipMap", "p", ("y",), classlabels_strings=["no", "perhaps", "yes"])]
    made = model(nodes, {"x": ["n", 2]}, outputs=("l", "y"), kinds={"l": "i"})
    with pytest.raises(weft.Unsupported, match="its labels are texts: texts_as_indices=True gives their places"):
        weft.from_onnx(made)
    x = floats(20, 2)
    scores = np.stack([x[:, 0], x[:, 1], 0.5 - x[:, 0] - x[:, 1]], 1).astype(np.float64)
    labels, y = found(made, {"x": x}, device, texts_as_indices=True)
    np.testing.assert_array_equal(labels, scores.argmax(1))
    np.testing.assert_allclose(y, np.exp(scores) / np.exp(scores).sum(1, keepdims=True), rtol=1e-5)
    columns = [node("ArrayFeatureExtractor", "names at")]
    made = model(columns, {"at": ["n"]}, {"names": np.array(["a", "b"])}, kinds={"at": "i", "y": "i"})
    np.testing.assert_array_equal(found(made, {"at": np.array([1, 0, 1])}, device, texts_as_indices=True)[0], [[1, 0, 1]])


KERNELS = {"RBF": [0.3, 0.0, 3.0], "LINEAR": [0.0, 0.0, 0.0], "POLY": [0.5, 1.0, 3.0], "SIGMOID": [0.1, 0.2, 3.0]}


@pytest.mark.parametrize("kernel", KERNELS)
def test_regression_by_support_vectors(device, kernel):
    vectors, weights = floats(5, 3), floats(5)
    fields = dict(kernel_type=kernel, kernel_params=KERNELS[kernel], n_supports=5, support_vectors=vectors.reshape(-1).tolist(),
                  coefficients=weights.tolist(), rho=[0.25])
    check(model([node("SVMRegressor", "x", **fields)], {"x": ["n", 3]}), [{"x": (6, 3)}], device)
    check(model([node("SVMRegressor", "x", one_class=1, **fields)], {"x": ["n", 3]}), [{"x": (6, 3)}], device, atol=0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_classes_by_support_vectors(device, kernel):
    """Of three classes with 2, 1 and 3 vectors: each pair votes."""
    fields = dict(kernel_type=kernel, kernel_params=KERNELS[kernel], vectors_per_class=[2, 1, 3], rho=[0.1, -0.2, 0.05],
                  support_vectors=floats(6 * 3).tolist(), coefficients=floats(2 * 6).tolist(), classlabels_ints=[5, 6, 9])
    made = model([node("SVMClassifier", "x", ("l", "y"), **fields)], {"x": ["n", 3]}, outputs=("l", "y"), kinds={"l": "i"})
    x = floats(12, 3)
    labels, y = found(made, {"x": x}, device)
    expected = reference(made, {"x": x})
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_allclose(y, expected[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("nodes, message", [
    (node("SVMClassifier", "x", prob_a=[1.0], prob_b=[0.0], vectors_per_class=[1, 1], support_vectors=[1.0] * 6,
          coefficients=[1.0, -1.0], rho=[0.0], classlabels_ints=[0, 1]), "gives probabilities, by iterations"),
    (node("OneHotEncoder", "x", cats_strings=["a"]), "its categories are texts"),
    (node("LabelEncoder", "x", keys_strings=["a"], values_int64s=[1]), "its keys are texts"),
    (node("DictVectorizer", "x", int64_vocabulary=[1]), "computes with texts"),
])
def test_tables_that_are_refused(nodes, message):
    with pytest.raises(weft.Unsupported, match=message):
        weft.from_onnx(model([nodes], {"x": ["n", 3]}))
