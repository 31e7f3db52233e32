# SPDX-License-Identifier: MIT
# weft-test: long
"""Towers of texts and of images with random weights, from folders of save_pretrained, against transformers in float64."""

import copy
import json

import numpy as np
import pytest
import torch
import transformers
from test_command import weft_command

import random_weights
import saved_models
import weft
from saved_models import edited, narrow_and_wide, relative_l2

TOLERANCE = 1e-5
VOCABULARY, END, LENGTH, LABELS = 60, 57, 20, 5
SIZES = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 3, "intermediate_size": 50}
TEXT = {**SIZES, "vocab_size": VOCABULARY, "max_position_embeddings": LENGTH}
CLIP_TEXT = {**TEXT, "eos_token_id": END, "bos_token_id": 56, "pad_token_id": END, "projection_dim": 16}
IMAGE = {**SIZES, "image_size": 20, "patch_size": 5}
DINO = {name: value for name, value in IMAGE.items() if name != "intermediate_size"}
CLIP_IMAGE = {**IMAGE, "projection_dim": 16}
SIGLIP_TEXT = {**TEXT, "pad_token_id": 1}

TEXTS = [("CLIPTextModel", CLIP_TEXT), ("CLIPTextModelWithProjection", CLIP_TEXT),
         ("CLIPTextModelWithProjection", {**CLIP_TEXT, "eos_token_id": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-3}),
         ("CLIPTextModelWithProjection", {**CLIP_TEXT, "projection_dim": 7, "hidden_act": "relu", "num_attention_heads": 4})]
PADDED = [("SiglipTextModel", SIGLIP_TEXT), ("SiglipTextModel", {**SIGLIP_TEXT, "projection_size": 9, "hidden_act": "relu"})]
IMAGES = [("CLIPVisionModel", CLIP_IMAGE), ("CLIPVisionModelWithProjection", CLIP_IMAGE),
          ("CLIPVisionModelWithProjection", {**CLIP_IMAGE, "image_size": 23, "hidden_act": "gelu", "num_channels": 1}),
          ("SiglipVisionModel", IMAGE),
          ("SiglipVisionModel", {**IMAGE, "image_size": 18, "patch_size": 7, "layer_norm_eps": 1e-3}),
          ("SiglipVisionModel", {**IMAGE, "vision_use_head": False}),
          ("ViTModel", IMAGE), ("ViTModel", {**IMAGE, "qkv_bias": False, "num_channels": 4, "hidden_act": "relu"}),
          ("Dinov2Model", DINO), ("Dinov2Model", {**DINO, "use_swiglu_ffn": True, "qkv_bias": False}),
          ("Dinov2ForImageClassification", {**DINO, "mlp_ratio": 3, "hidden_act": "relu", "image_size": 23}),
          ("ViTForImageClassification", IMAGE), ("ViTForImageClassification", {**IMAGE, "image_size": 7, "patch_size": 7})]


def module_of(name, fields):
    return saved_models.module_of(name, fields, **({"num_labels": LABELS} if "Classification" in name else {}))


def name_of(case):
    return saved_models.name_of(case, {**CLIP_TEXT, **CLIP_IMAGE} if "CLIP" in case[0] else {**SIGLIP_TEXT, **IMAGE})


def pixels_of(module, count, seed=1):
    config = module.config
    shape = (count, config.num_channels, config.image_size, config.image_size)
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def texts_of(lengths, seed=3):
    """Tokens that end in the token that ends a text, with it behind, too, as CLIP's tokenizer pads; and the lengths' mask."""
    tokens = np.random.default_rng(seed).integers(3, END, (len(lengths), LENGTH))
    mask = np.arange(LENGTH) < np.array(lengths)[:, None]
    for row, length in enumerate(lengths):
        tokens[row, length - 1:] = END
    return tokens, mask


def vector_of(output):
    """What transformers has of a class: a vector where it makes one."""
    for name in ("text_embeds", "image_embeds", "logits"):
        if name in output:
            return output[name].numpy()
    return None


