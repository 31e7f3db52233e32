# SPDX-License-Identifier: MIT
"""A load of many clients on a server, each with one connection and one request after the other:

    PYTHONPATH=build/python python api/python/tests/serve_load.py [FOLDER] --clients 64 --requests 1000

Without a folder it takes a small model of the tests. It says what one client gets, and what all get together; every vector's
bits are compared with those that it has alone.
"""

import argparse
import http.client
import json
import struct
import sys
import tempfile
import threading
import time
from typing import NamedTuple

WORDS = "a the cat feline sat on was mat resting die katze saß auf der matte hund and".split()


class Load(NamedTuple):
    answered: int
    wrong: int
    """Answers whose bits are not those of the text alone, or that are none."""
    seconds: float
    median: float
    p99: float


def text_of(number):
    """One of 97 texts, of 3 to 12 words."""
    number %= 97
    return " ".join(WORDS[(number * 7 + at * at) % len(WORDS)] for at in range(3 + number % 10))


def asked(connection, text, model):
    """The bytes of a text's vector, or None."""
    body = json.dumps({"model": model, "input": text})
    connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    said = json.loads(response.read())
    if response.status != 200:
        return None
    vector = said["data"][0]["embedding"]
    return struct.pack(f"<{len(vector)}f", *vector)


def load(port, clients, requests, model="sentences"):
    """Asks, and gives a Load."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    expected = [asked(connection, text_of(number), model) for number in range(97)]
    times, right = [], []

    def run(number):
        own = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        for at in range(requests):
            begin = time.monotonic()
            found = asked(own, text_of(number * 31 + at), model)
            times.append(time.monotonic() - begin)
            right.append(found is not None and found == expected[(number * 31 + at) % 97])
        own.close()

    running = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    begin = time.monotonic()
    for one in running:
        one.start()
    for one in running:
        one.join()
    seconds = time.monotonic() - begin
    times.sort()
    return Load(len(times), right.count(False), seconds, times[len(times) // 2], times[len(times) * 99 // 100])


def main():
    from serve_process import Served, folders

    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = f"sentences={given.folder}" if given.folder else folders(place)[0]
        with Served(folder) as server:
            rates = []
            for clients in (1, given.clients):
                found = load(server.port, clients, given.requests)
                rates.append(found.answered / found.seconds)
                print(f"{clients} clients: {found.answered} answers, {found.wrong} wrong, {rates[-1]:.0f} a second, "
                      f"median {found.median * 1e3:.1f} ms, p99 {found.p99 * 1e3:.1f} ms", flush=True)
                assert found.answered == clients * given.requests and found.wrong == 0
            print(f"{rates[1] / rates[0]:.2f} times as many a second")
    return server.code


if __name__ == "__main__":
    sys.exit(main())
