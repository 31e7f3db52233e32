# SPDX-License-Identifier: MIT
"""Trains the small models of ../models, one a run, and writes the model's folder.

    train.py CACHE FOLDER --task langid|fashion|fragments|text|listops|points --model NAME [--steps N]

CACHE is what the task's module data_TASK.py reads: a folder for packages and the corpus (fragments, langid,
text), the folder of Fashion-MNIST's files (fashion), or anything (listops, points: generated).

One processor core trains a model in a few minutes. Weights are rounded to float16 before anything
is measured, so that the logits and figures in FOLDER are those of the stored weights, computed in
float32. With the same data, versions of the libraries and processor, two runs give the same.
"""

import argparse
import importlib
import json
import math
import pathlib
import time

import numpy as np
import torch
import torch.nn.functional as F

import weft_models

SEED = 20240315
TOKENS_PER_STEP = 8192

SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128}
HEADS = {"num_attention_heads": 4}
GTU = {"expand_ratio": 1, "gtu_norm": True}
LONG = {"max_position_embeddings": 4096}  # the Toeplitz models run on, four times as far
LM = {"hidden_size": 80, "num_hidden_layers": 3, "intermediate_size": 144,
      "tie_word_embeddings": True}

# (task, model): fields of the config beside the data's own, and the number of steps.
RECIPES = {
    ("langid", "fnet"): ({}, 1500),
    ("langid", "transformer"): (
        {**SMALL, **HEADS, "position_embedding": "sinusoidal"}, 700),
    ("langid", "fmmformer"): (
        {**SMALL, **HEADS, "half_width": 8, "kernels": ["elu1", "elu1_negated"]}, 500),
    ("langid", "flt"): (
        {**SMALL, **HEADS, "position_features": 8, "num_features": 32}, 600),
    ("langid", "spectraformer"): (
        {**SMALL, **HEADS, "component": "optimal", "weight_matrix": "orf", "num_features": 32,
         "position_embedding": "sinusoidal"}, 700),
    ("langid", "tnn"): (
        {**SMALL, **GTU, **LONG, "rpe_size": 32, "decay": "fixed", "gamma": 0.99}, 500),
    ("langid", "ski-tnn"): (
        {**SMALL, **GTU, **LONG, "ski_points": 64, "ski_taps": 7, "gamma": 0.99}, 500),
    ("langid", "fd-tnn"): (
        {**SMALL, **GTU, **LONG, "rpe_size": 32, "fd_input": "cosine"}, 800),
    ("fashion", "flt"): (
        {**SMALL, **HEADS, "positions": "grid", "position_grid": [7, 7], "position_features": 8,
         "num_features": 48, "position_embedding": "learned"}, 1500),
    ("fashion", "fmmformer"): (
        {**SMALL, **HEADS, "half_width": 8, "kernels": ["elu1", "tanh1"],
         "position_embedding": "learned"}, 1500),
    ("fashion", "fd-tnn"): (
        {**SMALL, "expand_ratio": 1, "rpe_size": 32, "position_embedding": "learned"}, 1500),
    ("text", "fd-tnn"): (
        {**LM, "expand_ratio": 1, "rpe_size": 32, "rpe_act": "gelu", "fd_input": "cosine"}, 900),
    ("text", "fmmformer"): (
        {**SMALL, **HEADS, "intermediate_size": 192, "half_width": 4,
         "kernels": ["elu1", "elu1_negated"], "position_embedding": "sinusoidal"}, 1000),
    ("listops", "transformer"): (
        {**SMALL, **HEADS, "position_embedding": "sinusoidal", "pooling": "first"}, 600),
    ("listops", "fmmformer"): (
        {**SMALL, **HEADS, "half_width": 16, "kernels": ["elu1", "elu1_negated"],
         "position_embedding": "sinusoidal", "pooling": "first"}, 600),
    ("fragments", "fnet"): ({"hidden_size": 48, "intermediate_size": 144}, 4500),
    ("fragments", "transformer"): ({**SMALL, **HEADS, "position_embedding": "sinusoidal"}, 4500),
    ("fragments", "fmmformer"): (
        {**SMALL, **HEADS, "half_width": 8, "kernels": ["elu1", "elu1_negated"]}, 4500),
    ("fragments", "flt"): ({**SMALL, **HEADS, "position_features": 8, "num_features": 32}, 4500),
    ("fragments", "spectraformer"): (
        {**SMALL, **HEADS, "component": "optimal", "weight_matrix": "orf", "num_features": 32,
         "position_embedding": "sinusoidal"}, 4500),
    ("fragments", "tnn"): (
        {**SMALL, **GTU, "intermediate_size": 96, "rpe_size": 24, "decay": "fixed", "gamma": 0.99}, 4500),
    ("points", "flt"): (
        {**SMALL, **HEADS, "positions": "input", "position_size": 3, "position_features": 16,
         "num_features": 64}, 500),
}

