# SPDX-License-Identifier: MIT
# weft-test: long
"""Whisper against transformers in float64: spectra, greedy tokens, languages, and the windows of a longer sound."""

import re

import numpy as np
import pytest
import torch
from speech_folders import LANGUAGES, RATE, Folder, edit, noise, spectrum, wav_of

import weft
from weft import _speech
from weft._core import check, ffi, lib

COUNT = 20
WINDOW = 2 * RATE


def plain(model, sound, *rest, **named):
    """Without time stamps."""
    return model.transcribe(sound, *rest, times=False, **named)


def plain_stream(model, sound, *rest, **named):
    return model.transcribe_stream(sound, *rest, times=False, **named)


@pytest.fixture(scope="module")
def speech(tmp_path_factory, device):
    """A folder that writes three languages, and its model."""
    made = Folder()
    with weft.load(made.save(tmp_path_factory.mktemp("whisper")), device) as model:
        yield made, model


def expect_tokens(folder, model, samples, language=None, task="transcribe"):
    """One window has transformers' tokens."""
    found = plain(model, samples, RATE, language, task == "translate", COUNT)
    expected = folder.tokens(samples, COUNT, language, task)
    [segment] = found.segments
    assert list(segment.tokens) == expected
    assert found.text == segment.text == folder.text(expected)
    assert segment.is_cut == (len(expected) == COUNT)
    assert (segment.begin, segment.end) == (0, len(samples) / RATE)
    return found


# ---- spectra ----

AT = np.arange(WINDOW) / RATE
SOUNDS = {
    "silence": np.zeros(WINDOW), "a sample": np.array([0.5]), "a sine": np.sin(2 * np.pi * 1234.5 * AT),
    "a chirp": 0.7 * np.sin(2 * np.pi * (50 + 1960 * AT) * AT), "noise": noise(WINDOW), "a short sound": noise(5003, 1),
    "a quiet sound": 1e-4 * noise(20000, 2)}


