# SPDX-License-Identifier: MIT
"""Weight matrices of random features drawn as Weft documents it, written again from that.

Philox4x32-10 (Salmon et al., 2011): word i of a stream is lane i % 4 of the block whose counter is
(i / 4, stream) and whose key is the seed. A stream's number is matrix · 2^32 + what is drawn.
"""

import numpy as np

GAUSSIAN, SIGN = 0, 2  # what is drawn


def philox(counters, seed):
    """Ten rounds on uint32 counters [count, 4]."""
    c = counters.astype(np.uint64).T.copy()
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
        c = np.stack([(second >> high) ^ c[1] ^ np.uint64(key[0]), second & low,
                      (first >> high) ^ c[3] ^ np.uint64(key[1]), first & low])
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c.T.astype(np.uint32)


def words(seed, matrix, draw, count):
    """Words 0 … count - 1 of a stream."""
    blocks = np.zeros((-(-count // 4), 4), dtype=np.uint32)
    blocks[:, 0], blocks[:, 2], blocks[:, 3] = np.arange(len(blocks)), draw, matrix
    return philox(blocks, seed).flatten()[:count]


def base(rows, columns, seed, matrix):
    """Independent normals: words in pairs through Box and Muller's transform."""
    pairs = words(seed, matrix, GAUSSIAN, rows * columns + 1).astype(np.float64)
    pairs = pairs[:len(pairs) // 2 * 2].reshape(-1, 2)
    radius = np.sqrt(-2 * np.log((pairs[:, 0] + 0.5) / 2**32))
    angle = 2 * np.pi * pairs[:, 1] / 2**32
    normals = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).flatten()
    return normals[:rows * columns].reshape(rows, columns)


def sorf(rows, columns, seed, matrix):
    """sqrt(n) H D_1 H D_2 H D_3, H of entries ±1/sqrt(n), in blocks of n rows."""
    n = 1 << (columns - 1).bit_length()
    index = np.arange(n)
    overlap = np.array([[bin(i & j).count("1") for j in index] for i in index])
    h = (-1.0) ** overlap / np.sqrt(n)
    blocks = -(-rows // n)
    signs = 1.0 - 2.0 * (words(seed, matrix, SIGN, blocks * 3 * n) >> 31).astype(np.float64)
    stack = []
    for d in signs.reshape(blocks, 3, n):
        stack.append(np.sqrt(n) * (h * d[2]) @ (h * d[1]) @ (h * d[0]))  # in order of application
    return np.concatenate(stack)[:rows, :columns]


MATRICES = {"base": base, "sorf": sorf}


def drawn(kind, rows, columns, seed, matrix):
    """W, float32 [rows, columns]."""
    return MATRICES[kind](rows, columns, seed, matrix).astype(np.float32)
