# SPDX-License-Identifier: MIT
"""What people hand in who know NumPy, PyTorch and transformers: it means what it means there, or an error names it."""

import math
import warnings

import numpy as np
import pytest

import weft
from conftest import MODELS

# ---- sampling ----

@pytest.mark.parametrize("name, value", [
    ("top_p", 0.0), ("top_p", 1.5), ("repetition_penalty", 0), ("window", 0),
    ("temperature", math.nan), ("temperature", -1.0), ("temperature", math.inf), ("temperature", "warm"), ("tokens", -1),
    ("tokens", 2.5), ("tokens", True), ("seed", -1), ("seed", 2**64), ("top_k", -1), ("top_k", None)])
def test_parameters_are_named(text_model, name, value):
    for call in (lambda **given: text_model.generate("abc", **given),
                 lambda **given: text_model.generate_tokens([65], **given)):
        with pytest.raises(weft.InvalidArgument, match=f"^{name}: expected .* found {value!r}"):
            call(**{name: value})


def test_parameters_of_numpy_are_fine(text_model):
    some = text_model.generate_tokens([65], np.int64(3), temperature=np.float32(0.5), top_k=np.int32(4), seed=np.uint64(7))
    assert list(some) == list(text_model.generate_tokens([65], 3, temperature=0.5, top_k=4, seed=7))


# ---- texts ----

def test_long_texts_are_cut_with_a_warning(langid):
    most = langid.info.max_length
    long = "der Hund " * most
    with pytest.warns(UserWarning, match=f"text 0 is longer than the model's {most} positions"):
        found = langid(long)
    with pytest.warns(UserWarning, match=r"text 1 is longer .* \(and 1 more\)"):
        several = langid(["a", long, long])
    with pytest.warns(UserWarning, match=f"the text is longer than the model's {most} positions"):
        assert len(langid.tokenize(long)) == most
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found == several[1] == langid(long[:most])
        langid(["a", long[:most]])


def test_long_prompts_are_refused(text_model):
    most = text_model.info.max_length
    with pytest.raises(weft.InvalidArgument, match=f"prompt 0: expected at most the model's {most} positions"):
        text_model.generate("a" * (most + 1))
    assert len(list(text_model.generate_tokens(text_model.tokenize("a" * most)))) <= 1
    own = weft.load(MODELS / "text-fmmformer", text_model.device, tokenizer=lambda text: list(text.encode()))
    with pytest.warns(UserWarning, match="longer"):
        own.tokenize("a" * (most + 1))


def test_the_text_among_several_is_named(langid):
    with pytest.raises(weft.InvalidArgument, match="^text 2: .*no tokens"):
        langid(["a", "b", "", "d"])
    with pytest.raises(TypeError, match="^text 1: expected a text, found int"):
        langid(["a", 3])
    with pytest.raises(weft.InvalidArgument, match="^text 0: .*surrogates"):
        langid(["\ud800"])
    mute = weft.load(MODELS / "langid", langid.device, tokenizer=lambda text: [ord(letter) for letter in text.strip()])
    with pytest.raises(weft.InvalidArgument, match="^text 1: .*no tokens"):
        mute(["a", " "])


def test_what_a_tokenizer_gives_is_no_array(device):
    graph = weft.Graph()
    graph.output("y", graph.input("x", [1, 2], "i32") + 1)
    with pytest.raises(weft.InvalidArgument, match="x: expected one array, found dict of input_ids, attention_mask"):
        graph.compile(device)({"input_ids": [[1, 2]], "attention_mask": [[1, 1]]})


def test_labels_that_are_printed_steer_no_terminal():
    answer = weft.Classification(("\x1b]0;title\x07\u202e", "b\u00e4r"), (0.75, 0.25))
    assert str(answer) == "\\x1b]0;title\\x07\\u202e 75.0%, b\u00e4r 25.0%"
    assert answer.label == "\x1b]0;title\x07\u202e", "as the file has it"


# ---- tensors ----

@pytest.fixture
def graph():
    return weft.Graph()


def run(device, graph, y, x):
    graph.output("y", y)
    return graph.compile(device)(x)


