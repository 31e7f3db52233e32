# SPDX-License-Identifier: MIT
"""What holds while PyTorch traces a module: things that it could not trace as they are."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

_LEAVES = (torch.Tensor, int, float, bool, str, type(None))


@contextlib.contextmanager
def masks_as_they_are() -> Iterator[None]:
    """In this, PyTorch's layers of transformers do not look whether a mask that they are given is the causal one."""
    layers: Any = torch.nn.modules.transformer
    usual = layers._detect_is_causal_mask
    layers._detect_is_causal_mask = lambda mask, is_causal=None, size=None: is_causal is True
    try:
        yield
    finally:
        layers._detect_is_causal_mask = usual


@contextlib.contextmanager
def nothing_printed() -> Iterator[None]:
    """In this, PyTorch does not print what it had of a graph when it failed."""
    module = vars(importlib.import_module("torch.export._trace"))
    module["print"] = lambda *_, **__: None
    try:
        yield
    finally:
        module.pop("print", None)


@contextlib.contextmanager
def numbers_known(module: torch.nn.Module) -> Iterator[None]:
    """In this, buffers of one whole number are made anew where they are read: PyTorch knows what it has seen made, and lets a
    size or a branch depend on it, as strides and paddings of audio codecs do."""
    changed = []
    for part in module.modules():
        numbers = {name: one for name, one in part._buffers.items()
                   if one is not None and one.dim() == 0 and one.dtype in (torch.int64, torch.int32, torch.bool)}
        if numbers:
            changed.append((part, type(part), dict(part._buffers)))
            for name in numbers:
                del part._buffers[name]
            made = {name: _anew(one.item(), one.dtype) for name, one in numbers.items()}
            part.__class__ = type(type(part).__name__, (type(part),), made)
    try:
        yield
    finally:
        for part, kind, buffers in changed:
            part.__class__ = kind
            part._buffers.clear()
            part._buffers.update(buffers)


def _anew(number: Any, dtype: torch.dtype) -> property:
    return property(lambda _: torch.tensor(number, dtype=dtype))


@contextlib.contextmanager
def tensors_alone(module: torch.nn.Module) -> Iterator[dict[str, str]]:
    """In this, the module's results are without what PyTorch cannot export, such as caches of keys and values. Gives their
    names and types."""
    left_out: dict[str, str] = {}

    def without(_: Any, __: Any, found: Any) -> Any:
        if not isinstance(found, Mapping) and type(found) not in (list, tuple):
            return found
        items = dict(found.items() if isinstance(found, Mapping) else enumerate(found))
        unknown = {name: type(one).__name__ for name, one in items.items() if not _is_known(one)}
        left_out.update((str(name), kind) for name, kind in unknown.items())
        kept = {name: one for name, one in items.items() if name not in unknown}
        return found if not unknown else type(found)(**kept) if isinstance(found, Mapping) else type(found)(kept.values())

    handle = module.register_forward_hook(without)
    try:
        yield left_out
    finally:
        handle.remove()


def _is_known(one: Any) -> bool:
    """Whether it is tensors and numbers in containers that PyTorch knows."""
    return all(isinstance(leaf, (*_LEAVES, torch.SymInt, torch.SymFloat, torch.SymBool)) for leaf in pytree.tree_leaves(one))
