# SPDX-License-Identifier: MIT
"""Rows for ONNX's elementwise ops and reductions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import helper

from ..program.functions import FUNCTIONS, cumulative_product
from ..program.ops import within_bits
from ..program.program import Value, resolved
from ..program.sizes import product
from .reader import Reader, row, sizes_array
from .refused import Refused

_BOOL = onnx.TensorProto.BOOL
_F32 = (onnx.TensorProto.FLOAT,)
_BYTES: dict[int, tuple[int, int]] = {
    onnx.TensorProto.UINT8: (0xff, 0), onnx.TensorProto.INT8: (0xff, 0x80), onnx.TensorProto.UINT16: (0xffff, 0),
    onnx.TensorProto.INT16: (0xffff, 0x8000)}
"""Of types of fewer than 32 bits: those bits, and the one of the sign."""
_I32 = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)


# ---- one operand ----

_UNARY = {
    "Abs": "abs", "Neg": "neg", "Sign": "sign", "Sqrt": "sqrt", "Reciprocal": "reciprocal", "Exp": "exp", "Log": "log",
    "Sin": "sin", "Cos": "cos", "Tan": "tan", "Tanh": "tanh", "Sigmoid": "sigmoid", "Erf": "erf", "Floor": "floor",
    "Ceil": "ceil", "Round": "round", "Softplus": "softplus", "Softsign": "softsign", "Mish": "mish", "Not": "logical_not",
    "IsNaN": "is_nan", "BitwiseNot": "bitwise_not",
}
for _type, _word in _UNARY.items():
    row(_type)(lambda r, x, word=_word: r.build.unary(word, r.value(x)))


@row("Relu")
def _relu(r: Reader, x: Any) -> Value:
    value = r.value(x)
    return r.build.unary("relu", value) if value.dtype == "f32" else r.build.binary("maximum", value, r.value(np.int32(0)))


_WITH_PARAMETERS: dict[str, tuple[str, tuple[str, float], tuple[str, float]]] = {
    "Elu": ("elu", ("alpha", 1.0), ("", 0.0)),
    "Selu": ("selu", ("alpha", 1.6732632423543772), ("gamma", 1.0507009873554805)),
    "Celu": ("celu", ("alpha", 1.0), ("", 0.0)), "LeakyRelu": ("leaky_relu", ("alpha", 0.01), ("", 0.0)),
    "HardSigmoid": ("hard_sigmoid", ("alpha", 0.2), ("beta", 0.5)),
    "HardSwish": ("hard_swish", ("", 1 / 6), ("", 0.5)),
    "ThresholdedRelu": ("threshold", ("alpha", 1.0), ("", 0.0)),
    "Shrink": ("softshrink", ("lambd", 0.5), ("bias", 0.0)),
}
for _type, (_word, _first, _second) in _WITH_PARAMETERS.items():
    row(_type)(lambda r, x, word=_word, first=_first, second=_second: r.build.unary(
        word, r.value(x), alpha=float(r.attribute(*first)), beta=float(r.attribute(*second))))


def activated(r: Reader, x: Value, word: str, parameters: dict[str, float]) -> Value:
    """What an activation by ONNX's name makes of x; "" is none."""
    if not word:
        return x
    if word == "Clip":
        return r.build.clamp(x, parameters.get("min"), parameters.get("max"))
    if word == "Relu" or word in ("Tanh", "Sigmoid", "Softplus", "Softsign"):
        return r.build.unary(word.lower(), x)
    if word not in _WITH_PARAMETERS:
        raise Refused(f"its activation is {word}")
    kind, first, second = _WITH_PARAMETERS[word]
    return r.build.unary(kind, x, alpha=float(parameters.get(*first)), beta=float(parameters.get(*second)))


@row("Gelu")
def _gelu(r: Reader, x: Any) -> Value:
    return r.build.unary("gelu_tanh" if r.attribute("approximate", "none") == "tanh" else "gelu_erf", r.value(x))


@row("Swish")
def _swish(r: Reader, x: Any) -> Value:
    value, alpha = r.value(x), float(r.attribute("alpha", 1.0))
    return r.build.multiply(value, r.build.unary("sigmoid", r.build.affine(value, alpha, 0.0)))


@row("SwiGLU")
def _swiglu(r: Reader, gate: Any, x: Any) -> Value:
    return r.build.multiply(_swish(r, gate), r.value(x))


@row("BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix")
def _table(r: Reader, *given: Any) -> Value:
    """Evaluated before it comes to this, where all is known."""
    for at, one in enumerate(given):
        r.numbers(at, one)
    raise Refused("its size depends on an input's")


@row("IsInf")
def _is_inf(r: Reader, x: Any) -> Value:
    value = r.value(x)
    signs = [sign for name, sign in (("detect_negative", -math.inf), ("detect_positive", math.inf)) if r.attribute(name, 1)]
    if len(signs) == 2:
        return r.build.unary("is_inf", value)
    if not signs:
        return r.build.full(value.shape, 0, "i32")
    return r.build.binary("equal", value, r.build.constant(signs[0], "f32"))


