# SPDX-License-Identifier: MIT
"""Inputs of models as people have them: batches of transformers' tokenizers, attention masks, arrays of any package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _array, errors
from ._encoding import Encoding

if TYPE_CHECKING:
    from .model import ModelInfo

_NAMES = {"input_ids": "inputs", "pixel_values": "inputs", "token_type_ids": "types", "attention_mask": "attention_mask"}
"""What transformers calls the arguments of `Model.logits`."""

_NOT_READ = ("special_tokens_mask", "offset_mapping", "length", "overflowing_tokens", "num_truncated_tokens",
             "overflow_to_sample_mapping")
"""What a tokenizer says about its tokens: no model reads it."""


def of_batch(batch: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `Model.logits` in what a tokenizer of transformers gives."""
    for name in batch:
        if name not in _NAMES and name not in _NOT_READ:
            said = "Weft computes no loss" if name == "labels" else f"expected entries out of {', '.join(_NAMES)}"
            raise errors.InvalidArgument(f"{name}: {said}")
    if batch.get("input_ids") is not None and batch.get("pixel_values") is not None:
        raise errors.InvalidArgument("pixel_values: expected one of input_ids and pixel_values, found both: similarity() "
                                     "compares texts with images")
    given = {_NAMES[name]: array for name, array in batch.items() if name in _NAMES and array is not None}
    if "inputs" not in given:
        raise errors.InvalidArgument(f"input_ids: expected token ids, found a batch of {', '.join(batch) or 'nothing'}")
    return given


