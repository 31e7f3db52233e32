# SPDX-License-Identifier: MIT
"""HyenaDNA by its formulas in float64, in the layout of its folders on Hugging Face, whose code is not part of transformers.

    hyenadna_reference.py        rewrites tests/data/models/hyenadna_causal_lm
"""

import json
import sys
from pathlib import Path

import numpy as np
import safetensors.numpy

SMALL = {
    "model_type": "hyenadna", "vocab_size": 12, "pad_vocab_size_multiple": 8, "d_model": 8, "d_inner": 14, "n_layer": 2,
    "max_seq_len": 24, "emb_dim": 5, "filter_order": 6, "hyena_order": 2, "num_inner_mlps": 2, "short_filter_order": 3,
    "train_freq": True, "activation_freq": 10, "layer_norm_epsilon": 1e-5, "use_bias": True, "tie_word_embeddings": False,
    "num_labels": 3,
}


def random_tensors(config, seed):
    """The tensors of HyenaDNAForCausalLM and of HyenaDNAForSequenceClassification."""
    rng = np.random.default_rng(seed)
    width, inner_width, positions, order = (config[name] for name in ("d_model", "d_inner", "max_seq_len", "filter_order"))
    multiple, bands = config["pad_vocab_size_multiple"], (config["emb_dim"] - 1) // 2
    padded = -(-config["vocab_size"] // multiple) * multiple

    def add(name, *shape, scale=None, around=0.0):
        scale = shape[-1] ** -0.5 if scale is None else scale
        tensors[name] = (around + scale * rng.standard_normal(shape)).astype(np.float32)

    def linear(name, outputs, inputs, bias=True):
        add(f"{name}.weight", outputs, inputs)
        if bias:
            add(f"{name}.bias", outputs, scale=0.2)

    def norm(name):
        add(f"{name}.weight", width, scale=0.2, around=1.0)
        add(f"{name}.bias", width, scale=0.2)

    tensors = {}
    add("hyena.backbone.embeddings.word_embeddings.weight", padded, width, scale=1.0)
    for layer in range(config["n_layer"]):
        at = f"hyena.backbone.layers.{layer}"
        linear(f"{at}.mixer.in_proj", 3 * width, width)
        linear(f"{at}.mixer.out_proj", width, width)
        add(f"{at}.mixer.short_filter.weight", 3 * width, 1, 3, scale=0.6)
        add(f"{at}.mixer.short_filter.bias", 3 * width, scale=0.2)
        add(f"{at}.mixer.filter_fn.bias", width, scale=0.5)
        t = np.linspace(0, 1, positions)[:, None]
        angles = 2 * np.pi * np.arange(positions)[:, None] / positions * np.linspace(1e-4, bands - 1, bands)
        tensors[f"{at}.mixer.filter_fn.pos_emb.t"] = t[None].astype(np.float32)
        position = np.concatenate([t, np.cos(angles), -np.sin(angles)], 1)
        tensors[f"{at}.mixer.filter_fn.pos_emb.z"] = position[None].astype(np.float32)
        linear(f"{at}.mixer.filter_fn.implicit_filter.0", order, config["emb_dim"])
        for inner in range(config["num_inner_mlps"]):
            linear(f"{at}.mixer.filter_fn.implicit_filter.{2 * inner + 2}", order, order)
        linear(f"{at}.mixer.filter_fn.implicit_filter.{2 * config['num_inner_mlps'] + 2}", width, order, bias=False)
        # Of the names that share it safetensors keeps one.
        add(f"{at}.mixer.filter_fn.implicit_filter.3.freq", 1, order, scale=0.3, around=3.0)
        deltas = np.linspace(np.log(1e-2) / 1.5, np.log(1e-2) / 0.3, width)
        tensors[f"{at}.mixer.filter_fn.modulation.deltas"] = deltas[None, None].astype(np.float32)
        norm(f"{at}.norm1")
        norm(f"{at}.norm2")
        linear(f"{at}.mlp.fc1", inner_width, width)
        linear(f"{at}.mlp.fc2", width, inner_width)
    norm("hyena.backbone.ln_f")
    linear("lm_head", padded, width, bias=False)
    linear("score", config["num_labels"], width, bias=False)
    return tensors


def hidden_state(config, tensors, tokens):
    """The last hidden state of tokens [n], in float64."""
    n = len(tokens)

    def get(name):
        return tensors[f"hyena.backbone.{name}"].astype(np.float64)

    def linear(x, name, bias=True):
        return x @ get(f"{name}.weight").T + (get(f"{name}.bias") if bias else 0)

    def norm(x, name):
        centered = x - x.mean(-1, keepdims=True)
        return centered / np.sqrt((centered ** 2).mean(-1, keepdims=True) + 1e-5) * get(f"{name}.weight") + get(f"{name}.bias")

    def causal(x, lags):
        """Σ over j of lags[j] x[i - j], for each channel."""
        return sum(np.concatenate([np.zeros_like(x[:j]), x[:n - j]]) * lags[j] for j in range(min(n, len(lags))))

    def operator(x, at):
        u = linear(x, f"{at}.in_proj")
        taps = get(f"{at}.short_filter.weight")[:, 0, :]
        u = causal(u, taps.T[::-1]) + get(f"{at}.short_filter.bias")
        x0, x1, v = np.split(u, 3, axis=1)
        h = get(f"{at}.filter_fn.pos_emb.z")[0, :n]
        frequency = get(f"{at}.filter_fn.implicit_filter.3.freq")
        for inner in range(config["num_inner_mlps"] + 1):
            h = np.sin(frequency * linear(h, f"{at}.filter_fn.implicit_filter.{2 * inner}"))
        h = linear(h, f"{at}.filter_fn.implicit_filter.{2 * config['num_inner_mlps'] + 2}", bias=False)
        deltas = np.abs(get(f"{at}.filter_fn.modulation.deltas")[0])
        h = h * (np.exp(-get(f"{at}.filter_fn.pos_emb.t")[0, :n] * deltas) + 0.05)
        v = v * x1
        return linear((causal(v, h) + v * get(f"{at}.filter_fn.bias")) * x0, f"{at}.out_proj")

    x = get("embeddings.word_embeddings.weight")[tokens]
    for layer in range(config["n_layer"]):
        at = f"layers.{layer}"
        x = x + operator(norm(x, f"{at}.norm1"), f"{at}.mixer")
        y = linear(norm(x, f"{at}.norm2"), f"{at}.mlp.fc1")
        y = y / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y ** 3)))
        x = x + linear(y, f"{at}.mlp.fc2")
    return norm(x, "ln_f")


