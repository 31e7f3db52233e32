# SPDX-License-Identifier: MIT
"""IREE: the cases as MLIR, compiled to the processor or to SPIR-V, and run by its own runtime.

On the processor there are two runtimes: data tiling makes matrix products faster, and the compiler
refuses it for some cases.
"""

from importlib.metadata import version

import iree.compiler.tools as compiler
import iree.runtime as iree
import numpy as np

import host
import iree_ops
import measure

PROCESSOR = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"]
# From O2 on, IREE 3.13's compiler stops for good at linear attention for Vulkan.
VULKAN = ["--iree-hal-target-device=vulkan", "--iree-opt-level=O1"]
QUADRATIC = ("attention", "banded", "fmm")  # or as slow: windows of keys are not staged
LONGEST_ON_SOFTWARE = 1024  # tokens of those by a software driver: 4 s for a band and 512


def processor_device(threads):
    iree.flags.parse_flags(f"--task_topology_group_count={threads}")
    return iree.get_driver("local-task").create_default_device()


def vulkan_device(name):
    """That of this name; IREE's runtime says itself what it lacks."""
    try:
        driver = iree.get_driver("vulkan")
        found = [device for device in driver.query_available_devices()
                 if device["name"].startswith(f"{name} (")]  # the driver follows
        if not found:
            raise NotImplementedError(f"IREE finds no Vulkan device '{name}'")
        return driver.create_device(found[0]["device_id"])
    except RuntimeError as refusal:
        raise NotImplementedError(f"IREE does not take '{name}': {refusal}") from None


def compile_text(text, options):
    """A program; where the compiler makes no code of what it has read, it does not support that."""
    try:
        return compiler.compile_str(text, extra_args=options)
    except compiler.CompilerToolError as failure:
        said = str(failure)
        if "failed to run translation of source executable" not in said:
            raise
        reason = next(line for line in said.splitlines() if " error: " in line)
        raise NotImplementedError(f"IREE's compiler: {reason.split(' error: ')[1]}") from None


def download(device, view):
    """Not by np.array(DeviceArray): that has Vulkan drivers import NumPy's memory, aligned or not."""
    source, done = view.get_buffer(), device.create_semaphore(0)
    target = device.allocator.allocate_buffer(
        memory_type=int(iree.MemoryType.HOST_LOCAL | iree.MemoryType.DEVICE_VISIBLE),
        allowed_usage=int(iree.BufferUsage.TRANSFER_TARGET | iree.BufferUsage.MAPPING_SCOPED),
        allocation_size=source.byte_length())
    device.queue_copy(source, target, wait_semaphores=iree.HalFence.create_at(done, 0),
                      signal_semaphores=iree.HalFence.create_at(done, 1))
    iree.HalFence.create_at(done, 1).wait()
    return target.map().asarray(view.shape, np.dtype(np.float32)).copy()


class Peer:
    def __init__(self, options):
        self.name, self.vulkan = options["name"], options["vulkan"]
        self.software = self.vulkan and options["software"]
        self.version = version("iree-base-runtime")
        self.instance = iree.VmInstance()
        if self.vulkan:
            self.device_name, self.driver = options["device"], options["driver"]
            self.device = vulkan_device(self.device_name)
        else:
            self.device_name = host.processor_name()
            self.driver = f"{options['threads']} threads"
            self.device = processor_device(options["threads"])

    def runtimes(self, work):
        if work.kind not in iree_ops.CASES:
            return []
        return [self.name] if self.vulkan else [self.name, f"{self.name}-tiled"]

    def prepare(self, work, data, runtime):
        if self.software and work.kind in QUADRATIC and work.n > LONGEST_ON_SOFTWARE:
            raise measure.Skipped(f"{work.n} tokens take many seconds on a software driver")
        options = VULKAN if self.vulkan else PROCESSOR
        tiling = ["--iree-opt-data-tiling"] if runtime.endswith("-tiled") else []
        program = compile_text(iree_ops.text(work, data), options + tiling)
        return Prepared(self, work, data, program)


class Prepared:
    clock = "host"
    note = "submission and waiting included"

    def __init__(self, peer, work, data, program):
        self.peer = peer
        modules = [iree.create_hal_module(peer.instance, peer.device),
                   iree.VmModule.copy_buffer(peer.instance, program)]
        self.context = iree.VmContext(peer.instance, modules=modules)
        self.function = modules[1].lookup_function("run")
        self.inputs = iree.VmVariantList(3)
        for x in iree_ops.inputs(work, data).values():
            self.inputs.push_ref(iree.asdevicearray(peer.device, x)._buffer_view)

    def _run(self):
        outputs = iree.VmVariantList(1)
        self.context.invoke(self.function, self.inputs, outputs)
        return outputs

    def output(self):
        return download(self.peer.device, self._run().get_as_object(0, iree.HalBufferView))

    def run(self):
        return measure.timed(self._run)

    def close(self):
        self.context = self.function = self.inputs = None
