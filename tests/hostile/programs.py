# SPDX-License-Identifier: MIT
"""Folders of programs with a task (docs/programs.md), most of them nearly right."""

import files

TASKS = ["hidden", "classify", "masked_lm", "next_sentence", "causal_lm", "regress", "classify_tokens"]
VOCABULARY, WIDTH = 260, 8
UNARY = "neg abs sign square sqrt rsqrt reciprocal log log1p expm1 sin cos tan erf floor ceil round".split()
BINARY = "add subtract multiply divide minimum maximum power modulo floor_divide".split()
# Sizes of axes that are right for one length alone, or for none.
ODD = ["length * 4", "max(1, 65 - length)", "length * length", "max(1, 4096 // (length * length))", "length % 7 + 1",
       "4 - min(3, length // 40)", "2147483647", "length + 1", "batch * length", "1"]


def keeps(r, x):
    """A node that gives what it takes the same shape, [batch, length, 8]."""
    lengths = r.choice(["", "lengths"])
    flag, heads = r.random() < 0.5, r.choice([1, 2, 4, 8])
    return r.choice([
        lambda: {"op": "unary", "inputs": [x], "kind": r.choice(UNARY)},
        lambda: {"op": "binary", "inputs": [x, r.choice([x, "h", "v8", "one"])], "kind": r.choice(BINARY)},
        lambda: {"op": "affine", "inputs": [x], "scale": r.choice([1, -1, 0.5, 1e30]), "offset": r.choice([0, 1, 1e-40])},
        lambda: {"op": "activation", "inputs": [x], "activation": r.choice(["gelu_tanh", "gelu_erf", "silu", "elu1"])},
        lambda: {"op": "layer_norm", "inputs": [x, "v8", "v8"], "epsilon": r.choice([0, 1e-5, 1e-30])},
        lambda: {"op": "rms_norm", "inputs": [x, "v8"], "epsilon": 1e-5},
        lambda: {"op": "softmax", "inputs": [x]},
        lambda: {"op": "attention", "inputs": [x, x, x, lengths], "heads": heads, "scale": 0, "causal": flag},
        lambda: {"op": "linear_attention", "inputs": [x, x, x, lengths], "heads": heads, "causal": flag, "epsilon": 1e-6},
        lambda: {"op": "banded_attention", "inputs": [x, x, x, lengths], "heads": heads, "causal": flag, "scale": 0,
                 "half_width": r.choice([0, 0, 0, 1, 4294967295])},
        lambda: {"op": "conv1d", "inputs": [x, "taps", "v8", lengths], "causal": flag},
        lambda: {"op": "gated_state", "inputs": [x, x, x, "", "", x, "", "", lengths], "heads": heads, "q_heads": heads,
                 "k_heads": heads, "scale": 0, "read_first": flag},
        lambda: {"op": "selective_scan", "inputs": [x, x, "w8", x, x, "", lengths]},
        lambda: {"op": "recurrence", "inputs": [x, "w8", "v8", "", lengths], "cell": r.choice(["tanh", "relu"]), "reverse": flag},
        lambda: {"op": "matmul", "inputs": [x, "w8"], "alpha": 1, "transpose_b": flag},
        lambda: {"op": "mask", "inputs": [x, "lengths"]},
        lambda: {"op": "cumsum", "inputs": [x], "axis": r.randrange(3), "exclusive": flag, "reverse": not flag},
        lambda: {"op": "rope", "inputs": [x], "heads": r.choice([1, 2, 4]), "base": 10000, "interleaved": flag, "scale_factor": 1,
                 "scale_length": 0, "scale_low": 0, "offset": r.choice([0, 5, -2147483648])},
    ])()


