# SPDX-License-Identifier: MIT
# weft-test: long
"""Causal language models as rerankers: CrossEncoder folders of sentence-transformers with LogitScore."""

import json
import subprocess
import sys

import numpy as np
import pytest

import weft
from small_models import WORDS, write_json

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
theirs = pytest.importorskip("sentence_transformers")

QUERY = "the dog"
TEXTS = ["the cat sat on the mat", "a dog . was resting", "der hund", "", "katze , hund and the mat was on a dog . . ."]
ALL = ["[PAD]", "[UNK]", "yes", "no", "judge", ":", *WORDS[4:]]
YES, NO = 2, 3

TEMPLATE = """{% set tasks = messages | selectattr("role", "eq", "system") | map(attribute="content") %}
judge : {{ tasks | first | default("judge the mat") }}
the cat : {{ messages | selectattr("role", "eq", "query") | map(attribute="content") | first }}
the dog : {{ messages | selectattr("role", "eq", "document") | map(attribute="content") | first }}
was on :
"""

pytestmark = pytest.mark.filterwarnings("ignore")


def language_model(place, kind, template=None, most=32):
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: at for at, word in enumerate(ALL)}, "[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]",
                                                     model_max_length=most)
    tokenizer.chat_template = template
    sizes = {"vocab_size": len(ALL), "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
             "num_key_value_heads": 1, "intermediate_size": 24, "max_position_embeddings": 64, "initializer_range": 0.2}
    torch.manual_seed(5)
    model = {"qwen3": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**sizes, head_dim=8)),
             "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes))}[kind]()
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def make_folder(place, kind="qwen3", template=None, no=NO, most=32, **usage):
    """The folder that sentence-transformers saves."""
    from sentence_transformers.cross_encoder.modules import LogitScore

    inner = language_model(place / "language", kind, template, most)
    transformer = theirs.base.modules.Transformer(str(inner), transformer_task="text-generation")
    made = theirs.CrossEncoder(modules=[transformer, LogitScore(YES, no)], device="cpu", **usage)
    made.save_pretrained(str(place / "reranker"))
    return place / "reranker"


def exact(folder, **how):
    """Theirs in float64, one pair at a time."""
    model = theirs.CrossEncoder(str(folder), device="cpu").double()
    return np.array([float(model.predict([(QUERY, text)], **how)[0]) for text in TEXTS])


def error(found, expected):
    return np.linalg.norm(np.asarray(found, np.float64) - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("kind", ["qwen3", "llama"])
@pytest.mark.parametrize("no", [NO, None])
@pytest.mark.parametrize("template", [None, TEMPLATE])
def test_scores_are_theirs(tmp_path, kind, no, template):
    folder = make_folder(tmp_path, kind, template, no)
    ours, other = weft.CrossEncoder(folder), theirs.CrossEncoder(str(folder), device="cpu")
    pairs = [(QUERY, text) for text in TEXTS]
    for how in ({}, {"activation_fn": torch.nn.Identity()}):
        expected = exact(folder, **how)
        assert len(set(expected.tolist())) > 2
        assert error(ours.predict(pairs, **how), expected) <= 1e-6
        assert error(other.predict(pairs, **how), expected) <= 1e-5  # padded on the left
    ranked = weft.load(folder).rerank(QUERY, TEXTS)
    assert [one.index for one in ranked] == [one["corpus_id"] for one in other.rank(QUERY, TEXTS)]
    assert error([one.score for one in ranked], np.sort(exact(folder))[::-1]) <= 1e-6
    together = ours.predict(pairs)
    for batch in (1, 2):
        assert np.array_equal(ours.predict(pairs, batch_size=batch), together)
    assert [float(ours.predict(pair)) for pair in pairs] == together.tolist()


@pytest.mark.parametrize("template", [None, TEMPLATE])
def test_prompts_and_long_texts_are_as_theirs(tmp_path, template):
    prompts = {"short": "the cat . ", "long": "on a mat was the dog : "}
    folder = make_folder(tmp_path, template=template, most=24, prompts=prompts)
    ours = weft.CrossEncoder(folder)
    assert ours.max_seq_length == 24
    for how in ({"prompt_name": "short"}, {"prompt_name": "long"}, {"prompt": "yes . "}):
        assert error(ours.predict([(QUERY, text) for text in TEXTS], **how), exact(folder, **how)) <= 1e-6
    if template:
        with pytest.warns(UserWarning, match="text 0 .*is longer than the model's 24 tokens"):
            ours.predict([(QUERY, TEXTS[0] + TEXTS[4])])


def test_the_folder_says_what_is_made_of_a_score(tmp_path):
    folder = make_folder(tmp_path, activation_fn=torch.nn.Identity())
    ranked = weft.load(folder).rerank(QUERY, TEXTS)
    assert error([one.score for one in ranked], np.sort(exact(folder))[::-1]) <= 1e-6
    info = weft.load(folder).info
    assert (info.task, info.label_count, info.raw_scores, info.by_template) == ("classify", 1, True, False)


def rerank_by_command(folder, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"{text}\n" for text in TEXTS if text), "utf-8")
    command = [sys.executable, "-m", "weft", "rerank", str(folder), "--query", QUERY, "--lines", str(lines), "--json"]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_command_ranks_pairs(tmp_path):
    folder = make_folder(tmp_path)
    expected = weft.load(folder).rerank(QUERY, [text for text in TEXTS if text])
    ran = rerank_by_command(folder, tmp_path)
    found = json.loads(ran.stdout)["results"]
    assert [one["line"] - 1 for one in found] == [one.index for one in expected]
    assert np.allclose([one["score"] for one in found], [one.score for one in expected], rtol=1e-9)


