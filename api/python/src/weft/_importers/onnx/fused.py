# SPDX-License-Identifier: MIT
"""Rows for the ops that ONNX Runtime's optimizers and exporters write in place of several."""

from __future__ import annotations

import math
from typing import Any

from ..program.attention import attention_of_heads
from ..program.ops import Builder
from ..program.program import Value
from ..program.sizes import Extent, divide
from ..program.windows import conv
from .networks import padded, rotated_heads, split_heads
from .ops import activated
from .reader import Reader, row
from .refused import Refused

MICROSOFT = "com.microsoft"


# ---- activations ----

@row("FastGelu", "BiasGelu", "Gelu", domain=MICROSOFT)
def _gelu(r: Reader, x: Any, bias: Any = None) -> Value:
    value = r.value(x) if bias is None else r.build.add(r.value(x), r.value(bias))
    return r.build.unary("gelu_tanh" if r.node.op_type == "FastGelu" else "gelu_erf", value)


@row("QuickGelu", domain=MICROSOFT)
def _quick_gelu(r: Reader, x: Any) -> Value:
    value = r.value(x)
    return r.build.multiply(value, r.build.unary("sigmoid", r.build.affine(value, float(r.attribute("alpha", 1.702)), 0.0)))


# ---- norms ----

@row("SimplifiedLayerNormalization")
@row("SimplifiedLayerNormalization", domain=MICROSOFT)
def _rms_norm(r: Reader, x: Any, gain: Any) -> Value:
    if r.outputs > 1 and r.is_read(1):
        raise Refused("it gives deviations")
    return r.build.rms_norm(r.value(x), r.value(gain), float(r.attribute("epsilon", 1e-5)), int(r.attribute("axis", -1)))


