# SPDX-License-Identifier: MIT
"""Rows for PyTorch's elementwise ops and reductions, real and complex."""

from __future__ import annotations

import math
from typing import Any

import torch

from ..program.program import Kind, Value
from ..program.sizes import Size, product
from .movement import complex_of, truth
from .reader import Pair, Reader, pair_of, row
from .types import Refused


def _kind_of_both(r: Reader, a: Any, b: Any) -> Kind:
    """The type in which two operands meet."""
    def floats(x: Any) -> bool:
        return isinstance(x, float) or (isinstance(x, Value) and x.dtype == "f32") or (
            isinstance(x, torch.Tensor) and x.is_floating_point())
    return "f32" if floats(a) or floats(b) else "i32"


def _is_complex(x: Any) -> bool:
    return isinstance(x, (Pair, complex)) or (isinstance(x, torch.Tensor) and x.is_complex())


def _both(r: Reader, kind: str, a: Any, b: Any, to: Kind | None = None) -> Value:
    to = to or r.kind
    return r.build.binary(kind, r.value(a, to), r.value(b, to))


# ---- sums and products ----

@row("aten.add.Tensor", "aten.add.Scalar")
def _add(r: Reader, a: Any, b: Any, alpha: Any = 1) -> Any:
    b = b if alpha == 1 else _multiply(r, b, alpha)
    if r.dtype.is_complex:
        x, y = complex_of(r, a), complex_of(r, b)
        return pair_of(r.build.add(x.real, y.real), r.build.add(x.imaginary, y.imaginary))
    return _both(r, "bitwise_or" if r.dtype == torch.bool else "add", a, b)


@row("aten.sub.Tensor", "aten.sub.Scalar")
def _sub(r: Reader, a: Any, b: Any, alpha: Any = 1) -> Any:
    b = b if alpha == 1 else _multiply(r, b, alpha)
    if r.dtype.is_complex:
        x, y = complex_of(r, a), complex_of(r, b)
        return pair_of(r.build.subtract(x.real, y.real), r.build.subtract(x.imaginary, y.imaginary))
    return _both(r, "subtract", a, b)


@row("aten.rsub.Scalar", "aten.rsub.Tensor")
def _rsub(r: Reader, a: Any, b: Any, alpha: Any = 1) -> Any:
    return _sub(r, b, a, alpha)


@row("aten.mul.Tensor", "aten.mul.Scalar")
def _multiply(r: Reader, a: Any, b: Any) -> Any:
    if not _is_complex(a) and not _is_complex(b):
        return _both(r, "multiply", a, b)
    if not _is_complex(b) or not _is_complex(a):
        x, factor = (complex_of(r, a), r.value(b, "f32")) if _is_complex(a) else (complex_of(r, b), r.value(a, "f32"))
        return pair_of(r.build.multiply(x.real, factor), r.build.multiply(x.imaginary, factor))
    return complex_product(r, complex_of(r, a), complex_of(r, b))


def complex_product(r: Reader, x: Pair, y: Pair) -> Pair:
    """Of two complex tensors."""
    b = r.build
    found = Pair(lambda: b.subtract(b.multiply(x.real, y.real), b.multiply(x.imaginary, y.imaginary)),
                 lambda: b.add(b.multiply(x.real, y.imaginary), b.multiply(x.imaginary, y.real)), r.shape)
    if x.spectrum and y.spectrum and x.spectrum[0] == y.spectrum[0] == "rfft":
        found.spectrum = ("product", x.spectrum, y.spectrum)
    return found


@row("aten.div.Tensor", "aten.div.Scalar")
def _div(r: Reader, a: Any, b: Any) -> Any:
    if not r.dtype.is_complex:
        return _both(r, "divide", a, b)
    x = complex_of(r, a)
    if not _is_complex(b):
        divisor = r.value(b, "f32")
        return pair_of(r.build.divide(x.real, divisor), r.build.divide(x.imaginary, divisor))
    y = complex_of(r, b)
    square = r.build.add(r.build.multiply(y.real, y.real), r.build.multiply(y.imaginary, y.imaginary))
    above = complex_product(r, x, pair_of(y.real, r.build.unary("neg", y.imaginary)))
    return pair_of(r.build.divide(above.real, square), r.build.divide(above.imaginary, square))


