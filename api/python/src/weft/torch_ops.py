# SPDX-License-Identifier: MIT
"""Weft's mixers as PyTorch's ops, to train with: from_torch finds them in a module, whatever it is made of otherwise.

    y = weft.torch_ops.toeplitz(x, coefficients, causal=True)

Each is computed by PyTorch's own ops, on any device and with gradients, from its definition, whose time and memory it takes.
docs/mixers.md has the formulas, the C headers the ranges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import torch

if TYPE_CHECKING:
    from torch import Tensor

_library: Any = torch.library.Library("weft", "DEF")  # type: ignore[no-untyped-call]
_ops: Any = torch.ops.weft


Function = TypeVar("Function", bound=Callable[..., Any])


def _op(schema: str, like: int = 0) -> Callable[[Function], Function]:
    """Defines an op by a function of PyTorch's ops. Exports keep it whole; its gradients are those of the function. The result
    has the shape of the argument `like`."""
    name = schema.split("(", 1)[0]

    def register(function: Function) -> Function:
        _library.define(schema)
        _library.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake(f"weft::{name}", lambda *args: torch.empty_like(args[like]), lib=_library)
        torch.library.register_autograd(f"weft::{name}", _backward_of(function), setup_context=_keep, lib=_library)
        return function
    return register


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.tensors = [at for at, one in enumerate(inputs) if isinstance(one, torch.Tensor)]
    ctx.others = [None if isinstance(one, torch.Tensor) else one for one in inputs]
    ctx.save_for_backward(*(inputs[at] for at in ctx.tensors))


def _backward_of(function: Any) -> Any:
    """The gradients by running the function once more."""
    def backward(context: Any, gradient: Tensor) -> tuple[Any, ...]:
        inputs = list(context.others)
        for at, saved in zip(context.tensors, context.saved_tensors):
            inputs[at] = saved.detach().requires_grad_(context.needs_input_grad[at])
        wanted = [at for at in context.tensors if context.needs_input_grad[at]]
        with torch.enable_grad():
            found = torch.autograd.grad(function(*inputs), [inputs[at] for at in wanted], gradient, allow_unused=True)
        by_place = dict(zip(wanted, found))
        return tuple(by_place.get(at) for at in range(len(inputs)))
    return backward


def fourier(x: Tensor) -> Tensor:
    """FNet's mixing, the real part of the Fourier transforms over tokens and channels: [B, n, d] to the same."""
    found: Tensor = _ops.fourier(x)
    return found


def toeplitz(x: Tensor, coefficients: Tensor, causal: bool = False) -> Tensor:
    """A Toeplitz matrix for each channel: x [B, n, d], coefficients [2m - 1, d] from lag -(m - 1) to m - 1, m ≥ n; causal:
    [m, d] from lag 0."""
    found: Tensor = _ops.toeplitz(x, coefficients, causal)
    return found


def banded_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, half_width: int, causal: bool = False,
                     scale: float | None = None) -> Tensor:
    """Softmax attention of each token to those at most half_width away; all [B, n, heads · d]."""
    found: Tensor = _ops.banded_attention(q, k, v, heads, half_width, causal, scale)
    return found


def linear_attention(q_features: Tensor, k_features: Tensor, v: Tensor, heads: int, causal: bool = False) -> Tensor:
    """Attention by features that are not negative: [B, n, heads · m] twice, v [B, n, heads · d]."""
    found: Tensor = _ops.linear_attention(q_features, k_features, v, heads, causal)
    return found


def kernel_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, causal: bool = False, maps: list[str] | None = None,
                     weights: list[float] | None = None) -> Tensor:
    """FMMformer's far field: a sum of linear attentions by elementwise maps, "elu1" as a rule; others are "elu1_negated",
    "tanh", "tanh1", "relu", "exp"."""
    names = maps or ["elu1"]
    found: Tensor = _ops.kernel_attention(q, k, v, heads, causal, names, weights or [1.0] * len(names))
    return found


def fast_weight(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, heads: int) -> Tensor:
    """The delta rule, token by token: q, k, v [B, n, heads · d], beta [B, n, heads]."""
    found: Tensor = _ops.fast_weight(q, k, v, beta, heads)
    return found


# ---- definitions ----