@row("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def _skip_norm(r: Reader, x: Any, skip: Any, gamma: Any, *rest: Any) -> list[Value | None]:
    b, epsilon = r.build, float(r.attribute("epsilon", 1e-12))
    simple = r.node.op_type == "SkipSimplifiedLayerNormalization"
    beta, bias = (None, *rest, None)[:2] if simple else (*rest, None, None)[:2]
    if any(r.is_read(at) for at in range(1, min(r.outputs, 3))):
        raise Refused("it gives means or deviations")
    total = b.add(r.value(x), r.value(skip))
    total = total if bias is None else b.add(total, r.value(bias))
    if simple:
        found = b.rms_norm(total, r.value(gamma), epsilon)
    else:
        found = b.layer_norm(total, r.value(gamma), None if beta is None else r.value(beta), epsilon)
    return [found, None, None, total][:r.outputs]


@row("EmbedLayerNormalization", domain=MICROSOFT)
def _embedded(r: Reader, tokens: Any, segments: Any, words: Any, places: Any, segment_table: Any, gamma: Any, beta: Any,
              mask: Any = None, positions: Any = None) -> list[Value]:
    b, at = r.build, r.value(tokens)
    if positions is None:
        own = b.slice(r.value(places), 0, 0, at.shape[1])
    else:
        own = b.take(r.value(places), r.value(positions), 0)
    total = b.add(b.take(r.value(words), at, 0), own)
    if segments is not None:
        total = b.add(total, b.take(r.value(segment_table), r.value(segments), 0))
    found = b.layer_norm(total, r.value(gamma), r.value(beta), float(r.attribute("epsilon", 1e-12)))
    r.attribute("mask_index_type")
    if mask is None:
        counts = b.full([at.shape[0]], 0, "i32")
    else:
        counts = b.reduce("sum", b.binary("equal", r.value(mask), b.constant(1, "i32")), [1], False)
    return [found, counts, total][:r.outputs]


# ---- products ----

@row("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def _fused_matmul(r: Reader, a: Any, b: Any) -> Value:
    if r.attribute("transBatchA", 0) or r.attribute("transBatchB", 0):
        raise Refused("it transposes batches")
    x, y = r.value(a), r.value(b)
    x = r.build.swap(x, -1, -2) if r.attribute("transA", 0) else x
    y = r.build.swap(y, -1, -2) if r.attribute("transB", 0) else y
    return r.build.affine(r.build.matmul(x, y), float(r.attribute("alpha", 1.0)), 0.0)


@row("FusedGemm", domain=MICROSOFT)
def _fused_gemm(r: Reader, a: Any, b: Any, c: Any = None) -> Value:
    x, y, build = r.value(a), r.value(b), r.build
    x = build.swap(x, 0, 1) if r.attribute("transA", 0) else x
    y = build.swap(y, 0, 1) if r.attribute("transB", 0) else y
    found = build.affine(build.matmul(x, y), float(r.attribute("alpha", 1.0)), 0.0)
    if c is not None:
        found = build.add(found, build.affine(r.value(c), float(r.attribute("beta", 1.0)), 0.0))
    parameters = {name: r.attribute(f"activation_{name}") for name in ("alpha", "beta", "gamma")}
    known = {name: float(one) for name, one in parameters.items() if one is not None}
    return activated(r, found, r.attribute("activation", ""), known)


@row("FusedConv", domain=MICROSOFT)
def _fused_conv(r: Reader, x: Any, weight: Any, bias: Any = None, more: Any = None) -> Value:
    value, kernel = r.value(x), r.value(weight)
    value, windows = padded(r, value, [int(str(extent)) for extent in kernel.shape[2:]], 0.0)
    found = conv(r.build, value, kernel, None if bias is None else r.value(bias), windows, int(r.attribute("group", 1)))
    found = found if more is None else r.build.add(found, r.value(more))
    word, given = r.attribute("activation", ""), list(r.attribute("activation_params", []))
    names = ("min", "max") if word == "Clip" else ("alpha", "beta")
    return activated(r, found, word, dict(zip(names, map(float, given))))


# ---- attention ----

@row("Attention", domain=MICROSOFT)
def _attention(r: Reader, x: Any, weights: Any, bias: Any = None, mask: Any = None, past: Any = None, scores_bias: Any = None,
               length: Any = None) -> Value:
    if past is not None or length is not None or r.outputs > 1 and r.is_read(1) or r.attribute("do_rotary", 0):
        raise Refused("it has a cache, or turns positions")
    b, heads = r.build, int(r.attribute("num_heads"))
    table = r.value(weights)
    total = int(str(table.shape[1]))
    widths = [int(one) for one in r.attribute("qkv_hidden_sizes", [total // 3] * 3)]
    rows = b.matmul(r.value(x), table)
    rows = rows if bias is None else b.add(rows, r.value(bias))
    starts = (0, widths[0], widths[0] + widths[1])
    q, k, v = (split_heads(b, b.slice(rows, 2, start, width), heads) for start, width in zip(starts, widths))
    return _joined(r, q, k, v, _bias(r, mask, scores_bias, q.shape[2], k.shape[2]))


@row("MultiHeadAttention", domain=MICROSOFT)
def _multi_head(r: Reader, query: Any, key: Any = None, value: Any = None, bias: Any = None, mask: Any = None,
                scores_bias: Any = None, past_key: Any = None, past_value: Any = None) -> list[Value]:
    b, heads = r.build, int(r.attribute("num_heads"))
    given = [r.value(one) if one is not None else None for one in (query, key, value)]
    if given[1] is None or given[2] is None:
        raise Refused("its queries, keys and values are in one")
    terms: list[Value | None] = [None] * 3
    if bias is not None:
        start: Extent = 0
        for at, one in enumerate(given):
            width = one.shape[2] if one is not None and one.rank == 3 else given[0].shape[2]  # type: ignore[union-attr]
            terms[at] = b.slice(r.value(bias), 0, start, width)
            start = start + width
    q, k, v = (_heads(b, one, term, heads) for one, term in zip(given, terms) if one is not None)
    if past_key is not None:
        k, v = b.concat([r.value(past_key), k], 2), b.concat([r.value(past_value), v], 2)
    return [_joined(r, q, k, v, _bias(r, mask, scores_bias, q.shape[2], k.shape[2])), k, v][:r.outputs]


def _heads(b: Builder, x: Value, term: Value | None, heads: int) -> Value:
    """[B, heads, n, d] of [B, n, heads · d], or of what has that form already."""
    if x.rank == 3:
        return split_heads(b, x if term is None else b.add(x, term), heads)
    return x if term is None else b.add(x, b.reshape(term, [1, heads, 1, -1]))


def _bias(r: Reader, mask: Any, scores_bias: Any, queries: Extent, keys: Extent) -> Value | None:
    """What is added to scores: what is given, and a large negative number for keys that a mask hides."""
    b, given = r.build, None if scores_bias is None else r.value(scores_bias)
    if mask is None:
        r.attribute("mask_filter_value")
        return given
    shown, least = r.value(mask, "i32"), float(r.attribute("mask_filter_value", -10000.0))
    if shown.rank == 1:  # lengths
        shown = b.binary("less", b.reshape(b.arange(keys), [1, -1]), b.reshape(shown, [-1, 1]))
    if shown.rank not in (2, 3):
        raise Refused(f"its mask has {shown.rank} axes")
    middle = [1] if shown.rank == 2 else [shown.shape[1]]
    hidden = b.affine(b.convert(b.binary("equal", shown, b.constant(0, "i32")), "f32"), least, 0.0)
    hidden = b.reshape(hidden, [shown.shape[0], 1, *middle, shown.shape[-1]])
    return hidden if given is None else b.add(hidden, given)


def _joined(r: Reader, q: Value, k: Value, v: Value, bias: Value | None) -> Value:
    """Attention of [B, heads, n, d], as [B, n, heads · d]."""
    b, width = r.build, q.shape[3]
    if not isinstance(width, int):
        raise Refused("the width of a head is no number")
    if k.shape[3] != v.shape[3]:
        raise Refused("values have another width than keys")
    scale = float(r.attribute("scale", 0.0)) or 1 / math.sqrt(width)
    found = attention_of_heads(b, q, k, v, bias, bool(r.attribute("unidirectional", 0)), scale)
    return b.reshape(b.swap(found, 1, 2), [found.shape[0], found.shape[2], found.shape[1] * found.shape[3]])


@row("RotaryEmbedding", domain=MICROSOFT)
def _rotary(r: Reader, x: Any, positions: Any, cosine: Any, sine: Any) -> Value:
    b, given = r.build, r.value(x)
    if r.attribute("scale", 1.0) != 1.0 or r.attribute("is_packed_batching", 0):
        raise Refused("it has a scale, or packed batches")
    tables, width = [r.value(table) for table in (cosine, sine)], int(r.attribute("rotary_embedding_dim", 0))
    heads = int(r.attribute("num_heads", 0))
    if given.rank == 3 and not heads:
        heads = divide(given.shape[2], 2 * int(str(tables[0].shape[1])))  # type: ignore[assignment]
    value = split_heads(b, given, heads) if given.rank == 3 else given
    at = r.value(positions)
    if at.rank == 1:
        at = b.reshape(b.add(at, b.arange(value.shape[2])), [1, -1])
    found = rotated_heads(b, value, [b.take(table, at, 0) for table in tables], width, bool(r.attribute("interleaved", 0)))
    return b.reshape(b.swap(found, 1, 2), given.shape) if given.rank == 3 else found