for _word in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh"):
    row(_word.capitalize())(lambda r, x, word=_word: FUNCTIONS[word](r.build, r.value(x)))


@row("CumProd")
def _cumulative_product(r: Reader, x: Any, axis: Any) -> Value:
    b, value = r.build, r.value(x)
    at = resolved(int(r.ints(1, axis)[0]), value.rank)
    extent, back = value.shape[at], bool(r.attribute("reverse", 0))
    value = b.slice(value, at, extent - 1, extent, -1) if back else value
    if r.attribute("exclusive", 0):
        value = b.pad(b.slice(value, at, 0, extent - 1), at, 1, 0, 1.0)
    found = cumulative_product(b, value, at)
    return b.slice(found, at, extent - 1, extent, -1) if back else found


@row("Identity", "Dropout")
def _identity(r: Reader, x: Any, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and bool(r.numbers(2, training)):
        raise Refused("it is in training")
    value = r.value(x)
    return [value, r.build.full(value.shape, 1, "i32")][:r.outputs]


@row("Cast", "CastLike")
def cast(r: Reader, x: Any, like: Any = None) -> Value:
    value = r.value(x)
    if like is not None:
        other = r.type_of(1, like)
        kind = like.dtype if isinstance(like, Value) else r.value(like).dtype
        numbers = helper.np_dtype_to_tensor_dtype(other) if other is not None else _F32[0] if kind == "f32" else _I32[0]
        return _cast_to(r, value, numbers)
    return _cast_to(r, value, int(r.attribute("to")))


def _cast_to(r: Reader, value: Value, to: int) -> Value:
    if to == _BOOL:
        return r.build.binary("not_equal", value, r.build.constant(0, value.dtype))
    if to == onnx.TensorProto.FLOAT16:
        r.gives("float16")
        return r.build.rounded_to_half(r.build.convert(value, "f32"))
    if to == onnx.TensorProto.DOUBLE and (value.dtype == "f32" or r.choices.doubles_as_floats):
        r.gives("float64")
        return r.build.convert(value, "f32")
    if to in _BYTES:
        r.gives(helper.tensor_dtype_to_np_dtype(to))
        return within_bits(r.build, r.build.convert(value, "i32"), *_BYTES[to])
    if to not in _F32 + _I32:
        raise Refused(f"its type is {onnx.TensorProto.DataType.Name(to).lower()}")
    return r.build.convert(value, "f32" if to in _F32 else "i32")


@row("Clip")
def _clip(r: Reader, x: Any, low: Any = None, high: Any = None) -> Value:
    value = r.value(x)
    known = [None if bound is None else bound for bound in (low, high)]
    numbers = [None if bound is None else float(np.asarray(bound).reshape(()))
               for bound in known if not isinstance(bound, Value)]
    if value.dtype == "f32" and len(numbers) == 2 and (None in numbers or numbers[0] <= numbers[1]):  # type: ignore[operator]
        return r.build.clamp(value, numbers[0], numbers[1])
    for word, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            value = r.build.binary(word, value, r.value(bound, value.dtype))
    return value


# ---- two operands and more ----

_BINARY = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide", "And": "logical_and", "Or": "logical_or",
    "Xor": "logical_xor", "Equal": "equal", "Less": "less", "LessOrEqual": "less_equal", "Greater": "greater",
    "GreaterOrEqual": "greater_equal", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
}
for _type, _word in _BINARY.items():
    row(_type)(lambda r, a, b, word=_word: r.build.binary(word, r.value(a), r.value(b)))


@row("Pow")
def _pow(r: Reader, a: Any, b: Any) -> Value:
    x = r.value(a)
    exponent = float(np.asarray(b)) if isinstance(b, np.ndarray) and b.size == 1 and b.ndim == 0 else None
    if x.dtype == "f32" and exponent in (2.0, 3.0):
        square = r.build.multiply(x, x)
        return square if exponent == 2.0 else r.build.multiply(square, x)
    if x.dtype == "f32" and exponent == 0.5:
        return r.build.unary("sqrt", x)
    y = r.value(b)
    if x.dtype == y.dtype:
        return r.build.binary("power", x, y)
    found = r.build.binary("power", r.build.convert(x, "f32"), r.build.convert(y, "f32"))
    return r.build.convert(found, x.dtype)


@row("Mod")
def _mod(r: Reader, a: Any, b: Any) -> Value:
    x, y, build = r.value(a), r.value(b), r.build
    if not r.attribute("fmod", 0):
        return build.binary("modulo", x, y)
    size = build.binary("modulo", build.unary("abs", x), build.unary("abs", y))
    return build.multiply(size, build.unary("sign", x))


def _variadic(r: Reader, given: tuple[Any, ...], word: str) -> Value:
    return functools.reduce(lambda a, b: r.build.binary(word, a, b), [r.value(one) for one in given])


for _type, _word in {"Min": "minimum", "Max": "maximum", "Sum": "add"}.items():
    row(_type)(lambda r, *given, word=_word: _variadic(r, given, word))


@row("Mean")
def _mean(r: Reader, *given: Any) -> Value:
    return r.build.divide(_variadic(r, given, "add"), r.build.constant(float(len(given)), "f32"))


