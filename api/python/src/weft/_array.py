# SPDX-License-Identifier: MIT
"""Arrays of others as NumPy's: without a copy where type and layout allow it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import errors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]
    I32 = npt.NDArray[np.int32]
    F16 = npt.NDArray[np.float16]
    U8 = npt.NDArray[np.uint8]

    from ._shapes import DType

NUMPY = {"f32": "float32", "i32": "int32", "f16": "float16", "u8": "uint8"}
"""The names of Weft's types in NumPy."""


def _plain(value: Any, what: str, narrow: bool = False) -> Any:
    """A NumPy array of the same memory where there is one; narrow: also of float16."""
    import numpy as np

    if isinstance(value, np.ndarray):
        if np.ma.is_masked(value):
            raise errors.InvalidArgument(f"{what}: expected numbers everywhere, found a masked array: see its method filled")
        return value
    if isinstance(value, Mapping):  # what a tokenizer of transformers gives, or a batch
        names = ", ".join(map(str, value))
        raise errors.InvalidArgument(f"{what}: expected one array, found {type(value).__name__} of {names}: give its arrays "
                                     "one by one, such as its input_ids")
    if hasattr(value, "detach"):  # PyTorch's, which may want a gradient or be on a GPU
        return _of_torch(value, what, narrow)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def dense(value: Any) -> Any:
    """A tensor of PyTorch's on the host whose memory holds its numbers: conjugates and negatives may only be marked as such."""
    return value.detach().cpu().resolve_conj().resolve_neg()


def _of_torch(value: Any, what: str, narrow: bool) -> Any:
    try:
        value = dense(value)
        kept = narrow and str(value.dtype) == "torch.float16"
        if value.is_floating_point() and value.element_size() < 4 and not kept:  # NumPy has no bfloat16
            value = value.float()
        return value.numpy()  # which refuses tensors without numbers in memory, unlike DLPack
    except (TypeError, ValueError, RuntimeError) as error:
        raise errors.InvalidArgument(f"{what}: expected a dense tensor with numbers, found {type(value).__name__}: "
                                     f"{error}") from error


def f32(value: Any, what: str) -> F32:
    """Dense float32. Other numbers are converted, f64 rounded to nearest."""
    import numpy as np

    array = _plain(value, what)
    if array.dtype == np.float32 and array.flags.carray and type(array) is np.ndarray:
        return array
    if array.dtype.kind not in "fiub":
        raise errors.InvalidArgument(f"{what}: expected numbers, found dtype {array.dtype}")
    return np.require(array, np.float32, ["C", "A"])


def i32(value: Any, what: str) -> I32:
    """Dense int32, of truth values and any integers that fit."""
    import numpy as np

    array = _plain(value, what)
    if array.dtype.kind not in "iub" and array.size:
        raise errors.InvalidArgument(f"{what}: expected integers, found dtype {array.dtype}")
    if array.size and array.dtype.kind in "iu" and array.dtype != np.int32:
        bounds = np.iinfo(np.int32)
        if array.min() < bounds.min or array.max() > bounds.max:
            raise errors.InvalidArgument(f"{what}: expected integers of 32 bits, found {array.min()} … {array.max()}")
    return np.require(array, np.int32, ["C", "A"])


def f16(value: Any, what: str) -> F16:
    """Dense float16: of nothing else, as other numbers would lose digits."""
    array: F16 = _only(_plain(value, what, narrow=True), "float16", what)
    return array


def u8(value: Any, what: str) -> U8:
    """Dense uint8: of nothing else, as other numbers may not fit."""
    array: U8 = _only(_plain(value, what), "uint8", what)
    return array


class Stored(NamedTuple):
    """Elements of a weight, and how they are stored: float16 as "f16", bfloat16 as "bf16" in uint16, others as "whole"."""

    elements: Any
    kind: str


def stored(value: Any, what: str) -> Stored:
    """How a weight of these numbers is stored."""
    import numpy as np

    if isinstance(value, Stored):
        return value
    if hasattr(value, "detach") and str(value.dtype) == "torch.bfloat16":
        import torch

        array, kept = dense(value).contiguous().view(torch.int16).numpy().view(np.uint16), "bf16"
    else:
        array, kept = _plain(value, what, narrow=True), "whole"
        if array.dtype.name == "bfloat16":  # of the package ml_dtypes
            array, kept = array.view(np.uint16), "bf16"
        elif array.dtype == np.float16:
            kept = "f16"
        elif array.dtype.kind in "iu":
            array = i32(array, what)
        else:
            array = f32(array, what)
    return Stored(np.require(array, array.dtype.newbyteorder("="), ["C", "A"]), kept)


def widened(weight: Stored) -> Any:
    """The numbers of `stored`."""
    import numpy as np

    return (weight.elements.astype(np.uint32) << 16).view(np.float32) if weight.kind == "bf16" else weight.elements


def _only(array: Any, dtype: str, what: str) -> Any:
    import numpy as np

    if array.dtype != dtype:
        raise errors.InvalidArgument(f"{what}: expected dtype {dtype}, found {array.dtype}")
    return np.require(array, dtype, ["C", "A"])


def of(dtype: DType, value: Any, what: str) -> Any:
    """Dense elements of one of Weft's types."""
    return {"f32": f32, "i32": i32, "f16": f16, "u8": u8}[dtype](value, what)
