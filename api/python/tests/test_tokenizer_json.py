# SPDX-License-Identifier: MIT
# weft-test: long
"""Tokenizers of all kinds against the package tokenizers: tokens, types, offsets and texts, on lines in 24 languages, code,
emoji and garbage."""

import functools
import json
import random
import shutil

import minilm
import numpy as np
import pytest

import weft
from conftest import MODELS, ROOT, sentencepiece_rules

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

LINES = 20_000
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|"
          r"\s+")
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def _windows():
    folder = MODELS.parent / "data"
    for path in (MODELS / "langid" / "test.npz", *(folder / f"langid{size}.npz" for size in (1024, 2048, 4096))):
        for row in np.load(path)["tokens"]:
            yield bytes(row.astype(np.uint8)).decode("utf-8", "ignore")


def _code():
    for path in sorted((ROOT / "runtime" / "core").glob("*.c"))[:12]:
        yield path.read_text("utf-8")


def _emoji(draw):
    letters = [*"😀🤩🥺🧵👩👨👧🏽🏿❤⭐✈🇩🇫🇯", "\u200d", "\ufe0f", "a", " "]
    return "".join(draw.choices(letters, k=draw.randint(1, 24)))


def _garbage(draw):
    """Characters of all kinds, but none that Unicode has named since version 15, which utf8proc need not know."""
    ranges = [(0, 0x7F), (0x80, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x5D0, 0x5EA), (0x620, 0x64A), (0x905, 0x939),
              (0xE01, 0xE3A), (0x1100, 0x11FF), (0x1AB0, 0x1ACE), (0x1E00, 0x1EFF),
              (0x2000, 0x206F), (0x2E00, 0x2E5D), (0x2100, 0x218B), (0x3040, 0x30FF),
              (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0xFB00, 0xFB06), (0xFF00, 0xFF5E), (0xFFFD, 0xFFFD), (0x1D400, 0x1D454),
              (0x1F300, 0x1F5FF), (0x20000, 0x2A6D6), (0xE000, 0xE010), (0x2581, 0x2581), (0x0120, 0x0120)]
    return "".join(chr(draw.randint(*draw.choice(ranges))) for _ in range(draw.randint(1, 40)))


def _marked(draw, text):
    marks = ["<s>", "</s>", "<mask>", "[MASK]", "[SEP]", "<|end|>", "word", " ", "  ", "\n", "\t", "<", "[", "\u2581", "<0x41>"]
    words = text.split(" ")
    for _ in range(draw.randint(1, 4)):
        words.insert(draw.randint(0, len(words)), draw.choice(marks) + draw.choice(["", " ", "x"]))
    return draw.choice([" ", "", "  "]).join(words)


@functools.cache
def lines():
    """The lines of the test: the same each time."""
    draw = random.Random(39)
    texts = [*_windows(), *_code()]
    found = ["", " ", "   ", "\n", "\u2581", "'", "a", "é", "e\u0301\u0323", "\u1e9b\u0323", "ﬁ", "İ", "ſ", "'S 'ſ Don'T"]
    while len(found) < LINES:
        text = draw.choice(texts)
        begin = draw.randrange(len(text))
        kind = draw.random()
        line = text[begin:begin + draw.choice([3, 12, 40, 120, 300])]
        if kind < 0.06:
            line = _emoji(draw)
        elif kind < 0.14:
            line = _garbage(draw)
        elif kind < 0.2:
            line = line + _garbage(draw)
        elif kind < 0.3:
            line = _marked(draw, line)
        elif kind < 0.32:
            line = draw.choice("a\u00e9\u6f22 \n1'") * draw.randint(1, 400)
        elif kind < 0.34:
            line = line.upper().title()
        found.append(line)
    return found


def _added(content, **how):
    return tokenizers.AddedToken(content, **how)


def _train(tokenizer, trainer):
    tokenizer.train_from_iterator(_windows(), trainer)
    return tokenizer


