# SPDX-License-Identifier: MIT
# weft-test: long
"""Transcripts over HTTP: by the package openai, by forms of all kinds, and as the model gives them itself."""

import io
import json
import random
import urllib.error
import urllib.request
import wave

import numpy as np
import pytest

import weft
from conftest import ROOT
from serve_process import Served, ask, folders

pytest.importorskip("uvicorn")

RATE = 16000
BOUNDARY = "-----x1"
WHISPER = ROOT / "tests" / "data" / "whisper"
PATHS = ("/v1/audio/transcriptions", "/v1/audio/translations")


def sound(seed=1, seconds=2.5):
    """A WAV file of noise."""
    random_numbers = np.random.default_rng(seed)
    count = int(seconds * RATE)
    loudness = 3000 * (1.1 + np.sin(np.arange(count) / 900))
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, RATE, count, "NONE", ""))
        out.writeframes((loudness * random_numbers.uniform(-1, 1, count)).astype("<i2").tobytes())
    return file.getvalue()


def form(fields, file=None, name="talk.wav"):
    """A body of multipart/form-data."""
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; "
    parts = [f'{head}name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields]
    if file is not None:
        parts.append(f'{head}name="file"; filename="{name}"\r\nContent-Type: audio/wav\r\n\r\n'.encode() + file + b"\r\n")
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def post(port, body, path=PATHS[0], **headers):
    """Status and bytes of an answer."""
    head = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", **headers}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, head)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    place = tmp_path_factory.mktemp("served")
    with Served(f"speech={WHISPER}", folders(place)[0]) as one:
        yield one
    assert one.code == 0, one.said


@pytest.fixture(scope="module")
def whisper(device):
    with weft.load(WHISPER, device) as model:
        yield model


def test_openai(server, whisper):
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="any", max_retries=0)
    given = ("talk.wav", sound())
    expected = whisper.transcribe(sound(), language="de")
    assert client.audio.transcriptions.create(model="speech", file=given, language="de").text == expected.text.strip()
    whole = client.audio.transcriptions.create(model="speech", file=given, language="de", response_format="verbose_json",
                                               timestamp_granularities=["segment"])
    assert (whole.language, whole.text) == ("de", expected.text.strip())
    assert [(one.start, one.end, one.text, one.tokens) for one in whole.segments] == [
        (one.begin, one.end, one.text, list(one.tokens)) for one in expected.segments]
    seeks = [one.seek for one in whole.segments]
    assert seeks == [round(100 * one.window) for one in expected.segments] and seeks[0] == 0 < seeks[-1]
    assert all(one.seek <= 100 * one.start + 1e-6 for one in whole.segments)
    english = client.audio.translations.create(model="speech", file=given)
    assert english.text == whisper.transcribe(sound(), translate=True).text.strip()


def test_subtitles(server, whisper):
    segments = whisper.transcribe(sound(2)).segments
    status, text = post(server.port, form([("model", "speech"), ("response_format", "srt")], sound(2)))
    blocks = text.decode().split("\n\n")
    assert status == 200 and len(blocks) == len(segments)
    number, times, *_ = blocks[0].splitlines()
    assert number == "1" and times.startswith(f"00:00:0{segments[0].begin:.3f}".replace(".", ","))
    status, text = post(server.port, form([("model", "speech"), ("response_format", "vtt")], sound(2)))
    assert status == 200 and text.startswith(b"WEBVTT\n\n") and text.count(b" --> ") == len(segments)
    status, text = post(server.port, form([("model", "speech"), ("response_format", "text")], sound(2)))
    assert (status, text.decode()) == (200, "".join(one.text for one in segments).strip() + "\n")


@pytest.mark.parametrize("seed", range(4))
def test_bytes_stay_as_they_are(server, whisper, seed):
    """Whatever ends of lines and boundaries' beginnings a file has."""
    draw = random.Random(seed)
    pieces = [b"\r\n", b"\n", b"\r", b"--", b"\0", f"--{BOUNDARY}".encode()[:-1], b"\x1a", b"\xff\xfe"]
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setparams((1, 2, RATE, 0, "NONE", ""))
        data = b"".join(draw.choice(pieces) + draw.randbytes(draw.randrange(9)) for _ in range(800))
        out.writeframes(data[:len(data) // 2 * 2 - seed % 2 * 2] + b"\r\n")
    status, text = post(server.port, form([("model", "speech"), ("language", "en")], file.getvalue()))
    assert (status, json.loads(text)["text"]) == (200, whisper.transcribe(file.getvalue(), language="en").text.strip())


@pytest.mark.parametrize(("fields", "file", "message"), [
    ([("model", "speech")], None, "file"), ([], b"", "model"), ([("model", "speech"), ("file", "text")], None, "file"),
    ([("model", "sentences")], b"RIFF", "read speech"), ([("model", "speech")], b"ID3\4", "MP3"),
    ([("model", "speech")], b"RIFF", "sound"), ([("model", "speech"), ("language", "xx")], sound(), "language"),
    ([("model", "speech"), ("model", "speech")], b"", "model"),
    ([("model", "speech"), ("temperature", "0.3")], b"", "temperature"),
    ([("model", "speech"), ("response_format", "xml")], b"", "response_format"),
    ([("model", "speech"), ("prompt", "names: ")], b"", "prompt"), ([("model", "speech"), ("odd", "1")], b"", "odd")])
def test_what_is_refused(server, fields, file, message):
    status, text = post(server.port, form(fields, file))
    error = json.loads(text)["error"]
    assert status == 400 and message in error["message"], error


def test_forms_that_are_none(server):
    body = form([("model", "speech")], sound())
    for broken in (b"", body[:len(body) // 2], body.replace(BOUNDARY.encode(), b"other"), b"--" + BOUNDARY.encode() + b"\r\n",
                   body.replace(b'name="file"', b"name"), body.replace(b"Type: audio/wav", b"Transfer-Encoding: base64")):
        assert post(server.port, broken)[0] == 400
    assert post(server.port, body, Origin="http://elsewhere.example")[0] == 403
    assert ask(server.port, PATHS[0], {"model": "speech"})[0] == 415
    assert post(server.port, body, "/v1/embeddings")[0] == 415
    draw = random.Random(3)
    for _ in range(1000):
        damaged = bytearray(form([("model", "speech"), ("language", "en")], sound(seconds=0.01)))
        for _ in range(draw.randrange(1, 6)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        assert post(server.port, bytes(damaged))[0] in (200, 400, 404)
    assert post(server.port, body)[0] == 200
