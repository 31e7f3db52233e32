# SPDX-License-Identifier: MIT
"""Trains the byte-level FNet language identifier and writes its model folder.

    langid_train.py CACHE MODEL_FOLDER [--steps N] [--threads N]

The model is transformers' FNetForSequenceClassification, unchanged. Its tokens are the bytes of the
UTF-8 text, without special tokens. FNet has no attention mask, so every batch has one exact length,
drawn anew for each. With the same packages, versions of the libraries, processor and number of
threads, two runs give the same weights. The loop is that of train.py, the windows are data_langid's.
"""

import argparse
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

import langid_data
import train
from data_langid import as_bytes, char_starts, draw, held_out, random_length

SEED = 20240229
PAD, BOS, EOS, MASK, VOCABULARY = 256, 257, 258, 259, 260
MAX_LENGTH, MIN_LENGTH = 512, 48
TEST_LENGTHS = (64, 128, 256, 512)
TEST_PER_LABEL = 40


def make_model(labels, activation):
    """In short trials four layers learnt more slowly than three."""
    return train.Fnet(
        labels, hidden_size=128, intermediate_size=256, vocab_size=VOCABULARY,
        max_position_embeddings=MAX_LENGTH, hidden_act=activation, pad_token_id=PAD,
        bos_token_id=BOS, eos_token_id=EOS)


def renderings(pages, rng):
    """As it is; twice with the paragraphs in random order, on one line; that in lower case."""
    paragraphs = [p for text in pages.values() for p in text.split("\n")]
    mixed = " ".join(paragraphs[i] for i in rng.permutation(len(paragraphs)))
    joined = as_bytes(mixed)
    return [as_bytes("\n".join(paragraphs)), joined, joined, as_bytes(mixed.lower())]


def test_windows(corpus, length):
    windows = held_out(corpus, length, TEST_PER_LABEL, overlap=True)
    return windows["tokens"], windows["labels"]


def logits_of(model, tokens):
    model.eval()
    with torch.no_grad():
        parts = [model(torch.from_numpy(part.astype(np.int64)))
                 for part in np.array_split(tokens, max(1, len(tokens) // 32))]
    return torch.cat(parts).numpy()


def accuracy(model, tokens, labels):
    return float(np.mean(logits_of(model, tokens).argmax(1) == labels))


def fit(model, corpus, args):
    rng = np.random.default_rng(SEED)
    streams = [[(s, char_starts(s[:-MAX_LENGTH])) for s in renderings(split["train"], rng)]
               for split in corpus.values()]
    test = test_windows(corpus, 256)

    def next_batch(_):
        length = random_length(rng, MIN_LENGTH, MAX_LENGTH)
        arrays = draw(rng, streams, max(16, args.batch_bytes // length), length)
        return [torch.from_numpy(array) for array in arrays]

    train.optimize(
        model, next_batch, lambda logits, labels: F.cross_entropy(
            logits, labels, label_smoothing=args.smoothing),
        args.steps, args.rate, args.decay, warmup=100, every=200,
        remark=lambda: f"  held out {accuracy(model, *test):.4f}")


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
    model.net.save_pretrained(folder, safe_serialization=True)
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
    model = make_model(labels, "gelu_pytorch_tanh")
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{len(labels)} labels, {parameters} parameters", flush=True)
    fit(model, corpus, args)
    trained = make_model(labels, "gelu_new")
    trained.load_state_dict(model.state_dict())
    save(trained, corpus, labels, args.folder)
    report(trained, corpus, labels, args.folder)


if __name__ == "__main__":
    main()
