# SPDX-License-Identifier: MIT
"""Files of models and data, written by the standard library alone."""

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

FORMATS = {"F32": "f", "I32": "i", "I64": "q"}


class Tensors(dict):
    """name -> (dtype, shape, values); values are numbers, of which the last is repeated."""

    def add(self, name, shape, values=(0.0,), dtype="F32"):
        self[name] = (dtype, list(shape), list(values))


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def safetensors(path: Path, tensors: dict[str, Any], damage=None) -> None:
    """`damage`, if any, changes the header before it is written."""
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        needed = count(shape)
        values = (values * (needed // len(values) + 1))[:needed]
        raw = struct.pack(f"<{needed}{FORMATS[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    if damage:
        damage(header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def npy(shape, values, dtype="i4"):
    text = f"{{'descr': '<{dtype}', 'fortran_order': False, 'shape': ({''.join(f'{s}, ' for s in shape)}), }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    letter = {"i4": "i", "f4": "f", "i8": "q"}[dtype]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + struct.pack(f"<{len(values)}{letter}", *values)


def npz(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name + ".npy", data)
