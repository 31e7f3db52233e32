# SPDX-License-Identifier: MIT
# weft-test: long
"""T5, mT5 and UMT5 with their decoders, against transformers: texts made of others, alone and together."""

import copy

import numpy as np
import pytest
import torch
import transformers
from test_command import weft_command
from test_encoders import VOCABULARY

import saved_models
import weft
from saved_models import edited, narrow_and_wide, relative_l2, saved_cases
from test_decoders import Numbers

SIZES = {"vocab_size": VOCABULARY, "d_model": 24, "d_kv": 6, "d_ff": 50, "num_layers": 3, "num_decoder_layers": 2,
         "num_heads": 3, "n_positions": 200, "pad_token_id": 0, "eos_token_id": None, "decoder_start_token_id": 0}
SMALL = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 20, "decoder_start_token_id": 7}
CASES = [("T5", {}), ("T5", SMALL),
         ("T5", {"tie_word_embeddings": False, "feed_forward_proj": "gated-gelu", "num_decoder_layers": None}),
         ("MT5", {}), ("UMT5", {}), ("UMT5", {**SMALL, "tie_word_embeddings": False, "feed_forward_proj": "relu"})]


def module_of(stem, fields):
    return saved_models.module_of(f"{stem}ForConditionalGeneration", {**SIZES, **fields})


case = saved_cases(CASES, lambda one: saved_models.name_of(one, {}), module_of)


def continued(module, prompts, count, side="right", **how):
    """transformers' greedy tokens, in float64, of prompts in one batch that is padded."""
    longest = max(map(len, prompts))
    rows = [((0, longest - len(prompt)) if side == "right" else (longest - len(prompt), 0)) for prompt in prompts]
    tokens = torch.tensor([np.pad(prompt, row).tolist() for prompt, row in zip(prompts, rows)])
    mask = torch.tensor([np.pad(np.ones(len(prompt), int), row).tolist() for prompt, row in zip(prompts, rows)])
    with torch.no_grad():
        found = copy.deepcopy(module).double().generate(tokens, attention_mask=mask, max_new_tokens=count, min_new_tokens=count,
                                                        do_sample=False, **how)
    return found[:, 1:].tolist()


def test_bytes_as_weights(case, tmp_path, device):
    """A folder whose matrices are bytes gives what the option gives."""
    _, _, folder = case
    weft.quantize(folder, tmp_path / "int8")
    with weft.Device(device.info.index, weights="int8") as option, weft.load(folder, option) as one, \
            weft.load(tmp_path / "int8", device) as other:
        for prompt in PROMPTS:
            assert list(one.generate_tokens(prompt, 20)) == list(other.generate_tokens(prompt, 20))


PROMPTS = [np.random.default_rng(n).integers(1, VOCABULARY, n).tolist() for n in (1, 7, 20, 64)]


def test_greedy_tokens(case):
    """Of single texts, and of padded ones of a batch, whichever side transformers pads; beyond the first room of the cache."""
    module, model, _ = case
    assert (model.info.task, model.info.causal) == ("text_to_text", False)
    for prompt in PROMPTS:
        assert list(model.generate_tokens(prompt, 50)) == continued(module, [prompt], 50)[0]
    expected = continued(module, PROMPTS, 50)
    assert continued(module, PROMPTS, 50, "left") == expected
    model._tokenizer = Numbers()
    ids = []
    texts = [Numbers().decode(prompt) for prompt in PROMPTS]
    assert model.generate(texts, 50, ids=ids) == [Numbers().decode(found) for found in expected] and ids == expected
    model._tokenizer = None
    assert list(model.generate_tokens(PROMPTS[1], 150)) == continued(module, [PROMPTS[1]], 150)[0]
    assert list(model.generate_tokens(PROMPTS[2], 50, repetition_penalty=1.3)) == continued(module, [PROMPTS[2]], 50,
                                                                                            repetition_penalty=1.3)[0]


def test_drawn_tokens_and_ends(case):
    """Each text is what it is alone; it ends where it is told."""
    module, model, _ = case
    model._tokenizer = Numbers()
    texts = [Numbers().decode(prompt) for prompt in PROMPTS]
    drawn = {"temperature": 0.9, "top_p": 0.8, "seed": [4, 5, 6, 7], "repetition_penalty": 1.3}
    together = model.generate(texts, 40, **drawn)
    assert together == [model.generate(text, 40, **{**drawn, "seed": seed}) for text, seed in zip(texts, drawn["seed"])]
    model._tokenizer = None
    whole = continued(module, [PROMPTS[3]], 30)[0]
    ended = list(model.generate_tokens(PROMPTS[3], 30, end_tokens=[whole[12]]))
    assert ended == whole[:whole.index(whole[12])]


def test_the_encoder(case):
    module, model, _ = case
    tokens = np.array([PROMPTS[2]])
    with torch.no_grad():
        exact = copy.deepcopy(module).double().encoder(torch.as_tensor(tokens)).last_hidden_state.numpy()
    assert relative_l2(model.hidden(tokens), exact) <= 1e-5
    with pytest.raises(weft.Unsupported, match="text_to_text.*weft_generator"):
        model.logits(tokens)


