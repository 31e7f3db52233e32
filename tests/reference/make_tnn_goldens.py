# SPDX-License-Identifier: MIT
"""Makes PyTorch's float32 output of tnn-pytorch's Tno, Gtu, GLU and TnnLayer with random weights.

The code is that of the public repository Doraemonzzz/tnn-pytorch at REVISION; the packages of that
name on PyPI hold no module. Give a checkout of it:

    make_tnn_goldens.py --tnn-pytorch DIR      into tests/data/tnn

Each case is one file NAME.safetensors: the module's parameters under their own names, `x` and
`expected`. Sequences are [B, n, channels]; Tno's [B, h, n, d] are the channels h·d of it.
"""

import argparse
import copy
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

os.environ["LOGLEVEL"] = "ERROR"  # its modules print their arguments otherwise

import numpy as np
import torch
from safetensors.numpy import save_file

import goldens

REVISION = "64b4c354d415ea78ef5b631252de77ceae1a4cc7"
FOLDER = Path(__file__).resolve().parent.parent / "data" / "tnn"


@dataclass(frozen=True)
class Golden:
    """One module and its input; `arguments` are those of the module's constructor."""

    name: str
    module: str
    seed: int
    batch: int
    n: int
    arguments: dict = field(default_factory=dict)


def tno(**more):
    return {"h": 2, "dim": 6, "rpe_dim": 16, **more}


def gtu(**more):
    return {"embed_dim": 10, "num_heads": 2, "rpe_embedding": 16, **more}


# tests/model/test_tnn_goldens.c has the same names and arguments.
GOLDENS = [
    Golden("tno_both", "Tno", 301, 2, 19, tno()),
    Golden(
        "tno_both_decay",
        "Tno",
        302,
        2,
        19,
        tno(use_decay=True, gamma=0.9, residual=True, act="silu"),
    ),
    Golden(
        "tno_both_fraction_multi",
        "Tno",
        303,
        1,
        31,
        tno(use_multi_decay=True, gamma=0.8, par_type=2, norm_type="layernorm"),
    ),
    Golden("tno_both_long", "Tno", 304, 1, 300, tno(h=1, dim=5, layers=1)),
    Golden("tno_causal", "Tno", 305, 2, 20, tno(causal=True)),
    Golden(
        "tno_causal_fraction_decay",
        "Tno",
        306,
        2,
        33,
        tno(causal=True, use_decay=True, gamma=0.99, par_type=2, act="gelu"),
    ),
    Golden("tno_causal_exp", "Tno", 307, 1, 40, tno(causal=True, par_type=3, bias=False)),
    Golden(
        "tno_causal_multi_long",
        "Tno",
        308,
        1,
        600,
        tno(h=1, dim=4, causal=True, use_multi_decay=True, gamma=0.99),
    ),
    Golden("gtu_both", "Gtu", 309, 2, 21, gtu(use_decay=True)),
    Golden(
        "gtu_causal_simple_norm",
        "Gtu",
        310,
        2,
        18,
        gtu(causal=True, use_norm=True, use_multi_decay=True, gamma=0.9, residual=True),
    ),
    Golden(
        "gtu_both_layer_norm",
        "Gtu",
        311,
        1,
        37,
        gtu(num_heads=1, expand_ratio=2, use_norm=True, norm_type="layernorm", par_type=2),
    ),
    Golden("gtu_relu_nobias", "Gtu", 312, 3, 7, gtu(act_fun="relu", bias=False, rpe_layers=1)),
    Golden("glu_silu", "GLU", 313, 2, 9, {"d1": 12, "d2": 25, "act_fun": "silu"}),
    Golden(
        "glu_nobias", "GLU", 314, 1, 17, {"d1": 7, "d2": 7, "act_fun": "none", "bias": False}
    ),
    Golden(
        "layer_pre",
        "TnnLayer",
        315,
        2,
        15,
        {"dim": 10, "num_heads": 1, "rpe_embedding": 16, "glu_dim": 14, "use_decay": True},
    ),
    Golden(
        "layer_post_causal",
        "TnnLayer",
        316,
        1,
        24,
        {
            "dim": 8,
            "num_heads": 2,
            "rpe_embedding": 8,
            "glu_dim": 9,
            "prenorm": False,
            "causal": True,
            "expand_ratio": 2,
        },
    ),
]


def fill_weights(model, seed):
    """Like goldens.fill_weights, for modules whose norms have no name: their scales have one axis.

    A fixed decay (the parameter without gradient) stays as the constructor made it.
    """
    rng = goldens.generator(seed, 0)
    for name, parameter in sorted(model.named_parameters()):
        if not parameter.requires_grad:
            continue
        value = rng.standard_normal(tuple(parameter.shape), dtype=np.float32)
        if name.endswith("bias"):
            value *= np.float32(0.1)
        elif name.endswith("weight") and value.ndim == 1:
            value = np.float32(1) + np.float32(0.2) * value
        elif name.endswith("weight"):
            value *= np.float32(1 / np.sqrt(parameter.shape[-1]))
        parameter.data.copy_(torch.from_numpy(value))


def channels_of(golden):
    arguments = golden.arguments
    if golden.module == "Tno":
        return arguments["h"] * arguments["dim"]
    return arguments.get("embed_dim") or arguments.get("d1") or arguments["dim"]


def run(model, golden, x):
    """The module on [B, n, channels]."""
    if golden.module != "Tno":
        return model(x).numpy()
    batch, n, _ = x.shape
    h = golden.arguments["h"]
    y = model(x.reshape(batch, n, h, -1).transpose(1, 2))
    return y.transpose(1, 2).reshape(batch, n, -1).numpy()


def make(package, golden):
    model = getattr(package, golden.module)(**golden.arguments).eval()
    fill_weights(model, golden.seed)
    shape = (golden.batch, golden.n, channels_of(golden))
    x = goldens.generator(golden.seed, 1).standard_normal(shape, dtype=np.float32)
    expected = run(model, golden, torch.from_numpy(x))
    exact = run(copy.deepcopy(model).double(), golden, torch.from_numpy(x).double())
    assert expected.dtype == np.float32 and exact.dtype == np.float64
    assert expected.shape == shape and np.isfinite(expected).all()
    error = goldens.relative_l2(expected, exact)
    if error > goldens.FLOAT32_LIMIT:
        raise SystemExit(
            f"{golden.name}: float32 is off by {error:.2e}, above {goldens.FLOAT32_LIMIT:.0e}"
        )
    tensors = {name: value.detach().numpy() for name, value in model.named_parameters()}
    tensors |= {"x": x, "expected": expected}
    save_file(
        {name: np.ascontiguousarray(value) for name, value in tensors.items()},
        FOLDER / f"{golden.name}.safetensors",
    )
    goldens.print_row(("tnn", golden.name, shape, error))


def public_package(description):
    """tnn_pytorch, of the checkout that the command line names."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tnn-pytorch",
        metavar="DIR",
        type=Path,
        required=True,
        help=f"a checkout of Doraemonzzz/tnn-pytorch at {REVISION}",
    )
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.tnn_pytorch))
    import tnn_pytorch

    return tnn_pytorch


def main():
    package = public_package(__doc__)
    goldens.use_one_thread()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.safetensors"):
        path.unlink()
    goldens.print_header()
    for golden in GOLDENS:
        make(package, golden)


if __name__ == "__main__":
    main()