def _bert(lowercase):
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    _train(made, trainers.WordPieceTrainer(vocab_size=6000, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                           show_progress=False))
    cls, sep = made.token_to_id("[CLS]"), made.token_to_id("[SEP]")
    made.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls)) if lowercase else (
        processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", cls), ("[SEP]", sep)]))
    return made


def _byte_level(pattern=None, special=("<|end|>",), **model):
    made = tokenizers.Tokenizer(models.BPE(**model))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern is None)
    made.pre_tokenizer = byte_level if pattern is None else pre_tokenizers.Sequence(
        [pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"), byte_level])
    made.decoder = decoders.ByteLevel()
    return _train(made, trainers.BpeTrainer(vocab_size=5000, special_tokens=list(special), show_progress=False,
                                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))


def gpt2():
    made = _byte_level()
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    return made


def llama3():
    made = _byte_level(LLAMA3, ignore_merges=True)
    made.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing("<|end|> $A", "<|end|> $A <|end|>:1 $B:1", [("<|end|>", made.token_to_id("<|end|>"))])])
    return made


def qwen():
    made = _byte_level(QWEN)
    made.normalizer = normalizers.NFC()
    return made


def o200k():
    return _byte_level(O200K)


def roberta():
    made = _byte_level(special=("<s>", "<pad>", "</s>", "<unk>"))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.add_special_tokens([_added("<mask>", lstrip=True)])
    made.post_processor = processors.RobertaProcessing(("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>")))
    return made


def modernbert():
    made = _byte_level(special=("[UNK]", "[CLS]", "[SEP]", "[PAD]"))
    made.normalizer = normalizers.NFC()
    made.add_tokens([_added("word", normalized=True), _added("   ", normalized=False), _added("the", single_word=True)])
    made.add_special_tokens([_added("[MASK]", lstrip=True, rstrip=True)])
    made.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]",
        [("[CLS]", made.token_to_id("[CLS]")), ("[SEP]", made.token_to_id("[SEP]"))])
    return made


def _unigram(normalizer, pre_tokenizer, **how):
    made = tokenizers.Tokenizer(models.Unigram())
    made.normalizer = normalizer
    made.pre_tokenizer = pre_tokenizer
    made.decoder = decoders.Metaspace()
    return _train(made, trainers.UnigramTrainer(vocab_size=4000, special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
                                                unk_token="<unk>", show_progress=False, **how))


def xlm_roberta():
    made = _unigram(
        normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(tokenizers.Regex(" {2,}"), " ")]),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))
    made.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", "<s> $A </s> </s> $B </s>", [("<s>", made.token_to_id("<s>")), ("</s>", made.token_to_id("</s>"))])
    return made


def t5():
    """With SentencePiece's rules."""
    made = _unigram(None, pre_tokenizers.Metaspace(prepend_scheme="first"))
    state = json.loads(made.to_str())
    state["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": sentencepiece_rules()}
    state["model"]["byte_fallback"] = True
    state["model"]["vocab"] += [[f"<0x{byte:02X}>", -20.0] for byte in range(256)]
    state["post_processor"] = None
    made = tokenizers.Tokenizer.from_str(json.dumps(state))
    end = made.token_to_id("</s>")
    made.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", end)])
    return made


def llama2():
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    _train(made, trainers.BpeTrainer(vocab_size=4000, special_tokens=special, show_progress=False, limit_alphabet=200))
    state = json.loads(made.to_str())
    state["added_tokens"] = state["added_tokens"][:3]
    state["pre_tokenizer"] = None
    state["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    state["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    made = tokenizers.Tokenizer.from_str(json.dumps(state))
    made.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 1)])
    return made


def word_level():
    made = tokenizers.Tokenizer(models.WordLevel(unk_token="<unk>"))
    made.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    return _train(made, trainers.WordLevelTrainer(vocab_size=3000, special_tokens=["<unk>"], show_progress=False))