def reference(module, wanted="", **given):
    given = {name: torch.as_tensor(value) for name, value in given.items()}
    given = {name: value.double() if value.is_floating_point() else value.long() for name, value in given.items()}
    with torch.no_grad():
        output = copy.deepcopy(module).double()(**given)
    if wanted:
        return output[wanted].numpy()
    found = vector_of(output)
    pooled = type(module).__name__.startswith("Siglip") and output.get("pooler_output") is not None
    return found if found is not None else output["pooler_output" if pooled else "last_hidden_state"].numpy()


@pytest.mark.parametrize("case", TEXTS, ids=name_of)
def test_texts(device, tmp_path, case):
    module = module_of(*case)
    module.save_pretrained(tmp_path)
    lengths = [20, 7, 2, 13]
    tokens, mask = texts_of(lengths)
    exact = reference(module, input_ids=tokens, attention_mask=mask.astype(int))
    with weft.load(tmp_path, device) as model, weft.from_torch(module, device) as other:
        found = model.logits(tokens, attention_mask=mask)
        assert np.array_equal(other.logits(tokens, attention_mask=mask)[0], found[0])
        hidden = exact.ndim == 3
        assert relative_l2(found[mask] if hidden else found, exact[mask] if hidden else exact) <= TOLERANCE
        for row, length in enumerate(lengths):  # the bits that it has alone
            alone = model.logits(tokens[row, :length])
            assert np.array_equal(alone, found[row, :length] if hidden else found[row])
        last = reference(module, "last_hidden_state", input_ids=tokens, attention_mask=mask.astype(int))
        assert relative_l2(model.hidden(tokens)[mask], last[mask]) <= TOLERANCE
        assert model.info.task == ("hidden" if hidden else "embed")


def test_the_first_end_counts(device):
    """Whatever is behind it, and where there is none, the first token."""
    module = module_of("CLIPTextModelWithProjection", CLIP_TEXT)
    tokens = np.random.default_rng(5).integers(3, END, (4, 9))
    tokens[0, [2, 6]], tokens[1, 0], tokens[2, 8] = END, END, END
    with weft.from_torch(module, device) as model:
        assert relative_l2(model.logits(tokens), reference(module, input_ids=tokens)) <= TOLERANCE


@pytest.mark.parametrize("case", PADDED, ids=name_of)
def test_padded_texts(device, tmp_path, case):
    module = module_of(*case)
    module.save_pretrained(tmp_path)
    tokens, mask = texts_of([20, 7, 2, 13])
    tokens = np.where(mask, tokens, 1)
    with weft.load(tmp_path, device) as model, weft.from_torch(module, device) as other:
        found = model.logits(tokens)
        assert np.array_equal(other.logits(tokens), found)
        assert relative_l2(found, reference(module, input_ids=tokens)) <= TOLERANCE
        assert relative_l2(model.hidden(tokens), reference(module, "last_hidden_state", input_ids=tokens)) <= TOLERANCE
        assert model.info.exact_length == LENGTH
        with pytest.raises(weft.InvalidArgument, match="exactly 20 tokens"):
            model.logits(tokens[:, :12])
        with pytest.raises(weft.Unsupported, match='SiglipTextModel.*padding="max_length", 20'):
            model.embed("a text")
    with weft.load(tmp_path, device, tokenizer=lambda text: tokens[int(text)]) as model:
        assert np.array_equal(model.embed(["2", "0"]), found[[2, 0]])


@pytest.mark.parametrize("case", IMAGES, ids=name_of)
def test_images(device, tmp_path, case):
    module = module_of(*case)
    module.save_pretrained(tmp_path)
    pixels = pixels_of(module, 3)
    with weft.load(tmp_path, device) as model, weft.from_torch(module, device) as other:
        found = model.logits(pixel_values=torch.as_tensor(pixels))
        assert np.array_equal(other.logits(pixels), found)
        assert relative_l2(found, reference(module, pixel_values=pixels)) <= TOLERANCE
        assert np.array_equal(model.logits(pixels[1]), found[1])
        if "Classification" not in case[0]:
            last = reference(module, "last_hidden_state", pixel_values=pixels)
            assert relative_l2(model.hidden(pixels), last) <= TOLERANCE
        assert model.info.image_size == module.config.image_size and model.info.image_channels == module.config.num_channels


