# SPDX-License-Identifier: MIT
"""Trains the byte-level FNet language identifier and writes its model folder.

    langid_train.py CACHE MODEL_FOLDER [--steps N] [--threads N]

The model is transformers' FNetForSequenceClassification, unchanged. Its tokens are the bytes of the
UTF-8 text, without special tokens. FNet has no attention mask, so every batch has one exact length,
drawn anew for each. With the same packages, versions of the libraries, processor and number of
threads, two runs give the same weights.
"""

import argparse
import json
import math
import pathlib
import time

import numpy as np
import torch
from transformers import FNetConfig, FNetForSequenceClassification

import langid_data

SEED = 20240229
PAD, BOS, EOS, MASK, VOCABULARY = 256, 257, 258, 259, 260
MAX_LENGTH, MIN_LENGTH = 512, 48
TEST_LENGTHS = (64, 128, 256, 512)
TEST_PER_LABEL = 40


def config(labels, activation="gelu_new"):
    """An odd number of layers: the pooler reads position 0, which after an odd number of Fourier
    transforms holds a sum over the whole text. In short trials four layers learnt more slowly."""
    return FNetConfig(
        vocab_size=VOCABULARY, hidden_size=128, num_hidden_layers=3, intermediate_size=256,
        hidden_act=activation, hidden_dropout_prob=0.0, max_position_embeddings=MAX_LENGTH,
        type_vocab_size=1, pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS,
        num_labels=len(labels), id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)}, tokenizer_class="ByteTokenizer")


# --- samples -------------------------------------------------------------------------------------

def char_starts(stream):
    """Offsets in the UTF-8 bytes `stream` at which a character begins."""
    return np.flatnonzero((stream & 0xC0) != 0x80)


