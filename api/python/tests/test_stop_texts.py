# SPDX-License-Identifier: MIT
"""Ctrl-C whenever a call asks whether to end: it comes out at once, and the same call then gives what it gave before."""

import contextlib
import json
import signal

import numpy as np
import pytest

import weft
from conftest import MODELS
from small_models import write_tensors
from weft import _core

MOMENTS = 6
TEXTS = ["un chat", "the cat sat on the mat", "a", "der Hund bellt laut", "el perro corre"]


@contextlib.contextmanager
def looks(at=0):
    """How often the library asks whether to end; the `at`-th time it finds a Ctrl-C."""
    count = [0]

    def ask(_user):
        count[0] += 1
        if count[0] == at:
            signal.raise_signal(signal.SIGINT)
        return _core._interrupted(_user)

    def bind(function):
        _core.ffi.def_extern(name="weft_py_interrupted", error=True, onerror=_core._note_interrupt)(function)

    bind(ask)
    try:
        yield count
    finally:
        bind(_core._interrupted)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory, device):
    """A program that gives each byte one of two labels."""
    folder = tmp_path_factory.mktemp("tagger")
    (folder / "config.json").write_text(json.dumps({
        "model_type": "program", "format": 1, "task": "classify_tokens", "vocab_size": 256, "tokenizer_class": "ByteTokenizer",
        "symbols": {"batch": {"max": 64}, "length": {"max": 64}}, "id2label": {"0": "O", "1": "X"},
        "inputs": [{"name": "tokens", "dtype": "i32", "shape": ["batch", "length"]}],
        "nodes": [{"op": "embedding", "inputs": ["tokens", "table"], "output": "h"}],
        "outputs": [{"name": "output", "value": "h"}]}))
    table = np.random.default_rng(2).standard_normal((256, 2)).astype(np.float32)
    write_tensors(folder / "model.safetensors", {"table": table})
    return weft.load(folder, device)


def same(found, expected):
    """Equal, arrays to the bit."""
    if isinstance(expected, np.ndarray):
        return found.tobytes() == expected.tobytes()
    return found == expected


def expect_stops(call):
    """Stopped at moments all over, the call raises; it then gives what it gave."""
    expected = call()
    with looks() as count:
        assert same(call(), expected)
    assert count[0] > 0, "it never asks whether to end"
    for moment in range(MOMENTS):
        with looks(1 + moment * (count[0] - 1) // (MOMENTS - 1)), pytest.raises(KeyboardInterrupt):
            call()
        assert same(call(), expected)


CALLS = {
    "classify": lambda models: models["classifier"](TEXTS),
    "logits": lambda models: models["classifier"].logits(np.arange(12, dtype=np.int32).reshape(2, 6)),
    "embed": lambda models: models["vectors"].embed(TEXTS, pooling="mean"),
    "rerank": lambda models: models["vectors"].rerank("the dog", TEXTS),
    "entities": lambda models: models["tagger"].entities(TEXTS),
    "generate": lambda models: models["text"].generate(["The ", "A"], tokens=6),
    "load": lambda _: weft.load(MODELS / "langid").labels,
}


@pytest.fixture(scope="module")
def models(classifier, text_model, tagger, device):
    vectors = weft.load(MODELS / "langid1024-fmmformer", device)
    vectors.embed("a", pooling="mean")
    return {"classifier": classifier, "text": text_model, "tagger": tagger, "vectors": vectors}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_stopped_at_once_and_goes_on_afterwards(models, name):
    expect_stops(lambda: CALLS[name](models))


def test_a_stream_has_given_what_was_done(classifier):
    texts = TEXTS * 4
    expected = classifier(texts)
    assert list(classifier.stream(texts, ahead=4)) == expected  # all is compiled
    with looks() as count:
        assert list(classifier.stream(texts, ahead=4)) == expected
    found = []
    with looks(count[0] // 2), pytest.raises(KeyboardInterrupt):
        for answer in classifier.stream(texts, ahead=4):
            found.append(answer)
    assert 0 < len(found) < len(expected)
    assert found == expected[:len(found)]


def test_quantizing_leaves_a_whole_folder_or_none(tmp_path):
    def quantize(name):
        weft.quantize(MODELS / "langid", tmp_path / name)
        return (tmp_path / name / "model.safetensors").read_bytes()

    expected = quantize("whole")
    with looks() as count:
        assert quantize("again") == expected
    for moment in range(MOMENTS):
        name = f"stopped{moment}"
        with looks(1 + moment * (count[0] - 1) // (MOMENTS - 1)), pytest.raises(KeyboardInterrupt):
            quantize(name)
        left = list((tmp_path / name).glob("*")) if (tmp_path / name).exists() else []
        assert not left or (tmp_path / name / "model.safetensors").read_bytes() == expected
