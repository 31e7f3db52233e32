# SPDX-License-Identifier: MIT
"""Folders of small Whispers with random weights, as save_pretrained writes them, and transformers' transcripts by them."""

from __future__ import annotations

import copy
import json
import struct

import numpy as np
import tokenizers
import torch
import transformers
from tokenizers import decoders, models, pre_tokenizers, trainers
from transformers.generation import logits_process
from transformers.models.whisper import generation_whisper as whisper

import random_weights

RATE = 16000
SENTENCES = [" the cat sat on the mat, and the hat was on the cat.", " The quick brown fox jumps over the lazy dog.",
             " Wo ist die Katze, und wo ist das Haus? Der Hund sitzt vor dem Haus."] * 4
LANGUAGES = ("en", "de", "fr")
TASKS = ("translate", "transcribe")


def tokenizer_of(languages=LANGUAGES, seconds=2, words=120):
    """Byte pairs of some sentences, so that any tokens are a text; and behind them the special tokens in Whisper's order, with
    a time stamp for each 20 ms."""
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(SENTENCES, trainers.BpeTrainer(vocab_size=words, show_progress=False))
    names = ["endoftext", "startoftranscript", *languages, *TASKS, "startoflm", "startofprev", "nospeech", "notimestamps"]
    made.add_special_tokens([f"<|{name}|>" for name in names])
    made.add_tokens([tokenizers.AddedToken(f"<|{at * 0.02:.2f}|>", special=False) for at in range(50 * seconds + 1)])
    return made


class Folder:
    """A module, its tokenizer and its feature extractor. English-only without languages."""

    def __init__(self, languages=LANGUAGES, seconds=2, words=120, bands=80, **sizes):
        self.tokenizer = tokenizer_of(languages, seconds, words)
        self.extractor = transformers.WhisperFeatureExtractor(feature_size=bands, chunk_length=seconds)
        end = self.special("endoftext")
        config = transformers.WhisperConfig(**{
            "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
            "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "max_target_positions": 40, "max_source_positions": 50 * seconds,
            "vocab_size": self.tokenizer.get_vocab_size(), "num_mel_bins": bands, "eos_token_id": end, "bos_token_id": end,
            "pad_token_id": end, "decoder_start_token_id": self.special("startoftranscript"), **sizes})
        self.module = random_weights.fill(transformers.WhisperForConditionalGeneration(config).eval())
        self._set_generation(languages)

    def special(self, name):
        """The id of a special token."""
        return self.tokenizer.token_to_id(f"<|{name}|>")

    def _set_generation(self, languages):
        config = self.module.generation_config
        config.is_multilingual = bool(languages)
        config.return_timestamps = False
        config.no_timestamps_token_id = self.special("notimestamps")
        config.prev_sot_token_id = self.special("startofprev")
        config.max_length = self.module.config.max_target_positions
        config.begin_suppress_tokens = [self.tokenizer.token_to_id("\u0120"), self.special("endoftext")]
        config.suppress_tokens = [self.tokenizer.token_to_id("."), *map(self.special, (
            "startoftranscript", *TASKS, "startoflm", "startofprev", "nospeech", "notimestamps"))]
        if languages:
            config.lang_to_id = {f"<|{code}|>": self.special(code) for code in languages}
            config.task_to_id = {task: self.special(task) for task in TASKS}

    def save(self, folder, **config):
        """Writes all files; fields of config.json are changed. Gives the folder."""
        self.module.save_pretrained(folder)
        self.extractor.save_pretrained(folder)
        self.tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
        if config:
            edit(folder / "config.json", **config)
        return folder

    # ---- transformers' part, in float64 ----

    def features(self, samples):
        """[1, bands, frames] of a window."""
        return torch.as_tensor(spectrum(self.extractor, samples).T[None])

    def language(self, samples):
        """The code that is found."""
        with torch.no_grad():
            found = self._exact().detect_language(self.features(samples), num_segment_frames=self.extractor.nb_max_frames)
        return self.tokenizer.id_to_token(int(found[0])).strip("<|>")

    def tokens(self, samples, count, language=None, task="transcribe"):
        """Greedy tokens of a window, at most so many, without those in front of them and the one that ends them."""
        exact = self._exact()
        config = exact.generation_config
        given = {"language": language, "task": task} if config.is_multilingual else {}
        stamps = range(config.no_timestamps_token_id + 1, self.tokenizer.get_vocab_size())  # which nothing else forbids
        config.suppress_tokens = [*config.suppress_tokens, *stamps]
        config.max_length = None
        with torch.no_grad():
            found = exact.generate(self.features(samples), max_new_tokens=count, do_sample=False, **given)[0].tolist()
        return [token for token in found if token != config.eos_token_id]

    def _timed(self, samples, language):
        """Greedy tokens of a window with time stamps, by transformers' own masks, but for the one that ends them."""
        exact = self._exact()
        config = exact.generation_config
        ids = torch.tensor([[config.decoder_start_token_id, self.special(language), self.special("transcribe")]])
        begin, hidden = ids.shape[1], exact.model.encoder(self.features(samples))
        masks = [logits_process.SuppressTokensAtBeginLogitsProcessor(config.begin_suppress_tokens, begin),
                 logits_process.SuppressTokensLogitsProcessor(config.suppress_tokens),
                 logits_process.WhisperTimeStampLogitsProcessor(config, begin_index=begin)]
        while ids.shape[1] < exact.config.max_target_positions:
            scores = exact(encoder_outputs=hidden, decoder_input_ids=ids).logits[:, -1]
            for mask in masks:
                scores = mask(ids, scores)
            if int(scores.argmax()) == config.eos_token_id:
                break
            ids = torch.cat([ids, scores.argmax(-1, keepdim=True)], 1)
        return ids[0, begin:]

    def segments(self, samples, language):
        """(begin, end, tokens) of a sound, as generate parts it: a window begins where the last whole segment ends."""
        window, first = self.extractor.n_samples, self.special("notimestamps") + 1
        found, at = [], 0
        while at < len(samples):
            part = samples[at:at + window]
            with torch.no_grad():
                tokens = self._timed(part, language)
            parted, frames = whisper.WhisperGenerationMixin._retrieve_segment(
                tokens, [None], torch.zeros(1, dtype=torch.float64), first, torch.tensor([len(part) / 160]), 0.02, 0.01, 2, 0,
                0, False, torch.zeros(1, 0))
            stamps = [int(token) >= first for token in tokens]
            twice = any(one and two for one, two in zip(stamps, stamps[1:])) and stamps[-2:] != [False, True]
            for segment in parted:
                ids = segment["tokens"].tolist()
                if twice and segment is parted[-1]:
                    ids.pop()  # the stamp that the next one begins with, too
                if max(ids) <= first:  # it says nothing of its end
                    segment["end"] = len(part) / RATE
                ends = [min(round(float(segment[name]) * RATE), len(part)) + at for name in ("start", "end")]
                found.append((*(end / RATE for end in ends), ids))
            at += min(int(float(frames) * 160), len(part))
        return found

    def text(self, tokens):
        """Without special tokens."""
        return self.tokenizer.decode(tokens, skip_special_tokens=True)

    def _exact(self):
        return copy.deepcopy(self.module).double()


