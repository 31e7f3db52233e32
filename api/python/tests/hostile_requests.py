# SPDX-License-Identifier: MIT
"""Requests of people who mean harm, made by a seed: for the application (test_serve_rules.py), and by sockets against a server
that this program starts:

    PYTHONPATH=build/python python api/python/tests/hostile_requests.py --count 10000

It says what was answered, and fails by an answer of 500, by a server that does not answer any more or whose memory grows.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import socket
import sys
import tempfile
import time

POSTS = ["/v1/embeddings", "/v1/completions", "/v1/chat/completions", "/v1/rerank"]
PATHS = [*POSTS, "/v1/models", "/v1/models/x", "/health", "/metrics", "/", "/v1", "/v1/embeddings/", "//v1/embeddings",
         "/v1/models/../../../../etc/passwd", "/v1/models/%2e%2e%2fetc%2fpasswd", "/%00", "/\u00ff", "/" + "a" * 5000]
METHODS = ["GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "BREW"]
NAMES = ["../sentences", "/etc/passwd", "..\\..\\x", "sentences\0", "", " ", "sentences/", "a" * 100_000, "file:///etc/passwd",
         "\ud800", "%2e%2e", "terms ", "SENTENCES", "__class__", "{0.__class__}"]
NUMBERS = [-1, 0, 1, 2**31, 2**32, 2**63, 2**64, -2**63, 10**24, 10**30, 1e308, -0.0, 1e-320, 0.5, 3.0]
RAW_NUMBERS = ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "9" * 5000, "0" * 5000, "1e" + "9" * 400, "-", "01", "0x10",
               "1_000", "٣"]
TEXTS = ["", " ", "\0", "\ud800", "\udfff\ud800", "\u202e", "a" * 20_000, "\U0001f9f5" * 500, "the cat " * 40, "{{7*7}}",
         "{% for x in range(10**9) %}{% endfor %}", "<|im_end|>", "'; --", "\x1b[2J", "\r\n\r\nHTTP/1.1 200 OK", "\ufeff",
         "\u0000" * 100]
FIELDS = {"/v1/embeddings": ["input", "encoding_format", "dimensions", "prompt_name", "truncate", "user"],
          "/v1/completions": ["prompt", "max_tokens", "n", "seed", "temperature", "top_p", "top_k", "repetition_penalty",
                              "stop", "stream", "stream_options", "logit_bias", "logprobs", "best_of", "echo", "suffix"],
          "/v1/chat/completions": ["messages", "max_tokens", "max_completion_tokens", "n", "seed", "temperature", "stop",
                                   "stream", "tools", "tool_choice", "response_format"],
          "/v1/rerank": ["query", "documents", "top_n", "return_documents", "truncate"]}
MODELS = {"/v1/embeddings": "sentences", "/v1/completions": "terms", "/v1/chat/completions": "chat", "/v1/rerank": "cross"}


def right(path):
    """A request that is answered."""
    return {"model": MODELS[path], **{
        "/v1/embeddings": {"input": ["the cat", "a mat"]},
        "/v1/completions": {"prompt": "compiler: ", "max_tokens": 1},
        "/v1/chat/completions": {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 1},
        "/v1/rerank": {"query": "the cat", "documents": ["a mat", "the dog"]}}[path]}


def value(draw, depth=0):
    """Some value of JSON."""
    kind = draw.randrange(8 if depth < 3 else 6)
    if kind == 0:
        return draw.choice([None, True, False])
    if kind in (1, 2):
        return draw.choice(NUMBERS)
    if kind in (3, 4, 5):
        return draw.choice(TEXTS) if draw.random() < 0.8 else draw.choice(NAMES)
    if kind == 6:
        return [value(draw, depth + 1) for _ in range(draw.randrange(4))]
    keys = ["text", "role", "content", "type", "include_usage", "image_url", "__proto__", "\ud800"]
    return {draw.choice(keys): value(draw, depth + 1) for _ in range(draw.randrange(3))}


def wrong_field(draw, path):
    """A request with a field that is off."""
    body = right(path)
    body[draw.choice([*FIELDS[path], "model", "nonsense"])] = value(draw)
    if draw.random() < 0.1:
        del body[draw.choice(list(body))]
    return json.dumps(body).encode()


def wrong_number(draw, path):
    """Numbers that Python would not write."""
    name = draw.choice(FIELDS[path])
    text = json.dumps({**right(path), name: "@"})
    return text.replace('"@"', draw.choice(RAW_NUMBERS)).encode()


def wrong_bytes(draw, path):
    """A right request in which bytes are changed, left out or put in."""
    body = bytearray(json.dumps(right(path)).encode())
    for _ in range(draw.randrange(1, 6)):
        if not body:
            break
        at = draw.randrange(len(body))
        choice = draw.randrange(4)
        if choice == 0:
            body[at] = draw.randrange(256)
        elif choice == 1:
            del body[at:at + draw.randrange(1, 20)]
        elif choice == 2:
            body[at:at] = bytes(draw.randrange(256) for _ in range(4))
        else:
            body = body[:at + 1]
    return bytes(body)


def deep(draw, path):
    """Lists in lists, or objects in objects."""
    depth = draw.choice([50, 900, 1100, 5000, 100_000])
    beginning, end = draw.choice([("[", "]"), ('{"a":', "}"), ("[[],", "]")])
    inner = beginning * depth + ("1" if beginning == '{"a":' else "") + (end * depth if draw.random() < 0.7 else "")
    name = draw.choice(FIELDS[path])
    return (inner if draw.random() < 0.3 else f'{{"model": "{MODELS[path]}", "{name}": {inner}}}').encode()


def large(draw, path):
    """Many texts, many fields, a long text, or more bytes than a body may have."""
    kind = draw.randrange(5)
    if kind == 0:
        texts = ["a"] * draw.choice([2049, 20_000])
        return json.dumps({**right(path), "input": texts, "documents": texts, "prompt": texts, "stop": texts}).encode()
    if kind == 1:
        return json.dumps({**right(path), **{f"field{at}": at for at in range(5000)}}).encode()
    if kind == 2:
        return json.dumps({**right(path), "query": "a" * 500_000, "prompt": "a" * 500_000}).encode()
    if kind == 3:
        return b'{"model": "' + b"a" * (draw.choice([1, 5]) << 20) + b'"}'
    return b'{"model": "sentences", "input": [' + b"[]," * 300_000 + b"[]]}"


def no_json(draw, path):
    """Bytes without a meaning."""
    return draw.choice([b"", b"null", b"[]", b'"text"', b"{", b"}", b"\xff\xfe{\x00}\x00", b"\x00" * 100, b"\x80",
                        bytes(draw.randrange(256) for _ in range(draw.randrange(300))), "\ufeff{}".encode(),
                        b'{"model": "sentences"} {}', b"input=a&model=sentences", b"<xml/>"])


KINDS = [wrong_field, wrong_field, wrong_field, wrong_number, wrong_bytes, deep, large, no_json]
TYPES = ["application/json"] * 12 + ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=utf-16",
                                     "multipart/form-data; boundary=x"]


def request(draw):
    """Method, path, content type and body of a request."""
    if draw.random() < 0.08:
        return draw.choice([*METHODS, "POST", "POST"]), draw.choice(PATHS), draw.choice(TYPES), no_json(draw, "")
    path = draw.choice(POSTS)
    return "POST", path, draw.choice(TYPES), draw.choice(KINDS)(draw, path)


# ---- by sockets ----


def plain(draw):
    """The bytes of a request that is HTTP."""
    method, path, kind, body = request(draw)
    target = "".join(letter if " " < letter < "\x7f" else f"%{ord(letter) % 256:02x}" for letter in path)
    head = f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {kind}\r\n"
    if draw.random() < 0.2:
        return head.encode() + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def no_http(draw):
    """The bytes of a request that is none, or whose head lies."""
    head = b"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    return draw.choice([
        b"\r\n" * 2000, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /health HTTP/1.1\r\n\r\n",
        bytes(draw.randrange(256) for _ in range(200)), b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 200,
        head + b"Content-Length: -1\r\n\r\n{}", head + b"Content-Length: 99999999999999999999\r\n\r\n{}",
        head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}    ", head + b"Content-Length: 9\r\n\r\n{}",
        head + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}",
        head + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
        head + b"".join(b"X-%d: %s\r\n" % (at, b"a" * 50) for at in range(5000)) + b"\r\n",
        head + b"X: " + b"a" * 200_000 + b"\r\n\r\n", head + b"X: a\0b\r\n\r\n",
        head + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
        head + b"Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\n{}",
        head + b"Authorization: Bearer " + b"\xff" * 1000 + b"\r\nContent-Length: 2\r\n\r\n{}"])


def attack(draw, port, patience=20.0):
    """One connection of any kind; the status that was answered, or 0."""
    data = no_http(draw) if draw.random() < 0.15 else plain(draw)
    manner = draw.random()
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=patience) as one:
            if manner < 0.02:  # slow, and then gone
                for at in range(0, min(len(data), 40), 4):
                    one.sendall(data[at:at + 4])
                    time.sleep(0.01)
                return 0
            one.sendall(data[:draw.randrange(len(data) + 1)] if manner < 0.07 else data)
            if manner < 0.10:  # gone without waiting
                return 0
            if manner < 0.07:
                one.shutdown(socket.SHUT_WR)
            one.settimeout(patience if manner >= 0.07 and data.startswith(b"POST") and b"Expect" not in data else 0.2)
            said = one.recv(65536)
    except OSError:
        return 0
    return int(said[9:12]) if said.startswith(b"HTTP/1.1 ") and said[9:12].isdigit() else 0


def resident(process):
    """Bytes of a process's memory."""
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def attack_all(port, count, seed, threads=8):
    """How often each status was answered."""
    with concurrent.futures.ThreadPoolExecutor(threads) as running:
        return collections.Counter(running.map(lambda at: attack(random.Random(f"{seed} {at}"), port), range(count)))


def main():
    from serve_process import Served, ask
    from serve_process import folders as make_folders

    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", default="0")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, Served(*make_folders(place), "--max-body-seconds", "2") as server:
        total = collections.Counter(attack_all(server.port, min(500, given.count), "warm"))
        before, begin = resident(server.pid), time.monotonic()
        total += attack_all(server.port, given.count, given.seed)
        seconds, after = time.monotonic() - begin, resident(server.pid)
        answered = ask(server.port, "/v1/embeddings", right("/v1/embeddings"))
        print(f"{sum(total.values())} requests, {seconds:.0f} s: {dict(sorted(total.items()))}; "
              f"memory {before >> 20} MiB, then {after >> 20} MiB")
        assert answered[0] == 200 and total[500] == 0, answered
        assert after < before + (256 << 20)
    print(f"the server ended with {server.code}")
    return server.code


if __name__ == "__main__":
    sys.exit(main())
