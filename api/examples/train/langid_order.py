# SPDX-License-Identifier: MIT
"""Does langid1024 need the order of bytes? Its models on windows whose bytes are shuffled, and a histogram of bytes.

    langid_order.py ../models ../data [--feed-forward]

The histogram has no order and no network: square roots of the shares of the 256 bytes, and the language with the nearest
mean over its two windows of 2,048 and two of 4,096 bytes. --feed-forward trains, on pieces of 256 bytes of those, a
network that mixes nothing before its mean over the positions.
"""

import argparse
import pathlib
import tempfile

import numpy as np
import weft

import trials

SEED, LENGTH, PIECE = 7, 1024, 256


def shuffled(tokens):
    """Each window's bytes in a random order of its own."""
    return np.random.default_rng(SEED).permuted(tokens, axis=1)


def longer(data):
    """The windows of 2,048 and of 4,096 bytes: pairs of tokens and labels."""
    return [(part["tokens"], part["labels"]) for part in (np.load(data / f"langid{n}.npz") for n in (2048, 4096))]


def accuracy(folder, tokens, labels):
    """In percent, on the first device."""
    model = weft.load(folder)
    logits = [np.asarray(model(tokens[at:at + 8])) for at in range(0, len(tokens), 8)]
    return 100 * float(np.mean(np.concatenate(logits).argmax(-1) == labels))


def histograms(tokens):
    counts = np.stack([np.bincount(window, minlength=256) for window in tokens])
    return np.sqrt(counts / tokens.shape[1])


def histogram_accuracy(data, tokens, labels):
    """In percent, of the nearest mean histogram."""
    rows = np.concatenate([histograms(windows) for windows, _ in longer(data)])
    of = np.concatenate([known for _, known in longer(data)])
    means = np.stack([rows[of == label].mean(0) for label in range(of.max() + 1)])
    distances = np.square(histograms(tokens)[:, None] - means).sum(-1)
    return 100 * float(np.mean(distances.argmin(-1) == labels))


def train_feed_forward(folder, data):
    """Writes the folder of a model without mixing."""
    import torch

    import mixing
    import train
    import weft_models
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    config = {**mixing.MODELS["feed-forward alone"], "position_embedding": "none", "task": "classify", "num_labels": 24,
              "vocab_size": 256, "max_position_embeddings": LENGTH}
    model, rng, known = weft_models.Model(config), np.random.default_rng(SEED), longer(data)

    def next_batch(_):
        windows, labels = known[rng.integers(len(known))]
        rows = rng.integers(len(windows), size=16)
        at = rng.integers(windows.shape[1] - PIECE + 1)
        return [torch.from_numpy(part.astype(np.int64)) for part in (windows[rows, at:at + PIECE], labels[rows])]

    train.optimize(model, next_batch, mixing.loss_of, 1000, 2e-3, decay=0.1, every=100)
    weft_models.save_model(folder, model, config, torch.float16)


def table(models, data, feed_forward):
    test = np.load(data / f"langid{LENGTH}.npz")
    tokens, labels = test["tokens"], test["labels"]
    lines = []

    def add(name, score):
        lines.append([name, *(f"{score(windows, labels):.1f} %" for windows in (tokens, shuffled(tokens)))])

    for folder in sorted(models.glob("langid1024-*")):
        add(f"`{folder.name}`", lambda *arrays, folder=folder: accuracy(folder, *arrays))
    if feed_forward:
        with tempfile.TemporaryDirectory() as folder:
            train_feed_forward(folder, data)
            add("feed-forward alone", lambda *arrays: accuracy(folder, *arrays))
    add("histogram of bytes", lambda *arrays: histogram_accuracy(data, *arrays))
    return trials.markdown(["Model", "as they are", "bytes shuffled"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--feed-forward", action="store_true", help="train a network that mixes nothing, too")
    args = parser.parse_args()
    print(table(args.models, args.data, args.feed_forward))


if __name__ == "__main__":
    main()
