# SPDX-License-Identifier: MIT
"""Trains every mixer on tasks that need mixing, and has Weft say how well each has learnt.

    mixing.py RESULTS.jsonl --task copy|copy-fixed|restore|recall --length N [--model NAME …] [--seeds K] [--steps S]
    mixing.py RESULTS.jsonl --task copy|copy-fixed|restore|recall --length N --table

All models have two layers of 64 channels, numbers of parameters within 5 %, and the same steps and batches; the learning
rate is the best of three (trials.py) on sequences that neither training nor test has. A training ends early when the task is
solved. A row of RESULTS.jsonl is one training: its share of right symbols in 256 sequences that no training has seen, by
Weft on the model folder that was just written. What RESULTS.jsonl holds already is not trained again.
"""

import pathlib
import tempfile

import numpy as np

import data_mixing
import trials

BAND, WIDER = 10, (20, 30)  # half-widths
FAR_FIRST = "FMMformer, 1 kernel, far field first"  # sigmoids of the blend begin at 0.05 and 0.95, not at 0.5
GAUSSIANS, LOCAL = "FLT, g of 25 Gaussians", "FLT, g local"  # the paper's ways to learn g: weft_models.TransformPositions
TWO, THREE = ["elu1", "elu1_negated"], ["elu1", "elu1_negated", "tanh1"]  # tanh1: sums of the paper's tanh can vanish


def with_band(fields, half_width, of=""):
    """The FMMformers of a band: what the page calls each, and its config."""
    banded = {"model_type": "fmmformer", **fields, "half_width": half_width}
    fmmformer = f"FMMformer{f', band{of}' if of else ''}"
    return {
        f"band{of}": banded,
        f"{fmmformer}, 1 kernel": {**banded, "kernels": ["elu1"]},
        f"{fmmformer}, 2 kernels": {**banded, "kernels": TWO},
        f"{fmmformer}, 3 kernels": {**banded, "kernels": THREE},
        f"{fmmformer}, fast weight": {**banded, "fast_weight": True},
        f"{fmmformer}, 2 fast weights": {**banded, "fast_weight": TWO},
    }


def with_heads(fields):
    """Every causal mixer of queries, keys and values but FLT: what the page calls it, and its config."""
    fmmformer = {"model_type": "fmmformer", **fields}
    wider = [with_band(fields, width, f" of {width}") for width in WIDER]
    return {
        "feed-forward alone": {**fmmformer, "half_width": 0},
        "softmax": {"model_type": "transformer", **fields},
        "linear": {**fmmformer, "kernels": ["elu1"]},
        "linear, 2 kernels": {**fmmformer, "kernels": TWO},
        "linear, 3 kernels": {**fmmformer, "kernels": THREE},
        "fast weight": {**fmmformer, "fast_weight": True},
        "2 fast weights": {**fmmformer, "fast_weight": TWO},
        **with_band(fields, BAND), **wider[0], **wider[1],
        "Performer": {"model_type": "performer", **fields, "num_features": 32},
        "cosFormer": {"model_type": "cosformer", **fields, "cosformer_length": 512},
    }


SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128, "position_embedding": "sinusoidal"}
HEADS = {**SMALL, "num_attention_heads": 2}
RANDOM = {**HEADS, "num_features": 32}
GTU = {**SMALL, "expand_ratio": 1, "gtu_norm": True, "feed_forward": "mlp"}
RPE = {**GTU, "rpe_size": 32}
FLT = {"model_type": "flt", **RANDOM}

# Spectraformer's 18 combinations, by the paper's names. PosRF-ORF is the Performer.
COMPONENTS = {"PosRF": "positive", "OPRF": "optimal", "SADERF": "asymmetric"}
DRAWN = ("sorf", "qmc", "mm")  # by weft.features; weft_models draws the others
MATRICES = {"ORF": "orf", "SORF": "sorf", "QMC": "qmc", "MM": "mm", "SGQ": "sgq", "FastFood_L": "fastfood"}
ROWS = {"SGQ": 65, "MM": 64}  # of 32 columns: SGQ has two a column and one more, MM more rows than columns by far
GRID = {f"Spectraformer, {f}-{w}": {"model_type": "spectraformer", **RANDOM, "component": COMPONENTS[f],
                                    "weight_matrix": MATRICES[w], "num_features": ROWS.get(w, RANDOM["num_features"])}
        for w in MATRICES for f in COMPONENTS if (f, w) != ("PosRF", "ORF")}

MODELS = {
    **with_heads(HEADS),
    FAR_FIRST: {"model_type": "fmmformer", **HEADS, "half_width": BAND, "kernels": ["elu1"]},
    "FLT": {**FLT, "position_features": 8},
    GAUSSIANS: {**FLT, "position_features": 32},
    LOCAL: {**FLT, "position_features": 32},
    **GRID,
    "TNN": {"model_type": "tnn", **RPE, "decay": "none", "intermediate_size": 118},
    "FD-TNN": {"model_type": "fd-tnn", **RPE, "intermediate_size": 110},
    "SKI-TNN": {"model_type": "ski-tnn", **GTU, "ski_points": 32, "ski_taps": 7, "gamma": 0.99,
                "intermediate_size": 123},
    "FNet": {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 179, "tokenizer_class": None},
}
CAUSAL_ONLY = {FAR_FIRST, *(name for name, config in MODELS.items() if config.get("fast_weight"))}
BOTH_WAYS_ONLY = {*GRID, "SKI-TNN", "FNet"}
TEST_COUNT, TEST_SEED, VALIDATION_SEED, TOKENS_PER_STEP = 256, 7, 8, 1024
SOLVED = 0.01  # nats; batches never come twice, so that a loss in training is one on unseen sequences


