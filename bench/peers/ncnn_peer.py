# SPDX-License-Identifier: MIT
"""ncnn on the same Vulkan driver, or on the processor, float32 throughout.

By Vulkan, its Python package uploads inputs and downloads outputs with every run. median_ms is then
the difference between a network that has the op 1 + MORE times in a row and one that has it once,
over MORE; host_ms is a whole run of the network that has it once, with transfers. On the processor
there are none, and a run of the latter is what is timed.
"""

import os
import tempfile

import ncnn
import numpy as np

import host
import measure

MORE = {"layer_norm": 8, "gelu_tanh": 8, "gelu_erf": 8}  # others: 2; even for matmul
FLOAT16_AND_INT8 = ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic",
                    "use_bf16_packed", "use_bf16_storage", "use_int8_packed", "use_int8_storage",
                    "use_int8_arithmetic")
KINDS = ("matmul", "layer_norm", "gelu_tanh", "gelu_erf", "softmax", "attention")
IN_PLACE = ("layer_norm", "gelu_tanh", "gelu_erf", "softmax")
NORM_EPSILON = 1e-12
LONGEST_ON_SOFTWARE = 1024  # tokens of attention by a software driver: 0.3 s for 512, quadratic


class Network:
    """Text and weights of an ncnn network, made layer by layer."""

    def __init__(self, inputs):
        self.lines, self.weights, self.blobs = [], [], list(inputs)
        for name in inputs:
            self.lines.append(f"Input {name} 0 1 {name}")

    def add(self, kind, bottoms, tops, parameters="", weights=()):
        name = f"{kind}{len(self.lines)}"
        self.lines.append(f"{kind} {name} {len(bottoms)} {len(tops)} {' '.join(bottoms)} "
                          f"{' '.join(tops)} {parameters}")
        self.weights += weights
        self.blobs += tops

    def text(self):
        return "\n".join(["7767517", f"{len(self.lines)} {len(self.blobs)}", *self.lines, ""])

    def load(self, peer):
        net = ncnn.Net()
        net.opt.use_vulkan_compute = peer.vulkan
        net.opt.num_threads = peer.threads
        for option in FLOAT16_AND_INT8:
            setattr(net.opt, option, False)
        if peer.vulkan:
            net.set_vulkan_device(peer.index)
        if net.load_param_mem(self.text()) != 0:
            raise RuntimeError("ncnn does not take the network")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.bin")
            with open(path, "wb") as file:
                file.write(b"".join(self.weights) or bytes(4))
            if net.load_model(path) != 0:
                raise RuntimeError("ncnn does not take the weights")
        for layer in net.layers():
            if peer.vulkan and not layer.support_vulkan and layer.type != "Input":
                raise NotImplementedError(f"ncnn runs {layer.type} on the processor, not by Vulkan")
        return net


def _matmul(network, bottom, top, w):
    weights = [bytes(4), np.ascontiguousarray(w).tobytes()]  # 4 bytes: float32 follows
    network.add("InnerProduct", [bottom], [top], f"0={w.shape[0]} 1=0 2={w.size}", weights)


def _unary(work, data):
    """The op as a function that adds it to a network."""
    if work.kind == "layer_norm":
        w = data["w"].tobytes()
        text = f"0={work.columns} 1={NORM_EPSILON} 2=1"
        return lambda network, a, b: network.add("LayerNorm", [a], [b], text, [w, w])
    if work.kind == "softmax":
        return lambda network, a, b: network.add("Softmax", [a], [b], "0=1 1=1")
    fast = 1 if work.kind == "gelu_tanh" else 0
    return lambda network, a, b: network.add("GELU", [a], [b], f"0={fast}")


def _unary_network(work, data, count):
    network, add = Network(["in0"]), _unary(work, data)
    names = ["in0", *(f"t{i}" for i in range(count - 1)), "out"]
    for a, b in zip(names, names[1:]):
        add(network, a, b)
    return network


