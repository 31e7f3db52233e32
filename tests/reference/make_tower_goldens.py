# SPDX-License-Identifier: MIT
"""Makes the towers of transformers in tests/data/models, of images and of texts: tiny, with random weights, and their outputs.

    make_tower_goldens.py [--only NAME …]

Each row of MODELS becomes a folder as save_pretrained writes it, with input.npz and expected.npz as make_model_goldens.py has
them; pixels0 … of images. Of a model with two towers the output is that of the texts' tower, which a folder is. Outputs are those
of the modules in float64, rounded to float32.
"""

import argparse
import copy
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import torch
import transformers
from transformers.utils import logging

import goldens
from make_model_goldens import CASES, write

SIZES = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 14}
TEXT = {**SIZES, "vocab_size": 32, "max_position_embeddings": 19, "eos_token_id": 31, "bos_token_id": 30, "pad_token_id": 1}
IMAGE = {**SIZES, "image_size": 13, "patch_size": 4}

DINO = {name: value for name, value in IMAGE.items() if name != "intermediate_size"}

# The folder's name, the class, the fields of its config.
MODELS = (
    ("clip_two_towers", "CLIPModel", {"text_config": TEXT, "vision_config": IMAGE, "projection_dim": 6}),
    ("clip_text_oldest_end", "CLIPTextModelWithProjection", {**TEXT, "eos_token_id": 2, "projection_dim": 5}),
    ("clip_images", "CLIPVisionModelWithProjection", {**IMAGE, "projection_dim": 6}),
    ("siglip_texts", "SiglipTextModel", TEXT),
    ("siglip_images", "SiglipVisionModel", IMAGE),
    ("siglip_images_classify", "SiglipForImageClassification", {"text_config": TEXT, "vision_config": IMAGE, "num_labels": 3}),
    ("dinov2_classify", "Dinov2ForImageClassification",
     {**DINO, "mlp_ratio": 2, "num_labels": 4}),
    ("dinov2_hidden", "Dinov2Model", {**DINO, "use_swiglu_ffn": True, "mlp_ratio": 3}),
    ("vit_hidden", "ViTModel", {**IMAGE, "qkv_bias": False}),
    ("vit_classify", "ViTForImageClassification", {**IMAGE, "num_labels": 5}),
)


def inputs_of(model, seed, index, batch, n):
    """A case's inputs by Weft's names."""
    config = model.config
    image = getattr(config, "vision_config", config)
    if hasattr(image, "image_size") and "CLIPModel" not in type(model).__name__:
        shape = (batch, image.num_channels, image.image_size, image.image_size)
        return {"pixels": goldens.generator(seed, 1, index).standard_normal(shape, dtype=np.float32)}
    text = getattr(config, "text_config", config)
    length = text.max_position_embeddings if "Siglip" in type(model).__name__ else n
    case = goldens.Case(length, batch, "int32")
    return {"tokens": goldens.make_tokens(seed, index, case, text.vocab_size, 0)[0]}


def output_of(model, inputs):
    """What the class gives, as Weft has it."""
    if "pixels" in inputs:
        weight = next(model.parameters())
        output = model(pixel_values=torch.from_numpy(inputs["pixels"]).to(weight.dtype))
    else:
        tokens = torch.from_numpy(inputs["tokens"].astype(np.int64))
        if "CLIPModel" in type(model).__name__:
            return model.get_text_features(tokens).pooler_output.numpy()
        output = model(input_ids=tokens)
    for name in ("logits", "text_embeds", "image_embeds"):
        if name in output:
            return output[name].numpy()
    return (output.pooler_output if "Siglip" in type(model).__name__ else output.last_hidden_state).numpy()


def golden(class_name, fields, seed):
    """(model, inputs, outputs, the worst error of float32) for one seed."""
    kind = getattr(transformers, class_name)
    model = kind(kind.config_class(**copy.deepcopy(fields))).eval()
    goldens.fill_weights(model, seed)
    exact = copy.deepcopy(model).double()
    inputs, outputs, worst = {}, {}, 0.0
    for i, (batch, n) in enumerate(CASES):
        given = inputs_of(model, seed, i, batch, n)
        truth = output_of(exact, given)
        worst = max(worst, goldens.relative_l2(output_of(model, given), truth))
        inputs.update({f"{name}{i}": array for name, array in given.items()})
        outputs[f"output{i}"] = truth.astype(np.float32)
    return model, inputs, outputs, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME")
    args = parser.parse_args()
    goldens.use_one_thread()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for name, class_name, fields in MODELS:
        if args.only is None or name in args.only:
            write(name, lambda seed, class_name=class_name, fields=fields: golden(class_name, fields, seed),
                  lambda folder, model: model.save_pretrained(folder))


if __name__ == "__main__":
    sys.exit(main())