def spectrum_of(model, samples):
    """What the model's encoder reads of a window, [frames, bands]."""
    one = _speech.described(model)
    samples = np.ascontiguousarray(samples, np.float32)
    found = np.full((one.window // 160, one.bands), np.nan, np.float32)
    with one.handle.lock:
        check(lib.weft_transcriber_spectrum(one.handle.get(), ffi.from_buffer("float[]", samples), len(samples),
                                            ffi.from_buffer("float[]", found, require_writable=True)))
    return found


@pytest.mark.parametrize("name", SOUNDS)
def test_spectra(speech, name):
    """WhisperFeatureExtractor's formula in float64, and what it gives itself, in float32."""
    folder, model = speech
    samples = SOUNDS[name].astype(np.float32)
    found = spectrum_of(model, samples)
    assert abs(found - spectrum(folder.extractor, samples)).max() <= 1e-4
    theirs = folder.extractor(samples, sampling_rate=RATE, return_tensors="np").input_features[0].T
    assert abs(found - theirs).max() <= 2e-4


# ---- tokens ----


@pytest.mark.parametrize("count", [3000, 20000, WINDOW])
@pytest.mark.parametrize(("language", "task"), [("en", "transcribe"), ("de", "transcribe"), ("de", "translate")])
def test_greedy_tokens(speech, language, task, count):
    """The language and the task are those that were asked for."""
    found = expect_tokens(*speech, noise(count, count // 15000), language, task)
    assert found.language == found.segments[0].language == language


def test_the_sound_ends_the_text(speech):
    """What the model ends is not cut."""
    folder, model = speech
    samples = noise(15000)
    assert len(folder.tokens(samples, COUNT, "en")) < COUNT
    assert not expect_tokens(folder, model, samples, "en").segments[0].is_cut


def test_languages_are_found(speech):
    folder, model = speech
    assert (model.sample_rate, sorted(model.languages)) == (RATE, sorted(LANGUAGES))
    sounds = [noise(20000, 1), noise(9000)]
    expected = [folder.language(samples) for samples in sounds]
    assert len(set(expected)) == 2  # or else this test would see nothing
    for samples, language in zip(sounds, expected):
        assert plain(model, samples, RATE, tokens=COUNT) == expect_tokens(folder, model, samples, language)


def test_all_positions(speech):
    """Without a number of tokens there are as many as there are positions, behind the four that a text begins with."""
    folder, model = speech
    samples = noise(16000, 1)
    expected = folder.tokens(samples, 36, "en")
    [segment] = plain(model, samples, RATE, "en").segments
    assert len(expected) == 36 and list(segment.tokens) == expected and segment.is_cut
    with pytest.raises(weft.InvalidArgument, match="tokens"):
        plain(model, samples, RATE, "en", tokens=37)


@pytest.mark.parametrize("sizes", [
    {"bands": 128}, {"seconds": 30, "d_model": 32},
    {"encoder_layers": 3, "decoder_layers": 1, "d_model": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 4}],
    ids=["128 bands", "30 seconds", "as distilled"])
def test_other_sizes(tmp_path, device, sizes):
    folder = Folder(**sizes)
    with weft.load(folder.save(tmp_path), device) as model:
        samples = noise(20000)
        assert abs(spectrum_of(model, samples) - spectrum(folder.extractor, samples)).max() <= 1e-4
        for seed in range(2):
            expect_tokens(folder, model, noise(20000, seed), "fr")


def test_one_language(tmp_path, device):
    """The kind that writes English alone has neither languages nor tasks."""
    folder = Folder(languages=())
    with weft.load(folder.save(tmp_path), device) as model:
        assert model.languages == ()
        for seed in range(3):
            assert expect_tokens(folder, model, noise(20000, seed)).language is None
        with pytest.raises(weft.InvalidArgument, match="language"):
            plain(model, noise(20000), RATE, "en")
        with pytest.raises(weft.InvalidArgument, match="translates"):
            plain(model, noise(20000), RATE, translate=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_files_of_16_bits(tmp_path, device, dtype):
    """The same numbers in float32 give the same tokens."""
    folder = Folder()
    folder.module.to(dtype)
    for name in ("narrow", "wide"):
        (tmp_path / name).mkdir()
        folder.save(tmp_path / name)
        folder.module.float()
    with weft.load(tmp_path / "narrow", device) as narrow, weft.load(tmp_path / "wide", device) as wide:
        samples = noise(20000, 1)
        assert expect_tokens(folder, narrow, samples, "en") == expect_tokens(folder, wide, samples, "en")


def test_an_encoder_alone(speech, tmp_path, device):
    """WhisperEncoder, as it is saved by itself."""
    folder, _ = speech
    folder.module.get_encoder().save_pretrained(tmp_path)
    features = folder.features(noise(30000, 3))
    with torch.no_grad():
        expected = folder._exact().get_encoder()(features).last_hidden_state.numpy()
    with weft.load(tmp_path, device) as model:
        found = model.logits(features.mT.reshape(1, 100, 160).float().numpy())
    assert model.info.task == "hidden" and np.linalg.norm(found - expected) <= 1e-6 * np.linalg.norm(expected)


def test_bytes_as_weights(speech, tmp_path, device):
    """A folder whose matrices are bytes gives what the option gives; both parts of the network are in it."""
    folder, _ = speech
    (tmp_path / "whole").mkdir()
    made = folder.save(tmp_path / "whole")
    weft.quantize(made, tmp_path / "int8")
    sizes = [(place / "model.safetensors").stat().st_size for place in (tmp_path / "int8", made)]
    assert sizes[0] < 0.6 * sizes[1]  # tables of the decoder and of both parts' layers
    with weft.Device(device.info.index, weights="int8") as option, weft.load(made, option) as one, \
            weft.load(tmp_path / "int8", device) as other:
        for seed in range(2):
            assert one.transcribe(noise(40000, seed), RATE, "en") == other.transcribe(noise(40000, seed), RATE, "en")


# ---- windows ----


@pytest.fixture(scope="module")
def long_sound():
    """Noise of three windows, which is silent for a tenth of a second in the last sixth of the first."""
    samples = noise(5 * RATE + 300, 2)
    samples[int(1.8 * RATE):int(1.9 * RATE)] = 0
    return samples


def test_windows(speech, long_sound):
    """The borders lie in the last sixth of each window, and each segment has the tokens of its samples."""
    folder, model = speech
    found = plain(model, long_sound, RATE, "de", tokens=COUNT)
    segments = found.segments
    borders = [0.0, *(segment.end for segment in segments)]
    assert [segment.begin for segment in segments] == borders[:-1]
    assert borders[-1] == len(long_sound) / RATE
    assert len(segments) == 3 and all(5 / 6 * 2 <= end - begin <= 2 for begin, end in zip(borders[:-2], borders[1:-1]))
    assert 1.8 <= borders[1] <= 1.9
    for segment in segments:
        samples = long_sound[round(segment.begin * RATE):round(segment.end * RATE)]
        assert list(segment.tokens) == folder.tokens(samples, COUNT, "de")
    assert found.text == "".join(segment.text for segment in segments)
    assert [len(plain(model, noise(count), RATE, "de", tokens=2).segments) for count in (WINDOW, WINDOW + 1)] == [1, 2]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("latest", [None, 20])
def test_time_stamps(tmp_path, device, language, latest):
    """Segments and the windows behind them are those of transformers' rules: its masks of tokens, its way to part them."""
    folder = Folder()
    if latest is not None:
        folder.module.generation_config.max_initial_timestamp_index = latest
    parts = 0
    with weft.load(folder.save(tmp_path), device) as model:
        for seed in range(4):
            samples = noise(2 * WINDOW + 1000 * seed, seed)
            found = [(segment.begin, segment.end, list(segment.tokens)) for segment in
                     model.transcribe(samples, RATE, language).segments]
            assert found == folder.segments(samples, language)
            parts += len(found)
    assert parts > 12  # more than windows


def test_the_first_window_says_the_language(speech, long_sound):
    folder, model = speech
    found = plain(model, long_sound, RATE, tokens=2)
    expected = folder.language(long_sound[:round(found.segments[0].end * RATE)])
    assert {segment.language for segment in found.segments} == {found.language} == {expected}


def test_segments_come_one_by_one(speech, long_sound):
    """A transcript that another one interrupts goes on; one that is left ends."""
    _, model = speech
    whole = plain(model, long_sound, RATE, "en", tokens=5)
    segments = plain_stream(model, long_sound, RATE, "en", tokens=5)
    first = next(segments)
    left = plain_stream(model, long_sound, RATE, "en", tokens=5)
    assert next(left) == first
    left.close()
    assert plain(model, long_sound, RATE, "en", tokens=5) == whole
    assert (first, *segments) == whole.segments
    assert str(whole) == whole.text.strip() and re.match(r"\[0\.0 to 1\.[89] s\] ", str(first))


def test_a_closed_model_ends_its_transcripts(speech, device, tmp_path, long_sound):
    folder, _ = speech
    model = weft.load(folder.save(tmp_path), device)
    segments = plain_stream(model, long_sound, RATE, "en", tokens=3)
    next(segments)
    model.close()
    with pytest.raises(weft.InvalidArgument, match="closed"):
        next(segments)
    with pytest.raises(weft.InvalidArgument, match="closed"):
        plain(model, long_sound, RATE)


# ---- sounds ----


def test_kinds_of_sounds(speech, tmp_path):
    """Arrays, files and bytes of the same samples give the same transcript."""
    _, model = speech
    integers = (noise(20000, 1) * 32767).astype(np.int16)
    floats = integers.astype(np.float32) / 32768
    path = tmp_path / "sound.wav"
    path.write_bytes(wav_of(integers))
    whole = plain(model, floats, RATE, "en", tokens=COUNT)
    stereo = wav_of(np.stack([floats, np.zeros_like(floats)], 1) * 2)
    for sound, rate in ((integers, RATE), (floats.astype(np.float64), RATE), (torch.as_tensor(floats), RATE), (path, None),
                        (str(path), None), (path.read_bytes(), None), (bytearray(wav_of(floats)), None), (stereo, None)):
        assert plain(model, sound, rate, "en", tokens=COUNT) == whole


@pytest.mark.parametrize("rate", [8000, 22050, 44100, 48000])
def test_other_rates(speech, rate):
    """A sum of sines has at the model's rate the values that it has there, and an array gives what a file gives."""
    def tones(count, at):
        seconds = np.arange(count) / at
        return sum(0.3 * np.sin(2 * np.pi * pitch * seconds + pitch) for pitch in (110, 997, 3000)).astype(np.float32)

    _, model = speech
    given = tones(2 * rate, rate)
    sound = _speech.Sound(given, rate)
    samples, count = sound.at(RATE)
    assert count == 2 * RATE
    inner = slice(1000, -1000)
    found = np.frombuffer(ffi.buffer(samples, 4 * count), np.float32)
    assert abs(found - tones(count, RATE))[inner].max() <= 1e-3
    expected = plain(model, found.copy(), RATE, "en", tokens=COUNT)
    assert plain(model, given, rate, "en", tokens=COUNT) == expected
    assert plain(model, wav_of(given, rate), language="en", tokens=COUNT) == expected


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(speech, value):
    _, model = speech
    samples = noise(3000)
    samples[7] = value
    with pytest.raises(weft.InvalidArgument, match="sound: expected finite samples, found .* at 7"):
        plain(model, samples, RATE)
    with pytest.raises(weft.BadFile, match="finite"):
        plain(model, wav_of(samples))


# ---- what is refused ----


def test_bad_requests(speech):
    _, model = speech
    with pytest.raises(weft.InvalidArgument, match="language"):
        plain(model, noise(3000), RATE, "xx")
    with pytest.raises(weft.InvalidArgument, match="language"):
        plain_stream(model, noise(3000), RATE, "english")  # at once
    with pytest.raises(weft.BadFile, match="sound"):
        plain(model, wav_of(noise(3000))[:60])
    with pytest.raises(weft.BadFile, match="sound: expected samples, found none"):
        plain(model, wav_of(noise(0)))
    assert plain(model, noise(3000), RATE, "en", tokens=1).segments[0].is_cut


@pytest.mark.parametrize("name", ["preprocessor_config.json", "generation_config.json", "tokenizer.json"])
def test_a_file_is_missing(speech, tmp_path, device, name):
    folder, _ = speech
    (folder.save(tmp_path) / name).unlink()
    with pytest.raises(weft.WeftError, match=name.split("_")[0].split(".")[0]), weft.load(tmp_path, device) as model:
        plain(model, noise(3000), RATE)


@pytest.mark.parametrize(("file", "fields"), [
    ("preprocessor_config.json", {"feature_size": 128}), ("preprocessor_config.json", {"hop_length": 0}),
    ("preprocessor_config.json", {"chunk_length": 3, "n_samples": 48000, "nb_max_frames": 300}),
    ("generation_config.json", {"no_timestamps_token_id": 100000}),
    ("generation_config.json", {"lang_to_id": {"<|en|>": "1"}}), ("config.json", {"num_mel_bins": 79}),
    ("config.json", {"max_source_positions": 99}), ("config.json", {"decoder_layers": 3}),
    ("config.json", {"architectures": ["WhisperForAudioClassification"]})])
def test_folders_that_contradict_themselves(speech, tmp_path, device, file, fields):
    """The message names the field, or what it makes wrong."""
    folder, _ = speech
    edit(folder.save(tmp_path) / file, **fields)
    with pytest.raises(weft.WeftError) as raised, weft.load(tmp_path, device) as model:
        plain(model, noise(3000), RATE)
    words = [*fields, "<|en|>", "max_source_positions", "num_mel_bins", "decoder.layers.2", "conv1", "embed_positions",
             "WhisperForConditionalGeneration"]
    assert any(word in str(raised.value) for word in words), str(raised.value)


def test_other_models_are_refused(langid):
    for ask in (lambda: langid.transcribe(noise(3000), RATE), lambda: langid.sample_rate, lambda: langid.languages):
        with pytest.raises(weft.Unsupported):
            ask()


def test_another_tokenizer_is_refused(speech, tmp_path, device):
    folder, _ = speech
    with weft.load(folder.save(tmp_path), device, tokenizer=folder.tokenizer) as model, \
            pytest.raises(weft.Unsupported, match="tokenizer"):
        plain(model, noise(3000), RATE)