def test_tensors_have_no_numbers(graph):
    a, b = graph.input("a", [2, 3]), graph.input("b", [2, 3])
    for use in (lambda: a == b, lambda: a != b, lambda: bool(a), lambda: np.asarray(a), lambda: np.array([a, b]),
                lambda: a == 1, lambda: a and b, lambda: float(a), lambda: a < b, lambda: len(a)):
        with pytest.raises(TypeError):
            use()
    with pytest.raises(TypeError, match="a condition reads numbers, which a weft.Tensor does not have"):
        bool(a)
    assert a is not b and len({a, b, a}) == 2
    with pytest.raises(TypeError, match="plan"):
        np.asarray(a)


def test_numbers_and_arrays_on_either_side(device):
    x = np.array([[1.0, 2.0, -4.0], [0.5, 8.0, np.inf]], np.float32)
    row = np.array([2.0, 3.0, 4.0], np.float32)
    full = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    cases = {
        "2 / a": (lambda a: 2 / a, 2 / x), "a / 2": (lambda a: a / 2, x / 2), "1.5 - a": (lambda a: 1.5 - a, 1.5 - x),
        "full / a": (lambda a: full / a, full / x), "full - a": (lambda a: full - a, full - x),
        "a - row": (lambda a: a - row, x - row), "a / row": (lambda a: a / row, x / row),
        "row * a": (lambda a: row * a, row * x), "row + a": (lambda a: row + a, row + x),
        "np.float32 * a": (lambda a: np.float32(3) * a, 3 * x), "a - np.int64": (lambda a: a - np.int64(1), x - 1),
    }
    for name, (make, expected) in cases.items():
        graph = weft.Graph()
        found = run(device, graph, make(graph.input("a", [2, 3])), x)
        assert np.allclose(found, expected, rtol=1e-6), name


def test_operators_promote_as_numpys(device):
    x = np.array([[1.5, 2.0, -4.0], [0.5, 8.0, 3.0]], np.float32)
    n = np.array([[1, 2, -3], [4, 5, 6]], np.int32)
    column = np.array([[2.0], [4.0]], np.float32)
    cases = {
        "x ** 2": lambda x, n: x ** 2, "abs(x) ** 0.5": lambda x, n: abs(x) ** 0.5, "2 ** x": lambda x, n: 2.0 ** x,
        "x % 3": lambda x, n: x % 3, "7 // n": lambda x, n: 7 // n, "n // 2": lambda x, n: n // 2,
        "n % -4": lambda x, n: n % -4,
        "n + 1": lambda x, n: n + 1, "n / 2": lambda x, n: n / 2, "n * 1.5": lambda x, n: n * 1.5, "x + n": lambda x, n: x + n,
        "n - x": lambda x, n: n - x, "-n": lambda x, n: -n, "+x": lambda x, n: +x, "n & 3": lambda x, n: n & 3,
        "n | 8": lambda x, n: n | 8, "5 ^ n": lambda x, n: 5 ^ n, "~n": lambda x, n: ~n, "x - column": lambda x, n: x - column,
        "column / x": lambda x, n: column / x, "x * bools": lambda x, n: x * np.array([True, False, True]),
        "x.T": lambda x, n: x.T, "transpose": lambda x, n: x.reshape((1, 2, 3)).transpose(2, 0, 1),
        "sum": lambda x, n: x.sum(), "sum(0)": lambda x, n: x.sum(0), "mean": lambda x, n: x.mean(axis=-1, keepdims=True),
        "max": lambda x, n: x.max(axis=(0, 1)), "n.min": lambda x, n: n.min(1), "prod": lambda x, n: n.prod(1),
        "argmax": lambda x, n: x.argmax(), "argmin": lambda x, n: x.argmin(1), "cumsum": lambda x, n: x.cumsum(1),
        "clip": lambda x, n: x.clip(None, 2.0), "astype": lambda x, n: x.astype(np.int32),
    }
    for name, make in cases.items():
        graph = weft.Graph()
        graph.output("y", make(graph.input("x", [2, 3]), graph.input("n", [2, 3], "i32")))
        found, expected = graph.compile(device).run({"x": x, "n": n})["y"], np.asarray(make(x, n))
        assert found.shape == expected.shape, name
        assert (found.dtype == np.int32) == (expected.dtype.kind in "iu"), name
        assert np.allclose(found, expected, rtol=1e-6), name


