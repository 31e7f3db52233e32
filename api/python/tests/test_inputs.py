# SPDX-License-Identifier: MIT
"""Tokens and texts as people have them: arrays of any package, batches of tokenizers, masks, streams."""

import collections
import importlib.util
import itertools
import pathlib

import numpy as np
import pytest

import weft
from conftest import MODELS
from small_models import sentence_folder

TEXTS = ["Der Hund bellt im Garten.", "Quelle langue est-ce ?", "a", "The quick brown fox jumps over the lazy dog. " * 3]
HAVE_TORCH = importlib.util.find_spec("torch") is not None


@pytest.fixture
def batch(classifier):
    """What a tokenizer of transformers gives of the texts, padded on the right."""
    rows = [classifier.tokenize(text) for text in TEXTS]
    longest = max(map(len, rows))
    return {"input_ids": np.array([row + [0] * (longest - len(row)) for row in rows], np.int64),
            "attention_mask": np.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows], np.int64),
            "token_type_ids": np.zeros((len(rows), longest), np.int64)}


@pytest.fixture
def expected(classifier):
    return np.stack([classifier.logits(classifier.tokenize(text)) for text in TEXTS])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_tokens_of_any_integers(langid, dtype):
    tokens = np.arange(40).reshape(2, 20) + 3
    expected = langid.logits(tokens.astype(np.int32))
    for given in (tokens.astype(dtype), tokens.astype(dtype).tolist(), np.asfortranarray(tokens.astype(dtype)),
                  tuple(map(tuple, tokens.astype(dtype)))):
        assert (langid.logits(given) == expected).all()


@pytest.mark.skipif(not HAVE_TORCH, reason="without PyTorch")
def test_tokens_of_pytorch(langid):
    import torch

    tokens = np.arange(40).reshape(2, 20) + 3
    expected = langid.logits(tokens)
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
        given = torch.tensor(tokens, dtype=dtype)
        assert (langid.logits(given) == expected).all() and (langid(given) == expected).all()
        assert (langid.logits(given.T.contiguous().T) == expected).all()
    with pytest.raises(weft.InvalidArgument, match="inputs: expected integers, found dtype float32"):
        langid.logits(torch.ones(2, 20))


def test_batches_of_tokenizers(classifier, batch, expected):
    for given in (batch, collections.UserDict(batch), {**batch, "length": [1]}):
        assert (classifier(given) == expected).all() and (classifier(**given) == expected).all()
        assert (classifier.logits(given) == expected).all() and (classifier.logits(**given) == expected).all()
        assert (classifier.hidden(given)[2, 0] == classifier.hidden(**given)[2, 0]).all()
    assert (classifier(batch["input_ids"], attention_mask=batch["attention_mask"]) == expected).all()
    lengths = batch["attention_mask"].sum(1)
    assert (classifier.logits(batch["input_ids"], lengths=lengths) == expected).all()
    assert (classifier.hidden(**{"inputs": batch["input_ids"], "attention_mask": batch["attention_mask"]})[2, 0]
            == classifier.hidden(classifier.tokenize("a"))[0]).all()
    one = {name: array[0, :lengths[0]] for name, array in batch.items()}
    assert (classifier(**one) == expected[0]).all()
    assert (classifier(**{name: array[:1, :lengths[0]].astype(bool) if name == "attention_mask" else array[:1, :lengths[0]]
                          for name, array in batch.items()}) == expected[:1]).all()


def test_batches_on_a_pool(device, classifier, batch, expected):
    with weft.Pool([device, device]) as pool, pool.load(MODELS / "langid1024-fmmformer") as pooled:
        assert (pooled(batch) == expected).all() and (pooled(**batch) == expected).all()
        assert (pooled.logits(batch["input_ids"], attention_mask=batch["attention_mask"]) == expected).all()
        with pytest.raises(weft.InvalidArgument, match="attention_mask: row 0 has no token"):
            pooled(batch["input_ids"], attention_mask=0 * batch["attention_mask"])


@pytest.mark.skipif(not importlib.util.find_spec("transformers"), reason="without transformers")
def test_a_batch_encoding(classifier, batch, expected):
    import transformers

    for kind in ("np", "pt") if HAVE_TORCH else ("np",):
        encoding = transformers.BatchEncoding({name: array.tolist() for name, array in batch.items()}, tensor_type=kind)
        assert (classifier(encoding) == expected).all() and (classifier(**encoding) == expected).all()


MASKS = [
    ([[1, 1, 1], [0, 1, 1]], "row 1 is padded on the left: expected padding on the right"),
    ([[1, 0, 1], [1, 1, 1]], "row 0 hides position 1 before tokens that count"),
    ([[1, 1, 1], [0, 1, 0]], "row 1 hides position 0"), ([[1, 1, 1], [0, 0, 0]], "row 1 has no token"),
    ([[1, 1], [1, 1]], r"expected shape \[2, 3\], as the tokens, found \[2, 2\]"), ([1, 1, 1], "expected shape"),
    ([[1, 1, 1], [1, 2, 0]], "expected 0 and 1, found 2"), ([[1, 1, 1], [1, 1]], "rows of one length, .* 2 in row 1"),
    ([["a"] * 3] * 2, "expected numbers"), ([[1.0, 1.0, 0.5]] * 2, "expected 0 and 1, found 0.5")]


