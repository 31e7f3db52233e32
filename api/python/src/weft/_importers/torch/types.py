# SPDX-License-Identifier: MIT
"""What PyTorch's types of numbers and its generators mean in a program: kept, or refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..program.ops import Builder, within_bits
from ..program.program import Value


class Refused(Exception):
    """What a row cannot do with these arguments."""


MOVEMENT: set[str] = set()
"""Ops whose rows move elements and compute nothing: those of a narrow type stay as they are."""

_NARROW = {torch.uint8: (0xff, 0), torch.int8: (0xff, 0x80), torch.uint16: (0xffff, 0), torch.int16: (0xffff, 0x8000)}
"""Of whole numbers of fewer than 32 bits: those bits, and the one of the sign."""

_WIDER = (torch.float64, torch.complex128, torch.uint32, torch.uint64)
_HALVES = (torch.float16, torch.bfloat16, torch.complex32)


INT64_ARITHMETIC = {f"aten.{name}" for name in (
    "add.Tensor", "add.Scalar", "sub.Tensor", "sub.Scalar", "rsub.Scalar", "rsub.Tensor", "mul.Tensor", "mul.Scalar",
    "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "square.default", "neg.default", "sum.default", "sum.dim_IntList",
    "prod.default", "prod.dim_int", "cumsum.default", "addcmul.default")}
"""Ops whose results may have more bits than what they are of."""


def check_type(example: Any, name: str) -> None:
    """Raises Refused where a result has a type whose rounding or range a program does not have."""
    if not isinstance(example, torch.Tensor):
        for one in example if isinstance(example, (list, tuple)) else ():
            check_type(one, name)
        return
    kept = _NARROW.keys() | {torch.float32, torch.complex64, torch.bool, torch.int32, torch.int64}
    rounds = example.dtype == torch.float16 and (name in MOVEMENT or name in ROUNDING)
    if example.dtype in _HALVES and not rounds:
        raise Refused(f"it computes in {example.dtype}, whose rounding a program does not have: module.float() computes in "
                      "float32, and weights that 16 bits hold stay in 16 bits")
    if example.dtype not in kept and not rounds:
        raise Refused(f"it computes in {example.dtype}")


ROUNDING = ("aten._to_copy.default", "aten.to.dtype", "aten.to.dtype_layout")
"""Ops that round to float16."""


def wrapped(b: Builder, result: Any, example: Any) -> Any:
    """A result within the bits of its type."""
    if isinstance(result, list) and isinstance(example, (list, tuple)):
        return [wrapped(b, one, of) for one, of in zip(result, example)]
    if not isinstance(result, Value) or not isinstance(example, torch.Tensor) or example.dtype not in _NARROW:
        return result
    return within_bits(b, result, *_NARROW[example.dtype])


def number_of(given: Any, dtype: torch.dtype) -> Any:
    """A number of Python's as one of a type: True of 2 for truth values, 44 of 300 for uint8."""
    if dtype.is_floating_point and dtype != torch.float16:
        return float(given)
    return torch.tensor(given).to(dtype).item()


def check_random(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raises Refused for an op that draws random numbers with these arguments."""
    if _draws(target, args, kwargs):
        raise Refused("it draws random numbers, and a program gives the same for the same inputs")


def draws(node: Any) -> bool:
    """Whether a node of a graph draws random numbers."""
    return _draws(node.target, node.args, node.kwargs)


def _draws(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    if not isinstance(target, torch._ops.OpOverload) or torch.Tag.nondeterministic_seeded not in target.tags:
        return False
    given = dict(kwargs)
    for argument, one in zip(target._schema.arguments, args):
        given[argument.name] = one
    defaults = {argument.name: argument.default_value for argument in target._schema.arguments}

    def of(*names: str) -> Any:
        return next((given.get(name, defaults[name]) for name in names if name in defaults), None)

    return of("train", "training") is not False and of("p", "dropout_p") != 0


def writes_statistics(node: Any) -> bool:
    """Whether a node is a norm that changes the statistics that it is given, which its schema does not say."""
    if str(node.target) not in ("aten.batch_norm.default", "aten.instance_norm.default"):
        return False
    given = dict(zip((argument.name for argument in node.target._schema.arguments), node.args), **node.kwargs)
    return given.get("running_mean") is not None and bool(given.get("training", given.get("use_input_stats")))
