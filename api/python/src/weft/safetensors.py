# SPDX-License-Identifier: MIT
"""Bytes of safetensors: leaving tensors out. Everything else about the format is the business of its own package."""

from __future__ import annotations

import json
import struct
from typing import Any


def without(data: Any, prefixes: tuple[str, ...]) -> bytes:
    """The same file without the tensors whose names begin so."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(bytes(data[8:8 + length]))
    body = memoryview(data)[8 + length:]
    kept: dict[str, Any] = {}
    parts: list[memoryview] = []
    offset = 0
    for name, tensor in header.items():
        if name == "__metadata__" or name.startswith(prefixes):
            continue
        begin, end = tensor["data_offsets"]
        kept[name] = {**tensor, "data_offsets": [offset, offset + end - begin]}
        parts.append(body[begin:end])
        offset += end - begin
    text = json.dumps(kept).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])
