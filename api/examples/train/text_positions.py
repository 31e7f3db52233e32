# SPDX-License-Identifier: MIT
"""Trains every causal mixer on the bytes of an English text with equal numbers of parameters, and says how many bits a
byte costs at which position.

    text_positions.py RESULTS.jsonl CACHE [--model NAME …] [--seeds K] [--steps S]
    text_positions.py RESULTS.jsonl --table

A model is trained on windows of 32, 64, 128 and at last 256 bytes, and judged on held-out windows of 512, by Weft on the
model folder that was just written. Half of the held-out blocks choose the learning rate (trials.py) by the bits of bytes 1
to 255, the others are the test. A row of RESULTS.jsonl is one training. CACHE is what data_text.py reads.
"""

import math
import tempfile

import numpy as np

import mixing
import trials

LENGTHS, LONGEST, TEST_WINDOWS, TOKENS_PER_STEP = (32, 64, 128, 256, 256, 256), 512, 96, 1024
TRAINED = (1, 256)  # positions that all trainings have reached
BITS = trials.Measure("bits a byte, 1 … 255", digits=3, fewer=True, bounds=(0.0, float("inf")))
ALONE = "feed-forward alone"
BUCKETS = ((1, 32), (32, 128), (128, 256), (256, 512))
SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "tie_word_embeddings": True}
HEADS = {**SIZES, "num_attention_heads": 2, "intermediate_size": 128}
GTU = {**SIZES, "expand_ratio": 1, "gtu_norm": True, "rpe_size": 32, "feed_forward": "mlp",
       "intermediate_size": 118}

PLACED = {**HEADS, "position_embedding": "sinusoidal"}
FLT = {"model_type": "flt", "num_features": 32}

# The widths of the feed-forward parts make the parameters equal.
MODELS = {
    **mixing.with_heads(PLACED),
    "FLT": {**FLT, "position_features": 16, **HEADS},
    "FLT, sinusoids too": {**FLT, "position_features": 16, **PLACED},
    mixing.GAUSSIANS: {**FLT, "position_features": 32, **HEADS},
    mixing.LOCAL: {**FLT, "position_features": 32, **HEADS},
    "TNN": {"model_type": "tnn", **GTU, "decay": "fixed", "gamma": 0.999},
    "FD-TNN": {"model_type": "fd-tnn", **GTU, "rpe_act": "gelu", "fd_input": "cosine"},
}


def bits_by_position(logits, tokens, buckets=BUCKETS):
    """The mean of -log2 p(byte i | those before) for the positions i of each bucket."""
    logits, following = logits[:, :-1].astype(np.float64), tokens[:, 1:, None]
    top = logits.max(-1, keepdims=True)
    total = np.log(np.exp(logits - top).sum(-1)) + top[..., 0]
    nats = total - np.take_along_axis(logits, following, -1)[..., 0]
    return [round(float(nats[:, a - 1:b - 1].mean()) / math.log(2), 4) for a, b in buckets]


def trained(key, text):
    """What a row says besides its key."""
    import torch

    import train
    torch.manual_seed(key["seed"])
    model, save = mixing.module_of(key["model"], {**MODELS[key["model"]], "task": "causal_lm", "vocab_size": 256,
                                                  "max_position_embeddings": LONGEST})
    with torch.no_grad():  # logits, which are products with embeddings, begin small
        model.embeddings.tokens.weight.mul_(0.2)
    rng = np.random.default_rng(key["seed"])

    def next_batch(progress):
        length = LENGTHS[int(progress * len(LENGTHS))]
        parts = text.train_batch(rng, TOKENS_PER_STEP // length)
        return [torch.from_numpy(np.ascontiguousarray(part[:, :length])) for part in parts]

    seconds = train.optimize(model, next_batch, mixing.loss_of, key["steps"], key["rate"], every=key["steps"] // 4)
    validation, test = (windows[np.arange(TEST_WINDOWS) * len(windows) // TEST_WINDOWS].astype(np.int64)
                        for windows in text.halves(LONGEST))
    with tempfile.TemporaryDirectory() as folder:
        save(folder)
        logits = mixing.by_weft(folder, validation, test)
    return {"parameters": sum(p.numel() for p in model.parameters()),
            "validation": bits_by_position(logits[0], validation, [TRAINED])[0],
            "test": bits_by_position(logits[1], test, [TRAINED])[0],
            "bits": bits_by_position(logits[1], test), "seconds": round(seconds)}


def learner(rows):
    """The function learns(runs) of a model: whether the best of its rates costs fewer bits than the network that reads one
    byte alone, at the best of its own."""
    alone = min((row["validation"] for row in trials.matching(rows, task="text", model=ALONE, seed=0)), default=math.inf)
    return lambda runs: runs[0]["validation"] < alone or runs[0]["model"] == ALONE


def table(rows):
    """Markdown: a line for each model."""
    def of_bucket(i):
        return lambda runs: f"{np.mean([row['bits'][i] for row in runs]):.3f}"

    return trials.table_of(rows, MODELS, BITS, learner(rows),
                           [(f"{a} … {b - 1}", of_bucket(i)) for i, (a, b) in enumerate(BUCKETS)])


if __name__ == "__main__":
    trials.main_on_text(__doc__, "text", MODELS, 1000, table, trained, BITS)
