# SPDX-License-Identifier: MIT
"""Models of ONNX."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _checks, errors
from .device import checked
from .program import Program

if TYPE_CHECKING:
    import onnx

    from ._importers.onnx.reader import Reader
    from ._importers.onnx.types import Choices
    from .device import Device


def from_onnx(model: str | os.PathLike[str] | onnx.ModelProto, device: Device | None = None, *,
              fixed: Mapping[str, Any] | None = None, sizes: Mapping[str, Any] | None = None, random_as_inputs: bool = False,
              doubles_as_floats: bool = False, texts_as_indices: bool = False) -> Program:
    """A program of a model of ONNX, by the package onnx.

    Args:
        model: a file, or what the package onnx has read.
        device: what it will run on; None: the default device.
        fixed: arrays for inputs that become constants, such as those that say shapes.
        sizes: what free axes are, by the names of the file, or "INPUT_AXIS" for an axis without one: a number, or the least and
            the largest. Others are what the model's windows need … 1,048,576. By the name of an input also its shape, with None
            for axes that stay as they are.
        random_as_inputs: whether ops that draw random numbers become inputs, behind the others and named as the ops' results:
            of the normal distribution with mean 0 and deviation 1, or uniform from 0 to 1. Otherwise they are refused.
        doubles_as_floats: whether double is taken for float, in inputs and in arithmetic; otherwise that is refused.
        texts_as_indices: whether classes that are texts become their places in the list of them; otherwise that is refused.

    Types are float, int32, int64 and bool, and bytes where ops of quantized numbers take them; float16 is computed in float32,
    and rounded where the model casts to it; maps of ZipMap are arrays with a column for each class. Whole numbers have 32 bits,
    and those of which sums or products of int64 may not fit are refused when they are given. Branches whose condition is known
    are read, and loops of known trips unrolled. Raises Unsupported naming all ops that are missing or draw random numbers, how
    often and where; BadFile for a file that is none.
    """
    checked(device)
    from ._importers.onnx.trial import tried
    from ._importers.onnx.types import Choices

    return tried(_reader(model, fixed, sizes, Choices(random_as_inputs, doubles_as_floats, texts_as_indices)), device)


def _reader(model: Any, fixed: Mapping[str, Any] | None, sizes: Mapping[str, Any] | None, choices: Choices) -> Reader:
    from ._importers.onnx import rows
    from ._importers.onnx.reader import Reader

    assert rows  # it has filled the tables
    return Reader(_proto(model), fixed or {}, sizes or {}, choices)


def _proto(model: Any) -> onnx.ModelProto:
    import onnx

    if isinstance(model, onnx.ModelProto):
        return model
    model = _checks.path(model, "model")
    try:
        return onnx.load(model)
    except FileNotFoundError as error:
        raise errors.NotFound(str(error)) from error
    except Exception as error:  # whatever protobuf makes of a file that is none
        raise errors.BadFile(f"{model}: expected a model of ONNX: {error}") from error


if __name__ == "__main__":
    from ._importers.onnx.command import main

    main()
