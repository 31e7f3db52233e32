# SPDX-License-Identifier: MIT
"""VkFFT by itself (vkfft_raw.c), with its own defaults and pinned as Weft pins it.

Time stamps around the transforms' dispatches; nothing is transferred between them.
"""

import json
import os
import subprocess
import tempfile

import numpy as np

import transforms


class Peer:
    def __init__(self, options):
        self.program = options["vkfft"]
        self.seconds = options["seconds"]
        if not os.access(self.program or "", os.X_OK):
            raise NotImplementedError(f"{self.program} is not there: configure with "
                                      "-DWEFT_BENCH_PEERS=ON and build the target vkfft_raw")
        self.device_name, self.driver = options["device"], options["driver"]
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True,
                                 check=True)
        self.version = version.stdout.strip()

    def runtimes(self, work):
        return ["vkfft", "vkfft-pinned"] if transforms.is_transform(work) else []

    def prepare(self, work, data, runtime):
        return Prepared(self, work, data, runtime == "vkfft-pinned")


class Prepared:
    def __init__(self, peer, work, data, pinned):
        self.peer, self.pinned = peer, pinned
        self.transform = transforms.of(work, data)
        self.note = self.transform.difference
        self.clock = "device"
        self.runs = []

    def _start(self, seconds, folder):
        source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
        self.transform.source.tofile(source)
        rows, columns = self.transform.source.shape
        command = [self.peer.program, "--device", self.peer.device_name, "--rows", str(rows),
                   "--columns", str(columns), "--rank", str(self.transform.rank),
                   "--back", str(int(self.transform.back)), "--pinned", str(int(self.pinned)),
                   "--seconds", str(seconds), "--input", source, "--output", target]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"vkfft_raw ends with {done.returncode}")
        return json.loads(done.stdout), np.fromfile(target, np.complex64)

    def output(self):
        with tempfile.TemporaryDirectory() as folder:
            report, half = self._start(0, folder)
        self.clock = report["clock"]
        self.note += f"; {report['dispatches']} dispatches" if report.get("dispatches") else ""
        return half.reshape(len(self.transform.source), -1)

    def expected(self):
        return self.transform.spectrum()

    def run(self):
        """The program measures many runs at a time; they are handed out one by one."""
        if not self.runs:
            with tempfile.TemporaryDirectory() as folder:
                report, _ = self._start(self.peer.seconds, folder)
            self.runs = [tuple(times) for times in report["runs"]]
        return self.runs.pop()

    def close(self):
        self.runs = []
