# SPDX-License-Identifier: MIT
"""Tasks that no network can do without mixing its tokens: copying, restoring and associative recall.

What the network must say is uniformly random and stands far back, so one that sees only the present token cannot beat
chance. Copying and recall are causal: the next token is to be said where it can be known.

copy        (Katharopoulos et al., 2020; FMMformer, section 4.1) 0 w 0 w, where w is random over 10 symbols. The second
            w is to be said. Chance is 1/10.
restore     The same for networks that read in both directions: the second w is replaced by a mask.
recall      (Ba et al., 2016; Arora et al., 2024) P pairs of a key and its value, then the same keys in another order,
            after each of which its value is to be said. Keys are P of 2 P symbols, and so are values. A network that
            knows which values have been given, but not their keys, is right 1 in P times.
"""

import numpy as np

SYMBOLS = 10
IGNORED = -100  # a target that no loss counts


class Copy:
    """Sequences of `length` tokens, even: a separator (0) and a word, twice."""

    head = "causal_lm"

    def __init__(self, length):
        self.length, self.word = length, length // 2 - 1
        self.vocabulary, self.chance = 1 + SYMBOLS, 1 / SYMBOLS

    def draw(self, rng, count):
        """(tokens [count, length], targets [count, length]), int64."""
        words = rng.integers(1, 1 + SYMBOLS, (count, self.word))
        zero = np.zeros((count, 1), dtype=np.int64)
        tokens = np.concatenate([zero, words, zero, words], 1)
        targets = np.full_like(tokens, IGNORED)
        targets[:, self.word + 1:-1] = words
        return tokens, targets


class Restore(Copy):
    """Copy's sequences with a mask (11) for each symbol of the second word."""

    head = "masked_lm"

    def __init__(self, length):
        super().__init__(length)
        self.mask, self.vocabulary = self.vocabulary, self.vocabulary + 1

    def draw(self, rng, count):
        """(tokens [count, length], targets [count, length]), int64."""
        tokens, _ = super().draw(rng, count)
        targets = np.full_like(tokens, IGNORED)
        targets[:, self.word + 2:] = tokens[:, self.word + 2:]
        tokens[:, self.word + 2:] = self.mask
        return tokens, targets


class Recall:
    """Sequences of `length` tokens, a multiple of four: length / 4 pairs, twice."""

    head = "causal_lm"

    def __init__(self, length):
        self.length, self.pairs = length, length // 4
        self.vocabulary, self.chance = 4 * self.pairs, 1 / self.pairs

    def draw(self, rng, count):
        """(tokens [count, length], targets [count, length]), int64."""
        p = self.pairs
        keys = rng.permuted(np.tile(np.arange(2 * p), (count, 1)), axis=1)[:, :p]
        values = 2 * p + rng.integers(2 * p, size=(count, p))
        order = rng.permuted(np.tile(np.arange(p), (count, 1)), axis=1)
        tokens = np.empty((count, 4 * p), dtype=np.int64)
        tokens[:, 0:2 * p:2], tokens[:, 1:2 * p:2] = keys, values
        tokens[:, 2 * p::2] = np.take_along_axis(keys, order, 1)
        tokens[:, 2 * p + 1::2] = np.take_along_axis(values, order, 1)
        targets = np.full_like(tokens, IGNORED)
        targets[:, 2 * p::2] = tokens[:, 2 * p + 1::2]
        return tokens, targets


TASKS = {"copy": Copy, "recall": Recall, "restore": Restore}
