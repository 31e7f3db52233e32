# SPDX-License-Identifier: MIT
"""Makes FNet checkpoints with random weights and PyTorch's float32 output for them.

The checkpoints are made, filled, saved and read back with Hugging Face transformers, so that their
layout is the published one. See goldens.py for the folder layout and README.md for how to run this.

    make_fnet_goldens.py                 the small ones, into tests/data/fnet
    make_fnet_goldens.py --large DIR     hidden 768 x 12 layers, about 2.2 GB
"""

import argparse
import copy
import os
from dataclasses import dataclass, field
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers.utils import logging

import goldens
from goldens import Case

SMALL_DIR = Path(__file__).resolve().parent.parent / "data" / "fnet"

HEADS = {
    "base": transformers.FNetModel,
    "mlm": transformers.FNetForMaskedLM,
    "classify": transformers.FNetForSequenceClassification,
    "nsp": transformers.FNetForNextSentencePrediction,
    "tokens": transformers.FNetForTokenClassification,
    "answer": transformers.FNetForQuestionAnswering,
    "choice": transformers.FNetForMultipleChoice,
}


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint and its inputs; `config` holds FNetConfig fields that are not the default."""

    name: str
    head: str
    seed: int
    config: dict
    cases: list
    model_arguments: dict = field(default_factory=dict)


def sizes(hidden, layers, intermediate, act, vocab, positions, **more):
    return {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "intermediate_size": intermediate,
        "hidden_act": act,
        "vocab_size": vocab,
        "max_position_embeddings": positions,
        **more,
    }


SMALL = [
    Checkpoint(
        "base_d24_l2_gelu_new",
        "base",
        101,
        sizes(24, 2, 50, "gelu_new", 60, 16),
        [Case(7, 3, "int64"), Case(1, 1, "int32"), Case(16, 2, "int32")],
    ),
    # A bare model without the pooler, which the last hidden state does not need.
    Checkpoint(
        "base_d31_l1_gelu_nopooler",
        "base",
        102,
        sizes(31, 1, 17, "gelu", 37, 5, type_vocab_size=2),
        [Case(5, 1, "int32")],
        {"add_pooling_layer": False},
    ),
    Checkpoint(
        "base_d48_l3_gelu",
        "base",
        103,
        sizes(48, 3, 96, "gelu", 20, 3),
        [Case(1, 1, "int64"), Case(1, 3, "int32")],
    ),
    Checkpoint(
        "base_d40_l2_gelu_new",
        "base",
        104,
        sizes(40, 2, 80, "gelu_new", 100, 64),
        [Case(37, 2, "int32")],
    ),
    Checkpoint(
        "base_d64_l2_gelu_new",
        "base",
        105,
        sizes(64, 2, 130, "gelu_new", 50, 100),
        [Case(100, 1, "int64")],
    ),
    # LayerNorm over one channel: the variance is exactly 0, the output is the last bias.
    Checkpoint(
        "base_d1_l2_gelu_new", "base", 106, sizes(1, 2, 3, "gelu_new", 11, 8), [Case(4, 2, "int32")]
    ),
    Checkpoint(
        "mlm_d32_l2_gelu_new",
        "mlm",
        107,
        sizes(32, 2, 64, "gelu_new", 97, 12),
        [Case(12, 3, "int32"), Case(1, 1, "int64")],
    ),
    # Decoder not tied: its own weight and bias are in the file, cls.predictions.bias is not used.
    Checkpoint(
        "mlm_d28_l1_gelu_untied",
        "mlm",
        108,
        sizes(28, 1, 60, "gelu", 41, 10, tie_word_embeddings=False),
        [Case(9, 1, "int64")],
    ),
    Checkpoint(
        "classify_d36_l2_gelu",
        "classify",
        109,
        sizes(36, 2, 72, "gelu", 30, 9, num_labels=5),
        [Case(7, 3, "int64"), Case(9, 1, "int32")],
    ),
    # Two labels are the default: config.json then names no labels at all.
    Checkpoint(
        "classify_d33_l2_gelu_new",
        "classify",
        110,
        sizes(33, 2, 66, "gelu_new", 30, 11),
        [Case(11, 2, "int32"), Case(11, 2, "int32", token_types=True)],
    ),
    # An epsilon large enough that a fixed 1e-12 in the implementation is noticed.
    Checkpoint(
        "nsp_d26_l2_gelu_new_eps",
        "nsp",
        111,
        sizes(26, 2, 52, "gelu_new", 30, 8, layer_norm_eps=1e-2, type_vocab_size=2),
        [Case(8, 1, "int32"), Case(8, 1, "int64", token_types=True)],
    ),
    Checkpoint(
        "nsp_d20_l1_gelu", "nsp", 112, sizes(20, 1, 40, "gelu", 30, 8), [Case(3, 3, "int64")]
    ),
    Checkpoint(
        "tokens_d22_l2_gelu",
        "tokens",
        113,
        sizes(22, 2, 44, "gelu", 30, 9, num_labels=4),
        [Case(9, 2, "int64"), Case(1, 1, "int32")],
    ),
    Checkpoint(
        "answer_d21_l1_gelu_new",
        "answer",
        114,
        sizes(21, 1, 30, "gelu_new", 30, 12),
        [Case(12, 2, "int32", token_types=True)],
    ),
    # The choices are the batch.
    Checkpoint(
        "choice_d18_l2_gelu_new",
        "choice",
        115,
        sizes(18, 2, 36, "gelu_new", 30, 7),
        [Case(7, 3, "int64")],
    ),
]

BASE_CASES = [
    Case(1, 1, "int64"),
    Case(1, 3, "int32"),
    Case(7, 1, "int32"),
    Case(7, 3, "int64"),
    Case(100, 1, "int32"),
    Case(100, 3, "int64"),
    Case(500, 1, "int64"),
    Case(500, 3, "int32"),
    Case(512, 1, "int32"),
    Case(512, 3, "int64"),
]
HEAD_CASES = [Case(7, 3, "int32"), Case(512, 1, "int64")]


def fnet_base(act, vocab, **more):
    return sizes(768, 12, 3072, act, vocab, 512, **more)


LARGE = [
    Checkpoint("base_gelu_new", "base", 201, fnet_base("gelu_new", 32000), BASE_CASES),
    Checkpoint("base_gelu", "base", 202, fnet_base("gelu", 1000), BASE_CASES),
    Checkpoint("mlm_gelu_new", "mlm", 203, fnet_base("gelu_new", 32000), HEAD_CASES),
    Checkpoint("mlm_gelu", "mlm", 204, fnet_base("gelu", 1000), HEAD_CASES),
    Checkpoint(
        "classify_gelu_new", "classify", 205, fnet_base("gelu_new", 1000, num_labels=3), HEAD_CASES
    ),
    # Many labels: with two, a random classifier can cancel, and float32 itself is then off by up to
    # 5e-6 (README.md).
    Checkpoint(
        "classify_gelu", "classify", 206, fnet_base("gelu", 1000, num_labels=20), HEAD_CASES
    ),
    Checkpoint("nsp_gelu_new", "nsp", 207, fnet_base("gelu_new", 1000), HEAD_CASES),
    Checkpoint(
        "nsp_gelu",
        "nsp",
        208,
        fnet_base("gelu", 1000),
        [*HEAD_CASES, Case(100, 1, "int32", token_types=True)],
    ),
]


def forward(model):
    """The model's head as a function of (tokens, token types) to a NumPy array."""

    def run(ids, types):
        if isinstance(model, transformers.FNetForMultipleChoice):
            types = None if types is None else types[None]
            return model(input_ids=ids[None], token_type_ids=types).logits.T.numpy()
        output = model(input_ids=ids, token_type_ids=types)
        if "start_logits" in output:
            return torch.stack([output.start_logits, output.end_logits], -1).numpy()
        return (output.logits if "logits" in output else output.last_hidden_state).numpy()

    return run


