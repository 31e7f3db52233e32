# SPDX-License-Identifier: MIT
"""Makes tests/data/tokenizer/json: tiny files of the package tokenizers, and what texts become by them.

    make_tokenizer_json_golden.py [FOLDER]

The tokenizers are trained here, with all kinds of parts among them. expected.json has for each a list of cases: text, pair
(or null), whether with special tokens, ids, types, and offsets in bytes; and the text that the ids become again.

Version used for the committed files: tokenizers 0.23.3.
"""

import json
import pathlib
import random
import sys

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizer" / "json"
WORDS = "the weaver holds a loom warp weft thread's 12 345 naïve café Straße нить ткань 織物 糸を織る don't we're woven-cloth (all)".split()
TEXTS = ["", " ", "the weaver's loom, 12345 threads!", "  two\t spaces \n\n end ", "na\u0131\u0308ve CAFÉ e\u0301\u0323 Straße İ",
         "нить и ткань: 織物と糸。", "🧵👩🏽‍🔬 ﬁ ½ ａｂ", "<s>the<mask> [SEP] x[MASK]y  </s>", "don't WE'RE \u017f'\u017f a_b\u200dc",
         "\u00a0\u2581x\u2028y\u0000z\ufffd", "aaaaaaaaaaaaaaaaaaaaaaaa" * 5, "\n\n \n", "12,34.5 (all) - woven-cloth"]
MANY = [" ".join(random.Random(i).choices(WORDS, k=8)) for i in range(200)]


def added(text, **how):
    return tokenizers.AddedToken(text, **how)


def bpe(size, special, **trainer):
    return trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False, **trainer)


def word_piece():
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=30))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.train_from_iterator(MANY, trainers.WordPieceTrainer(
        vocab_size=160, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 1), ("[SEP]", 2)])
    return made


def byte_level():
    made = tokenizers.Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel()
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(MANY, bpe(330, ["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    made.add_special_tokens([added("<mask>", lstrip=True)])
    made.add_tokens([added("loom", single_word=True), added("Aa", normalized=False, rstrip=True)])
    made.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return made


def split():
    pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]+|\s+(?!\S)"
               r"|\s+")
    made = tokenizers.Tokenizer(models.BPE(ignore_merges=True))
    made.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(MANY, bpe(330, ["<s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    made.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 0)])])
    return made


def unigram():
    made = tokenizers.Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(),
                                            normalizers.Replace(tokenizers.Regex(" {2,}"), " "), normalizers.Strip()])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.train_from_iterator(MANY, trainers.UnigramTrainer(vocab_size=120, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>",
                                                           show_progress=False))
    made.post_processor = processors.BertProcessing(("</s>", 1), ("<s>", 0))
    return made


def byte_fallback():
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.train_from_iterator(MANY, bpe(380, ["<unk>", "<s>", *(f"<0x{byte:02X}>" for byte in range(256))], limit_alphabet=30))
    state = json.loads(made.to_str())
    state["added_tokens"] = state["added_tokens"][:2]
    state["pre_tokenizer"] = None
    state["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    state["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    state["model"]["merges"] = [" ".join(pair) for pair in state["model"]["merges"]]
    return tokenizers.Tokenizer.from_str(json.dumps(state))


def suffixes():
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    made.normalizer = normalizers.NFKD()
    made.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("merged_with_previous"), pre_tokenizers.Split("e", "merged_with_next"),
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(), pre_tokenizers.Split(tokenizers.Regex(r"\w+"), "removed", invert=True)])
    made.decoder = decoders.BPEDecoder()
    made.train_from_iterator(MANY, bpe(130, ["<unk>"], end_of_word_suffix="</w>", limit_alphabet=30))
    return made


def words():
    made = tokenizers.Tokenizer(models.WordLevel(unk_token="<unk>"))
    made.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    made.train_from_iterator(MANY, trainers.WordLevelTrainer(vocab_size=40, special_tokens=["<unk>"], show_progress=False))
    return made


def case(made, text, pair, special):
    encoding = made.encode(text, pair, add_special_tokens=special)
    offsets = []
    for (begin, end), sequence in zip(encoding.offsets, encoding.sequence_ids):
        of = pair if sequence == 1 else text
        offsets.append([len(of[:begin].encode()), len(of[:end].encode())])
    return {"text": text.encode().hex(), "pair": None if pair is None else pair.encode().hex(), "special": special,
            "ids": encoding.ids, "types": encoding.type_ids, "offsets": [end for pair in offsets for end in pair],
            "decoded": made.decode(encoding.ids).encode().hex()}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    expected = {}
    for maker in (word_piece, byte_level, split, unigram, byte_fallback, suffixes, words):
        made = maker()
        # Without indentation, and so small.
        (folder / f"{maker.__name__}.json").write_text(json.dumps(json.loads(made.to_str()), ensure_ascii=False, separators=(",", ":")),
                                                       "utf-8")
        cases = [case(made, text, None, True) for text in TEXTS]
        cases += [case(made, text, TEXTS[(3 * i + 2) % len(TEXTS)], i % 2 == 0) for i, text in enumerate(TEXTS)]
        expected[maker.__name__] = cases
    text = json.dumps(expected, separators=(",", ":")).replace('{"text"', '\n{"text"')
    (folder / "expected.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