@pytest.mark.parametrize("case", [TEXTS[1], IMAGES[1], IMAGES[3], IMAGES[-2]], ids=name_of)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_files_of_16_bits(device, tmp_path, case, dtype):
    """The bits of the same weights as float32."""
    module = module_of(*case)
    given = {"input_ids": texts_of([20, 20])[0]} if "Text" in case[0] else {"pixel_values": pixels_of(module, 2)}
    with narrow_and_wide(tmp_path, module, dtype, device) as (narrow, wide):
        found = wide.logits(**given)
        assert relative_l2(found, reference(module, **given)) <= TOLERANCE
        assert np.array_equal(narrow.logits(**given), found)


def both(stem, text, image, **fields):
    kind = getattr(transformers, f"{stem}Model")
    return random_weights.fill(kind(kind.config_class(text_config=text, vision_config=image, **fields)).eval())


@pytest.mark.parametrize("stem", ["CLIP", "Siglip"])
def test_two_towers(device, tmp_path, stem):
    """The towers' own projection_dim says nothing."""
    module = both("CLIP", {**CLIP_TEXT, "projection_dim": 5}, {**CLIP_IMAGE, "projection_dim": 6}, projection_dim=12) \
        if stem == "CLIP" else both("Siglip", {**SIGLIP_TEXT, "projection_size": 24}, IMAGE)
    module.save_pretrained(tmp_path)
    tokens, _ = texts_of([20, 7, 2])
    pixels = np.random.default_rng(2).normal(size=(4, 3, 20, 20)).astype(np.float32)
    with torch.no_grad():
        exact = copy.deepcopy(module).double()(input_ids=torch.as_tensor(tokens), pixel_values=torch.as_tensor(pixels).double())
    with weft.load(tmp_path, device) as model, weft.from_torch(module, device) as other:
        texts, images = model.logits(tokens), model.embed_images(pixels)
        assert relative_l2(texts / np.linalg.norm(texts, axis=-1, keepdims=True), exact.text_embeds.numpy()) <= TOLERANCE
        assert relative_l2(model.embed_images(pixels, normalize=True), exact.image_embeds.numpy()) <= TOLERANCE
        assert np.array_equal(model.embed_images(pixels, batch_size=3), images)
        assert np.array_equal(model.embed_images(pixels[2]), images[2])
        assert relative_l2(model.similarity(tokens, pixels), exact.logits_per_text.numpy()) <= TOLERANCE
        assert np.array_equal(other.similarity(tokens, pixels), model.similarity(tokens, pixels))
        tower = model.image_tower
        assert np.array_equal(tower.logits(pixels), images) and tower.info.embedding_size == images.shape[1]
        assert tower.info.architecture.startswith(f"{stem}Vision") and model.info.architecture.startswith(f"{stem}Text")
        with pytest.raises(weft.Unsupported, match="tower of texts and one of images, found .*Vision"):
            _ = tower.image_tower
        with pytest.raises(weft.InvalidArgument, match="one of input_ids and pixel_values"):
            model.logits(input_ids=tokens, pixel_values=pixels)
    assert np.array_equal(tower_alone(tmp_path, device, pixels), images)


def tower_alone(folder, device, pixels):
    """The tower of a model that is closed already."""
    model = weft.load(folder, device)
    tower = copy.deepcopy(model.image_tower)
    model.close()
    with tower:
        return tower.logits(pixels)


