# SPDX-License-Identifier: MIT
"""FLT and a Performer on clouds of charges: FLT's Table 3 in small.

    points.py RESULTS.jsonl [--model NAME …] [--seeds K] [--steps S]
    points.py RESULTS.jsonl --table

The clouds are those of data_points.py: 32 charges in space, and the energy of their pairs is to be said. FLT takes positions
as positions, and the others as three more features of each token, since linear attention has no other place for them. A model
is judged by the root mean square error, in standard deviations, on clouds that no training has seen, by Weft on the model
folder that was just written; other clouds choose the learning rate (trials.py). A row of RESULTS.jsonl is one training.
"""

import pathlib
import tempfile

import numpy as np

import data_points
import mixing
import trials

CLOUDS, TEST_SEED, VALIDATION_SEED, CLOUDS_PER_STEP = 1000, 7, 8, 64
ERROR = trials.Measure("error", digits=3, fewer=True, bounds=(0.0, float("inf")))
HEADS = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
MODELS = {
    "softmax": {"model_type": "transformer", **HEADS},
    "linear": {"model_type": "fmmformer", "kernels": ["elu1"], **HEADS},
    "Performer": {"model_type": "performer", "num_features": 64, **HEADS},
    "FLT": {"model_type": "flt", "num_features": 64, "positions": "input", "position_size": data_points.DIMENSIONS,
            "position_features": 16, **HEADS},
}


def config_of(name):
    fields = {"position_embedding": "none"} if name != "FLT" else {}
    size = 1 if name == "FLT" else 1 + data_points.DIMENSIONS
    return {**MODELS[name], **fields, **data_points.Data.config, "input_size": size}


def inputs_of(name, charges, positions):
    return (charges, positions) if name == "FLT" else (np.concatenate([charges, positions], -1),)


def errors_by_weft(folder, name, draws):
    import weft
    model = weft.load(folder)
    for charges, positions, targets in draws:
        inputs, *placed = inputs_of(name, charges, positions)
        found = [model.logits(inputs[at:at + 50], positions=placed[0][at:at + 50] if placed else None)
                 for at in range(0, CLOUDS, 50)]
        yield round(float(np.sqrt(np.mean((np.concatenate(found)[:, 0] - targets) ** 2))), 4)


def trained(key, data):
    """What a row says besides its key."""
    import torch

    import train
    import weft_models
    torch.manual_seed(key["seed"])
    config, rng = config_of(key["model"]), np.random.default_rng(key["seed"])
    model = weft_models.Model(config)

    def next_batch(_):
        charges, positions, energies = data.train_batch(rng, CLOUDS_PER_STEP)
        return [torch.from_numpy(part) for part in (*inputs_of(key["model"], charges, positions), energies)]

    seconds = train.optimize(model, next_batch, torch.nn.functional.mse_loss, key["steps"], key["rate"],
                             every=key["steps"] // 4)
    draws = [data.sample(np.random.default_rng(seed), CLOUDS) for seed in (VALIDATION_SEED, TEST_SEED)]
    with tempfile.TemporaryDirectory() as folder:
        weft_models.save_model(pathlib.Path(folder), model, config)
        validation, test = errors_by_weft(folder, key["model"], draws)
    chance = float(np.sqrt(np.mean((draws[0][2] - draws[0][2].mean()) ** 2)))
    return {"chance": round(chance, 4), "parameters": sum(p.numel() for p in model.parameters()), "validation": validation,
            "test": test, "seconds": round(seconds)}


def learns(rows):
    """Whether the best of the rates leaves a twentieth less than the error of who always says the mean."""
    return rows[0]["validation"] < 0.95 * rows[0]["chance"]


def table(rows):
    """Markdown: a line for each model."""
    return trials.table_of(rows, MODELS, ERROR, learns)


def main():
    args = trials.parser_of(__doc__, MODELS, steps=600).parse_args()

    def make_train():
        data = data_points.Data()
        return lambda key: trained(key, data)

    trials.run(args, table, {"task": "points"}, make_train, ERROR)


if __name__ == "__main__":
    main()
