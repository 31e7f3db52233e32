# SPDX-License-Identifier: MIT
"""Rows for ONNX's ops that draw random numbers, where the caller gives these."""

from __future__ import annotations

from typing import Any

from ..program.program import Value
from .reader import Reader, row


def _drawn(r: Reader, shape: Any, normal: bool) -> Value:
    """An input of standard numbers, moved to where the op wants them."""
    found = r.program.input(r.node.output[0], "f32", shape)
    if normal:
        return r.build.affine(found, float(r.attribute("scale", 1.0)), float(r.attribute("mean", 0.0)))
    low, high = float(r.attribute("low", 0.0)), float(r.attribute("high", 1.0))
    return r.build.affine(found, high - low, low)


@row("RandomNormal", "RandomUniform")
def _random(r: Reader) -> Value:
    r.attribute("dtype")
    return _drawn(r, [int(extent) for extent in r.attribute("shape")], r.node.op_type == "RandomNormal")


@row("RandomNormalLike", "RandomUniformLike")
def _random_like(r: Reader, x: Any) -> Value:
    r.attribute("dtype")
    return _drawn(r, r.value(x).shape, r.node.op_type == "RandomNormalLike")
