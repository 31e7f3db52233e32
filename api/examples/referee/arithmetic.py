# SPDX-License-Identifier: MIT
"""The float32 operations of docs/numerics.md, sections 1 and 2, on NumPy's arrays."""

from __future__ import annotations

import numpy as np

NAN_BITS = 0x7FC00000
INFINITY_BITS = 0x7F800000
SIGN_BITS = 0x80000000
LEAST_NORMAL = 2.0 ** -126
ROUNDS_TO_NORMAL = LEAST_NORMAL - 2.0 ** -151  # what 24 bits, with an exponent without end, round to 2^-126
CHUNK = 64

# Rules that Machine(flaw=…) breaks, to see that the vectors notice; and a word in the names of vectors to try first.
FLAWS = {
    "fma": ("multiply-adds are rounded as in the other mode", "product"),
    "subnormals": ("subnormals stay", "small"),
    "nan": ("a NaN keeps its sign and payload", "specials"),
    "order": ("a chunk's terms are added from the last to the first", "product"),
    "chunks": ("products are added without chunks", "product"),
    "sixteens": ("shares are added without sixteens", "sum of rows"),
    "tree": ("the tree of a row joins neighbours", "sum of rows"),
    "columns": ("sums in order have no sixteens", "columns"),
    "band": ("a band's blocks have 8 keys", "band"),
    "unit": ("a band's weights have no unit", "band"),
    "state": ("states of ranges are added without chunks", "linear attention"),
    "ties": ("bytes are rounded up from a half", "int8"),
    "sine": ("tables of sines are NumPy's", "fft"),
}


def bits(x: np.ndarray) -> np.ndarray:
    """Encodings as whole numbers, of 64 bits so that sums do not overflow."""
    return np.asarray(x, np.float32).view(np.uint32).astype(np.int64)


