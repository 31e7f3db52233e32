# SPDX-License-Identifier: MIT
"""Makes a model folder of PyTorch weights and a config.

    convert.py WEIGHTS CONFIG.json FOLDER [--float16] [--rename OLD=NEW]... [--drop NAME]...

WEIGHTS is a state_dict: a .pt file as torch.save writes it, or .safetensors. Its names are those of
the modules in weft_models.py, which for `layers.{i}.token_mixer`, `.token_norm`, `.feature_mixer`
and `.feature_norm` are also those of tnn-pytorch's TnnLayer. What is named otherwise (an embedding,
a head) gets its name by --rename, where OLD and NEW may be beginnings of names, ending in a dot;
what the network does not have is left out by --drop alone. Every tensor is checked against the
config: one that is missing, too many, of another shape or not finite is an error.

From a training script, weft_models.save_model writes the same without this detour.
"""

import argparse
import json
import pathlib
import sys

import torch

import weft_models


def read_weights(path):
    """{name: tensor} of a state_dict."""
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file
        return load_file(path)
    weights = torch.load(path, map_location="cpu", weights_only=True)
    other = [name for name, value in weights.items() if not isinstance(value, torch.Tensor)]
    if other:
        raise SystemExit(f"{path}: no state_dict: {', '.join(other[:5])} are no tensors")
    return weights


def renamed(weights, renames, drops):
    """`weights` under their new names. A rename or drop that meets nothing is an error."""
    for name in drops:
        if name not in weights:
            raise SystemExit(f"--drop {name}: there is no such tensor")
    found, used = {}, set()
    for name, tensor in weights.items():
        if name in drops:
            continue
        new = name
        for old, replacement in renames:
            if name == old or old.endswith(".") and name.startswith(old):
                new = replacement + name[len(old):]
                used.add(old)
                break
        if new in found:
            raise SystemExit(f"{name}: two tensors would be {new}")
        found[new] = tensor
    unused = [old for old, _ in renames if old not in used]
    if unused:
        raise SystemExit(f"--rename {unused[0]}: there is no such tensor")
    return found


def pair(text):
    old, equals, new = text.partition("=")
    if not (old and equals) or old.endswith(".") and new and not new.endswith("."):
        raise argparse.ArgumentTypeError(f"{text!r} is no OLD=NEW, or one is no beginning of names")
    return old, new


def checked(config, weights):
    """A module of `config` that has `weights`, or an error that names the first that do not fit."""
    module = weft_models.Model(config)
    try:
        weft_models.load_weights(module, weights)
    except ValueError as error:
        raise SystemExit(str(error)) from error
    for name, tensor in weights.items():
        if not torch.isfinite(tensor).all():
            raise SystemExit(f"{name} has elements that are not finite")
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights", type=pathlib.Path, help=".pt or .safetensors")
    parser.add_argument("config", type=pathlib.Path, help="the fields of config.json")
    parser.add_argument("folder", type=pathlib.Path, help="model folder to write")
    parser.add_argument("--float16", action="store_true", help="store half precision")
    parser.add_argument("--rename", type=pair, action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("--drop", action="append", default=[], metavar="NAME")
    args = parser.parse_args()
    config = json.loads(args.config.read_text(encoding="utf-8"))
    module = checked(config, renamed(read_weights(args.weights), args.rename, args.drop))
    weft_models.save_model(args.folder, module, config,
                           torch.float16 if args.float16 else torch.float32)
    count = sum(t.numel() for t in module.state_dict().values())
    print(f"{args.folder}: {config['model_type']}, {len(module.state_dict())} tensors, {count}"
          " elements")


if __name__ == "__main__":
    sys.exit(main())