@row("aten.div.Tensor_mode", "aten.div.Scalar_mode", "aten.floor_divide.default", "aten.floor_divide.Scalar")
def _div_mode(r: Reader, a: Any, b: Any, rounding_mode: str | None = "floor") -> Value:
    if rounding_mode is None:
        return _both(r, "divide", a, b)
    if r.kind == "f32":
        return r.build.unary("floor" if rounding_mode == "floor" else "trunc", _both(r, "divide", a, b))
    return _both(r, "floor_divide" if rounding_mode == "floor" else "divide", a, b)


@row("aten.fmod.Tensor", "aten.fmod.Scalar")
def _fmod(r: Reader, a: Any, b: Any) -> Value:
    x, build = r.value(a, r.kind), r.build
    size = build.binary("modulo", build.unary("abs", x), build.unary("abs", r.value(b, r.kind)))
    return build.multiply(size, build.unary("sign", x))


@row("aten.addcmul.default")
def _addcmul(r: Reader, x: Any, a: Any, b: Any, value: float = 1) -> Value:
    return _both(r, "add", x, _both(r, "multiply", _both(r, "multiply", a, b), value))


@row("aten.lerp.Scalar", "aten.lerp.Tensor")
def _lerp(r: Reader, a: Any, b: Any, weight: Any) -> Value:
    return _both(r, "add", a, _both(r, "multiply", _both(r, "subtract", b, a), weight))


