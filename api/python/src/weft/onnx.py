# SPDX-License-Identifier: MIT
"""Models of ONNX."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _checks, errors
from .device import checked
from .program import Program, loaded

if TYPE_CHECKING:
    import onnx

    from .device import Device


def from_onnx(model: str | os.PathLike[str] | onnx.ModelProto, device: Device | None = None, *,
              fixed: Mapping[str, Any] | None = None, sizes: Mapping[str, int | tuple[int, int]] | None = None) -> Program:
    """A program of a model of ONNX, by the package onnx.

    Args:
        model: a file, or what the package onnx has read.
        device: what it will run on; None: the default device.
        fixed: arrays for inputs that become constants, such as those that say shapes.
        sizes: what named dimensions are: a number, or the least and the largest. Others are 1 … 1,048,576.

    Types are float, int32, int64 and bool; whole numbers have 32 bits, and those of which sums or products of int64 may not fit
    are refused when they are given. Raises Unsupported naming all ops that are missing or draw random numbers, how often and
    where; BadFile for a file that is none.
    """
    import onnx

    from ._importers.onnx import movement, networks, ops, recurrent
    from ._importers.onnx.reader import Reader

    assert movement and networks and ops and recurrent  # they have filled the tables
    checked(device)
    if not isinstance(model, onnx.ModelProto):
        model = _checks.path(model, "model")
        try:
            model = onnx.load(model)
        except FileNotFoundError as error:
            raise errors.NotFound(str(error)) from error
        except Exception as error:  # whatever protobuf makes of a file that is none
            raise errors.BadFile(f"{model}: expected a model of ONNX: {error}") from error
    return loaded(Reader(model, fixed or {}, sizes or {}).read(), device)