def test_indexing_as_numpys(device):
    x = np.arange(2 * 5 * 3, dtype=np.float32).reshape(2, 5, 3)
    for key in (np.s_[0], np.s_[-1], np.s_[:, 1:], np.s_[..., 0], np.s_[:, ::-2], np.s_[1, 2:4, None, -1], np.s_[None, ..., 1:],
                np.s_[:, -3:-1, np.int64(2)], np.s_[...], np.s_[:, None, :, 2]):
        graph = weft.Graph()
        tensor = graph.input("x", [2, 5, 3])
        assert tensor[key].shape == x[key].shape, key
        assert np.array_equal(run(device, graph, tensor[key] + 0.0, x), x[key]), key
    tensor = weft.Graph().input("x", [2, 5, 3])
    assert (tensor.ndim, tensor.size) == (3, 30)
    for key in (np.s_[0, 0, 0, 0], np.s_[5], np.s_[:, 5:], np.s_[..., ...], np.s_[-3]):
        with pytest.raises(weft.InvalidArgument):
            tensor[key]
    for key in ("0", 1.5, np.array([0, 1]), True, tensor):
        with pytest.raises(TypeError):
            tensor[key]
    with pytest.raises(TypeError):
        list(tensor)


def test_shapes_as_numpys(graph):
    a = graph.input("a", [4, 12])
    assert a.reshape((2, 24)).shape == a.reshape(2, 24).shape == a.reshape([2, -1]).shape == (2, 24)
    assert a.reshape(-1).shape == (48,) and a.reshape(np.int64(6), 8).shape == (6, 8)
    for shape in ((5, -1), (-1, -1), (7,)):
        with pytest.raises(weft.ShapeMismatch):
            a.reshape(shape)
    with pytest.raises(TypeError):
        a.reshape("48")


def test_types_as_numpys(graph):
    for i, dtype in enumerate(("float32", np.float32, np.dtype("float32"), "f32")):
        assert graph.input(f"f{i}", [2], dtype).dtype == "f32"
    assert graph.input("i", [2], np.int32).dtype == "i32" and graph.input("u", [2], "uint8").dtype == "u8"
    for dtype in ("float64", np.float64, "f23", None):
        with pytest.raises(weft.InvalidArgument, match="dtype: expected one of f32"):
            graph.input("x", [2], dtype)
    with pytest.raises(weft.InvalidArgument, match="dtype: expected one of f32"):
        weft.Op("wrong", shape=lambda x: x, kernels=lambda y, x: [], dtype="double")


def test_activations_as_pytorchs(device):
    x = np.linspace(-3, 3, 12, dtype=np.float32).reshape(1, 12)
    erf = np.array([math.erf(v / math.sqrt(2)) for v in x[0].astype(float)])
    tanh = np.tanh(math.sqrt(2 / math.pi) * (x.astype(float) + 0.044715 * x.astype(float)**3))
    for name, expected in {"gelu": x / 2 * (1 + erf), "gelu_new": x / 2 * (1 + tanh), "swish": x / (1 + np.exp(-x)),
                           "linear": x}.items():
        graph = weft.Graph()
        assert np.allclose(run(device, graph, weft.activate(graph.input("x", [1, 12]), name), x), expected, atol=1e-6), name
    with pytest.raises(weft.InvalidArgument, match="expected one of .*gelu_erf.* found 'gleu'"):
        weft.activate(weft.Graph().input("x", [1, 12]), "gleu")


def test_positions_from_the_end(device):
    x = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    for position in (-1, -4, 2):
        graph = weft.Graph()
        assert np.array_equal(run(device, graph, weft.gather(graph.input("x", [2, 4, 3]), position), x), x[:, position])
    a = weft.Graph().input("x", [2, 4, 3])
    with pytest.raises(weft.InvalidArgument, match="position: expected -4 … 3, found -5"):
        weft.gather(a, -5)
    with pytest.raises(weft.InvalidArgument, match="position: expected a whole number from 0 to 4294967295, found 1.5"):
        weft.gather(a, 1.5)
