# SPDX-License-Identifier: MIT
"""Makes one small checkpoint for each sibling of FNet in the paper, and PyTorch's float32 output.

The siblings (Lee-Thorp et al., FNet, section 4.1) keep FNet's embeddings and feed-forward sublayers
and swap the mixing sublayer. No public checkpoint format exists for them, so this layout is Weft's
own. It extends that of a Hugging Face FNetModel; every tensor not listed below is named as there.

config.json, beyond FNetConfig's fields:
    weft_mixing             "fourier" (when absent), "linear", "random", "none" or "attention"
    weft_attention_layers   k: the last k layers use softmax attention whatever weft_mixing says
                            (default 0); with "fourier" this is the paper's Hybrid
    num_attention_heads     h: needed where any layer is an attention layer; divides hidden_size

Layer i, by its mixing sublayer; x is [B, n, d]. The feed-forward sublayer is the same for all:
out = LN(x' + W2 act(W1 x')), where x' is what the mixing sublayer gives. Tensors are named under
encoder.layer.{i}.

fourier     x' = LN(x + Re F_seq F_hidden x)
                fourier.output.LayerNorm.{weight,bias}      [d]
linear      x' = LN(x + y), y[s,e] = sum_t sum_c S[s,t] x[t,c] H[e,c]
                mixing.seq.weight                           S [n, n], n = max_position_embeddings
                mixing.hidden.weight                        H [d, d], as torch.nn.Linear, no bias
                mixing.output.LayerNorm.{weight,bias}       [d]
            The sequence must be exactly max_position_embeddings long.
random      As linear, tensors too; the matrices were not trained, which inference cannot see.
none        x' = x, no tensors. The paper removes the sublayer; "this leaves a ResNet with only
            feed-forward layers and no token mixing". The residual and LayerNorm that belong to the
            sublayer go with it. (The authors' program keeps an identity there: x' = LN(x + x).)
attention   x' = LN(x + O(concat_h softmax(Q_h K_h^T / sqrt(d/h)) V_h)), no mask, names as in BERT
                attention.self.{query,key,value}.{weight,bias}  [d, d], [d]
                attention.output.dense.{weight,bias}            [d, d], [d]
                attention.output.LayerNorm.{weight,bias}        [d]
            Head j owns rows j*d/h ... (j+1)*d/h - 1 of query, key and value.

Before a checkpoint is written, its parts are compared: the encoder with Fourier layers against
transformers' FNetModel, each attention layer and a stack of them against BertLayer, and the linear
sublayer against NumPy.
"""

import argparse
import copy
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn
from transformers.models.bert.modeling_bert import BertLayer

import goldens
from goldens import Case

SMALL_DIR = Path(__file__).resolve().parent.parent / "data" / "fnet"
CHECK_LIMIT = 1e-6

ACTIVATIONS = {"gelu": lambda: nn.GELU(), "gelu_new": lambda: nn.GELU(approximate="tanh")}


class ResidualNorm(nn.Module):
    """LN(x + y): the end of every sublayer."""

    def __init__(self, config):
        super().__init__()
        self.LayerNorm = nn.LayerNorm(config["hidden_size"], eps=config["layer_norm_eps"])

    def forward(self, y, x):
        return self.LayerNorm(x + y)


class DenseResidualNorm(ResidualNorm):
    """LN(x + W y + b)."""

    def __init__(self, config, width):
        super().__init__(config)
        self.dense = nn.Linear(width, config["hidden_size"])

    def forward(self, y, x):
        return super().forward(self.dense(y), x)


class FourierMixing(nn.Module):
    """Equation 3 of the paper; unnormalised."""

    def __init__(self, config):
        super().__init__()
        self.output = ResidualNorm(config)

    def forward(self, x):
        return self.output(torch.fft.fft(torch.fft.fft(x, dim=2), dim=1).real, x)


class MatrixMixing(nn.Module):
    """Linear and Random: one matrix along the sequence, one along the hidden dimension."""

    def __init__(self, config):
        super().__init__()
        length, hidden = config["max_position_embeddings"], config["hidden_size"]
        self.seq = nn.Linear(length, length, bias=False)
        self.hidden = nn.Linear(hidden, hidden, bias=False)
        self.output = ResidualNorm(config)

    def mix(self, x):
        return torch.matmul(self.seq.weight, self.hidden(x))

    def forward(self, x):
        return self.output(self.mix(x), x)


class SelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden = config["hidden_size"]
        self.heads = config["num_attention_heads"]
        if hidden % self.heads:
            raise ValueError(f"{self.heads} heads do not divide hidden_size {hidden}")
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)

    def split(self, x):
        batch, length, hidden = x.shape
        return x.reshape(batch, length, self.heads, hidden // self.heads).transpose(1, 2)

    def forward(self, x):
        query, key, value = (
            self.split(self.query(x)),
            self.split(self.key(x)),
            self.split(self.value(x)),
        )
        scores = query @ key.transpose(2, 3) / (query.shape[-1] ** 0.5)
        return (torch.softmax(scores, dim=-1) @ value).transpose(1, 2).reshape(x.shape)


class AttentionMixing(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self = SelfAttention(config)
        self.output = DenseResidualNorm(config, config["hidden_size"])

    def forward(self, x):
        return self.output(self.self(x), x)


class Intermediate(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config["hidden_size"], config["intermediate_size"])
        self.act = ACTIVATIONS[config["hidden_act"]]()

    def forward(self, x):
        return self.act(self.dense(x))


# Kind of mixing: the name of the sublayer in the checkpoint, and its module.
MIXINGS = {
    "fourier": ("fourier", FourierMixing),
    "linear": ("mixing", MatrixMixing),
    "random": ("mixing", MatrixMixing),
    "none": (None, None),
    "attention": ("attention", AttentionMixing),
}


class Layer(nn.Module):
    def __init__(self, config, kind):
        super().__init__()
        self.mixing_name, mixing = MIXINGS[kind]
        if mixing is not None:
            self.add_module(self.mixing_name, mixing(config))
        self.intermediate = Intermediate(config)
        self.output = DenseResidualNorm(config, config["intermediate_size"])

    def forward(self, x):
        if self.mixing_name is not None:
            x = self.get_submodule(self.mixing_name)(x)
        return self.output(self.intermediate(x), x)


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], hidden)
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], hidden)
        self.token_type_embeddings = nn.Embedding(config["type_vocab_size"], hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=config["layer_norm_eps"])
        self.projection = nn.Linear(hidden, hidden)

    def forward(self, tokens, token_types):
        positions = self.position_embeddings.weight[: tokens.shape[1]]
        types = self.token_type_embeddings(
            torch.zeros_like(tokens) if token_types is None else token_types
        )
        return self.projection(self.LayerNorm(self.word_embeddings(tokens) + types + positions))


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList(Layer(config, kind) for kind in layer_kinds(config))

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class Pooler(nn.Module):
    """Part of a bare FNetModel's checkpoint; the last hidden state does not need it."""

    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config["hidden_size"], config["hidden_size"])


class SiblingModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = Embeddings(config)
        self.encoder = Encoder(config)
        self.pooler = Pooler(config)

    def forward(self, tokens, token_types=None):
        return self.encoder(self.embeddings(tokens, token_types))


def layer_kinds(config):
    """The kind of mixing of each layer, first to last."""
    layers, attention = config["num_hidden_layers"], config.get("weft_attention_layers", 0)
    return [config.get("weft_mixing", "fourier")] * (layers - attention) + ["attention"] * attention


def model_config(hidden, layers, intermediate, act, vocab, positions, **more):
    return {
        "architectures": ["FNetModel"],
        "bos_token_id": 1,
        "eos_token_id": 2,
        "hidden_act": act,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": positions,
        "model_type": "fnet",
        "num_hidden_layers": layers,
        "pad_token_id": 3,
        "type_vocab_size": 4,
        "vocab_size": vocab,
        **more,
    }


@dataclass(frozen=True)
class Checkpoint:
    name: str
    seed: int
    config: dict
    cases: list


SMALL = [
    Checkpoint(
        "sibling_linear",
        301,
        model_config(20, 2, 40, "gelu_new", 40, 12, weft_mixing="linear"),
        [Case(12, 2, "int32")],
    ),
    Checkpoint(
        "sibling_random",
        302,
        model_config(18, 2, 37, "gelu", 40, 9, weft_mixing="random"),
        [Case(9, 3, "int64")],
    ),
    Checkpoint(
        "sibling_ff_only",
        303,
        model_config(22, 3, 44, "gelu", 40, 10, weft_mixing="none"),
        [Case(7, 2, "int32")],
    ),
    Checkpoint(
        "sibling_attention",
        304,
        model_config(24, 2, 48, "gelu_new", 40, 16, weft_mixing="attention", num_attention_heads=3),
        [Case(11, 2, "int64"), Case(1, 1, "int32")],
    ),
    Checkpoint(
        "sibling_hybrid",
        305,
        model_config(
            30,
            3,
            60,
            "gelu_new",
            40,
            16,
            weft_mixing="fourier",
            weft_attention_layers=2,
            num_attention_heads=5,
        ),
        [Case(13, 3, "int32", token_types=True)],
    ),
]