def loss_of(outputs, targets):
    import torch.nn.functional as F
    return F.cross_entropy(outputs.flatten(0, -2), targets.flatten(), ignore_index=data_mixing.IGNORED)


def right(logits, targets):
    """The share of the targets that have the largest logit."""
    counted = targets != data_mixing.IGNORED
    return round(float(np.mean(logits.argmax(-1)[counted] == targets[counted])), 4)


def by_weft(folder, *tokens):
    """The logits of a folder on the first device, for each array of tokens."""
    import weft
    model = weft.load(folder)
    return [np.concatenate([np.asarray(model(rows[at:at + 8].astype(np.int32))) for at in range(0, len(rows), 8)])
            for rows in tokens]


def draw_rows(kind, model, seed):
    """Draws W of every layer by weft.features."""
    import torch
    import weft
    for i, layer in enumerate(model.layers):
        weight = layer.mixer.features.weight
        rows, _ = weft.features.fill(kind, *weight.shape, seed=seed, matrix=i)
        weight.copy_(torch.from_numpy(rows))


def module_of(name, config, seed=0):
    """(module, its function save(folder)) of a config. The name says what the config does not: how it begins, or learns."""
    import torch

    import weft_models
    model = weft_models.Model(config)
    if name == FAR_FIRST:
        for layer in model.layers:
            torch.nn.init.constant_(layer.mixer.near_weight, -3.0)
            torch.nn.init.constant_(layer.mixer.far_weight, 3.0)
    if config.get("weight_matrix") in DRAWN:
        draw_rows(config["weight_matrix"], model, seed)
    if name in (GAUSSIANS, LOCAL):
        weft_models.learn_transforms(model, weft_models.GaussianMixturePositions if name == GAUSSIANS else
                                     weft_models.LocalPositions)
        return model, lambda folder: weft_models.save_model(folder, weft_models.bake(model), config)
    return model, lambda folder: weft_models.save_model(folder, model, config)


def make_model(name, fields, seed=0):
    """(module, its function save(folder)) of a name of MODELS and the task's fields."""
    if name == "FNet":
        import train
        model = train.Fnet(**MODELS[name], **fields)
        return model, model.save
    return module_of(name, {**MODELS[name], **fields}, seed)


def trained(key, task):
    """What a row says besides its key."""
    import torch

    import train
    torch.manual_seed(key["seed"])
    fields = {"vocab_size": task.vocabulary, "max_position_embeddings": task.length}
    if key["model"] != "FNet":
        fields["task"] = task.head
    model, save = make_model(key["model"], fields, key["seed"])
    rng = np.random.default_rng([key["seed"], task.length])

    def next_batch(_):
        return [torch.from_numpy(part) for part in task.draw(rng, TOKENS_PER_STEP // task.length)]

    seconds = train.optimize(model, next_batch, loss_of, key["steps"], key["rate"], every=100, enough=SOLVED)
    validation, test = (task.draw(np.random.default_rng(seed), TEST_COUNT) for seed in (VALIDATION_SEED, TEST_SEED))
    control = task.control(np.random.default_rng(TEST_SEED), test[0])
    with tempfile.TemporaryDirectory() as folder:
        save(pathlib.Path(folder))
        logits = by_weft(folder, validation[0], test[0], control)
    return {"chance": task.chance, "parameters": sum(p.numel() for p in model.parameters()),
            "validation": right(logits[0], validation[1]), "test": right(logits[1], test[1]),
            "control": right(logits[2], test[1]), "seconds": round(seconds)}


def learns(rows):
    """Whether the best of the rates is a twentieth of the way from chance to all right."""
    return rows[0]["validation"] > rows[0]["chance"] + (1 - rows[0]["chance"]) / 20


def table(rows):
    """Markdown: a line for each model."""
    def control(runs):
        return trials.RIGHT.text(max(trials.RIGHT.of(runs, "control")))
    return trials.table_of(rows, MODELS, trials.RIGHT, learns, [("control, at most", control)])


def main():
    parser = trials.parser_of(__doc__, MODELS, steps=1500)
    parser.add_argument("--task", choices=sorted(data_mixing.TASKS), required=True)
    parser.add_argument("--length", type=int, default=128)
    args = parser.parse_args()
    unfit = CAUSAL_ONLY if data_mixing.TASKS[args.task].head == "masked_lm" else BOTH_WAYS_ONLY
    args.model = [name for name in args.model if name not in unfit]
    fields = {"task": args.task, "length": args.length}

    def make_train():
        task = data_mixing.TASKS[args.task](args.length)
        return lambda key: trained(key, task)

    trials.run(args, lambda rows: table(trials.matching(rows, **fields)), fields, make_train, trials.RIGHT)


if __name__ == "__main__":
    main()
