# SPDX-License-Identifier: MIT
"""All rows of ONNX's ops: whoever imports this has the tables full."""

from . import (
    branches,
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

ALL = (branches, fused, movement, networks, ops, padding, quantized, random, recurrent, resize, sampling, scatter, sequences,
       shapes, states, tables, trees)