def number(u: np.ndarray) -> np.ndarray:
    """Of encodings modulo 2^32."""
    return (np.asarray(u, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.float32)


def absolute(x: np.ndarray) -> np.ndarray:
    """Without the sign's bit."""
    return number(bits(x) & 0x7FFFFFFF)


def negative(x: np.ndarray) -> np.ndarray:
    """With the other sign's bit."""
    return number(bits(x) ^ SIGN_BITS)


def upper(x: np.ndarray) -> np.ndarray:
    """The first 12 significant bits."""
    return number(bits(x) & 0xFFFFF000)


def float_of(x: float) -> np.float32:
    """The nearest float32 of a constant."""
    return np.float32(x)


def largest(x: np.ndarray, axis: int) -> np.ndarray:
    """By bits: -0 below +0, NaN above all; -infinity where there are none."""
    u = bits(x)
    keys = np.where(u & SIGN_BITS, ~u & 0xFFFFFFFF, u | SIGN_BITS)
    keys = np.where((u & 0x7FFFFFFF) > INFINITY_BITS, 0xFFC00000, keys)
    key = np.max(keys, axis=axis, initial=0x007FFFFF)
    return number(np.where(key & SIGN_BITS, key & 0x7FFFFFFF, ~key))


def smallest(x: np.ndarray, axis: int) -> np.ndarray:
    """The negative of the largest negative."""
    return negative(largest(negative(x), axis))


def odd_sum(p: np.ndarray, c: np.ndarray) -> np.ndarray:
    """p + c of float64 numbers, rounded to odd: what is rounded to 24 bits afterwards is rounded once."""
    total = p + c
    part = total - p
    error = (p - (total - part)) + (c - part)
    encoded = total.view(np.int64)
    inexact = np.isfinite(total) & np.isfinite(error) & (error != 0) & (encoded & 1 == 0)
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(inexact, encoded + step, encoded).view(np.float64)


class Machine:
    """The operations in one mode."""

    def __init__(self, fused: bool = False, flaw: str = ""):
        """flaw: a rule of FLAWS to break."""
        self.fused = fused != (flaw == "fma")
        self.flaw = flaw

    def operand(self, x: np.ndarray) -> np.ndarray:
        """A subnormal as the zero of its sign."""
        x = np.asarray(x, np.float32)
        if self.flaw == "subnormals":
            return x
        return np.where(np.abs(x) < np.float32(LEAST_NORMAL), np.copysign(np.float32(0), x), x)

    def rounded(self, exact: np.ndarray) -> np.ndarray:
        """A float64 number that is exact, or rounded to odd, to 24 bits."""
        result = exact.astype(np.float32)
        if self.flaw == "subnormals":
            return result
        return np.where(np.abs(exact) < ROUNDS_TO_NORMAL, np.copysign(np.float32(0), exact).astype(np.float32), result)

    def flush(self, x: np.ndarray) -> np.ndarray:
        """What is stored: no subnormal, no NaN but one."""
        x = self.operand(x)
        return x if self.flaw == "nan" else np.where(np.isnan(x), number(NAN_BITS), x)

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A sum; float32 of the processor, since a sum below 2^-126 is exact."""
        return self.operand(self.operand(a) + self.operand(b))

    def sub(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A difference."""
        return self.add(a, negative(b))

    def mul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A product, which float64 has exactly."""
        return self.rounded(self.operand(a).astype(np.float64) * self.operand(b).astype(np.float64))

    def fma(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """A product and a sum, rounded once in fused mode."""
        if not self.fused:
            return self.add(self.mul(a, b), c)
        a, b, c = (self.operand(x).astype(np.float64) for x in (a, b, c))
        return self.rounded(odd_sum(*np.broadcast_arrays(a * b, c)))

    def div(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A quotient: 53 bits of it are enough to round it correctly to 24."""
        return self.rounded(self.operand(a).astype(np.float64) / self.operand(b).astype(np.float64))

    def rcp(self, x: np.ndarray) -> np.ndarray:
        """1 / x."""
        return self.div(np.float32(1), x)

    def sqrt(self, x: np.ndarray) -> np.ndarray:
        """A root, likewise."""
        return self.rounded(np.sqrt(self.operand(x).astype(np.float64)))

    def twice(self, x: np.ndarray) -> np.ndarray:
        """2 x."""
        return self.mul(x, np.float32(2))

    def poly(self, z: np.ndarray, *coefficients: float) -> np.ndarray:
        """Horner's chain of multiply-adds."""
        p = np.broadcast_to(float_of(coefficients[0]), np.shape(z))
        for c in coefficients[1:]:
            p = self.fma(p, z, float_of(c))
        return p

    # ---- orders of sums: along the first axis of arrays of terms, or of factors that broadcast ----

    def step(self, total: np.ndarray, x: np.ndarray, y: np.ndarray | None) -> np.ndarray:
        """One more term x, or x y."""
        return self.add(total, x) if y is None else self.fma(x, y, total)

    def in_order(self, x: np.ndarray, y: np.ndarray | None = None, counts: np.ndarray | None = None) -> np.ndarray:
        """From +0 on; `counts` says which terms there are."""
        shape = np.broadcast_shapes(*(a.shape[1:] for a in (x, y, counts) if a is not None))
        total = np.zeros(shape, np.float32)
        for i in range(len(x)):
            more = self.step(total, x[i], None if y is None else y[i])
            total = more if counts is None else np.where(counts[i], more, total)
        return total

    def in_chunks(self, x: np.ndarray, y: np.ndarray, counts: np.ndarray | None = None, size: int = CHUNK) -> np.ndarray:
        """Products in chunks of 64; a chunk without terms is not there."""
        total = np.float32(0)
        size = max(len(x), 1) if self.flaw == "chunks" else size
        for first in range(0, len(x), size):
            given = [None if a is None else a[first:first + size] for a in (x, y, counts)]
            if self.flaw == "order":
                given = [None if a is None else a[::-1] for a in given]
            more = self.add(total, self.in_order(*given))
            total = more if counts is None else np.where(given[2].any(axis=0), more, total)
        return total

    def share(self, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
        """Sums of sixteen sums of sixteen."""
        shape = x.shape[1:] if y is None else np.broadcast_shapes(x.shape[1:], y.shape[1:])
        level = [np.zeros(shape, np.float32) for _ in range(4)]
        for i in range(len(x)):
            level[0] = self.step(level[0], x[i], None if y is None else y[i])
            for j, block in enumerate((16, 256, 4096)):
                if (i + 1) % block == 0 and self.flaw != "sixteens":
                    level[j + 1] = self.add(level[j + 1], level[j])
                    level[j] = np.zeros(shape, np.float32)
        return self.add(self.add(self.add(level[0], level[1]), level[2]), level[3])

    def tree(self, shares: np.ndarray) -> np.ndarray:
        """Of 128 shares along the first axis."""
        while len(shares) > 1:
            half = len(shares) // 2
            near = self.flaw == "tree"
            shares = self.add(shares[0::2] if near else shares[:half], shares[1::2] if near else shares[half:])
        return shares[0]

    def over_row(self, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
        """The sum over the last axis: 128 shares, then the tree. Lanes without a term are +0, as they begin."""
        count = x.shape[-1]
        turns = (count + 127) // 128
        shares = []
        for a in (x, y):
            if a is not None:
                padded = np.zeros((*a.shape[:-1], 128 * turns), np.float32)
                padded[..., :count] = a
                shares.append(np.moveaxis(padded.reshape(*a.shape[:-1], turns, 128), (-2, -1), (0, 1)))
        return self.tree(self.share(*shares))

    def by_sixteens(self, x: np.ndarray, is_product: bool = False) -> np.ndarray:
        """In order along the first axis: parts of sixteen."""
        join = self.mul if is_product else self.add
        neutral = np.full(x.shape[1:], 1 if is_product else 0, np.float32)
        total = neutral
        size = len(x) if self.flaw == "columns" else 16
        for first in range(0, len(x), size):
            part = neutral
            for term in x[first:first + size]:
                part = join(part, term)
            total = join(total, part)
        return total
