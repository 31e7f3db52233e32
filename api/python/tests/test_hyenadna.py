# SPDX-License-Identifier: MIT
# weft-test: long
"""HyenaDNA in the layout of its folders on Hugging Face, against its formulas in float64."""

import sys

import numpy as np
import pytest

import weft
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "reference"))
from hyenadna_reference import SMALL, hidden_state, random_tensors, write  # noqa: E402

CONFIG = {**SMALL, "d_model": 24, "d_inner": 40, "max_seq_len": 300, "filter_order": 10}


def relative_l2(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("length", [1, 2, 50, 193, CONFIG["max_seq_len"]])
def test_against_the_formulas(device, tmp_path, length):
    """Short sequences by the definition, longer ones by transforms."""
    tensors = random_tensors(CONFIG, 3)
    tokens = np.random.default_rng(length).integers(0, CONFIG["vocab_size"], (2, length))
    hidden = np.stack([hidden_state(CONFIG, tensors, row) for row in tokens])
    with weft.load(write(tmp_path / "lm", CONFIG, tensors, "HyenaDNAForCausalLM"), device) as model:
        assert (model.info.vocabulary, model.info.max_length, model.info.causal) == (16, CONFIG["max_seq_len"], True)
        assert relative_l2(model.hidden(tokens), hidden) <= 1e-5
        assert relative_l2(model.logits(tokens), hidden @ tensors["lm_head.weight"].T.astype(np.float64)) <= 1e-5
    with weft.load(write(tmp_path / "labels", CONFIG, tensors, "HyenaDNAForSequenceClassification"), device) as model:
        assert model.info.label_count == CONFIG["num_labels"]
        assert relative_l2(model.logits(tokens), hidden[:, -1] @ tensors["score.weight"].T.astype(np.float64)) <= 1e-5
    bare = {label.removeprefix("hyena."): values for label, values in tensors.items() if label.startswith("hyena.")}
    with weft.load(write(tmp_path / "bare", CONFIG, bare, "HyenaDNAModel"), device) as model:
        assert relative_l2(model.logits(tokens), hidden) <= 1e-5


@pytest.mark.parametrize(("field", "value"), [("hyena_order", 3), ("short_filter_order", 4), ("layer_norm_epsilon", 1e-6)])
def test_what_is_refused(device, tmp_path, field, value):
    with pytest.raises(weft.BadFile, match=field):
        weft.load(write(tmp_path, {**CONFIG, field: value}, random_tensors(CONFIG, 1), "HyenaDNAForCausalLM"), device)
