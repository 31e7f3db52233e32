# SPDX-License-Identifier: MIT
# weft-test: long
"""Tokens of llama.cpp's own vocabularies: texts and tokens lie beside them in its sources, as models' tokenizers made them."""

import subprocess
import sys
import tarfile

import gguf
import numpy as np
import pytest

import weft

PACKAGE = "llama-cpp-python==0.3.36"
HASH = "sha256:832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
BETWEEN = "\n__ggml_vocab_test__\n"
SIZE = 32
NAMES = ("bert-bge", "command-r", "deepseek-coder", "deepseek-llm", "gpt-2", "llama-bpe", "llama-spm", "mpt", "phi-3", "qwen2",
         "qwen35", "refact", "starcoder")
REFUSED = {"aquila": "pre", "gpt-neox": "pre", "falcon": "pre", "gemma-4": "model"}
VALUE = gguf.GGUFValueType


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A folder with the vocabularies; a test that cannot have it is skipped."""
    place = tmp_path_factory.mktemp("vocabularies")
    wanted = place / "wanted.txt"
    wanted.write_text(f"{PACKAGE} --hash={HASH}\n")
    found = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=llama-cpp-python",
                            "--require-hashes", "--dest", place, "--requirement", wanted], capture_output=True, text=True,
                           check=False)
    if found.returncode != 0:
        pytest.skip(f"pip cannot fetch {PACKAGE}: {found.stderr.strip()}")
    (archive,) = place.glob("*.tar.gz")
    with tarfile.open(archive) as members:
        for member in members:
            name = member.name.rpartition("/")[2]
            if "/models/ggml-vocab-" in member.name and member.isfile():
                (place / name).write_bytes(members.extractfile(member).read())
    return place


def value_of(field):
    if field.types[0] != VALUE.ARRAY:
        whole = field.parts[field.data[0]]
        return bytes(whole).decode() if field.types[0] == VALUE.STRING else whole.tolist()[0]
    text = field.types[-1] == VALUE.STRING
    return [bytes(field.parts[i]) if text else field.parts[i].tolist()[0] for i in field.data]


def sizes(writer, is_bert, tokens):
    writer.add_context_length(512)
    writer.add_embedding_length(SIZE)
    writer.add_block_count(1)
    writer.add_feed_forward_length(SIZE)
    writer.add_head_count(2)
    writer.add_vocab_size(tokens)
    if is_bert:
        writer.add_layer_norm_eps(1e-12)
        writer.add_causal_attention(False)
        writer.add_pooling_type(gguf.PoolingType.MEAN)
    else:
        writer.add_head_count_kv(2)
        writer.add_layer_norm_rms_eps(1e-5)


def tensors(writer, is_bert, tokens):
    def add(name, *shape):
        writer.add_tensor(name, np.zeros(shape, np.float32))

    add("token_embd.weight", tokens, SIZE)
    square = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"] + ["ffn_gate"] * (not is_bert)
    norms = [f"blk.0.{name}_norm" for name in (("attn_output", "layer_output") if is_bert else ("attn", "ffn"))]
    norms += ["token_embd_norm" if is_bert else "output_norm"]
    for name in square:
        add(f"blk.0.{name}.weight", SIZE, SIZE)
    for name in norms:
        add(f"{name}.weight", SIZE)
    if is_bert:
        add("position_embd.weight", 512, SIZE)
        add("token_types.weight", 2, SIZE)
        for name in [f"blk.0.{part}" for part in square] + norms:
            add(f"{name}.bias", SIZE)
    else:
        add("output.weight", tokens, SIZE)


def make_model(path, vocabulary):
    """A model of zeros with the vocabulary of a file that has nothing else."""
    fields = {name: field for name, field in gguf.GGUFReader(vocabulary).fields.items() if name.startswith("tokenizer.")}
    is_bert = value_of(fields["tokenizer.ggml.model"]) == "bert"
    tokens = len(fields["tokenizer.ggml.tokens"].data)
    writer = gguf.GGUFWriter(path, "bert" if is_bert else "llama")
    sizes(writer, is_bert, tokens)
    for name, field in fields.items():
        writer.add_key_value(name, value_of(field), field.types[0], field.types[-1] if field.types[0] == VALUE.ARRAY else None)
    tensors(writer, is_bert, tokens)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("name", NAMES)
def test_tokens_are_those_of_the_models(device, sources, tmp_path, name):
    given = sources / f"ggml-vocab-{name}.gguf"
    texts = given.with_suffix(".gguf.inp").read_bytes().decode().split(BETWEEN)
    expected = [[int(token) for token in line.split()] for line in given.with_suffix(".gguf.out").read_text().split("\n")]
    make_model(tmp_path / "model.gguf", given)
    with weft.load(tmp_path / "model.gguf", device) as model:
        for text, tokens in zip(texts, expected):
            if tokens:
                assert model.encode(text, special=False).tokens.tolist() == tokens, text
            else:
                with pytest.raises(weft.errors.InvalidArgument, match="no tokens"):
                    model.encode(text, special=False)


@pytest.mark.parametrize("name", REFUSED)
def test_other_ways_to_cut_are_refused(device, sources, tmp_path, name):
    make_model(tmp_path / "model.gguf", sources / f"ggml-vocab-{name}.gguf")
    with pytest.raises(weft.errors.Unsupported, match=f"tokenizer.ggml.{REFUSED[name]}\": expected"):
        weft.load(tmp_path / "model.gguf", device)