@pytest.mark.parametrize("stem", ["T5", "MT5", "UMT5"])
@pytest.mark.parametrize("scaled", [True, False])
def test_a_head_of_its_own(tmp_path, device, stem, scaled):
    """Files of T5 1.1, Flan-T5 and mT5 have one, and say so by tie_word_embeddings, which also says that nothing is scaled."""
    weights = {"lm_head.weight": torch.randn(VOCABULARY, 24, generator=torch.Generator().manual_seed(1))}
    folder = edited(tmp_path, module_of(stem, {}), weights, tie_word_embeddings=scaled, scale_decoder_outputs="absent")
    module = getattr(transformers, f"{stem}ForConditionalGeneration").from_pretrained(folder).eval()
    assert torch.equal(module.lm_head.weight, weights["lm_head.weight"])
    with weft.load(folder, device) as model:
        assert list(model.generate_tokens(PROMPTS[1], 50)) == continued(module, [PROMPTS[1]], 50)[0]
        drawn = list(model.generate_tokens(PROMPTS[1], 50, temperature=1.0, seed=3))
    with weft.load(edited(tmp_path, module, weights, scale_decoder_outputs=not scaled), device) as model:
        other = list(model.generate_tokens(PROMPTS[1], 50, temperature=1.0, seed=3))
    assert (drawn == other) == (stem == "MT5")  # which never scales


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_files_of_16_bits(tmp_path, device, dtype):
    module = module_of("T5", {})
    with narrow_and_wide(tmp_path, module, dtype, device) as (narrow, wide):
        found = list(narrow.generate_tokens(PROMPTS[1], 50))
        assert found == list(wide.generate_tokens(PROMPTS[1], 50)) == continued(module, [PROMPTS[1]], 50)[0]


@pytest.mark.parametrize(("fields", "words"), [
    ({"decoder_start_token_id": "absent"}, "decoder_start_token_id.*begin"),
    ({"decoder_start_token_id": 60}, "decoder_start_token_id"), ({"num_decoder_layers": 0}, "num_decoder_layers"),
    ({"num_decoder_layers": 3}, "decoder.block.2"), ({"num_decoder_layers": 1}, "decoder.block.1.*no part"),
    ({"relative_attention_max_distance": 16}, "relative_attention_max_distance"),
    ({"scale_decoder_outputs": 3}, "scale_decoder_outputs"), ({"architectures": ["T5Model"]}, "T5ForConditionalGeneration")])
def test_refused(tmp_path, device, fields, words):
    with pytest.raises(weft.WeftError, match=words):
        weft.load(edited(tmp_path, module_of("T5", {}), **fields), device)


def test_bad_requests(case):
    _, model, _ = case
    with pytest.raises(weft.InvalidArgument, match="window"):
        next(iter(model.generate_tokens([3], 5, window=8)))
    with pytest.raises(weft.InvalidArgument, match=r"tokens: the model's 200 positions"):
        next(iter(model.generate_tokens([3], 201)))
    with pytest.raises(weft.InvalidArgument, match="200 positions"):
        next(iter(model.generate_tokens([3] * 201, 5)))
    assert len(list(model.generate_tokens([3] * 200, 200))) == 200


def test_the_encoder_alone(tmp_path, device):
    """T5EncoderModel reads the folder of a whole model; the decoder's tensors are another class's."""
    module = module_of("T5", {})
    tokens = np.array([PROMPTS[2]])
    with weft.load(edited(tmp_path, module, architectures=["T5EncoderModel"]), device) as model, torch.no_grad():
        exact = copy.deepcopy(module).double().encoder(torch.as_tensor(tokens)).last_hidden_state.numpy()
        assert relative_l2(model.logits(tokens), exact) <= 1e-5


def test_texts(tmp_path, device):
    """By a tokenizer.json: what the encoder reads ends with </s>, and the text is that of the new tokens alone."""
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers import decoders, models, pre_tokenizers, processors

    words = [*"\u2581abcdefghijklmnopqrstuvwxyz.,'1234567890", "\u2581the", "\u2581a", "in", "er", "\u2581cat", "ing"]
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((word, -float(at % 7) - 1) for at, word in enumerate(words))]
    made = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=2))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.add_special_tokens(["<pad>", "</s>", "<unk>"])
    made.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    module = module_of("T5", {"vocab_size": len(pieces), "eos_token_id": 1})
    module.save_pretrained(tmp_path)
    made.save(str(tmp_path / "tokenizer.json"))
    texts = ["translate the cat", "a", "interesting, to 123 cats."]
    exact = copy.deepcopy(module).double()
    with weft.load(tmp_path, device) as model, torch.no_grad():
        found = model.generate(texts, 30)
        for text, one in zip(texts, found):
            ids = made.encode(text).ids
            expected = exact.generate(torch.tensor([ids]), max_new_tokens=30, do_sample=False)[0].tolist()
            assert ids[-1] == 1 and one == made.decode(expected)
        assert "".join(model.stream(texts[2], tokens=30)) == found[2]
    shown = weft_command("generate", str(tmp_path), "--text", texts[2], "--tokens", "30", "--device", "processor")
    assert shown.returncode == 0 and found[2].strip() in shown.stdout
