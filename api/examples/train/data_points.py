# SPDX-License-Identifier: MIT
"""Clouds of 32 points in three dimensions and the energy of their pairs: regression.

    data_points.py OUT.npz              writes the test set that is committed

A cloud is drawn uniformly in a cube whose side is drawn too; each of its points carries a charge,
-1 or 1, as a feature of its token. The target is the screened energy of the pairs per point,
sum over i < j of q_i q_j exp(-d_ij) / 32, divided by its standard deviation over many clouds. It
depends on differences of positions alone, which is what FLT's relative positions can express.
"""

import argparse
import pathlib
import sys

import numpy as np

POINTS, DIMENSIONS = 32, 3
LEAST_SIDE, MOST_SIDE = 1.0, 4.0
TEST_COUNT, TEST_SEED, SCALE_SEED = 200, 30003, 30001


def draw(rng, size):
    """Charges float32 [size, 32, 1], positions float32 [size, 32, 3], energies [size]."""
    side = rng.uniform(LEAST_SIDE, MOST_SIDE, size=(size, 1, 1))
    positions = (side * rng.random((size, POINTS, DIMENSIONS))).astype(np.float32)
    charges = rng.choice([-1.0, 1.0], size=(size, POINTS))
    difference = positions[:, :, None].astype(np.float64) - positions[:, None]
    pairs = np.exp(-np.sqrt((difference ** 2).sum(-1))) * charges[:, :, None] * charges[:, None]
    energy = (pairs.sum((1, 2)) - POINTS) / 2 / POINTS  # without each point and itself
    return charges[..., None].astype(np.float32), positions, energy


class Data:
    config = {"task": "regress", "input": "features", "input_size": 1, "num_labels": 1,
              "max_position_embeddings": POINTS}

    def __init__(self, _=None):
        energy = draw(np.random.default_rng(SCALE_SEED), 4096)[2]
        self.mean, self.deviation = energy.mean(), energy.std()

    def sample(self, rng, size):
        charges, positions, energy = draw(rng, size)
        return charges, positions, ((energy - self.mean) / self.deviation).astype(np.float32)

    def train_batch(self, rng, size):
        """Charges, positions, and targets float32 [size, 1]."""
        charges, positions, energy = self.sample(rng, size)
        return charges, positions, energy[:, None]

    def test(self):
        """The committed test set."""
        charges, positions, energy = self.sample(np.random.default_rng(TEST_SEED), TEST_COUNT)
        return {"inputs": charges, "positions": positions, "targets": energy[:, None]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path, help="npz file to write")
    np.savez_compressed(parser.parse_args().out, **Data().test())


if __name__ == "__main__":
    sys.exit(main())
