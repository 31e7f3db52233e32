# SPDX-License-Identifier: MIT
"""Trains every causal mixer on tasks that need mixing, and has Weft say how well each has learnt.

    mixing.py RESULTS.jsonl --task copy|recall --length N [--model NAME …] [--seeds K] [--steps S]
    mixing.py RESULTS.jsonl --table

All models have two layers of 64 channels and the same feed-forward width, steps, batches and learning rate. A row of
RESULTS.jsonl is one training: its accuracy on 64 sequences that no training has seen, by Weft on the model folder that
was just written. What RESULTS.jsonl holds already is not trained again.
"""

import argparse
import json
import pathlib
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
import weft

import data_mixing
import train
import weft_models

SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128,
         "position_embedding": "sinusoidal"}
HEADS = {**SMALL, "num_attention_heads": 4}
GTU = {**SMALL, "expand_ratio": 1, "gtu_norm": True, "rpe_size": 32, "feed_forward": "mlp"}
BAND = 8

# What the page calls a model: fields of its config.
MODELS = {
    "feed-forward alone": {"model_type": "fmmformer", **HEADS, "half_width": 0},
    "softmax": {"model_type": "transformer", **HEADS},
    "linear": {"model_type": "fmmformer", **HEADS, "kernels": ["elu1"]},
    "band": {"model_type": "fmmformer", **HEADS, "half_width": BAND},
    "FMMformer, 1 kernel": {"model_type": "fmmformer", **HEADS, "half_width": BAND, "kernels": ["elu1"]},
    "FMMformer, 2 kernels": {"model_type": "fmmformer", **HEADS, "half_width": BAND,
                             "kernels": ["elu1", "elu1_negated"]},
    "FMMformer, fast weight": {"model_type": "fmmformer", **HEADS, "half_width": BAND, "fast_weight": True},
    "Performer": {"model_type": "performer", **HEADS, "num_features": 32},
    "FLT": {"model_type": "flt", **HEADS, "position_features": 8, "num_features": 32},
    "TNN": {"model_type": "tnn", **GTU, "decay": "none"},
    "FD-TNN": {"model_type": "fd-tnn", **GTU},
}
TEST_COUNT, TEST_SEED, TOKENS_PER_STEP, RATE = 64, 7, 4096, 2e-3


def loss_of(outputs, targets):
    return F.cross_entropy(outputs.flatten(0, 1), targets.flatten(), ignore_index=data_mixing.IGNORED)


def right(logits, targets):
    """The share of the targets that have the largest logit."""
    counted = targets != data_mixing.IGNORED
    return float(np.mean(logits.argmax(-1)[counted] == targets[counted]))


def by_weft(folder, tokens):
    """The logits of a folder on the first device."""
    model = weft.load(folder)
    return np.concatenate([np.asarray(model(tokens[at:at + 8].astype(np.int32)))
                           for at in range(0, len(tokens), 8)])


def trained(task, name, seed, steps):
    """One row of the results."""
    torch.manual_seed(seed)
    config = {**MODELS[name], "task": "causal_lm", "vocab_size": task.vocabulary,
              "max_position_embeddings": task.length}
    model = weft_models.Model(config)
    rng = np.random.default_rng([seed, task.length])

    def next_batch(_):
        return [torch.from_numpy(part) for part in task.draw(rng, max(1, TOKENS_PER_STEP // task.length))]

    seconds = train.optimize(model, next_batch, loss_of, steps, RATE, every=steps // 4)
    tokens, targets = task.draw(np.random.default_rng(TEST_SEED), TEST_COUNT)
    with tempfile.TemporaryDirectory() as folder:
        weft_models.save_model(folder, model, config)
        logits = by_weft(folder, tokens)
    return {"model": name, "seed": seed, "steps": steps, "length": task.length, "chance": task.chance,
            "parameters": sum(p.numel() for p in model.parameters()),
            "accuracy": round(right(logits, targets), 4), "seconds": round(seconds)}


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(rows):
    """Markdown: a line for each model, a column for each task and length, the seeds' median and extremes."""
    columns = sorted({(row["task"], row["length"]) for row in rows})
    lines = ["| Model | " + " | ".join(f"{task}, {length} tokens" for task, length in columns) + " |",
             "|---" * (len(columns) + 1) + "|"]
    for name in MODELS:
        cells = []
        for column in columns:
            found = [100 * row["accuracy"] for row in rows
                     if (row["task"], row["length"]) == column and row["model"] == name]
            cells.append(f"{np.median(found):.1f} ({min(found):.1f} … {max(found):.1f})" if found else "–")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--task", choices=sorted(data_mixing.TASKS))
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--model", nargs="*", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--table", action="store_true", help="print the results' table, and train nothing")
    args = parser.parse_args()
    if args.table:
        print(table(read(args.results)))
        return
    if not args.task:
        parser.error("--task is missing")
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    task = data_mixing.TASKS[args.task](args.length)
    for seed in range(args.seeds):
        for name in args.model:
            key = {"task": args.task, "model": name, "seed": seed, "length": args.length, "steps": args.steps}
            if any(key.items() <= row.items() for row in read(args.results)):
                continue
            print(f"{args.task}, {args.length} tokens: {name}, seed {seed}", flush=True)
            row = {"task": args.task, **trained(task, name, seed, args.steps)}
            with args.results.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)


if __name__ == "__main__":
    main()