RATES = {"fragments": 3e-3}  # where it is not 2e-3


# --- models --------------------------------------------------------------------------------------

class Fnet(torch.nn.Module):
    """transformers' FNetForSequenceClassification, or without labels FNetForMaskedLM: its logits alone."""

    def __init__(self, labels=None, **fields):
        super().__init__()
        from transformers import FNetConfig, FNetForMaskedLM, FNetForSequenceClassification
        if labels is not None:
            fields = {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)},
                      **fields}
        # To classify, an odd number of layers: the pooler reads position 0, which after an odd number of
        # Fourier transforms holds a sum over the whole text.
        config = FNetConfig(**{
            "num_hidden_layers": 3, "hidden_act": "gelu_new", "hidden_dropout_prob": 0.0,
            "type_vocab_size": 1, "pad_token_id": None, "bos_token_id": None, "eos_token_id": None,
            "tokenizer_class": "ByteTokenizer", **fields})
        self.net = FNetForMaskedLM(config) if labels is None else FNetForSequenceClassification(config)

    def forward(self, tokens):
        return self.net(input_ids=tokens).logits

    def save(self, folder):
        weft_models.round_weights(self.net, torch.float16)
        folder.mkdir(parents=True, exist_ok=True)
        self.net.half().save_pretrained(folder, safe_serialization=True)
        self.net.float()


def make_model(task, name, data):
    """(module, config); the config of fnet is its own."""
    if name == "fnet":
        fields = {name: data.config[name] for name in ("vocab_size", "max_position_embeddings", "tokenizer_class")}
        sizes = {"hidden_size": 64, "intermediate_size": 128, **RECIPES[task, name][0]}
        return Fnet(data.config["id2label"].values(), **sizes, **fields), None
    config = {"model_type": name, **data.config, **RECIPES[task, name][0]}
    return weft_models.Model(config), config


def save_model(model, config, folder):
    if config is None:
        model.save(folder)
    else:
        weft_models.save_model(folder, model, config, torch.float16)


# --- measuring -----------------------------------------------------------------------------------

def inputs_of(arrays, count=None):
    """What the network reads of a test set: ids as int64, pixels as float32 from 0 to 1."""
    names = [name for name in ("tokens", "inputs", "positions") if name in arrays]
    parts = []
    for name in names:
        values = arrays[name][:count]
        if values.dtype == np.uint8:
            values = values.astype(np.float32) / np.float32(255)
        parts.append(torch.from_numpy(values.astype(np.int64) if name == "tokens" else values))
    return parts


