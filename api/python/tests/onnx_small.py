# SPDX-License-Identifier: MIT
"""Small models of ONNX for tests: a few nodes, inputs with free axes, and what onnx's reference makes of them."""

import warnings

import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto, helper, numpy_helper

import weft

KINDS = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "u8": TensorProto.UINT8, "i8": TensorProto.INT8,
         "d": TensorProto.DOUBLE, "h": TensorProto.FLOAT16, "b": TensorProto.BOOL}
MICROSOFT, ML = "com.microsoft", "ai.onnx.ml"


def port(name, shape, kind="f"):
    return helper.make_tensor_value_info(name, KINDS[kind], shape)


def model(nodes, inputs, constants=(), opset=18, outputs=("y",), kinds=()):
    """Inputs are shapes by name, of floats unless `kinds` says otherwise; constants are arrays by name."""
    kinds = dict(kinds)
    graph = helper.make_graph(nodes, "g", [port(name, shape, kinds.get(name, "f")) for name, shape in inputs.items()],
                              [port(name, None, kinds.get(name, "f")) for name in outputs],
                              [numpy_helper.from_array(np.asarray(one), name) for name, one in dict(constants).items()])
    domains = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1), helper.make_opsetid(ML, 3)]
    return helper.make_model(graph, opset_imports=domains, ir_version=8)


def reference(made, arrays):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return onnx.reference.ReferenceEvaluator(made).run(None, arrays)


def found(made, arrays, device, **choices):
    """All outputs, in order."""
    with weft.from_onnx(made, device, **choices) as program:
        results = program.run({name: array for name, array in arrays.items() if name in program.inputs})
        return [results[one.name] for one in made.graph.output]


def check(made, shapes, device, rtol=1e-5, atol=1e-5, seed=0, **choices):
    """Compares with the reference for several shapes of all inputs, given as {name: shape}."""
    rng = np.random.default_rng(seed)
    with weft.from_onnx(made, device, **choices) as program:
        for given in shapes:
            arrays = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in given.items()}
            for one, expected in zip(program.run(arrays).values(), reference(made, arrays)):
                assert one.shape == expected.shape, (given, one.shape, expected.shape)
                np.testing.assert_allclose(one, expected, rtol=rtol, atol=atol, err_msg=str(given))
        return program.config
