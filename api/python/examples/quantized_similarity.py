# SPDX-License-Identifier: MIT
"""How far weights of bytes move the similarities of a sentence model, on pairs of sentences drawn from any plain texts.

    python api/python/examples/quantized_similarity.py MODEL /usr/share/common-licenses/*

A row for each kind of weights: by how much the cosine of a pair differs from that with float32 weights, and the cosine of
a sentence's vector with its vector of float32 weights.
"""

import argparse
import pathlib
import re
from typing import Literal, get_args

import numpy as np

import weft

Weights = Literal["f32", "int8", "int8-only"]


def sentences_of(files: list[pathlib.Path]) -> list[str]:
    """All different sentences of 30 to 400 characters."""
    found: dict[str, None] = {}
    for file in files:
        text = " ".join(file.read_text(errors="replace").split())
        found.update(dict.fromkeys(part for part in re.split(r"(?<=[.;:?!]) ", text) if 30 <= len(part) <= 400))
    if len(found) < 2:
        raise SystemExit(f"expected two different sentences of 30 to 400 characters, found {len(found)}")
    return list(found)


def embed(model: pathlib.Path, weights: Weights, sentences: list[str]) -> np.ndarray:
    """Vectors of length 1, on the default device."""
    loaded = weft.load(model, weft.Device(weights=weights))
    return loaded.embed(sentences, normalize=True).astype(np.float64)


def main() -> None:
    """Embeds the sentences with each kind of weights, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path, nargs="+")
    parser.add_argument("--pairs", type=int, default=1000)
    arguments = parser.parse_args()
    files = sorted({file.resolve() for file in arguments.texts})
    sentences = sentences_of(files)
    draw = np.random.default_rng(1)
    pairs = np.array([draw.choice(len(sentences), 2, replace=False) for _ in range(arguments.pairs)]).T
    vectors = {weights: embed(arguments.model, weights, sentences) for weights in get_args(Weights)}
    exact = vectors.pop("f32")
    print("| weights | mean | 99 % of pairs | largest | cosine with f32: mean | least |\n|---|---|---|---|---|---|")
    for weights, found in vectors.items():
        moved = np.abs(np.sum(found[pairs[0]] * found[pairs[1]] - exact[pairs[0]] * exact[pairs[1]], axis=1))
        same = np.sum(found * exact, axis=1)
        print(f"| {weights} | {moved.mean():.4f} | {np.quantile(moved, 0.99):.4f} | {moved.max():.4f} | {same.mean():.4f} | "
              f"{same.min():.4f} |")


if __name__ == "__main__":
    main()