def save_and_read_back(model, folder, model_arguments):
    """Saves as transformers does and reads it again, so that what is on disk is what is run."""
    model.save_pretrained(folder)
    found = sorted(entry.name for entry in folder.iterdir())
    if found != ["config.json", "model.safetensors"]:
        raise SystemExit(f"{folder}: save_pretrained wrote {found}")
    reread, info = type(model).from_pretrained(
        folder, output_loading_info=True, dtype=torch.float32, **model_arguments
    )
    if any(info.values()):
        raise SystemExit(f"{folder}: reading it back reports {info}")
    for (name, saved), (_, read) in zip(
        model.named_parameters(), reread.named_parameters(), strict=True
    ):
        if not torch.equal(saved, read):
            raise SystemExit(f"{folder}: {name} changed between saving and reading")
    return reread.eval()


def make(checkpoint, parent):
    config = transformers.FNetConfig(**checkpoint.config)
    model = HEADS[checkpoint.head](config, **checkpoint.model_arguments)
    goldens.fill_weights(model, checkpoint.seed)
    folder = goldens.fresh_folder(parent / checkpoint.name)
    model = save_and_read_back(model, folder, checkpoint.model_arguments)
    exact = copy.deepcopy(model).double()
    return goldens.write_cases(
        folder, checkpoint.cases, checkpoint.seed, config.to_dict(), forward(model), forward(exact)
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--large", metavar="DIR", type=Path, help="make the 768 x 12 checkpoints in DIR instead"
    )
    parser.add_argument("--only", metavar="NAME", help="make the checkpoint of this name alone")
    arguments = parser.parse_args()
    goldens.use_one_thread()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    chosen = [c for c in (LARGE if arguments.large else SMALL) if arguments.only in (None, c.name)]
    if not chosen:
        raise SystemExit(f"no checkpoint is called {arguments.only}")
    goldens.print_header()
    for checkpoint in chosen:
        make(checkpoint, arguments.large or SMALL_DIR)


if __name__ == "__main__":
    main()
