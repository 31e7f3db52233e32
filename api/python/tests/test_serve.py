# SPDX-License-Identifier: MIT
# weft-test: long
"""python -m weft.serve as a process: by the package openai, by sockets, under load, stopped and killed."""

import concurrent.futures
import hashlib
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import hostile_requests
import weft
from conftest import ROOT
from serve_load import load
from serve_process import Served, ask, folders, wait_until

pytest.importorskip("uvicorn")

TEXTS = ["the cat sat on the mat", "a feline was resting", "der hund"]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return folders(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def server(given):
    with Served(*given, "--max-body-seconds", "2") as one:
        yield one
    assert one.code == 0, one.said


@pytest.fixture
def client(server):
    openai = pytest.importorskip("openai")
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="any", max_retries=0)


def embedding(text):
    return {"model": "sentences", "input": text}


# ---- by clients ----


def test_vectors_by_openai_are_those_of_the_command(client, given, tmp_path):
    found = client.embeddings.with_raw_response.create(model="sentences", input=TEXTS)  # asks for base64, and reads it
    vectors = np.array([one.embedding for one in found.parse().data], np.float32)
    floats = client.embeddings.create(model="sentences", input=TEXTS, encoding_format="float", dimensions=8)
    lines = tmp_path / "texts.txt"
    lines.write_text("\n".join(TEXTS) + "\n", "utf-8")
    said = subprocess.run([sys.executable, "-m", "weft", "embed", given[0], "--lines", str(lines), "--out",
                           str(tmp_path / "out.npy")], capture_output=True, text=True, check=True).stdout
    assert vectors.tobytes() == np.load(tmp_path / "out.npy").tobytes()
    assert np.array([one.embedding for one in floats.data], np.float32).shape == (3, 8)
    digest = re.search(r"^sha256 (\w+)$", said, flags=re.M)[1]
    assert found.headers["weft-result-sha256"] == digest == hashlib.sha256(vectors.tobytes()).hexdigest()


def test_texts_by_openai(client, device):
    model = weft.load(weft.example("terms"), device)
    expected = model.generate("compiler: ", 12, temperature=0.7, seed=3)
    how = {"model": "terms", "prompt": "compiler: ", "max_tokens": 12, "temperature": 0.7, "seed": 3}
    assert client.completions.create(**how).choices[0].text == expected
    assert "".join(one.choices[0].text for one in client.completions.create(**how, stream=True)) == expected
    messages = [{"role": "user", "content": "compiler"}]
    chat = {"model": "chat", "messages": messages, "max_tokens": 12, "temperature": 0, "seed": 1}
    expected = model.generate("user: compiler\nassistant: ", 12)
    answer = client.chat.completions.create(**chat)
    assert (answer.choices[0].message.content, answer.choices[0].message.role) == (expected, "assistant")
    chunks = list(client.chat.completions.create(**chat, stream=True, stream_options={"include_usage": True}))
    assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == expected
    assert chunks[-1].usage.completion_tokens == answer.usage.completion_tokens == 12


def test_ranks_by_http(server, given, device):
    """As clients of Cohere's and Jina's send it."""
    texts = ["a mat", "the dog", "die katze"]
    expected = weft.load(given[1], device).rerank("the cat", texts)
    for path in ("/v1/rerank", "/rerank", "/v2/rerank"):
        body = {"model": "cross", "query": "the cat", "documents": texts, "top_n": 3, "return_documents": True}
        status, headers, said = ask(server.port, path, body, [("Authorization", "Bearer any")])
        assert status == 200 and len(headers["Weft-Result-SHA256"]) == 64
        assert [(one["index"], one["relevance_score"], one["document"]) for one in said["results"]] == [
            (one.index, one.score, {"text": one.text}) for one in expected]


