# SPDX-License-Identifier: MIT
"""Rows for ONNX's ops of networks: products, convolutions, pooling, norms, attention."""

from __future__ import annotations

import math
from typing import Any

from ..program.attention import attention_of_heads, mask_bias, shown_rows, with_causal
from ..program.norms import batch_norm, batch_statistics, note_affine, times
from ..program.ops import Builder
from ..program.places import places_of_largest, unpooled, window_places
from ..program.program import Value, resolved
from ..program.sizes import Extent, divide, larger, product
from ..program.transposed import conv_transpose
from ..program.windows import Windows, conv, pool
from .reader import Reader, row
from .refused import NotNumbers, Refused


@row("MatMul")
def _matmul(r: Reader, a: Any, b: Any) -> Value:
    x, y = r.value(a), r.value(b)
    if x.dtype != "f32":
        raise Refused("it is of whole numbers")
    return r.build.matmul(x, y)


@row("Gemm")
def _gemm(r: Reader, a: Any, b: Any, c: Any = None) -> Value:
    build, x, y = r.build, r.value(a), r.value(b)
    x = build.swap(x, 0, 1) if r.attribute("transA", 0) else x
    if r.attribute("transB", 0):
        y = build.swap(y, 0, 1)
    alpha, beta = float(r.attribute("alpha", 1.0)), float(r.attribute("beta", 1.0))
    term = None if c is None else build.affine(r.value(c), beta, 0.0)
    found = build.affine(build.matmul(x, y), alpha, 0.0)
    found = found if term is None else build.add(found, term)
    note_affine(build, found, y, term, lambda scale, other: build.add(build.matmul(x, times(build, y, alpha * scale)), other))
    return found


# ---- windows ----

def _steps(r: Reader, axes: int) -> tuple[list[int], list[int]]:
    """Strides and dilations."""
    strides, dilations = ([int(one) for one in r.attribute(name, [1] * axes)] for name in ("strides", "dilations"))
    return strides, dilations


def _around(auto: str, extent: Extent, stride: int, span: int) -> tuple[Extent, Extent]:
    """What auto_pad SAME puts before and behind an axis, so that a window of that span begins at each stride."""
    need = larger(-extent % stride + span - stride, 0)
    less = divide(need, 2)
    return (less, need - less) if auto == "SAME_UPPER" else (need - less, less)


def windows_of(r: Reader, kernel: list[int], extents: tuple[Extent, ...]) -> Windows:
    """Of the node's attributes, for axes of such extents."""
    axes = len(kernel)
    strides, dilations = _steps(r, axes)
    auto = r.attribute("auto_pad", "NOTSET")
    if auto in ("NOTSET", "VALID"):
        pads = [int(one) for one in r.attribute("pads", [0] * 2 * axes)] if auto == "NOTSET" else [0] * 2 * axes
        return Windows(kernel, strides, pads, dilations)
    free = [extent for extent, stride in zip(extents, strides) if stride != 1 and not isinstance(extent, int)]
    if free:
        raise NotNumbers(f"its auto_pad is {auto}, its strides are {strides}, and sizes are no numbers", product(free))
    around = [_around(auto, extent, stride, dilation * (size - 1) + 1)  # a number at stride 1, whatever the extent is
              for extent, stride, dilation, size in zip(extents, strides, dilations, kernel)]
    return Windows(kernel, strides, [int(str(pads[side])) for side in (0, 1) for pads in around], dilations)


def padded(r: Reader, value: Value, kernel: list[int], fill: float) -> tuple[Value, Windows]:
    """The value, and the windows over it. What auto_pad puts around free sizes depends on them: it is put there before."""
    axes, auto = len(kernel), r.attribute("auto_pad", "NOTSET")
    strides, dilations = _steps(r, axes)
    extents = value.shape[2:]
    if not auto.startswith("SAME") or all(one == 1 or isinstance(extent, int) for one, extent in zip(strides, extents)):
        return value, windows_of(r, kernel, extents)
    for at, (extent, stride) in enumerate(zip(extents, strides)):
        before, after = _around(auto, extent, stride, dilations[at] * (kernel[at] - 1) + 1)
        value = r.build.pad(value, 2 + at, before, after, fill)
    return value, Windows(kernel, strides, [0] * 2 * axes, dilations)


@row("Conv")
def _conv(r: Reader, x: Any, weight: Any, bias: Any = None) -> Value:
    value, kernel = r.value(x), r.value(weight)
    sizes = [int(str(extent)) for extent in kernel.shape[2:]]
    value, windows = padded(r, value, sizes, 0.0)
    return conv(r.build, value, kernel, None if bias is None else r.value(bias), windows, int(r.attribute("group", 1)))


