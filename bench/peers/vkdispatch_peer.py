# SPDX-License-Identifier: MIT
"""vkdispatch's own FFT on the same Vulkan driver: real input, in place, transfers not timed."""

from importlib.metadata import version

import vkdispatch as vd

import measure
import transforms


class Peer:
    def __init__(self, options):
        self.version = version("vkdispatch")
        self.device_name, self.driver = options["device"], options["driver"]
        vd.initialize(log_level=vd.LogLevel.ERROR)
        names = [device.device_name for device in vd.get_devices()]
        if self.device_name not in names:
            raise NotImplementedError(f"vkdispatch finds no Vulkan device '{self.device_name}'")
        vd.make_context(device_ids=names.index(self.device_name))

    def runtimes(self, work):
        return ["vkdispatch"] if transforms.is_transform(work) else []

    def prepare(self, work, data, _runtime):
        return Prepared(work, data)


class Prepared:
    clock = "host"

    def __init__(self, work, data):
        self.transform = transforms.of(work, data)
        self.note = self.transform.difference + "; submission and waiting included"
        self.buffer = vd.asrfftbuffer(self.transform.source)

    def output(self):
        self.buffer.write_real(self.transform.source)
        self._forward()
        vd.queue_wait_idle()
        return self.buffer.read_fourier(0)

    def expected(self):
        return self.transform.spectrum()

    def _forward(self):
        (vd.fft.rfft2 if self.transform.rank == 2 else vd.fft.rfft)(self.buffer)

    def _execute(self):
        self._forward()
        if self.transform.back:
            vd.fft.irfft(self.buffer)
        vd.queue_wait_idle()

    def run(self):
        self.buffer.write_real(self.transform.source)
        vd.queue_wait_idle()
        return measure.timed(self._execute)

    def close(self):
        self.buffer = None
