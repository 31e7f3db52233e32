# SPDX-License-Identifier: MIT
"""Models of ONNX."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from . import errors
from ._program import Program

if TYPE_CHECKING:
    import onnx


def program_of(model: Union[str, os.PathLike[str], onnx.ModelProto], fixed: Mapping[str, Any], sizes: Mapping[str, Any]) -> Program:
    """The program of a model. See `from_onnx`."""
    import onnx

    from . import _onnx_movement, _onnx_networks, _onnx_ops
    from ._onnx_reader import Reader

    assert _onnx_ops and _onnx_movement and _onnx_networks  # they have filled the tables
    if not isinstance(model, onnx.ModelProto):
        try:
            model = onnx.load(os.fspath(model))
        except FileNotFoundError as error:
            raise errors.NotFound(str(error)) from error
        except Exception as error:  # whatever protobuf makes of a file that is none
            raise errors.BadFile(f"{os.fspath(model)}: expected a model of ONNX: {error}") from error
    return Reader(model, fixed, sizes).read()