def openai():
    """Pieces that end a word, as of the first GPT and of CLIP."""
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    made.normalizer = normalizers.NFKD()
    made.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("merged_with_previous"), pre_tokenizers.Split("e", "merged_with_next"),
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(), pre_tokenizers.Split(tokenizers.Regex(r"\w+"), "removed",
                                                                                       invert=True)])
    made.decoder = decoders.BPEDecoder()
    return _train(made, trainers.BpeTrainer(vocab_size=3000, special_tokens=["<unk>"], end_of_word_suffix="</w>",
                                            limit_alphabet=150, show_progress=False))


def fixed_length():
    """Parts of equally many characters, as of genomes."""
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(" ", "isolated"), pre_tokenizers.FixedLength(length=3)])
    return _train(made, trainers.BpeTrainer(vocab_size=2000, special_tokens=["<unk>"], limit_alphabet=150, show_progress=False))


MAKERS = {"bert": lambda: _bert(True), "bert_cased": lambda: _bert(False)}
MAKERS.update({maker.__name__: maker for maker in (gpt2, llama3, qwen, o200k, roberta, modernbert, xlm_roberta, t5, llama2,
                                                   word_level, openai, fixed_length)})


@pytest.fixture(scope="module", params=["minilm", *MAKERS])
def both(request, tmp_path_factory):
    """A model with the tokenizer, the tokenizer of the package, and the model's folder."""
    if request.param == "minilm":
        place = minilm.fetch(tmp_path_factory.mktemp("minilm"))
        theirs = tokenizers.Tokenizer.from_file(str(place / "tokenizer.json"))
    else:
        theirs = MAKERS[request.param]()
    theirs.no_truncation()
    theirs.no_padding()
    folder = shutil.copytree(MODELS / "langid", tmp_path_factory.mktemp("tokenizer") / request.param)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config.pop("tokenizer_class")
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    theirs.save(str(folder / "tokenizer.json"))
    return weft.load(folder), theirs, folder


def _check(ours, theirs, texts, special, max_tokens):
    expected = theirs.encode(*texts, add_special_tokens=special)
    if not expected.ids:
        with pytest.raises(weft.InvalidArgument, match="no tokens"):
            ours.encode(*texts, special=special, max_tokens=max_tokens)
        return expected
    found = ours.encode(*texts, special=special, max_tokens=max_tokens)
    assert found.tokens.tolist() == expected.ids, texts
    assert [tuple(pair) for pair in found.offsets.tolist()] == expected.offsets, texts
    assert found.types.tolist() == expected.type_ids, texts
    sequences = [-1 if sequence is None else sequence for sequence in expected.sequence_ids]
    if special and len(sequences) == len(found):
        assert found.sequences.tolist() == sequences, texts
    return expected


def test_tokens_and_texts(both):
    ours, theirs, _ = both
    for line in lines():
        expected = _check(ours, theirs, (line,), True, 1 << 20)
        assert ours.detokenize(expected.ids) == theirs.decode(expected.ids), line


def test_pairs_and_truncation(both):
    ours, theirs, folder = both
    draw = random.Random(5)
    several = lines()
    for _ in range(1000):
        texts = (draw.choice(several), draw.choice(several))[:draw.randint(1, 2)]
        _check(ours, theirs, texts, draw.random() < 0.8, 1 << 20)
    for strategy in ("longest_first", "only_first"):
        for direction in ("right", "left"):
            most = draw.randint(8, 40)
            theirs.enable_truncation(most, strategy=strategy, direction=direction)
            theirs.save(str(folder / "tokenizer.json"))
            again = weft.load(folder)
            for _ in range(300):
                texts = (draw.choice(several), draw.choice(several))[:draw.randint(1, 2)]
                try:
                    expected = theirs.encode(*texts)
                except Exception:  # the text to cut is too short
                    with pytest.raises(weft.InvalidArgument):
                        again.encode(*texts, max_tokens=most)
                    continue
                if expected.ids:
                    found = again.encode(*texts, max_tokens=most)
                    assert found.tokens.tolist() == expected.ids, (texts, strategy, direction, most)
    theirs.no_truncation()