@row("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def _pow(r: Reader, a: Any, b: Any) -> Value:
    if r.kind == "f32" and isinstance(b, (int, float)):
        x = r.value(a, "f32")
        short = {1.0: lambda: x, 0.5: lambda: r.build.unary("sqrt", x), -0.5: lambda: r.build.unary("rsqrt", x),
                 -1.0: lambda: r.build.unary("reciprocal", x), 2.0: lambda: r.build.multiply(x, x),
                 3.0: lambda: r.build.multiply(r.build.multiply(x, x), x)}.get(float(b))
        if short is not None:
            return short()
    return _both(r, "power", a, b)


for _name, _word in {"maximum.default": "maximum", "minimum.default": "minimum", "max.other": "maximum", "min.other": "minimum",
                     "remainder.Tensor": "modulo", "remainder.Scalar": "modulo"}.items():
    row(f"aten.{_name}")(lambda r, a, b, word=_word: _both(r, word, a, b))


# ---- comparisons and truth values ----

for _name, _word in {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
                     "ge": "greater_equal"}.items():
    row(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar")(
        lambda r, a, b, word=_word: _both(r, word, a, b, _kind_of_both(r, a, b)))

for _name in ("and", "or", "xor"):
    row(f"aten.bitwise_{_name}.Tensor", f"aten.bitwise_{_name}.Scalar", f"aten.__{_name}__.Tensor", f"aten.__{_name}__.Scalar")(
        lambda r, a, b, word=_name: _both(r, f"bitwise_{word}", a, b, "i32"))
    row(f"aten.logical_{_name}.default")(
        lambda r, a, b, word=_name: r.build.binary(f"logical_{word}", truth(r, r.value(a)), truth(r, r.value(b))))


@row("aten.logical_not.default", "aten.bitwise_not.default")
def _not(r: Reader, x: Any) -> Value:
    value = r.value(x)
    if "logical" not in str(r.node.target) and r.dtype != torch.bool:
        return r.build.unary("bitwise_not", value)
    if value.dtype == "i32":
        return r.build.unary("logical_not", value)
    return r.build.binary("equal", value, r.build.constant(0, value.dtype))


@row("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def _where(r: Reader, condition: Any, a: Any, b: Any) -> Value:
    return r.build.where(r.value(condition, "i32"), r.operand(a), r.operand(b))


@row("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def _masked_fill(r: Reader, x: Any, mask: Any, number: Any) -> Value:
    return r.build.where(r.value(mask, "i32"), r.operand(number), r.operand(x))


@row("aten.nan_to_num.default")
def _nan_to_num(r: Reader, x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Value:
    value, limits = r.value(x), torch.finfo(torch.float32)
    value = r.build.where(r.build.unary("is_nan", value), r.value(nan or 0.0, "f32"), value)
    low, high = (limits.min if neginf is None else neginf), (limits.max if posinf is None else posinf)
    infinite = {math.inf: high, -math.inf: low}
    for bound, number in infinite.items():
        is_it = r.build.binary("equal", value, r.build.constant(bound, "f32"))
        value = r.build.where(is_it, r.value(float(number), "f32"), value)
    return value


# ---- functions of one number ----

_UNARY = {
    "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal", "exp": "exp", "log": "log",
    "log1p": "log1p", "expm1": "expm1", "sin": "sin", "cos": "cos", "tan": "tan", "erf": "erf", "tanh": "tanh",
    "sigmoid": "sigmoid", "relu": "relu", "silu": "silu", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "round": "round", "square": "square",
    "mish": "mish", "isnan": "is_nan", "isinf": "is_inf",
}
_OF_ANY_TYPE = ("is_nan", "is_inf")
for _name, _word in _UNARY.items():
    if _name != "exp":
        row(f"aten.{_name}.default")(
            lambda r, x, word=_word: _unary(r, word, x))


def _unary(r: Reader, word: str, x: Any) -> Value:
    if r.kind == "f32" or word in _OF_ANY_TYPE:
        return r.build.unary(word, r.value(x, None if word in _OF_ANY_TYPE else "f32"))
    value = r.value(x)
    if word == "relu":
        return r.build.binary("maximum", value, r.build.constant(0, "i32"))
    return r.build.multiply(value, value) if word == "square" else value  # whole numbers have been rounded


@row("aten.sign.default", "aten.sgn.default")
def _sign(r: Reader, x: Any) -> Value:
    """Of a NaN 0, as PyTorch has it."""
    if isinstance(x, Pair):
        raise Refused("it is of a complex tensor")
    value = r.value(x)
    above, below = (r.build.binary(word, value, r.build.constant(0, value.dtype)) for word in ("greater", "less"))
    return r.build.convert(r.build.subtract(above, below), r.kind)


@row("aten.neg.default", "aten._neg_view.default")
def _neg(r: Reader, x: Any) -> Any:
    if isinstance(x, Pair):
        return pair_of(r.build.unary("neg", x.real), r.build.unary("neg", x.imaginary))
    return r.build.unary("neg", r.value(x))


@row("aten.exp.default")
def _exp(r: Reader, x: Any) -> Any:
    if not isinstance(x, Pair):
        return r.build.unary("exp", r.value(x, "f32"))
    size = r.build.unary("exp", x.real)
    return pair_of(*(r.build.multiply(size, r.build.unary(word, x.imaginary)) for word in ("cos", "sin")))


@row("aten.abs.default")
def _abs(r: Reader, x: Any) -> Value:
    if not isinstance(x, Pair):
        return r.build.unary("abs", r.value(x))
    squares = (r.build.multiply(part, part) for part in (x.real, x.imaginary))
    return r.build.unary("sqrt", r.build.add(*squares))


@row("aten.conj.default", "aten._conj.default", "aten.conj_physical.default", "aten.resolve_conj.default",
     "aten._conj_physical.default")
def _conj(r: Reader, x: Any) -> Any:
    if not isinstance(x, Pair):
        return x
    return x if "resolve" in str(r.node.target) else pair_of(x.real, r.build.unary("neg", x.imaginary))


@row("aten.gelu.default")
def _gelu(r: Reader, x: Any, approximate: str = "none") -> Value:
    return r.build.unary("gelu_tanh" if approximate == "tanh" else "gelu_erf", r.value(x))


_EVEN = 17  # softplus of more is the number itself in float32


@row("aten.softplus.default")
def _softplus(r: Reader, x: Any, beta: float = 1, threshold: float = 20) -> Value:
    value, b = r.value(x), r.build
    inner = b.affine(value, float(beta), 0.0)
    found = b.affine(b.unary("softplus", inner), 1.0 / beta, 0.0)
    if threshold >= _EVEN:
        return found
    return b.where(b.binary("greater", inner, b.constant(float(threshold), "f32")), value, found)


@row("aten.log_sigmoid.default", "aten.log_sigmoid_forward.default")
def _log_sigmoid(r: Reader, x: Any) -> Any:
    found = r.build.unary("log_sigmoid", r.value(x))
    return [found, found] if "forward" in str(r.node.target) else found


@row("aten.leaky_relu.default")
def _leaky_relu(r: Reader, x: Any, slope: float = 0.01) -> Value:
    return r.build.unary("leaky_relu", r.value(x), alpha=float(slope))


@row("aten.rrelu.default", "aten.rrelu_with_noise_functional.default")
def _rrelu(r: Reader, x: Any, *rest: Any) -> Any:
    """With the mean of the slopes, which it draws in training."""
    low, high = [one for one in rest if isinstance(one, float)] or [1 / 8, 1 / 3]
    found = _leaky_relu(r, x, (low + high) / 2)
    return [found, None] if "noise" in str(r.node.target) else found


@row("aten.elu.default")
def _elu(r: Reader, x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    value = r.build.affine(r.value(x), float(input_scale), 0.0)
    return r.build.affine(r.build.unary("elu", value, alpha=float(alpha)), float(scale), 0.0)


@row("aten.selu.default")
def _selu(r: Reader, x: Any) -> Value:
    return r.build.unary("selu", r.value(x), alpha=1.6732632423543772, beta=1.0507009873554805)


@row("aten.celu.default")
def _celu(r: Reader, x: Any, alpha: float = 1) -> Value:
    return r.build.unary("celu", r.value(x), alpha=float(alpha))


@row("aten.softshrink.default")
def _softshrink(r: Reader, x: Any, threshold: float = 0.5) -> Value:
    return r.build.unary("softshrink", r.value(x), alpha=float(threshold), beta=float(threshold))


@row("aten.hardsigmoid.default", "aten.hardswish.default")
def _hard(r: Reader, x: Any) -> Value:
    word = "hard_swish" if "swish" in str(r.node.target) else "hard_sigmoid"
    return r.build.unary(word, r.value(x), alpha=1.0 / 6.0, beta=0.5)


@row("aten.relu6.default")
def _relu6(r: Reader, x: Any) -> Value:
    return r.build.clamp(r.value(x), 0.0, 6.0)


@row("aten.hardtanh.default")
def _hardtanh(r: Reader, x: Any, low: float = -1, high: float = 1) -> Value:
    return r.build.clamp(r.value(x), low, high)


@row("aten.clamp.default", "aten.clamp_min.default", "aten.clamp_max.default", "aten.clip.default", "aten.clamp.Tensor",
     "aten.clamp_min.Tensor")
def _clamp(r: Reader, x: Any, low: Any = None, high: Any = None, **kwargs: Any) -> Value:
    if "clamp_max" in str(r.node.target):
        low, high = None, low
    low, high = kwargs.get("min", low), kwargs.get("max", high)
    value = r.value(x, r.kind)
    if any(isinstance(bound, (Value, Size, torch.Tensor)) for bound in (low, high)) or r.kind == "i32":
        value = value if low is None else _both(r, "maximum", value, low)
        return value if high is None else _both(r, "minimum", value, high)
    return r.build.clamp(value, low, high)


# ---- reductions ----

def _reduce(r: Reader, kind: str, x: Any, axes: Any, keep: bool) -> Value:
    axes = None if axes is None or axes == [] else [axes] if isinstance(axes, int) else list(axes)
    return r.build.reduce(kind, r.value(x, r.kind), axes, keep)


@row("aten.sum.default", "aten.sum.dim_IntList")
def _sum(r: Reader, x: Any, axes: Any = None, keep: bool = False, **_: Any) -> Any:
    if isinstance(x, Pair):
        all_axes = None if axes is None or axes == [] else axes
        return pair_of(*(r.build.reduce("sum", part, all_axes, keep) for part in (x.real, x.imaginary)))
    return _reduce(r, "sum", x, axes, keep)


@row("aten.mean.default", "aten.mean.dim")
def _mean(r: Reader, x: Any, axes: Any = None, keep: bool = False, **_: Any) -> Value:
    return _reduce(r, "mean", x, axes, keep)


@row("aten.amax.default", "aten.max.default")
def _amax(r: Reader, x: Any, axes: Any = None, keep: bool = False) -> Value:
    return _reduce(r, "max", x, axes, keep)


@row("aten.amin.default", "aten.min.default")
def _amin(r: Reader, x: Any, axes: Any = None, keep: bool = False) -> Value:
    return _reduce(r, "min", x, axes, keep)


@row("aten.max.dim", "aten.min.dim")
def _max_dim(r: Reader, x: Any, axis: int, keep: bool = False) -> list[Value]:
    word, value = ("max" if "max" in str(r.node.target) else "min"), r.value(x)
    return [r.build.reduce(word, value, [axis], keep), r.build.arg(f"arg{word}", value, axis, keep)]


@row("aten.argmax.default", "aten.argmin.default")
def _argmax(r: Reader, x: Any, axis: int | None = None, keep: bool = False) -> Value:
    value = r.value(x)
    value, axis = (r.build.reshape(value, [-1]), 0) if axis is None else (value, axis)
    return r.build.arg("argmax" if "argmax" in str(r.node.target) else "argmin", value, axis, keep)


@row("aten.prod.default", "aten.prod.dim_int")
def _prod(r: Reader, x: Any, axes: Any = None, keep: bool = False, **_: Any) -> Value:
    return _reduce(r, "product", x, axes, keep)


@row("aten.any.default", "aten.any.dim", "aten.any.dims")
def _any(r: Reader, x: Any, axes: Any = None, keep: bool = False) -> Value:
    return _whether(r, "max", x, axes, keep)


@row("aten.all.default", "aten.all.dim", "aten.all.dims")
def _all(r: Reader, x: Any, axes: Any = None, keep: bool = False) -> Value:
    return _whether(r, "min", x, axes, keep)


@row("aten._is_all_true.default")
def _is_all_true(r: Reader, x: Any) -> Value:
    return _whether(r, "min", x, None, False)


@row("aten.item.default", "aten._local_scalar_dense.default")
def _item(r: Reader, x: Any) -> Value:
    """A number of Python's, which stays a tensor of one element."""
    return r.build.reshape(r.value(x), [])


def _whether(r: Reader, word: str, x: Any, axes: Any, keep: bool) -> Value:
    value = truth(r, r.value(x))
    if 0 in value.shape and 0 not in r.shape:  # none is true, and all are
        return r.build.full(r.shape, int(word == "min"), "i32")
    return _reduce(r, word, value, axes, keep)


@row("aten.var.correction", "aten.var.dim", "aten.std.correction")
def _var(r: Reader, x: Any, axes: Any = None, correction: Any = 1, keepdim: bool = False) -> Value:
    value, b = r.value(x), r.build
    axes = list(range(value.rank)) if axes is None else axes
    mean = b.reduce("mean", value, axes, True)
    centred = b.subtract(value, mean)
    total = b.reduce("sum", b.multiply(centred, centred), axes, keepdim)
    count = product(value.shape[axis] for axis in axes) - (1 if correction is None else int(correction))
    variance = b.divide(total, r.value(count, "f32"))
    return b.unary("sqrt", variance) if "std" in str(r.node.target) else variance


@row("aten.cumsum.default")
def _cumsum(r: Reader, x: Any, axis: int, **_: Any) -> Value:
    return r.build.cumsum(r.value(x, r.kind), axis)


@row("aten.diff.default")
def _diff(r: Reader, x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Value:
    parts = [r.value(part) for part in (prepend, x, append) if part is not None]
    value = r.build.concat(parts, dim) if len(parts) > 1 else parts[0]
    for _ in range(n):
        extent = value.shape[dim]
        value = r.build.subtract(r.build.slice(value, dim, 1, extent - 1), r.build.slice(value, dim, 0, extent - 1))
    return value


@row("aten.softmax.int", "aten._softmax.default")
def _softmax(r: Reader, x: Any, axis: int, *_: Any, **__: Any) -> Value:
    return r.build.softmax(r.value(x, "f32"), axis)


@row("aten.log_softmax.int", "aten._log_softmax.default")
def _log_softmax(r: Reader, x: Any, axis: int, *_: Any, **__: Any) -> Value:
    return r.build.softmax(r.value(x, "f32"), axis, log=True)


@row("aten.logsumexp.default")
def _logsumexp(r: Reader, x: Any, axes: Any, keep: bool = False) -> Value:
    return r.build.logsumexp(r.value(x, "f32"), axes or None, keep)
