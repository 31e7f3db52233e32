# SPDX-License-Identifier: MIT
"""weft.serve's application without sockets: bits of results, fields, limits, and requests of people who mean harm."""

import asyncio
import base64
import hashlib
import json
import random
import re
import sys
import time

import numpy as np
import pytest

import hostile_requests
import weft
import weft.serve
from asgi import JSON, ask, got, post, posted
from serve_process import TEMPLATE, folders
from small_models import sentence_folder
from weft._serve.failure import Failure
from weft._serve.worker import Job, Worker

TEXTS = ["the cat sat on the mat", "a feline was resting", "der hund", ""]
KEY = [(b"authorization", b"Bearer a key")]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return folders(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def app(given, device):
    made = weft.serve.application(given, device=device)
    yield made
    made.close()


@pytest.fixture(scope="module")
def alone(given, device):
    """The models as other programs have them, by name."""
    names = {path.rpartition("/")[2] if "=" not in path else path.partition("=")[0]: path.rpartition("=")[2] for path in given}
    return {name: weft.load(folder, device) for name, folder in names.items()}


@pytest.fixture
def limited(given, device):
    """Makes applications of vectors alone with such limits."""
    made = []

    def make(keys=(), **limits):
        made.append(weft.serve.application(given[:1], device=device, api_keys=keys, limits=weft.serve.Limits(**limits)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def embedding(**more):
    return {"model": "sentences", "input": TEXTS, **more}


def vectors_of(response):
    assert response.status == 200, response.body
    return np.array([one["embedding"] for one in response.json()["data"]], np.float32)


# ---- results ----


def test_vectors_have_the_bits_that_the_model_gives(app, alone):
    expected = alone["sentences"].embed(TEXTS)
    found = posted(app, "/v1/embeddings", embedding())
    assert vectors_of(found).tobytes() == expected.tobytes()
    assert found.headers["weft-result-sha256"] == hashlib.sha256(expected.tobytes()).hexdigest()
    tokens = sum(len(alone["sentences"].encode(text)) for text in TEXTS)
    assert found.json()["usage"] == {"prompt_tokens": tokens, "total_tokens": tokens}
    short = posted(app, "/v1/embeddings", embedding(encoding_format="base64", user="somebody"))
    rows = [base64.b64decode(one["embedding"]) for one in short.json()["data"]]
    assert b"".join(rows) == expected.tobytes() and [one["index"] for one in short.json()["data"]] == [0, 1, 2, 3]
    single = posted(app, "/v1/embeddings", embedding(input=TEXTS[0]))
    assert vectors_of(single).tobytes() == expected[:1].tobytes()


def test_prompts_and_dimensions(app, given, device):
    model = weft.SentenceTransformer(given[0], device=device)
    found = posted(app, "/v1/embeddings", embedding(prompt_name="query", dimensions=3))
    expected = model.encode(TEXTS, prompt_name="query", truncate_dim=3, normalize_embeddings=True)
    assert expected.shape == (4, 3) and vectors_of(found).tobytes() == expected.tobytes()
    assert np.allclose(np.linalg.norm(expected, axis=1), 1.0)
    assert vectors_of(posted(app, "/v1/embeddings", embedding())).tobytes() == model.encode(TEXTS).tobytes()  # as before


def test_longer_texts_are_cut_and_named(app, alone):
    texts = ["the cat " * 40, "a mat"]
    found = posted(app, "/v1/embeddings", embedding(input=texts))
    assert found.headers["weft-cut-texts"] == "0"
    with pytest.warns(UserWarning, match="text 0"):
        assert vectors_of(found).tobytes() == alone["sentences"].embed(texts).tobytes()
    refused = posted(app, "/v1/embeddings", embedding(input=texts, truncate=False))
    assert refused.status == 400 and refused.json()["error"]["code"] == "context_length_exceeded"
    assert "weft-cut-texts" not in posted(app, "/v1/embeddings", embedding()).headers


@pytest.mark.parametrize("name", ["cross", "sentences"])
def test_ranks(app, alone, name):
    query, texts = "the cat", ["a mat", "the dog", "die katze", "a cat"]
    expected = alone[name].rerank(query, texts)
    documents = [texts[0], {"text": texts[1]}, *texts[2:]]
    found = posted(app, "/v1/rerank", {"model": name, "query": query, "documents": documents, "return_documents": True}).json()
    assert [(one["index"], one["relevance_score"], one["document"]["text"]) for one in found["results"]] == [
        tuple(one) for one in expected]
    assert found["usage"]["total_tokens"] > 12
    two = posted(app, "/v2/rerank", {"model": name, "query": query, "documents": texts, "top_n": 2}).json()["results"]
    assert [one["index"] for one in two] == [one.index for one in expected[:2]] and "document" not in two[0]


def events_of(body):
    assert body.endswith(b"data: [DONE]\n\n")
    return [json.loads(line[6:]) for line in body.decode().split("\n\n")[:-2]]


def test_completions(app, alone):
    prompts = ["hacker: A person who ", "compiler: "]
    how = {"temperature": 0.8, "top_p": 0.9, "seed": 7, "stop": "th"}
    expected = alone["terms"].generate(prompts, 12, **how)
    body = {"model": "terms", "prompt": prompts, "max_tokens": 12, **how}
    found = posted(app, "/v1/completions", body)
    choices = found.json()["choices"]
    assert [one["text"] for one in choices] == expected and [one["index"] for one in choices] == [0, 1]
    assert found.headers["weft-seed"] == "7"
    assert found.headers["weft-result-sha256"] == hashlib.sha256("".join(expected).encode()).hexdigest()
    ids = []
    assert alone["terms"].generate(prompts, 12, ids=ids, **how) == expected
    usage = found.json()["usage"]
    assert usage["completion_tokens"] == sum(map(len, ids)) and usage["prompt_tokens"] == sum(map(len, prompts))
    assert [one["finish_reason"] for one in choices] == ["length" if len(one) == 12 else "stop" for one in ids]
    streamed = posted(app, "/v1/completions", {**body, "stream": True, "stream_options": {"include_usage": True}})
    assert streamed.headers["content-type"].startswith("text/event-stream")
    *events, last = events_of(streamed.body)
    texts, reasons = ["", ""], {}
    for event in events:
        [choice] = event["choices"]
        texts[choice["index"]] += choice["text"]
        reasons[choice["index"]] = choice["finish_reason"]
    assert texts == expected and [reasons[0], reasons[1]] == [one["finish_reason"] for one in choices]
    assert last["usage"] == usage and last["choices"] == []


def test_choices_have_seeds_of_their_own(app, alone):
    body = {"model": "terms", "prompt": "compiler: ", "max_tokens": 8, "n": 3, "seed": 5}
    found = posted(app, "/v1/completions", body).json()
    expected = alone["terms"].generate(["compiler: "] * 3, 8, temperature=1.0, seed=[5, 6, 7])
    assert [one["text"] for one in found["choices"]] == expected and len(set(expected)) == 3
    assert found["usage"] == {"prompt_tokens": 10, "completion_tokens": 24, "total_tokens": 34}
    first, second = (posted(app, "/v1/completions", {**body, "n": 1, "seed": None}) for _ in range(2))
    assert first.headers["weft-seed"] != second.headers["weft-seed"]
    again = posted(app, "/v1/completions", {**body, "n": 1, "seed": int(first.headers["weft-seed"])})
    assert again.json()["choices"] == first.json()["choices"]


def test_chats(app, alone):
    pytest.importorskip("jinja2")
    messages = [{"role": "system", "content": "terms"}, {"role": "user", "content": [{"type": "text", "text": "compiler"}]}]
    body = {"model": "chat", "messages": messages, "max_completion_tokens": 9, "temperature": 0}
    expected = alone["terms"].generate("system: terms\nuser: compiler\nassistant: ", 9)
    found = posted(app, "/v1/chat/completions", body).json()
    assert found["choices"] == [{"index": 0, "message": {"role": "assistant", "content": expected}, "logprobs": None,
                                 "finish_reason": "length"}]
    events = events_of(posted(app, "/v1/chat/completions", {**body, "stream": True}).body)
    assert [event["choices"][0]["delta"].get("role") for event in events] == ["assistant", *[None] * (len(events) - 1)]
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in events) == expected
    assert events[-1]["choices"][0]["finish_reason"] == "length" and events[0]["object"] == "chat.completion.chunk"


def test_chat_templates(given, monkeypatch):
    from weft._serve.template import Template, template_of

    assert template_of(given[0]) is None and template_of(given[2]) is not None
    with pytest.raises(Failure, match="pip install jinja2") as said:
        monkeypatch.setitem(sys.modules, "jinja2.sandbox", None)
        Template(TEMPLATE, {}).text([])
    assert said.value.status == 400
    monkeypatch.undo()
    pytest.importorskip("jinja2")
    message = [{"role": "user", "content": "a"}]
    assert Template("{{ bos_token }}{{ messages[0].content }}", {"bos_token": "<s>"}).text(message) == "<s>a"
    for source, text in (("{{ raise_exception('no system') }}", "no system"), ("{{ messages.x.y }}", "does not take"),
                         ("{{ ''.__class__.__mro__ }}", "does not take"), ("{% for", "does not take")):
        with pytest.raises(Failure, match=text):
            Template(source, {}).text(message)


def test_a_models_own_template_is_found(tmp_path):
    from weft._serve.template import template_of

    fields = {"chat_template": [{"name": "tools", "template": "no"}, {"name": "default", "template": "{{ eos_token }}"}],
              "eos_token": {"content": "</s>"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(fields))
    found = template_of(str(tmp_path))
    assert (found._source, found._tokens) == ("{{ eos_token }}", {"eos_token": "</s>"})
    (tmp_path / "tokenizer_config.json").write_text("{")
    with pytest.raises(weft.BadFile, match="tokenizer_config.json"):
        template_of(str(tmp_path))


def test_metrics_are_as_prometheus_reads_them(app):
    posted(app, "/v1/embeddings", embedding())
    posted(app, "/v1/embeddings", embedding(model='a "name"\n'))
    found = got(app, "/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = found.body.decode().splitlines()
    value = re.compile(r"weft_[a-z_]+(\{([a-z]+=\"[^\"\\]*\",?)+\})? [0-9.e+-]+")
    assert all(value.fullmatch(line) for line in lines if not line.startswith("#"))
    times = [line for line in lines if line.startswith("weft_request_seconds_") and 'path="/v1/embeddings"' in line]
    *buckets, _, count = [float(line.split()[-1]) for line in times]
    assert buckets == sorted(buckets) and len(buckets) == 14 and buckets[-1] == count >= 2
    assert 'weft_requests_total{path="/v1/embeddings",status="404"} ' in found.body.decode()
    parser = pytest.importorskip("prometheus_client.parser")
    names = {family.name for family in parser.text_string_to_metric_families(found.body.decode())}
    assert {"weft_requests", "weft_request_seconds", "weft_waiting_texts"} <= names


# ---- many at once ----


def counted(app, name, **labels):
    """A counter of /metrics."""
    inner = ",".join(f'{key}="{value}"' for key, value in labels.items())
    found = re.search(rf"^{name}{{{inner}}} (\S+)$", got(app, "/metrics").body.decode(), flags=re.M)
    return float(found[1]) if found else 0.0


def test_requests_that_wait_run_together(app, alone):
    several = [[TEXTS[at % 3], "a mat " * (at % 5)] for at in range(40)]

    async def all_of_them():
        return await asyncio.gather(*(post(app, "/v1/embeddings", embedding(input=texts)) for texts in several))

    before = counted(app, "weft_batches_total", model="sentences")
    found = asyncio.run(all_of_them())
    assert counted(app, "weft_batches_total", model="sentences") - before < 20
    for texts, one in zip(several, found):
        assert vectors_of(one).tobytes() == alone["sentences"].embed(texts).tobytes()


def test_one_that_is_wrong_is_refused_alone(app, alone):
    prompts = ["compiler: ", "a" * 600, "hacker: "]

    async def all_of_them():
        return await asyncio.gather(*(post(app, "/v1/completions", {
            "model": "terms", "prompt": prompt, "max_tokens": 4, "temperature": 0}) for prompt in prompts))

    right, wrong, other = asyncio.run(all_of_them())
    assert wrong.status == 400 and "512" in wrong.json()["error"]["message"]
    assert [one.json()["choices"][0]["text"] for one in (right, other)] == alone["terms"].generate([prompts[0], prompts[2]], 4)


def test_ranks_of_several_requests_run_together(app, alone):
    queries = ["the cat", "a dog", "hund", "mat"]

    async def all_of_them():
        return await asyncio.gather(*(post(app, "/v1/rerank", {"model": "cross", "query": query, "documents": TEXTS[:3]})
                                      for query in queries))

    for query, one in zip(queries, asyncio.run(all_of_them())):
        assert [(row["index"], row["relevance_score"]) for row in one.json()["results"]] == [
            tuple(row[:2]) for row in alone["cross"].rerank(query, TEXTS[:3])]


def test_who_goes_away_is_not_waited_for(app):
    async def leave():
        gone, begun = asyncio.Event(), asyncio.Event()

        async def take(_):
            begun.set()

        asked = asyncio.ensure_future(post(app, "/v1/completions", {
            "model": "terms", "prompt": "a", "max_tokens": 500, "stream": True}, gone=gone, take=take))
        await begun.wait()
        gone.set()
        return await asked

    begin = time.monotonic()
    found = asyncio.run(leave())
    assert b"[DONE]" not in found.body and found.body.startswith(b"data: ")
    assert posted(app, "/v1/completions", {"model": "terms", "prompt": "a", "max_tokens": 1}).status == 200
    assert time.monotonic() - begin < 60


# ---- what is refused ----

BASE = {"/v1/embeddings": embedding(), "/v1/rerank": {"model": "cross", "query": "a", "documents": ["b"]},
        "/v1/completions": {"model": "terms", "prompt": "a", "max_tokens": 1},
        "/v1/chat/completions": {"model": "chat", "messages": [{"role": "user", "content": "a"}], "max_tokens": 1}}

WRONG = [
    ("/v1/embeddings", {"model": None}, "model"), ("/v1/embeddings", {"model": ["sentences"]}, "model"),
    ("/v1/embeddings", {"model": "terms"}, "model"), ("/v1/embeddings", {"input": None}, "input"),
    ("/v1/embeddings", {"input": []}, "input"), ("/v1/embeddings", {"input": [1, 2]}, "input"),
    ("/v1/embeddings", {"input": [[1, 2]]}, "input"), ("/v1/embeddings", {"input": ["a", 1]}, "input[1]"),
    ("/v1/embeddings", {"input": {"text": "a"}}, "input"), ("/v1/embeddings", {"input": "\ud800"}, "input"),
    ("/v1/embeddings", {"input": ["a"] * 2049}, "input"), ("/v1/embeddings", {"dimensions": 0}, "dimensions"),
    ("/v1/embeddings", {"dimensions": 9}, "dimensions"), ("/v1/embeddings", {"dimensions": 3.0}, "dimensions"),
    ("/v1/embeddings", {"dimensions": True}, "dimensions"), ("/v1/embeddings", {"encoding_format": "hex"}, "encoding_format"),
    ("/v1/embeddings", {"prompt_name": "passages"}, "prompt_name"), ("/v1/embeddings", {"inputs": "a"}, "inputs"),
    ("/v1/embeddings", {"truncate": 1}, "truncate"),
    ("/v1/rerank", {"query": None}, "query"), ("/v1/rerank", {"documents": "b"}, "documents"),
    ("/v1/rerank", {"documents": [{"text": 1}]}, "documents[0]"), ("/v1/rerank", {"documents": ["b", None]}, "documents[1]"),
    ("/v1/rerank", {"top_n": 0}, "top_n"), ("/v1/rerank", {"model": "terms"}, "model"),
    ("/v1/completions", {"prompt": [1]}, "prompt"), ("/v1/completions", {"max_tokens": 0}, "max_tokens"),
    ("/v1/completions", {"max_tokens": 513}, "max_tokens"), ("/v1/completions", {"n": 65}, "n"),
    ("/v1/completions", {"n": 33, "prompt": ["a", "b"]}, "n"),
    ("/v1/completions", {"prompt": ["a"] * 65}, "prompt"), ("/v1/completions", {"temperature": -1}, "temperature"),
    ("/v1/completions", {"temperature": "1"}, "temperature"), ("/v1/completions", {"top_p": 0}, "top_p"),
    ("/v1/completions", {"stop": ""}, "stop"), ("/v1/completions", {"stop": ["a\0"]}, "stop"),
    ("/v1/completions", {"stop": ["a"] * 17}, "stop"), ("/v1/completions", {"logprobs": 1}, "logprobs"),
    ("/v1/completions", {"echo": True}, "echo"), ("/v1/completions", {"frequency_penalty": 0.1}, "frequency_penalty"),
    ("/v1/completions", {"stream_options": {"nonsense": 1}}, "stream_options.nonsense"),
    ("/v1/completions", {"seed": 2**63}, "seed"), ("/v1/completions", {"model": "sentences"}, "model"),
    ("/v1/chat/completions", {"model": "terms"}, "model"), ("/v1/chat/completions", {"messages": []}, "messages"),
    ("/v1/chat/completions", {"messages": [{"content": "a"}]}, "messages[0].role"),
    ("/v1/chat/completions", {"messages": [{"role": "tool", "content": "a"}]}, "messages[0].role"),
    ("/v1/chat/completions", {"messages": [{"role": "user"}]}, "messages[0].content"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
    ("/v1/chat/completions", {"tools": [{"type": "function"}]}, "tools"),
    ("/v1/chat/completions", {"response_format": {"type": "json_object"}}, "response_format"),
]


@pytest.mark.parametrize("path, wrong, name", WRONG)
def test_wrong_fields_are_named(app, path, wrong, name):
    found = posted(app, path, {**BASE[path], **wrong})
    assert found.status == 400, found.body
    error = found.json()["error"]
    assert error["param"] == name and error["message"].startswith(name) and error["type"] == "invalid_request_error"


def test_models_that_are_not_there(app):
    for name in ("other", "../sentences", "/etc/passwd", "", "sentences/"):
        found = posted(app, "/v1/embeddings", embedding(model=name))
        assert found.status == 404 and found.json()["error"]["code"] == "model_not_found"
    listed = got(app, "/v1/models").json()["data"]
    assert [one["id"] for one in listed] == ["sentences", "cross", "chat", "terms"]
    assert got(app, "/v1/models/cross").json()["id"] == "cross" and got(app, "/v1/models/../cross").status == 404


@pytest.mark.parametrize("body, text", [
    (b"", "no JSON"), (b"{", "no JSON"), (b"[]", "object"), (b'{"a": NaN}', "NaN"), (b'{"a": -Infinity}', "Infinity"),
    (b"\xff", "UTF-8"), (b'{"a": ' + b"9" * 5000 + b"}", "digits"), (b"[" * 100_000, "deep"),
    (b'{"a":' * 100_000, "deep"), (b'{"model": "sentences", "input": ["a"], "dimensions": 1e999}', "whole number"),
    (b"{} {}", "no JSON"), (b"\xef\xbb\xbf{}", "no JSON")])
def test_bodies_that_are_no_object(app, body, text):
    found = asyncio.run(ask(app, "POST", "/v1/embeddings", [body], JSON))
    assert found.status == 400 and text in found.json()["error"]["message"]


def test_methods_paths_and_types(app):
    assert asyncio.run(ask(app, "GET", "/v1/embeddings")).headers["allow"] == "POST"
    assert asyncio.run(ask(app, "POST", "/metrics", [b"{}"], JSON)).status == 405
    assert got(app, "/v1/nothing").status == 404
    for kind in ([], [(b"content-type", b"text/plain")], [(b"content-type", b"application/x-www-form-urlencoded")]):
        found = asyncio.run(ask(app, "POST", "/v1/embeddings", [json.dumps(embedding()).encode()], kind))
        assert found.status == 415 and found.headers["connection"] == "close"


# ---- keys and limits ----


def test_a_key(limited):
    app = limited(keys=["another", "a key"])
    assert posted(app, "/v1/embeddings", embedding(), headers=KEY).status == 200
    for headers in ([], [(b"authorization", b"a key")], [(b"authorization", b"Bearer a ke")], [(b"authorization", b"Bearer ")],
                    [(b"authorization", b"Basic a key")], [(b"authorization", b"Bearer \xff")]):
        found = posted(app, "/v1/embeddings", embedding(), headers=headers)
        assert found.status == 401 and found.headers["www-authenticate"] == "Bearer"
        assert found.json()["error"]["code"] == "invalid_api_key"
        assert got(app, "/metrics", headers).status == got(app, "/v1/models", headers).status == 401
    assert got(app, "/health").json() == {"status": "ok", "models": ["sentences"]}
    for key in ("", "\u00e9"):
        with pytest.raises(weft.InvalidArgument, match="api_keys"):
            weft.serve.application("x", api_keys=[key])


def test_long_and_slow_bodies(limited):
    app = limited(body=1000, body_seconds=0.2)
    body = json.dumps(embedding(input="a" * 1000)).encode()
    assert asyncio.run(ask(app, "POST", "/v1/embeddings", [body], JSON)).status == 413
    chunked = [*JSON, (b"transfer-encoding", b"chunked"), (b"content-length", b"5")]
    parts = [body[at:at + 100] for at in range(0, len(body), 100)]
    found = asyncio.run(ask(app, "POST", "/v1/embeddings", parts, chunked))
    assert found.status == 413 and found.headers["connection"] == "close"
    slow = asyncio.run(ask(app, "POST", "/v1/embeddings", [b"{", 3, b"}"], JSON))
    assert slow.status == 408 and slow.headers["connection"] == "close"
    assert posted(app, "/v1/embeddings", embedding()).status == 200
    assert app._bodies.taken == 0 and app._requests.taken == 0


class Held:
    """Keeps a model from what it would do next."""

    def __init__(self, served):
        import threading

        self._served, self._go, self.begun = served, threading.Event(), threading.Event()
        self._work = served.worker._work

    def __enter__(self):
        def work(jobs):
            self.begun.set()
            self._go.wait(60)
            return self._work(jobs)

        self._served.worker._work = work
        return self

    def let_go(self):
        self._served.worker._work = self._work
        self._go.set()

    def __exit__(self, *_):
        self.let_go()


async def until(true):
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def test_too_many_at_once(limited):
    app = limited(requests=3, queue=4, bodies=1000)
    served = app.models["sentences"]

    async def crowd():
        with Held(served) as held:
            first = asyncio.ensure_future(post(app, "/v1/embeddings", embedding(input="a")))
            await until(held.begun.is_set)
            second = asyncio.ensure_future(post(app, "/v1/embeddings", embedding(input=["a"] * 3)))
            await until(lambda: served.worker.waiting == 3)
            full = await post(app, "/v1/embeddings", embedding(input=["a", "b"]))
            large = await post(app, "/v1/embeddings", embedding(input="a" * 1000))
            third = asyncio.ensure_future(post(app, "/v1/embeddings", embedding(input=["c"])))
            await until(lambda: served.worker.waiting == 4)
            busy = await post(app, "/v1/embeddings", embedding(input="a"))
            held.let_go()
            return full, large, busy, [one.status for one in await asyncio.gather(first, second, third)]

    full, large, busy, others = asyncio.run(crowd())
    assert (full.status, full.json()["error"]["code"]) == (429, "queue_full") and full.headers["retry-after"]
    assert (large.status, large.json()["error"]["code"]) == (503, "overloaded")
    assert (busy.status, busy.json()["error"]["code"]) == (429, "too_many_requests")
    assert others == [200, 200, 200] and app._requests.taken == app._bodies.taken == served.worker.waiting == 0


def test_time_is_limited(limited):
    app = limited(seconds=0.3)

    async def wait():
        with Held(app.models["sentences"]):
            return await post(app, "/v1/embeddings", embedding(input="a"))

    found = asyncio.run(wait())
    assert (found.status, found.json()["error"]["code"]) == (503, "timeout")
    assert posted(app, "/v1/embeddings", embedding(input="a")).status in (200, 503)  # the first may run still


def test_it_stops_without_loss(limited):
    app = limited()

    async def stop():
        with Held(app.models["sentences"]) as held:
            running = asyncio.ensure_future(post(app, "/v1/embeddings", embedding(input="a")))
            await until(held.begun.is_set)
            stopping = asyncio.ensure_future(app.stop())
            await until(lambda: app.stopping)
            new, health = await post(app, "/v1/embeddings", embedding()), await ask(app, "GET", "/health")
            held.let_go()
            return new, health, await running, await stopping

    new, health, running, whole = asyncio.run(stop())
    assert (new.status, new.json()["error"]["code"]) == (503, "stopping") and new.headers["retry-after"] == "1"
    assert health.status == 503 and health.json()["status"] == "stopping"
    assert running.status == 200 and whole


def test_limits_are_checked():
    for name, value in (("body", 0), ("queue", -1), ("texts", 1.5), ("seconds", 0.0), ("seconds", float("nan"))):
        with pytest.raises(ValueError, match=name):
            weft.serve.Limits(**{name: value})


# ---- models ----


def test_what_can_be_served(given, device, tmp_path):
    with pytest.raises(weft.Unsupported, match="langid: expected a model that gives vectors, .* found task classify"):
        weft.serve.application(f"langid={weft.example('languages')}", device=device)
    with pytest.raises(weft.InvalidArgument, match="another name than 'sentences'"):
        weft.serve.application([given[0], given[0]], device=device)
    with pytest.raises(weft.NotFound, match="nowhere"):
        weft.serve.application(str(tmp_path / "nowhere"), device=device)
    with pytest.raises(weft.InvalidArgument, match="at least one"):
        weft.serve.application([], device=device)


def test_pooling_makes_vectors_of_any_encoder(tmp_path, device):
    folder = sentence_folder(tmp_path / "plain")
    (folder / "modules.json").unlink()
    with pytest.raises(weft.Unsupported, match="--pooling mean"):
        weft.serve.application(str(folder), device=device)
    app = weft.serve.application(str(folder), device=device, pooling="max", normalize=True)
    expected = weft.load(folder, device).embed(TEXTS, pooling="max", normalize=True)
    assert vectors_of(posted(app, "/v1/embeddings", embedding(model="plain"))).tobytes() == expected.tobytes()
    ranked = posted(app, "/v1/rerank", {"model": "plain", "query": TEXTS[1], "documents": TEXTS[:3]}).json()["results"]
    assert ranked[0]["index"] == 1 and ranked[0]["relevance_score"] > 0.999
    assert vectors_of(posted(app, "/v1/embeddings", embedding(model="plain"))).tobytes() == expected.tobytes()
    app.close()


# ---- a model's thread ----


def run_jobs(work, jobs, **limits):
    worker = Worker("test", work, **{"most_waiting": 100, "most_together": 4, "most_active": 4, **limits})
    for job in jobs:
        worker.put(job)
    assert worker.stop(60)
    return worker


def job_of(key, said, cost=1):
    name = f"{key}{len(said)}"
    said[name] = None
    return Job(key, cost, name, lambda result: said.update({name: result}), lambda failure: said.update({name: failure}))


def test_jobs_of_one_key_run_together_in_order():
    said, ran = {}, []

    def work(jobs):
        ran.append([job.given for job in jobs])
        for job in jobs:
            job.succeed("done")
        yield

    run_jobs(work, [job_of(key, said) for key in "abaabaaa"])
    assert set(said.values()) == {"done"}
    assert sorted(name for names in ran for name in names) == sorted(said) and all(len(names) <= 4 for names in ran)
    assert all(len({name[0] for name in names}) == 1 for names in ran)


@pytest.mark.parametrize("raised, status", [(weft.InvalidArgument("no secret"), 400), (ValueError("no secret"), 500),
                                            (weft.OutOfDeviceMemory("no secret"), 503), (MemoryError(), 503)])
def test_of_several_jobs_only_the_wrong_one_fails(raised, status):
    said = {}

    def work(jobs):
        if any(job.given == "a1" for job in jobs):
            raise raised
        for job in jobs:
            job.succeed("done")
        yield

    run_jobs(work, [job_of("a", said) for _ in range(4)])
    assert said["a1"].status == status and [said[name] for name in ("a0", "a2", "a3")] == ["done"] * 3
    # What is the server's own fault stays in its log.
    assert ("no secret" in str(said["a1"])) == (status != 500 and bool(raised.args))


def test_a_lost_device_ends_it():
    said = {}

    def work(jobs):
        raise weft.DeviceLost("it is gone")
        yield

    worker = run_jobs(work, [job_of("a", said), job_of("b", said)])
    assert [one.status for one in said.values()] == [503, 503] and worker.lost == "it is gone"


def test_work_takes_turns_and_cancelled_jobs_are_left_out():
    said, steps = {}, []

    def work(jobs):
        for _ in range(3):
            steps.append(jobs[0].given)
            yield
        jobs[0].succeed("done")

    jobs = [job_of(key, said) for key in "abc"]
    jobs[2].cancelled = True
    run_jobs(work, jobs)
    assert said == {"a0": "done", "b1": "done", "c2": None} and steps.count("a0") == steps.count("b1") == 3
    assert steps != ["a0"] * 3 + ["b1"] * 3


# ---- people who mean harm ----


def test_hostile_requests(app):
    """hostile_requests.py has more of them, and by sockets."""
    statuses = set()

    async def all_of_them():
        for at in range(400):
            method, path, kind, body = hostile_requests.request(random.Random(at))
            found = await ask(app, method, path, [body], [(b"content-type", kind.encode())])
            assert found.status != 500, (at, method, path, body[:200])
            assert found.status in (200, 400, 401, 404, 405, 413, 415), (at, found)
            json.loads(found.body) if path != "/metrics" and b"data: " not in found.body[:6] else None
            statuses.add(found.status)

    asyncio.run(all_of_them())
    assert {200, 400, 404, 405, 413, 415} <= statuses
    assert app._bodies.taken == app._requests.taken == 0
    assert posted(app, "/v1/embeddings", embedding()).status == 200
