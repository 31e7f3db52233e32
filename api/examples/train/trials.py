# SPDX-License-Identifier: MIT
"""What scripts have in common that train many models with several seeds: their command line, their files of results, one
JSON object a line for each training, and the tables made of these. Nothing but training needs PyTorch."""

import argparse
import json
import pathlib
import statistics


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def matching(rows, **fields):
    return [row for row in rows if fields.items() <= row.items()]


def complete(path, keys, measure):
    """Adds to `path` the row of every key that it has none of: the key's fields and those of measure(key)."""
    for key in keys:
        if matching(read(path), **key):
            continue
        print(", ".join(f"{name} {value}" for name, value in key.items()), flush=True)
        row = {**key, **measure(key)}
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


def parser_of(doc, models, steps):
    """The options of every such script."""
    parser = argparse.ArgumentParser(description=" ".join(doc.split("\n\n")[0].split()))
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--model", nargs="*", choices=list(models), default=list(models))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--table", action="store_true", help="print the results' table, and train nothing")
    return parser


def run(args, table, fields, make_measure):
    """Prints the table, or trains every model with every seed: `fields` are those of all keys, make_measure() gives the
    function of a key that trains and measures."""
    if args.table:
        print(table(read(args.results)))
        return
    import torch
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    keys = [{**fields, "model": name, "seed": seed, "steps": args.steps}
            for seed in range(args.seeds) for name in args.model]
    complete(args.results, keys, make_measure())


def main_on_text(doc, task, models, steps, table, trained):
    """The whole of a script whose models learn from data_text.py's text: trained(key, text) gives what a row says."""
    parser = parser_of(doc, models, steps)
    parser.add_argument("cache", type=pathlib.Path, nargs="?", help="what data_text.py reads; needed to train")
    args = parser.parse_args()
    if not args.table and not args.cache:
        parser.error("CACHE is missing")

    def make_measure():
        import data_text
        text = data_text.Data(args.cache)
        return lambda key: trained(key, text)

    run(args, table, {"task": task}, make_measure)


def spread(values, digits=1):
    """A table's cell: the mean and, of several values, half the distance from the least to the largest."""
    values = list(values)
    if not values:
        return "–"
    half = f" ± {(max(values) - min(values)) / 2:.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.{digits}f}{half}"


def markdown(head, lines):
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *lines]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])
