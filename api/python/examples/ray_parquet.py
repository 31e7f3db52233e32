# SPDX-License-Identifier: MIT
"""Runs a model on the texts of Parquet files on a local Ray cluster, and writes Parquet. It needs what weft.ray needs.

    python api/python/examples/ray_parquet.py texts.parquet --model all-MiniLM-L6-v2 --id id --workers 4 --out build/vectors

Each new row has the text's id and what weft.ray.Predictor adds. At the end stands the SHA-256 of vectors, f32, in the order of
the ids: where the file has that order, it is that of `weft embed`, with any number of workers, on any devices.
"""

from __future__ import annotations

import argparse
import os
import pathlib
from typing import Any

import pyarrow.dataset
import ray
import ray.data
from ray_classify import digest_of  # beside this file

import weft.ray


def predict(source: pathlib.Path, model: pathlib.Path, key: str, workers: int, out: pathlib.Path, *, text: str = "text",
            num_gpus: float = 0, batch: int = 256, predictor: Any = weft.ray.Predictor, **how: Any) -> None:
    """Runs the model with so many workers of the cluster that is there, and writes ids and new columns to Parquet files."""
    rows = ray.data.read_parquet(os.path.abspath(source), columns=[key, text]).repartition(4 * workers)  # a file may be one
    made = rows.map_batches(
        predictor, fn_constructor_kwargs={"folder": os.path.abspath(model), "text_column": text, **how},
        compute=ray.data.ActorPoolStrategy(size=workers), batch_size=batch, num_cpus=None if num_gpus else 1,
        num_gpus=num_gpus or None)
    made.drop_columns([text]).write_parquet(os.path.abspath(out), mode="overwrite")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Runs a model on texts in Parquet files on a local Ray cluster.")
    parser.add_argument("source", type=pathlib.Path, help="a Parquet file, or a folder of them")
    parser.add_argument("--model", type=pathlib.Path, required=True, help="a model's folder")
    parser.add_argument("--text", default="text", help="the column with the texts (default text)")
    parser.add_argument("--id", default="id", help="the column with the ids, which is kept (default id)")
    parser.add_argument("--workers", type=int, default=2, help="processes, each with a model of its own (default 2)")
    parser.add_argument("--gpus", type=float, default=0, help="of each worker; 0: it computes on a processor (default)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for Parquet files; what is in it is replaced")
    options = parser.parse_args()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # One processor more reads and writes Parquet.
    ray.init(num_cpus=options.workers + 1, include_dashboard=False)
    try:
        predict(options.source, options.model, options.id, options.workers, options.out, text=options.text,
                num_gpus=options.gpus)
    finally:
        ray.shutdown()
    names = pyarrow.dataset.dataset(options.out, format="parquet").schema.names
    print(f"columns: {', '.join(names)}")
    if "vector" in names:
        rows, digest = digest_of(options.out, options.id, "vector")
        print(f"{rows} vectors, SHA-256 {digest}")


if __name__ == "__main__":
    main()