def test_the_lines_of_the_page(given, capsys):
    pytest.importorskip("openai")
    page = (ROOT / "api" / "python" / "README.md").read_text("utf-8")
    command, asked = re.search(r"^(weft serve .*) --port 8000\ncurl (localhost:8000\S+ .*)$", page, flags=re.M).groups()
    code = re.search(r"^```python openai\n(.*?)^```$", page, flags=re.M | re.S)[1]
    _, _, first, second = command.split()
    with Served(f"{first}={given[0]}", f"{second.partition('=')[0]}={given[1]}") as one:
        body = json.loads(re.search(r"-d '(.*)'$", asked)[1])
        assert ask(one.port, asked[len("localhost:8000"):asked.index(" ")], body)[0] == 200
        exec(compile(code.replace("localhost:8000", f"localhost:{one.port}"), "README.md", "exec"), {})
    assert capsys.readouterr().out == "2 8\n"


def test_errors_by_openai(client):
    import openai

    assert [model.id for model in client.models.list()] == ["sentences", "cross", "chat", "terms"]
    assert client.models.retrieve("cross").id == "cross"
    with pytest.raises(openai.NotFoundError, match="there are sentences, cross") as said:
        client.embeddings.create(model="../sentences", input="a")
    assert (said.value.code, said.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError, match="LangChain") as said:
        client.embeddings.create(model="sentences", input=[[1, 2]])
    assert said.value.param == "input"
    with pytest.raises(openai.BadRequestError, match="chat template"):
        client.chat.completions.create(model="terms", messages=[{"role": "user", "content": "a"}])
    with pytest.raises(openai.APIStatusError, match="2048"):
        client.embeddings.create(model="sentences", input=["a"] * 3000)
    with pytest.raises(openai.APIStatusError) as large:
        client.embeddings.create(model="sentences", input="a" * (5 << 20))
    assert large.value.status_code == 413


def test_a_key_from_the_environment(given):
    with Served(given[0], variables={"WEFT_API_KEY": "secret"}) as one:
        assert ask(one.port, "/v1/embeddings", embedding("a"))[0] == 401
        assert ask(one.port, "/v1/embeddings", embedding("a"), [("Authorization", "Bearer secret")])[0] == 200
    assert one.code == 0 and not any("no key" in line for line in one.said)


def test_what_the_command_says(given, tmp_path):
    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "weft.serve", *arguments], capture_output=True, text=True, check=False)

    assert run().returncode == 2
    said = run(str(tmp_path / "nowhere"), "--port", "0")
    assert (said.returncode, said.stdout) == (4, "")
    assert "nowhere is not there" in said.stderr and "Traceback" not in said.stderr
    assert run(given[0], "--max-queue", "0").returncode == 2
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = run(given[0], "--port", str(taken.getsockname()[1]))
        assert said.returncode == 4 and "in use" in said.stderr
    said = subprocess.run([sys.executable, "-c", "import sys; sys.modules['uvicorn'] = None; import weft.serve; "
                           "weft.serve.main(['x'])"], capture_output=True, text=True, check=False)
    assert "pip install 'uvicorn" in said.stderr


# ---- sockets ----