@row("ConvTranspose")
def _conv_transpose(r: Reader, x: Any, weight: Any, bias: Any = None) -> Value:
    value, kernel = r.value(x), r.value(weight)
    axes = kernel.rank - 2
    sizes = [int(str(extent)) for extent in kernel.shape[2:]]
    strides, dilations = _steps(r, axes)
    more = [int(one) for one in r.attribute("output_padding", [0] * axes)]
    auto, wanted = r.attribute("auto_pad", "NOTSET"), r.attribute("output_shape")
    pads = [int(one) for one in r.attribute("pads", [0] * 2 * axes)] if auto == "NOTSET" else [0] * 2 * axes
    for at in range(axes) if wanted is not None or auto.startswith("SAME") else ():
        extent = value.shape[2 + at]
        target = extent * strides[at] if wanted is None else int(wanted[len(wanted) - axes + at])
        total = strides[at] * (extent - 1) + more[at] + dilations[at] * (sizes[at] - 1) + 1 - target
        if not isinstance(total, int):
            raise Refused(f"its output_shape is given, and the size of axis {2 + at} is no number")
        if total < 0 and wanted is None:
            more[at], total = more[at] - total, 0
        less = total // 2
        pads[at], pads[axes + at] = (less, total - less) if auto == "SAME_UPPER" else (total - less, less)
    windows = Windows(sizes, strides, pads, dilations)
    term = None if bias is None else r.value(bias)
    return conv_transpose(r.build, value, kernel, term, windows, more, int(r.attribute("group", 1)))


@row("MaxPool", "AveragePool")
def _pool(r: Reader, x: Any) -> Any:
    value = r.value(x)
    found = pooled(r, value, r.node.op_type == "MaxPool")
    if r.outputs == 1:
        return found
    if r.attribute("storage_order", 0):
        raise Refused("it gives indices in the order of columns")
    windows = windows_of(r, [int(one) for one in r.attribute("kernel_shape")], value.shape[2:])
    places = places_of_largest(r.build, value, window_places(windows, found.shape[2:]))
    plane = r.build.multiply(r.build.arange(product(value.shape[:2])), r.build.size(product(value.shape[2:])))
    planes = r.build.reshape(plane, [*value.shape[:2], *[1] * (value.rank - 2)])
    return [found, r.build.add(places, planes)]


@row("MaxUnpool")
def _max_unpool(r: Reader, x: Any, places: Any, size: Any = None) -> Value:
    """Zeros but where largest elements were, of which the places count over all channels, in sizes as they were."""
    value, at = r.value(x), r.value(places, "i32")
    kernel = [int(one) for one in r.attribute("kernel_shape")]
    axes = len(kernel)
    strides, pads = r.attribute("strides", [1] * axes), r.attribute("pads", [0] * 2 * axes)
    own = [(extent - 1) * int(strides[axis]) - int(pads[axis]) - int(pads[axes + axis]) + kernel[axis]
           for axis, extent in enumerate(value.shape[2:])]
    b = r.build
    found = unpooled(b, value, b.binary("modulo", at, b.size(product(own))), own)
    for axis, whole in enumerate(r.ints(2, size)[2:] if size is not None else ()):
        found = b.pad(found, 2 + axis, 0, whole - own[axis], 0.0)
    return found


def pooled(r: Reader, value: Value, is_max: bool) -> Value:
    """Windows of a value by the node's attributes."""
    kernel, counts = [int(one) for one in r.attribute("kernel_shape")], bool(r.attribute("count_include_pad", 0))
    around, windows = padded(r, value, kernel, 0.0 if not is_max else -math.inf if value.dtype == "f32" else -2**31)
    if around is not value and not is_max and not counts:  # the mean with what was put around, over the share of what was not
        inside, _ = padded(r, r.build.full([1, 1, *value.shape[2:]], 1.0, "f32"), kernel, 0.0)
        return r.build.divide(*(pool(r.build, "average", one, windows, True) for one in (around, inside)))
    value = around
    if r.attribute("ceil_mode", 0):
        if not all(isinstance(extent, int) for extent in value.shape[2:]):
            return pool(r.build, "max" if is_max else "average", value, windows, counts, more_counts(windows, value.shape[2:]))
        longer = rounded_up(windows, value.shape[2:])
        if not is_max and counts:  # which what is filled up with is not
            return pool(r.build, "average", value, windows, True, longer.counts(value.shape[2:]))
        windows = longer
    return pool(r.build, "max" if is_max else "average", value, windows, counts)