@torch.no_grad()
def outputs_of(model, arrays):
    """The network's outputs for a whole test set, float32."""
    model.eval()
    inputs = inputs_of(arrays)
    step = max(1, 32768 // inputs[0].shape[1])
    parts = [model(*(part[at:at + step] for part in inputs))
             for at in range(0, len(inputs[0]), step)]
    return torch.cat(parts)


def bits_per_byte(model, arrays):
    """The mean of -log2 p(byte i | bytes 0 … i - 1) over bytes 1 … of each window."""
    logits = outputs_of(model, arrays)[:, :-1].double()
    nats = F.cross_entropy(logits.flatten(0, 1),
                           torch.from_numpy(arrays["tokens"][:, 1:].astype(np.int64)).flatten())
    return float(nats) / math.log(2)


def measure(model, arrays, task):
    """What pytorch.npz holds."""
    if task == "text":
        return {"bits_per_byte": np.float64(bits_per_byte(model, arrays))}
    outputs = outputs_of(model, arrays).numpy()
    if task == "points":
        error = np.sqrt(np.mean((outputs - arrays["targets"]) ** 2))
        return {"outputs": outputs, "rmse": np.float64(error)}
    guess = outputs.argmax(1).astype(np.int32)
    return {"logits": outputs, "labels": guess,
            "accuracy": np.float64(np.mean(guess == arrays["labels"]))}


def figure(measured):
    """The one number of a measurement, with its name."""
    return next((name, float(measured[name])) for name in ("accuracy", "bits_per_byte", "rmse")
                if name in measured)


# --- training ------------------------------------------------------------------------------------

def learning_rate(step, steps, peak, warmup):
    """Linear warm-up, then a cosine down to zero."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def batch(data, task, rng, progress):
    """One batch: windows of bytes are of random lengths at first, of the full one at last."""
    longest = data.config["max_position_embeddings"]
    if task in ("fragments", "langid") and progress < 0.75:
        longest = importlib.import_module("data_langid").random_length(rng, most=longest)
        arrays = data.train_batch(rng, TOKENS_PER_STEP // longest, longest)
    else:
        arrays = data.train_batch(rng, max(1, TOKENS_PER_STEP // longest))
    return [torch.from_numpy(a) for a in arrays]


def loss_of(outputs, targets, task):
    if task == "points":
        return F.mse_loss(outputs, targets)
    return F.cross_entropy(outputs.flatten(0, -2), targets.flatten())


def optimize(model, next_batch, loss_of, steps, rate, decay=0.01, warmup=50, every=50,
             remark=lambda: "", enough=0.0):
    """Trains on next_batch(progress), [inputs …, targets], with a line (and a remark) every `every`
    steps, after which it ends if their mean loss is below `enough`. Gives the seconds of processor
    time that it took."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98),
                                  weight_decay=decay)
    began, recent = time.process_time(), []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps, rate, warmup)
        *inputs, targets = next_batch(step / steps)
        model.train()
        loss = loss_of(model(*inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent.append(loss.item())
        if (step + 1) % every == 0 or step + 1 == steps:
            print(f"step {step + 1:5}  loss {np.mean(recent):.4f}{remark()}"
                  f"  {time.process_time() - began:6.0f} s", flush=True)
            if np.mean(recent) < enough:
                break
            recent = []
    return time.process_time() - began


def train(model, data, task, steps, rate):
    """Seconds of processor time that it took."""
    rng = np.random.default_rng(SEED)
    return optimize(model, lambda progress: batch(data, task, rng, progress),
                    lambda outputs, targets: loss_of(outputs, targets, task), steps, rate)


def further_tests(model, data, args, longest):
    """Figures on more than the committed test set, and references for longer sequences."""
    found = {}
    if args.task in ("fashion", "fragments", "langid", "text"):
        found["full"] = figure(measure(model, data.full_test(), args.task))
    if args.task == "langid":
        for length in (2048, 4096):
            if length <= longest:
                measured = measure(model, data.test(length), args.task)
                found[str(length)] = figure(measured)
                np.savez_compressed(args.folder / f"pytorch{length}.npz", **measured)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cache", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, help="model folder to write")
    parser.add_argument("--task", required=True, choices=sorted({t for t, _ in RECIPES}))
    parser.add_argument("--model", required=True, choices=sorted({m for _, m in RECIPES}))
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rate", type=float)
    args = parser.parse_args()
    if (args.task, args.model) not in RECIPES:
        parser.error(f"there is no recipe for {args.model} on {args.task}")
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    steps = args.steps or RECIPES[args.task, args.model][1]
    data = importlib.import_module("data_" + args.task).Data(args.cache)
    model, config = make_model(args.task, args.model, data)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{args.task} {args.model}: {parameters} parameters, {steps} steps", flush=True)
    seconds = train(model, data, args.task, steps, args.rate or RATES.get(args.task, 2e-3))
    save_model(model, config, args.folder)
    measured = measure(model, data.test(), args.task)
    np.savez_compressed(args.folder / "pytorch.npz", **measured)
    longest = config["max_position_embeddings"] if config else 0
    print(json.dumps({
        "task": args.task, "model": args.model, "parameters": parameters, "steps": steps,
        "bytes": (args.folder / "model.safetensors").stat().st_size, "seconds": round(seconds),
        "test": figure(measured), **further_tests(model, data, args, longest)}))


if __name__ == "__main__":
    main()