def wild(r, x):
    """A node that gives another shape, or none."""
    axis, size = r.randrange(4), r.choice(ODD)
    return r.choice([
        lambda: {"op": "reshape", "inputs": [x], "shape": ["batch", size]},
        lambda: {"op": "reshape", "inputs": [x], "shape": ["length", "batch", WIDTH]},
        lambda: {"op": "slice", "inputs": [x], "axis": axis, "start": r.choice([0, 1, "length - 1", 4294967295]), "count": size, "step": 1},
        lambda: {"op": "pad", "inputs": [x], "axis": axis, "before": r.choice([0, 1, 63, 4294967295]), "after": r.choice([0, 1, 64]), "value": 0},
        lambda: {"op": "expand", "inputs": ["one"], "shape": ["batch", size, WIDTH]},
        lambda: {"op": "concat", "inputs": [x, x], "axis": axis},
        lambda: {"op": "permute", "inputs": [x], "axes": r.sample(range(3), 3)},
        lambda: {"op": "full", "shape": ["batch", size, WIDTH], "value": r.choice([0.5, 1e30, 7])},
        lambda: {"op": "take", "inputs": [x, "odd"], "axis": axis},
        lambda: {"op": "top_k", "inputs": [x], "axis": axis, "count": size, "smallest": r.random() < 0.5},
        lambda: {"op": "expert_linear", "inputs": [x, r.choice(["odd", "tokens"]), "w8"], "experts": r.choice([1, 2, 0, 4294967295])},
        lambda: {"op": "reduce", "inputs": [x], "kind": r.choice(["sum", "mean", "max"]), "axes": [axis], "keep_axes": r.random() < 0.5},
        lambda: {"op": "positions", "quantity": r.choice(["lag", "lag_exp", "cosine"]), "first": r.choice([0, -2147483648, 2147483647]),
                 "count": r.choice([1, "length", 100]), "divisor": r.choice([1, 0, 4294967295])},
        lambda: {"op": r.choice(["rfft", "fft", "fourier", "argmax", "matmul", "toeplitz"]), "inputs": [x, x][:r.choice([1, 2])]},
    ])()


def closers(r, task, x):
    """Nodes that end in "y", in the shape of the task; at times in another one."""
    columns = {"masked_lm": VOCABULARY, "causal_lm": VOCABULARY, "next_sentence": 2}.get(task, WIDTH)
    head = {VOCABULARY: "head", 2: "pair"}.get(columns, "w8")
    nodes = [{"op": "matmul", "inputs": [x, head], "alpha": 1, "transpose_b": False, "output": "z"}]
    if task in ("classify", "next_sentence", "regress"):
        nodes.append({"op": "reduce", "inputs": ["z"], "kind": "mean", "axes": [1], "keep_axes": False, "output": "s"})
    last = nodes[-1]["output"]
    axis = 1 if last == "s" else 2
    if r.random() < 0.15:
        return nodes + [r.choice([
            {"op": "slice", "inputs": [last], "axis": axis, "start": 0, "count": r.choice(ODD), "step": 1, "output": "y"},
            {"op": "reshape", "inputs": [last], "shape": ["batch", "length", r.choice(ODD)], "output": "y"},
            {"op": "expand", "inputs": ["one"], "shape": ["batch", r.choice(ODD), columns], "output": "y"},
        ])]
    return nodes + [{"op": "affine", "inputs": [last], "scale": 1, "offset": 0, "output": "y"}]


def make(r, folder, tokenizer_class):
    task = r.choice(TASKS)
    nodes = [{"op": "full", "shape": ["batch"], "value": r.choice([0, 3, -5, 2147483647]), "dtype": "i32", "output": "odd"},
             {"op": "embedding", "inputs": ["tokens", "table"], "output": "h"}]
    x = "h"
    for i in range(r.randrange(5)):
        node = (wild if r.random() < 0.07 else keeps)(r, x)
        node["output"] = f"o{i}"
        nodes.append(node)
        x = node["output"] if r.random() < 0.9 else x
    nodes += closers(r, task, x)
    config = {
        "model_type": "program", "format": 1, "task": task, "vocab_size": VOCABULARY, "tokenizer_class": tokenizer_class,
        "symbols": {"batch": {"min": 1, "max": r.choice([1, 4, 64, 2147483647]), "example": 1},
                    "length": {"min": 1, "max": r.choice([8, 64, 512, 2147483647]), "example": r.choice([1, 2, 5])}},
        "inputs": [{"name": "tokens", "dtype": "i32", "shape": ["batch", "length"]},
                   {"name": "lengths", "dtype": "i32", "shape": ["batch"]}],
        "nodes": nodes, "outputs": [{"name": "output", "value": "y"}]}
    if r.random() < 0.3 and task in ("classify", "regress", "classify_tokens"):
        labels = r.choice([WIDTH] * 6 + [1, 2])
        config["id2label"] = {str(i): r.choice(["O", "B-x", "I-x", "\u001b[31m", "=1+1"]) for i in range(labels)}
    tensors = files.Tensors()
    some = [r.uniform(-1, 1) for _ in range(97)]
    for name, shape in {"table": [VOCABULARY, WIDTH], "w8": [WIDTH, WIDTH], "head": [WIDTH, VOCABULARY], "pair": [WIDTH, 2],
                        "v8": [WIDTH], "taps": [WIDTH, 3], "one": [1]}.items():
        tensors.add(name, shape, some)
    return config, tensors