@row("Where")
def _where(r: Reader, condition: Any, a: Any, b: Any) -> Value:
    return r.build.where(r.value(condition, "i32"), r.value(a), r.value(b))


@row("PRelu")
def _prelu(r: Reader, x: Any, slope: Any) -> Value:
    value, build = r.value(x), r.build
    return build.where(build.binary("less", value, build.constant(0.0, "f32")), build.multiply(value, r.value(slope)), value)


# ---- reductions ----

def reduced_axes(r: Reader, rank: int, axes: Any) -> list[int] | None:
    """The axes of a reduction, an input or an attribute; None: all."""
    given, stays = (r.attribute("axes") if axes is None else r.ints(1, axes)), r.attribute("noop_with_empty_axes", 0)
    if not given:
        return [] if stays else None
    return [int(axis) % max(rank, 1) for axis in given]


def _reduction(word: str, before: Callable[[Reader, Value], Value] | None = None,
               after: Callable[[Reader, Value], Value] | None = None) -> Callable[..., Value]:
    def function(r: Reader, x: Any, axes: Any = None) -> Value:
        value = r.value(x)
        at = reduced_axes(r, value.rank, axes)
        value = before(r, value) if before else value
        found = r.build.reduce(word, value, at, bool(r.attribute("keepdims", 1)))
        return after(r, found) if after else found
    return function


def _square(r: Reader, x: Value) -> Value:
    return r.build.multiply(x, x)


def _unary(word: str) -> Callable[[Reader, Value], Value]:
    return lambda r, x: r.build.unary(word, x)


row("ReduceSum")(_reduction("sum"))
row("ReduceMean")(_reduction("mean"))
row("ReduceMax")(_reduction("max"))
row("ReduceMin")(_reduction("min"))
row("ReduceProd")(_reduction("product"))
row("ReduceL1")(_reduction("sum", _unary("abs")))
row("ReduceL2")(_reduction("sum", _square, _unary("sqrt")))
row("ReduceSumSquare")(_reduction("sum", _square))
row("ReduceLogSum")(_reduction("sum", None, _unary("log")))


@row("ReduceLogSumExp")
def _log_sum_exp(r: Reader, x: Any, axes: Any = None) -> Value:
    value, b, keep = r.value(x), r.build, bool(r.attribute("keepdims", 1))
    at = reduced_axes(r, value.rank, axes)
    if at == []:
        return value
    return b.logsumexp(value, at, keep)


@row("ArgMax", "ArgMin")
def _arg(r: Reader, x: Any) -> Value:
    b, value, axis, keep = r.build, r.value(x), int(r.attribute("axis", 0)), bool(r.attribute("keepdims", 1))
    if not r.attribute("select_last_index", 0):
        return b.arg(r.node.op_type.lower(), value, axis, keep)
    extent = value.shape[axis]
    flipped = b.slice(value, axis, extent - 1, extent, -1)
    return b.subtract(b.size(extent - 1), b.arg(r.node.op_type.lower(), flipped, axis, keep))


@row("CumSum")
def _cumsum(r: Reader, x: Any, axis: Any) -> Value:
    at = int(r.ints(1, axis)[0])
    return r.build.cumsum(r.value(x), at, bool(r.attribute("exclusive", 0)), bool(r.attribute("reverse", 0)))


@row("Softmax", "LogSoftmax")
def _softmax(r: Reader, x: Any) -> Value:
    return r.build.softmax(r.value(x), int(r.attribute("axis", -1)), r.node.op_type == "LogSoftmax")


@row("Hardmax")
def _hardmax(r: Reader, x: Any) -> Value:
    b, value, axis = r.build, r.value(x), int(r.attribute("axis", -1))
    axis %= value.rank
    largest = b.arg("argmax", value, axis, True)
    at = b.reshape(b.arange(value.shape[axis]), [-1 if one == axis else 1 for one in range(value.rank)])
    return b.convert(b.binary("equal", at, largest), "f32")


@row("LpNormalization")
def _lp_normalization(r: Reader, x: Any) -> Value:
    b, value, axis = r.build, r.value(x), int(r.attribute("axis", -1)) % len(x.shape)
    if r.attribute("p", 2) == 1:
        size = b.reduce("sum", b.unary("abs", value), [axis], True)
    else:
        size = b.unary("sqrt", b.reduce("sum", b.multiply(value, value), [axis], True))
    none = b.binary("equal", size, b.constant(0.0, "f32"))
    return b.where(none, b.constant(0.0, "f32"), b.divide(value, b.where(none, b.constant(1.0, "f32"), size)))


@row("MeanVarianceNormalization")
def _mean_variance(r: Reader, x: Any) -> Value:
    b, value = r.build, r.value(x)
    axes = [int(axis) for axis in r.attribute("axes", [0, 2, 3])]
    centred = b.subtract(value, b.reduce("mean", value, axes, True))
    variance = b.reduce("mean", b.multiply(centred, centred), axes, True)
    return b.divide(centred, b.affine(b.unary("sqrt", variance), 1.0, 1e-9))


@row("Size")
def _size(r: Reader, x: Any) -> Any:
    return sizes_array(product(r.value(x).shape))
