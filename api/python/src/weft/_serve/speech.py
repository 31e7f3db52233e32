# SPDX-License-Identifier: MIT
"""/v1/audio/transcriptions and /v1/audio/translations: what is said in a WAV file, as OpenAI has it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import errors
from .answer import Answer, Plain
from .failure import Failure, of_error
from .fields import Fields, refused
from .promises import results

if TYPE_CHECKING:
    from .._speech import Segment
    from ..model import Model
    from .models import Served
    from .worker import Job

KEY = "speech"
_FRAMES = 100  # of 10 ms in a second: what OpenAI counts windows by
FORMATS = ("json", "text", "srt", "verbose_json", "vtt")


class Asked(NamedTuple):
    """What a request wants written down."""

    sound: bytes
    language: str | None
    translates: bool


def _write_down(model: Model, job: Job, segments: list[Segment]) -> Iterator[None]:
    asked: Asked = job.given
    for segment in model.transcribe_stream(asked.sound, language=asked.language, translate=asked.translates):
        if job.cancelled:
            return
        segments.append(segment)
        yield


def work(model: Model, jobs: Sequence[Job]) -> Iterator[None]:
    """The segments of each job's sound; between two of them others get their turn."""
    for job in jobs:
        segments: list[Segment] = []
        try:
            yield from _write_down(model, job, segments)
        except errors.BadFile as error:
            job.fail(Failure(400, str(error), param="file"))
        except Exception as error:
            job.fail(of_error(error))
        else:
            job.succeed(segments)


def _clock(seconds: float, point: str) -> str:
    milliseconds = round(seconds * 1000)
    minutes, rest = divmod(milliseconds, 60000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def _cues(segments: Sequence[Segment], point: str) -> Iterator[str]:
    for segment in segments:
        yield f"{_clock(segment.begin, point)} --> {_clock(segment.end, point)}\n{segment.text.strip()}\n"


def _subtitles(segments: Sequence[Segment], kind: str) -> str:
    if kind == "vtt":
        return "WEBVTT\n\n" + "\n".join(_cues(segments, "."))
    return "\n".join(f"{number}\n{cue}" for number, cue in enumerate(_cues(segments, ","), 1))


def _verbose(segments: Sequence[Segment], text: str, asked: Asked, seconds: float) -> dict[str, Any]:
    rows = [{"id": number, "seek": round(one.window * _FRAMES), "start": one.begin, "end": one.end, "text": one.text,
             "tokens": list(one.tokens), "temperature": 0.0} for number, one in enumerate(segments)]
    return {"task": "translate" if asked.translates else "transcribe", "language": segments[0].language, "duration": seconds,
            "text": text, "segments": rows}


def _sound(fields: Fields) -> bytes:
    sound = fields.need("file", fields.take("file"))
    if not isinstance(sound, bytes):
        raise refused("file", "the part of a file", sound)
    return sound


async def _answer(served: Served, fields: Fields, translates: bool) -> Answer:
    served.need_speech()
    asked = Asked(_sound(fields), None if translates else fields.text("language"), translates)
    kind = fields.choice("response_format", FORMATS)
    if (fields.text("temperature") or "0") not in ("0", "0.0"):
        raise Failure(400, "temperature: expected 0: each token is the likeliest", param="temperature",
                      code="unsupported_parameter")
    fields.neutral({"prompt": ("",), "stream": ("false", "False"), "timestamp_granularities[]": ("segment",)})
    fields.finish()
    [segments] = await results(served.worker, KEY, [(1, asked)])
    text = "".join(one.text for one in segments).strip()
    served.count(texts=1, completion_tokens=sum(len(one.tokens) for one in segments))
    digest = hashlib.sha256(text.encode()).hexdigest()
    if kind in ("json", "verbose_json"):
        body = {"text": text} if kind == "json" else _verbose(segments, text, asked, segments[-1].end)
        return Answer(lambda: body, digest=digest)
    return Plain(text + "\n" if kind == "text" else _subtitles(segments, kind), digest=digest)


async def transcriptions(served: Served, fields: Fields) -> Answer:
    """Answers a request for the words that are said."""
    return await _answer(served, fields, False)


async def translations(served: Served, fields: Fields) -> Answer:
    """Answers a request for them in English."""
    return await _answer(served, fields, True)
