# SPDX-License-Identifier: MIT
"""Makes docs/vectors/vectors.json by Weft's Python package, or compares it with what a device gives.

python api/examples/referee/make_vectors.py [--device NAME] [--check] [--filter TEXT]
"""

from __future__ import annotations

import argparse
import functools
import sys

import numpy as np
import weft
from vectors import array_of, load, result_of, save

COUNT = 100

# Cases of which one mode is published, where both would tell little more.
ONE_MODE = {
    "reproducible": ["product of 65 terms", "product that overflows", "exp of any numbers", "elu1", "expm1", "silu of specials",
                     "softmax over the first axis", "fourier of 7 by 10", "ifft of 101", "attention of 5",
                     "attention with bias, shared heads", "elu1 kernel, causal", "hyperbolic features of keys"],
    "fused": ["products by batches, a transposed", "linear with bias", "int8-only", "tanh", "erf", "cos", "sin of any numbers",
              "softmax of 131", "layer_norm of 67", "rms_norm of 259", "fft of 6 specials", "toeplitz of 71",
              "band of 19, causal, specials", "positive features of queries"],
}


def case(name: str, op: str, inputs: dict, weights: str = "f32", /, **parameters) -> dict:
    """inputs: by name a shape and a kind of numbers, a list of whole numbers, or a shape and a bound."""
    entries = {}
    for place, (key, given) in enumerate(inputs.items()):
        weight = key.endswith("!")
        seed = sum(map(ord, name)) * 16 + place
        if isinstance(given, list):
            entry = {"values": given}
        elif isinstance(given[1], int):
            entry = {"shape": list(given[0]), "values": "below", "below": given[1], "seed": seed}
        else:
            entry = {"shape": list(given[0]), "values": given[1], "seed": seed}
        entries[key.rstrip("!")] = {**entry, "weight": True} if weight else entry
    made = {"name": name, "op": op, "inputs": entries, "parameters": parameters}
    return {**made, "weights": weights} if weights != "f32" else made


def products() -> list[dict]:
    """Matmul and linear, of float32 and of bytes."""
    return [
        case("product of one term", "matmul", {"a": ((3, 1), "wide"), "b": ((1, 5), "wide")}),
        case("product of 65 terms", "matmul", {"a": ((5, 65), "mixed"), "b": ((65, 7), "mixed")}),
        case("product of 193 terms, b transposed", "matmul", {"a": ((3, 193), "mixed"), "b": ((11, 193), "mixed")},
             transpose_b=True),
        case("products by batches, a transposed", "matmul", {"a": ((2, 67, 3), "wide"), "b": ((2, 67, 5), "wide")},
             transpose_a=True, alpha=0.3),
        case("product larger than a tile", "matmul", {"a": ((131, 70), "mixed"), "b": ((70, 67), "mixed")}),
        case("product of specials", "matmul", {"a": ((45, 7), "special"), "b": ((7, 5), "mixed")}),
        case("product of small numbers", "matmul", {"a": ((5, 40), "small"), "b": ((40, 5), "small")}),
        case("product that overflows", "matmul", {"a": ((5, 9), "huge"), "b": ((9, 5), "wide")}),
        case("linear with bias", "linear",
             {"x": ((2, 3, 129), "mixed"), "weight": ((13, 129), "mixed"), "bias": ((13,), "mixed")}),
        case("int8", "linear", {"x": ((5, 77), "mixed"), "weight!": ((9, 77), "mixed")}, "int8"),
        case("int8 of one sign", "linear", {"x": ((3, 130), "positive"), "weight!": ((67, 130), "wide")}, "int8"),
        case("int8 by columns, specials", "matmul", {"a": ((12, 21), "special"), "b!": ((21, 5), "mixed")}, "int8"),
        case("int8 of tiny rows", "linear", {"x": ((3, 5), "tiny"), "weight!": ((4, 5), "mixed")}, "int8"),
        case("int8-only", "linear", {"x": ((5, 77), "mixed"), "weight!": ((9, 77), "mixed")}, "int8-only"),
        case("embedding of bytes", "embedding", {"tokens": ((2, 9), 31), "table!": ((31, 13), "mixed")}, "int8"),
    ]


def functions() -> list[dict]:
    """Functions of one number."""
    made = [case(f"{kind} of any numbers", "activate", {"x": ((2003,), "any")}, activation=kind) for kind in ("exp", "relu")]
    made += [case(kind, "activate", {"x": ((2003,), "long")}, activation=kind)
             for kind in ("exp", "tanh", "sigmoid", "silu", "gelu_tanh", "gelu_erf", "elu1")]
    made.append(case("silu of specials", "activate", {"x": ((70,), "special")}, activation="silu"))
    made += [case(f"{op} of any numbers", "unary", {"x": ((1009,), "any")}, op=op) for op in ("sqrt", "rsqrt", "log", "sin")]
    made += [case(op, "unary", {"x": ((1009,), "long")}, op=op) for op in ("erf", "expm1", "cos")]
    made.append(case("quotients of any numbers", "binary", {"a": ((1009,), "any"), "b": ((1009,), "any")}, op="divide"))
    made.append(case("products of small numbers", "binary", {"a": ((501,), "small"), "b": ((501,), "wide")}, op="multiply"))
    made.append(case("differences of tiny numbers", "binary", {"a": ((301,), "tiny"), "b": ((301,), "tiny")}, op="subtract"))
    return made


