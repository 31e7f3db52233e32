# SPDX-License-Identifier: MIT
"""Fashion-MNIST as 49 patches of 4 by 4 pixels.

    data_fashion.py FOLDER OUT.npz      writes the test set that is committed

Fashion-MNIST is by Zalando Research (Xiao, Rasul and Vollgraf, 2017; MIT licence): photographs of
ten kinds of clothing, 28 by 28 grey pixels. FOLDER holds it as {train,test}_{images,labels}.npy.gz:
the images uint8 [count, 28, 28], the labels uint8 [count], in the order of the classes. The split
of the copy that the test set in ../data is made of is not the published one (the last 1,000 of each
class are its test set), so accuracies do not compare with published ones to the decimal.

In that copy both files of images end one image before the count in their headers, 60,001 of 60,002
and 9,999 of 10,000, and it is the first label of each that has no image: with labels[1:] the images
change from one class to the next exactly where the labels do, with labels[:-1] nine images of each
file have the label of the class before. Such a file is read that way; one that is whole is too.

An image is a sequence of 49 tokens: the patches row by row, each with its 16 pixels row by row. A
feature is float32(pixel) / float32(255). Stored inputs stay uint8: whoever reads them divides.
"""

import argparse
import gzip
import io
import math
import pathlib
import sys

import numpy as np

LABELS = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker",
          "Bag", "Ankle boot")
SIDE, PATCH = 28, 4
TOKENS, FEATURES = (SIDE // PATCH) ** 2, PATCH * PATCH
TEST_PER_CLASS = 50


def read(path, row):
    """The uint8 array [count, *row] in the gzip-compressed .npy file `path`, and the count that its
    header states, which may be greater."""
    file = io.BytesIO(gzip.decompress(path.read_bytes()))
    np.lib.format.read_magic(file)
    shape, by_columns, kind = np.lib.format.read_array_header_1_0(file)
    values = file.read()
    if shape[1:] != row or by_columns or kind != np.uint8 or len(values) % math.prod(row):
        raise SystemExit(f"{path}: {kind} {shape} with {len(values)} bytes, "
                         f"expected rows of uint8 {row}")
    return np.frombuffer(values, dtype=np.uint8).reshape(-1, *row), shape[0]


def patches(images):
    """uint8 [count, 28, 28] as uint8 [count, 49, 16]."""
    across = SIDE // PATCH
    grid = images.reshape(-1, across, PATCH, across, PATCH).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(grid.reshape(-1, TOKENS, FEATURES))


def features(inputs):
    """What the network reads: uint8 inputs as float32 from 0 to 1."""
    return inputs.astype(np.float32) / np.float32(255)


class Data:
    """Patches for classification; `folder` holds the four files."""

    config = {
        "task": "classify", "input": "features", "input_size": FEATURES,
        "max_position_embeddings": TOKENS,
        "id2label": {str(i): label for i, label in enumerate(LABELS)},
    }
    position_grid = (SIDE // PATCH, SIDE // PATCH)  # for the models that take 2-D positions

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.inputs, self.labels = self.part("train")

    def part(self, name):
        images, stated = read(self.folder / f"{name}_images.npy.gz", (SIDE, SIDE))
        labels, count = read(self.folder / f"{name}_labels.npy.gz", ())
        if len(labels) != count or stated != count or len(images) not in (count, count - 1):
            raise SystemExit(f"{self.folder}: {name} has {len(images)} images of {stated}, "
                             f"{len(labels)} labels of {count}")
        labels = labels[count - len(images):]  # see above
        if labels.max() >= len(LABELS):
            raise SystemExit(f"{self.folder}: {name} labels go to {labels.max()}")
        return patches(images), labels

    def train_batch(self, rng, size):
        """`size` random images: float32 [size, 49, 16] and their labels, int64 [size]."""
        rows = rng.integers(len(self.labels), size=size)
        return features(self.inputs[rows]), self.labels[rows].astype(np.int64)

    def full_test(self):
        """Every test image: uint8 inputs [count, 49, 16], int32 labels [count]."""
        inputs, labels = self.part("test")
        return {"inputs": inputs, "labels": labels.astype(np.int32)}

    def test(self):
        """The committed test set: of each class 50 images, evenly spread over those there are."""
        every = self.full_test()
        rows = []
        for label in range(len(LABELS)):
            of_class = np.flatnonzero(every["labels"] == label)
            rows += of_class[np.arange(TEST_PER_CLASS) * len(of_class) // TEST_PER_CLASS].tolist()
        return {name: values[rows] for name, values in every.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="folder of the four files")
    parser.add_argument("out", type=pathlib.Path, help="npz file to write")
    args = parser.parse_args()
    np.savez_compressed(args.out, **Data(args.folder).test())


if __name__ == "__main__":
    sys.exit(main())
