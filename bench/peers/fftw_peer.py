# SPDX-License-Identifier: MIT
"""FFTW, through pyfftw: the transforms alone, planned with FFTW_MEASURE.

fourier: the real-input transform of [n, d] to [n, d/2 + 1] complex numbers; Weft keeps its real
parts and makes the other columns besides. toeplitz: d transforms of 2n real numbers, forward and
back; Weft pads, multiplies by the kernel's spectrum and cuts, too.
"""

import numpy as np
import pyfftw

import host
import measure
import transforms


class Peer:
    def __init__(self, options):
        self.threads = options["threads"]
        self.version = f"{pyfftw.fftw_version} (pyfftw {pyfftw.__version__})"
        self.device_name, self.driver = host.processor_name(), f"{self.threads} threads"

    def runtimes(self, work):
        return ["fftw"] if transforms.is_transform(work) else []

    def prepare(self, work, data, _runtime):
        return Prepared(work, data, self.threads)


class Prepared:
    clock = "host"

    def __init__(self, work, data, threads):
        self.transform = transforms.of(work, data)
        self.note = self.transform.difference
        source = self.transform.source
        self.real = pyfftw.empty_aligned(source.shape, dtype="float32")
        half = source.shape[:-1] + (source.shape[-1] // 2 + 1,)
        self.half = pyfftw.empty_aligned(half, dtype="complex64")
        axes = (0, 1) if self.transform.rank == 2 else (1,)
        options = {"axes": axes, "threads": threads, "flags": ("FFTW_MEASURE",)}
        self.forward = pyfftw.FFTW(self.real, self.half, **options)
        self.backward = None
        if self.transform.back:
            self.backward = pyfftw.FFTW(self.half, self.real, direction="FFTW_BACKWARD", **options)
        np.copyto(self.real, source)

    def output(self):
        np.copyto(self.real, self.transform.source)
        self.forward.execute()
        return self.half.copy()

    def expected(self):
        return self.transform.spectrum()

    def run(self):
        np.copyto(self.real, self.transform.source)
        return measure.timed(self._execute)

    def _execute(self):
        self.forward.execute()
        if self.backward:
            self.backward.execute()

    def close(self):
        self.forward = self.backward = None
