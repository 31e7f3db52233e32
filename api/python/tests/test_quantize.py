# SPDX-License-Identifier: MIT
# weft-test: long
"""weft.quantize against the package gguf: its bytes, and the bits of the numbers that they stand for."""

import pathlib
import shutil

import gguf
import gguf_files
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from test_gguf import BERT, GPT2, bits, decoder, made

import weft
from saved_models import module_of

TYPE = gguf_files.TYPE
EXPERTS = {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 256}
KINDS = {"q8_0": TYPE.Q8_0, "q4_0": TYPE.Q4_0, "q4_k": TYPE.Q4_K}
MODELS = (("LlamaForCausalLM", decoder(256)), ("LlamaForCausalLM", decoder(tie_word_embeddings=True)),
          ("BertModel", BERT), ("GPT2LMHeadModel", GPT2),
          ("Qwen2MoeForCausalLM", decoder(256, **EXPERTS, shared_expert_intermediate_size=64)))


def split(tensors):
    """The names of matrices with their kinds, and the tensors that stayed."""
    ends = {f".{end}": kind for end, kind in KINDS.items()}
    blocks = {}
    for name, data in tensors.items():
        end = next((end for end in ends if name.endswith(end)), None)
        if end:
            blocks[name.removesuffix(end)] = (ends[end], data)
    return blocks, {name: data for name, data in tensors.items() if not name.endswith(tuple(ends))}


def quantized(folder, out, to):
    weft.quantize(folder, out, to=to)
    return split(load_file(out / "model.safetensors"))


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize(("name", "fields"), MODELS, ids=[name + str(len(fields)) for name, fields in MODELS])
def test_a_folder_of_blocks(tmp_path, device, name, fields, to):
    module_of(name, fields).save_pretrained(tmp_path / "model")
    given = load_file(tmp_path / "model" / "model.safetensors")
    blocks, others = quantized(tmp_path / "model", tmp_path / "small", to)
    assert blocks and set(blocks) | set(others) == set(given)
    assert all(np.array_equal(others[one], given[one]) for one in others)
    stood_for = dict(others)
    for one, (kind, data) in blocks.items():
        width = given[one].shape[1]
        assert kind == (TYPE.Q8_0 if to == "q4_k" and width % 256 else KINDS[to])
        if kind != TYPE.Q4_K:
            assert np.array_equal(data, gguf.quants.quantize(given[one], kind)), one
        stood_for[one] = gguf.quants.dequantize(data, kind).reshape(given[one].shape)
    shutil.copytree(tmp_path / "model", tmp_path / "plain")
    save_file(stood_for, tmp_path / "plain" / "model.safetensors", {"format": "pt"})
    tokens = np.random.default_rng(3).integers(0, 64, (2, 17)).astype(np.int32)
    with weft.load(tmp_path / "small", device) as model, weft.load(tmp_path / "plain", device) as expected:
        assert model.info.parameters == expected.info.parameters
        assert (bits(model.logits(tokens)) == bits(expected.logits(tokens))).all()


def values_of(kind, rows=64):
    generator = np.random.default_rng(11)
    shape = (rows, 512)
    return {"normal": generator.standard_normal(shape), "uniform": generator.uniform(-1, 1, shape),
            "one side": np.abs(generator.standard_normal(shape)) + 0.1, "outliers": generator.standard_t(3, shape),
            "few": generator.integers(-3, 4, shape) / 8, "zeros": np.zeros(shape), "one number": np.full(shape, -0.3),
            "tiny": generator.standard_normal(shape) * 1e-30, "large": generator.standard_normal(shape) * 1e4,
            "signs": np.where(generator.integers(0, 2, shape) > 0, 0.0, -0.0)}[kind].astype(np.float32)


NUMBERS = ("normal", "uniform", "one side", "outliers", "few", "zeros", "one number", "tiny", "large", "signs")


def program(folder, values):
    with weft.from_torch(torch.nn.Linear(values.shape[1], values.shape[0], bias=False),
                         (torch.zeros(1, values.shape[1]),)) as model:
        weft.save(model, folder)
    name, = load_file(folder / "model.safetensors")
    save_file({name: values}, folder / "model.safetensors")
    return name


