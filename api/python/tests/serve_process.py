# SPDX-License-Identifier: MIT
"""weft.serve as a process of its own, for tests."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from conftest import MODELS
from small_models import cross_folder, sentence_folder

TEMPLATE = ("{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}")


def folders(place):
    """Folders of small models of each kind: vectors, ranks, texts, chats."""
    place = pathlib.Path(place)
    sentence_folder(place / "sentences", prompts={"query": "the dog . ", "passage": "mat . "})
    cross_folder(sentence_folder(place / "cross"))
    (place / "cross" / "modules.json").unlink()
    shutil.copytree(MODELS / "text-fmmformer", place / "chat")
    (place / "chat" / "chat_template.jinja").write_text(TEMPLATE, "utf-8")
    return [str(place / "sentences"), str(place / "cross"), str(place / "chat"), f"terms={MODELS / 'text-fmmformer'}"]


class Served:
    """A server, from its first line on, until the block ends."""

    def __init__(self, *arguments, port=0, variables=None):
        command = [sys.executable, "-m", "weft.serve", *arguments, "--port", str(port), "--threads", "1"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **(variables or {})})
        self.pid = self.process.pid
        self.code = None
        self.said = []
        for line in self.process.stderr:
            self.said.append(line)
            if "http://127.0.0.1:" in line:
                self.port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
                return
        raise AssertionError("".join(self.said))

    def stop(self, number=signal.SIGTERM, timeout=120):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.code = self.process.wait()
            raise
        self.said += self.process.stderr.readlines()
        self.process.stderr.close()
        return self.code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.code is None:
            self.stop()


def ask(port, path, body=None, headers=(), timeout=120):
    """Status, headers and JSON of an answer."""
    data = None if body is None else json.dumps(body).encode()
    head = {"Content-Type": "application/json", **dict(headers)}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, head)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return response.status, response.headers, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.loads(error.read())


def wait_until(true, seconds=60.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)
