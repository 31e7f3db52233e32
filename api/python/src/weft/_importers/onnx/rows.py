# SPDX-License-Identifier: MIT
"""All rows of ONNX's ops: whoever imports this has the tables full."""

from . import (
    branches,
    fourier,
    fused,
    movement,
    networks,
    ops,
    padding,
    quantized,
    random,
    recurrent,
    resize,
    sampling,
    scatter,
    sequences,
    shapes,
    states,
    tables,
    trees,
)

ALL = (branches, fourier, fused, movement, networks, ops, padding, quantized, random, recurrent, resize, sampling, scatter,
       sequences, shapes, states, tables, trees)
