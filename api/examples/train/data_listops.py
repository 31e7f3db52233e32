# SPDX-License-Identifier: MIT
"""ListOps as the Long Range Arena generates it, in sequences of 512 tokens.

    data_listops.py --out FILE.npz                          the test set that is committed
    data_listops.py --count N --seed S --out FILE.npz|FILE.tsv   [limits, see --help]

ListOps (Nangia and Bowman, 2018): an expression of nested operations on digits, such as
`[MAX 4 3 [MIN 2 3 ] 1 0 ]`, whose value, a digit, is the label. The operators are the four of the
Long Range Arena (Tay et al., 2021): MIN, MAX, MED (the median; of two middle digits their mean,
rounded down) and SM (the sum modulo 10). Its way to draw an expression: a node is an operation with
probability 1/4 where its depth, the root's being 1, is below the greatest depth (10), otherwise a
digit; an operation has 2 to 10 arguments; operators and digits are equally likely; expressions
outside the limits of length, and repeated ones, are dropped. A length counts tokens.

The Arena's lengths lie between 500 and 2,000 tokens. Here they lie between a quarter of these, 125
and 500 (both excluded), so that a sequence of 512 holds every expression. A network here has no
mask: the rest of a sequence is a padding token of the vocabulary, which the network reads as any
other. Training expressions are drawn anew for every batch.

The file of values is .npz with tokens [N, 512] and labels [N], or .tsv as the Arena's: columns
Source, Target; Source writes an operation as nested pairs, `( ( ( [MAX 4 ) 3 ) ] )`.
"""

import argparse
import pathlib
import sys

import numpy as np

PAD = 0
OPERATORS = ("[MIN", "[MAX", "[MED", "[SM")
VOCABULARY = ("<pad>", *OPERATORS, "]", *"0123456789")
CLOSE, ZERO = VOCABULARY.index("]"), VOCABULARY.index("0")
SEQUENCE = 512
OPERATION_SHARE = 0.25
TEST_COUNT, TEST_SEED = 200, 20181


class TooLong(Exception):
    """The expression being drawn has reached the limit."""


class Generator:
    """Draws expressions: a digit, or a tuple of an operator's name and its arguments."""

    def __init__(self, rng, max_depth=10, max_args=10, min_length=125, max_length=500):
        self.rng, self.max_depth, self.max_args = rng, max_depth, max_args
        self.min_length, self.max_length = min_length, max_length
        self.length = 0
        self.uniform = iter(())

    def draw(self):
        """A number from 0 to below 1; they are drawn many at a time, which is faster."""
        for value in self.uniform:
            return value
        self.uniform = iter(self.rng.random(4096).tolist())
        return next(self.uniform)

    def below(self, bound):
        return int(self.draw() * bound)

    def node(self, depth):
        is_operation = depth < self.max_depth and self.draw() <= OPERATION_SHARE
        self.length += 2 if is_operation else 1
        if self.length >= self.max_length:
            raise TooLong
        if not is_operation:
            return self.below(10)
        count = 2 + self.below(self.max_args - 1)
        arguments = [self.node(depth + 1) for _ in range(count)]
        return (OPERATORS[self.below(len(OPERATORS))], *arguments)

    def expression(self):
        """One expression within the limits of length."""
        while True:
            self.length = 0
            try:
                tree = self.node(1)
            except TooLong:
                continue
            if self.length > self.min_length:
                return tree


def value(tree):
    """The digit that `tree` evaluates to."""
    if isinstance(tree, int):
        return tree
    values = [value(argument) for argument in tree[1:]]
    if tree[0] == "[MED":
        values.sort()
        return (values[(len(values) - 1) // 2] + values[len(values) // 2]) // 2
    return {"[MIN": min, "[MAX": max, "[SM": lambda digits: sum(digits) % 10}[tree[0]](values)


def encode(tree):
    """The tokens of `tree`, a list of integers."""
    if isinstance(tree, int):
        return [ZERO + tree]
    inner = [token for argument in tree[1:] for token in encode(argument)]
    return [VOCABULARY.index(tree[0]), *inner, CLOSE]


def padded(tokens):
    return tokens + [PAD] * (SEQUENCE - len(tokens))


def source(tree):
    """`tree` as the Arena's files write it: an operation is a chain of pairs."""
    if isinstance(tree, int):
        return str(tree)
    text = tree[0]
    for part in (*map(source, tree[1:]), "]"):
        text = f"( {text} {part} )"
    return text


def different(generator, count):
    """`count` expressions, no two alike."""
    trees = {}
    while len(trees) < count:
        trees.setdefault(generator.expression())
    return list(trees)


class Data:
    """Sequences of 512 tokens for classification; there is nothing to read."""

    config = {
        "task": "classify", "input": "tokens", "vocab_size": len(VOCABULARY), "pad_token_id": PAD,
        "max_position_embeddings": SEQUENCE,
        "id2label": {str(digit): str(digit) for digit in range(10)},
    }

    def __init__(self, _=None):
        self.held_out = different(Generator(np.random.default_rng(TEST_SEED)), TEST_COUNT)
        self.withheld = frozenset(self.held_out)

    def train_batch(self, rng, size):
        """`size` expressions outside the test set: int64 [size, 512], their values int64 [size]."""
        generator, trees = Generator(rng), []
        while len(trees) < size:
            tree = generator.expression()
            if tree not in self.withheld:
                trees.append(tree)
        return (np.array([padded(encode(tree)) for tree in trees], dtype=np.int64),
                np.array([value(tree) for tree in trees], dtype=np.int64))

    def test(self):
        """The committed test set: int32 tokens [200, 512], labels [200]."""
        return arrays(self.held_out)


def arrays(trees):
    return {"tokens": np.array([padded(encode(tree)) for tree in trees], dtype=np.int32),
            "labels": np.array([value(tree) for tree in trees], dtype=np.int32)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=TEST_COUNT)
    parser.add_argument("--seed", type=int, default=TEST_SEED)
    parser.add_argument("--max-depth", type=int, default=10)
    parser.add_argument("--max-args", type=int, default=10)
    parser.add_argument("--min-length", type=int, default=125, help="tokens, excluded")
    parser.add_argument("--max-length", type=int, default=500, help="tokens, excluded")
    parser.add_argument("--out", type=pathlib.Path, required=True, help=".npz or .tsv")
    args = parser.parse_args()
    generator = Generator(np.random.default_rng(args.seed), args.max_depth, args.max_args,
                          args.min_length, args.max_length)
    trees = different(generator, args.count)
    if args.out.suffix == ".tsv":
        lines = ["Source\tTarget"] + [f"{source(tree)}\t{value(tree)}" for tree in trees]
        args.out.write_text("\n".join(lines) + "\n", encoding="ascii")
    elif args.max_length > SEQUENCE + 1:
        parser.error(f"a sequence of .npz has {SEQUENCE} tokens")
    else:
        np.savez_compressed(args.out, **arrays(trees))


if __name__ == "__main__":
    sys.exit(main())
