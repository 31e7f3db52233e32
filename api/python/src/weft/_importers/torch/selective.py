# SPDX-License-Identifier: MIT
"""Mamba's selective scan in transformers' models, whose fallback goes through the tokens: PyTorch would unroll it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import torch

from ..program.program import Value
from .reader import Reader, row

_MODULES = tuple(f"transformers.models.{name}.modeling_{name}" for name in ("mamba", "falcon_mamba"))
_FUNCTION = "mamba_selective_scan"
_MOST_STATES = 128


@row("weft_selective.scan.default")
def _scan(r: Reader, x: Any, delta: Any, a: Any, b: Any, c: Any, skip: Any) -> list[Value]:
    """Of x and delta [B, channels, n], a [channels, states], b and c [B, states, n]: y like x, and h [B, channels, states]."""
    build = r.build
    x, delta, b, c = (build.swap(r.value(one), 1, 2) for one in (x, delta, b, c))
    rates = build.swap(r.value(a), 0, 1)
    states, channels = rates.shape
    if skip is not None:
        rates = build.concat([rates, build.reshape(r.value(skip), [1, channels])], 0)
    batch, count = x.shape[0], x.shape[1] * channels
    both = build.program.node("selective_scan", [x, delta, rates, b, c], "f32", [batch, count + states * channels],
                              with_last=True)
    y = build.reshape(build.slice(both, 1, 0, count), x.shape)
    last = build.reshape(build.slice(both, 1, count, states * channels), [batch, states, channels])
    return [build.swap(y, 1, 2), build.swap(last, 1, 2)]


# ---- while PyTorch exports ----

_LIBRARY: Any = torch.library.Library("weft_selective", "DEF")  # type: ignore[no-untyped-call]


def _compute(x: Any, delta: Any, a: Any, b: Any, c: Any, skip: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Of a module that is run as PyTorch exported it."""
    h = x.new_zeros([*x.shape[:2], a.shape[1]])
    found = []
    for token in range(x.shape[2]):
        step = delta[:, :, token, None]
        h = torch.exp(step * a) * h + step * b[:, None, :, token] * x[:, :, token, None]
        found.append((h * c[:, None, :, token]).sum(2))
    y = torch.stack(found, 2)
    return (y if skip is None else y + x * skip[:, None]), h


def _shapes(x: Any, delta: Any, a: Any, b: Any, c: Any, skip: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return x.new_empty(x.shape), x.new_empty([*x.shape[:2], a.shape[1]])


_LIBRARY.define("scan(Tensor x, Tensor delta, Tensor a, Tensor b, Tensor c, Tensor? skip) -> (Tensor, Tensor)")
_LIBRARY.impl("scan", _compute, "CPU")
torch.library.register_fake("weft_selective::scan", _shapes, lib=_LIBRARY)


def _whole(usual: Any) -> Any:
    def call(hidden_states: Any, dt: Any, A: Any, B: Any, C: Any, D: Any = None, z: Any = None, delta_bias: Any = None,
             delta_softplus: bool = False, return_last_state: bool = False, **others: Any) -> Any:
        if A.shape[-1] > _MOST_STATES:  # more than the op has
            return usual(hidden_states, dt, A, B, C, D=D, z=z, delta_bias=delta_bias, delta_softplus=delta_softplus,
                         return_last_state=return_last_state, **others)
        delta = dt if delta_bias is None else dt + delta_bias[:, None]
        delta = torch.nn.functional.softplus(delta) if delta_softplus else delta
        y, last = torch.ops.weft_selective.scan(hidden_states, delta, A, B, C, D)
        y = y if z is None else y * torch.nn.functional.silu(z)
        return (y, last) if return_last_state else y

    return call


@contextlib.contextmanager
def kept_whole() -> Iterator[None]:
    """In this, the scan of those of transformers' modules that are there is one call."""
    usual = {module: vars(module)[_FUNCTION] for name in _MODULES if (module := sys.modules.get(name)) and
             _FUNCTION in vars(module)}
    for module, function in usual.items():
        setattr(module, _FUNCTION, _whole(function))
    try:
        yield
    finally:
        for module, function in usual.items():
            setattr(module, _FUNCTION, function)