def as_bytes(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


class Streams:
    """The training text of every label in a few renderings, and windows drawn from it."""

    def __init__(self, corpus, rng):
        self.rng = rng
        self.streams = [
            [(s, char_starts(s[:-MAX_LENGTH])) for s in self.renderings(split["train"])]
            for split in corpus.values()]

    def renderings(self, pages):
        """As it is; twice with the paragraphs in random order, on one line; that in lower case."""
        paragraphs = [p for text in pages.values() for p in text.split("\n")]
        plain = "\n".join(paragraphs)
        mixed = [paragraphs[i] for i in self.rng.permutation(len(paragraphs))]
        joined = as_bytes(" ".join(mixed))
        return [as_bytes(plain), joined, joined, as_bytes(" ".join(mixed).lower())]

    def batch(self, size, length):
        labels = self.rng.integers(len(self.streams), size=size)
        tokens = np.empty((size, length), dtype=np.int64)
        for row, label in enumerate(labels):
            stream, starts = self.streams[label][self.rng.integers(4)]
            at = starts[self.rng.integers(len(starts))]
            tokens[row] = stream[at:at + length]
        return torch.from_numpy(tokens), torch.from_numpy(labels)


def test_windows(corpus, length, count=TEST_PER_LABEL):
    """`count` windows per label, evenly spread over the held-out pages, at character starts."""
    tokens, labels = [], []
    for label, split in enumerate(corpus.values()):
        stream = as_bytes("\n".join(split["test"].values()))
        starts = char_starts(stream[:-length])
        for at in starts[np.linspace(0, len(starts) - 1, count).astype(int)]:
            tokens.append(stream[at:at + length])
            labels.append(label)
    return np.array(tokens, dtype=np.int32), np.array(labels, dtype=np.int32)


# --- training and testing ------------------------------------------------------------------------

def logits_of(model, tokens):
    model.eval()
    with torch.no_grad():
        parts = [model(input_ids=torch.from_numpy(part.astype(np.int64))).logits
                 for part in np.array_split(tokens, max(1, len(tokens) // 32))]
    return torch.cat(parts).numpy()


def accuracy(model, tokens, labels):
    return float(np.mean(logits_of(model, tokens).argmax(1) == labels))


def learning_rate(step, steps, peak, warmup=100):
    """Linear warm-up, then a cosine down to zero."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def random_length(rng):
    """Log-uniform between MIN_LENGTH and MAX_LENGTH: short samples count as much as long ones."""
    return int(round(math.exp(rng.uniform(math.log(MIN_LENGTH), math.log(MAX_LENGTH)))))


def train(model, streams, args, test):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, betas=(0.9, 0.98),
                                  weight_decay=args.decay)
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=args.smoothing)
    began, recent = time.time(), []
    for step in range(args.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, args.steps, args.rate)
        length = random_length(streams.rng)
        tokens, labels = streams.batch(max(16, args.batch_bytes // length), length)
        model.train()
        loss = loss_of(model(input_ids=tokens).logits, labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        recent.append(loss.item())
        if (step + 1) % 200 == 0 or step + 1 == args.steps:
            print(f"step {step + 1:6}  loss {np.mean(recent):.4f}  held out"
                  f" {accuracy(model, *test):.4f}  {time.time() - began:6.0f} s", flush=True)
            recent = []


# --- the model folder ----------------------------------------------------------------------------

def report(model, corpus, labels, folder):
    """Accuracy at every test length, per label and as confusions at 256 bytes."""
    for length in TEST_LENGTHS:
        print(f"{length:4} bytes: accuracy {accuracy(model, *test_windows(corpus, length)):.4f}")
    tokens, truth = test_windows(corpus, 256)
    guess = logits_of(model, tokens).argmax(1)
    for i, label in enumerate(labels):
        wrong = [labels[g] for g in guess[truth == i] if g != i]
        print(f"{label:4} {np.mean(guess[truth == i] == i):.3f}  {' '.join(wrong)}")
    for path in sorted((folder / "samples").glob("*.txt")):
        raw = np.frombuffer(path.read_bytes(), dtype=np.uint8)[None, :MAX_LENGTH].astype(np.int32)
        p = torch.softmax(torch.from_numpy(logits_of(model, raw)[0]), 0)
        top = p.argsort(descending=True)[:3].tolist()
        print(path.name, raw.shape[1], "bytes:", "  ".join(f"{labels[i]} {p[i]:.3f}" for i in top))


def save(model, corpus, labels, folder):
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder, safe_serialization=True)
    names = [f"{label} {langid_data.LANGUAGES[label][0]}\n" for label in labels]
    (folder / "labels.txt").write_text("".join(names), encoding="utf-8")
    tokens, truth = test_windows(corpus, 256)
    logits = logits_of(model, tokens)
    guess = logits.argmax(1).astype(np.int32)
    np.savez_compressed(folder / "test.npz", tokens=tokens, labels=truth)
    np.savez_compressed(folder / "pytorch.npz", logits=logits.astype(np.float32), labels=guess,
                        accuracy=np.float64(np.mean(guess == truth)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cache", type=pathlib.Path, help="folder for packages and the corpus")
    parser.add_argument("folder", type=pathlib.Path, help="model folder to write")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.01)
    parser.add_argument("--smoothing", type=float, default=0.02)
    parser.add_argument("--batch-bytes", type=int, default=8192, help="bytes of text in a batch")
    args = parser.parse_args()
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(args.threads)
    corpus = langid_data.load(args.cache)
    labels = list(corpus)
    # "gelu_pytorch_tanh" is "gelu_new" in one fused call: the same function, a quarter faster.
    model = FNetForSequenceClassification(config(labels, "gelu_pytorch_tanh"))
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{len(labels)} labels, {parameters} parameters", flush=True)
    train(model, Streams(corpus, np.random.default_rng(SEED)), args, test_windows(corpus, 256))
    trained = FNetForSequenceClassification(config(labels))
    trained.load_state_dict(model.state_dict())
    save(trained, corpus, labels, args.folder)
    report(trained, corpus, labels, args.folder)


if __name__ == "__main__":
    main()
