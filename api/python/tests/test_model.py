# SPDX-License-Identifier: MIT
"""Models on texts and tokens. What they give is held to the committed hashes of all logits and to the weft command."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import weft
from conftest import DATA, MODELS, ROOT


def test_what_a_model_is(langid):
    info = langid.info
    assert (info.architecture, info.task, info.mixing) == ("FNetForSequenceClassification", "classify", "fourier")
    assert (info.layers, info.hidden_size, info.vocabulary, info.tokenizer) == (3, 128, 260, "bytes")
    assert len(langid.labels) == info.label_count == 24 and langid.labels[0] == "cs"
    assert langid.config["model_type"] == "fnet"
    assert "FNetForSequenceClassification, classify, 334,616 parameters" in repr(langid)


def test_all_logits_have_the_committed_bits(langid):
    tokens = np.load(MODELS / "langid" / "test.npz")["tokens"]
    some = tokens[np.arange(96) * len(tokens) // 96]
    digest = hashlib.sha256(b"".join(langid.logits(some[i:i + 32]).tobytes() for i in range(0, 96, 32)))
    assert digest.hexdigest() == (MODELS / "langid" / "logits-96.sha256").read_text().split()[0]


def test_vectors_are_inputs_too(device):
    data = np.load(DATA / "fashion.npz")
    pixels = data["inputs"][:20].astype(np.float32) / np.float32(255)
    with weft.load(MODELS / "fashion-fmmformer", device) as model:
        assert model.info.vocabulary == 0 and model.info.input_size == pixels.shape[2]
        expected = np.load(MODELS / "fashion-fmmformer" / "pytorch.npz")["logits"][:20]
        np.testing.assert_allclose(model.logits(pixels), expected, atol=1e-4)


def test_positions_are_inputs_too(device):
    data = np.load(DATA / "points.npz")
    with weft.load(MODELS / "points-flt", device) as model:
        found = model.logits(data["inputs"][:8].astype(np.float32), positions=data["positions"][:8])
        np.testing.assert_allclose(found, np.load(MODELS / "points-flt" / "pytorch.npz")["outputs"][:8], atol=1e-4)


def test_texts_have_the_answers_of_the_command(langid, device):
    for path in sorted((MODELS / "langid" / "samples").iterdir())[:4]:
        run = subprocess.run([sys.executable, "-m", "weft", "run", str(MODELS / "langid"), "--file", str(path), "--json",
                              "--device", str(device.info.index)], capture_output=True, text=True, check=True)
        said = json.loads(run.stdout)
        found = langid(path.read_text("utf-8"))
        best = max(said["predictions"][0], key=lambda row: row["probability"]) if "predictions" in said else None
        assert best is None or (best["label"] == found.label and abs(best["probability"] - found.probability) < 1e-6)
        assert found.label in run.stdout


def test_many_texts_keep_their_order(classifier):
    texts = [path.read_text("utf-8")[:length] for path in sorted((MODELS / "langid" / "samples").iterdir())[:6]
             for length in (30, 41)]
    together = classifier(texts)
    assert together == [classifier(text) for text in texts]
    assert classifier([]) == []
    for answer in together:
        assert sum(answer.probabilities) == pytest.approx(1)
        assert list(answer.probabilities) == sorted(answer.probabilities, reverse=True)
        assert answer.top(2) == list(zip(answer.labels, answer.probabilities))[:2]
        assert str(answer).startswith(f"{answer.label} {answer.probability:.1%}, ")


def test_texts_of_all_lengths_go_together(classifier):
    """Each has the bits that it has alone, in far fewer runs than there are lengths."""
    source = "".join(path.read_text("utf-8") for path in sorted((MODELS / "langid" / "samples").iterdir()))
    texts = [source[start:start + length] for start, length in enumerate([3, 200, 17, 64, 65, 1, 90, 333, 91, 33, 60, 63])]
    tokens = [classifier.tokenize(text) for text in texts]
    assert classifier.info.takes_lengths
    for row, alone in zip(classifier._rows(tokens), tokens):
        assert np.array_equal(row, classifier.logits(alone))
    lengths = [len(row) for row in tokens]
    padded = np.zeros((len(tokens), max(lengths)), np.int32)
    for row, some in zip(padded, tokens):
        row[:len(some)] = some
    hidden = classifier.hidden(padded, lengths=lengths)
    for row, some in zip(hidden, tokens):
        assert np.array_equal(row[:len(some)], classifier.hidden(some))


def test_lengths_where_there_are_none(langid, classifier):
    assert not langid.info.takes_lengths
    with pytest.raises(weft.InvalidArgument, match="lengths"):
        langid.logits([[1, 2, 3]], lengths=[2])
    with pytest.raises(weft.InvalidArgument, match="outside 1 to 3"):
        classifier.logits([[1, 2, 3]], lengths=[4])


def test_progress(classifier, capfd, monkeypatch):
    tqdm = pytest.importorskip("tqdm.auto")
    made = []

    class Bar(tqdm.tqdm):
        def __init__(self, **options):
            made.append(self)
            super().__init__(**{**options, "delay": 0.0})

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    classifier(["one", "two", "three"], progress=True)
    assert made[0].n == made[0].total == 3 and "3/3" in capfd.readouterr().err
    classifier(["one", "two", "three"])
    classifier(["one", "two", "three"], progress=False)
    assert capfd.readouterr().err == "", "no terminal"


def test_rows_of_a_batch_are_those_alone(langid):
    tokens = np.random.default_rng(1).integers(0, 256, (5, 61))
    together = langid.logits(tokens)
    for row, expected in zip(tokens, together):
        assert np.array_equal(langid.logits(row), expected)
        assert np.array_equal(langid.logits(list(map(int, row))), expected)


def test_hidden_states(langid, text_model):
    tokens = langid.tokenize("hidden states")
    hidden = langid.hidden(tokens)
    assert hidden.shape == (len(tokens), 128)
    assert np.array_equal(langid.hidden([tokens, tokens])[1], hidden)
    whole = text_model.hidden(text_model.tokenize("some words"))
    assert np.array_equal(text_model.hidden(text_model.tokenize("some words and more"))[:10], whole), "it is causal still"


def test_wrong_inputs(langid):
    with pytest.raises(weft.ShapeMismatch, match=r"expected shape \[B, n\], found \[1, 1, 1\]"):
        langid.logits([[[1]]])
    with pytest.raises(weft.ShapeMismatch):
        langid.logits(np.zeros((1, 0), np.int32))
    with pytest.raises(weft.InvalidArgument, match="512 positions"):
        langid.logits([[1] * 513])
    with pytest.raises(weft.InvalidArgument, match="260"):
        langid.logits([[260]])
    with pytest.raises(weft.InvalidArgument, match="no tokens"):
        langid("")
    with pytest.raises(weft.Unsupported, match="task classify"):
        langid.generate("text")


def test_generated_text_is_the_commands(text_model, device):
    for options, arguments in (({}, ["--greedy"]), ({"temperature": 0.7, "top_k": 9, "seed": 5},
                                                    ["--seed", "5", "--temperature", "0.7", "--top-k", "9"])):
        command = [sys.executable, "-m", "weft", "generate", str(MODELS / "text-fmmformer"), "--text", "hacker: ",
                   "--tokens", "50", "--device", str(device.info.index), *arguments]
        run = subprocess.run(command, capture_output=True, check=True)
        pieces = list(text_model.stream("hacker: ", tokens=50, **options))
        assert text_model.generate("hacker: ", 50, **options) == "".join(pieces)
        assert len(pieces) > 40 and "".join(pieces) == run.stdout.decode("utf-8", "replace").rstrip("\n")
    assert text_model.generate("x", 0) == ""


def test_generating_can_stop_and_goes_on_to_the_end_of_positions(text_model):
    pieces = text_model.stream("abc", tokens=50)
    first = next(pieces)
    pieces.close()
    assert next(text_model.stream("abc", tokens=50)) == first
    most = text_model.info.max_length
    assert len(list(text_model.generate_tokens([65] * (most - 1)))) == 2
    with pytest.raises(weft.InvalidArgument, match="prompt 0: there are no tokens"):
        text_model.generate_tokens([], 5)
    with pytest.raises(weft.Unsupported, match="classifier"):
        text_model("abc")


def test_tokenizers_of_others(device):
    class Encoding:  # as of the package tokenizers
        def __init__(self, ids):
            self.ids = ids

    class Tokens:
        def encode(self, text):
            return Encoding(list(text.encode()))

    own = weft.load(MODELS / "langid", device)
    tokens = own.tokenize("What language is this?")
    for tokenizer in (lambda text: own.tokenize(text), lambda text: {"input_ids": own.tokenize(text)}):
        model = weft.load(MODELS / "langid", device, tokenizer=tokenizer)
        assert model.tokenize("What language is this?") == tokens
        assert model("What language is this?") == own("What language is this?")
    assert weft.load(MODELS / "langid", device, tokenizer=Tokens()).tokenize("ab") == [97, 98]


def test_text_by_tokenizers_of_others(device):
    class Bytes:
        def encode(self, text):
            return list(text.encode())

        def decode(self, tokens):
            return bytes(tokens).decode("utf-8", "replace")

    own = weft.load(MODELS / "text-fmmformer", device)
    other = weft.load(MODELS / "text-fmmformer", device, tokenizer=Bytes())
    for options in ({}, {"temperature": 2.0, "seed": 3}):  # the latter gives bytes that are no text
        assert other.generate("hacker: ", 40, **options) == own.generate("hacker: ", 40, **options)
    with pytest.raises(weft.Unsupported, match="decode"):
        weft.load(MODELS / "text-fmmformer", device, tokenizer=lambda text: [1]).generate("abc")


def test_texts_of_pieces(tmp_path, device):
    """A SentencePiece model of the folder; what the command shows is what generate gives."""
    folder = shutil.copytree(MODELS / "text-fmmformer", tmp_path / "pieces")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "tokenizer_class": "SentencePieceTokenizer"}))
    shutil.copy(ROOT / "tests" / "data" / "tokenizer" / "spiece.model", folder)
    model = weft.load(folder, device)
    assert model.info.tokenizer == "sentencepiece"
    assert model.detokenize(model.tokenize("the weaver holds")) == "the weaver holds"
    ids = []
    pieces = list(model.stream("the weaver holds", tokens=20, seed=3, temperature=1.0, ids=ids))
    assert len(ids) == 20
    assert model.detokenize(model.tokenize("the weaver holds") + ids) == "the weaver holds" + "".join(pieces)
    run = subprocess.run([sys.executable, "-m", "weft", "generate", str(folder), "--text", "the weaver holds", "--tokens", "20",
                          "--seed", "3", "--device", str(device.info.index)], capture_output=True, check=True)
    assert run.stdout.decode() == "".join(pieces)


def test_encodings(langid):
    """Tokens with their places, in characters."""
    found = langid.encode("aé", "漢b", max_tokens=6)
    assert found.tokens.tolist() == [97, *"é".encode(), *"漢".encode()] and found.cut == 1 and len(found) == 6
    assert found.offsets.tolist() == [[0, 1], [1, 2], [1, 2], [0, 1], [0, 1], [0, 1]]
    assert found.types.tolist() == found.sequences.tolist() == [0, 0, 0, 1, 1, 1]
    with pytest.raises(TypeError, match="pair: expected a text"):
        langid.encode("a", 3)
    with pytest.raises(weft.InvalidArgument, match="max_tokens: expected"):
        langid.encode("a", max_tokens=-1)
    with pytest.raises(weft.InvalidArgument, match="no tokens"):
        langid.encode("")


def test_other_libraries_tokenizer_files_are_named(tmp_path, device):
    """BERT's vocab.txt, GPT-2's vocab.json: the message names the file, and what makes a tokenizer.json of it."""
    for name in ("vocab.txt", "vocab.json", "tokenizer.model", "sentencepiece.bpe.model", None):
        folder = shutil.copytree(ROOT / "tests" / "data" / "models" / "bert_hidden", tmp_path / str(name))
        if name is not None:
            (folder / name).write_text("[PAD]")
        with weft.load(folder, device) as model, pytest.raises(weft.Unsupported, match="no tokenizer") as refused:
            model.tokenize("the cat")
        said = str(refused.value)
        assert "expected tokenizer.json or spiece.model, found" in said or name is None
        assert name is None or f"found {name}: transformers makes a tokenizer.json of it" in said


@pytest.mark.parametrize("field, value, expected", [
    ("model_type", "wav2vec2", 'found "wav2vec2"'), ("architectures", ["AntiBERTy"], 'found "AntiBERTy"')])
def test_other_kinds_of_models_are_told_the_way(tmp_path, device, field, value, expected):
    folder = shutil.copytree(ROOT / "tests" / "data" / "models" / "bert_hidden", tmp_path / "folder")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, field: value}))
    with pytest.raises(weft.Unsupported) as refused:
        weft.load(folder, device)
    assert expected in str(refused.value) and "weft.from_torch(module, inputs) makes a program" in str(refused.value)


def test_a_folders_tokenizer_json(tmp_path, device):
    tokenizers = pytest.importorskip("tokenizers")
    words = "[UNK] a cat sat on the mat and saw its own tail go by in no time at all".split()
    folder = shutil.copytree(ROOT / "tests" / "data" / "models" / "transformer_rms_causal_lm_tied", tmp_path / "words")
    bare = weft.load(folder, device)
    with pytest.raises(weft.Unsupported, match="no tokenizer"):
        bare.tokenize("the cat")
    with pytest.raises(weft.Unsupported, match="expected a model with a tokenizer"):
        bare.generate("the cat")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    model = weft.load(folder, device)
    assert model.tokenize("the cat sat") == [words.index(word) for word in ("the", "cat", "sat")]
    ids = []
    pieces = list(model.stream("the cat", tokens=6, seed=2, temperature=1.0, ids=ids))
    assert "".join(pieces).split() == [words[i] for i in ids if 0 < i < len(words)]
    command = [sys.executable, "-m", "weft", "generate", str(folder), "--text", "the cat", "--tokens", "6", "--seed", "2",
               "--device", str(device.info.index)]
    run = subprocess.run(command, capture_output=True, check=True, text=True)
    assert run.stdout == "".join(pieces)
    said = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True, text=True).stdout)
    assert said["tokens"] == ids and said["prompt_tokens"] == 2
    assert subprocess.run([*command, "--greedy"], capture_output=True).returncode == 2
    wrong = subprocess.run([*command, "--temperature", "-1"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "--temperature: expected" in wrong.stderr and "Traceback" not in wrong.stderr


def test_text_of_a_tokenizer_json_steers_no_terminal(tmp_path, device):
    """Pieces of it are somebody else's: shown harmless, and as they are in a file and in JSON."""
    tokenizers = pytest.importorskip("tokenizers")
    folder = shutil.copytree(ROOT / "tests" / "data" / "models" / "transformer_rms_causal_lm_tied", tmp_path / "words")
    count = json.loads((folder / "config.json").read_text())["vocab_size"]
    words = ["[UNK]", "a", *(f"\x1b[3{i}m\u202e\x9b\r" for i in range(count - 2))]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    command = [sys.executable, "-m", "weft", "generate", str(folder), "--text", "a", "--tokens", "6", "--seed", "2",
               "--device", str(device.info.index), "--out", str(tmp_path / "out")]
    shown = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert "\\x1b[3" in shown and "\\u202e\\u009b\\r" in shown
    assert all(letter == "\n" or " " <= letter <= "~" for letter in shown)
    exact = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)["text"]
    assert "\x1b[3" in exact and (tmp_path / "out").read_bytes().decode() == exact
    (tmp_path / "old").write_text("old")
    os.link(tmp_path / "old", tmp_path / "kept")
    os.symlink(tmp_path / "old", tmp_path / "link")
    subprocess.run([*command[:-1], str(tmp_path / "link")], capture_output=True, check=True)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "old").read_bytes().decode() == exact, "a file is replaced"
    assert (tmp_path / "kept").read_text() == "old", "and not written into"
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen([*command[:-1], str(tmp_path / "pipe")], stdout=subprocess.DEVNULL) as writer:
        assert (tmp_path / "pipe").read_bytes().decode() == exact and writer.wait() == 0
    assert (tmp_path / "pipe").is_fifo() and not list(tmp_path.glob("*.tmp"))
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(weft.BadFile, match=r"tokenizer\.json"):
        weft.load(folder, device)
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 4 and "tokenizer.json" in refused.stderr


