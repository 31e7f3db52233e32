#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kernels.py FOLDER COMMAND...: makes FOLDER, the folder weft-kernels of a release, by the command of that release.

It holds what common models compile at their first run on the processor device, for each kind of processor that this one can be:
the entries of an empty cache after some runs, but not those that are of this machine alone (choices, and what the probe found).
Kernels depend on a model's sizes and not on its weights, so models of one layer are made here, of zeros.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).parent.parent / "api" / "examples" / "models"
TARGETS = ("x86-64-v2", "x86-64-v3", "x86-64-v3+avxvnni", "x86-64-v4", "x86-64-v4+avx512vnni", "generic+neon",
           "generic+neon,+dotprod")
KINDS = ("pipelines-", "fft-")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "text", "of", "words"]
# One text, some and many, short and long, of equal and of many lengths: tiles of kernels follow these.
TEXTS = (*[["words " * words] * count for count in (1, 2, 3, 5, 20, 64) for words in (2, 6, 12, 25, 60, 200)],
         ["words " * (1 + 7 * i) for i in range(40)])


def write_zeros(path: pathlib.Path, shapes: dict[str, list[int]]) -> None:
    """A model.safetensors of zeros, which take no space."""
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4
        for length in shape:
            size *= length
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)


def make_sentence_encoder(folder: pathlib.Path, hidden: int, heads: int) -> None:
    """As sentence-transformers has all-MiniLM-L6-v2 (384 wide) and all that is made of BERT base (768)."""
    wide, layer, norm = 4 * hidden, "encoder.layer.0.", {"weight": [hidden], "bias": [hidden]}
    square = [hidden, hidden]
    maps = {"attention.self.query": square, "attention.self.key": square, "attention.self.value": square,
            "attention.output.dense": square, "intermediate.dense": [wide, hidden], "output.dense": [hidden, wide]}
    shapes = {"embeddings.word_embeddings.weight": [len(WORDS), hidden], "embeddings.position_embeddings.weight": [512, hidden],
              "embeddings.token_type_embeddings.weight": [2, hidden]}
    for name in ("embeddings.LayerNorm", f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm"):
        shapes |= {f"{name}.{part}": shape for part, shape in norm.items()}
    for name, shape in maps.items():
        shapes |= {f"{layer}{name}.weight": shape, f"{layer}{name}.bias": shape[:1]}
    (folder / "1_Pooling").mkdir(parents=True)
    write_zeros(folder / "model.safetensors", shapes)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "architectures": ["BertModel"], "hidden_act": "gelu", "hidden_size": hidden,
        "intermediate_size": wide, "layer_norm_eps": 1e-12, "max_position_embeddings": 512, "num_attention_heads": heads,
        "num_hidden_layers": 1, "pad_token_id": 0, "position_embedding_type": "absolute", "type_vocab_size": 2,
        "vocab_size": len(WORDS)}), "utf-8")
    special = [{"id": at, "content": word, "special": True, "normalized": False, "lstrip": False, "rstrip": False,
                "single_word": False} for at, word in enumerate(WORDS[:4])]
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"}, "decoder": None,
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(WORDS)}, "unk_token": "[UNK]"}}), "utf-8")
    module = "sentence_transformers.models."
    (folder / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "", "type": f"{module}Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}Normalize"}]), "utf-8")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({
        "word_embedding_dimension": hidden, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}), "utf-8")


def make_llama(folder: pathlib.Path, hidden: int, heads: int, key_heads: int) -> None:
    """A causal model of bytes as Llama's, whose last map is the table of embeddings."""
    wide, keys, layer = 8 * hidden // 3, hidden // heads * key_heads, "model.layers.0."
    folder.mkdir(parents=True)
    write_zeros(folder / "model.safetensors", {
        "model.embed_tokens.weight": [256, hidden], "model.norm.weight": [hidden], f"{layer}input_layernorm.weight": [hidden],
        f"{layer}post_attention_layernorm.weight": [hidden], f"{layer}self_attn.q_proj.weight": [hidden, hidden],
        f"{layer}self_attn.k_proj.weight": [keys, hidden], f"{layer}self_attn.v_proj.weight": [keys, hidden],
        f"{layer}self_attn.o_proj.weight": [hidden, hidden], f"{layer}mlp.gate_proj.weight": [wide, hidden],
        f"{layer}mlp.up_proj.weight": [wide, hidden], f"{layer}mlp.down_proj.weight": [hidden, wide]})
    (folder / "config.json").write_text(json.dumps({
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": hidden,
        "intermediate_size": wide, "max_position_embeddings": 2048, "num_attention_heads": heads,
        "num_key_value_heads": key_heads, "num_hidden_layers": 1,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True, "vocab_size": 256,
        "tokenizer_class": "ByteTokenizer"}), "utf-8")


def lines_of_runs(work: pathlib.Path) -> list[list[str]]:
    """The arguments of each run of the command."""
    for hidden in (384, 768):
        make_sentence_encoder(work / f"encoder{hidden}", hidden, 12)
    make_llama(work / "llama", 768, 12, 4)
    runs = [["generate", str(work / "llama"), "--text", "a text", "--tokens", "8", "--greedy"]]
    for number, texts in enumerate(TEXTS):
        file = work / f"texts{number}"
        file.write_text("\n".join(texts) + "\n", "utf-8")
        runs += [["embed", str(work / f"encoder{hidden}"), "--lines", str(file), "--out", str(work / "out.npy")]
                 for hidden in (384, 768)]
    for text in sorted((MODELS / "langid" / "samples").glob("*.txt")):
        runs.append(["run", str(MODELS / "langid"), "--file", str(text)])
    return runs


def run(command: list[str], arguments: list[str], target: str, cache: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """One run of the command, as on a processor of that kind."""
    settings = {"WEFT_PROCESSOR_TARGET": target, "XDG_CACHE_HOME": str(cache), "WEFT_LLVM": ""}
    return subprocess.run([*command, *arguments, "--device", "processor"], env=os.environ | settings, capture_output=True,
                          text=True, check=False)


def main() -> None:
    """Makes the folder."""
    place, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        runs = lines_of_runs(work)
        for target in TARGETS:
            cache = work / "cache" / target
            found = run(command, ["verify", "--filter", "softmax/side/large"], target, cache)
            if found.returncode != 0:
                print(f"kernels: this processor is no {target}")
                continue
            shutil.rmtree(cache)
            for arguments in runs:
                done = run(command, arguments, target, cache)
                if done.returncode != 0:
                    sys.exit(f"kernels: {' '.join(arguments)}: {done.stderr}")
            for entry in sorted((cache / "weft").iterdir()):
                if entry.name.startswith(KINDS):
                    shutil.copyfile(entry, place / entry.name)
                    (place / entry.name).chmod(0o644)
    size = sum(entry.stat().st_size for entry in place.iterdir())
    print(f"kernels: {len(list(place.iterdir()))} files of {size >> 10} KiB in {place}")


main()