def of_call(inputs: Any, batch: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a call: of a batch, of an Encoding, or of token ids, and what is given by keyword."""
    if isinstance(inputs, Encoding):
        inputs = {"input_ids": inputs.tokens, "token_type_ids": inputs.types}
    if isinstance(inputs, Mapping):
        return of_batch({**inputs, **batch})
    return of_batch(batch if inputs is None else {"input_ids": inputs, **batch})


def several(texts: Any) -> Iterable[str]:
    """Texts that can be gone through."""
    if isinstance(texts, (bytes, bytearray)) or not isinstance(texts, Iterable):
        raise TypeError(f"texts: expected a text, or several, found {type(texts).__name__}")
    return texts


def arrays(info: ModelInfo, inputs: Any, types: Any, positions: Any, lengths: Any, attention_mask: Any) -> dict[str, Any]:
    """NumPy arrays by the names of a plan's inputs."""
    if info.image_size:
        return {"pixels": _pixels(info, inputs, types, positions, lengths, attention_mask)}
    vectors = info.input_size > 0
    values: Any = _array.f32(_even(inputs), "inputs") if vectors else _array.i32(_even(inputs), "inputs")
    found = {"features" if vectors else "tokens": values}
    if attention_mask is not None:
        if lengths is not None:
            raise errors.InvalidArgument("lengths: expected None with an attention_mask, which says the same")
        lengths = lengths_of(attention_mask, values.shape[:-1] if vectors else values.shape)
        if lengths is not None and not info.takes_lengths:
            row = int((lengths.reshape(-1) < values.shape[-2 if vectors else -1]).argmax())
            raise errors.InvalidArgument(f"attention_mask: row {row} is padded, and in this model, {info.mixing}, padding "
                                         "would change the result: give texts, or rows of one length")
    if types is not None:
        numbers = _array.i32(_even(types, "types"), "types")
        if numbers.shape != values.shape:
            raise errors.ShapeMismatch(f"types: expected shape {list(values.shape)}, found {list(numbers.shape)}")
        if numbers.any() or info.takes_types:  # zeros say what none says
            found["token_types"] = numbers
    if positions is not None:
        found["positions"] = _array.f32(positions, "positions")
    if lengths is not None:
        found["lengths"] = _array.i32(lengths, "lengths")
    return found


def _pixels(info: ModelInfo, inputs: Any, *others: Any) -> Any:
    """Those of images, which are all that their model reads."""
    if any(other is not None for other in others):
        raise errors.InvalidArgument("types, positions, lengths and attention_mask: expected None, as the model reads images")
    shape = [info.image_channels, info.image_size, info.image_size]
    values = _array.f32(inputs, "inputs")
    if list(values.shape[-3:]) != shape:
        raise errors.ShapeMismatch(f"inputs: expected pixel values {['B', *shape]}, found shape {list(values.shape)}")
    return values


def of_run(info: ModelInfo, inputs: Any, *, types: Any = None, positions: Any = None, lengths: Any = None,
           attention_mask: Any = None, **batch: Any) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Arrays for a plan by their names, whose first axis is the sequences, and the axes that were in its place: none for one
    sequence, two for choices."""
    if batch or is_batch(inputs):
        given = {"types": types, "attention_mask": attention_mask, **of_call(inputs, batch)}
        return of_run(info, given.pop("inputs"), positions=positions, lengths=lengths, **given)
    found = arrays(info, inputs, types, positions, lengths, attention_mask)
    values = next(iter(found.values()))
    inner = 3 if info.image_size else 2 if info.input_size > 0 else 1
    outer: tuple[int, ...] = values.shape[:max(0, values.ndim - inner)]
    choices = len(outer) == 2 and info.architecture.endswith("ForMultipleChoice")
    if values.ndim < inner or len(outer) > 1 + choices or 0 in values.shape:
        form = {3: "[B, channels, height, width]", 2: f"[B, n, {info.input_size}]"}.get(inner, "[B, n]")
        shape = [*([] if outer else [1]), *values.shape]
        raise errors.ShapeMismatch(f"inputs: expected shape {form}, found {shape}")
    if len(outer) != 1:
        found = {name: array.reshape(-1, *array.shape[len(outer):]) for name, array in found.items()}
    return found, outer


def _even(rows: Any, what: str = "inputs") -> Any:
    """The same, where rows that are lists are of one length."""
    if isinstance(rows, (list, tuple)) and len({len(row) for row in rows if isinstance(row, (list, tuple))}) > 1:
        lengths = [len(row) if isinstance(row, (list, tuple)) else 1 for row in rows]
        row = next(at for at, length in enumerate(lengths) if length != lengths[0])
        raise errors.ShapeMismatch(f"{what}: expected rows of one length, found {lengths[0]} in row 0 and {lengths[row]} in "
                                   f"row {row}: padding=True of a tokenizer makes them equal, and texts may have any lengths")
    return rows


def lengths_of(attention_mask: Any, shape: tuple[int, ...]) -> Any:
    """How many tokens of each row count; None: all. Raises InvalidArgument with the number of a row that is not ones and then
    zeros."""
    import numpy as np

    mask = _array._plain(_even(attention_mask, "attention_mask"), "attention_mask")
    if mask.dtype.kind not in "fiub":
        raise errors.InvalidArgument(f"attention_mask: expected numbers, found dtype {mask.dtype}")
    if mask.shape != shape or not mask.ndim:
        raise errors.ShapeMismatch(f"attention_mask: expected shape {list(shape)}, as the tokens, found {list(mask.shape)}")
    others = mask[(mask != 0) & (mask != 1)]
    if others.size:
        raise errors.InvalidArgument(f"attention_mask: expected 0 and 1, found {others[0]}")
    rows = mask.reshape(-1, shape[-1]) != 0
    counts: Any = rows.sum(1).astype(np.int32)
    wrong = (rows != (np.arange(shape[-1]) < counts[:, None])).any(1) | (counts == 0)
    if wrong.any():
        row = int(wrong.argmax())
        raise errors.InvalidArgument(f"attention_mask: row {row} {_what_is_wrong(rows[row].tolist())}")
    return None if (counts == shape[-1]).all() else counts.reshape(shape[:-1])


def _what_is_wrong(row: list[bool]) -> str:
    if not any(row):
        return "has no token"
    first = row.index(True)
    if first and all(row[first:]):
        return 'is padded on the left: expected padding on the right, as a tokenizer with padding_side="right" gives it'
    at = first + row[first:].index(False) if not first else 0
    return f"hides position {at} before tokens that count: expected ones, and then zeros"


def is_batch(given: Any) -> bool:
    """Whether it is several arrays in one."""
    return isinstance(given, (Mapping, Encoding))


def is_array(given: Any) -> bool:
    """Whether it is an array of numbers, and no texts."""
    dtype = getattr(given, "dtype", None)
    return dtype is not None and getattr(dtype, "kind", "i") in "fiub"  # PyTorch's types have no kind
