# SPDX-License-Identifier: MIT
"""Models of transformers with random weights, as modules and as folders of save_pretrained."""

from __future__ import annotations

import contextlib
import copy
import json

import numpy as np
import pytest
import safetensors.torch
import transformers

import random_weights
import weft


def module_of(name, fields, **outputs):
    """With weights that make every part visible: no bias is 0, no norm's weight 1. Experts as they are in float64, too."""
    kind = getattr(transformers, name)
    config = kind.config_class(**copy.deepcopy(fields), **outputs, experts_implementation="eager")  # configs write into fields
    return random_weights.fill(kind(config).eval())


def name_of(case, usual):
    """The class, and the fields that are not the usual ones."""
    *_, name, fields = case
    return "-".join([name, *(f"{key}={value}" for key, value in fields.items() if usual.get(key) != value)])


def saved_cases(cases, name, make):
    """A fixture: of each case make(*case), the model of its folder, and the folder."""
    @pytest.fixture(params=cases, ids=name, scope="module")
    def case(request, tmp_path_factory, device):
        module = make(*request.param)
        folder = tmp_path_factory.mktemp("model")
        module.save_pretrained(folder)
        with weft.load(folder, device) as model:
            yield module, model, folder
    return case


def edited(folder, module, weights=None, **fields):
    """The folder of the module with other fields of config.json, without those that are "absent", and with more weights."""
    module.save_pretrained(folder)
    config = {**json.loads((folder / "config.json").read_text()), **fields}
    (folder / "config.json").write_text(json.dumps({name: value for name, value in config.items() if value != "absent"}))
    if weights:
        found = safetensors.torch.load_file(folder / "model.safetensors")
        safetensors.torch.save_file({**found, **weights}, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@contextlib.contextmanager
def narrow_and_wide(folder, module, dtype, device):
    """The models of files of 16 bits and of the same weights as float32, which the module has then."""
    module.to(dtype).save_pretrained(folder / "narrow")
    module.float().save_pretrained(folder / "wide")
    with weft.load(folder / "narrow", device) as narrow, weft.load(folder / "wide", device) as wide:
        yield narrow, wide


def relative_l2(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)
