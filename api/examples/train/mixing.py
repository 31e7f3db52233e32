# SPDX-License-Identifier: MIT
"""Trains every mixer on tasks that need mixing, and has Weft say how well each has learnt.

    mixing.py RESULTS.jsonl --task copy|restore|recall --length N [--model NAME …] [--seeds K] [--steps S]
    mixing.py RESULTS.jsonl --table

All models have two layers of 64 channels, numbers of parameters within 5 %, and the same steps, batches and learning
rate. A training ends early when the task is solved. A row of RESULTS.jsonl is one training: its accuracy on 64 sequences
that no training has seen, by Weft on the model folder that was just written. What RESULTS.jsonl holds already is not
trained again.
"""

import pathlib
import tempfile

import numpy as np

import data_mixing
import trials

BAND = 8
FAR_FIRST = "FMMformer, 1 kernel, far field first"  # sigmoids of the blend begin at 0.05 and 0.95, not at 0.5


def with_heads(fields):
    """Every causal mixer of queries, keys and values but FLT: what the page calls it, and its config."""
    fmmformer = {"model_type": "fmmformer", **fields}
    return {
        "feed-forward alone": {**fmmformer, "half_width": 0},
        "softmax": {"model_type": "transformer", **fields},
        "linear": {**fmmformer, "kernels": ["elu1"]},
        "band": {**fmmformer, "half_width": BAND},
        "FMMformer, 1 kernel": {**fmmformer, "half_width": BAND, "kernels": ["elu1"]},
        "FMMformer, 2 kernels": {**fmmformer, "half_width": BAND, "kernels": ["elu1", "elu1_negated"]},
        "FMMformer, fast weight": {**fmmformer, "half_width": BAND, "fast_weight": True},
        "Performer": {"model_type": "performer", **fields, "num_features": 32},
    }


SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128, "position_embedding": "sinusoidal"}
HEADS = {**SMALL, "num_attention_heads": 2}
RANDOM = {**HEADS, "num_features": 32}
GTU = {**SMALL, "expand_ratio": 1, "gtu_norm": True, "feed_forward": "mlp"}
RPE = {**GTU, "rpe_size": 32}
MODELS = {
    **with_heads(HEADS),
    FAR_FIRST: {"model_type": "fmmformer", **HEADS, "half_width": BAND, "kernels": ["elu1"]},
    "FLT": {"model_type": "flt", **RANDOM, "position_features": 8},
    "Spectraformer, OPRF-ORF": {"model_type": "spectraformer", **RANDOM, "component": "optimal", "weight_matrix": "orf"},
    "Spectraformer, SADERF-ORF": {"model_type": "spectraformer", **RANDOM, "component": "asymmetric",
                                  "weight_matrix": "orf"},
    "TNN": {"model_type": "tnn", **RPE, "decay": "none", "intermediate_size": 118},
    "FD-TNN": {"model_type": "fd-tnn", **RPE, "intermediate_size": 110},
    "SKI-TNN": {"model_type": "ski-tnn", **GTU, "ski_points": 32, "ski_taps": 7, "gamma": 0.99,
                "intermediate_size": 123},
    "FNet": {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 179, "tokenizer_class": None},
}
CAUSAL_ONLY = {"FMMformer, fast weight", FAR_FIRST}
BOTH_WAYS_ONLY = {"Spectraformer, OPRF-ORF", "Spectraformer, SADERF-ORF", "SKI-TNN", "FNet"}
TEST_COUNT, TEST_SEED, TOKENS_PER_STEP, RATE = 64, 7, 1024, 6e-3
SOLVED = 0.01  # nats; batches never come twice, so that a loss in training is one on unseen sequences


def loss_of(outputs, targets):
    import torch.nn.functional as F
    return F.cross_entropy(outputs.flatten(0, -2), targets.flatten(), ignore_index=data_mixing.IGNORED)


def right(logits, targets):
    """The share of the targets that have the largest logit."""
    counted = targets != data_mixing.IGNORED
    return float(np.mean(logits.argmax(-1)[counted] == targets[counted]))


def by_weft(folder, tokens):
    """The logits of a folder on the first device."""
    import weft
    model = weft.load(folder)
    return np.concatenate([np.asarray(model(tokens[at:at + 8].astype(np.int32)))
                           for at in range(0, len(tokens), 8)])


def make_model(name, fields):
    """(module, its function save(folder)) of a name of MODELS and the task's fields."""
    import torch

    import train
    import weft_models
    if name == "FNet":
        model = train.Fnet(**MODELS[name], **fields)
        return model, model.save
    config = {**MODELS[name], **fields}
    model = weft_models.Model(config)
    if name == FAR_FIRST:
        for layer in model.layers:
            torch.nn.init.constant_(layer.mixer.near_weight, -3.0)
            torch.nn.init.constant_(layer.mixer.far_weight, 3.0)
    return model, lambda folder: weft_models.save_model(folder, model, config)


def trained(key, task):
    """What a row says besides its key."""
    import torch

    import train
    torch.manual_seed(key["seed"])
    fields = {"vocab_size": task.vocabulary, "max_position_embeddings": task.length}
    if key["model"] != "FNet":
        fields["task"] = task.head
    model, save = make_model(key["model"], fields)
    rng = np.random.default_rng([key["seed"], task.length])

    def next_batch(_):
        return [torch.from_numpy(part) for part in task.draw(rng, TOKENS_PER_STEP // task.length)]

    seconds = train.optimize(model, next_batch, loss_of, key["steps"], RATE, every=100, enough=SOLVED)
    tokens, targets = task.draw(np.random.default_rng(TEST_SEED), TEST_COUNT)
    with tempfile.TemporaryDirectory() as folder:
        save(pathlib.Path(folder))
        logits = by_weft(folder, tokens)
    return {"chance": task.chance, "parameters": sum(p.numel() for p in model.parameters()),
            "accuracy": round(right(logits, targets), 4), "seconds": round(seconds)}


def table(rows):
    """Markdown: a line for each model, a column for each task and length."""
    columns = sorted({(row["task"], row["length"]) for row in rows})
    lines = []
    for name in MODELS:
        cells = [[100 * row["accuracy"] for row in trials.matching(rows, model=name, task=task, length=length)]
                 for task, length in columns]
        if any(cells):
            lines.append([name, *map(trials.spread, cells)])
    return trials.markdown(["Model", *(f"{task}, {length} tokens" for task, length in columns)], lines)


def main():
    parser = trials.parser_of(__doc__, MODELS, steps=2000)
    parser.add_argument("--task", choices=sorted(data_mixing.TASKS))
    parser.add_argument("--length", type=int, default=128)
    args = parser.parse_args()
    if not args.table and not args.task:
        parser.error("--task is missing")
    if args.task:
        unfit = CAUSAL_ONLY if data_mixing.TASKS[args.task].head == "masked_lm" else BOTH_WAYS_ONLY
        args.model = [name for name in args.model if name not in unfit]

    def make_measure():
        task = data_mixing.TASKS[args.task](args.length)
        return lambda key: trained(key, task)

    trials.run(args, table, {"task": args.task, "length": args.length}, make_measure)


if __name__ == "__main__":
    main()
