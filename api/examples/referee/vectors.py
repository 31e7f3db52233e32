# SPDX-License-Identifier: MIT
"""The vectors' inputs, by the generator of docs/vectors/README.md, and how a result is written down."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).resolve().parents[3] / "docs" / "vectors" / "vectors.json"

# The least exponent of a kind of numbers, as encoded, and how many there are.
KINDS = {"mixed": (120, 10), "narrow": (125, 3), "wide": (100, 54), "long": (121, 13), "small": (50, 30), "tiny": (0, 8),
         "huge": (185, 69), "top": (251, 4), "positive": (122, 8), "near one": (126, 1)}
UNSIGNED = ("positive", "near one")
SPECIAL = (0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001,
           0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0xBF800000)


def words(seed: int, count: int) -> np.ndarray:
    """Numbers of 32 bits: a hash of seed and place."""
    x = (np.arange(count, dtype=np.uint64) + np.uint64(seed * 0x9E3779B9 & 0xFFFFFFFF)) & np.uint64(0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x ^= x >> np.uint64(shift)
        x = x * np.uint64(factor) & np.uint64(0xFFFFFFFF)
    return x ^ x >> np.uint64(16)


def numbers(kind: str, seed: int, count: int) -> np.ndarray:
    """float32 of a kind."""
    u = words(seed, count)
    if kind == "any":
        return u.astype(np.uint32).view(np.float32)
    least, span = KINDS["mixed" if kind == "special" else kind]
    exponent = np.uint64(least) + ((u >> np.uint64(23) & np.uint64(255)) * np.uint64(span) >> np.uint64(8))
    encoded = (u & np.uint64(0x007FFFFF)) | exponent << np.uint64(23)
    if kind not in UNSIGNED:
        encoded |= u & np.uint64(0x80000000)
    encoded = encoded.astype(np.uint32)
    if kind == "special":
        places = np.arange(3, count, 5)
        encoded[places] = np.array(SPECIAL, np.uint32)[places // 5 % len(SPECIAL)]
    return encoded.view(np.float32)


def array_of(entry: dict) -> np.ndarray:
    """An input."""
    if isinstance(entry["values"], list):
        return np.array(entry["values"], np.int32)
    shape = entry["shape"]
    count = int(np.prod(shape))
    if entry["values"] == "below":
        return (words(entry["seed"], count) % np.uint64(entry["below"])).astype(np.int32).reshape(shape)
    return numbers(entry["values"], entry["seed"], count).reshape(shape)


def result_of(x: np.ndarray) -> dict:
    """What the file says of a result."""
    encoded = np.ascontiguousarray(x, "<f4").view("<u4").reshape(-1)
    sha256 = hashlib.sha256(encoded.tobytes()).hexdigest()
    return {"shape": list(x.shape), "sha256": sha256, "first": [f"{word:08x}" for word in encoded[:8]]}


def load(path: Path = FILE) -> list[dict]:
    """All vectors."""
    return json.loads(path.read_text("utf-8"))


def save(vectors: list[dict], path: Path = FILE) -> None:
    """A vector a line."""
    path.write_text("[\n" + ",\n".join(json.dumps(vector) for vector in vectors) + "\n]\n", "utf-8")