@pytest.mark.parametrize("stem", ["CLIP", "Siglip"])
def test_classifiers_of_one_tower(device, tmp_path, stem):
    kind = getattr(transformers, f"{stem}ForImageClassification")
    text, image = (CLIP_TEXT, CLIP_IMAGE) if stem == "CLIP" else (SIGLIP_TEXT, IMAGE)
    labels = {index: f"kind {index}" for index in range(LABELS)}
    module = random_weights.fill(kind(kind.config_class(text_config=text, vision_config=image, id2label=labels)).eval())
    module.save_pretrained(tmp_path)
    pixels = np.random.default_rng(2).normal(size=(3, 3, 20, 20)).astype(np.float32)
    with torch.no_grad():
        exact = copy.deepcopy(module).double()(pixel_values=torch.as_tensor(pixels).double()).logits.numpy()
    with weft.load(tmp_path, device) as model:
        assert relative_l2(model.logits(pixels), exact) <= TOLERANCE
        found = model.classify_images(pixels)
        assert [one.label for one in found] == [f"kind {row.argmax()}" for row in exact]
        assert model.classify_images(pixels[1]) == found[1]


@pytest.mark.parametrize(("case", "fields", "words"), [
    (IMAGES[1], {"image_size": 0}, "image_size.*1"), (IMAGES[1], {"image_size": 2**40}, "image_size"),
    (IMAGES[1], {"image_size": 16384}, "position_embedding"), (IMAGES[1], {"image_size": [20, 20]}, "image_size"),
    (IMAGES[1], {"patch_size": 0}, "patch_size"), (IMAGES[1], {"patch_size": 21}, "patch_size.*image_size"),
    (IMAGES[1], {"patch_size": 3}, "embeddings.patch_embedding"),
    (IMAGES[1], {"image_size": 16384, "patch_size": 1}, "patch_size.*4096th"),
    (IMAGES[1], {"image_size": 16384, "patch_size": 16384}, "patch_size.*1048576"),
    (IMAGES[1], {"image_size": 16384, "patch_size": 5, "hidden_size": 600}, "image_size.*positions.*4294967295"),
    (IMAGES[1], {"num_channels": 0}, "num_channels"), (IMAGES[1], {"num_channels": 5}, "patch_embedding"),
    (IMAGES[1], {"num_channels": 1e9}, "num_channels"), (IMAGES[1], {"hidden_size": 0}, "hidden_size"),
    (IMAGES[1], {"num_attention_heads": 5}, "num_attention_heads"), (IMAGES[1], {"num_hidden_layers": 4}, "layers.3"),
    (IMAGES[1], {"num_hidden_layers": 2}, "layers.2"), (IMAGES[1], {"projection_dim": 0}, "projection_dim"),
    (IMAGES[1], {"projection_dim": 17}, "visual_projection"), (IMAGES[1], {"hidden_act": "mish"}, "hidden_act"),
    (IMAGES[1], {"hidden_act": 3}, "hidden_act"), (IMAGES[1], {"layer_norm_eps": -1}, "layer_norm_eps"),
    (IMAGES[1], {"architectures": ["CLIPVisionModelForAll"]}, "(?s)CLIPVisionModel, .*from_torch"),
    (IMAGES[3], {"vision_use_head": 1}, "vision_use_head"), (IMAGES[3], {"image_size": 26}, "position_embedding"),
    (IMAGES[-2], {"qkv_bias": 0}, "qkv_bias"), (IMAGES[-2], {"qkv_bias": False}, "key.bias"),
    (IMAGES[8], {"mlp_ratio": 0}, "mlp_ratio"), (IMAGES[8], {"mlp_ratio": 5}, "mlp.fc1"),
    (IMAGES[8], {"mlp_ratio": 2**40}, "mlp_ratio"),
    (IMAGES[9], {"use_swiglu_ffn": False}, "mlp.fc1"), (IMAGES[9], {"use_swiglu_ffn": "no"}, "use_swiglu_ffn"),
    (TEXTS[1], {"eos_token_id": None}, "eos_token_id"), (TEXTS[1], {"eos_token_id": [57]}, "eos_token_id"),
    (TEXTS[1], {"eos_token_id": 60}, "eos_token_id.*vocabulary"), (TEXTS[1], {"eos_token_id": -1}, "eos_token_id"),
    (TEXTS[1], {"vocab_size": 61}, "token_embedding"), (TEXTS[1], {"max_position_embeddings": 0}, "max_position"),
    (TEXTS[1], {"max_position_embeddings": 2**31}, "max_position"), (PADDED[0], {"projection_size": 0}, "projection_size"),
    (PADDED[0], {"max_position_embeddings": 21}, "position_embedding")])
