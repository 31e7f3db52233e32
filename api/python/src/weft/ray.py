# SPDX-License-Identifier: MIT
"""Weft on Ray: a predictor for Ray Data, a deployment for Ray Serve. It needs `pip install 'ray[data,serve]' pyarrow`.

    texts = ray.data.read_parquet("texts.parquet")
    vectors = texts.map_batches(weft.ray.Predictor, fn_constructor_kwargs={"folder": folder},
                                compute=ray.data.ActorPoolStrategy(size=4), batch_size=64, num_cpus=1)
    vectors.drop_columns(["text"]).write_parquet("vectors")

    serve.run(weft.ray.deployment(folder, num_replicas=2, ray_actor_options={"num_gpus": 1}))

Which devices a worker uses is what Ray gave it, see `worker_devices`. In reproducible mode outputs have the same bits whatever
the number of workers, the batches, and the devices. Folders of models must be there on every machine.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

try:
    import ray
except ImportError as error:
    raise ImportError("weft.ray needs Ray, which is not installed here: pip install 'ray[data,serve]' pyarrow") from error

from . import errors
from ._columns import TextColumns
from .device import Device, DeviceInfo, Math, devices
from .model import Tokenizer, load
from .pool import Pool, Select
from .program import Program

if TYPE_CHECKING:
    from ray import serve
    from starlette.requests import Request
    from starlette.responses import Response

    from ._columns import Columns

Outcome = Union["dict[str, Any]", errors.WeftError]

__all__ = ["Predictor", "ProgramPredictor", "Replica", "deployment", "worker_devices", "worker_pool", "worker_threads"]


def worker_devices() -> list[int]:
    """The devices that Ray gave to the worker that calls this, as numbers of `weft.devices()`.

    Ray numbers a machine's graphics devices. Its accelerator id i is the i-th usable discrete device in the order of
    `weft.devices()`; where none is discrete, the i-th that is neither the processor nor a driver that runs on it. On machines
    whose Vulkan driver numbers them otherwise than Ray does, workers still get different ones, but not those that Ray means:
    there name `devices`. A worker without accelerators (num_gpus is 0), and a program that is none of Ray's workers, gets the
    processor device, or if that is not there a driver that runs on it.

    Raises NotFound when there is no device of an id, NoDevice when nothing is there for a worker without accelerators.
    """
    ids = ray.get_runtime_context().get_accelerator_ids().get("GPU", []) if ray.is_initialized() else []
    return _given(ids, devices())


def worker_threads() -> int:
    """Threads for a processor device of the worker that calls this: its num_cpus, at least 1; 0, as many as the process may
    use, where Ray does not count its processors."""
    if not ray.is_initialized():
        return 0
    context: Any = ray.get_runtime_context()
    try:
        cpus = float(context.get_assigned_resources().get("CPU", 0))
    except AssertionError:  # a program, not a worker
        return 0
    return max(1, int(cpus)) if cpus > 0 else 0


def worker_pool(devices: Select | Sequence[Select] | None = None, *, math: Math = "reproducible",
                threads: int | None = None, cache_dir: str | os.PathLike[str] | None = None) -> Pool:
    """Opens the devices that Ray gave to the worker that calls this.

    Args:
        devices: others, as of `Pool`; None: `worker_devices()`.
        math: see `Math`.
        threads: that a processor device computes with; None: `worker_threads()`; 0: as many as the process may use.
        cache_dir: folder for compiled shaders; None: the user's cache; "": nothing is kept.
    """
    return Pool(worker_devices() if devices is None else devices, math=math,
                threads=worker_threads() if threads is None else threads, cache_dir=cache_dir)


class Predictor:
    """Runs a model on the texts of a column, for Ray Data: a class for `Dataset.map_batches`. The other columns, such as ids,
    stay as they are, and in reproducible mode the bits of the new ones depend on nothing but the row and the model.

    What it adds, by `ModelInfo.task`:

    | task | columns | options |
    |---|---|---|
    | classify, next_sentence | label, the likeliest one's name; probability, f64; logits, f32 [labels] | |
    | regress | values, f32 [labels] | |
    | embed, hidden | vector, f32 [d] | of `Model.embed` |
    | classify_tokens | entities, a list of {label, score, word, begin, end} | |
    | causal_lm, text_to_text | generated, what goes on | of `Model.generate`; one seed for all |
    | classify, regress, embed, with queries | score, f64, as of `Model.rerank` | of `Model.rerank` |
    | classify_tokens, with questions | answer, score, begin, end, as of `Model.answer` | of `Model.answer` |

    Args:
        folder: a model's folder; a path that holds for the workers.
        text_column: name of the column with the texts: str, or bytes in UTF-8.
        query_column: name of the column with what each text is asked for; None: there are no queries.
        devices: as of `worker_pool`, as the three that follow. Several share classification and regression only.
        math: see `Math`.
        threads: of a processor device.
        cache_dir: folder for compiled shaders.
        tokenizer: see `weft.load`; it is sent to the workers.
        how: the options.

    Raises Unsupported for other tasks, TypeError for other options.
    """

    def __init__(self, folder: str | os.PathLike[str], text_column: str = "text", *, query_column: str | None = None,
                 devices: Select | Sequence[Select] | None = None, math: Math = "reproducible", threads: int | None = None,
                 cache_dir: str | os.PathLike[str] | None = None, tokenizer: Tokenizer | None = None, **how: Any) -> None:
        self._column, self._query_column = text_column, query_column
        model = worker_pool(devices, math=math, threads=threads, cache_dir=cache_dir).load(folder, tokenizer=tokenizer)
        self._columns = TextColumns(model, os.fspath(folder), query_column is not None, how)

    def __call__(self, batch: Columns) -> Columns:
        """The batch with the new columns."""
        queries = _texts_of(batch, self._query_column, "queries") if self._query_column is not None else []
        made = self._columns(_texts_of(batch, self._column, "texts"), queries)
        taken = [name for name in made if name in batch]
        if taken:
            raise errors.InvalidArgument(f"the column {taken[0]!r} is there already: rename it, as {', '.join(made)} are added")
        return {**batch, **made}


class ProgramPredictor:
    """Runs a program on the columns of a batch, for Ray Data: a class for `Dataset.map_batches`.

    It adds a column for each output, whose bits in reproducible mode depend on nothing but the batch and the program.

    Args:
        folder: a program's folder; a path that holds for the workers.
        columns: names of the columns for the inputs, by the inputs' names; None: they have the same names. Every input and
            output begins with the axis of the batch.
        symbols: values of symbols that no axis of an input gives.
        device: see `Device`; None: the first of `worker_devices()`.
        math: see `Math`.
        threads: of a processor device; None: `worker_threads()`.
        cache_dir: folder for compiled shaders.
    """

    def __init__(self, folder: str | os.PathLike[str], columns: Mapping[str, str] | None = None, *,
                 symbols: Mapping[str, int] | None = None, device: int | str | None = None, math: Math = "reproducible",
                 threads: int | None = None, cache_dir: str | os.PathLike[str] | None = None) -> None:
        opened = Device(worker_devices()[0] if device is None else device, math=math, cache_dir=cache_dir,
                        threads=worker_threads() if threads is None else threads)
        model = load(folder, opened)
        if not isinstance(model, Program):
            raise errors.Unsupported(f"{os.fspath(folder)}: expected a program, found task {model.info.task}")
        self._program, self._symbols = model, symbols
        self._columns = {name: (columns or {}).get(name, name) for name in model.inputs}

    def __call__(self, batch: Columns) -> Columns:
        """The batch with a column for each output."""
        import numpy as np

        missing = [column for column in self._columns.values() if column not in batch]
        if missing:
            raise errors.NotFound(f"no column {missing[0]!r} for an input: there are {', '.join(batch)}")
        arrays = {name: batch[column] for name, column in self._columns.items()}
        rows = {name: np.stack(list(array)) if array.dtype == object else array for name, array in arrays.items()}
        return {**batch, **self._program.run(rows, self._symbols)}


class Replica:
    """What `deployment` deploys: a model that requests share, which it runs together as they come.

    Over HTTP it takes POST with {"text": "…"}, and {"query": "…", "text": "…"} where there are queries. It gives the columns of
    `Predictor`, without logits: {"label": "…", "probability": 0.9}, {"vector": [0.1, …]}. What the model refuses is answered
    with status 400 and {"error": "…"}. A handle's remote("…") or remote("text", "query") gives the same dict.
    """

    def __init__(self, folder: str, max_batch_size: int, batch_wait_timeout_s: float, tokenizer: Tokenizer | None,
                 with_queries: bool, how: dict[str, Any], **devices: Any) -> None:
        from ray import serve

        model = worker_pool(**devices).load(folder, tokenizer=tokenizer)
        self._columns, self._asked = TextColumns(model, folder, with_queries, how), with_queries
        self._texts = self._batches = 0
        self._answer: Any = serve.batch(max_batch_size=max_batch_size, batch_wait_timeout_s=batch_wait_timeout_s)(self._run)

    async def __call__(self, request: str | Request, query: str | None = None) -> dict[str, Any] | Response:
        """A request over HTTP, or a text from a handle."""
        if isinstance(request, str):
            return await self.answer(request, query)
        from starlette.responses import JSONResponse

        try:
            if request.method != "POST":
                return JSONResponse({"error": f"expected POST, found {request.method}"}, 405, {"Allow": "POST"})
            fields = _fields(await request.body(), ("text", "query") if self._asked else ("text",))
            return await self.answer(*fields)
        except (errors.InvalidArgument, errors.ShapeMismatch) as refused:
            return JSONResponse({"error": str(refused)}, 400)

    async def answer(self, text: str, query: str | None = None) -> dict[str, Any]:
        """What the model makes of a text. Raises what it raises."""
        if (query is not None) != self._asked:
            raise errors.InvalidArgument(f"expected {'a text and a query' if self._asked else 'a text without a query'}")
        outcome: Outcome = await self._answer((text, query or ""))
        if isinstance(outcome, errors.WeftError):
            raise outcome
        return outcome

    def counts(self) -> dict[str, int]:
        """How many texts came so far, and in how many batches they were run."""
        return {"texts": self._texts, "batches": self._batches}

    async def _run(self, asked: list[tuple[str, str]]) -> list[Outcome]:
        self._texts += len(asked)
        self._batches += 1
        # In another thread, so that requests are taken meanwhile.
        return await asyncio.get_running_loop().run_in_executor(None, self._outcomes, asked)

    def _outcomes(self, asked: list[tuple[str, str]]) -> list[Outcome]:
        try:
            made = self._columns([text for text, _ in asked], [query for _, query in asked] if self._asked else [])
        except errors.WeftError as error:
            if len(asked) == 1:
                return [error]
            return [outcome for one in asked for outcome in self._outcomes([one])]  # only the one that is wrong is refused
        rows = {name: column.tolist() for name, column in made.items() if name != "logits"}
        return [{name: row[index] for name, row in rows.items()} for index in range(len(asked))]


def deployment(folder: str | os.PathLike[str], *, max_batch_size: int = 32, batch_wait_timeout_s: float = 0.01,
               with_queries: bool = False, how: Mapping[str, Any] | None = None,
               devices: Select | Sequence[Select] | None = None, math: Math = "reproducible", threads: int | None = None,
               cache_dir: str | os.PathLike[str] | None = None, tokenizer: Tokenizer | None = None,
               **options: Any) -> serve.Application:
    """A model for `ray.serve.run`: see `Replica` for requests and answers.

    Args:
        folder: a model's folder, which must be there wherever a replica runs.
        max_batch_size: texts that are run together at most. Those of one length are one run of the device.
        batch_wait_timeout_s: seconds that a batch waits for more texts.
        with_queries: whether each request has a query beside its text.
        how: options of the model's task: see `Predictor`.
        devices: as of `worker_pool`, as the three that follow.
        math: see `Math`.
        threads: of a processor device.
        cache_dir: folder for compiled shaders.
        tokenizer: see `weft.load`; it is sent to the replicas.
        options: of `ray.serve.deployment`: name, num_replicas, ray_actor_options={"num_gpus": 1}, ….
    """
    from ray import serve

    # As many may be under way as fill one batch while another is run.
    options = {"name": "weft", "max_ongoing_requests": 2 * max_batch_size, **options}
    deployed: Any = serve.deployment(**options)(Replica)
    application: serve.Application = deployed.bind(
        os.path.abspath(folder), max_batch_size, batch_wait_timeout_s, tokenizer, with_queries, dict(how or {}),
        devices=devices, math=math, threads=threads, cache_dir=cache_dir)
    return application


def _given(ids: Sequence[str], infos: Iterable[DeviceInfo]) -> list[int]:
    """The numbers of the devices that Ray calls by these ids; without ids, of the processor."""
    usable = [info for info in infos if info.usable and not info.by_name_only]
    if not ids:
        processors = [info.index for kind in ("processor", "software") for info in usable if info.type == kind]
        if not processors:
            raise errors.NoDevice("Ray gave this worker no accelerator, and neither the processor is a device here (it needs "
                                  "libLLVM) nor a driver that runs on it: give workers num_gpus=1, or name devices")
        return processors[:1]
    graphics = [info for info in usable if info.type == "discrete"]
    graphics = graphics or [info for info in usable if info.type not in ("processor", "software")]
    names = ", ".join(f"{number}: {info.name}" for number, info in enumerate(graphics)) or "none"
    for name in ids:
        if not name.isdecimal() or int(name) >= len(graphics):
            raise errors.NotFound(f"Ray gave this worker the accelerator {name}, which is none of Weft's graphics devices "
                                  f"({names}): see weft.devices(), or name devices")
    return [graphics[int(name)].index for name in ids]


def _texts_of(batch: Columns, column: str, what: str) -> list[str]:
    if column not in batch:
        raise errors.NotFound(f"no column {column!r} of {what}: there are {', '.join(batch)}")
    return [_text(value) for value in batch[column]]


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if not isinstance(value, str):
        raise errors.InvalidArgument(f"expected a text, found {type(value).__name__}")
    return value


def _fields(body: bytes, names: Sequence[str]) -> list[str]:
    """The texts of a request."""
    wanted = "{" + ", ".join(f'"{name}": "…"' for name in names) + "}"
    try:
        found = json.loads(body)
    except ValueError as error:
        raise errors.InvalidArgument(f"expected JSON, {wanted}: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in names):
        raise errors.InvalidArgument(f"expected {wanted}")
    return [str(found[name]) for name in names]
