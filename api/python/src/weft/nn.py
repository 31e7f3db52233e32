# SPDX-License-Identifier: MIT
"""Graphs as modules of PyTorch, for inference."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .device import Device, checked, default_device
from .graph import Graph, Tensor

if TYPE_CHECKING:
    import torch

    from .plan import Plan

_MOST_PLANS = 16


def module(function: Callable[..., Tensor], device: Device | None = None) -> torch.nn.Module:
    """A torch.nn.Module that computes a function of tensors with Weft.

        mixer = weft.nn.module(weft.fourier)
        y = mixer(x)                            # torch tensors in, torch tensors out, without gradients

    Args:
        function: builds the graph: it gets a weft.Tensor for each tensor that the module is called with, and gives the result.
            It is called once for each set of shapes. Arrays and torch tensors that it uses become weights.
        device: what it runs on; None: the default device.
    """
    import torch
    import torch.utils.dlpack

    if not callable(function):
        raise TypeError(f"function: expected a function of tensors, found {function!r}")
    checked(device)

    class Mixer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self._plans: collections.OrderedDict[Any, Plan] = collections.OrderedDict()

        def __reduce_ex__(self, _: Any) -> Any:
            return module, (function, device)  # plans are made where it arrives

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            for tensor in inputs:
                if torch.is_grad_enabled() and tensor.requires_grad:
                    raise RuntimeError("weft computes no gradients: call it under torch.no_grad(), or detach its inputs")
            key = tuple((tuple(tensor.shape), tensor.dtype) for tensor in inputs)
            plan = self._plans.get(key)
            if plan is None:
                plan = self._plans[key] = self._compile(inputs)
                while len(self._plans) > _MOST_PLANS:
                    self._plans.popitem(last=False)
            result: torch.Tensor = torch.utils.dlpack.from_dlpack(plan(*inputs))
            return result

        def _compile(self, inputs: tuple[torch.Tensor, ...]) -> Plan:
            graph = Graph()
            tensors = [graph.input(f"input_{i}", tuple(tensor.shape), "f32" if tensor.is_floating_point() else "i32")
                       for i, tensor in enumerate(inputs)]
            graph.output("output", function(*tensors))
            return graph.compile(device or default_device())

    return Mixer()