def write(folder, config, tensors, name):
    """A model folder of that class."""
    folder.mkdir(parents=True, exist_ok=True)
    left_out = {"HyenaDNAForCausalLM": "score.", "HyenaDNAForSequenceClassification": "lm_head."}.get(name, "\0")
    kept = {label: values for label, values in tensors.items() if not label.startswith(left_out)}
    text = json.dumps({"architectures": [name], **config}, indent=2)
    (folder / "config.json").write_text(text + "\n")
    safetensors.numpy.save_file(kept, folder / "model.safetensors")
    return folder


def main():
    from make_model_goldens import CASES, FOLDER, save_npz

    folder, name = FOLDER / "hyenadna_causal_lm", "HyenaDNAForCausalLM"
    tensors, rng = random_tensors(SMALL, 700), np.random.default_rng(700)
    inputs, outputs = {}, {}
    for i, shape in enumerate(CASES):
        tokens = rng.integers(0, SMALL["vocab_size"], shape).astype(np.int32)
        hidden = np.stack([hidden_state(SMALL, tensors, row) for row in tokens])
        inputs[f"tokens{i}"] = tokens
        outputs[f"output{i}"] = (hidden @ tensors["lm_head.weight"].T.astype(np.float64)).astype(np.float32)
    write(Path(folder), SMALL, tensors, name)
    save_npz(folder / "input.npz", inputs)
    save_npz(folder / "expected.npz", outputs)


if __name__ == "__main__":
    sys.exit(main())
