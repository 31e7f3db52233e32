# SPDX-License-Identifier: MIT
# weft-test: long
"""DeBERTa's folders besides those of test_encoders.py: padding on the left, buckets, published configs, what is refused."""

import copy

import numpy as np
import pytest
import safetensors.torch
import torch
from test_encoders import DEBERTA, POSITIONS, TOLERANCE, inputs, module_of, reference

import saved_models
import weft
from saved_models import edited, narrow_and_wide, relative_l2

V2_XLARGE = {"conv_kernel_size": 3, "conv_act": "gelu", "attention_head_size": 8, "pooler_hidden_size": 24}


@pytest.mark.parametrize("fields", [{}, V2_XLARGE], ids=["v3", "v2-xlarge"])
def test_padding_on_the_left(device, fields):
    """Without positions of tokens themselves, transformers gives behind padding what Weft gives for the text alone."""
    module = module_of("DebertaV2ForTokenClassification", {**DEBERTA, **fields})
    lengths = np.array([33, 12, 1])
    tokens, _ = inputs(module, (3, 33), 9)
    mask = np.arange(33) >= 33 - lengths[:, None]
    exact = reference(module, np.where(mask, tokens, 0), None, mask)
    with weft.from_torch(module, device) as model:
        for row, length in enumerate(lengths):
            alone = model.logits(tokens[row:row + 1, 33 - length:])[0]
            assert relative_l2(alone, exact[row, 33 - length:]) <= TOLERANCE


@pytest.mark.parametrize(("buckets", "farthest", "length"), [(8, 70, 70), (9, 33, 70), (2, 70, 70), (3, 5, 40), (100, 52, 70),
                                                             (16, 65, 65), (256, -1, 70), (-1, 7, 40)])
def test_buckets(device, buckets, farthest, length):
    """Every distance is in transformers' bucket: a table with rows far apart shows one that is not."""
    fields = {**DEBERTA, "position_buckets": buckets, "max_relative_positions": farthest, "norm_rel_ebd": "none",
              "num_hidden_layers": 1}
    module = module_of("DebertaV2Model", fields)
    with torch.no_grad():
        module.encoder.rel_embeddings.weight.mul_(8)
    tokens, _ = inputs(module, (1, length), length)
    with weft.from_torch(module, device) as model:
        assert relative_l2(model.logits(tokens), reference(module, tokens, None, np.ones_like(tokens))) <= TOLERANCE


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_files_of_16_bits(device, tmp_path, dtype):
    """The bits of the same weights as float32."""
    module = module_of("DebertaV2ForSequenceClassification", {**DEBERTA, **V2_XLARGE})
    tokens, _ = inputs(module, (2, 30), 4)
    with narrow_and_wide(tmp_path, module, dtype, device) as (narrow, wide):
        found = wide.logits(tokens)
        assert relative_l2(found, reference(module, tokens, None, np.ones_like(tokens))) <= TOLERANCE
        assert np.array_equal(narrow.logits(tokens), found)


def test_published_folders(device, tmp_path):
    """Microsoft's config.json names no class, and its weights have a language model's head and a table without use."""
    module = module_of("DebertaV2Model", DEBERTA)
    folder = edited(tmp_path / "unnamed", module, architectures="absent", legacy="absent", pos_att_type="p2c|c2p")
    weights = {f"deberta.{name}": tensor.clone() for name, tensor in module.state_dict().items()}
    weights["deberta.embeddings.position_embeddings.weight"] = torch.zeros(POSITIONS, 24)
    weights["lm_predictions.lm_head.dense.weight"] = torch.zeros(24, 24)
    weights["mask_predictions.dense.weight"] = torch.zeros(24, 24)
    safetensors.torch.save_file(weights, folder / "model.safetensors")
    tokens, _ = inputs(module, (2, 30), 4)
    with pytest.raises(weft.BadFile, match="architectures"):
        weft.load(folder, device)
    folder = edited(tmp_path / "named", module, legacy="absent", pos_att_type="p2c|c2p")
    safetensors.torch.save_file(weights, folder / "model.safetensors")
    with weft.load(folder, device) as model:
        assert relative_l2(model.logits(tokens), reference(module, tokens, None, np.ones_like(tokens))) <= TOLERANCE


def test_heads_of_the_language_model(device):
    """Legacy or not, one table and one head: with the same weights both are one function."""
    old, new = (module_of("DebertaV2ForMaskedLM", {**DEBERTA, "legacy": legacy}) for legacy in (True, False))
    with torch.no_grad():
        new.deberta.load_state_dict(old.deberta.state_dict())
        head, other = new.lm_predictions.lm_head, old.cls.predictions
        head.dense.load_state_dict(other.transform.dense.state_dict())
        head.LayerNorm.load_state_dict(other.transform.LayerNorm.state_dict())
        head.bias.copy_(other.decoder.bias)
    tokens, _ = inputs(old, (2, 20), 3)
    with weft.from_torch(old, device) as one, weft.from_torch(new, device) as two:
        assert np.array_equal(one.logits(tokens), two.logits(tokens))


