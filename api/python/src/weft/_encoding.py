# SPDX-License-Identifier: MIT
"""Encodings: the tokens of a text, and where in it each stands."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._core import check, ffi, lib

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    I32 = npt.NDArray[np.int32]


@dataclasses.dataclass(frozen=True, eq=False)
class Encoding:
    """The tokens of a text, or of a pair of texts: see `Model.encode`."""

    tokens: I32
    """[count]"""
    types: I32
    """[count]: 0, or 1 for the second text of a pair, as the tokenizer says."""
    offsets: I32
    """[count, 2]: the characters text[begin:end] that a token stands for; of the pair's second text where `sequences` is 1.
    Special tokens have 0, 0."""
    sequences: I32
    """[count]: 0 for tokens of the text, 1 of the pair's second, -1 for special ones."""
    cut: int
    """How many tokens truncation has removed."""

    def __len__(self) -> int:
        return len(self.tokens)


def encode(handle: Any, text: str, pair: str | None, special: bool, max_tokens: int | None) -> Encoding:
    """weft_model_encode, with offsets in characters."""
    with encoded(handle, text, pair, special, max_tokens) as (made, data):
        return _copy(made, data)


@contextlib.contextmanager
def encoded(handle: Any, text: str, pair: str | None, special: bool = True,
            max_tokens: int | None = None) -> Iterator[tuple[Any, list[bytes]]]:
    """A weft_encoding, and the bytes of both texts."""
    for name, value in (("text", text), ("pair", pair)):
        if not isinstance(value, str) and (value is not None or name == "text"):
            raise TypeError(f"{name}: expected a text, found {type(value).__name__}")
    data = [text.encode(), pair.encode() if pair is not None else b""]
    first, second = (ffi.from_buffer(item) for item in data)
    params = ffi.new("weft_encode_params *", {
        "text": ffi.cast("char *", first), "size": len(data[0]), "no_special": not special, "max_tokens": max_tokens or 0,
        "pair": ffi.cast("char *", second) if pair is not None else ffi.NULL, "pair_size": len(data[1])})
    made = ffi.new("weft_encoding *")
    with handle.lock:
        check(lib.weft_model_encode(made, handle.get(), params))
        try:
            yield made, data
        finally:
            lib.weft_encoding_free(handle.get(), made)


def tokens(handle: Any, text: str, pair: str | None) -> tuple[I32, I32, int]:
    """Token ids, their types, and how many are cut."""
    import numpy as np

    with encoded(handle, text, pair) as (made, _):
        ids, types = (np.frombuffer(ffi.buffer(array, made.count * 4), np.int32).copy() for array in (made.tokens, made.types))
        return ids, types, int(made.cut)


def _copy(made: Any, data: list[bytes]) -> Encoding:
    import numpy as np

    def array(pointer: Any, kind: Any) -> Any:
        return np.frombuffer(ffi.buffer(pointer, made.count * np.dtype(kind).itemsize), kind).copy()

    sequences = array(made.sequences, np.uint8).astype(np.int8).astype(np.int32)
    offsets = np.stack([array(made.begins, np.uint32), array(made.ends, np.uint32)], axis=1)
    for sequence, text in enumerate(data):
        # A character begins with each byte that does not go on with one; an offset within a character is its own.
        begins = (np.frombuffer(text, np.uint8) & 0xC0) != 0x80
        characters = np.concatenate([[0], np.cumsum(begins)])
        of_it = sequences == sequence
        offsets[of_it, 1] = characters[offsets[of_it, 1]]
        inside = np.concatenate([~begins, [False]])
        offsets[of_it, 0] = characters[offsets[of_it, 0]] - inside[offsets[of_it, 0]]
    return Encoding(array(made.tokens, np.int32), array(made.types, np.int32), offsets.astype(np.int32), sequences,
                    int(made.cut))