@pytest.mark.parametrize("numbers", NUMBERS)
def test_numbers(tmp_path, numbers):
    """Q8_0 and Q4_0 have the package's bytes. Q4_K is nearer to the numbers than Q4_0, wherever there is a difference."""
    values = values_of(numbers)
    name = program(tmp_path / "model", values)
    errors = {}
    for to, kind in KINDS.items():
        blocks, _ = quantized(tmp_path / "model", tmp_path / to, to)
        found, data = blocks[name]
        assert found == kind
        if kind != TYPE.Q4_K:
            assert np.array_equal(data, gguf.quants.quantize(values, kind))
        stands_for = gguf.quants.dequantize(data, kind).astype(np.float64)
        errors[to] = np.linalg.norm(stands_for - values) / max(np.linalg.norm(values), 1e-38)
    assert errors["q8_0"] <= 0.01 or numbers == "tiny"
    assert errors["q4_k"] <= min(0.1, errors["q4_0"] + 1e-3) or numbers == "tiny"


@pytest.mark.parametrize("worst", [np.nan, np.inf, 1e30])
def test_numbers_that_no_block_has(tmp_path, worst):
    values = values_of("normal", 4)
    values[2, 5] = worst
    program(tmp_path / "model", values)
    for to in KINDS:
        with pytest.raises(weft.Unsupported, match="finite numbers that scales of 16 bits can stand for"):
            weft.quantize(tmp_path / "model", tmp_path / to, to=to)
        assert not (tmp_path / to / "model.safetensors").exists()


@pytest.mark.parametrize("given", [TYPE.F32, TYPE.F16, TYPE.BF16])
@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize(("name", "fields"), MODELS, ids=[name + str(len(fields)) for name, fields in MODELS])
def test_a_gguf_file(tmp_path, device, name, fields, to, given):
    file, _ = made(tmp_path, name, fields, given)
    out = tmp_path / "small.gguf"
    weft.quantize(file, out, to=to)
    before, after = gguf.GGUFReader(file), gguf.GGUFReader(out)
    kept = {one.name: one for one in before.tensors}
    assert set(kept) == {one.name for one in after.tensors}
    changed = 0
    for one in after.tensors:
        old = kept[one.name]
        values = gguf.quants.dequantize(old.data, old.tensor_type)
        if one.tensor_type == old.tensor_type:
            assert np.array_equal(one.data, old.data)
            continue
        changed += 1
        assert not any(name in one.name for name in ("position_embd", "token_types", "ffn_gate_inp."))
        assert one.tensor_type == (TYPE.Q8_0 if to == "q4_k" and values.shape[-1] % 256 else KINDS[to])
        if one.tensor_type != TYPE.Q4_K:
            assert np.array_equal(one.data, gguf.quants.quantize(values, one.tensor_type)), one.name
    assert changed
    for key, field in before.fields.items():
        if not key.startswith("GGUF."):
            assert key == "general.file_type" or np.array_equal(after.fields[key].parts[-1], field.parts[-1]), key
    assert after.fields["general.quantization_version"].contents() == 2
    tokens = np.random.default_rng(3).integers(0, 64, (2, 17)).astype(np.int32)
    with weft.load(out, device) as model:
        assert np.isfinite(model.logits(tokens)).all()


def test_what_is_made_of_blocks_travels(tmp_path, device):
    """Saved, and as bytes."""
    import pickle

    module_of("LlamaForCausalLM", decoder(256)).save_pretrained(tmp_path / "model")
    weft.quantize(tmp_path / "model", tmp_path / "small", to="q4_k")
    tokens = np.arange(20, dtype=np.int32)[None]
    with weft.load(tmp_path / "small", device) as model:
        expected = model.logits(tokens)
        with pickle.loads(pickle.dumps(model)) as other:
            assert (bits(other.logits(tokens)) == bits(expected)).all()
    with pytest.raises(weft.Unsupported, match="found blocks"):
        weft.quantize(tmp_path / "small", tmp_path / "again", to="q8_0")
    assert pathlib.Path(tmp_path / "small" / "model.safetensors").stat().st_size < (
        0.2 * (tmp_path / "model" / "model.safetensors").stat().st_size)
