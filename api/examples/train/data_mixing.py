# SPDX-License-Identifier: MIT
"""Tasks that no network can do without mixing its tokens: copying, restoring and associative recall.

What the network must say is uniformly random and stands far back, so one that sees only the present token cannot beat
chance. Copying and recall are causal: the next token is to be said where it can be known.

copy        (Katharopoulos et al., 2020; FMMformer, section 4.1) w 0 w 0 …, where w is random over 10 symbols and its
            length is drawn, from a quarter of the tokens to almost half of them, as the authors' programs do. The second
            w is to be said. Chance is 1/10.
copy-fixed  0 w 0 w with all words of one length, so that a position alone says from where to copy.
restore     The same for networks that read in both directions: a mask stands for each symbol of the second w.
recall      (Ba et al., 2016; Arora et al., 2024) P pairs of a key and its value, then the same keys in another order,
            after each of which its value is to be said. Keys are P of 2 P symbols, and so are values. A network that
            knows which values have been given, but not their keys, is right 1 in P times.

Each task has a control: the same targets behind tokens whose first part is in another order. A network that is right there,
too, has not learnt from where to copy.
"""

import numpy as np

SYMBOLS = 10
IGNORED = -100  # a target that no loss counts


def permuted(rng, tokens, places):
    """`tokens` with those at places[i] of each row i in a random order."""
    tokens = tokens.copy()
    for row, at in zip(tokens, places):
        row[at] = rng.permutation(row[at])
    return tokens


class Copy:
    """Sequences of `length` tokens: a word, a separator (0), the word, and separators to the end."""

    head = "causal_lm"

    def __init__(self, length):
        self.length, self.vocabulary, self.chance = length, 1 + SYMBOLS, 1 / SYMBOLS

    def draw(self, rng, count):
        """(tokens [count, length], targets [count, length]), int64."""
        tokens = np.zeros((count, self.length), dtype=np.int64)
        targets = np.full_like(tokens, IGNORED)
        for row, n in enumerate(rng.integers(self.length // 4, (self.length - 1) // 2, count)):
            word = rng.integers(1, 1 + SYMBOLS, n)
            tokens[row, :n] = tokens[row, n + 1:2 * n + 1] = targets[row, n:2 * n] = word
        return tokens, targets

    def control(self, rng, tokens):
        """The first words in another order."""
        return permuted(rng, tokens, [slice(int(row.argmin())) for row in tokens])


class CopyFixed(Copy):
    """Sequences of `length` tokens, even: a separator (0) and a word, twice."""

    def __init__(self, length):
        super().__init__(length)
        self.first, self.second = slice(1, length // 2), slice(length // 2 + 1, None)

    def draw(self, rng, count):
        """(tokens [count, length], targets [count, length]), int64."""
        tokens = np.zeros((count, self.length), dtype=np.int64)
        targets = np.full_like(tokens, IGNORED)
        words = rng.integers(1, 1 + SYMBOLS, (count, self.length // 2 - 1))
        tokens[:, self.first] = tokens[:, self.second] = targets[:, self.length // 2:-1] = words
        return tokens, targets

    def control(self, rng, tokens):
        """The first words in another order."""
        return permuted(rng, tokens, [self.first] * len(tokens))


class Restore(CopyFixed):
    """CopyFixed's sequences with a mask (11) for each symbol of the second word."""

    head = "masked_lm"

    def __init__(self, length):
        super().__init__(length)
        self.mask, self.vocabulary = self.vocabulary, self.vocabulary + 1

    def draw(self, rng, count):
        """(tokens [count, length], targets [count, length]), int64."""
        tokens, _ = super().draw(rng, count)
        targets = np.full_like(tokens, IGNORED)
        targets[:, self.second] = tokens[:, self.second]
        tokens[:, self.second] = self.mask
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

    def control(self, rng, tokens):
        """The values of the first half in another order."""
        return permuted(rng, tokens, [slice(1, 2 * self.pairs, 2)] * len(tokens))


TASKS = {"copy": Copy, "copy-fixed": CopyFixed, "recall": Recall, "restore": Restore}