def _matmul_network(_work, data, count):
    """The product; further ones alternate with the product back to the inner size."""
    network, w = Network(["in0"]), data["w"]
    back = np.random.default_rng(1).uniform(-1, 1, w.shape[::-1]).astype(np.float32)
    names = ["in0", *(f"t{i}" for i in range(count - 1)), "out"]
    for i, (a, b) in enumerate(zip(names, names[1:])):
        _matmul(network, a, b, w if i % 2 == 0 else back)
    return network


def _attention_network(_work, _data, count):
    """softmax(q kT) v; further ones take the result as q."""
    network = Network(["in0", "in1", "in2"])
    keys, values = ([f"{name}{i}" for i in range(count)] for name in ("k", "v"))
    for name, copies in (("in1", keys), ("in2", values)):
        network.add("Split", [name], copies)
    names = ["in0", *(f"t{i}" for i in range(count - 1)), "out"]
    for i, (a, b) in enumerate(zip(names, names[1:])):
        network.add("SDPA", [a, keys[i], values[i]], [b])
    return network


def _inputs(work, data):
    if work.kind != "attention":
        return [data["x"].reshape(-1, data["x"].shape[-1])]
    names = ("x", "x", "x") if "x" in data else ("q", "k", "v")
    return [np.ascontiguousarray(data[name][0].reshape(work.n, work.heads, -1).swapaxes(0, 1))
            for name in names]


def find_device(name):
    for index in range(ncnn.get_gpu_count()):
        if ncnn.get_gpu_info(index).device_name() == name:
            return index
    raise NotImplementedError(f"ncnn finds no Vulkan device '{name}'")


class Peer:
    def __init__(self, options):
        self.version, self.name = ncnn.__version__, options["name"]
        self.vulkan, self.threads = options["vulkan"], options["threads"]
        self.software = options["software"]
        if self.vulkan:
            self.device_name, self.driver = options["device"], options["driver"]
            self.index = find_device(self.device_name)
        else:
            self.device_name, self.driver = host.processor_name(), f"{self.threads} threads"

    def runtimes(self, work):
        return [self.name] if work.kind in KINDS else []

    def prepare(self, work, data, _runtime):
        if not self.vulkan:
            return Prepared(self, work, data)
        if self.software and work.n > LONGEST_ON_SOFTWARE:
            raise measure.Skipped(f"its attention of {work.n} tokens takes many seconds on a "
                                  "software driver")
        return PreparedByVulkan(self, work, data)


class Prepared:
    clock = "host"

    def __init__(self, peer, work, data):
        self.peer, self.work, self.data = peer, work, data
        self.note = "works in place, on a copy that each run makes" if work.kind in IN_PLACE else ""
        # Copies: a Mat of an array counts no references, and a layer on the processor that works in
        # place needs them to see that its input is not its own.
        self.inputs = [ncnn.Mat(x).clone() for x in _inputs(work, data)]
        self.once = self._network(1)

    def _network(self, count):
        """That has the op so many times in a row."""
        build = {"matmul": _matmul_network, "attention": _attention_network}.get(
            self.work.kind, _unary_network)
        return build(self.work, self.data, count).load(self.peer)

    def _extract(self, net):
        extractor = net.create_extractor()
        for i, x in enumerate(self.inputs):
            extractor.input(f"in{i}", x)
        result, out = extractor.extract("out")
        if result != 0:
            raise RuntimeError(f"ncnn's extract gives {result}")
        return out

    def output(self):
        out = np.array(self._extract(self.once))
        return out.swapaxes(0, 1) if self.work.kind == "attention" else out

    def run(self):
        return measure.timed(lambda: self._extract(self.once))

    def close(self):
        self.once = None


class PreparedByVulkan(Prepared):
    def __init__(self, peer, work, data):
        super().__init__(peer, work, data)
        self.more = MORE.get(work.kind, 2)
        self.often = self._network(1 + self.more)
        self.note = f"({1 + self.more} in a row less 1) / {self.more}, so without transfers"
        if work.kind == "matmul":
            self.note += "; one of them is the product back, of as many operations"

    def output(self):
        self._extract(self.often)  # to warm up
        return super().output()

    def run(self):
        once = super().run()
        often = measure.timed(lambda: self._extract(self.often))
        return (often[0] - once[0]) / self.more, once[1], (often[2] - once[2]) / self.more

    def close(self):
        super().close()
        self.often = None
