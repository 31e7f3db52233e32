# SPDX-License-Identifier: MIT
"""Rows for quantized numbers, by their definitions in ONNX: the same whole numbers on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper

from ..program import integers
from ..program.integers import Limits, centred, dequantized, quantized
from ..program.program import Value, resolved
from ..program.sizes import product
from .networks import padded, pooled
from .reader import Reader, row
from .refused import Refused

MICROSOFT = "com.microsoft"
_LIMITS: dict[str, Limits] = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}


def _along(r: Reader, x: Value, numbers: Any, axis: int) -> Value | None:
    """A scale or zero of an axis, so that it broadcasts; of all of x, where it has one element."""
    if numbers is None:
        return None
    value = r.value(numbers)
    if all(extent == 1 for extent in value.shape):
        return r.build.reshape(value, [])
    if value.rank > 1:
        raise Refused("it has blocks, and is of no constant")
    axis = resolved(axis, x.rank)
    return r.build.reshape(value, [-1 if at == axis else 1 for at in range(x.rank)])


def _limits(r: Reader, dtype: Any) -> Limits:
    name = np.dtype(dtype).name
    if name not in _LIMITS:
        raise Refused(f"its type is {name}")
    return _LIMITS[name]


@row("QuantizeLinear")
@row("QuantizeLinear", domain=MICROSOFT)
def _quantize(r: Reader, x: Any, scale: Any, zero: Any = None) -> Value:
    if r.attribute("block_size", 0) or r.attribute("precision", 0) not in (0, onnx.TensorProto.FLOAT):
        raise Refused("it has blocks, or a precision of its own")
    value, axis = r.value(x), int(r.attribute("axis", 1))
    to = r.attribute("output_dtype", 0)
    dtype = r.type_of(2, zero) if zero is not None else helper.tensor_dtype_to_np_dtype(to) if to else np.dtype("uint8")
    found = quantized(r.build, value, _scale(r, value, scale, axis), _along(r, value, zero, axis), _limits(r, dtype))
    r.gives(dtype)
    return found


def _scale(r: Reader, x: Value, scale: Any, axis: int) -> Value:
    found = _along(r, x, scale, axis)
    assert found is not None
    return found


@row("DequantizeLinear")
@row("DequantizeLinear", domain=MICROSOFT)
def _dequantize(r: Reader, x: Any, scale: Any, zero: Any = None) -> Value:
    value, axis = r.value(x), int(r.attribute("axis", 1))
    size = int(r.attribute("block_size", 0))
    if r.attribute("output_dtype", 0) not in (0, onnx.TensorProto.FLOAT):
        raise Refused("its result is not float")
    if size and isinstance(x, np.ndarray):
        parts = [None if part is None else np.repeat(np.asarray(part), size, axis) for part in (scale, zero)]
        return dequantized(r.build, value, r.value(parts[0]), None if parts[1] is None else r.value(parts[1]))
    return dequantized(r.build, value, _scale(r, value, scale, axis), _along(r, value, zero, axis))


@row("DynamicQuantizeLinear")
def _dynamic(r: Reader, x: Any) -> list[Value]:
    found = integers.quantized_dynamically(r.build, r.value(x))
    r.gives("uint8", 0, 2)
    return list(found)


# ---- products ----

def _most(dtype: np.dtype[Any] | None, zero: Any) -> int:
    """How large a number less its zero can be."""
    if isinstance(zero, np.ndarray) and dtype is not None:
        low, high = _LIMITS[dtype.name]
        return max(high - int(zero.min()), int(zero.max()) - low)
    return 128 if zero is None and dtype == np.int8 else 255


def _rows(r: Reader, x: Value, zero: Any, axis: int) -> Value | None:
    """A zero for each row or column of a matrix, so that it broadcasts."""
    if zero is None:
        return None
    value = r.value(zero)
    if value.rank == 1 and value.shape[0] != 1:
        return r.build.reshape(value, [-1, 1] if axis == -2 else [-1])
    return value if value.rank > 1 else r.build.reshape(value, [])


def _product(r: Reader, first: int, a: Any, b: Any, a_zero: Any, b_zero: Any) -> Value:
    """Of two matrices of bytes, of which the first is the input with that index; i32."""
    x, y = r.value(a), r.value(b)
    x, y = centred(r.build, x, _rows(r, x, a_zero, -2)), centred(r.build, y, _rows(r, y, b_zero, -1))
    return integers.matmul(r.build, x, y, _most(r.type_of(first, a), a_zero))


@row("MatMulInteger")
def _matmul_integer(r: Reader, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Value:
    r.gives_int32()
    return _product(r, 0, a, b, a_zero, b_zero)


@row("QLinearMatMul")
def _qlinear_matmul(r: Reader, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, y_scale: Any,
                    y_zero: Any) -> Value:
    total = _product(r, 0, a, b, a_zero, b_zero)
    scales = r.build.multiply(_one(r, a_scale, -2), _one(r, b_scale, -1))
    return _requantized(r, 7, total, scales, y_scale, y_zero)


def _one(r: Reader, scale: Any, axis: int) -> Value:
    found = _rows(r, r.value(scale), scale, axis)
    assert found is not None
    return found


def _requantized(r: Reader, index: int, total: Value, scale: Value, y_scale: Any, y_zero: Any) -> Value:
    """A sum of products in the scale of the result, whose zero is the input with that index."""
    b, dtype = r.build, r.type_of(index, y_zero) if y_zero is not None else np.dtype("uint8")
    ratio = b.divide(scale, b.reshape(r.value(y_scale), []))
    rounded = b.unary("round", b.multiply(b.convert(total, "f32"), ratio))
    if y_zero is not None:
        rounded = b.add(rounded, b.convert(b.reshape(r.value(y_zero), []), "f32"))
    r.gives(dtype)
    return b.convert(b.clamp(rounded, *_limits(r, dtype)), "i32")


# ---- convolutions ----

def _convolution(r: Reader, x: Any, weight: Any, x_zero: Any, w_zero: Any) -> Value:
    b, value, kernel = r.build, r.value(x), r.value(weight)
    zero = None if x_zero is None else b.reshape(r.value(x_zero), [])
    filters = centred(b, kernel, None if w_zero is None else _along(r, kernel, w_zero, 0))
    centre, windows = padded(r, centred(b, value, zero), [int(str(extent)) for extent in kernel.shape[2:]], 0.0)
    most = _most(r.type_of(0, x), x_zero)
    return integers.convolution(b, centre, filters, windows, int(r.attribute("group", 1)), most)


@row("ConvInteger")
def _conv_integer(r: Reader, x: Any, weight: Any, x_zero: Any = None, w_zero: Any = None) -> Value:
    r.gives_int32()
    return _convolution(r, x, weight, x_zero, w_zero)


@row("QLinearConv")
def _qlinear_conv(r: Reader, x: Any, x_scale: Any, x_zero: Any, weight: Any, w_scale: Any, w_zero: Any, y_scale: Any,
                  y_zero: Any, bias: Any = None) -> Value:
    b, total = r.build, _convolution(r, x, weight, x_zero, w_zero)
    by_channel = [-1, *[1] * (total.rank - 2)]
    if bias is not None:
        total = b.add(total, b.reshape(r.value(bias), by_channel))
    scale = r.value(w_scale)
    scale = b.reshape(scale, by_channel if scale.rank == 1 and scale.shape[0] != 1 else [])
    return _requantized(r, 7, total, b.multiply(b.reshape(r.value(x_scale), []), scale), y_scale, y_zero)


# ---- of ONNX Runtime ----

@row("MatMulIntegerToFloat", domain=MICROSOFT)
def _matmul_integer_to_float(r: Reader, a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero: Any = None, b_zero: Any = None,
                             bias: Any = None) -> Value:
    total = _product(r, 0, a, b, a_zero, b_zero)
    scales = r.build.multiply(_one(r, a_scale, -2), _one(r, b_scale, -1))
    found = r.build.multiply(r.build.convert(total, "f32"), scales)
    return found if bias is None else r.build.add(found, r.value(bias))


@row("DynamicQuantizeMatMul", domain=MICROSOFT)
def _dynamic_matmul(r: Reader, a: Any, b: Any, b_scale: Any, b_zero: Any = None, bias: Any = None) -> Value:
    build, weight = r.build, r.value(b)
    x, scale, zero = integers.quantized_dynamically(build, r.value(a))
    weight = centred(build, weight, _rows(r, weight, b_zero, -1))
    total = integers.matmul(build, centred(build, x, zero), weight, 255)
    found = build.multiply(build.convert(total, "f32"), build.multiply(scale, _one(r, b_scale, -1)))
    return found if bias is None else build.add(found, r.value(bias))


@row("MatMulNBits", domain=MICROSOFT)
def _matmul_bits(r: Reader, x: Any, packed: Any, scales: Any, zeros: Any = None, order: Any = None, bias: Any = None) -> Value:
    bits, size = int(r.attribute("bits", 4)), int(r.attribute("block_size"))
    inner, columns = int(r.attribute("K")), int(r.attribute("N"))
    r.attribute("accuracy_level")
    if order is not None or bits not in (2, 4, 8) or r.attribute("weight_prepacked", 0):
        raise Refused("it has an order of groups, or not 2, 4 or 8 bits")
    blocks = -(-inner // size)
    numbers = _unpacked(r.numbers(1, packed), bits).reshape(columns, blocks, size)
    factors = np.asarray(r.numbers(2, scales), np.float32).reshape(columns, blocks, 1)
    if zeros is None:
        middle: Any = 2**(bits - 1)
    elif np.asarray(r.numbers(3, zeros)).dtype == np.uint8:
        middle = _unpacked(r.numbers(3, zeros).reshape(columns, -1), bits)[:, :blocks].reshape(columns, blocks, 1)
    else:
        middle = np.asarray(r.numbers(3, zeros), np.float32).reshape(columns, blocks, 1)
    weight = ((numbers.astype(np.float32) - middle) * factors).astype(np.float32).reshape(columns, -1)[:, :inner]
    return r.build.linear(r.value(x), r.value(np.ascontiguousarray(weight)), None if bias is None else r.value(bias))


def _unpacked(packed: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Numbers of so many bits each, the lowest bits of a byte first, along the last axis."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts: np.ndarray[Any, Any] = (packed.astype(np.uint8)[..., None] >> shifts) & np.uint8(2**bits - 1)
    return parts.reshape(*packed.shape[:-1], -1)


@row("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def _qlinear_binary(r: Reader, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, y_scale: Any,
                    y_zero: Any = None) -> Value:
    x = _dequantized_whole(r, a, a_scale, a_zero)
    y = _dequantized_whole(r, b, b_scale, b_zero)
    word = "add" if r.node.op_type == "QLinearAdd" else "multiply"
    return _quantized_whole(r, 7, r.build.binary(word, x, y), y_scale, y_zero)


@row("QLinearSigmoid", "QLinearLeakyRelu", domain=MICROSOFT)
def _qlinear_unary(r: Reader, x: Any, x_scale: Any, x_zero: Any, y_scale: Any, y_zero: Any = None) -> Value:
    value = _dequantized_whole(r, x, x_scale, x_zero)
    if r.node.op_type == "QLinearSigmoid":
        found = r.build.unary("sigmoid", value)
    else:
        found = r.build.unary("leaky_relu", value, alpha=float(r.attribute("alpha", 0.01)))
    return _quantized_whole(r, 4, found, y_scale, y_zero)


@row("QLinearGlobalAveragePool", domain=MICROSOFT)
def _qlinear_pool(r: Reader, x: Any, x_scale: Any, x_zero: Any, y_scale: Any, y_zero: Any) -> Value:
    if r.attribute("channels_last", 0):
        raise Refused("its channels are last")
    value = _dequantized_whole(r, x, x_scale, x_zero)
    return _quantized_whole(r, 4, r.build.reduce("mean", value, list(range(2, value.rank)), True), y_scale, y_zero)


@row("QLinearAveragePool", domain=MICROSOFT)
def _qlinear_average(r: Reader, x: Any, x_scale: Any, x_zero: Any, y_scale: Any, y_zero: Any = None) -> Value:
    if r.attribute("channels_last", 0):
        raise Refused("its channels are last")
    return _quantized_whole(r, 4, pooled(r, _dequantized_whole(r, x, x_scale, x_zero), False), y_scale, y_zero)


@row("QLinearSoftmax", domain=MICROSOFT)
def _qlinear_softmax(r: Reader, x: Any, x_scale: Any, x_zero: Any, y_scale: Any, y_zero: Any = None) -> Value:
    b, value = r.build, _dequantized_whole(r, x, x_scale, x_zero)
    axis = resolved(int(r.attribute("axis", -1)), value.rank)
    if int(r.attribute("opset", 13)) >= 13:
        found = b.softmax(value, axis)
    else:  # over all axes from that one on
        rows = b.reshape(value, [*value.shape[:axis], product(value.shape[axis:])])
        found = b.reshape(b.softmax(rows, -1), value.shape)
    return _quantized_whole(r, 4, found, y_scale, y_zero)


@row("QGemm", domain=MICROSOFT)
def _quantized_gemm(r: Reader, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, c: Any = None,
                    y_scale: Any = None, y_zero: Any = None) -> Value:
    """Sums of bytes with a bias of whole numbers, in the scale of the result, or in floats where it has none."""
    build, alpha = r.build, float(r.attribute("alpha", 1.0))
    x, y = (build.swap(r.value(one), 0, 1) if r.attribute(name, 0) else r.value(one)
            for one, name in ((a, "transA"), (b, "transB")))
    x, y = centred(build, x, _rows(r, x, a_zero, -2)), centred(build, y, _rows(r, y, b_zero, -1))
    total = integers.matmul(build, x, y, _most(r.type_of(0, a), a_zero))
    total = total if c is None else build.add(total, r.value(c, "i32"))
    scales = build.affine(build.multiply(_one(r, a_scale, -2), _one(r, b_scale, -1)), alpha, 0.0)
    if y_scale is not None:
        return _requantized(r, 8, total, scales, y_scale, y_zero)
    return build.multiply(build.convert(total, "f32"), scales)


@row("QLinearConcat", domain=MICROSOFT)
def _qlinear_concat(r: Reader, y_scale: Any, y_zero: Any, *parts: Any) -> Value:
    values = [_dequantized_whole(r, *parts[at:at + 3]) for at in range(0, len(parts), 3)]
    return _quantized_whole(r, 1, r.build.concat(values, int(r.attribute("axis"))), y_scale, y_zero)


def _dequantized_whole(r: Reader, x: Any, scale: Any, zero: Any) -> Value:
    b = r.build
    return dequantized(b, r.value(x), b.reshape(r.value(scale), []), None if zero is None else b.reshape(r.value(zero), []))


def _quantized_whole(r: Reader, index: int, x: Value, scale: Any, zero: Any) -> Value:
    b, dtype = r.build, np.dtype("uint8") if zero is None else r.type_of(index, zero)
    r.gives(dtype)
    return quantized(b, x, b.reshape(r.value(scale), []), None if zero is None else b.reshape(r.value(zero), []),
                     _limits(r, dtype))