def check(what, value, reference):
    error = goldens.relative_l2(value, reference)
    print(f"check: {what}: {error:.1e}", file=sys.stderr)
    if not error <= CHECK_LIMIT:
        raise SystemExit(f"{what} is off by {error:.2e}, above {CHECK_LIMIT:.0e}")


def check_against_fnet():
    """The shared parts: the same weights in transformers' FNetModel give the same output."""
    for act in sorted(ACTIVATIONS):
        config = model_config(30, 3, 60, act, 40, 16)
        model = SiblingModel(config)
        goldens.fill_weights(model, 399)
        reference = transformers.FNetModel(transformers.FNetConfig(**config)).eval()
        reference.load_state_dict(model.state_dict(), strict=True)
        tokens, types = goldens.make_tokens(399, 0, Case(13, 3, "int64", token_types=True), 40, 4)
        tokens, types = torch.from_numpy(tokens), torch.from_numpy(types)
        check(
            f"Fourier encoder, {act}, against FNetModel",
            model(tokens, types).numpy(),
            reference(input_ids=tokens, token_type_ids=types).last_hidden_state.numpy(),
        )


def bert_layer(layer, config):
    """transformers' BertLayer with the weights of one of our attention layers."""
    bert = transformers.BertConfig(
        hidden_size=config["hidden_size"],
        num_attention_heads=config["num_attention_heads"],
        intermediate_size=config["intermediate_size"],
        hidden_act=config["hidden_act"],
        layer_norm_eps=config["layer_norm_eps"],
        attn_implementation="eager",
    )
    reference = BertLayer(bert).eval()
    reference.load_state_dict(layer.state_dict(), strict=True)
    return reference


def check_attention(name, model, config):
    """Each attention layer, and the run of them at the end of the encoder, against BertLayer."""
    size = (2, 11, config["hidden_size"])
    x = torch.from_numpy(goldens.generator(398).standard_normal(size, dtype=np.float32))
    ours, theirs, compared = x, x, 0
    for index, (layer, kind) in enumerate(
        zip(model.encoder.layer, layer_kinds(config), strict=True)
    ):
        if kind != "attention":
            continue
        reference = bert_layer(layer, config)
        check(
            f"{name} layer {index} against BertLayer", layer(x).numpy(), first(reference(x)).numpy()
        )
        ours, theirs, compared = layer(ours), first(reference(theirs)), compared + 1
    if compared:
        check(f"{name} stack of {compared} against BertLayer", ours.numpy(), theirs.numpy())


def first(output):
    """The hidden states of a layer that may return a tuple."""
    return output[0] if isinstance(output, tuple) else output


def check_matrices(name, model, config):
    """The linear sublayer against the sum in the docstring, in float64."""
    x = goldens.generator(397).standard_normal(
        (2, config["max_position_embeddings"], config["hidden_size"]), dtype=np.float32
    )
    for index, layer in enumerate(model.encoder.layer):
        if not isinstance(mixing := getattr(layer, "mixing", None), MatrixMixing):
            continue
        expected = np.einsum(
            "st,btc,ec->bse",
            mixing.seq.weight.numpy().astype(np.float64),
            x.astype(np.float64),
            mixing.hidden.weight.numpy().astype(np.float64),
        )
        check(
            f"{name} layer {index} matrices against einsum",
            mixing.mix(torch.from_numpy(x)).numpy(),
            expected,
        )


def save_and_read_back(model, config, folder):
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    reread = SiblingModel(json.loads((folder / "config.json").read_text()))
    reread.load_state_dict(load_file(folder / "model.safetensors"), strict=True)
    return reread.eval()


def make(checkpoint):
    config = checkpoint.config
    model = SiblingModel(config)
    goldens.fill_weights(model, checkpoint.seed)
    check_attention(checkpoint.name, model, config)
    check_matrices(checkpoint.name, model, config)
    folder = goldens.fresh_folder(SMALL_DIR / checkpoint.name)
    model = save_and_read_back(model, config, folder)
    exact = copy.deepcopy(model).double()
    return goldens.write_cases(
        folder,
        checkpoint.cases,
        checkpoint.seed,
        config,
        lambda ids, types: model(ids, types).numpy(),
        lambda ids, types: exact(ids, types).numpy(),
    )


def main():
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    goldens.use_one_thread()
    check_against_fnet()
    goldens.print_header()
    for checkpoint in SMALL:
        make(checkpoint)


if __name__ == "__main__":
    main()
