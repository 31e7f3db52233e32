# SPDX-License-Identifier: MIT
# weft-test: long
"""Modules with transformers' Mamba inside: its scan is one node for any length, though the fallback goes through the tokens."""

import copy
import sys

import numpy as np
import pytest
import torch

import program_reference
import weft
from saved_models import module_of, relative_l2

FIELDS = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 5, "pad_token_id": None}


class Scores(torch.nn.Module):
    """The mean of all tokens' states, by a map: no class that a folder names."""

    def __init__(self, inside):
        super().__init__()
        self.inside, self.map = inside, torch.nn.Linear(16, 3)

    def forward(self, tokens):
        return self.map(self.inside(tokens).last_hidden_state.mean(1))


def exactly(module, tokens):
    with torch.no_grad():
        return module.double()(torch.as_tensor(tokens)).numpy()


@pytest.mark.parametrize("fields", [{}, {"use_cache": False, "use_bias": True}], ids=str)
@pytest.mark.parametrize("name", ["MambaModel", "FalconMambaModel"])
def test_any_length(device, name, fields):
    """With its cache, whose states nobody reads, and without."""
    from weft._importers.torch import export

    module = Scores(module_of(name, {**FIELDS, **fields})).eval()
    file = sys.modules[type(module.inside).__module__]
    usual = file.mamba_selective_scan
    tokens = np.random.default_rng(1).integers(0, 40, (2, 9))
    axes = [{0: "batch", 1: "length"}]
    program = export.program_of(module, (torch.as_tensor(tokens),), {}, axes)
    assert file.mamba_selective_scan is usual
    ops = [node["op"] for node in program.config()["nodes"]]
    assert ops.count("selective_scan") == 2 and ops.count("conv1d") <= 2 and len(ops) < 150, ops
    with weft.from_torch(module, (torch.as_tensor(tokens),), device, dynamic=axes) as model:
        for length in (1, 2, 9, 130) if fields else (4, 9, 130):  # the cache pads shorter texts, which fixes their length
            given = np.random.default_rng(length).integers(0, 40, (3, length))
            exact = exactly(copy.deepcopy(module), given)
            inside = program_reference.run(program.config(), program.weights(), {program.inputs[0].name: given}).values()
            assert relative_l2(np.asarray(model(given)), exact) <= 1e-5 and relative_l2(next(iter(inside)), exact) <= 1e-5