@pytest.mark.parametrize("mask, message", MASKS)
def test_masks_that_are_refused(classifier, mask, message):
    with pytest.raises(weft.WeftError, match=f"^attention_mask: .*{message}"):
        classifier.logits([[1, 2, 3], [4, 5, 6]], attention_mask=mask)


def test_a_model_that_mixes_padding_refuses_it(langid):
    tokens = [[1, 2, 3], [4, 5, 6]]
    assert (langid.logits(tokens, attention_mask=np.ones((2, 3))) == langid.logits(tokens)).all()
    with pytest.raises(weft.InvalidArgument, match="attention_mask: row 1 is padded, .* fourier, .* give texts"):
        langid.logits(tokens, attention_mask=[[1, 1, 1], [1, 1, 0]])
    with pytest.raises(weft.InvalidArgument, match="lengths: expected None with an attention_mask"):
        langid.logits(tokens, attention_mask=[[1, 1, 1], [1, 1, 1]], lengths=[3, 3])


def test_what_is_no_batch(classifier):
    for given, message in (({"tokens": [[1]]}, "^tokens: expected entries out of input_ids"),
                           ({"attention_mask": [[1]]}, "^input_ids: expected token ids, found a batch of attention_mask"),
                           ({"input_ids": [[1]], "labels": [1]}, "^labels: Weft computes no loss"),
                           ({"input_ids": [[1]], "position_ids": [[0]]}, "^position_ids: expected entries"),
                           ({"input_ids": [[1, 2], [3]]}, "^inputs: expected rows of one length, found 2 in row 0 and 1"),
                           ({"input_ids": [[1, 2]], "token_type_ids": [[0]]}, "^types: expected shape")):
        for call in (lambda given=given: classifier(given), lambda given=given: classifier(**given)):
            with pytest.raises(weft.WeftError, match=message):
                call()


def test_types_that_are_zeros_are_none(classifier):
    tokens = [[1, 2, 3]]
    assert (classifier.logits(tokens, types=[[0, 0, 0]]) == classifier.logits(tokens)).all()
    with pytest.raises(weft.WeftError, match="types"):
        classifier.logits(tokens, types=[[0, 1, 0]])


def test_texts_as_they_come(langid, classifier):
    texts = [f"{text} {number}" for number, text in zip(range(50), itertools.cycle(TEXTS))]
    for model in (langid, classifier):
        expected = model(texts)
        assert list(model.stream(texts, ahead=7)) == expected
        read = []
        endless = (read.append(number) or texts[number % 50] for number in itertools.count())
        assert list(itertools.islice(model.stream(endless, ahead=8), 20)) == expected[:20] and len(read) == 24
        assert list(model.stream([])) == []
    with pytest.raises(weft.InvalidArgument, match="^text 12: .*no tokens"):
        list(langid.stream([*texts[:12], ""], ahead=5))


def test_empty_texts_are_special_tokens_where_there_are_any(device, tmp_path):
    model = weft.load(sentence_folder(tmp_path / "model"), device)
    assert model.tokenize("") == model.encode("").tokens.tolist() == [2, 3]
    vectors = model.embed(["the cat", "", "a mat"])
    assert (vectors[1] == model.embed("")).all() and (vectors[0] == model.embed("the cat")).all()
    pair = model.encode("the cat", "a mat")
    assert pair.types.any() and (model.hidden(pair) == model.hidden(pair.tokens, types=pair.types)).all()
    assert not (model.hidden(pair) == model.hidden(pair.tokens)).all()
    for text, call in (("\ud800", model.tokenize), ("\ud800", model.encode)):
        with pytest.raises(UnicodeError):
            call(text)


def test_texts_are_a_text_or_several(langid):
    assert langid(np.array(TEXTS[:2])) == langid(TEXTS[:2]) == langid(iter(TEXTS[:2])) == langid(tuple(TEXTS[:2]))
    assert langid([]) == []
    for given in (3, None, b"abc"):
        for call in (langid, langid.stream):
            with pytest.raises(TypeError, match=f"^texts: expected a text, or several, found {type(given).__name__}"):
                call(given)


def test_paths_of_any_kind(device, tmp_path):
    folder = pathlib.Path(MODELS / "langid")
    for given in (folder, str(folder), str(folder).encode(), folder.relative_to(pathlib.Path.cwd())
                  if folder.is_relative_to(pathlib.Path.cwd()) else folder):
        weft.load(given, device).close()
    with weft.Device(device.info.index, cache_dir=tmp_path / "cache") as opened:
        weft.load(folder, opened).logits([[1, 2, 3]])
    assert any((tmp_path / "cache").iterdir())
    with weft.Pool([device.info.index], cache_dir=tmp_path / "pool") as pool:
        pool.load(folder)
    graph = weft.Graph()
    graph.output("y", graph.input("x", [2]) + 1.0)
    for given in (tmp_path / "a", str(tmp_path / "b")):
        weft.save(graph, given)
        assert weft.load(given, device)([1, 2]).tolist() == [2.0, 3.0]
