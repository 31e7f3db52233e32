# SPDX-License-Identifier: MIT
"""Trains FNet and its siblings to say the masked bytes of an English text: the paper's Table 2 in small.

    text_masked.py RESULTS.jsonl CACHE [--model NAME …] [--seeds K] [--steps S]
    text_masked.py RESULTS.jsonl --table

Of each window of 128 bytes 15 % are replaced by a mask, and these are to be said. All models have two layers of 64 channels
and as many trained parameters as each other; the hybrid has attention in the last layer. Weft says how good they are, from
the model folders that were just written. Half of the held-out blocks choose the learning rate (trials.py), the others are the
test. A row of RESULTS.jsonl is one training. CACHE is what data_text.py reads.
"""

import pathlib
import tempfile

import numpy as np

import data_mixing
import mixing
import trials

LENGTH, MASK, SHARE, TEST_SEED, TOKENS_PER_STEP = 128, 256, 0.15, 7, 2048
SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 257, "max_position_embeddings": LENGTH,
         "num_attention_heads": 2, "tokenizer_class": None}

# The fields of Weft's layout of such checkpoints (tests/data/fnet/README.md). The widths of the feed-forward parts make the
# parameters equal.
MODELS = {
    "BERT": {"weft_mixing": "attention", "intermediate_size": 128},
    "Linear": {"weft_mixing": "linear", "intermediate_size": 98},
    "FNet": {"weft_mixing": "fourier", "intermediate_size": 257},
    "FNet-Hybrid": {"weft_mixing": "fourier", "weft_attention_layers": 1, "intermediate_size": 193},
    "Random": {"weft_mixing": "random", "intermediate_size": 257},
    "FF-only": {"weft_mixing": "none", "intermediate_size": 258},
}


def masked(rng, windows):
    """(tokens, targets) of windows of bytes."""
    tokens = np.array(windows, dtype=np.int64)
    places = rng.random(tokens.shape) < SHARE
    targets = np.where(places, tokens, data_mixing.IGNORED)
    tokens[places] = MASK
    return tokens, targets


def make_model(name):
    """(module, its function save(folder)): transformers' FNet with other sublayers."""
    import torch
    from torch import nn

    import train
    config = {**SIZES, **MODELS[name]}
    size, heads, kind = config["hidden_size"], config["num_attention_heads"], config["weft_mixing"]
    model = train.Fnet(**config)

    class Norm(nn.Module):
        """LN(x + y), the end of a sublayer; that of attention has a linear map before it."""

        def __init__(self, dense):
            super().__init__()
            self.LayerNorm = nn.LayerNorm(size, eps=model.net.config.layer_norm_eps)
            if dense:
                self.dense = nn.Linear(size, size)

        def forward(self, y, x):
            return self.LayerNorm(x + (self.dense(y) if hasattr(self, "dense") else y))

    class Matrices(nn.Module):
        """Learned, or random and fixed, matrices over tokens and over channels."""

        def __init__(self):
            super().__init__()
            self.seq, self.hidden = (nn.Linear(n, n, bias=False) for n in (LENGTH, size))
            for part in (self.seq, self.hidden):
                nn.init.normal_(part.weight, std=part.in_features ** -0.5)
                part.requires_grad_(kind == "linear")
            self.output = Norm(dense=False)

        def forward(self, x):
            return self.output(self.seq.weight @ self.hidden(x), x)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.self = nn.ModuleDict({part: nn.Linear(size, size) for part in ("query", "key", "value")})
            self.output = Norm(dense=True)

        def forward(self, x):
            parts = (self.self[part](x).unflatten(-1, (heads, -1)).transpose(1, 2) for part in ("query", "key", "value"))
            y = nn.functional.scaled_dot_product_attention(*parts)
            return self.output(y.transpose(1, 2).flatten(2), x)

    class Instead(nn.Module):
        """What FNetLayer calls in the place of its Fourier sublayer. The tensors are the layer's own."""

        def __init__(self, sublayer):
            super().__init__()
            self.sublayer = [sublayer]

        def forward(self, x):
            return (self.sublayer[0](x),)

    layers = model.net.fnet.encoder.layer
    first_attention = len(layers) - config.get("weft_attention_layers", len(layers) if kind == "attention" else 0)
    for i, layer in enumerate(layers):
        if i >= first_attention:
            layer.attention = Attention()
            layer.fourier = Instead(layer.attention)
        elif kind in ("linear", "random"):
            layer.mixing = Matrices()
            layer.fourier = Instead(layer.mixing)
        elif kind == "none":
            layer.fourier = Instead(nn.Identity())
    return model, model.save


def trained(key, text):
    """What a row says besides its key."""
    import torch

    import train
    torch.manual_seed(key["seed"])
    model, save = make_model(key["model"])
    rng = np.random.default_rng(key["seed"])

    def next_batch(_):
        windows, _ = text.train_batch(rng, TOKENS_PER_STEP // LENGTH)
        return [torch.from_numpy(part) for part in masked(rng, windows[:, :LENGTH])]

    seconds = train.optimize(model, next_batch, mixing.loss_of, key["steps"], key["rate"], every=key["steps"] // 4)
    draws = [masked(np.random.default_rng(TEST_SEED), windows) for windows in text.halves(LENGTH)]
    with tempfile.TemporaryDirectory() as folder:
        save(pathlib.Path(folder))
        logits = mixing.by_weft(folder, *(tokens for tokens, _ in draws))
    validation, test = (mixing.right(each, targets) for each, (_, targets) in zip(logits, draws))
    frequencies = np.bincount(np.concatenate(text.train))
    return {"chance": round(float(frequencies.max() / frequencies.sum()), 4),  # who always says a space
            "parameters": sum(p.numel() for p in model.parameters() if p.requires_grad), "validation": validation,
            "test": test, "seconds": round(seconds)}


def table(rows):
    """Markdown: a line for each model."""
    return trials.table_of(rows, MODELS, trials.RIGHT, mixing.learns)


if __name__ == "__main__":
    trials.main_on_text(__doc__, "masked", MODELS, 1500, table, trained, trials.RIGHT)
