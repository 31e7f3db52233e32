# SPDX-License-Identifier: MIT
"""Makes the folders tnn_public_* of tests/data/models: stacks of tnn-pytorch's TnnLayer as models.

    make_tnn_model_goldens.py --tnn-pytorch DIR     a checkout, as make_tnn_goldens.py takes it

Tokens are embedded, go through the layers and a last norm of tnn-pytorch. Weights are written under
the names that the modules give them, with `layers.I.` in front: nothing is renamed or reshaped, so
the decays have the shape [heads, 1, channels of a head]. The files are those of
make_model_goldens.py; expected.npz is the public code computed in float64, rounded to float32.
"""

import copy
import json
import os
import shutil
from dataclasses import dataclass

os.environ["LOGLEVEL"] = "ERROR"  # its modules print their arguments otherwise

import numpy as np
import torch
from safetensors.numpy import save_file

import goldens
import make_tnn_goldens
from make_model_goldens import FLOAT32_LIMIT, FOLDER, save_npz

VOCABULARY, WIDTH, GLU, RPE = 20, 8, 11, 12
CASES = ((2, 7), (1, 2), (1, 33))  # batch, length; the public code does not take one token


@dataclass(frozen=True)
class Golden:
    """Arguments of the public constructors, and the same in config.json."""

    name: str
    seed: int
    layer: dict
    gtu: dict | None  # TnnLayer does not pass all of them on: its Gtu is made anew with these
    config: dict


GOLDENS = [
    Golden(
        "tnn_public_fixed",
        401,
        {"num_heads": 2, "rpe_layers": 2, "use_decay": True, "gamma": 0.8},
        None,
        # gamma is not named: the stored decays are to be used, not the default
        {"rpe_layers": 2, "decay": "fixed"},
    ),
    Golden(
        "tnn_public_causal_learned",
        402,
        {"num_heads": 1, "causal": True},
        {
            "num_heads": 4,
            "causal": True,
            "expand_ratio": 2,
            "use_multi_decay": True,
            "gamma": 0.7,
            "par_type": 2,
            "residual": True,
            "rpe_act": "silu",
            "rpe_layers": 1,
            "use_norm": True,
        },
        {
            "causal": True,
            "expand_ratio": 2,
            "decay": "learned",
            "gamma": 0.7,
            "rpe_input": "lag_fraction",
            "rpe_residual": True,
            "rpe_act": "silu",
            "rpe_layers": 1,
            "gtu_norm": True,
        },
    ),
    Golden(
        "tnn_public_layer_norm",
        403,
        {"num_heads": 2, "norm_type": "layernorm", "gtu_act": "relu", "rpe_act": "gelu"},
        None,
        {"norm": "layer_norm", "rpe_norm": "layer_norm", "gtu_act": "relu", "rpe_act": "gelu"},
    ),
]


class Stack(torch.nn.Module):
    def __init__(self, package, golden):
        super().__init__()
        from tnn_pytorch.helpers import get_norm_fn

        self.embeddings = torch.nn.Module()
        self.embeddings.tokens = torch.nn.Embedding(VOCABULARY, WIDTH)
        arguments = {"dim": WIDTH, "rpe_embedding": RPE, "glu_dim": GLU, **golden.layer}
        self.layers = torch.nn.ModuleList(package.TnnLayer(**arguments) for _ in range(2))
        if golden.gtu:
            for layer in self.layers:
                layer.token_mixer = package.Gtu(
                    embed_dim=WIDTH, rpe_embedding=RPE, **golden.gtu
                )
        self.norm = get_norm_fn(golden.layer.get("norm_type", "simplermsnorm"))(WIDTH)

    def forward(self, tokens):
        x = self.embeddings.tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


def config_of(golden):
    return {
        "model_type": "tnn",
        "task": "hidden",
        "vocab_size": VOCABULARY,
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "intermediate_size": GLU,
        "max_position_embeddings": 64,
        "hidden_act": "silu",
        "rpe_size": RPE,
        "norm": "simple_rms_norm",
        **golden.config,
    }


def make(package, golden):
    model = Stack(package, golden).eval()
    make_tnn_goldens.fill_weights(model, golden.seed)
    truth = copy.deepcopy(model).double()
    inputs, outputs, worst = {}, {}, 0.0
    for i, (batch, n) in enumerate(CASES):
        rng = goldens.generator(golden.seed, 1, i)
        tokens = rng.integers(0, VOCABULARY, (batch, n)).astype(np.int32)
        ids = torch.from_numpy(tokens.astype(np.int64))
        exact = truth(ids).numpy()
        assert exact.dtype == np.float64 and exact.shape == (batch, n, WIDTH)
        worst = max(worst, goldens.relative_l2(model(ids).numpy(), exact))
        inputs[f"tokens{i}"] = tokens
        outputs[f"output{i}"] = exact.astype(np.float32)
    if not worst <= FLOAT32_LIMIT:
        raise SystemExit(f"{golden.name}: float32 is off by {worst:.1e}")
    folder = FOLDER / golden.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config_of(golden), indent=2) + "\n")
    tensors = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    save_file(
        {name: np.ascontiguousarray(value) for name, value in tensors.items()},
        folder / "model.safetensors",
    )
    save_npz(folder / "input.npz", inputs)
    save_npz(folder / "expected.npz", outputs)
    print(f"{golden.name:44} seed {golden.seed}  float32 against float64 {worst:.1e}")


def main():
    package = make_tnn_goldens.public_package(__doc__)
    goldens.use_one_thread()
    for golden in GOLDENS:
        make(package, golden)


if __name__ == "__main__":
    main()
