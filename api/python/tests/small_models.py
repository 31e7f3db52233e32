# SPDX-License-Identifier: MIT
"""Folders of small models, made of those that tests have."""

import json
import shutil

import numpy as np

from conftest import ROOT

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]",
         *"a the cat feline sat on was mat resting die katze saß auf der matte hund and . ,".split()]


def sentence_folder(folder, inner="", prompts=None):
    """A folder of sentence-transformers around a BERT of random weights, whose tokenizer knows some words."""
    place = folder / inner
    shutil.copytree(ROOT / "tests" / "data" / "models" / "bert_hidden", place)
    for name in ("expected.npz", "input.npz"):
        (place / name).unlink()
    special = [{"id": at, "content": word, "special": True, "normalized": False, "lstrip": False, "rstrip": False,
                "single_word": False} for at, word in enumerate(WORDS[:4])]
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}, "decoder": None,
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(WORDS)}, "unk_token": "[UNK]"}}
    (place / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    module = "sentence_transformers.models."
    (folder / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": inner, "type": f"{module}Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}Normalize"}]), "utf-8")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({
        "word_embedding_dimension": 8, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}), "utf-8")
    if prompts:
        write_json(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return folder


def write_tensors(path, tensors):
    """A model.safetensors of float32."""
    header, data = {}, b""
    for name, given in tensors.items():
        values = given.astype("<f4")
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def write_json(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def cross_folder(folder, labels=1):
    """A classifier of pairs in place of the encoder."""
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    config = _with_head(folder, "BertForSequenceClassification", "classifier", labels, ["bert.pooler.dense"])
    write_json(folder / "modules.json", modules[:1])
    return config


def token_folder(folder, labels=3):
    """A classifier of tokens in place of the encoder."""
    return _with_head(folder, "BertForTokenClassification", "classifier", labels)


def question_folder(folder):
    """A model that finds answers in place of the encoder."""
    return _with_head(folder, "BertForQuestionAnswering", "qa_outputs", 2)


def _with_head(folder, architecture, head, labels, square=()):
    draw = np.random.default_rng(9)
    raw = (folder / "model.safetensors").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = np.frombuffer(raw[8 + size + begin:8 + size + end], "<f4").reshape(entry["shape"])
        tensors[name if name.startswith("bert.") else f"bert.{name}"] = values
    config = json.loads((folder / "config.json").read_text("utf-8"))
    width = config["hidden_size"]
    for name, rows in [*((name, width) for name in square), (head, labels)]:
        tensors |= {f"{name}.weight": draw.normal(size=(rows, width)), f"{name}.bias": draw.normal(size=rows)}
    write_tensors(folder / "model.safetensors", tensors)
    config |= {"architectures": [architecture], "id2label": {str(i): f"l{i}" for i in range(labels)}}
    write_json(folder / "config.json", config)
    (folder / "modules.json").unlink()
    return config