def reductions() -> list[dict]:
    """Sums, softmax and norms."""
    return [
        case("sum of 63", "reduce", {"x": ((3, 63), "mixed")}, op="sum", axes=[1]),
        case("sum of rows of 1000", "reduce", {"x": ((3, 1000), "wide")}, op="sum", axes=[1]),
        case("sum of rows of 4801", "reduce", {"x": ((2, 4801), "mixed")}, op="sum", axes=[1]),
        case("mean of columns of 300", "reduce", {"x": ((300, 5), "mixed")}, op="mean", axes=[0]),
        case("mean with lengths", "reduce", {"x": ((3, 283, 5), "mixed"), "lengths": [283, 1, 230]}, op="mean", axes=[1]),
        case("squares over the outer axes", "reduce", {"x": ((7, 3, 131), "mixed")}, op="sum_of_squares", axes=[0, 2]),
        case("sum of sizes", "reduce", {"x": ((5, 19, 3), "mixed")}, op="sum_of_sizes", axes=[0, 1]),
        case("product of 129", "reduce", {"x": ((3, 129), "near one")}, op="product", axes=[1]),
        case("largest of specials", "reduce", {"x": ((40, 3), "special")}, op="max", axes=[1]),
        case("softmax of 131", "softmax", {"x": ((5, 131), "mixed")}),
        case("softmax of 2309", "softmax", {"x": ((2, 2309), "mixed")}),
        case("softmax of specials", "softmax", {"x": ((17, 4), "special")}),
        case("log_softmax over the last axis but those of extent 1", "log_softmax", {"x": ((3, 41, 1), "mixed")}, axis=1),
        case("sums of single numbers", "reduce", {"x": ((70, 1), "special")}, op="sum", axes=[1]),
        case("softmax over the first axis", "softmax_axis", {"x": ((37, 6), "mixed")}, axis=0),
        case("layer_norm of 67", "layer_norm", {"x": ((5, 67), "mixed"), "gamma": ((67,), "mixed"), "beta": ((67,), "mixed")},
             epsilon=1e-12),
        case("layer_norm of 2311", "layer_norm",
             {"x": ((2, 2311), "mixed"), "gamma": ((2311,), "mixed"), "beta": ((2311,), "mixed")}, epsilon=1e-5),
        case("rms_norm of 259", "rms_norm", {"x": ((31, 259), "mixed"), "gain": ((259,), "mixed")}, epsilon=1e-6),
        case("simple_rms_norm of specials", "simple_rms_norm", {"x": ((29, 3), "special")}),
        case("scale_norm of 130", "scale_norm", {"x": ((31, 130), "mixed"), "gain": ((1,), "narrow")}, epsilon=1e-5),
    ]


