# SPDX-License-Identifier: MIT
"""Classifies a folder of texts on a local Ray cluster, and writes Parquet. It needs what weft.ray needs.

    python api/python/examples/ray_classify.py build/texts --model api/examples/models/langid --workers 4 --out build/labels

Each row of the Parquet files has a text's file name, label, probability and logits. The SHA-256 at the end is that of all
logits, f32, in the order of the file names: the same for any number of workers, on any devices. Where the folder is
LABEL/NAME.txt it is that of `weft eval MODEL FOLDER`, too.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import os
import pathlib
import time
from typing import Any

import pyarrow.dataset
import ray
import ray.data

import weft.ray

BATCH = 64


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came out."""

    texts: int
    seconds: float
    """From the start of the workers to the last row written."""
    digest: str
    """SHA-256 of all logits."""


def find_texts(folder: pathlib.Path) -> list[str]:
    """The .txt files below a folder, by folders' and files' names."""
    found = [path.relative_to(folder) for path in folder.rglob("*.txt") if path.is_file()]
    return [path.as_posix() for path in sorted(found, key=lambda path: path.parts)]


def read(row: dict[str, Any], folder: str) -> dict[str, Any]:
    """Adds the text of a row's file."""
    return {**row, "text": (pathlib.Path(folder) / row["name"]).read_bytes()}


def digest_of(out: pathlib.Path, key: str, column: str) -> tuple[int, str]:
    """How many rows there are, and the SHA-256 of a column of f32 in the order of another."""
    table = pyarrow.dataset.dataset(out, format="parquet").to_table(columns=[key, column]).sort_by(key)
    rows = table[column].combine_chunks()
    values = getattr(rows, "storage", rows).flatten()
    return table.num_rows, hashlib.sha256(values.to_numpy(zero_copy_only=False).astype("<f4").tobytes()).hexdigest()


def classify(folder: pathlib.Path, model: pathlib.Path, workers: int, out: pathlib.Path, *, num_gpus: float = 0,
             predictor: Any = weft.ray.Predictor, batch: int = BATCH) -> Outcome:
    """Classifies the texts with so many workers of the cluster that is there, and writes them to Parquet files."""
    names = find_texts(folder)
    if not names:
        raise SystemExit(f"{folder}: expected .txt files, found none")
    begin = time.perf_counter()
    texts = ray.data.from_items([{"number": number, "name": name} for number, name in enumerate(names)],
                                override_num_blocks=min(len(names), 4 * workers))
    labels = texts.map(read, fn_kwargs={"folder": os.path.abspath(folder)}).map_batches(
        predictor, fn_constructor_kwargs={"folder": os.path.abspath(model)},
        compute=ray.data.ActorPoolStrategy(size=workers), batch_size=batch, num_cpus=None if num_gpus else 1,
        num_gpus=num_gpus or None)
    labels.drop_columns(["text"]).write_parquet(os.path.abspath(out), mode="overwrite")
    seconds = time.perf_counter() - begin
    rows, digest = digest_of(out, "number", "logits")
    if rows != len(names):
        raise SystemExit(f"{out}: expected {len(names)} rows, found {rows}")
    return Outcome(rows, seconds, digest)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Classifies a folder of texts on a local Ray cluster of several workers.")
    parser.add_argument("folder", type=pathlib.Path, help="with .txt files, in folders or not")
    parser.add_argument("--model", type=pathlib.Path, required=True, help="a classifier's folder")
    parser.add_argument("--workers", type=int, default=2, help="processes, each with a model of its own (default 2)")
    parser.add_argument("--gpus", type=float, default=0, help="of each worker; 0: it computes on a processor (default)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for Parquet files; what is in it is replaced")
    options = parser.parse_args()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # One processor more reads files and writes Parquet.
    ray.init(num_cpus=options.workers + 1, include_dashboard=False)
    try:
        outcome = classify(options.folder, options.model, options.workers, options.out, num_gpus=options.gpus)
    finally:
        ray.shutdown()
    print(f"{outcome.texts} texts, {outcome.texts / outcome.seconds:.1f} a second with the start of {options.workers} workers")
    print(f"SHA-256 of all logits: {outcome.digest}")


if __name__ == "__main__":
    main()