@_op("fourier(Tensor x) -> Tensor")
def _fourier(x: Tensor) -> Tensor:
    found: Tensor = torch.fft.fftn(x, dim=(1, 2)).real
    return found


@_op("toeplitz(Tensor x, Tensor coefficients, bool causal=False) -> Tensor")
def _toeplitz(x: Tensor, coefficients: Tensor, causal: bool = False) -> Tensor:
    n, rows = x.shape[1], coefficients.shape[0]
    first = 0 if causal else -((rows - 1) // 2)
    lags = torch.arange(n, device=x.device)[:, None] - torch.arange(n, device=x.device)[None, :]
    matrix = coefficients[(lags - first).clamp(0, rows - 1)]  # [n, n, d]
    if causal:
        matrix = matrix * (lags >= 0)[..., None]
    return torch.einsum("ijc,bjc->bic", matrix, x)


def _heads_first(x: Tensor, heads: int) -> Tensor:
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def _heads_last(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


@_op("banded_attention(Tensor q, Tensor k, Tensor v, int heads, SymInt half_width, bool causal=False, float? scale=None) "
     "-> Tensor")
def _banded_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, half_width: int, causal: bool = False,
                      scale: float | None = None) -> Tensor:
    n = q.shape[1]
    queries, keys, values = (_heads_first(x, heads) for x in (q, k, v))
    factor = scale if scale is not None else 1 / math.sqrt(q.shape[2] // heads)
    lags = torch.arange(n, device=q.device)[:, None] - torch.arange(n, device=q.device)[None, :]
    seen = (lags.abs() <= half_width) & ((lags >= 0) if causal else (lags == lags))
    scores = (queries @ keys.transpose(-1, -2) * factor).masked_fill(~seen, -math.inf)
    return _heads_last(scores.softmax(-1) @ values)


@_op("linear_attention(Tensor q_features, Tensor k_features, Tensor v, int heads, bool causal=False) -> Tensor", like=2)
def _linear_attention(q_features: Tensor, k_features: Tensor, v: Tensor, heads: int, causal: bool = False) -> Tensor:
    queries, keys, values = (_heads_first(x, heads) for x in (q_features, k_features, v))
    weights = queries @ keys.transpose(-1, -2)
    weights = weights.tril() if causal else weights
    total = weights.sum(-1, keepdim=True)
    quotient = (weights @ values) / torch.where(total == 0, torch.ones_like(total), total)
    return _heads_last(torch.where(total == 0, torch.zeros_like(quotient), quotient))


_MAPS = {
    "elu1": lambda x: torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0))),
    "elu1_negated": lambda x: torch.where(x < 0, 1 - x, torch.exp(-x.clamp(min=0))),
    "tanh": torch.tanh, "tanh1": lambda x: torch.tanh(x) + 1, "relu": torch.relu, "exp": torch.exp,
}


@_op("kernel_attention(Tensor q, Tensor k, Tensor v, int heads, bool causal, str[] maps, float[] weights) -> Tensor", like=2)
def _kernel_attention(q: Tensor, k: Tensor, v: Tensor, heads: int, causal: bool, maps: list[str],
                      weights: list[float]) -> Tensor:
    parts = [weight * _linear_attention(_MAPS[name](q), _MAPS[name](k), v, heads, causal)
             for name, weight in zip(maps, weights)]
    return torch.stack(parts).sum(0)


@_op("fast_weight(Tensor q, Tensor k, Tensor v, Tensor beta, int heads) -> Tensor", like=2)
def _fast_weight(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, heads: int) -> Tensor:
    queries, keys = (_MAPS["elu1"](_heads_first(x, heads)) for x in (q, k))
    queries, keys = (x / x.sum(-1, keepdim=True) for x in (queries, keys))
    values, rates = _heads_first(v, heads), beta.transpose(1, 2)[..., None]
    state = values.new_zeros(values.shape[0], heads, values.shape[-1], keys.shape[-1])
    found = []
    for at in range(q.shape[1]):
        key, value = keys[:, :, at, :, None], values[:, :, at, :, None]
        state = state + rates[:, :, at, :, None] * (value - state @ key) @ key.transpose(-1, -2)
        found.append((state @ queries[:, :, at, :, None])[..., 0])
    return _heads_last(torch.stack(found, 2))