def mixers() -> list[dict]:
    """Transforms, Toeplitz matrices, attention, features."""
    def qkv(n: int, d: int, kv: int = 0, values: str = "mixed") -> dict:
        return {"q": ((2, n, d), "narrow"), "k": ((2, n, kv or d), "narrow"), "v": ((2, n, kv or d), values)}

    def features(n: int, m: int, d: int) -> dict:
        return {"q_features": ((2, n, m), "positive"), "k_features": ((2, n, m), "positive"), "v": ((2, n, d), "mixed")}

    return [
        case("fourier of 7 by 10", "fourier", {"x": ((2, 7, 10), "mixed")}),
        case("fourier of 37 by 53", "fourier", {"x": ((1, 37, 53), "mixed")}),
        case("rfft of 15", "rfft", {"x": ((3, 15), "mixed")}),
        case("irfft of 34", "irfft", {"x": ((2, 18, 2), "mixed")}, n=34),
        case("ifft of 101", "ifft", {"x": ((2, 101, 2), "mixed")}),
        case("fft of 6 specials", "fft", {"x": ((8, 6, 2), "special")}),
        case("toeplitz of 71", "toeplitz", {"x": ((2, 71, 3), "mixed"), "coefficients": ((145, 3), "mixed")}),
        case("toeplitz, causal, with decay", "toeplitz",
             {"x": ((2, 131, 3), "mixed"), "coefficients": ((131, 3), "mixed"), "decay": ((3,), "near one")}, causal=True),
        case("attention of 5", "attention", qkv(5, 6), heads=2),
        case("attention of 67, lengths", "attention", {**qkv(67, 8), "lengths": [67, 31]}, heads=2),
        case("attention with bias, shared heads", "attention", {**qkv(19, 12, kv=4), "bias": ((3, 19, 19), "mixed")}, heads=3,
             kv_heads=1, causal=True),
        case("attention, causal", "attention", qkv(41, 10), heads=2, causal=True),
        case("band of 5", "banded_attention", {**qkv(45, 6, values="top"), "lengths": [45, 18]}, half_width=5, scale=0.7),
        case("band of 19, causal, specials", "banded_attention", qkv(53, 4, values="special"), heads=2, half_width=19,
             causal=True),
        case("linear attention of 300", "linear_attention", features(300, 5, 3)),
        case("linear attention, causal", "linear_attention", features(150, 6, 4), heads=2, causal=True),
        case("elu1 and tanh kernels", "kernel_attention", {**qkv(70, 4), "lengths": [70, 33]},
             kernels=[["elu1", 0.6], ["tanh", 0.3]], heads=2),
        case("elu1 kernel, causal", "kernel_attention", qkv(67, 5), kernels=[["elu1", 1.0]], causal=True),
        case("trigonometric features", "random_features", {"x": ((2, 9, 6), "mixed"), "w": ((11, 3), "mixed")}, heads=2),
        case("positive features of queries", "random_features", {"x": ((2, 9, 6), "narrow"), "w": ((13, 3), "narrow")}, heads=2,
             component="positive", stabilizer="query", epsilon=1e-6),
        case("hyperbolic features of keys", "random_features",
             {"x": ((2, 9, 6), "narrow"), "w": ((7, 6), "narrow"), "lengths": [9, 4]}, component="hyperbolic",
             stabilizer="key"),
        case("optimal features", "random_features",
             {"x": ((2, 261, 130), "narrow"), "w": ((6, 130), "narrow"), "other": ((2, 31, 130), "narrow"), "lengths": [261, 131],
              "other_lengths": [17, 31]}, component="optimal", stabilizer="key", epsilon=1e-6),
    ]


def run(device: weft.Device, vector: dict) -> np.ndarray:
    """The vector's result by a device."""
    graph = weft.Graph()
    given, tensors = {}, {}
    for name, entry in vector["inputs"].items():
        array = array_of(entry)
        if entry.get("weight"):
            tensors[name] = graph.weight(array)
        else:
            given[name] = array
            tensors[name] = graph.input(name, array.shape, "i32" if array.dtype == np.int32 else "f32")
    parameters = dict(vector["parameters"])
    if "kernels" in parameters:
        parameters["kernels"] = [weft.Kernel(map=name, weight=weight) for name, weight in parameters["kernels"]]
    if vector["op"] == "unary":
        parameters.update(alpha=0.0, beta=0.0)
    graph.output("y", getattr(weft, vector["op"])(**tensors, **parameters))
    return np.asarray(graph.compile(device).run(given)["y"])


@functools.cache
def device_of(name: str, math: str, weights: str) -> weft.Device:
    """Opened once."""
    return weft.Device(name, math=math, weights=weights)


def make(name: str, chosen: str) -> list[dict]:
    """All vectors: of a case whose modes differ one for each, or that of ONE_MODE."""
    made = []
    for vector in products() + functions() + reductions() + mixers():
        if chosen not in vector["name"]:
            continue
        results = {math: result_of(run(device_of(name, math, vector.get("weights", "f32")), vector))
                   for math in ("reproducible", "fused")}
        if results["reproducible"] == results["fused"]:
            results = {"both": results["fused"]}
        left_out = [other for other in results for math, names in ONE_MODE.items() if vector["name"] in names and other != math]
        made += [{**vector, "math": math, "result": result} for math, result in results.items() if math not in left_out]
    return made


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Makes docs/vectors/vectors.json by Weft, or compares it.")
    parser.add_argument("--device", default="processor")
    parser.add_argument("--check", action="store_true", help="compare with the file, and write nothing")
    parser.add_argument("--filter", default="", help="with --check: vectors whose name has this text")
    given = parser.parse_args()
    made = make(given.device, given.filter if given.check else "")
    if not given.check:
        if len(made) != COUNT:
            sys.exit(f"{len(made)} vectors, not {COUNT}")
        save(made)
        return 0
    there = {(vector["name"], vector["math"]): vector for vector in load() if given.filter in vector["name"]}
    now = {(vector["name"], vector["math"]): vector for vector in made}
    differ = [key for key in there.keys() | now.keys() if there.get(key) != now.get(key)]
    for name, math in sorted(differ):
        print(f"{name} ({math}): the device gives another result than the file")
    print(f"{len(there) - len(differ)} of {len(there)} vectors are the device's")
    return 1 if differ or not there else 0


if __name__ == "__main__":
    sys.exit(main())