def test_refused(device, tmp_path, case, fields, words):
    with pytest.raises(weft.WeftError, match=words):
        weft.load(edited(tmp_path, module_of(*case), **fields), device)


@pytest.mark.parametrize(("fields", "words"), [
    ({"text_config": 5}, "text_config.*an object"), ({"vision_config": []}, "vision_config.*an object"),
    ({"text_config_dict": {"hidden_size": 8}}, "text_config_dict.*null"), ({"projection_dim": -1}, "projection_dim"),
    ({"projection_dim": None}, "text_projection"), ({"architectures": ["CLIPSeg"]}, "(?s)CLIPModel.*from_torch"),
    ({"architectures": []}, "architectures"), ({"vision_config": {}}, "patch_embedding.*768"),
    ({"text_config": None}, "token_embedding.*49408")])
def test_refused_towers(device, tmp_path, fields, words):
    module = both("CLIP", CLIP_TEXT, CLIP_IMAGE, projection_dim=12)
    with pytest.raises(weft.WeftError, match=words):
        weft.load(edited(tmp_path, module, **fields), device)


@pytest.mark.parametrize(("text", "image", "words"), [
    ({"projection_size": 9}, {}, "text_config.*projection_size.*24, the hidden_size of vision_config"),
    ({}, {"vision_use_head": False}, "vision_config.*vision_use_head.*true")])
def test_towers_that_cannot_be_compared(device, tmp_path, text, image, words):
    both("Siglip", {**SIGLIP_TEXT, **text}, {**IMAGE, **image}).save_pretrained(tmp_path)
    with pytest.raises(weft.BadFile, match=words):
        weft.load(tmp_path, device)


@pytest.mark.parametrize(("name", "number", "words"), [
    ("logit_scale", 100, "logit_scale.*-87 to 88, found 100"), ("logit_scale", -200, "logit_scale.*-87 to 88"),
    ("logit_scale", np.nan, "logit_scale.*finite values, found NaN"),
    ("logit_bias", np.inf, "logit_bias.*finite values, found infinity")])
def test_numbers_that_make_no_similarity(device, tmp_path, name, number, words):
    module = both("Siglip", {**SIGLIP_TEXT, "projection_size": 24}, IMAGE)
    getattr(module, name).data.fill_(number)
    module.save_pretrained(tmp_path)
    with pytest.raises(weft.BadFile, match=words):
        weft.load(tmp_path, device)


# ---- texts as texts, images as images ----

WORDS = "a photo of a cat and a dog, sitting on the mat; a photograph of 23 cars don't they're"
SENTENCES = ["A photo  of the cat, don't 23", "é日本 🐱!", "", "they're  MATS\n\tand dogs", "<|endoftext|> a cat", "x" * 90]


