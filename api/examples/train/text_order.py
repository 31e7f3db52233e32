# SPDX-License-Identifier: MIT
"""Trains every mixer that reads in both directions to say how the bytes of a text were shuffled. A histogram of a window
says nothing about it.

    text_order.py RESULTS.jsonl CACHE [--model NAME …] [--seeds K] [--steps S]
    text_order.py RESULTS.jsonl --table

Each window of 64 bytes is left as it is, or its bytes are shuffled within blocks of 4, within blocks of 16, or all: these
are the four labels. Chance is 25 %. A model is judged on held-out windows, each with all four labels, in the same orders as
all others, by Weft on the model folder that was just written. Half of the held-out blocks choose the learning rate
(trials.py), the others are the test. A row of RESULTS.jsonl is one training. CACHE is what data_text.py reads.
"""

import pathlib
import tempfile

import numpy as np

import mixing
import trials

LENGTH, TEST_SEED, TOKENS_PER_STEP = 64, 7, 2048
BLOCKS = (1, 4, 16, LENGTH)
CHANCE = 1 / len(BLOCKS)
SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128}
HEADS = {**SIZES, "num_attention_heads": 2, "position_embedding": "sinusoidal"}
RANDOM = {**HEADS, "num_features": 32}
GTU = {**SIZES, "expand_ratio": 1, "gtu_norm": True, "feed_forward": "mlp"}

# The widths of the feed-forward parts make the parameters equal.
MODELS = {
    **{name: config for name, config in mixing.with_heads(HEADS).items() if name not in mixing.CAUSAL_ONLY},
    "FNet": {**SIZES, "num_hidden_layers": 3, "intermediate_size": 138},
    "FLT": {"model_type": "flt", **RANDOM, "position_embedding": "none", "position_features": 16},
    "Spectraformer, OPRF-ORF": {"model_type": "spectraformer", **RANDOM, "component": "optimal", "weight_matrix": "orf"},
    "TNN": {"model_type": "tnn", **GTU, "rpe_size": 32, "decay": "fixed", "gamma": 0.999, "intermediate_size": 118},
    "FD-TNN": {"model_type": "fd-tnn", **GTU, "rpe_size": 32, "rpe_act": "gelu", "fd_input": "cosine",
               "intermediate_size": 102},
    "SKI-TNN": {"model_type": "ski-tnn", **GTU, "ski_points": 32, "ski_taps": 7, "gamma": 0.99, "intermediate_size": 123},
    "SKI-TNN, 1 tap": {"model_type": "ski-tnn", **GTU, "ski_points": 32, "ski_taps": 1, "gamma": 0.99, "intermediate_size": 126},
}


def disorder(rng, windows, labels=None):
    """(tokens, labels): each window with the label of its block size, drawn if none is given, and its bytes shuffled within
    such blocks."""
    labels = rng.integers(len(BLOCKS), size=len(windows)) if labels is None else labels
    tokens = np.array(windows, dtype=np.int64)
    for row, label in zip(tokens, labels):
        if BLOCKS[label] > 1:
            row[:] = rng.permuted(row.reshape(-1, BLOCKS[label]), axis=1).reshape(-1)
    return tokens, labels


def make_model(name):
    """(module, its function save(folder))"""
    import torch

    import train
    import weft_models
    common = {"vocab_size": 256, "max_position_embeddings": LENGTH}
    if name == "FNet":
        model = train.Fnet([str(block) for block in BLOCKS], **common, **MODELS[name])
        return model, model.save
    config = {**MODELS[name], **common, "task": "classify", "num_labels": len(BLOCKS)}
    model = weft_models.Model(config)
    return model, lambda folder: weft_models.save_model(folder, model, config, torch.float16)


def trained(key, text):
    """What a row says besides its key."""
    import torch

    import train
    torch.manual_seed(key["seed"])
    model, save = make_model(key["model"])
    rng = np.random.default_rng(key["seed"])

    def next_batch(_):
        windows, _ = text.train_batch(rng, TOKENS_PER_STEP // LENGTH)
        return [torch.from_numpy(part) for part in disorder(rng, windows[:, :LENGTH])]

    seconds = train.optimize(model, next_batch, mixing.loss_of, key["steps"], key["rate"], every=key["steps"] // 4)
    tests = [every_order(windows) for windows in text.halves(LENGTH)]
    with tempfile.TemporaryDirectory() as folder:
        save(pathlib.Path(folder))
        logits = mixing.by_weft(folder, *(tokens for tokens, _ in tests))
    right = [each.argmax(-1) == labels for each, (_, labels) in zip(logits, tests)]
    validation, test = (round(float(np.mean(of_draw)), 4) for of_draw in right)
    return {"chance": CHANCE, "parameters": sum(p.numel() for p in model.parameters()), "validation": validation, "test": test,
            "of each": [round(float(np.mean(right[1][tests[1][1] == i])), 3) for i in range(len(BLOCKS))],
            "seconds": round(seconds)}


def every_order(windows):
    """(tokens, labels): each window with all labels."""
    labels = np.tile(np.arange(len(BLOCKS)), len(windows))
    return disorder(np.random.default_rng(TEST_SEED), np.repeat(windows, len(BLOCKS), 0), labels)


def table(rows):
    """Markdown: a line for each model."""
    def of_each(i):
        return lambda runs: f"{100 * np.mean([row['of each'][i] for row in runs]):.0f}"
    names = ("as it is", "blocks of 4", "blocks of 16", "all")
    return trials.table_of(rows, MODELS, trials.RIGHT, mixing.learns, [(name, of_each(i)) for i, name in enumerate(names)])


if __name__ == "__main__":
    trials.main_on_text(__doc__, "order", MODELS, 1000, table, trained, trials.RIGHT)