def more_counts(windows: Windows, extents: tuple[Extent, ...]) -> list[Extent]:
    """Numbers of places where the last window may end outside, of any sizes. That it begins inside follows from the windows."""
    axes, found = len(windows.kernel), []
    for at, extent in enumerate(extents):
        span, stride = windows.dilations[at] * (windows.kernel[at] - 1) + 1, windows.strides[at]
        if windows.pads[axes + at] + stride > span:
            raise Refused("it rounds sizes up that are no numbers, and whether its last window begins inside depends on them")
        found.append(divide(extent + windows.pads[at] + windows.pads[axes + at] - span + stride - 1, stride) + 1)
    return found


def rounded_up(windows: Windows, extents: tuple[Extent, ...]) -> Windows:
    """With more pads behind, so that the last window begins inside."""
    pads, axes = list(windows.pads), len(windows.kernel)
    for at, extent in enumerate(extents):
        if not isinstance(extent, int):
            raise Refused("it rounds sizes up that are no numbers")
        span = windows.dilations[at] * (windows.kernel[at] - 1) + 1
        covered = extent + pads[at] + pads[axes + at] - span
        count = -(-covered // windows.strides[at]) + 1
        if (count - 1) * windows.strides[at] >= extent + pads[at]:
            count -= 1
        pads[axes + at] += (count - 1) * windows.strides[at] - covered if count > 0 else 0
    return Windows(windows.kernel, windows.strides, [max(pad, 0) for pad in pads], windows.dilations)


@row("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(r: Reader, x: Any) -> Value:
    value = r.value(x)
    word = "max" if r.node.op_type == "GlobalMaxPool" else "mean"
    return r.build.reduce(word, value, list(range(2, value.rank)), True)


# ---- norms ----

@row("LayerNormalization")
def _layer_norm(r: Reader, x: Any, gamma: Any, beta: Any = None) -> Any:
    b, value, epsilon = r.build, r.value(x), float(r.attribute("epsilon", 1e-5))
    axis = resolved(int(r.attribute("axis", -1)), value.rank)
    parts = [None if part is None else r.value(part) for part in (gamma, beta)]
    found = b.layer_norm(value, parts[0], parts[1], epsilon, axis)
    if r.outputs == 1:
        return found
    axes = list(range(axis, value.rank))
    mean = b.reduce("mean", value, axes, True)
    centred = b.subtract(value, mean)
    variance = b.reduce("mean", b.multiply(centred, centred), axes, True)
    return [found, mean, b.unary("rsqrt", b.affine(variance, 1.0, epsilon))][:r.outputs]


@row("RMSNormalization")
def _rms_norm(r: Reader, x: Any, gain: Any) -> Value:
    epsilon = float(r.attribute("epsilon", 1e-5))
    return r.build.rms_norm(r.value(x), r.value(gain), epsilon, int(r.attribute("axis", -1)))


@row("GroupNormalization")
def _group_norm(r: Reader, x: Any, gamma: Any, beta: Any) -> Value:
    b, value, groups = r.build, r.value(x), int(r.attribute("num_groups"))
    rows = b.reshape(value, [value.shape[0], groups, divide(product(value.shape[1:]), groups)])
    found = b.layer_norm(rows, None, None, float(r.attribute("epsilon", 1e-5)))
    if r.version >= 21:
        return _by_channels(b, b.reshape(found, value.shape), r.value(gamma), r.value(beta))
    split = b.reshape(found, [value.shape[0], groups, divide(value.shape[1], groups), *value.shape[2:]])
    return b.reshape(_by_channels(b, split, r.value(gamma), r.value(beta)), value.shape)


@row("InstanceNormalization")
def _instance_norm(r: Reader, x: Any, gamma: Any, beta: Any) -> Value:
    b, value = r.build, r.value(x)
    rows = b.reshape(value, [*value.shape[:2], product(value.shape[2:])])
    found = b.layer_norm(rows, None, None, float(r.attribute("epsilon", 1e-5)))
    return _by_channels(b, b.reshape(found, value.shape), r.value(gamma), r.value(beta))


def _by_channels(b: Builder, x: Value, gamma: Value, beta: Value) -> Value:
    shape = [-1, *[1] * (x.rank - 2)]
    return b.add(b.multiply(x, b.reshape(gamma, shape)), b.reshape(beta, shape))


@row("BatchNormalization")
def _batch_norm(r: Reader, x: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
    value, epsilon = r.value(x), float(r.attribute("epsilon", 1e-5))
    if value.rank < 2:
        raise Refused("its input has one axis")
    numbers = [r.value(part) for part in (mean, variance, gamma, beta)]
    if not r.attribute("training_mode", 0):
        return batch_norm(r.build, value, numbers, epsilon, r.read_once(0))
    b, kept = r.build, float(r.attribute("momentum", 0.9))
    own = batch_statistics(b, value)
    found = batch_norm(b, value, [*own, *numbers[2:]], epsilon, False)
    return [found, *(b.add(b.affine(old, kept, 0.0), b.affine(new, 1.0 - kept, 0.0)) for old, new in zip(numbers, own))]


# ---- sums of products ----

@row("Einsum")
def _einsum(r: Reader, *given: Any) -> Value:
    equation = r.attribute("equation").replace(" ", "")
    inputs, _, output = equation.partition("->")
    terms = inputs.split(",")
    values = [r.value(one) for one in given]
    if "->" not in equation:
        letters = inputs.replace(",", "").replace("...", "")
        output = ("..." if "..." in inputs else "") + "".join(sorted(one for one in set(letters) if letters.count(one) == 1))
    dots = max([value.rank - len(term.replace("...", "")) for term, value in zip(terms, values) if "..." in term], default=0)
    free = "0123456789"[:dots]
    terms = [term.replace("...", free[dots - (value.rank - len(term.replace("...", ""))):] if "..." in term else "")
             for term, value in zip(terms, values)]
    return einsum(r.build, terms, values, output.replace("...", free))


def _summed(b: Builder, term: str, value: Value, kept: set[str]) -> tuple[str, Value]:
    """Without the letters that nothing else has."""
    gone = [at for at, letter in enumerate(term) if letter not in kept]
    return "".join(letter for letter in term if letter in kept), b.reduce("sum", value, gone, False) if gone else value


def einsum(b: Builder, terms: list[str], values: list[Value], output: str) -> Value:
    """Sums of products over letters of one or two values."""
    if any(len(set(term)) != len(term) for term in terms):
        raise Refused("a letter is twice in one operand")
    while len(values) > 2:  # two at a time, with the letters that are still needed
        rest = set(output).union(*terms[2:])
        needed = "".join(dict.fromkeys(letter for letter in terms[0] + terms[1] if letter in rest))
        terms, values = [needed, *terms[2:]], [einsum(b, terms[:2], values[:2], needed), *values[2:]]
    if len(values) == 1:
        gone = [at for at, letter in enumerate(terms[0]) if letter not in output]
        summed = b.reduce("sum", values[0], gone, False)
        kept = [letter for letter in terms[0] if letter in output]
        return b.permute(summed, [kept.index(letter) for letter in output])
    pairs = [_summed(b, *pair) for pair in zip(terms, values, (set(output).union(terms[1]), set(output).union(terms[0])))]
    (one, other), values = [term for term, _ in pairs], [value for _, value in pairs]
    terms = [one, other]
    shared = [letter for letter in one if letter in other]
    batch = [letter for letter in shared if letter in output]
    inner = [letter for letter in shared if letter not in output]
    size = {letter: extent for term, value in zip(terms, values) for letter, extent in zip(term, value.shape)}
    rows, columns = ([letter for letter in term if letter not in shared] for term in (one, other))

    def matrix(value: Value, term: str, groups: list[list[str]]) -> Value:
        moved = b.permute(value, [term.index(letter) for group in groups for letter in group])
        return b.reshape(moved, [product(size[letter] for letter in group) for group in groups])

    found = b.matmul(matrix(values[0], one, [batch, rows, inner]), matrix(values[1], other, [batch, inner, columns]))
    order = [*batch, *rows, *columns]
    return b.permute(b.reshape(found, [size[letter] for letter in order]), [order.index(letter) for letter in output])


# ---- attention ----

@row("Attention")
def _attention(r: Reader, query: Any, key: Any, value: Any, mask: Any = None, past_key: Any = None, past_value: Any = None,
               counts: Any = None) -> Any:
    if counts is not None or r.outputs > 3 and r.node.output[3]:
        raise Refused("it has lengths of a cache, or gives scores")
    b = r.build
    q, k, v = (r.value(one) for one in (query, key, value))
    flat = q.rank == 3
    if flat:
        heads, kv_heads = int(r.attribute("q_num_heads")), int(r.attribute("kv_num_heads"))
        q, k, v = (split_heads(b, x, count) for x, count in ((q, heads), (k, kv_heads), (v, kv_heads)))
    causal = bool(r.attribute("is_causal", 0))
    if past_key is not None:
        if causal:
            raise Refused("it is causal and has a cache")
        k, v = b.concat([r.value(past_key), k], 2), b.concat([r.value(past_value), v], 2)
    found = _scored(r, q, k, v, None if mask is None else r.value(mask), causal)
    if flat:
        found = b.reshape(b.swap(found, 1, 2), [found.shape[0], found.shape[2], found.shape[1] * found.shape[3]])
    return [found, k, v][:r.outputs]


def split_heads(b: Builder, x: Value, heads: int) -> Value:
    """[B, heads, n, d] of [B, n, heads · d]."""
    return b.swap(b.reshape(x, [x.shape[0], x.shape[1], heads, divide(x.shape[2], heads)]), 1, 2)


def _scored(r: Reader, q: Value, k: Value, v: Value, mask: Value | None, causal: bool) -> Value:
    """Attention of [B, heads, n, d], with fewer heads of k and v as grouped queries."""
    b, width = r.build, q.shape[3]
    if not isinstance(width, int):
        raise Refused("the width of a head is no number")
    scale = float(r.attribute("scale") or 1 / math.sqrt(width))
    cap = float(r.attribute("softcap", 0.0))
    if mask is not None and mask.dtype == "i32":
        mask = mask_bias(b, mask)
    if causal and (mask is not None or cap or k.shape[3] != v.shape[3]):
        mask, causal = with_causal(b, mask, q.shape[2], k.shape[2]), False
    if not cap and k.shape[3] == v.shape[3]:
        return attention_of_heads(b, q, k, v, mask, causal, scale)
    k, v = (_repeated(b, x, q.shape[1]) for x in (k, v))
    scores = b.affine(b.matmul(q, b.swap(k, 2, 3)), scale, 0.0)
    if cap:
        scores = b.affine(b.unary("tanh", b.affine(scores, 1 / cap, 0.0)), cap, 0.0)
    found = b.matmul(b.softmax(scores if mask is None else b.add(scores, mask), -1), v)
    return shown_rows(b, found, mask)


def _repeated(b: Builder, x: Value, heads: Extent) -> Value:
    """Each head as often as queries share it."""
    batch, own, length, width = x.shape
    if own == heads:
        return x
    wide = b.expand(b.reshape(x, [batch, own, 1, length, width]), [batch, own, divide(heads, own), length, width])
    return b.reshape(wide, [batch, heads, length, width])


@row("RotaryEmbedding")
def _rotary(r: Reader, x: Any, cosine: Any, sine: Any, positions: Any = None) -> Value:
    b, given = r.build, r.value(x)
    heads = int(r.attribute("num_heads", 0))
    value = split_heads(b, given, heads) if given.rank == 3 else given
    tables = [r.value(table) for table in (cosine, sine)]
    if positions is not None:
        tables = [b.take(table, r.value(positions), 0) for table in tables]
    found = rotated_heads(b, value, tables, int(r.attribute("rotary_embedding_dim", 0)), bool(r.attribute("interleaved", 0)))
    return b.reshape(b.swap(found, 1, 2), given.shape) if given.rank == 3 else found


def rotated_heads(b: Builder, value: Value, tables: list[Value], width: int, split: bool) -> Value:
    """[B, heads, n, d] with its first channels turned by tables [B, n, width / 2] of cosines and sines; 0: all channels.
    `split`: whether pairs are side by side."""
    width = width or int(str(value.shape[3]))
    cos, sin = (b.reshape(table, [table.shape[0], 1, *table.shape[1:]]) for table in tables)
    turned, rest = b.slice(value, 3, 0, width), b.slice(value, 3, width, value.shape[3] - width)
    half = width // 2
    first, second = (b.slice(turned, 3, at if split else at * half, half, 2 if split else 1) for at in (0, 1))
    real = b.subtract(b.multiply(first, cos), b.multiply(second, sin))
    imaginary = b.add(b.multiply(first, sin), b.multiply(second, cos))
    if split:
        parts = [b.reshape(part, [*part.shape, 1]) for part in (real, imaginary)]
        turned = b.reshape(b.concat(parts, 4), turned.shape)
    else:
        turned = b.concat([real, imaginary], 3)
    return turned if rest.shape[3] == 0 else b.concat([turned, rest], 3)