def test_few_plans_serve_many_lengths(classifier):
    classifier([" " * (i % 7 + 1) + "x" * (i % 3) for i in range(100)])
    assert len(classifier._plans) <= 32


def test_damaged_folders(tmp_path, device):
    good = MODELS / "langid"
    with pytest.raises(weft.NotFound, match="config.json"):
        weft.load(tmp_path, device)
    (tmp_path / "config.json").write_text((good / "config.json").read_text())
    with pytest.raises(weft.NotFound, match=r"model\.safetensors"):
        weft.load(tmp_path, device)
    (tmp_path / "model.safetensors").write_bytes((good / "model.safetensors").read_bytes()[:1000])
    with pytest.raises(weft.BadFile, match=r"model\.safetensors"):
        weft.load(tmp_path, device)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "abacus"}))
    with pytest.raises(weft.Unsupported, match="model_type.*abacus"):
        weft.load(tmp_path, device)


def test_saving_a_loaded_model(langid, device, tmp_path):
    weft.save(langid, tmp_path / "copy")
    again = weft.load(tmp_path / "copy", device)
    tokens = np.arange(40)[None]
    assert again.config == langid.config
    assert np.array_equal(again.logits(tokens), langid.logits(tokens))


def test_a_closed_model(device):
    model = weft.load(MODELS / "langid", device)
    model("a text")
    model.close()
    with pytest.raises(weft.InvalidArgument, match="closed"):
        model("another text")
    with pytest.raises(weft.InvalidArgument, match="closed"):
        model.logits([[1, 2, 3]])