def clip_tokenizer():
    """A byte-level vocabulary with pieces that end words, trained on a few of them."""
    tokenizers = pytest.importorskip("tokenizers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    trained = tokenizers.Tokenizer(tokenizers.models.BPE(end_of_word_suffix="</w>"))
    trained.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.train_from_iterator([WORDS] * 20, tokenizers.trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, end_of_word_suffix="</w>", special_tokens=[], show_progress=False))
    merges = [tuple(pair) for pair in json.loads(trained.to_str())["model"]["merges"]]
    pieces = dict.fromkeys([*alphabet, *(one + "</w>" for one in alphabet)])
    for one, other in merges:
        pieces.update(dict.fromkeys([one, other, one + other]))
    vocabulary = {piece: number for number, piece in enumerate([*pieces, "<|startoftext|>", "<|endoftext|>"])}
    return transformers.CLIPTokenizer(vocab=vocabulary, merges=merges)


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory):
    """CLIPModel with its tokenizer and what prepares images."""
    folder = tmp_path_factory.mktemp("clip")
    tokenizer = clip_tokenizer()
    text = {**CLIP_TEXT, "vocab_size": len(tokenizer), "eos_token_id": tokenizer.eos_token_id}
    module = both("CLIP", text, CLIP_IMAGE, projection_dim=12)
    module.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    processor("CLIP", size={"shortest_edge": 20}, crop_size=20).save_pretrained(folder)
    return folder, module, tokenizer


def processor(stem, **fields):
    return getattr(transformers, f"{stem}ImageProcessorPil")(**fields)


