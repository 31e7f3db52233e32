# SPDX-License-Identifier: MIT
"""Windows of 1,024 bytes in one of 24 languages, from the corpus of langid_data.py.

    data_langid.py CACHE FOLDER         writes langid1024.npz, langid2048.npz, langid4096.npz

The test sets: 10 windows of 1,024 bytes of each language, evenly spread over its held-out pages, of
which every third is committed; and 2 each of 2,048 and of 4,096 bytes: lengths that no model was
trained on.
"""

import argparse
import math
import pathlib
import sys

import numpy as np

import langid_data

WINDOW = 1024
TEST_SETS = {1024: 10, 2048: 2, 4096: 2}  # length in bytes: windows per language


def as_bytes(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


def char_starts(stream):
    """Offsets in the UTF-8 bytes `stream` at which a character begins."""
    return np.flatnonzero((stream & 0xC0) != 0x80)


def draw(rng, streams, size, length):
    """`size` windows at random characters of random labels, int64 [size, length], and the labels,
    int64 [size]. `streams` has for each label its texts, as pairs of bytes and where they may begin."""
    labels = rng.integers(len(streams), size=size)
    tokens = np.empty((size, length), dtype=np.int64)
    for row, label in enumerate(labels):
        stream, starts = streams[label][rng.integers(len(streams[label]))]
        at = starts[rng.integers(len(starts))]
        tokens[row] = stream[at:at + length]
    return tokens, labels


def held_out(corpus, length, most, overlap=False):
    """Up to `most` windows per label (with `overlap` always that many), evenly spread over the held-out
    pages, at character starts: int32 tokens [count, length] and labels [count]."""
    tokens, labels = [], []
    for label, split in enumerate(corpus.values()):
        stream = as_bytes("\n".join(split["test"].values()))
        count = most if overlap else min(most, round(len(stream) / length))
        starts = char_starts(stream[:-length])
        for at in starts[np.linspace(0, len(starts) - 1, count).astype(int)]:
            tokens.append(stream[at:at + length])
            labels.append(label)
    return {"tokens": np.array(tokens, dtype=np.int32), "labels": np.array(labels, dtype=np.int32)}


class Data:
    """Windows of up to 1,024 bytes; `cache` is where the corpus is kept."""

    def __init__(self, cache):
        self.corpus = langid_data.load(cache)
        self.config = {
            "task": "classify", "input": "tokens", "vocab_size": 256,
            "max_position_embeddings": WINDOW, "tokenizer_class": "ByteTokenizer",
            "id2label": {str(i): label for i, label in enumerate(self.corpus)},
        }
        order = np.random.default_rng(20240301)
        self.streams = []
        for split in self.corpus.values():
            paragraphs = [p for text in split["train"].values() for p in text.split("\n")]
            mixed = [paragraphs[i] for i in order.permutation(len(paragraphs))]
            both = [as_bytes("\n".join(paragraphs)), as_bytes(" ".join(mixed))]
            self.streams.append([(s, char_starts(s[:-WINDOW])) for s in both])

    def train_batch(self, rng, size, length=WINDOW):
        return draw(rng, self.streams, size, length)

    def test(self, length=WINDOW):
        """The committed test set of that length: int32 tokens [count, length], labels [count]."""
        every = self.full_test(length)
        if length != WINDOW:
            return every
        third = np.arange(len(every["labels"])).reshape(-1, TEST_SETS[WINDOW])[:, 1::3].ravel()
        return {name: array[third] for name, array in every.items()}

    def full_test(self, length=WINDOW):
        """All windows of that length, in the form of test()."""
        return held_out(self.corpus, length, TEST_SETS[length])


def random_length(rng, least=128, most=WINDOW):
    """Log-uniform: short windows count as much as long ones."""
    return int(round(math.exp(rng.uniform(math.log(least), math.log(most)))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cache", type=pathlib.Path, help="folder for packages and the corpus")
    parser.add_argument("folder", type=pathlib.Path, help="where the npz files go")
    args = parser.parse_args()
    data = Data(args.cache)
    for length in TEST_SETS:
        arrays = data.test(length)
        np.savez_compressed(args.folder / f"langid{length}.npz", **arrays)
        print(length, "bytes:", len(arrays["labels"]), "windows,",
              len(set(arrays["labels"].tolist())), "languages")


if __name__ == "__main__":
    sys.exit(main())
