# SPDX-License-Identifier: MIT
"""Rows for PyTorch's ops of networks: products, convolutions, norms, attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..program.attention import attention_of_heads, mask_bias, shown_rows, with_causal
from ..program.norms import batch_norm, batch_statistics
from ..program.program import Value
from ..program.sizes import product
from ..program.transposed import conv_transpose, summed_windows
from ..program.windows import Windows, conv
from .movement import complex_of
from .reader import Pair, Reader, pair_of, row
from .types import Refused

# ---- products ----


@row("aten.linear.default")
def _linear(r: Reader, x: Any, weight: Any, bias: Any = None) -> Value:
    return r.build.linear(r.value(x), r.value(weight), None if bias is None else r.value(bias))


@row("aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default")
def _matmul(r: Reader, a: Any, b: Any) -> Any:
    if isinstance(a, Pair) or isinstance(b, Pair):
        return _complex_matmul(r, complex_of(r, a), complex_of(r, b))
    return r.build.matmul(r.value(a), r.value(b))


def _complex_matmul(r: Reader, x: Pair, y: Pair) -> Pair:
    def of(a: Value, b: Value) -> Value:
        return r.build.matmul(a, b)

    return pair_of(r.build.subtract(of(x.real, y.real), of(x.imaginary, y.imaginary)),
                   r.build.add(of(x.real, y.imaginary), of(x.imaginary, y.real)))


@row("aten.addmm.default", "aten.baddbmm.default")
def _addmm(r: Reader, bias: Any, a: Any, b: Any, beta: float = 1, alpha: float = 1) -> Value:
    y = r.build.affine(r.build.matmul(r.value(a), r.value(b)), float(alpha), 0.0)
    return r.build.add(y, r.build.affine(r.value(bias), float(beta), 0.0)) if beta != 0 else y


@row("aten._trilinear.default")
def _trilinear(r: Reader, x: Any, weight: Any, y: Any, expand_x: list[int], expand_weight: list[int], expand_y: list[int],
               summed: list[int], *_: Any) -> Value:
    """x[b, i] weight[o, i, j] y[b, j], as torch.nn.Bilinear has it."""
    if (expand_x, expand_weight, expand_y, summed) != ([1, 3], [0], [1, 2], [2, 3]):
        raise Refused("it is not that of torch.nn.Bilinear")
    b, left, right, matrix = r.build, r.value(x), r.value(y), r.value(weight)
    outputs, inner, columns = matrix.shape
    rows = b.matmul(left, b.reshape(b.permute(matrix, [1, 0, 2]), [inner, outputs * columns]))
    products = b.matmul(b.reshape(rows, [left.shape[0], outputs, columns]), b.reshape(right, [*right.shape, 1]))
    return b.reshape(products, r.shape)


# ---- convolutions ----

def several(given: Any, count: int) -> list[int]:
    """A number for each axis, of which one may stand for all."""
    found = [given] if isinstance(given, int) else list(given)
    return found * count if len(found) == 1 else found


@row("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default", "aten.conv1d.padding", "aten.conv2d.padding",
     "aten.conv3d.padding")
def _conv(r: Reader, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
          groups: int = 1) -> Value:
    kernel = r.value(weight)
    axes = kernel.rank - 2
    strides, dilations = several(stride, axes), several(dilation, axes)
    if isinstance(padding, str):
        wide = [d * (int(str(k)) - 1) if padding == "same" else 0 for d, k in zip(dilations, kernel.shape[2:])]
        pads = [*(total // 2 for total in wide), *(total - total // 2 for total in wide)]
    else:
        pads = several(padding, axes) * 2
    value = r.value(x)
    windows = Windows([int(str(extent)) for extent in kernel.shape[2:]], strides, pads, dilations)
    batched = value if value.rank == kernel.rank else r.build.reshape(value, [1, *value.shape])
    return r.build.reshape(conv(r.build, batched, kernel, None if bias is None else r.value(bias), windows, groups), r.shape)


@row("aten.convolution.default")
def _convolution(r: Reader, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                 more: Any, groups: int) -> Value:
    if transposed:
        return _conv_transpose(r, x, weight, bias, stride, padding, more, groups, dilation)
    return _conv(r, x, weight, bias, stride, padding, dilation, groups)


@row("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def _conv_transpose(r: Reader, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, more: Any = 0,
                    groups: int = 1, dilation: Any = 1) -> Value:
    value, kernel = r.value(x), r.value(weight)
    axes = kernel.rank - 2
    windows = Windows([int(str(extent)) for extent in kernel.shape[2:]], several(stride, axes), several(padding, axes) * 2,
                      several(dilation, axes))
    batched = value if value.rank == kernel.rank else r.build.reshape(value, [1, *value.shape])
    term = None if bias is None else r.value(bias)
    found = conv_transpose(r.build, batched, kernel, term, windows, several(more, axes), groups)
    return r.build.reshape(found, r.shape)


@row("aten.im2col.default")
def _im2col(r: Reader, x: Any, kernel: list[int], dilation: list[int], padding: list[int], stride: list[int]) -> Value:
    """[…, C · taps, places]: the elements of each window."""
    b, value = r.build, r.value(x)
    batched = value if value.rank == 4 else b.reshape(value, [1, *value.shape])
    taps = list(Windows(kernel, stride, [*padding, *padding], dilation).taps(b, batched, 2, 0.0))
    parts = b.concat([b.reshape(tap, [*tap.shape[:2], 1, product(tap.shape[2:])]) for tap in taps], 2)
    return b.reshape(parts, r.shape)


@row("aten.col2im.default")
def _col2im(r: Reader, x: Any, size: list[Any], kernel: list[int], dilation: list[int], padding: list[int],
            stride: list[int]) -> Value:
    windows = Windows(kernel, stride, [*padding, *padding], dilation)
    return r.build.reshape(summed_windows(r.build, r.value(x), [r.extent(one) for one in size], windows), r.shape)


# ---- norms ----

@row("aten.layer_norm.default", "aten.native_layer_norm.default")
def _layer_norm(r: Reader, x: Any, shape: Sequence[Any], gamma: Any = None, beta: Any = None, epsilon: float = 1e-5,
                *_: Any) -> Any:
    parts = [None if part is None else r.value(part) for part in (gamma, beta)]
    found = r.build.layer_norm(r.value(x), parts[0], parts[1], float(epsilon), -len(shape))
    return [found, None, None] if "native" in str(r.node.target) else found


@row("aten.rms_norm.default", "aten._fused_rms_norm.default")
def _rms_norm(r: Reader, x: Any, shape: Sequence[Any], gain: Any = None, epsilon: float | None = None) -> Any:
    epsilon = 1.1920928955078125e-07 if epsilon is None else float(epsilon)
    found = r.build.rms_norm(r.value(x), None if gain is None else r.value(gain), epsilon, -len(shape))
    return [found, None] if "fused" in str(r.node.target) else found


@row("aten.group_norm.default")
def _group_norm(r: Reader, x: Any, groups: int, gamma: Any = None, beta: Any = None, epsilon: float = 1e-5, *_: Any) -> Value:
    value, b = r.value(x), r.build
    rows = b.reshape(value, [value.shape[0], groups, product(value.shape[1:]) // groups])
    found = b.reshape(b.layer_norm(rows, None, None, float(epsilon)), value.shape)
    return _by_channels(r, found, gamma, beta)


@row("aten.instance_norm.default")
def _instance_norm(r: Reader, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, use_input: bool, momentum: float,
                   epsilon: float, *_: Any) -> Value:
    if not use_input:
        return _normalized(r, x, (mean, variance, gamma, beta), epsilon)
    value, b = r.value(x), r.build
    rows = b.reshape(value, [*value.shape[:2], product(value.shape[2:])])
    return _by_channels(r, b.reshape(b.layer_norm(rows, None, None, float(epsilon)), value.shape), gamma, beta)


def _by_channels(r: Reader, x: Value, gamma: Any, beta: Any) -> Value:
    """A factor and a term for each element of axis 1."""
    for word, part in (("multiply", gamma), ("add", beta)):
        if part is not None:
            x = r.build.binary(word, x, r.build.reshape(r.value(part), [-1, *[1] * (x.rank - 2)]))
    return x


@row("aten.batch_norm.default", "aten._native_batch_norm_legit_no_training.default", "aten.cudnn_batch_norm.default")
def _batch_norm(r: Reader, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, *rest: Any) -> Any:
    training = rest[0] if isinstance(rest[0], bool) else False
    if training and mean is None:
        return _batch_norm_of_batch(r, x, gamma, beta, True, 0.0, rest[2])[0]
    if training:
        raise Refused("the module is in training: call eval() first")
    epsilon = float(rest[2] if isinstance(rest[0], bool) else rest[1])
    found = _normalized(r, x, (mean, variance, gamma, beta), epsilon)
    return [found, None, None] if "legit" in str(r.node.target) else found


def _normalized(r: Reader, x: Any, given: Sequence[Any], epsilon: float) -> Value:
    numbers = [None if part is None else r.value(part) for part in given]
    read: Any = r.node.args[0]
    return batch_norm(r.build, r.value(x), numbers, float(epsilon), len(read.users) == 1)


@row("aten._native_batch_norm_legit.no_stats")
def _batch_norm_of_batch(r: Reader, x: Any, gamma: Any, beta: Any, training: bool, momentum: float,
                         epsilon: float) -> list[Any]:
    """Of a layer that keeps no statistics, and normalizes by those of the batch."""
    value = r.value(x)
    numbers = [*batch_statistics(r.build, value), *(None if part is None else r.value(part) for part in (gamma, beta))]
    return [batch_norm(r.build, value, numbers, float(epsilon), False), None, None]


# ---- attention ----

@row("aten.scaled_dot_product_attention.default")
def _attention(r: Reader, query: Any, key: Any, value: Any, mask: Any = None, dropout: float = 0.0, is_causal: bool = False,
               scale: float | None = None, enable_gqa: bool = False) -> Value:
    q, k, v = (r.value(given) for given in (query, key, value))
    width = q.shape[-1]
    if not isinstance(width, int):
        raise Refused("the width of a head is no number")
    factor = 1.0 / math.sqrt(width) if scale is None else float(scale)
    bias = None if mask is None else r.value(mask)
    if bias is not None and bias.dtype == "i32":
        bias = mask_bias(r.build, bias)
    if q.rank != 4 or k.shape[-1] != v.shape[-1] or q.shape[0] != k.shape[0] or factor == 0.0:
        return _plain_attention(r, q, k, v, factor, bias, is_causal)
    return attention_of_heads(r.build, q, k, v, bias, is_causal, factor)


def _plain_attention(r: Reader, q: Value, k: Value, v: Value, scale: float, bias: Value | None, causal: bool) -> Value:
    b = r.build
    if causal:
        bias = with_causal(b, bias, q.shape[-2], k.shape[-2])
    scores = b.affine(b.matmul(q, b.swap(k, -1, -2)), scale, 0.0)
    return shown_rows(b, b.matmul(b.softmax(scores if bias is None else b.add(scores, bias), -1), v), bias)