@pytest.mark.parametrize(("fields", "words"), [
    ({"pos_att_type": "p2p|c2p"}, "pos_att_type.*c2p.*p2p"), ({"pos_att_type": ["c2p", 3]}, "pos_att_type"),
    ({"pos_att_type": None}, "pos_att_type.*relative_attention"), ({"pos_att_type": 5}, "pos_att_type"),
    ({"norm_rel_ebd": "batch_norm"}, "norm_rel_ebd.*layer_norm"), ({"position_buckets": 1}, "position_buckets.*at least 2"),
    ({"position_buckets": 0.5}, "position_buckets"), ({"position_buckets": 2**31}, "position_buckets"),
    ({"max_relative_positions": 6}, "max_relative_positions.*position_buckets"),
    ({"attention_head_size": 4}, "attention_head_size"),
    ({"pooler_hidden_size": 12}, "pooler_hidden_size.*hidden_size"), ({"conv_kernel_size": 4}, "conv_kernel_size.*odd"),
    ({"conv_kernel_size": 2001}, "conv_kernel_size.*1023"), ({"conv_kernel_size": 3, "conv_groups": 5}, "conv_groups.*divisor"),
    ({"conv_kernel_size": 3}, "encoder.conv.conv.bias"), ({"conv_kernel_size": 3, "conv_act": "mish"}, "conv_act"),
    ({"pooler_hidden_act": "mish"}, "pooler_hidden_act"), ({"norm_rel_ebd": "none"}, "encoder.LayerNorm"),
    ({"position_buckets": 16}, r"rel_embeddings.*\[32, 24\]"), ({"relative_attention": False}, "rel_embeddings"),
    ({"share_att_key": False}, "pos_key_proj"), ({"type_vocab_size": 2}, "token_type_embeddings"),
    ({"max_position_embeddings": 65536}, "max_position_embeddings.*32768"), ({"num_attention_heads": 5}, "num_attention_heads"),
    ({"embedding_size": 12}, "word_embeddings"), ({"num_attention_heads": 0}, "num_attention_heads"),
    ({"architectures": ["DebertaV2ForMaskedLM"], "legacy": False, "embedding_size": 12}, "embedding_size.*legacy"),
    ({"architectures": ["DebertaV2ForCausalLM"]}, r"(?s)DebertaV2Model, DebertaV2ForMaskedLM, DebertaV2ForSeq.*from_torch")])
def test_refused(device, tmp_path, fields, words):
    module = module_of("DebertaV2ForSequenceClassification", DEBERTA)
    with pytest.raises(weft.WeftError, match=words):
        weft.load(edited(tmp_path, module, **fields), device)


def test_a_cross_encoder(device, tmp_path):
    """Pairs through DebertaV2Tokenizer's file, against transformers."""
    tokenizers = pytest.importorskip("tokenizers")
    from transformers import DebertaV2Tokenizer

    words = [*"\u2581abcdefghijklmnopqrstuvwxyz.,'é1", "\u2581the", "\u2581a", "in", "er", "\u2581cat", "ing"]
    pieces = [("[PAD]", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[UNK]", 0.0),
              *((piece, -float(at % 7) - 1) for at, piece in enumerate(words)), ("[MASK]", 0.0)]
    tokenizer = DebertaV2Tokenizer(vocab=pieces, unk_id=3)
    assert isinstance(tokenizer.backend_tokenizer, tokenizers.Tokenizer)
    config = {**DEBERTA, "vocab_size": len(pieces), "pad_token_id": 0}
    module = saved_models.module_of("DebertaV2ForSequenceClassification", config, num_labels=3)
    module.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    pairs = [("the cat  sat.\n", "a  mat, é1!"), ("interesting", " the\tcat's"), ("", "x")]
    with weft.load(tmp_path, device) as model:
        for pair in pairs:
            expected = tokenizer(*pair, return_tensors="pt")
            encoding = model.encode(*pair)
            assert encoding.tokens.tolist() == expected["input_ids"][0].tolist()
            assert encoding.types.tolist() == expected["token_type_ids"][0].tolist()
            with torch.no_grad():
                exact = copy.deepcopy(module).double()(**expected).logits.numpy()
            assert relative_l2(model.logits(encoding.tokens[None]), exact) <= TOLERANCE