def test_clip_as_its_users_have_it(device, clip_folder):
    """The tokenizer's tokens, a text's vector, and the probabilities of texts for an image."""
    import PIL.Image

    folder, module, tokenizer = clip_folder
    images = [PIL.Image.fromarray(np.random.default_rng(n).integers(0, 256, (30 + n, 50 - n, 3)).astype(np.uint8))
              for n in range(3)]
    texts = [text for text in SENTENCES if len(text) < 60]
    given = tokenizer(texts, padding=True, return_tensors="pt")
    pixels = processor("CLIP", size={"shortest_edge": 20}, crop_size=20)(images, return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        exact = copy.deepcopy(module).double()(pixel_values=pixels.double(), **given)
    with weft.load(folder, device) as model:
        for text in SENTENCES:
            assert list(model.encode(text).tokens) == tokenizer(text, truncation=True, max_length=LENGTH)["input_ids"]
        assert relative_l2(model.embed(texts, normalize=True), exact.text_embeds.numpy()) <= TOLERANCE
        assert np.array_equal(model.pixel_values(images), pixels)
        assert relative_l2(model.embed_images(images, normalize=True), exact.image_embeds.numpy()) <= TOLERANCE
        assert relative_l2(model.similarity(texts, images), exact.logits_per_text.numpy()) <= TOLERANCE
        again = copy.deepcopy(model)
    with again:
        assert relative_l2(again.similarity(texts, images), exact.logits_per_text.numpy()) <= TOLERANCE


PREPARED = [("CLIP", {"size": {"shortest_edge": 20}, "crop_size": {"height": 20, "width": 20}}),
            ("CLIP", {"size": {"shortest_edge": 11}, "crop_size": 20, "resample": 2}),
            ("CLIP", {"do_resize": False, "crop_size": 20, "do_rescale": False, "image_mean": [90.0, 80.0, 70.0]}),
            ("Bit", {"size": {"shortest_edge": 25}, "crop_size": 20, "rescale_factor": 0.01}),
            ("ViT", {"size": {"height": 20, "width": 20}}), ("ViT", {"size": 20, "do_normalize": False}),
            ("ViT", {"size": 20, "resample": 0, "image_std": [0.2, 0.3, 0.4]}), ("ViT", {"size": 20, "resample": 1}),
            ("Siglip", {"size": {"height": 20, "width": 20}}), ("Siglip", {"size": {"height": 20, "width": 20}, "resample": 4})]


@pytest.mark.parametrize("case", PREPARED, ids=str)
def test_images_are_prepared(device, tmp_path, case):
    """With the bits of transformers' processors that use Pillow."""
    import PIL.Image

    prepares = processor(case[0], **case[1])
    prepares.save_pretrained(tmp_path)
    module_of("ViTModel", IMAGE).save_pretrained(tmp_path)
    draw = np.random.default_rng(8)
    arrays = [draw.integers(0, 256, (height, width, 3)).astype(np.uint8)
              for height, width in ((20, 20), (33, 47), (47, 33), (9, 40), (7, 7), (21, 120))]
    expected = [prepares(array, return_tensors="np", input_data_format="channels_last")["pixel_values"][0] for array in arrays]
    with weft.load(tmp_path, device) as model:
        for array, exact in zip(arrays, expected):
            assert np.array_equal(model.pixel_values(array), exact) and np.array_equal(
                model.pixel_values([PIL.Image.fromarray(array)])[0], exact)
        vectors = model.embed_images(np.stack([arrays[0], arrays[0][::-1]]), pooling="mean", normalize=True)
        assert vectors.shape == (2, 24) and np.allclose((vectors ** 2).sum(-1), 1)
        if case[0] != "ViT":  # which does not convert to red, green and blue
            grey = PIL.Image.fromarray(arrays[1]).convert("LA")
            assert np.array_equal(model.pixel_values(grey), prepares(grey, return_tensors="np")["pixel_values"][0])
        else:
            with pytest.raises(weft.InvalidArgument, match="image 0.*mode LA.*convert"):
                model.pixel_values(PIL.Image.fromarray(arrays[1]).convert("LA"))


@pytest.mark.parametrize(("fields", "words"), [
    ({"image_processor_type": "LlavaImageProcessor"}, "(?s)CLIPImageProcessor.*float arrays"),
    ({"image_processor_type": None}, "feature_extractor_type"), ({"size": {"longest_edge": 20}}, "size.*shortest_edge"),
    ({"size": {"height": 20, "width": 20, "longest_edge": 9}}, "size"), ({"size": -1}, "size"), ({"size": 1e9}, "size"),
    ({"size": {"height": 2**40, "width": 20}}, "height"), ({"resample": 9}, "resample"), ({"do_pad": True}, "do_pad"),
    ({"do_resize": "yes"}, "do_resize"), ({"crop_size": {"height": 20}}, "crop_size"), ({"crop_size": 0}, "crop_size"),
    ({"do_center_crop": True, "crop_size": None}, "crop_size"), ({"rescale_factor": "1/255"}, "rescale_factor"),
    ({"image_mean": []}, "image_mean"), ({"image_mean": ["a", 1, 2]}, "image_mean"),
    ({"image_mean": [1, 2]}, "image_std.*image_mean"),
    ({"rescale_factor": 1e38}, "rescale_factor.*1e38"), ({"image_mean": [3e38, 0, 0]}, "image_mean.*1e38"),
    ({"do_rescale": False, "image_std": [1, 1, 1.2e-38]}, "image_std.*1e38"),
    ({"size": {"height": 16384, "width": 16384}}, r"found \[3, 16384, 16384\]"),  # before there is memory for it
    ({"image_std": [0, 1, 1]}, "image_std"), ({"image_std": [1] * 5}, "image_std"), ({"image_std": 0.5}, "image_std"),
    ({"size": 24}, r"\[3, 20, 20\].*found \[3, 24, 24\]"), ({"do_resize": False}, r"\[3, 20, 20\].*found \[3, 31, 20\]"),
    ({"data_format": "channels_last"}, "data_format")])
def test_refused_images(device, tmp_path, fields, words):
    """A model without rules reads arrays."""
    processor("ViT", size=20).save_pretrained(tmp_path)
    module_of("ViTModel", IMAGE).save_pretrained(tmp_path)
    config = {**json.loads((tmp_path / "preprocessor_config.json").read_text()), **fields}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(config))
    with weft.load(tmp_path, device) as model:
        with pytest.raises(weft.WeftError, match=words):
            model.pixel_values(np.zeros((31, 20, 3), np.uint8))
        assert model.embed_images(np.zeros((1, 3, 20, 20)), pooling="cls").shape == (1, 24)