def edit(path, **fields):
    """Changes fields of a JSON file, and removes those that are "absent"."""
    found = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps({name: value for name, value in found.items() if value != "absent"}))


def spectrum(extractor, samples):
    """What WhisperFeatureExtractor computes, from its formula in float64: [frames, bands]."""
    half = extractor.n_fft // 2
    padded = np.zeros(extractor.n_samples)
    padded[:len(samples)] = samples
    padded = np.pad(padded, half, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, extractor.n_fft)[::extractor.hop_length][:extractor.nb_max_frames]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(extractor.n_fft) / extractor.n_fft)
    power = abs(np.fft.rfft(frames * window)) ** 2
    logs = np.log10(np.maximum(power @ extractor.mel_filters.astype(np.float64), 1e-10))
    return (np.maximum(logs, logs.max() - 8) + 4) / 4


def noise(count, seed=0):
    """Some noise whose loudness changes, as float32."""
    random = np.random.default_rng(seed)
    at = np.arange(count) / RATE
    loudness = 0.05 + 0.25 * np.sin(2 * np.pi * (1.3 + seed) * at) ** 2
    tone = 0.2 * np.sin(2 * np.pi * 440 * (1 + seed % 3) * at)
    return (loudness * random.standard_normal(count) + tone).astype(np.float32).clip(-1, 1)


def wav_of(samples, rate=RATE):
    """The bytes of a WAV file: int16, or float32, [n] or [n, channels]."""
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    width = samples.dtype.itemsize
    kind = 3 if samples.dtype.kind == "f" else 1
    data = samples.astype(samples.dtype.newbyteorder("<")).tobytes()
    return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, kind, channels, rate,
                       rate * channels * width, channels * width, 8 * width, b"data", len(data)) + data