def connected(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


HEAD = b"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def answer_of(one):
    with one.makefile("rb") as file:
        return file.read()


def test_slow_heads_and_bodies_end(server):
    with connected(server) as silent, connected(server) as head, connected(server) as body, connected(server) as chunks:
        head.sendall(b"GET /health HT")
        body.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        chunks.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n")
        begin = time.monotonic()
        assert answer_of(silent) == answer_of(head) == b""
        assert answer_of(body).startswith(b"HTTP/1.1 408 ") and answer_of(chunks).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - begin < 60
    with connected(server) as again:  # a head that is slow behind a request
        again.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /hea")
        assert answer_of(again).count(b"HTTP/1.1 ") == 1


def test_a_connection_is_used_again(server):
    body = json.dumps(embedding("the cat")).encode()
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with connected(server) as one:
        one.sendall(request * 3 + b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert answer_of(one).count(b"HTTP/1.1 200 OK") == 4


def test_connections_are_limited(given):
    with Served(given[0], "--max-connections", "3") as one:
        held = [connected(one) for _ in range(3)]
        with connected(one) as more:
            said = answer_of(more)
            assert said.startswith(b"HTTP/1.1 503 ") and b"overloaded" in said
        for other in held:
            other.close()
        wait_until(lambda: connects(one))


def connects(server):
    try:
        return ask(server.port, "/health")[0] == 200
    except (OSError, urllib.error.URLError):
        return False


def test_a_client_that_does_not_read(given):
    """Its answer waits in the socket, and the request ends by its time."""
    with Served(given[0], "--max-seconds", "2", "--max-body-seconds", "1") as one:
        body = json.dumps(embedding(["the cat"] * 2000)).encode()
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        deaf.connect(("127.0.0.1", one.port))
        for _ in range(4):
            deaf.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        wait_until(lambda: "weft_requests_in_flight 0" in metrics(one), 60)
        with deaf:
            deaf.settimeout(60)
            try:
                while deaf.recv(1 << 16):
                    pass
            except OSError:
                pass
        assert ask(one.port, "/v1/embeddings", embedding("a"))[0] == 200


def metrics(server):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as response:
        return response.read().decode()


def test_hostile_requests_by_sockets(server):
    statuses = hostile_requests.attack_all(server.port, 300, "sockets", threads=4)
    assert statuses[500] == 0 and {200, 400, 404} <= set(statuses), statuses
    assert ask(server.port, "/v1/embeddings", embedding("a"))[0] == 200
    assert server.process.poll() is None


# ---- load, stops and kills ----


def test_load(server):
    """serve_load.py has 64 clients with 1,000 requests each."""
    found = load(server.port, clients=16, requests=10)
    assert found.answered == 160 and found.wrong == 0


def test_it_stops_by_a_signal_without_loss(given):
    one = Served(*given)
    stream = urllib.request.Request(
        f"http://127.0.0.1:{one.port}/v1/completions", headers={"Content-Type": "application/json"},
        data=json.dumps({"model": "terms", "prompt": "compiler: ", "max_tokens": 200, "stream": True}).encode())
    with urllib.request.urlopen(stream, timeout=120) as response:
        response.readline()
        one.process.send_signal(signal.SIGTERM)
        wait_until(lambda: ask(one.port, "/health")[0] == 503)
        status, headers, said = ask(one.port, "/v1/embeddings", embedding("a"))
        assert (status, said["error"]["code"], headers["Retry-After"]) == (503, "stopping", "1")
        assert response.read().endswith(b"data: [DONE]\n\n")
    assert one.stop() == 0
    with pytest.raises(urllib.error.URLError):
        ask(one.port, "/health")


def test_a_second_signal_ends_it_at_once(given):
    one = Served(*given)
    body = json.dumps({"model": "terms", "prompt": "compiler: ", "max_tokens": 490, "stream": True}).encode()
    with connected(one) as held:
        held.sendall(HEAD.replace(b"embeddings", b"completions") + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        held.recv(100)
        one.process.send_signal(signal.SIGINT)
        wait_until(lambda: ask(one.port, "/health")[0] == 503)
        assert one.stop(signal.SIGINT, timeout=60) == 0


def test_killed_and_restarted_under_load(given, device):
    """Clients that ask again get every answer, with the bits of one that was never killed."""
    expected = weft.load(given[0], device).embed(TEXTS)
    server = Served(given[0])
    port, killed, errors = server.port, threading.Event(), []

    def run(number):
        for at in range(40):
            which = random.Random(f"{number} {at}").randrange(3)
            for _ in range(1000):
                try:
                    status, _, said = ask(port, "/v1/embeddings", embedding(TEXTS[which]))
                    break
                except (OSError, urllib.error.URLError, ValueError, EOFError):
                    errors.append(number)
                    time.sleep(0.05)
                except Exception as error:  # what http.client makes of half an answer
                    assert type(error).__module__ == "http.client"
                    errors.append(number)
            if status != 200 or struct.pack("<8f", *said["data"][0]["embedding"]) != expected[which].tobytes():
                return False
            if at == 5:
                killed.set()
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        running = [threads.submit(run, number) for number in range(8)]
        assert killed.wait(120)
        os.kill(server.pid, signal.SIGKILL)
        assert server.stop() == -signal.SIGKILL
        with Served(given[0], port=port) as again:
            assert all(one.result(300) for one in running)
    assert errors and again.code == 0