def test_images_of_no_size_and_of_too_large_ones(device, tmp_path):
    """Whatever the folder says: a strip of one row would become one of 16384 rows, and more memory than there is."""
    import PIL.Image

    processor("CLIP", size={"shortest_edge": 16384}, crop_size=20).save_pretrained(tmp_path)
    module_of("ViTModel", IMAGE).save_pretrained(tmp_path)
    with weft.load(tmp_path, device) as model:
        with pytest.raises(weft.InvalidArgument, match="image 0.*at most 268435456 pixels.*height 16384 and width 655360000"):
            model.pixel_values(np.zeros((1, 40000, 3), np.uint8))
        with pytest.raises(weft.InvalidArgument, match="image 1.*at least one pixel.*height 5 and width 0"):
            model.pixel_values([np.zeros((3, 20, 20), np.float32), PIL.Image.new("RGB", (0, 5))])
        with pytest.raises(weft.ShapeMismatch, match=r"image 0.*uint8 \[0, 5, 3\]"):
            model.pixel_values(np.zeros((0, 5, 3), np.uint8))


def test_messages(device, tmp_path):
    module = module_of("ViTModel", IMAGE)
    module.save_pretrained(tmp_path)
    with weft.load(tmp_path, device) as model:
        with pytest.raises(weft.NotFound, match="preprocessor_config.json.*float arrays"):
            model.embed_images(np.zeros((20, 20, 3), np.uint8), pooling="cls")
        with pytest.raises(weft.ShapeMismatch, match=r"\['n', 3, 20, 20\].*\[2, 3, 20, 21\]"):
            model.embed_images(np.zeros((2, 3, 20, 21)), pooling="cls")
        with pytest.raises(weft.InvalidArgument, match="pooling"):
            model.embed_images(np.zeros((2, 3, 20, 20)))
        with pytest.raises(weft.ShapeMismatch, match="pixel values"):
            model.logits(np.zeros((3, 20, 19)))
        with pytest.raises(weft.InvalidArgument, match="attention_mask.*None"):
            model.logits(np.zeros((1, 3, 20, 20)), attention_mask=np.ones((1, 17)))
        with pytest.raises(weft.Unsupported, match="classifier"):
            model.classify_images(np.zeros((1, 3, 20, 20)))
        with pytest.raises(weft.Unsupported, match="images"):
            model.embed(["a text"], pooling="mean")
        with pytest.raises(weft.Unsupported, match="similarity.*ViTModel"):
            model.similarity("a text", np.zeros((1, 3, 20, 20)))
        assert model.embed_images([], pooling="cls").shape == (0, 24)


ON = ("--device", "processor")


def test_the_command(tmp_path, clip_folder):
    """Images run in the tower that reads them; what a model does not read is refused."""
    folder, module, _ = clip_folder
    pixels = np.random.default_rng(6).normal(size=(2, 3, 20, 20)).astype(np.float32)
    np.save(tmp_path / "pixels.npy", pixels)
    np.save(tmp_path / "wrong.npy", pixels[:, :2])
    with torch.no_grad():
        exact = copy.deepcopy(module).double().get_image_features(torch.as_tensor(pixels).double()).pooler_output.numpy()
    ran = weft_command("run", folder, "--input", tmp_path / "pixels.npy", "--out", tmp_path / "out.npy", *ON)
    assert ran.returncode == 0, ran.stderr
    assert relative_l2(np.load(tmp_path / "out.npy"), exact) <= TOLERANCE
    wrong = weft_command("run", folder, "--input", tmp_path / "wrong.npy", *ON)
    assert wrong.returncode == 4 and "[batch, 3, 20, 20]" in wrong.stderr and "[2, 2, 20, 20]" in wrong.stderr
    classifier = tmp_path / "vit"
    module_of("ViTForImageClassification", IMAGE).save_pretrained(classifier)
    for given, code, words in ((("--text", "a cat"), 2, "takes images: use --input"),
                               (("--input", tmp_path / "pixels.npy"), 0, "LABEL_")):
        ran = weft_command("run", classifier, *given, *ON)
        assert ran.returncode == code and words in ran.stdout + ran.stderr
