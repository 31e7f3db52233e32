# SPDX-License-Identifier: MIT
# weft-test: long
"""all-MiniLM-L6-v2 from its folder as it is, beside transformers in float64, and its hash on every device."""

import json
import os
import random
import subprocess
import sys

import minilm
import numpy as np
import pytest
import tokenizers
import torch
import transformers

import weft
from conftest import MODELS, ROOT, vulkan_settings

TEXTS = 1000
ALONE = 50  # of them are also run one by one
FEW = 10  # of them are run on every device


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The model's folder."""
    return minilm.fetch(tmp_path_factory.mktemp("minilm"))


def make_texts():
    """Of 20 languages, of 1 to 150 words, with emoji, code, white space around them, and nothing at all."""
    draw = random.Random(7)
    languages = [path.read_text(encoding="utf-8") for path in sorted((MODELS / "langid" / "samples").glob("*.txt"))]
    parts = [text.split() if " " in text.strip() else list(text.strip()) for text in languages]
    more = ["🙂", "👩‍👩‍👧", "x = [i**2 for i in range(10)]", "https://example.org/?q=1", "İSTANBUL", "naïve", "1,234.5",
            "[MASK]"]
    texts = ["", " ", "a", "  white space around it \u2003"]
    while len(texts) < TEXTS:
        words = draw.choices(draw.choice(parts), k=int(1 + 150 * draw.random() ** 3))
        if draw.random() < 0.3:
            words.insert(draw.randrange(len(words) + 1), draw.choice(more))
        texts.append(" ".join(words))
    return texts


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """The same as a file."""
    path = tmp_path_factory.mktemp("texts") / "lines.txt"
    path.write_text("".join(text + "\n" for text in make_texts()), encoding="utf-8")
    return path


def embed(folder, lines, out, **environment):
    """What `weft embed` prints, and the vectors."""
    command = [sys.executable, "-m", "weft", "embed", str(folder), "--lines", str(lines), "--out", str(out), "--json"]
    found = subprocess.run(command, capture_output=True, check=True, env={**os.environ, **environment})
    return json.loads(found.stdout), np.load(out)


def expected(folder, texts):
    """As sentence-transformers does, in float64."""
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    model = transformers.AutoModel.from_pretrained(folder).double().eval()
    rows = []
    with torch.inference_mode():
        for text in texts:
            ids = torch.tensor([tokenizer.encode(text.strip()).ids])
            mean = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.mean(1)
            rows.append(torch.nn.functional.normalize(mean, dim=1)[0].numpy())
    return np.stack(rows)


def test_vectors_are_those_of_transformers(folder, lines, tmp_path, device):
    report, found = embed(folder, lines, tmp_path / "out.npy")
    texts = make_texts()
    reference = expected(folder, texts)
    assert report["texts"] == TEXTS and found.shape == (TEXTS, 384)
    assert np.linalg.norm(found - reference) / np.linalg.norm(reference) <= 1e-6
    with weft.load(folder, device) as model:
        assert np.array_equal(model.embed(texts), found)
        assert all(np.array_equal(model.embed(texts[i]), found[i]) for i in range(0, TEXTS, TEXTS // ALONE))


def settings():
    """Environments, each with one device."""
    nothing = {"VK_DRIVER_FILES": "no-driver.json", "VK_ICD_FILENAMES": "no-driver.json"}
    found = [pytest.param({**nothing, "WEFT_PROCESSOR_LANES": str(lanes), "WEFT_PROCESSOR_THREADS": str(threads)},
                          id=f"processor-{lanes}-{threads}") for lanes in (4, 8, 16) for threads in (1, 2)]
    return found + vulkan_settings("lavapipe-8", "lavapipe-4", "lavapipe-16", "swiftshader")


@pytest.fixture(scope="module")
def few(folder, lines, tmp_path_factory):
    """A file with some of the texts, and the hash of their vectors on this device."""
    place = tmp_path_factory.mktemp("few")
    texts = make_texts()[::TEXTS // FEW][:FEW]
    path = place / "lines.txt"
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    report, found = embed(folder, path, place / "all.npy")
    _, every = embed(folder, lines, place / "every.npy")
    assert np.array_equal(found, every[::TEXTS // FEW][:FEW])
    return path, report["output"]["sha256"]


@pytest.mark.parametrize("environment", settings())
def test_the_hash_is_the_same_everywhere(folder, few, tmp_path, environment):
    path, digest = few
    report, _ = embed(folder, path, tmp_path / "out.npy", **environment)
    assert report["output"]["sha256"] == digest


@pytest.mark.parametrize("texts", [["A cat sits on the mat."],
                                   ["A cat sits on the mat.", "A kitten lies on the rug.", "Stocks fell sharply today."]],
                         ids=["one", "three"])
def test_hashes_of_the_readme(folder, tmp_path, texts):
    path = tmp_path / "lines.txt"
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    report, _ = embed(folder, path, tmp_path / "out.npy")
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"sha256 {report['output']['sha256']}\n" in shown


@pytest.fixture(scope="module")
def quantized(folder, tmp_path_factory):
    """The same model of int8."""
    place = tmp_path_factory.mktemp("quantized") / "model"
    weft.quantize(folder, place)
    return place


def test_int8_keeps_similarities(folder, quantized, lines, tmp_path):
    _, exact = embed(folder, lines, tmp_path / "exact.npy")
    _, found = embed(quantized, lines, tmp_path / "found.npy")
    sizes = [sum(path.stat().st_size for path in place.glob("*.safetensors")) for place in (folder, quantized)]
    assert sizes[1] < 0.3 * sizes[0]
    pairs = [(vectors * np.roll(vectors, 1, axis=0)).sum(1) for vectors in (exact, found)]
    differences = abs(pairs[0] - pairs[1])
    print(f"{differences.mean()} on average, {differences.max()} at most")
    assert differences.mean() <= 0.005 and differences.max() <= 0.05


@pytest.mark.parametrize("environment", settings())
def test_the_hash_of_int8_is_the_same_everywhere(quantized, few, tmp_path, environment):
    path, _ = few
    report, _ = embed(quantized, path, tmp_path / "out.npy", **environment)
    expected, _ = embed(quantized, path, tmp_path / "expected.npy")
    assert report["output"]["sha256"] == expected["output"]["sha256"]