def test_a_template_is_for_python(tmp_path):
    folder = make_folder(tmp_path, template=TEMPLATE)
    ran = rerank_by_command(folder, tmp_path)
    assert ran.returncode != 0 and "weft.CrossEncoder" in ran.stderr and "chat template" in ran.stderr
    (folder / "chat_template.jinja").write_text("{% for message in messages %}{{ message.content if message.role == 'query' }}"
                                                "{% endfor %}", "utf-8")
    with pytest.raises(weft.Unsupported, match="leaves out messages of the role document"):
        weft.load(folder).rerank(QUERY, TEXTS)
    (folder / "chat_template.jinja").write_text("{{ messages[0].content.nothing.at_all }}", "utf-8")
    with pytest.raises(weft.InvalidArgument, match="chat template does not take them"):
        weft.load(folder).rerank(QUERY, TEXTS)
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(weft.BadFile, match="expected a chat template"):
        weft.load(folder)


def change(folder, file, **fields):
    path = folder / file
    before = json.loads(path.read_text("utf-8"))
    kept = {name: value for name, value in {**before, **fields}.items() if value is not Ellipsis}
    write_json(path, kept)
    return before


@pytest.mark.parametrize("file, fields, named", [
    ("1_LogitScore/config.json", {"true_token_id": len(ALL)}, "true_token_id"),
    ("1_LogitScore/config.json", {"true_token_id": -1}, "true_token_id"),
    ("1_LogitScore/config.json", {"true_token_id": ...}, "true_token_id"),
    ("1_LogitScore/config.json", {"false_token_id": 2**40}, "false_token_id"),
    ("1_LogitScore/config.json", {"false_token_id": "no"}, "false_token_id"),
    ("1_LogitScore/config.json", {"module_input_name": "logits"}, "module_input_name"),
    ("sentence_bert_config.json", {"transformer_task": "sequence-classification"}, "transformer_task"),
    ("sentence_bert_config.json", {"modality_config": ...}, "modality_config"),
    ("sentence_bert_config.json", {"modality_config": {"message": {
        "method": "forward", "method_output_name": "logits", "format": "structured"}}}, "format"),
    ("sentence_bert_config.json", {"processing_kwargs": {"text": {"logits_to_keep": 0}}}, "text"),
    ("config.json", {"architectures": ["Qwen3Model"]}, "causal language model")])
def test_what_a_reranker_cannot_have_is_named(tmp_path, file, fields, named):
    folder = make_folder(tmp_path)
    before = change(folder, file, **fields)
    with pytest.raises(weft.WeftError, match=named):
        weft.load(folder)
    write_json(folder / file, before)
    weft.load(folder)


def test_nothing_comes_behind_a_score(tmp_path):
    folder = make_folder(tmp_path)
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    for others in ([modules[0], modules[1], modules[1]], [modules[1], modules[0]], [modules[1]]):
        write_json(folder / "modules.json", others)
        with pytest.raises(weft.Unsupported, match="LogitScore"):
            weft.load(folder)
    write_json(folder / "modules.json", modules)
    write_json(folder / "config_sentence_transformers.json", {"model_type": "SentenceTransformer"})
    with pytest.raises(weft.Unsupported, match="LogitScore"):
        weft.load(folder)
