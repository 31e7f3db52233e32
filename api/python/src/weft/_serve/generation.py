# SPDX-License-Identifier: MIT
"""Texts that a model makes for several requests at once, a token more of each for a step."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import _generation

if TYPE_CHECKING:
    from ..model import Model
    from .worker import Job


@dataclasses.dataclass(frozen=True)
class Settings:
    """How texts are made. Requests with equal settings run together."""

    tokens: int | None
    temperature: float
    top_k: int
    top_p: float
    repetition_penalty: float
    stop: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Prompt:
    """A text that is continued."""

    text: str
    seed: int
    whole: bool
    """Whether it has its special tokens already, as a chat template writes them."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """New text of one of a job's prompts."""

    index: int
    text: str


@dataclasses.dataclass(frozen=True)
class Ended:
    """One of a job's prompts has ended."""

    index: int
    reason: str
    """stop or length."""
    prompt_tokens: int
    made_tokens: int


class _Member:
    """A job among those that run together: its prompts begin at `first`."""

    def __init__(self, job: Job, first: int) -> None:
        self.job, self.first = job, first
        prompts, self.tell = job.given
        self.left = set(range(len(prompts)))
        self.count = len(prompts)

    def places(self) -> range:
        return range(self.first, self.first + self.count)


def _input(model: Model, prompt: Prompt) -> Any:
    return model.encode(prompt.text, special=False, max_tokens=2**31 - 1).tokens.tolist() if prompt.whole else prompt.text


def work(model: Model, jobs: Sequence[Job]) -> Iterator[None]:
    """Does jobs of one `Settings`: each is given prompts, and a function that gets each Piece and Ended."""
    settings: Settings = jobs[0].key  # type: ignore[assignment]
    members: list[_Member] = []
    prompts: list[Prompt] = []
    for job in jobs:
        members.append(_Member(job, len(prompts)))
        prompts += job.given[0]
    how = _generation.settings_of(len(prompts), seed=[prompt.seed for prompt in prompts], **dataclasses.asdict(settings))
    run = _generation.Run(model, [_input(model, prompt) for prompt in prompts], how, with_text=True)
    try:
        while not run.over:
            news: dict[int, str] = {index: text for index, _, text in run.step() if text}
            for member in members:
                _tell(run, member, news)
            yield
    finally:
        run.close()


def _tell(run: _generation.Run, member: _Member, news: dict[int, str]) -> None:
    """Hands on what a step has made for a job; one that nobody waits for ends."""
    tell: Callable[[Any], None] = member.tell
    if member.job.cancelled and not member.job.over:
        for place in member.places():
            run.end(place)
        member.job.succeed(None)
    if member.job.over:
        return
    for index in sorted(member.left):
        place = member.first + index
        if place in news:
            tell(Piece(index, news[place]))
        if run.endings[place] != "none":
            member.left.discard(index)
            reason = "length" if run.endings[place] == "length" else "stop"
            tell(Ended(index, reason, run.prompt_tokens[place], len(run.ids[place])))
    if not member.left:
        member.job.succeed(None)
